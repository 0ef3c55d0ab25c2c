/* SPDX-License-Identifier: MIT */
/*
 * A plugin for QEMU that samples the guest's CPUs from outside, so the guest needs no hook. QEMU loads it by
 * `-plugin ktop-plugin.so,socket=PATH`. ktop connects to that socket as to the port of a guest that has the hook.
 *
 * It calls the CPUs by QEMU's own functions. Where these cannot be had, or the self-test fails, it makes do with QEMU's
 * interface for plugins (public.h). `reads=public` makes it do so from the beginning.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "functions.h"
#include "machine/debugger.h"
#include "machine/public.h"
#include "machine/qemu.h"
#include "machine/qemu_plugin.h"
#include "machine/self_test.h"
#include "socket.h"
#include "machine/target.h"
#include "vcpus.h"

/*
 * The version of the interface that we say we need. QEMU reads it once we are loaded. 7.2 takes version 1; 9.0 and
 * later want at least 2, which is the version that has qemu_plugin_num_vcpus. What we call is in all of them.
 */
int qemu_plugin_version = 1;

static __attribute__((constructor)) void choose_version(void)
{
	if (qemu_function_of("qemu_plugin_num_vcpus"))
		qemu_plugin_version = 2;
}

static struct {
	qemu_plugin_id_t id;
	struct qemu qemu;
	const struct target *target;
	struct plugin_socket socket;
	struct vcpus *vcpus;
	bool has_public;		/* public.c may stand in */

	bool begun;			/* atomic: the timer's thread was started */

	/* under the lock */
	pthread_mutex_t lock;
	pid_t drained_by;		/* the process that has the drainer; 0: none. QEMU may fork before that */
	struct self_test test;
	enum self_test_result result;
	struct qemu_cpu *tested;	/* the CPU that has ended the test, and whose work test_is_over() is */
} plugin = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void complain(const char *what, const char *why, const char *remedy)
{
	fprintf(stderr, "ktop: plugin: %s: %s; %s\n", what, why, remedy);
}

/* ---- what QEMU calls ---- */

static void register_all(qemu_plugin_id_t id);
static void block_asks(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* Does public.c stand in for QEMU? */
static bool is_public(void)
{
	return plugin.qemu.read_state == public_read;
}

/* QEMU builds its first CPU after it has forked, so threads that start here stay. */
static void cpu_begins(qemu_plugin_id_t id, unsigned index)
{
	(void)id;
	pthread_mutex_lock(&plugin.lock);
	if (plugin.drained_by == 0 && boot_begin())
		plugin.drained_by = getpid();
	pthread_mutex_unlock(&plugin.lock);
	vcpus_add(plugin.vcpus, index);
}

static void cpu_ends(qemu_plugin_id_t id, unsigned index)
{
	(void)id;
	vcpus_remove(plugin.vcpus, index);
}

static void end(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	if (plugin.drained_by != getpid())
		return;
	vcpus_end(plugin.vcpus);
	boot_end();
	plugin_socket_remove(&plugin.socket);
}

static void begin_calls(void)
{
	if (__atomic_exchange_n(&plugin.begun, true, __ATOMIC_RELAXED))
		return;
	if (!vcpus_begin(plugin.vcpus, is_public() ? NULL : plugin.tested))
		complain("not sampling", "no thread could be started", "raise the limit of processes");
}

static void block_is_traced(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	functions_block(tb);
}

/* QEMU calls this when it has dropped all our callbacks and all translated blocks. */
static void test_is_over(qemu_plugin_id_t id)
{
	if (plugin.result == SELF_TEST_BAD && plugin.has_public) {
		public_stand_in(&plugin.qemu);
		boot_anew();
		qemu_plugin_register_vcpu_tb_trans_cb(id, block_asks);
	} else if (plugin.result == SELF_TEST_BAD) {
		complain("not sampling", "this QEMU's registers or memory are not where they should be",
			"use another source, or the QEMU of Debian");
	} else {
		if (functions_take())			/* chosen before the machine ran */
			qemu_plugin_register_vcpu_tb_trans_cb(id, block_is_traced);
		begin_calls();
	}
	register_all(id);
}

static void block_is_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	enum self_test_result result = SELF_TEST_GOES_ON;

	pthread_mutex_lock(&plugin.lock);
	if (plugin.result == SELF_TEST_GOES_ON) {
		result = plugin.result = self_test_block(&plugin.test, tb);
		plugin.tested = qemu_this_cpu();
	}
	pthread_mutex_unlock(&plugin.lock);
	if (result != SELF_TEST_GOES_ON)
		qemu_plugin_reset(id, test_is_over);
}

static void block_asks(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	public_block(tb);
	if (!__atomic_load_n(&plugin.begun, __ATOMIC_RELAXED))
		begin_calls();
}

/* As test_is_over: no CPU runs. */
static void functions_are_chosen(qemu_plugin_id_t id)
{
	if (functions_take())
		qemu_plugin_register_vcpu_tb_trans_cb(id, block_is_traced);
	register_all(id);
}

/* Where public.c stands in, functions_choose() refuses. */
static void retranslate(void)
{
	qemu_plugin_reset(plugin.id, functions_are_chosen);
}

static void machine_is_reset(void *data)
{
	(void)data;
	boot_anew();
}

