/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_sampler.h"
#include "agent/vm/link.h"
#include "agent/vm/link_state.h"
#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/scratch.h"

enum { STEPS = 6000, STEP_MS = 10 };	/* the longest wait for anything */

/*
 * A VM made of fakes: QMP, a guest that says nothing, and a process at the gdb stub, which is this program (see main).
 * The test moves the link's clock.
 */
struct vm {
	struct fake_guest *guest;	/* NULL: the VM has no port */
	struct fake_guest *plugin;	/* NULL: QEMU has not loaded it */
	struct fake_qmp *qmp;
	struct link *link;
	char *port_path, *plugin_path, *kernel, *text;
	bool may_plug;
	const char *named;		/* the kernel's file by the user's option; NULL: none */

	/* set by the test, read by the server's thread; volatile is enough, since each is one word */
	volatile bool open;		/* the guest has its port open */
	volatile bool denied;		/* QEMU may not make the stub's socket */
	volatile bool debugged;		/* a debugger is at the gdb stub */
	volatile int looks;		/* so often somebody is found there, then it is free; 0: nobody is */
	const char *stub;		/* where it is, if `looks` is set */
	volatile bool kvm;		/* KVM runs it: QEMU's plugins see nothing */
	volatile bool running;
	volatile int plugs;		/* how often QEMU was given a socket for a port */
	volatile int stubs;		/* how often the stub was started, less how often it was taken away */
	uint64_t later;			/* ns that the link's clock is ahead */
};

static const char *tell(struct vm *vm, char *text)
{
	free(vm->text);
	return vm->text = text;
}

static const char *free_later(struct vm *vm)
{
	return tell(vm, util_format("\"return\": [{\"label\": \"gdb\", \"filename\": \"%sunix:%s,server=on\"}]",
		--vm->looks > 0 ? "" : "disconnected:", vm->stub));
}

static const char *chardevs(struct vm *vm)
{
	if (vm->looks > 0)
		return free_later(vm);
	return tell(vm, util_format("\"return\": [{\"label\": \"%s\", \"filename\": \"unix:/d\"}, "
		"{\"label\": \"c\", \"frontend-open\": %s, \"filename\": \"disconnected:unix:%s,server=on\"}]",
		vm->debugged ? "gdb" : "other", vm->open ? "true" : "false", vm->port_path));
}

static const char *monitor(struct vm *vm, const char *line)
{
	bool none = strstr(line, "gdbserver none");

	if (vm->denied)
		return "\"return\": \"Failed to unlink socket /a/gdb: Permission denied\\r\\nCould not open\\r\\n\"";
	vm->stubs += none ? -1 : 1;
	return none ? "\"return\": \"\"" : "\"return\": \"Waiting for gdb connection on device\"";
}

static const char *answer(void *context, const char *line)
{
	struct vm *vm = context;

	if (strstr(line, "query-status"))
		return vm->running ? "\"return\": {\"status\": \"running\"}" : "\"return\": {\"status\": \"paused\"}";
	if (strstr(line, "qmp_capabilities"))
		return "\"return\": {}";
	vm->plugs += strstr(line, "getfd") != NULL;
	if (strstr(line, "query-chardev"))
		return chardevs(vm);
	if (strstr(line, "human-monitor-command"))
		return monitor(vm, line);
	if (strstr(line, "query-kvm"))
		return vm->kvm ? "\"return\": {\"enabled\": true, \"present\": true}" :
			"\"return\": {\"enabled\": false, \"present\": true}";
	if (vm->guest && strstr(line, "\"/machine/peripheral-anon\""))
		return "\"return\": [{\"name\": \"device[0]\", \"type\": \"child<virtserialport>\"}]";
	if (strstr(line, "\"name\"}"))
		return "\"return\": \"org.ktop.0\"";
	if (strstr(line, "\"chardev\"}"))
		return "\"return\": \"c\"";
	if (vm->plugin && strstr(line, "ktop-plugin"))
		return tell(vm, util_format("\"return\": \"%s\"", vm->plugin_path));
	if (vm->kernel && strstr(line, "\"kernel\"}"))
		return tell(vm, util_format("\"return\": \"%s\"", vm->kernel));
	return "\"error\": {\"desc\": \"not in this test\"}";
}

static bool step(struct vm *vm)
{
	bool begun = link_step(vm->link, util_now() + vm->later);

	if (vm->guest)
		fake_guest_step(vm->guest);
	if (vm->plugin)
		fake_guest_step(vm->plugin);
	return begun;
}

static void step_often(struct vm *vm)
{
	for (int i = 0; i < 30; i++) {
		step(vm);
		poll(NULL, 0, 1);
	}
}

