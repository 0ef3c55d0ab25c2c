/* SPDX-License-Identifier: MIT */
/* The symbols of programs and modules: the files they come from, and what is said of files that do not fit. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/remarks.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/function.h"
#include "agent/names/objects/objects.h"
#include "agent/names/symbols.h"
#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/mapped.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/settle.h"

/* A program in two processes gives one function; the same name in two programs gives two. */
static void test_programs(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object first = object_of(1, "/bin/one", 0x400000, 0);
	struct object moved = object_of(2, "one", 0x7f0000000000, 0);
	struct object other = object_of(3, "./two", 0x400000, 0);
	uint64_t spin, far;
	uint32_t one;

	(void)state;
	build("one", "-no-pie -Wl,--build-id=sha1");
	build("two", "-no-pie");
	spin = nm_address("one", "spin");
	moved.bias = 0x7f0000000000 - 0x400000;
	far = spin + moved.bias;
	map(symbols, &first);
	map(symbols, &moved);
	map(symbols, &other);
	one = id_at(symbols, 1, spin);
	check(symbols, 1, spin, "spin", "one");
	assert_int_equal(id_at(symbols, 2, far), one);
	check(symbols, 3, spin, "spin", "two");
	assert_int_not_equal(id_at(symbols, 3, spin), one);
	check(symbols, 4, spin, "[unknown]", "");
	check(symbols, 1, 0x4ff123, "one+0xff000-0x100000", "one");
	check(symbols, 1, 0x500000, "[unknown]", "");
	assert_string_equal(await_line(symbols, one), "one.c:2");
	assert_string_equal(note_of(symbols), "");
	symbols_free(symbols);
}

/* The file lies below the folder at the guest's path, and no path leads out of the folder. */
static void test_sysroot(void **state)
{
	static const char *const elsewhere[] = {
		"/bin/../rooted", "/..", "bin/rooted", "/bin/none", "/", "/out", "/up", "/loop",
	};
	enum { ELSEWHERE = sizeof(elsewhere) / sizeof(elsewhere[0]) };
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "/bin/rooted", 0x400000, 0);
	struct object linked = object_of(2, "/link", 0x400000, 0);
	uint64_t spin;

	(void)state;
	build("rooted", "-no-pie");
	spin = nm_address("rooted", "spin");
	scratch_run("mkdir -p root/bin && mv rooted root/bin/rooted && cp root/bin/rooted root/rooted && "
		"ln root/bin/rooted outside && ln -s $PWD/outside root/out && ln -s ../outside root/up && "
		"ln -s loop root/loop && ln -s /bin/rooted root/link");
	symbols_set_files(symbols, scratch_path("root"), NULL, false);
	for (uint32_t i = 0; i < ELSEWHERE; i++) {
		struct object other = object_of(10 + i, elsewhere[i], 0x400000, 0);

		symbols_map(symbols, &other, NULL);
		settle(symbols);
		assert_string_not_equal(at(symbols, 10 + i, spin)->name, "spin");
	}
	symbols_map(symbols, &object, NULL);
	settle(symbols);
	check(symbols, 1, spin, "spin", "rooted");
	symbols_map(symbols, &linked, NULL);
	settle(symbols);
	check(symbols, 2, spin, "spin", "rooted");
	symbols_free(symbols);
}

/* The file that was checked is the one that is read, even if another one takes its place meanwhile. */
static void test_sysroot_gives_the_file_itself(void **state)
{
	const char *path = "/bin/held";
	struct stat before, held;
	char *found;
	int fd;

	(void)state;
	scratch_run("mkdir -p root/bin && rm -f root/bin/held && echo mine > root/bin/held");
	assert_int_equal(stat(scratch_path("root/bin/held"), &before), 0);
	fd = sysroot_open(scratch_path("root"), path, strlen(path), &found);
	assert_true(fd >= 0);
	scratch_run("echo other > out && rm root/bin/held && ln -s $PWD/out root/bin/held");
	assert_int_equal(fstat(fd, &held), 0);
	assert_int_equal(held.st_ino, before.st_ino);
	assert_non_null(strstr(found, "/root/bin/held"));
	close(fd);
	free(found);
	assert_int_equal(sysroot_open(scratch_path("root"), path, strlen(path), &found), -1);
	assert_null(found);
	scratch_run("rm root/bin/held && mkfifo root/bin/held");
	assert_int_equal(sysroot_open(scratch_path("root"), path, strlen(path), &found), -1);
	assert_null(found);
}

/* A path that the guest has chosen is made harmless before it reaches a terminal. */
static void test_notes_are_harmless(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "/evil\x1b]0;title\x07", 0x400000, 0);

	(void)state;
	build("evil", "-no-pie -Wl,--build-id=0x01234567");
	scratch_run("mkdir -p root && mv evil \"root/$(printf 'evil\\033]0;title\\007')\"");
	symbols_set_files(symbols, scratch_path("root"), NULL, false);
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	symbols_map(symbols, &object, NULL);
	settle(symbols);
	assert_non_null(strstr(note_of(symbols), "/evil?]0;title?"));
	assert_null(strchr(note_of(symbols), '\x1b'));
	symbols_free(symbols);
}

