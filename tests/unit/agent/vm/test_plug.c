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
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "tests/unit/fakes/scratch.h"

enum { PATIENCE_MS = 60000, KEPT_MS = 6000, STEPS = 6000, STEP_MS = 10 };

struct vm {
	struct machine machine;
	struct fake_qmp *fake;
	struct qmp *qmp;
	struct qmp_plugged plugged;
	char *error;
};

static void begin(struct vm *vm, const struct machine *machine)
{
	*vm = (struct vm) { .machine = *machine };
	vm->fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .machine = machine_answer, .context = &vm->machine });
	vm->qmp = loop_open(qmp_from_fd(fake_qmp_fd(vm->fake), "fake", PATIENCE_MS), &vm->error);
	if (!vm->qmp)
		fail_msg("%s", vm->error);
}

static void end(struct vm *vm)
{
	qmp_free(vm->qmp);
	fake_qmp_free(vm->fake);
	free(vm->machine.text);
	free(vm->error);
}

/* For loop_talk_until. The guest was asked to release the controller; the change that goes wrong was asked for. */
static bool is_asked(const void *machine)
{
	return ((const struct machine *)machine)->requests;
}

static bool is_odd(const void *context)
{
	const struct machine *machine = context;

	return machine->odd && machine->changes >= machine->odd;
}

/* True: everything is out. `late`: when the time is over (loop_talk_until). */
static bool unplug_until(struct vm *vm, bool (*late)(const void *machine))
{
	struct qmp_plug plug;
	bool good;

	unplug_begin(&plug, vm->qmp, util_now(), PATIENCE_MS);
	good = loop_talk_until(&plug.talk, late, &vm->machine);
	plug_clear(&plug);
	return good;
}

static bool unplug(struct vm *vm)
{
	return unplug_until(vm, NULL);
}

/* True: it is plugged in, and ktop's end is open. After a failure, takes out the rest, as a link does. */
static bool plug_as(struct vm *vm, bool may_add, int timeout_ms, bool (*late)(const void *machine))
{
	struct qmp_plug plug;
	bool good, given;

	plug_begin(&plug, vm->qmp, may_add, util_now(), timeout_ms);
	good = loop_talk_until(&plug.talk, late, &vm->machine);
	given = plug.given;
	if (!good)
		util_fail(&vm->error, "%s", plug.talk.error);
	vm->plugged = plug.plugged;
	assert_int_equal(good, plug.plugged.bus[0] != '\0');
	assert_true(!good || plug.fd >= 0);
	plug_clear(&plug);
	if (!good && given)
		unplug(vm);
	return good;
}

static bool plug(struct vm *vm)
{
	return plug_as(vm, true, PATIENCE_MS, NULL);
}

/* Half of the time is spent on waiting for a controller that the guest does not release. */
static bool plug_beside_a_kept_one(struct vm *vm)
{
	return plug_as(vm, true, KEPT_MS, NULL);
}

static void check_error(const struct vm *vm, const char *part)
{
	if (!vm->error || !strstr(vm->error, part))
		fail_msg("not %s, but %s", part, vm->error ? vm->error : "no error");
}

static void check_nothing_is_left(const struct machine *machine)
{
	assert_false(machine->port);
	assert_false(machine->chardev);
	assert_false(machine->plugged);
}

/* ---- the tests ---- */

static void test_a_port_on_a_controller(void **state)
{
	struct vm vm;

	(void)state;
	begin(&vm, &machine_with_controller);
	assert_true(plug(&vm));
	assert_true(vm.machine.port && vm.machine.chardev && !vm.machine.plugged);
	assert_string_equal(vm.plugged.bus, "virtio-serial-bus.0");
	assert_false(vm.plugged.controller);
	vm.machine.busy = 3;
	assert_true(unplug(&vm));
	check_nothing_is_left(&vm.machine);
	end(&vm);
}

static void test_a_controller_as_well(void **state)
{
	struct machine full = machine_pc;
	struct vm vm;

	(void)state;
	full.devices = machine_with_controller.devices;
	full.controller = machine_with_controller.controller;
	full.full = true;
	for (int i = 0; i < 2; i++) {
		begin(&vm, i ? &full : &machine_pc);
		assert_true(plug(&vm));
		assert_true(vm.machine.port && vm.machine.chardev && vm.machine.plugged && vm.machine.small);
		assert_string_equal(vm.plugged.bus, "pci.0");
		assert_true(vm.plugged.controller);
		assert_true(unplug(&vm));
		check_nothing_is_left(&vm.machine);
		end(&vm);
	}
}