/* Steps until the link has this socket's state. */
static void await(struct vm *vm, bool (*wanted)(const struct vm *vm))
{
	for (int i = 0; i < STEPS && !wanted(vm); i++) {
		step(vm);
		poll(NULL, 0, STEP_MS);
	}
	assert_true(wanted(vm));
}

static bool is_settled(const struct vm *vm)
{
	return link_settled(vm->link);
}

static bool is_stub(const struct vm *vm)
{
	return link_by_gdb(vm->link) && link_socket(vm->link);
}

static bool is_port(const struct vm *vm)
{
	return !link_by_gdb(vm->link) && !link_by_plugin(vm->link) && link_socket(vm->link);
}

static bool is_plugin(const struct vm *vm)
{
	return link_by_plugin(vm->link) && link_socket(vm->link);
}

static bool wants_change(const struct vm *vm)
{
	return link_wants_change(vm->link);
}

static bool has_given_back(const struct vm *vm)
{
	return vm->stubs == 0;
}

static bool is_refused(const struct vm *vm)
{
	char text[256];

	return strstr(link_remark(vm->link, LINK_NOT_OPENED, text, sizeof(text)), "a debugger is connected to it");
}

/* `vm` tells what there is; its members `guest` and `plugin` are set if they are to be made. */
static void begin(struct vm *vm, enum link_choice choice, bool has_port, bool has_plugin)
{
	static int number;
	char *qmp = util_format("choice%d.qmp", ++number), *port = util_format("choice%d.port", number);
	char *plugin = util_format("choice%d.plugin", number);

	vm->port_path = util_format("%s", scratch_path(port));
	vm->plugin_path = util_format("%s", scratch_path(plugin));
	vm->guest = has_port ? fake_guest_new(vm->port_path) : NULL;
	vm->plugin = has_plugin ? fake_guest_new(vm->plugin_path) : NULL;
	vm->running = true;
	vm->qmp = fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .machine = answer, .context = vm }, scratch_path(qmp));
	vm->link = link_new(scratch_path(qmp), NULL, vm->may_plug, choice);
	link_set_kernel(vm->link, vm->named);
	free(qmp);
	free(port);
	free(plugin);
	await(vm, is_settled);
}

static void end(struct vm *vm)
{
	link_leave(vm->link, util_now() + vm->later, 3000);
	for (int i = 0; i < STEPS && link_leaving(vm->link); i++) {
		link_step(vm->link, util_now() + vm->later);
		poll(NULL, 0, STEP_MS);
	}
	assert_false(link_leaving(vm->link));
	link_free(vm->link);
	fake_qmp_free(vm->qmp);
	if (vm->guest)
		fake_guest_free(vm->guest);
	if (vm->plugin)
		fake_guest_free(vm->plugin);
	free(vm->port_path);
	free(vm->plugin_path);
	free(vm->text);
	assert_int_equal(vm->stubs, 0);
}

/* Nothing comes from the port for 3 s: the gdb stub samples. A byte from the port: the hook does, and the stub goes. */
static void test_a_guest_without_the_hook(void **state)
{
	struct vm vm = { .open = false };
	char text[256], bytes[64];

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	assert_true(is_port(&vm));
	step_often(&vm);
	assert_true(is_port(&vm));
	link_remark(vm.link, LINK_NOT_OPENED, text, sizeof(text));
	assert_non_null(strstr(text, "soon QEMU's gdb stub samples the guest"));
	vm.later = 4 * NS_PER_SECOND;
	await(&vm, is_stub);
	assert_int_equal(vm.stubs, 1);
	step_often(&vm);
	assert_false(link_wants_change(vm.link));

	fake_guest_beat(vm.guest, 1);
	await(&vm, wants_change);
	link_change(vm.link, util_now() + vm.later);
	await(&vm, is_port);
	assert_true(port_socket_read(link_socket(vm.link), bytes, sizeof(bytes)) > 0);
	link_heard(vm.link);
	await(&vm, has_given_back);
	vm.later += 60 * NS_PER_SECOND;
	step_often(&vm);
	assert_true(is_port(&vm));		/* it has spoken: from now on its silence is a silence */
	end(&vm);
}

/* The port says so within the time: the stub is not touched. */
static void test_a_guest_with_the_hook(void **state)
{
	struct vm vm = { .open = true };

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	link_heard(vm.link);
	vm.later = 60 * NS_PER_SECOND;
	step_often(&vm);
	assert_true(is_port(&vm));
	assert_int_equal(vm.stubs, 0);
	end(&vm);
}

