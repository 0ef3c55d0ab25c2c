/* SPDX-License-Identifier: MIT */
/* A kernel that runs elsewhere than its file says is found by its code in the guest's memory; another one is not. */
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/kernel_reading.h"
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

/* Twelve functions, each on a page of its own, whose code differs in little. */
static const char aligned[] =
	".text\n.globl _start\n.type _start, @function\n_start: mov $1, %ecx\n1: dec %ecx\njnz 1b\n"
	"call f1\ncall f11\njmp _start\n.altmacro\n.set i, 0\n"
	".macro one number\n.balign 4096, 0\n.type f\\number, @function\nf\\number:\n"
	"mov $0x1000 + \\number, %ecx\n1: dec %ecx\nadd $\\number, %edx\nmov %edx, counter + 4 * \\number\njnz 1b\n"
	"ret\n.endm\n.rept 12\none %i\n.set i, i + 1\n.endr\n.data\ncounter: .skip 48\n";

/* A few bytes are all that there is. */
static const char tiny[] = ".text\n.globl _start\n.type _start, @function\n_start: .rept 20\nnop\n.endr\njmp _start\n";

static struct {
	struct symbols *symbols;
	struct guest_memory *memory;
	struct kernel_place *place;
	struct budget *budget;
	char *code;			/* what runs, as it lies in memory */
	size_t size;
	uint64_t at, alias;		/* where it lies; where it is mapped once more, if anywhere */
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
	guest.at = guest.alias = at;
	guest.budget = budget_new(BUDGET_LEAST_MIB);
	guest.symbols = symbols_new(guest.budget);
	guest.memory = guest_memory_new(guest.budget);
	if (!symbols_load_kernel(guest.symbols, file, &error))
		fail_msg("%s", error);
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
				page[i] = at + i - guest.at < guest.size ? guest.code[at + i - guest.at] :
					at + i - guest.alias < guest.size ? guest.code[at + i - guest.alias] : 0;
			guest_memory_take(guest.memory, &(struct memory_bytes) {
				.address = at, .bytes = { .bytes = page, .size = PAGE },
			});
			kernel_place_wake(guest.place);
		}
	}
}

/* So much code is sampled, and its place is looked for. */
static void sample_some(uint64_t offset, uint64_t step, int samples)
{
	const struct memory_reader memory = guest_memory_virtual(guest.memory);

	for (int i = 0; i < samples; i++)
		symbols_saw(guest.symbols, EVENT_KERNEL, guest.at + offset + (uint64_t)i % 4 * step);
	for (int i = 0; i < 4; i++) {
		if (kernel_place_is_due(guest.place))
			guest_memory_renew(guest.memory);
		kernel_place_step(guest.place, &memory);
		answer();
	}
}

static void sample(uint64_t offset)
{
	sample_some(offset, 2, SAMPLES);
}

static const char *note(void)
{
	static char text[SYMBOLS_OUTSIDE];

	return symbols_outside_note(guest.symbols, NULL, 0, text);
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

/* As the page by which xv6 enters and leaves its kernel: programs have it, too, at the end of their addresses. */
static void a_page_that_is_mapped_once_more_moves_no_kernel(void **state)
{
	(void)state;
	set_up(source, source, LINKED);
	guest.alias = 0x3ffffff000;
	for (int i = 0; i < 8; i++) {
		for (int j = 0; j < 64; j++)
			symbols_saw(guest.symbols, EVENT_KERNEL, guest.alias + 8 + (uint64_t)j % 4 * 2);
		sample_some(8, 2, 16);
		assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
		assert_string_equal(name_at(0), "_start");
	}
	tear_down();
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
	const char *const sources[] = { source, aligned, tiny };
	size_t before;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_up(sources[i], sources[i], LINKED);
		for (int j = 0; j < 8; j++)
			sample_some(8, i == 1 ? PAGE : 2, SAMPLES);
		assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
		assert_string_equal(name_at(0), "_start");
		assert_string_equal(note(), "");
		before = budget_left(guest.budget);
		kernel_place_free(guest.place);
		guest.place = NULL;
		assert_int_equal(budget_left(guest.budget), before);	/* no code is kept */
		tear_down();
	}
}