/* No controller may be added: the port goes onto one that is there; else nothing is changed at all. */
static void test_no_controller_may_be_added(void **state)
{
	struct machine full = machine_with_controller;
	struct vm vm;

	(void)state;
	begin(&vm, &machine_with_controller);
	assert_true(plug_as(&vm, false, PATIENCE_MS, NULL));
	assert_true(vm.machine.port && vm.machine.chardev && !vm.machine.plugged);
	assert_string_equal(vm.plugged.bus, "virtio-serial-bus.0");
	assert_true(unplug(&vm));
	end(&vm);

	begin(&vm, &machine_pc);
	assert_false(plug_as(&vm, false, PATIENCE_MS, NULL));
	check_error(&vm, "no virtio-serial controller; give --source hook");
	assert_int_equal(vm.machine.changes, 0);
	end(&vm);

	full.full = full.hotplug = true;
	begin(&vm, &full);
	assert_false(plug_as(&vm, false, PATIENCE_MS, NULL));
	check_error(&vm, "Maximum port limit reached");
	check_nothing_is_left(&vm.machine);
	end(&vm);
}

/* What a killed ktop has left goes, also when it would not be plugged in again. */
static void test_what_was_left_goes(void **state)
{
	struct machine machine = machine_pc;
	struct vm vm;

	(void)state;
	machine.chardev = machine.port = machine.plugged = true;
	begin(&vm, &machine);
	plug_as(&vm, false, PATIENCE_MS, NULL);
	check_nothing_is_left(&vm.machine);
	end(&vm);
}

/* QEMU refuses each change of the machine in turn: nothing of the changes before is left. */
static void test_all_or_nothing(void **state)
{
	static const char *const oddities[] = { MACHINE_REFUSES, "\"error\": 7",
		"\"error\": {\"desc\": {}}", "\"other\": 1" };
	int refused = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++)
		for (int odd = 1; odd <= 5; odd++) {
			struct machine machine = machine_pc;
			struct vm vm;

			machine.odd = odd;
			machine.oddity = oddities[i];
			begin(&vm, &machine);
			if (!plug(&vm)) {
				check_error(&vm, "ktop.0: not plugged in: ");
				check_nothing_is_left(&vm.machine);
				assert_false(vm.machine.passed);
				refused++;
			}
			end(&vm);
		}
	assert_int_equal(refused, 4 * 4);	/* descriptor, chardev, controller, port */
}

/* QEMU closes the connection, or says nothing: there is an error in time. */
static void test_no_answer(void **state)
{
	(void)state;
	for (int odd = 1; odd <= 4; odd++) {
		struct machine machine = machine_pc;
		struct vm vm;

		machine.odd = odd;
		machine.oddity = "";
		begin(&vm, &machine);
		assert_false(plug(&vm));
		end(&vm);

		machine.oddity = NULL;
		begin(&vm, &machine);
		assert_false(plug_as(&vm, true, PATIENCE_MS, is_odd));
		check_nothing_is_left(&vm.machine);
		end(&vm);
	}
}

static void test_where_it_cannot_be(void **state)
{
	struct vm vm;

	(void)state;
	begin(&vm, &machine_q35);
	assert_false(plug(&vm));
	check_error(&vm, "Bus 'pcie.0' does not support hotplugging; start QEMU with "
		"-device virtio-serial-pci, ");
	check_nothing_is_left(&vm.machine);
	end(&vm);

	begin(&vm, &machine_microvm);
	assert_false(plug(&vm));
	check_error(&vm, "no bus that it could be plugged into; start QEMU with "
		"-device virtio-serial-device, ");
	check_nothing_is_left(&vm.machine);
	end(&vm);

	begin(&vm, &(struct machine) { .type = "isapc-machine", .board = "", .devices = "" });
	assert_false(plug(&vm));
	check_error(&vm, "start QEMU with a machine that has PCI, such as -M pc");
	end(&vm);
}