/* A kernel with the hook in its file may need longer than 3 s to boot. */
static void test_a_kernel_with_the_hook(void **state)
{
	struct vm vm = { .kernel = util_format("%s", scratch_text("kernel", "a kernel with org.ktop.0 in it")) };

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	step_often(&vm);
	vm.later = 6 * NS_PER_SECOND;
	step_often(&vm);
	assert_true(is_port(&vm));
	vm.later = 12 * NS_PER_SECOND;
	await(&vm, is_stub);
	end(&vm);
	free(vm.kernel);
}

/* The machine is paused: no time passes for it. */
static void test_a_machine_that_stands(void **state)
{
	struct vm vm = { .open = false };

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	step_often(&vm);
	vm.running = false;
	fake_qmp_say(vm.qmp, "{\"event\": \"STOP\"}\r\n");
	for (int i = 0; i < STEPS && link_vm(vm.link) != VM_PAUSED; i++) {
		step(&vm);
		poll(NULL, 0, STEP_MS);
	}
	for (int i = 0; i < 10; i++) {
		vm.later += NS_PER_SECOND;
		step_often(&vm);
	}
	assert_true(is_port(&vm));
	assert_int_equal(vm.stubs, 0);
	vm.running = true;
	fake_qmp_say(vm.qmp, "{\"event\": \"RESUME\"}\r\n");
	step_often(&vm);
	assert_true(is_port(&vm));
	vm.later += 4 * NS_PER_SECOND;
	await(&vm, is_stub);
	end(&vm);
}

static bool has_stopped(const struct vm *vm)
{
	return qmp_state(vm->link->qmp) == VM_PAUSED;
}

/* The machine stands while the process greets the stub: on a busy host for long. That is no pause; a later one is. */
static void test_a_long_greeting(void **state)
{
	struct vm vm = { .open = false };

	(void)state;
	begin(&vm, LINK_GDB, false, false);
	await(&vm, is_stub);
	vm.running = false;
	fake_qmp_say(vm.qmp, "{\"event\": \"STOP\"}\r\n");
	await(&vm, has_stopped);
	vm.later = 10 * NS_PER_SECOND;
	step_often(&vm);
	assert_int_equal(link_vm(vm.link), VM_RUNNING);
	link_heard(vm.link);			/* the greeting is over */
	vm.later = 20 * NS_PER_SECOND;
	step_often(&vm);
	assert_int_equal(link_vm(vm.link), VM_PAUSED);
	end(&vm);
}

/* It stays with its user, and that is told; once it is free, it is taken. */
static void test_a_debugger_is_left_alone(void **state)
{
	struct vm vm = { .debugged = true };

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	step_often(&vm);
	vm.later = 4 * NS_PER_SECOND;
	await(&vm, is_refused);
	assert_true(is_port(&vm));
	assert_int_equal(vm.stubs, 0);
	vm.debugged = false;
	vm.later += 4 * NS_PER_SECOND;
	await(&vm, is_stub);
	end(&vm);
}

/*
 * What has let the machine go on after a ktop was killed leaves the stub a moment later. At once it is taken: the
 * user's own, and the one that the other ktop has started.
 */
static void test_a_stub_that_is_left(void **state)
{
	const char *const stubs[] = { "/the/user", "/tmp/ktop-run-1/gdb" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct vm vm = { .looks = 4, .stub = stubs[i] };

		begin(&vm, LINK_GDB, false, false);
		assert_null(link_failure(vm.link));
		assert_true(is_stub(&vm));
		assert_int_equal(vm.stubs, 0);		/* taken away and started; or never */
		assert_int_equal(vm.link->stub_is_ours, i);
		vm.stubs += i;
		end(&vm);
	}
}

static bool is_denied(const struct vm *vm)
{
	char text[256];

	return strstr(link_remark(vm->link, LINK_NOT_OPENED, text, sizeof(text)), "it runs as another user");
}

/* The true cause is told, also where the port was plugged in and the guest has not found its controller. */
static void test_a_qemu_of_another_user(void **state)
{
	struct vm vm = { .denied = true };

	(void)state;
	begin(&vm, LINK_AUTO, true, false);
	step_often(&vm);
	vm.later = 4 * NS_PER_SECOND;
	await(&vm, is_denied);
	assert_true(is_port(&vm));
	vm.link->plugged.controller = vm.link->silent = true;
	assert_true(is_denied(&vm));
	vm.link->plugged.controller = vm.link->silent = false;
	vm.denied = false;
	vm.later += 4 * NS_PER_SECOND;
	await(&vm, is_stub);
	end(&vm);
}

