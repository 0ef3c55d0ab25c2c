/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/link.h"
#include "agent/vm/port_socket.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/scratch.h"

enum { STEPS = 6000, STEP_MS = 10 };	/* the longest wait for anything */

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

/* A VM whose guest has closed its port. */
static const struct fake_answer closed[] = {
	{ "query-chardev", "\"return\": [{\"label\": \"other\", \"frontend-open\": true, "
		"\"filename\": \"pty\"}, {\"label\": \"c\", \"frontend-open\": false, "
		"\"filename\": \"unix:port,server=on\"}]" },
	{ "\"/machine/peripheral-anon\"", "\"return\": "
		"[{\"name\": \"device[0]\", \"type\": \"child<virtserialport>\"}]" },
	{ "\"name\"", "\"return\": \"org.ktop.0\"" },
	{ "\"chardev\"", "\"return\": \"c\"" },
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

/* A VM made of fakes, and a link to it. The test moves the link's clock. */
struct vm {
	struct fake_guest *guest;
	struct fake_qmp *qmp;
	struct link *link;
	char *port_path, *qmp_path;
	uint64_t later;			/* ns that the link's clock is ahead */
};

static struct fake_qmp *listen_qmp(const char *path, const struct fake_answer *answers)
{
	return fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = answers }, path);
}

static struct vm begin_with(const struct fake_answer *answers)
{
	static int number;
	struct vm vm = { .later = 0 };
	char *port = util_format("vm%d.port", ++number), *qmp = util_format("vm%d.qmp", number);

	vm.port_path = util_format("%s", scratch_path(port));
	vm.qmp_path = util_format("%s", scratch_path(qmp));
	vm.guest = fake_guest_new(vm.port_path);
	vm.qmp = answers ? listen_qmp(vm.qmp_path, answers) : NULL;
	vm.link = link_new(answers ? vm.qmp_path : NULL, vm.port_path, false, LINK_AUTO);
	for (int i = 0; i < STEPS && !link_settled(vm.link); i++) {
		poll(NULL, 0, 1);
		link_step(vm.link, util_now());
	}
	if (!link_socket(vm.link))
		fail_msg("%s", link_failure(vm.link));
	fake_guest_step(vm.guest);
	free(port);
	free(qmp);
	return vm;
}

static struct vm begin(bool with_qmp)
{
	return begin_with(with_qmp ? machine : NULL);
}

static void end(struct vm *vm)
{
	link_free(vm->link);
	fake_guest_free(vm->guest);
	if (vm->qmp)
		fake_qmp_free(vm->qmp);
	free(vm->port_path);
	free(vm->qmp_path);
}

/* A step, as the session makes it. True: the port was just connected. */
static bool step(struct vm *vm)
{
	bool connected = link_step(vm->link, util_now() + vm->later);
	char bytes[4096];
	ssize_t got = 0;

	while (link_socket(vm->link) &&
			(got = port_socket_read(link_socket(vm->link), bytes, sizeof(bytes))) > 0)
		link_heard(vm->link);
	if (got < 0)
		link_lost_port(vm->link);
	return connected;
}

static void await_step(struct vm *vm)
{
	fake_guest_step(vm->guest);
	poll(NULL, 0, STEP_MS);
	step(vm);
}