/* Another ktop has the port: nothing is changed. */
static void test_two_at_once(void **state)
{
	struct machine machine = machine_pc;
	struct vm vm;

	(void)state;
	machine.chardev = machine.held = machine.port = machine.plugged = true;
	begin(&vm, &machine);
	assert_false(plug(&vm));
	check_error(&vm, "taken by the ktop that plugged it in");
	assert_true(vm.machine.chardev && vm.machine.port && vm.machine.plugged);
	assert_int_equal(vm.machine.changes, 0);
	end(&vm);
}

/* A ktop was killed, at each point that it may have reached. */
static void test_what_was_left(void **state)
{
	(void)state;
	for (int left = 0; left < 4; left++) {
		struct machine machine = machine_pc;
		struct vm vm;

		machine.chardev = left > 0;
		machine.port = left & 1;
		machine.plugged = left & 2;
		begin(&vm, &machine);
		assert_true(plug(&vm));
		assert_true(vm.machine.chardev && vm.machine.port && vm.machine.plugged);
		end(&vm);
	}
}

/* Only the controller is left, and the guest was asked to release it: it is awaited, not asked again. */
static void test_what_is_about_to_go(void **state)
{
	struct machine machine = machine_pc;
	struct vm vm;

	(void)state;
	machine.plugged = true;
	machine.goes = 5;
	begin(&vm, &machine);
	assert_true(plug(&vm));
	assert_int_equal(vm.machine.requests, 0);
	assert_true(vm.machine.chardev && vm.machine.port && vm.machine.plugged);
	end(&vm);
}

static void test_a_guest_that_keeps_its_controller(void **state)
{
	struct machine machine = machine_pc;
	struct vm vm;

	(void)state;
	machine.keeps = true;
	begin(&vm, &machine);
	assert_true(plug(&vm));
	assert_false(unplug_until(&vm, is_asked));
	assert_true(vm.machine.plugged && !vm.machine.port && !vm.machine.chardev);
	assert_true(plug_beside_a_kept_one(&vm));
	assert_string_equal(vm.plugged.bus, QMP_PLUG_CONTROLLER ".0");
	assert_int_equal(vm.machine.requests, 1);
	assert_true(vm.machine.port && vm.machine.chardev);
	end(&vm);
}

static void test_a_kept_controller_that_takes_no_port(void **state)
{
	struct machine machine = machine_pc;
	struct vm vm;

	(void)state;
	machine.keeps = true;
	machine.odd = 7;		/* four changes for the first try, then a descriptor, a chardev and a port */
	machine.oddity = MACHINE_REFUSES;
	begin(&vm, &machine);
	assert_true(plug(&vm));
	assert_false(unplug_until(&vm, is_asked));
	assert_false(plug_beside_a_kept_one(&vm));
	check_error(&vm, "not released the controller of an earlier ktop; reset the machine");
	assert_true(!vm.machine.port && !vm.machine.chardev);
	end(&vm);
}

/* Names and lists that no QEMU sends. */
static void test_lies(void **state)
{
	static const char *const devices[] = { "7", "{\"name\": 1, \"type\": \"child<x>\"}",
		"{}, [], null", "{\"name\": \"\\u001b[2J\", \"type\": \"child<virtio-serial-pci>\"}" };
	struct machine machine = machine_with_controller;
	struct vm vm;

	(void)state;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		machine.devices = devices[i];
		begin(&vm, &machine);
		assert_false(plug(&vm));
		check_nothing_is_left(&vm.machine);
		end(&vm);
	}
	machine = machine_with_controller;
	machine.controller = MACHINE_HAS("\\u001b[2J a bus with a name that is so long that there is "
		"no room for all of it in what is told", "virtio-serial-bus");
	begin(&vm, &machine);
	assert_true(plug(&vm));
	assert_int_equal(strlen(vm.plugged.bus), sizeof(vm.plugged.bus) - 1);
	assert_int_equal(strncmp(vm.plugged.bus, "?[2J a bus", 10), 0);
	end(&vm);
}

static struct link *attach(struct machine *machine, struct fake_qmp **fake, bool may_plug,
	char **error)
{
	static int number;
	char *name = util_format("plug%d.qmp", ++number);
	struct link *link;

	*fake = fake_qmp_listen(&(struct fake_script) { .greeting = fake_greeting, .machine = machine_answer,
		.context = machine }, scratch_path(name));
	link = link_new(scratch_path(name), NULL, may_plug, LINK_HOOK);
	free(name);
	while (!link_settled(link)) {
		poll(NULL, 0, 1);
		link_step(link, util_now());
	}
	if (!link_failure(link))
		return link;
	util_fail(error, "%s", link_failure(link));
	link_free(link);
	return NULL;
}

