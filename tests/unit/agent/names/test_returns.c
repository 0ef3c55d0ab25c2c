/* SPDX-License-Identifier: MIT */
/* Which addresses of a small kernel, or of a program, can be return addresses. Each has a label in its assembly. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fakes/mapped.h"

enum { PROCESS = 5 };

static const struct machine {
	const char *tools, *linker;	/* their options */
	const char *call, *end, *restore;
} machines[] = {
	{ "--64", "-m elf_x86_64", "*%rax", "iretq", "mov $15, %rax; syscall" },
	{ "--32", "-m elf_i386", "*4(%eax)", "iret", "mov $173, %eax; int $0x80" },
};

/*
 * `stub` takes interrupts: it calls `handler`, and what it interrupted is above it. `last` ends with a call of `panic`,
 * which does not return; `pointed` follows at once. `entered` is entered by a return.
 */
static const char source[] =
	".macro function name\n.type \\name, STT_FUNC\n.size \\name, 6\n\\name: nop\n.endm\n"
	".macro at name\n.set \\name, . - _start\n.endm\n"
	".globl _start\nfunction _start\n call work\nat after_call\n nop\n call CALL\nat after_register\n nop\n"
	" call CALL\nlabel: nop\nat no_call\n ret\n"
	"function work\n nop\nat inside_work\n ret\n"
	"function stub\n call handler\nat in_stub\n pop %eax\n jmp leave\n"
	"function leave\n nop\n END\n"
	"function handler\n call work\nat in_handler\n ret\n"
	"function last\n call panic\n"
	"function pointed\n ret\n"
	"function panic\n nop\nat in_panic\n ret\n"
	"function entered\n ret\n.zero 16\nhole: .zero 4\n nop\nat restorer\n RESTORE\n"
	"function framed\n push %eax\n mov %esp, %ebp\nat in_frame\n nop\n"
	"function runtime.goexit\nat goexit\n nop\n ret\n"
	"function end\n"
	".data\n.type data, STT_OBJECT\ndata: .quad 0x9090909090909090, 0\ninside_data: .quad 0\n";

static void assemble(const struct machine *machine)
{
	char *command = util_format("sed -e 's/CALL/%s/; s/END/%s/; s/RESTORE/%s/; %s' code.s > own.s && "
		"as %s -o code.o own.s && ld %s -o code code.o", machine->call, machine->end, machine->restore,
		machine == machines ? "s/eax$/rax/; s/%esp, %ebp/%rsp, %rbp/" : "", machine->tools, machine->linker);

	scratch_text("code.s", source);
	scratch_run(command);
	free(command);
}

/* A space in which the file is mapped, and how far from its link addresses. */
struct place {
	struct symbols *symbols;
	uint32_t space;
	uint64_t bias;
};

/* Labels are symbols, too; so a place in a function has a distance instead. */
static uint64_t address_of(const char *name)
{
	uint64_t address = nm_address("code", name), start = nm_address("code", "_start");

	return address < start ? address + start : address;
}

static enum returning returning(const struct place *place, const char *address, const char *callee)
{
	return symbols_returning(place->symbols, place->space, place->bias + address_of(address) - 1,
		place->bias + address_of(callee), strncmp(callee, "in_", 3) == 0);
}

static bool calls(const struct place *place, const char *address, const char *callee)
{
	return symbols_calls(place->symbols, place->space, place->bias + address_of(address) - 1,
		place->bias + address_of(callee));
}

