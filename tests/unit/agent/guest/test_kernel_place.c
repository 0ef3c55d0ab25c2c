/* SPDX-License-Identifier: MIT */
/* A kernel that runs elsewhere than its file says is found by its code in the guest's memory; another one is not. */
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/guest_memory.h"
#include "agent/names/function.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"

enum { PAGE = 4096, LINKED = 0x100000, SAMPLES = 64 };

/* Two functions whose loops are equal, and much that is not. */
static const char source[] =
	".text\n.globl _start\n.type _start, @function\n_start: .rept 40\ninc %eax\nadd $1, %ebx\n.endr\n"
	".macro loop name\n.type \\name, @function\n\\name: .rept 8\nadd %eax, %ebx\nxor %ecx, %edx\n.endr\n"
	"sub $3, %eax\njnz \\name\nret\n.size \\name, . - \\name\n.endm\n"
	"loop first\n.skip 300, 0x90\nloop second\n.rept 400\nmov $0x12345678, %eax\n.endr\n";

static struct {
	struct symbols *symbols;
	struct guest_memory *memory;
	struct kernel_place *place;
	struct budget *budget;
	size_t before;			/* budget_left */
	char *code;			/* what runs, as it lies in memory */
	size_t size;
	uint64_t at;			/* where it lies */
} guest;

static char *build(const char *name, const char *text)
{
	char *command = util_format("gcc -m32 -c -o place.o place.s && ld -m elf_i386 -Ttext=0x%x -o %s place.o && "
		"objcopy -O binary -j .text %s %s.bin", LINKED, name, name, name);

	scratch_text("place.s", text);
	scratch_run(command);
	free(command);
	return util_format("%s", scratch_path(name));
}

static void set_up(const char *kernel, const char *runs, uint64_t at)
{
	char *file = build("kernel", kernel), *error = NULL;

	free(build("runs", runs));
	guest.code = scratch_read(scratch_path("runs.bin"), &guest.size);
	guest.at = at;
	guest.budget = budget_new(BUDGET_LEAST_MIB);
	guest.symbols = symbols_new(guest.budget);
	guest.memory = guest_memory_new(guest.budget);
	if (!symbols_load_kernel(guest.symbols, file, &error))
		fail_msg("%s", error);
	guest.before = budget_left(guest.budget);
	guest.place = kernel_place_new(guest.symbols, guest.budget);
	free(file);
}

static void tear_down(void)
{
	kernel_place_free(guest.place);
	guest_memory_free(guest.memory);
	symbols_free(guest.symbols);
	budget_release(guest.budget);
	free(guest.code);
}

/* Gives the pages that are asked for. */
static void answer(void)
{
	char line[COMMANDS_LINE_MAX + 1], page[PAGE];
	unsigned long long address;
	unsigned count;

	while (guest_memory_ask(guest.memory, NS_PER_SECOND, line)) {
		assert_int_equal(sscanf(line, "read virtual %llx %u", &address, &count), 2);
		for (uint64_t at = address; count--; at += PAGE) {
			for (uint64_t i = 0; i < PAGE; i++)
				page[i] = at + i - guest.at < guest.size ? guest.code[at + i - guest.at] : 0;
			guest_memory_take(guest.memory, &(struct memory_bytes) {
				.address = at, .bytes = { .bytes = page, .size = PAGE },
			});
			kernel_place_wake(guest.place);
		}
	}
}

/* Samples this code of what runs, and looks for its place. */
static void sample(uint64_t offset)
{
	const struct memory_reader memory = guest_memory_virtual(guest.memory);

	for (int i = 0; i < SAMPLES; i++)
		symbols_saw(guest.symbols, EVENT_KERNEL, guest.at + offset + (uint64_t)i % 4 * 2);
	for (int i = 0; i < 4; i++) {
		kernel_place_step(guest.place, &memory);
		answer();
	}
}

static const char *name_at(uint64_t offset)
{
	return symbols_get(guest.symbols, symbols_function(guest.symbols, EVENT_KERNEL, guest.at + offset))->name;
}

static void it_is_found_wherever_it_runs(void **state)
{
	static const uint64_t places[] = { 0x300000, 0x80000000, 0x7f000, 0x123450 };

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		set_up(source, source, places[i]);
		assert_string_equal(name_at(0), "[unknown]");
		sample(40 * 4 + 6);			/* in the first of two equal loops */
		assert_int_equal(symbols_kernel_slide(guest.symbols), places[i] - LINKED);
		assert_string_equal(name_at(0), "_start");
		assert_string_equal(name_at(40 * 4 + 6), "first");
		tear_down();
	}
}

/* It may move once more, as boot loaders do. */
static void it_is_found_again(void **state)
{
	(void)state;
	set_up(source, source, 0x300000);
	sample(8);
	guest.at = 0x7f00000;
	for (int i = 0; i < 8; i++)
		sample(8);
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0x7f00000 - LINKED);
	tear_down();
}

/* Some of its code was changed by a loader: addresses. */
static void some_bytes_may_differ(void **state)
{
	(void)state;
	set_up(source, source, 0x300000);
	for (size_t i = 40 * 4 + 400; i + 5 <= guest.size; i += 5)
		guest.code[i + 3] ^= 0x20;
	sample(8);
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0x300000 - LINKED);
	tear_down();
}

/* A piece of code that both have is not enough. */
static void another_kernel_is_not_taken_for_it(void **state)
{
	static const char other[] =
		".text\n.globl _start\n_start: .rept 40\ninc %eax\nadd $1, %ebx\n.endr\n"
		".rept 700\nmov %eax, 0x77(%ebx)\n.endr\n";

	(void)state;
	set_up(source, other, 0x300000);
	sample(8);
	sample(600);
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
	assert_string_equal(name_at(8), "[unknown]");
	tear_down();
}

static void a_kernel_at_its_place_stays_there(void **state)
{
	(void)state;
	set_up(source, source, LINKED);
	sample(8);
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
	assert_int_equal(budget_left(guest.budget), guest.before);	/* nothing was read */
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_wherever_it_runs),
		cmocka_unit_test(it_is_found_again),
		cmocka_unit_test(some_bytes_may_differ),
		cmocka_unit_test(another_kernel_is_not_taken_for_it),
		cmocka_unit_test(a_kernel_at_its_place_stays_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