/* The page of the code has a row, if nothing else is known of the code. */
static void check_page(struct symbols *symbols, uint32_t process, uint64_t address, const char *program)
{
	uint64_t page = address - address % 4096;
	char *name = util_format("%s+0x%" PRIx64 "-0x%" PRIx64, program, page, page + 4096);

	check(symbols, process, address, name, program);
	free(name);
}

static void test_program_of_another_build(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "built", 0x400000, 0);
	uint64_t spin;

	(void)state;
	build("built", "-no-pie -Wl,--build-id=0x01234567");
	spin = nm_address("built", "spin");
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	map(symbols, &object);
	check_page(symbols, 1, spin, "built");
	assert_non_null(strstr(note_of(symbols), "built"));
	object.build_id.bytes = "\x01\x23\x45\x67";
	map(symbols, &object);
	check(symbols, 1, spin, "spin", "built");
	symbols_free(symbols);
}

/* What is said of the file if it is the kernel's. */
static char *note_of_kernel(const char *path)
{
	struct symbols *symbols = symbols_new(NULL);
	struct kernel_code *code = kernel_code_new(symbols);
	char *error = NULL, *note;

	if (!symbols_load_kernel(symbols, path, &error))
		fail_msg("%s", error);
	kernel_code_now(code, arch_get(ARCH_X86_64), false, EVENT_KERNEL);
	note = util_format("%s", kernel_code_note(code));
	kernel_code_free(code);
	symbols_free(symbols);
	return note;
}

/* Functions have their names, and what finds their callers is damaged: by its place, or by the names of sections. */
static void test_damaged_frames(void **state)
{
	size_t size;
	char *bytes;
	Elf64_Ehdr *head;

	(void)state;
	build("framed", "-no-pie -fasynchronous-unwind-tables");
	scratch_run("cp framed whole");
	bytes = scratch_read(scratch_path("framed"), &size);
	head = (Elf64_Ehdr *)bytes;
	for (int i = 0; i < 3; i++) {
		Elf64_Shdr *headers = (Elf64_Shdr *)(bytes + head->e_shoff);
		struct symbols *symbols = symbols_new(NULL);
		struct object object = object_of(1, "framed", 0x400000, 0);
		const char *why = i == 0 ? "" : i == 1 ? "its .eh_frame is damaged" :
			"the names of its sections are damaged";
		char *kernels;

		for (size_t k = 0; i == 1 && k < head->e_shnum; k++)
			if (strcmp(bytes + headers[head->e_shstrndx].sh_offset + headers[k].sh_name, ".eh_frame") == 0)
				headers[k].sh_offset = size;
		if (i == 2)
			head->e_shstrndx = 0xfffe;
		scratch_write("framed", bytes, size);
		map(symbols, &object);
		check(symbols, 1, nm_address("whole", "spin"), "spin", "framed");
		kernels = note_of_kernel(scratch_path("framed"));
		if (i == 0)
			assert_string_equal(note_of(symbols), "");
		else if (!strstr(note_of(symbols), "framed are short: ") || !strstr(note_of(symbols), why) ||
				!strstr(kernels, "the kernel are short: "))
			fail_msg("%d: %s; %s", i, note_of(symbols), kernels);
		assert_non_null(strstr(kernels, why));
		free(kernels);
		symbols_free(symbols);
	}
	free(bytes);
}

/* The remark shows while its moment lies in the range, and again after it was told again. */
static void test_notes_of_files_age(void **state)
{
	static const uint8_t boot[16];
	struct epoch *epoch = epoch_new(boot, NULL, NULL);
	struct symbols *symbols = epoch->inputs.symbols;
	struct object object = object_of(1, "aged", 0x400000, 0);
	char text[REMARKS_SIZE];

	(void)state;
	build("aged", "-no-pie -Wl,--build-id=0x01234567");
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	epoch->known = epoch->clock_told = epoch->told = true;
	epoch_ticks(epoch, 20 * NS_PER_SECOND);
	map(symbols, &object);
	assert_non_null(strstr(remarks_text(epoch, 10 * NS_PER_SECOND, "", "; ", text, sizeof(text)), "another build"));
	epoch_ticks(epoch, 40 * NS_PER_SECOND);
	assert_string_equal(remarks_text(epoch, 30000000000, "", "; ", text, sizeof(text)), "");
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "another build"));
	object.build_id.bytes = "\x01\x23\x45\x65";
	map(symbols, &object);
	assert_non_null(strstr(remarks_text(epoch, 30 * NS_PER_SECOND, "", "; ", text, sizeof(text)), "another build"));
	epoch_release(epoch);
}