/* Which CPUs sleep is followed during the self-test, too: public.c may stand in after it. */
static void register_all(qemu_plugin_id_t id)
{
	if (is_public() || (plugin.has_public && plugin.result == SELF_TEST_GOES_ON)) {
		qemu_plugin_register_vcpu_idle_cb(id, public_sleeps);
		qemu_plugin_register_vcpu_resume_cb(id, public_wakes);
	}
	qemu_plugin_register_vcpu_init_cb(id, cpu_begins);
	qemu_plugin_register_vcpu_exit_cb(id, cpu_ends);
	qemu_plugin_register_atexit_cb(id, end, NULL);
}

/* ---- the beginning ---- */

/* Gives the socket's path to whoever asks QMP for the property `ktop-plugin`: this is how ktop finds the plugin. */
static char *tell_socket(void *object, void **error)
{
	(void)object, (void)error;
	return plugin.qemu.strdup(plugin.socket.path);
}

static bool find_own(void)
{
	const char *missing = qemu_find(&plugin.qemu);

	if (missing == NULL)
		missing = debugger_prepare(plugin.target, &plugin.qemu);
	plugin.qemu.read_state = debugger_read;
	if (missing && !plugin.has_public)
		complain(missing, "this QEMU does not export its function of this name, as Debian's does",
			"leave the plugin out, or use QEMU 9.2 or later");
	return missing == NULL;
}

static bool find_functions(const struct qemu_plugin_info *info, bool only_public)
{
	const char *missing;

	plugin.target = target_find(info->target_name);
	if (plugin.target == NULL) {
		complain(info->target_name, "the plugin does not know this architecture",
			"x86_64, i386, riscv64 and aarch64 work; leave the plugin out");
		return false;
	}
	missing = public_prepare(plugin.target, info);
	plugin.has_public = missing == NULL;
	if (!only_public && find_own())
		return true;
	if (plugin.has_public)
		public_stand_in(&plugin.qemu);
	else if (only_public)
		complain(missing, "reads=public, and this QEMU does not have it", "use QEMU 9.2 or later");
	return plugin.has_public;
}

/* QEMU's interface for plugins has no timers. */
static bool set_clock(bool guest)
{
	plugin.qemu.guest_clock = guest && !is_public();
	if (guest && is_public())
		complain("clock=guest", "QEMU's own timers cannot be had here", "leave it out");
	return plugin.qemu.guest_clock == guest;
}

/* Makes the path absolute, for QEMU may change its folder later. */
static bool listen_at(const char *path)
{
	char folder[PATH_MAX], whole[2 * PATH_MAX];
	const char *why;

	if (path[0] == '/' || getcwd(folder, sizeof(folder)) == NULL)
		snprintf(whole, sizeof(whole), "%s", path);
	else
		snprintf(whole, sizeof(whole), "%s/%s", folder, path);
	why = plugin_socket_listen(&plugin.socket, whole);
	if (why)
		complain(whole, why, "give another socket=PATH");
	return why == NULL;
}

struct arguments {
	const char *socket;
	bool start;			/* sample from the first instruction on, without waiting for a host */
	bool only_public;		/* use nothing but QEMU's interface for plugins */
	bool guest_clock;		/* samples are due by the guest's clock, not by the host's */
};

static bool take_argument(const char *word, struct arguments *arguments)
{
	static const char key[] = "socket=";

	if (strcmp(word, "start=on") == 0)
		return arguments->start = true;
	if (strcmp(word, "reads=public") == 0)
		return arguments->only_public = true;
	if (strcmp(word, "clock=guest") == 0)
		return arguments->guest_clock = true;
	if (strcmp(word, "clock=host") == 0)
		return true;
	if (strncmp(word, key, strlen(key)) != 0 || !word[strlen(key)])
		return false;
	arguments->socket = word + strlen(key);
	return true;
}

static bool take_arguments(int count, char **words, struct arguments *arguments)
{
	bool good = true;

	*arguments = (struct arguments) { .socket = NULL };
	for (int i = 0; i < count; i++)
		good = take_argument(words[i], arguments) && good;
	good = good && arguments->socket;
	if (!good)
		complain("arguments", "it takes socket=PATH, and may be given start=on, clock=guest and reads=public",
			"give -plugin ktop-plugin.so,socket=PATH");
	return good;
}

static bool prepare(const struct qemu_plugin_info *info, bool start)
{
	struct boot_machine machine = {
		.qemu = &plugin.qemu, .socket = &plugin.socket,
		.arch = info->target_name, .cpus = (uint32_t)info->system.max_vcpus, .start = start,
		.api = info->version.cur, .retranslate = retranslate,
	};

	plugin.test = (struct self_test) {
		.qemu = &plugin.qemu, .api = info->version.cur,
	};
	plugin.vcpus = boot_prepare(&machine);
	if (plugin.vcpus == NULL)
		complain("this machine", "no memory for its CPUs", "give it fewer by -smp");
	return plugin.vcpus != NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info, int count, char **words)
{
	struct arguments arguments;

	plugin.id = id;
	if (!take_arguments(count, words, &arguments))
		return -1;
	if (!info->system_emulation) {
		complain("this QEMU", "it runs a program, no machine", "leave the plugin out");
		return -1;
	}
	if (!find_functions(info, arguments.only_public) || !set_clock(arguments.guest_clock) ||
			!listen_at(arguments.socket) || !prepare(info, arguments.start))
		return -1;
	if (plugin.qemu.register_reset)
		plugin.qemu.register_reset(machine_is_reset, NULL);
	if (plugin.qemu.object_get_root && plugin.qemu.object_property_add_str && plugin.qemu.strdup)
		plugin.qemu.object_property_add_str(plugin.qemu.object_get_root(), "ktop-plugin", tell_socket, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, is_public() ? block_asks : block_is_translated);
	register_all(id);
	return 0;
}