static void check_all(const struct place *place)
{
	bool kernel = place->space == EVENT_KERNEL;

	assert_int_equal(returning(place, "after_call", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "after_register", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "label", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "no_call", "inside_work"), RETURNING_NEVER);
	assert_int_equal(returning(place, "hole", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "entered", "inside_work"), RETURNING_NEVER);
	assert_int_equal(returning(place, "work", "in_panic"), RETURNING_NEVER);
	assert_int_equal(returning(place, "pointed", "inside_work"), RETURNING_NEVER);
	assert_int_equal(returning(place, "pointed", "in_panic"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "inside_data", "inside_work"), RETURNING_NEVER);
	assert_int_equal(returning(place, "restorer", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(place, "no_call", "in_handler"), RETURNING_NEVER);
	assert_int_equal(returning(place, "no_call", "in_stub"), kernel ? RETURNING_MAYBE : RETURNING_NEVER);
	assert_int_equal(returning(place, "goexit", "inside_work"), RETURNING_MAYBE);
	assert_true(calls(place, "after_call", "inside_work"));
	assert_false(calls(place, "after_call", "in_panic"));
	assert_false(calls(place, "after_register", "inside_work"));
	assert_false(calls(place, "inside_data", "inside_work"));
	assert_int_equal(symbols_frame(place->symbols, place->space, place->bias + address_of("in_frame")),
		CALLS_FRAME_LAID);
	assert_int_equal(symbols_frame(place->symbols, place->space, place->bias + address_of("inside_work")),
		CALLS_FRAME_LEFT);
	assert_int_equal(symbols_frame(place->symbols, place->space, place->bias + address_of("work")),
		CALLS_FRAME_NONE);
	assert_int_equal(symbols_frame(place->symbols, place->space, place->bias + address_of("data")),
		CALLS_FRAME_UNKNOWN);
	/* Far from all that is known, and next to it. */
	assert_int_equal(symbols_returning(place->symbols, place->space, UINT64_C(0x9999999999999998),
		place->bias + address_of("inside_work"), false), RETURNING_NOWHERE);
	assert_int_equal(symbols_returning(place->symbols, place->space, UINT64_C(0x9999999999999998),
		UINT64_C(0x9999999999999998), false), RETURNING_MAYBE);
}

static void test_a_kernel(void **state)
{
	(void)state;
	for (const struct machine *machine = machines; machine < machines + 2; machine++) {
		struct place place = { .symbols = symbols_new(NULL), .space = EVENT_KERNEL, .bias = 0x200000 };
		char *error = NULL;

		assemble(machine);
		assert_int_equal(returning(&place, "no_call", "inside_work"), RETURNING_MAYBE);
		if (!symbols_load_kernel(place.symbols, scratch_path("code"), &error))
			fail_msg("%s", error);
		symbols_set_slide(place.symbols, place.bias);
		check_all(&place);
		symbols_free(place.symbols);
	}
}

static void test_a_program(void **state)
{
	(void)state;
	for (const struct machine *machine = machines; machine < machines + 2; machine++) {
		struct place place = { .symbols = symbols_new(NULL), .bias = 0x10000000 };
		struct object object;

		assemble(machine);
		object = object_of(PROCESS, "code", (nm_address("code", "_start") & ~UINT64_C(0xfff)) + place.bias,
			place.bias);
		place.space = symbols_space(place.symbols, PROCESS);
		assert_int_equal(returning(&place, "no_call", "inside_work"), RETURNING_MAYBE);
		map(place.symbols, &object);
		place.space = symbols_space(place.symbols, PROCESS);
		check_all(&place);
		symbols_free(place.symbols);
	}
}

/* A module's code is not as in its file. */
static void test_a_module(void **state)
{
	struct place place = { .symbols = symbols_new(NULL), .space = EVENT_KERNEL, .bias = 0x10000000 };
	struct object object;

	(void)state;
	assemble(machines);
	object = object_of(EVENT_KERNEL, "code", (nm_address("code", "_start") & ~UINT64_C(0xfff)) + place.bias,
		place.bias);
	map(place.symbols, &object);
	check(place.symbols, EVENT_KERNEL, place.bias + nm_address("code", "work"), "work", "code");
	assert_int_equal(returning(&place, "no_call", "inside_work"), RETURNING_MAYBE);
	assert_int_equal(returning(&place, "after_call", "inside_work"), RETURNING_MAYBE);
	symbols_free(place.symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_kernel),
		cmocka_unit_test(test_a_program),
		cmocka_unit_test(test_a_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