/* A process is sampled, or shares its space, before its file is told or exists. */
static void test_late(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "late", 0x400000, 0);
	uint64_t spin, generation;
	uint32_t early = symbols_space(symbols, 1);

	(void)state;
	build("late", "-no-pie");
	spin = nm_address("late", "spin");
	check(symbols, 1, spin, "[unknown]", "");
	scratch_run("mv late gone");
	map(symbols, &object);
	check_page(symbols, 1, spin, "late");
	generation = symbols_generation(symbols);
	scratch_run("mv gone late");
	object.process = 2;
	map(symbols, &object);
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, 1, spin, "spin", "late");
	check(symbols, 2, spin, "spin", "late");
	assert_string_equal(
		symbols_get(symbols, symbols_function(symbols, early, spin))->name, "spin");
	symbols_free(symbols);
}

/* exec: another program in place of the first one. Telling the same mapping again changes nothing. */
static void test_mapped_again(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object one = object_of(1, "one", 0x400000, 0);
	struct object two = object_of(1, "missing", 0x480000, 0);
	uint64_t spin, generation;
	uint32_t before;

	(void)state;
	build("one", "-no-pie");
	spin = nm_address("one", "spin");
	map(symbols, &one);
	check(symbols, 1, spin, "spin", "one");
	generation = symbols_generation(symbols);
	map(symbols, &one);
	assert_int_equal(symbols_generation(symbols), generation);
	before = symbols_space(symbols, 1);
	map(symbols, &two);
	check(symbols, 1, spin, "[unknown]", "");
	check(symbols, 1, 0x480000, "missing+0x480000-0x481000", "missing");
	assert_string_equal(
		symbols_get(symbols, symbols_function(symbols, before, spin))->name, "spin");
	generation = symbols_generation(symbols);
	map(symbols, &two);
	assert_int_equal(symbols_generation(symbols), generation);
	symbols_free(symbols);
}

static void test_kernel_module(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	struct object module =
		object_of(EVENT_KERNEL, "one", 0xffffffffc1000000, 0xffffffffc1000000 - 0x400000);
	uint64_t spin;

	(void)state;
	build("one", "-no-pie");
	spin = nm_address("one", "spin");
	map(symbols, &module);
	check(symbols, EVENT_KERNEL, spin + module.bias, "spin", "one");
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
	symbols_free(symbols);
}

static void test_hostile_objects(void **state)
{
	static const char *const names[] = { "", "/", ".", "..", "../../etc/passwd", "a\nb\x1b[1m",
		"\xff\xfe", "./" };
	struct symbols *symbols = symbols_new(NULL);
	char long_name[1024];
	struct object object;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		object = object_of((uint32_t)i, names[i], 0x1000, 0);
		map(symbols, &object);
		assert_int_equal(at(symbols, (uint32_t)i, 0x1000)->address, 0);
	}
	assert_string_equal(at(symbols, 5, 0x1000)->object, "a?b?[1m");
	memset(long_name, 'n', sizeof(long_name));
	object = object_of(20, "", 0x1000, 0);
	object.name = (struct text) { .bytes = long_name, .size = sizeof(long_name) };
	map(symbols, &object);
	assert_true(strlen(at(symbols, 20, 0x1000)->object) < 100);
	object = object_of(21, "one\0two", 0x1000, 0);
	object.name.size = 7;
	map(symbols, &object);
	object.end = object.start;
	object.process = 22;
	map(symbols, &object);
	check(symbols, 22, 0x1000, "[unknown]", "");
	object = object_of(23, "top", 0xfffffffffffff000, 0);
	object.end = UINT64_MAX;
	map(symbols, &object);
	check(symbols, 23, 0xfffffffffffffff0, "top+0x7ffffffffffff000-0x8000000000000000", "top");
	mkfifo(scratch_path("fifo"), 0600);
	object = object_of(24, "fifo", 0x1000, 0);
	map(symbols, &object);
	check(symbols, 24, 0x1000, "fifo+0x1000-0x2000", "fifo");
	symbols_free(symbols);
}

static void test_limits(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < OBJECTS_MAX + 100; i++) {
		struct object object;

		snprintf(name, sizeof(name), "object%u", i % (OBJECTS_NAMES_MAX + 10));
		object = object_of(i, name, i, 0);
		symbols_map(symbols, &object, NULL);
	}
	check(symbols, 100, 0x10000, "object100+0x10000-0x11000", "object100");
	check(symbols, OBJECTS_NAMES_MAX + 5, 0x10000, "[unknown]", "");
	check(symbols, OBJECTS_NAMES_MAX + 15, 0x10000, "object5+0x10000-0x11000", "object5");
	check(symbols, OBJECTS_MAX - 1, 0x10000, "object3945+0x10000-0x11000", "object3945");
	check(symbols, OBJECTS_MAX, 0x10000, "[unknown]", "");
	assert_non_null(strstr(note_of(symbols), "mapped files"));
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_sysroot_gives_the_file_itself),
		cmocka_unit_test(test_notes_are_harmless),
		cmocka_unit_test(test_program_of_another_build),
		cmocka_unit_test(test_damaged_frames),
		cmocka_unit_test(test_notes_of_files_age),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_mapped_again),
		cmocka_unit_test(test_kernel_module),
		cmocka_unit_test(test_hostile_objects),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
