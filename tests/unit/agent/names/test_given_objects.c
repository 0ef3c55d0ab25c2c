/* SPDX-License-Identifier: MIT */
#include "agent/names/function.h"
#include "agent/names/running_programs.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"

enum { STEPS = 6000, STEP_US = 10000 };

/* Programs whose code is at 0x1000 behind their lowest byte. */
static void build(const char *name, const char *link)
{
	char *command = util_format("gcc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-Ttext=%s -o %s %s.c", link,
		name, name);
	char *file = util_format("%s.c", name), *source = util_format("void %s_begin(void) { for (;;) ; }\n"
		"void _start(void) { %s_begin(); }\n", name, name);

	scratch_text(file, source);
	scratch_run(command);
	free(command);
	free(file);
	free(source);
}

static const char *name_at(struct symbols *symbols, uint64_t address)
{
	return symbols_get(symbols, symbols_function(symbols, EVENT_KERNEL, address))->name;
}

static void several_files_at_their_addresses(void **state)
{
	char *loader, *monitor, *error = NULL;
	struct symbols *symbols = symbols_new(NULL);
	struct given_objects *objects;
	bool starved = false;
	uint32_t space;

	(void)state;
	build("loader", "0x401000");
	build("monitor", "0x801000");
	loader = util_format("%s@0x80000000", scratch_path("loader"));
	monitor = util_format("%s@0x90000000", scratch_path("monitor"));
	objects = given_objects_new((const char *[]) { loader, monitor, NULL }, &error);
	if (!objects)
		fail_msg("%s", error);
	given_objects_map(objects, symbols);
	for (int i = 0; i < STEPS && symbols_reading(symbols); i++) {
		usleep(STEP_US);
		symbols_step(symbols, &starved);
	}
	assert_string_equal(name_at(symbols, 0x80001000), "loader_begin");
	assert_string_equal(symbols_get(symbols, symbols_function(symbols, EVENT_KERNEL, 0x80001000))->object,
		"loader");
	assert_string_equal(name_at(symbols, 0x90001000), "monitor_begin");
	assert_string_equal(name_at(symbols, 0x401000), "[unknown]");
	/* Programs of a kernel that does not tell where they lie. */
	space = symbols_space(symbols, 7);
	assert_string_equal(symbols_get(symbols, symbols_function(symbols, space, 0x90001000))->name, "monitor_begin");
	assert_string_equal(symbols_get(symbols, symbols_function(symbols, space, 0x401000))->name, "[unknown]");
	given_objects_free(objects);
	symbols_free(symbols);
	free(loader);
	free(monitor);
}

static void check_refused(const char *text, const char *why)
{
	char *error = NULL;

	assert_null(given_objects_new((const char *[]) { text, NULL }, &error));
	if (!strstr(error, why))
		fail_msg("%s", error);
	free(error);
}

static void what_makes_no_sense_is_refused(void **state)
{
	char *prose = util_format("%s@0x1000", scratch_text("prose", "Hello.\n")), *high;

	(void)state;
	check_refused("loader", "no address; give FILE@ADDRESS");
	check_refused("loader@", "no address");
	check_refused("@0x1000", "no address");
	check_refused("loader@0x10g", "no address");
	check_refused("loader@0x10000000000000000", "no address");
	check_refused("loader@-1", "no address");
	check_refused("loader@ 1", "no address");
	check_refused("/nonexistent@0x1000", "No such file");
	build("high", "0x401000");
	high = util_format("%s@0xffffffffffffffff", scratch_path("high"));
	check_refused(high, " bytes do not fit there, at the end of all addresses; give a lower address");
	free(high);
	check_refused(prose, "it is no ELF file");
	free(prose);
	scratch_run("cp high module.ko && xz module.ko");
	prose = util_format("%s@0x1000", scratch_path("module.ko.xz"));
	check_refused(prose, "it is packed by xz: unpack it");
	free(prose);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_files_at_their_addresses),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