/* There is no port, and none may be plugged in: nothing is to be waited for. */
static void test_a_machine_without_a_port(void **state)
{
	struct vm vm = { .open = false };

	(void)state;
	begin(&vm, LINK_AUTO, false, false);
	await(&vm, is_stub);
	assert_null(link_failure(vm.link));
	end(&vm);
}

/*
 * A port might be plugged in, but the machine has no controller, and nothing tells of a hook: the machine is left as it
 * is, and nothing is waited for. If a file of the kernel has the hook, or the user says so, a controller is tried.
 */
static void test_a_machine_that_is_left_alone(void **state)
{
	char *hook = util_format("%s", scratch_text("hooked", "a kernel with org.ktop.0 in it"));
	char *plain = util_format("%s", scratch_text("plain", "a kernel"));
	struct vm untouched = { .may_plug = true, .kernel = plain, .named = plain };
	struct vm hooked[] = {
		{ .may_plug = true, .kernel = hook }, { .may_plug = true, .named = hook }, { .may_plug = true },
	};

	(void)state;
	begin(&untouched, LINK_AUTO, false, false);
	await(&untouched, is_stub);
	assert_null(link_failure(untouched.link));
	assert_int_equal(untouched.plugs, 0);
	end(&untouched);
	for (size_t i = 0; i < sizeof(hooked) / sizeof(hooked[0]); i++) {
		begin(&hooked[i], i < 2 ? LINK_AUTO : LINK_HOOK, false, false);
		assert_true(hooked[i].plugs > 0);
		end(&hooked[i]);
	}
	free(hook);
	free(plain);
}

/* The user's choice is obeyed. */
static void test_the_user_says_otherwise(void **state)
{
	struct vm hook = { .open = false }, stub = { .open = true };

	(void)state;
	begin(&hook, LINK_HOOK, true, false);
	step_often(&hook);
	hook.later = 60 * NS_PER_SECOND;
	step_often(&hook);
	assert_true(is_port(&hook));
	assert_int_equal(hook.stubs, 0);
	end(&hook);

	begin(&stub, LINK_GDB, true, true);
	await(&stub, is_stub);
	end(&stub);
}

/* With the plugin, the stub is not needed: hook and plugin change places as the guest opens and closes its port. */
static void test_hook_and_plugin(void **state)
{
	struct vm vm = { .open = false };

	(void)state;
	begin(&vm, LINK_AUTO, true, true);
	assert_true(is_plugin(&vm));
	vm.later = 60 * NS_PER_SECOND;
	step_often(&vm);
	assert_true(is_plugin(&vm));
	assert_false(link_wants_change(vm.link));
	for (int i = 0; i < 2; i++) {
		vm.open = !vm.open;
		vm.later += NS_PER_SECOND;
		await(&vm, wants_change);
		link_change(vm.link, util_now() + vm.later);
		await(&vm, vm.open ? is_port : is_plugin);
	}
	assert_int_equal(vm.stubs, 0);
	end(&vm);
}

static void check_no_plugin(struct vm vm, bool has_plugin, const char *advice)
{
	begin(&vm, LINK_PLUGIN, true, has_plugin);
	assert_non_null(link_failure(vm.link));
	assert_non_null(strstr(link_failure(vm.link), advice));
	end(&vm);
}

/* The plugin that the user wants is not there, or sees nothing: why, and what to do. No host's KVM is needed. */
static void test_no_plugin(void **state)
{
	(void)state;
	check_no_plugin((struct vm) { .open = false }, false, "start QEMU with -plugin ktop-plugin.so,socket=PATH");
	check_no_plugin((struct vm) { .kvm = true }, true, "QEMU's plugins see TCG alone; use --source gdb");
}

/* In place of the process at the stub: it lives as long as its port. */
static int play_sampler(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_guest_without_the_hook),
		cmocka_unit_test(test_a_guest_with_the_hook),
		cmocka_unit_test(test_a_kernel_with_the_hook),
		cmocka_unit_test(test_a_machine_that_stands),
		cmocka_unit_test(test_a_long_greeting), cmocka_unit_test(test_a_debugger_is_left_alone),
		cmocka_unit_test(test_a_stub_that_is_left),
		cmocka_unit_test(test_a_qemu_of_another_user),
		cmocka_unit_test(test_a_machine_without_a_port),
		cmocka_unit_test(test_a_machine_that_is_left_alone),
		cmocka_unit_test(test_the_user_says_otherwise),
		cmocka_unit_test(test_hook_and_plugin),
		cmocka_unit_test(test_no_plugin),
	};

	if (count > 1 && strcmp(words[1], GDB_SAMPLER_WORD) == 0)
		return play_sampler();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