/* By less than its own size: then its code has wrong names, but names. */
static void it_is_found_inside_of_its_own_place(void **state)
{
	static const uint64_t moved[] = { PAGE, 3 * PAGE, UINT64_C(0) - 2 * PAGE };

	(void)state;
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
		set_up(aligned, aligned, LINKED + moved[i]);
		assert_string_not_equal(name_at(6 * PAGE), "f5");
		sample_some(6 * PAGE, PAGE, SAMPLES);
		assert_int_equal(symbols_kernel_slide(guest.symbols), moved[i]);
		assert_string_equal(name_at(6 * PAGE), "f5");
		assert_string_equal(note(), "");
		tear_down();
	}
}

/* Its names are of other code, so they are not used. */
static void another_kernel_at_its_place_is_told(void **state)
{
	(void)state;
	set_up(aligned, source, LINKED);
	assert_string_equal(name_at(8), "_start");
	sample(8);
	assert_string_equal(name_at(8), "[unknown]");
	assert_string_equal(note(), "the code that runs at 0x100000-0x100fff is not that of kernel: "
		"is it the file of the kernel that runs? give that by --kernel");
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
	tear_down();
}

/* As where it was changed, built anew, and the old one runs. What is equal keeps its names. */
static void a_kernel_that_is_another_one_in_part_is_told(void **state)
{
	(void)state;
	set_up(aligned, aligned, LINKED);
	for (size_t i = 7 * PAGE; i < guest.size; i++)
		guest.code[i] ^= 0x55;
	sample_some(4 * PAGE, PAGE, SAMPLES);
	assert_string_equal(name_at(4 * PAGE), "f3");
	assert_non_null(strstr(note(), "at 0x107000-0x107fff is not that of kernel"));
	tear_down();
}

/* A few bytes were put before all of it. No loader moves it by so few. */
static void a_kernel_that_was_built_anew_is_told(void **state)
{
	char *longer = util_format(".text\n.rept 16\nincl %%edx\n.endr\n%s", source);

	(void)state;
	set_up(longer, source, LINKED);
	sample(8);
	assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
	assert_non_null(strstr(note(), "is not that of kernel"));
	free(longer);
	tear_down();
}

/* What loads the kernel may run where that is going to be. */
static void a_kernel_that_comes_later_has_its_names(void **state)
{
	size_t size;
	char *loader, *kernel;

	(void)state;
	set_up(source, source, LINKED);
	kernel = guest.code;
	size = guest.size;
	loader = guest.code = util_alloc(size);
	for (size_t i = 0; i < size; i++)
		loader[i] = (char)(i * 7 + i / 256);
	sample(8);
	assert_string_equal(name_at(8), "[unknown]");
	guest.code = kernel;
	for (int i = 0; i < 4; i++)
		sample(8);
	assert_string_equal(name_at(8), "_start");
	assert_string_equal(note(), "");
	free(loader);
	tear_down();
}

/* Data lies behind its code, on the same page, and has changed. */
static void data_may_differ(void **state)
{
	(void)state;
	set_up(source, source, LINKED);
	for (size_t i = 400; i < guest.size; i++)
		guest.code[i] ^= 0x55;
	sample(8);
	assert_string_equal(name_at(8), "_start");
	assert_string_equal(note(), "");
	tear_down();
}

/* Where memory cannot be read, nothing is known. */
static void without_memory_the_file_is_believed(void **state)
{
	struct memory_reader memory;

	(void)state;
	set_up(aligned, source, LINKED);
	memory = guest_memory_virtual(guest.memory);
	for (int i = 0; i < 1000; i++) {
		symbols_saw(guest.symbols, EVENT_KERNEL, guest.at + 8);
		kernel_place_step(guest.place, &memory);
	}
	assert_string_equal(name_at(8), "_start");
	assert_string_equal(note(), "");
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_wherever_it_runs),
		cmocka_unit_test(a_page_that_is_mapped_once_more_moves_no_kernel),
		cmocka_unit_test(it_is_found_again),
		cmocka_unit_test(some_bytes_may_differ),
		cmocka_unit_test(another_kernel_is_not_taken_for_it),
		cmocka_unit_test(a_kernel_at_its_place_stays_there),
		cmocka_unit_test(it_is_found_inside_of_its_own_place),
		cmocka_unit_test(another_kernel_at_its_place_is_told),
		cmocka_unit_test(a_kernel_that_is_another_one_in_part_is_told),
		cmocka_unit_test(a_kernel_that_was_built_anew_is_told),
		cmocka_unit_test(a_kernel_that_comes_later_has_its_names),
		cmocka_unit_test(data_may_differ),
		cmocka_unit_test(without_memory_the_file_is_believed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
