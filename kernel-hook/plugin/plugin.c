/* SPDX-License-Identifier: MIT */
/*
 * A plugin for QEMU that samples the guest's CPUs from outside, so the guest needs no hook. QEMU loads it by
 * `-plugin ktop-plugin.so,socket=PATH`. ktop connects to that socket as to the port of a guest that has the hook.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "machine/debugger.h"
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
	struct qemu qemu;
	const struct target *target;
	struct plugin_socket socket;
	struct vcpus *vcpus;

	/* under the lock */
	pthread_mutex_t lock;
	pid_t drained_by;		/* the process that has the drainer; 0: none. QEMU may fork before that */
	struct self_test test;
	enum self_test_result result;
} plugin = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void complain(const char *what, const char *why, const char *remedy)
{
	fprintf(stderr, "ktop: plugin: %s: %s; %s\n", what, why, remedy);
}

/* ---- what QEMU calls ---- */

static void register_all(qemu_plugin_id_t id);

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

/* QEMU calls this when it has dropped all our callbacks. Blocks are translated without us from now on. */
static void test_is_over(qemu_plugin_id_t id)
{
	register_all(id);
	if (plugin.result == SELF_TEST_BAD)
		complain("not sampling", "this QEMU's registers or memory are not where they should be",
			"use another source, or the QEMU of Debian");
	else if (!vcpus_begin(plugin.vcpus))
		complain("not sampling", "no thread could be started", "raise the limit of processes");
}

static void block_is_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	enum self_test_result result = SELF_TEST_GOES_ON;

	pthread_mutex_lock(&plugin.lock);
	if (plugin.result == SELF_TEST_GOES_ON)
		result = plugin.result = self_test_block(&plugin.test, tb);
	pthread_mutex_unlock(&plugin.lock);
	if (result != SELF_TEST_GOES_ON)
		qemu_plugin_reset(id, test_is_over);
}

static void machine_is_reset(void *data)
{
	(void)data;
	boot_anew();
}

static void register_all(qemu_plugin_id_t id)
{
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

static bool find_functions(const struct qemu_plugin_info *info)
{
	const char *missing = qemu_find(&plugin.qemu);

	plugin.target = target_find(info->target_name);
	if (plugin.target == NULL) {
		complain(info->target_name, "no CPU that is known here",
			"x86_64, i386, riscv64 and aarch64 are; leave the plugin out");
		return false;
	}
	if (missing == NULL)
		missing = debugger_prepare(plugin.target, &plugin.qemu);
	if (missing)
		complain("this QEMU", missing, "it does not show this function of its own, as Debian's does; "
			"leave the plugin out");
	return missing == NULL;
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

/* Is it to sample from the beginning, so that a boot is seen whole? */
static bool starts(int count, char **words)
{
	return count == 2 && strcmp(words[1], "start=on") == 0;
}

static const char *socket_of(int count, char **words)
{
	static const char key[] = "socket=";

	if (count >= 1 && strncmp(words[0], key, strlen(key)) == 0 && words[0][strlen(key)] &&
			(count == 1 || (count == 2 && starts(count, words))))
		return words[0] + strlen(key);
	complain("arguments", "there is socket=PATH, and then perhaps start=on",
		"give -plugin ktop-plugin.so,socket=PATH");
	return NULL;
}

static bool prepare(const struct qemu_plugin_info *info, bool start)
{
	struct boot_machine machine = {
		.qemu = &plugin.qemu, .socket = &plugin.socket,
		.arch = info->target_name, .cpus = (uint32_t)info->system.max_vcpus, .start = start,
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
	const char *path = socket_of(count, words);

	if (path == NULL)
		return -1;
	if (!info->system_emulation) {
		complain("this QEMU", "it runs a program, no machine", "leave the plugin out");
		return -1;
	}
	if (!find_functions(info) || !listen_at(path) || !prepare(info, starts(count, words)))
		return -1;
	plugin.qemu.register_reset(machine_is_reset, NULL);
	plugin.qemu.object_property_add_str(plugin.qemu.object_get_root(), "ktop-plugin", tell_socket, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_is_translated);
	register_all(id);
	return 0;
}