/* Steps until the port is connected again. The link first looks for the cause of the silence, which takes time. */
static bool await_anew(struct vm *vm)
{
	for (int i = 0; i < STEPS; i++) {
		if (step(vm))
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

static void hear(struct vm *vm)
{
	fake_guest_beat(vm->guest, 1);
	for (int i = 0; i < STEPS && link_port_state(vm->link) != LINK_NO_HELLO; i++)
		await_step(vm);
	assert_int_equal(link_port_state(vm->link), LINK_NO_HELLO);
}

static void await_vm(struct vm *vm, enum vm_state wanted)
{
	for (int i = 0; i < STEPS && link_vm(vm->link) != wanted; i++)
		await_step(vm);
	assert_int_equal(link_vm(vm->link), wanted);
}

static void check_remark(const struct vm *vm, enum link_state state, const char *part)
{
	char text[256];

	link_remark(vm->link, state, text, sizeof(text));
	if (part ? !strstr(text, part) : text[0] != '\0')
		fail_msg("%s", text);
}

/* A VM that does not exist yet: failures are told until it does. */
static void test_a_vm_is_waited_for(void **state)
{
	struct vm vm = { .port_path = util_format("%s", scratch_path("late.port")) };

	(void)state;
	vm.link = link_new(NULL, vm.port_path, true, LINK_AUTO);
	assert_int_equal(link_port_state(vm.link), LINK_CONNECTING);
	for (int i = 0; i < STEPS && !link_settled(vm.link); i++) {
		assert_false(step(&vm));
		poll(NULL, 0, 1);
	}
	assert_int_equal(link_port_state(vm.link), LINK_CONNECTING);
	assert_int_equal(link_vm(vm.link), VM_UNKNOWN);
	check_remark(&vm, LINK_CONNECTING, "late.port: not connected: No such file or directory");
	vm.guest = fake_guest_new(vm.port_path);
	for (int i = 0; i < STEPS && !link_socket(vm.link); i++)
		await_step(&vm);
	assert_int_equal(link_port_state(vm.link), LINK_NOT_OPENED);
	check_remark(&vm, LINK_NOT_OPENED, NULL);
	end(&vm);
}

/* Twenty missing heartbeats are a silence; the next heartbeat ends it. */
static void test_silence_is_told(void **state)
{
	struct vm vm = begin(false);

	(void)state;
	hear(&vm);
	assert_false(link_silent(vm.link));
	check_remark(&vm, LINK_UP, NULL);
	vm.later = 3 * NS_PER_SECOND;
	assert_false(step(&vm));
	assert_true(link_silent(vm.link));
	check_remark(&vm, LINK_SILENT, "nothing comes from the guest");
	assert_int_equal(link_vm(vm.link), VM_UNKNOWN);
	vm.later = 0;
	fake_guest_beat(vm.guest, 1);
	for (int i = 0; i < STEPS && link_silent(vm.link); i++)
		await_step(&vm);
	assert_false(link_silent(vm.link));
	end(&vm);
}

/* The guest itself has closed the port: the remark says so. */
static void test_a_port_that_the_guest_closed(void **state)
{
	struct vm vm = begin_with(closed);
	char text[256] = "";

	(void)state;
	hear(&vm);
	vm.later = 3 * NS_PER_SECOND;
	for (int i = 0; i < STEPS && !strstr(text, "closed the port"); i++) {
		step(&vm);
		poll(NULL, 0, 1);
		link_remark(vm.link, LINK_SILENT, text, sizeof(text));
	}
	assert_non_null(strstr(text, "the guest closed the port (rebooted, or ktop.ko unloaded?); "
		"last data "));
	assert_non_null(strstr(text, " s ago"));
	vm.later = 0;
	hear(&vm);
	step(&vm);
	link_remark(vm.link, LINK_SILENT, text, sizeof(text));
	assert_null(strstr(text, "closed the port"));
	end(&vm);
}

static void test_a_paused_vm_is_not_silent(void **state)
{
	struct vm vm = begin(true);

	(void)state;
	hear(&vm);
	fake_qmp_say(vm.qmp, "{\"event\": \"STOP\"}\r\n");
	await_vm(&vm, VM_PAUSED);
	for (int i = 0; i < 10; i++) {
		vm.later += NS_PER_SECOND;
		step(&vm);
		assert_false(link_silent(vm.link));
	}
	/* The two seconds begin when the VM runs again. */
	fake_qmp_say(vm.qmp, "{\"event\": \"RESUME\"}\r\n");
	await_vm(&vm, VM_RUNNING);
	assert_false(link_silent(vm.link));
	vm.later += 3 * NS_PER_SECOND;
	step(&vm);
	assert_true(link_silent(vm.link));
	end(&vm);
}

/* QEMU may throttle a port because of its last client: the link reconnects once, not for ever. */
static void test_a_port_that_stays_silent_is_opened_again(void **state)
{
	struct vm vm = begin(true);

	(void)state;
	vm.later = NS_PER_SECOND;
	assert_false(step(&vm));
	vm.later = 3 * NS_PER_SECOND;
	assert_true(await_anew(&vm));
	for (int i = 0; i < 100; i++) {
		vm.later += NS_PER_SECOND / 3;
		fake_guest_step(vm.guest);	/* sees the first client leave, and accepts the second */
		assert_false(step(&vm));
		poll(NULL, 0, 1);
	}
	assert_true(vm.guest->fd >= 0);
	/* Once the guest has sent something, the next silence gets another try. */
	vm.later = 0;
	hear(&vm);
	fake_guest_hang_up(vm.guest);
	for (int i = 0; i < STEPS && vm.guest->fd < 0; i++)
		await_step(&vm);
	vm.later = 6 * NS_PER_SECOND;
	assert_true(await_anew(&vm));
	end(&vm);
}

static void test_qemu_that_hangs(void **state)
{
	struct vm vm = begin(true);

	(void)state;
	hear(&vm);
	vm.later = 3 * NS_PER_SECOND;
	fake_qmp_mute(vm.qmp, true);
	step(&vm);
	assert_non_null(fake_qmp_wait(vm.qmp, "query-status"));
	assert_int_equal(link_vm(vm.link), VM_RUNNING);
	vm.later = 6 * NS_PER_SECOND;
	step(&vm);
	assert_int_equal(link_vm(vm.link), VM_HANGS);
	check_remark(&vm, LINK_SILENT, "QEMU does not answer");
	fake_qmp_mute(vm.qmp, false);
	await_vm(&vm, VM_RUNNING);
	check_remark(&vm, LINK_SILENT, "nothing comes from the guest");
	end(&vm);
}

static void test_a_panic_is_told(void **state)
{
	struct vm vm = begin(true);

	(void)state;
	hear(&vm);
	fake_qmp_say(vm.qmp, "{\"event\": \"GUEST_PANICKED\", \"data\": {\"action\": \"pause\"}}\r\n"
		"{\"event\": \"STOP\"}\r\n");
	await_vm(&vm, VM_PANICKED);
	check_remark(&vm, LINK_UP, "kernel has panicked");
	fake_qmp_say(vm.qmp, "{\"event\": \"RESET\"}\r\n");
	await_vm(&vm, VM_RUNNING);		/* from the answer to query-status */
	check_remark(&vm, LINK_UP, NULL);
	end(&vm);
}

/* When QMP closes, the port stays, and its data. When QMP is back, its facts are, too. */
static void test_qmp_that_goes_and_comes_back(void **state)
{
	struct vm vm = begin(true);

	(void)state;
	hear(&vm);
	fake_qmp_free(vm.qmp);
	await_vm(&vm, VM_UNKNOWN);
	assert_non_null(link_socket(vm.link));
	check_remark(&vm, LINK_UP, "QMP was closed");
	unlink(vm.qmp_path);
	vm.qmp = listen_qmp(vm.qmp_path, machine);
	await_vm(&vm, VM_RUNNING);
	check_remark(&vm, LINK_UP, NULL);
	end(&vm);
}

static struct vm begin_slow(const struct fake_script *script)
{
	static int number;
	char *port = util_format("slow%d.port", ++number), *qmp = util_format("slow%d.qmp", number);
	struct vm vm = {
		.port_path = util_format("%s", scratch_path(port)), .qmp_path = util_format("%s", scratch_path(qmp)),
	};

	vm.guest = fake_guest_new(vm.port_path);
	vm.qmp = fake_qmp_listen(script, vm.qmp_path);
	vm.link = link_new(vm.qmp_path, vm.port_path, false, LINK_AUTO);
	free(port);
	free(qmp);
	return vm;
}

/* A second later, nothing has failed. */
static void leap(struct vm *vm)
{
	vm->later += NS_PER_SECOND;
	step(vm);
	poll(NULL, 0, 1);
	assert_false(link_settled(vm->link));
	assert_null(link_failure(vm->link));
}

/* A busy host: QEMU greets late, and answers late. It is waited for on the same connection; then all goes on. */
static void test_qemu_that_is_slow(void **state)
{
	static const char *const waits[] = {
		"waits for QEMU's greeting on the QMP socket", "waits for QEMU's answer to qmp_capabilities",
		"waits for QEMU's answer to query-status", "asks QEMU what machine it is: waits for the answer to",
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct fake_script script = { .greeting = fake_greeting, .answers = machine, .mute_from = i + 1 };
		struct vm vm = begin_slow(&script);
		char text[256] = "";

		for (int left = STEPS; left && !(strstr(text, waits[i]) && strstr(text, ": QEMU hangs, ")); left--) {
			leap(&vm);
			link_remark(vm.link, LINK_CONNECTING, text, sizeof(text));
		}
		for (int seconds = 0; seconds < 200; seconds++)
			leap(&vm);
		check_remark(&vm, LINK_CONNECTING, waits[i]);
		fake_qmp_mute(vm.qmp, false);
		await_vm(&vm, VM_RUNNING);
		end(&vm);
	}
}

/* The VM ends, with or without an event from QEMU before it. */
static void go_away(struct vm *vm, const char *event)
{
	hear(vm);
	if (event)
		fake_qmp_say(vm->qmp, event);
	fake_qmp_hang_up(vm->qmp);
	fake_guest_hang_up(vm->guest);
	close(vm->guest->listener);
	for (int i = 0; i < STEPS && link_vm(vm->link) != VM_GONE; i++) {
		poll(NULL, 0, STEP_MS);
		step(vm);
	}
	assert_int_equal(link_vm(vm->link), VM_GONE);
	assert_int_equal(link_port_state(vm->link), LINK_LOST);
}

static void check_end(const char *event, const char *how)
{
	struct vm vm = begin(true);

	go_away(&vm, event);
	check_remark(&vm, LINK_LOST, how);
	end(&vm);
}

static void test_the_end_of_qemu(void **state)
{
	(void)state;
	check_end(NULL, "QEMU is gone (killed, or crashed): what came is kept");
	check_end("{\"event\": \"SHUTDOWN\"}\r\n", "has ended (its machine was shut down)");
	check_end("{\"event\": \"GUEST_PANICKED\"}\r\n{\"event\": \"SHUTDOWN\"}\r\n",
		"has ended (its guest's kernel panicked)");
}

static char *end_of_own(void *told, bool *well)
{
	*well = true;
	return *(bool *)told ? util_format("the guest has ended the VM, with status 33") : NULL;
}

/* Nobody starts it again. How it has ended is news once it is known. */
static void test_the_end_of_an_own_qemu(void **state)
{
	struct vm vm = begin(true);
	bool told = false;
	uint64_t news;

	(void)state;
	link_set_own(vm.link, end_of_own, &told);
	go_away(&vm, NULL);
	check_remark(&vm, LINK_LOST, "QEMU is ending, or is gone and what has started it cleans up: what came is kept; "
		"q leaves");
	news = link_news(vm.link);
	told = true;
	step(&vm);
	assert_true(link_news(vm.link) > news);
	check_remark(&vm, LINK_LOST, "the guest has ended the VM, with status 33: what came is kept; q leaves");
	end(&vm);
}

/* What has started it cleans up for `seconds`, and has status 0 then. */
static void check_own_end(const char *event, int seconds, const char *how, bool well)
{
	struct vm vm = begin(true);
	bool told = false, good;

	link_set_own(vm.link, end_of_own, &told);
	go_away(&vm, event);
	for (int i = 0; i < seconds; i++) {
		vm.later += NS_PER_SECOND;
		step(&vm);
	}
	told = true;
	step(&vm);
	assert_false(link_is_unsure(vm.link, util_now() + vm.later));
	assert_string_equal(link_ended(vm.link, &good), how);
	assert_int_equal(good, well);
	end(&vm);
}

static void test_a_wrapper_that_cleans_up(void **state)
{
	static const char shutdown[] = "{\"event\": \"SHUTDOWN\"}\r\n",
		panic[] = "{\"event\": \"GUEST_PANICKED\"}\r\n{\"event\": \"SHUTDOWN\"}\r\n";

	(void)state;
	check_own_end(NULL, 20, "the guest has ended the VM, with status 33", true);
	check_own_end(shutdown, 20, "the guest has ended the VM, with status 33", true);
	check_own_end(panic, 20, "the guest's kernel has panicked", false);
	check_own_end(panic, 0, "the guest's kernel has panicked", false);
	check_own_end(NULL, 40, "QEMU is gone, and what has started it goes on", false);
	check_own_end(shutdown, 40, "the machine was shut down", true);
	check_own_end(panic, 40, "the guest's kernel has panicked", false);
}

/* Another program was quicker: the remark names it, and ends when it leaves. */
static void test_a_port_that_another_took(void **state)
{
	struct vm vm = begin(true);
	struct port_socket *other;
	bool taken;
	char *error = NULL, *me = util_format("(pid %d)", (int)getpid());

	(void)state;
	hear(&vm);
	fake_guest_hang_up(vm.guest);
	step(&vm);
	other = port_socket_connect(vm.port_path, &taken, &error);
	assert_non_null(other);
	fake_guest_step(vm.guest);
	for (int i = 0; i < STEPS && !step(&vm); i++)
		poll(NULL, 0, STEP_MS);
	assert_int_equal(link_port_state(vm.link), LINK_NOT_OPENED);
	vm.later = 3 * NS_PER_SECOND;
	for (int i = 0; i < 100 && link_port_state(vm.link) != LINK_TAKEN; i++) {
		step(&vm);
		poll(NULL, 0, 1);
	}
	if (link_port_state(vm.link) == LINK_TAKEN) {	/* if the host's kernel tells */
		check_remark(&vm, LINK_TAKEN, "the port is taken by test_link");
		check_remark(&vm, LINK_TAKEN, me);
	}
	vm.later = 0;
	port_socket_free(other);
	hear(&vm);
	check_remark(&vm, LINK_UP, NULL);
	free(me);
	end(&vm);
}

/* A socket at which a client waits that nobody serves: there is no room for another one. */
static int crowd(const char *path, struct port_socket **client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *error = NULL;
	bool taken;

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	*client = port_socket_connect(path, &taken, &error);
	assert_non_null(*client);
	return fd;
}

/* Others may be at the port for a moment. Only that they stay is a failure. */
static void test_a_port_with_other_clients(void **state)
{
	char *path = util_format("%s", scratch_path("crowded"));
	struct port_socket *client;
	int listener = crowd(path, &client), served;
	struct link *link = link_new(NULL, path, false, LINK_AUTO);
	uint64_t begin = NS_PER_SECOND, now = begin;

	(void)state;
	for (int i = 0; i < STEPS && !link_settled(link); i++, now += NS_PER_SECOND / 10) {
		poll(NULL, 0, 1);
		link_step(link, now);
	}
	assert_non_null(strstr(link_failure(link), "end that one"));
	assert_true(now - begin >= 3 * NS_PER_SECOND);
	link_free(link);

	link = link_new(NULL, path, false, LINK_AUTO);
	now = begin;
	for (int i = 0; i < 10; i++, now += NS_PER_SECOND / 10) {
		poll(NULL, 0, 1);
		link_step(link, now);
	}
	assert_false(link_settled(link));
	served = accept(listener, NULL, NULL);
	port_socket_free(client);
	now += NS_PER_SECOND;
	for (int i = 0; i < STEPS && !link_settled(link); i++) {
		poll(NULL, 0, 1);
		link_step(link, now);
	}
	assert_non_null(link_socket(link));
	link_free(link);
	close(served);
	close(listener);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_vm_is_waited_for),
		cmocka_unit_test(test_silence_is_told),
		cmocka_unit_test(test_a_port_that_the_guest_closed),
		cmocka_unit_test(test_a_paused_vm_is_not_silent),
		cmocka_unit_test(test_a_port_that_stays_silent_is_opened_again),
		cmocka_unit_test(test_qemu_that_hangs),
		cmocka_unit_test(test_a_panic_is_told),
		cmocka_unit_test(test_qmp_that_goes_and_comes_back),
		cmocka_unit_test(test_qemu_that_is_slow),
		cmocka_unit_test(test_the_end_of_qemu),
		cmocka_unit_test(test_the_end_of_an_own_qemu),
		cmocka_unit_test(test_a_wrapper_that_cleans_up),
		cmocka_unit_test(test_a_port_that_another_took),
		cmocka_unit_test(test_a_port_with_other_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