static void detach(struct link *link)
{
	link_leave(link, util_now(), PATIENCE_MS);
	while (link_leaving(link)) {
		poll(NULL, 0, 1);
		link_step(link, util_now());
	}
	assert_null(link_stays(link));
	link_free(link);
}

/* The port is plugged in for as long as the link lives. */
static void test_a_link_plugs(void **state)
{
	struct machine machine = machine_pc;
	struct fake_qmp *fake;
	char *error = NULL, line[256];
	struct link *link = attach(&machine, &fake, true, &error);

	(void)state;
	if (!link)
		fail_msg("%s", error);
	assert_true(machine.port && machine.plugged);
	assert_string_equal(link_plugged(link, line, sizeof(line)), "the port org.ktop.0 is plugged "
		"in, with a virtio-serial controller on bus pci.0");
	assert_non_null(link_socket(link));
	assert_int_equal(link_port_state(link), LINK_NOT_OPENED);
	link_step(link, util_now() + 3 * NS_PER_SECOND);
	assert_non_null(strstr(link_remark(link, LINK_NOT_OPENED, line, sizeof(line)),
		"reset it if this lasts"));
	detach(link);
	check_nothing_is_left(&machine);
	fake_qmp_free(fake);
	free(machine.text);
}

/* A busy host: the time to take the port out is over before it began. That is told. */
static void test_no_time_to_unplug(void **state)
{
	struct machine machine = machine_pc;
	struct fake_qmp *fake;
	char *error = NULL;
	struct link *link = attach(&machine, &fake, true, &error);

	(void)state;
	if (!link)
		fail_msg("%s", error);
	link_leave(link, util_now(), 0);
	assert_false(link_leaving(link));
	assert_true(machine.port && machine.plugged);
	assert_non_null(link_stays(link));
	assert_non_null(strstr(link_stays(link), "the port that ktop plugged in may still be there"));
	link_free(link);
	fake_qmp_free(fake);
	free(machine.text);
}

/* Nothing is plugged in before the VM runs: it may be about to come by migration. */
static void test_a_machine_that_stands(void **state)
{
	struct machine machine = machine_pc;
	struct fake_qmp *fake;
	char *error = NULL;
	struct link *link;

	(void)state;
	machine.paused = true;
	link = attach(&machine, &fake, true, &error);
	if (!link)
		fail_msg("%s", error);
	assert_false(link_step(link, util_now()));
	assert_int_equal(link_port_state(link), LINK_NO_PORT);
	assert_int_equal(link_vm(link), VM_PAUSED);
	assert_int_equal(machine.changes, 0);
	fake_qmp_say(fake, "{\"event\": \"RESUME\"}\r\n");
	for (int i = 0; i < STEPS && !link_step(link, util_now()); i++)
		poll(NULL, 0, STEP_MS);
	assert_true(machine.port && machine.plugged);
	detach(link);
	check_nothing_is_left(&machine);
	fake_qmp_free(fake);
	free(machine.text);
}

static void test_a_link_that_must_not(void **state)
{
	struct machine machine = machine_pc;
	struct fake_qmp *fake;
	char *error = NULL;

	(void)state;
	assert_null(attach(&machine, &fake, false, &error));
	assert_int_equal(machine.changes, 0);
	assert_non_null(strstr(error, "start QEMU with -device virtio-serial-pci -chardev socket,"));
	fake_qmp_free(fake);
	free(machine.text);
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_on_a_controller),
		cmocka_unit_test(test_a_controller_as_well),
		cmocka_unit_test(test_no_controller_may_be_added),
		cmocka_unit_test(test_what_was_left_goes),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_where_it_cannot_be),
		cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_what_was_left),
		cmocka_unit_test(test_what_is_about_to_go),
		cmocka_unit_test(test_a_guest_that_keeps_its_controller),
		cmocka_unit_test(test_a_kept_controller_that_takes_no_port),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_a_link_plugs),
		cmocka_unit_test(test_no_time_to_unplug),
		cmocka_unit_test(test_a_machine_that_stands),
		cmocka_unit_test(test_a_link_that_must_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
