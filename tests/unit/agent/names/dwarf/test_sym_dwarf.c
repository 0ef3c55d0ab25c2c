/* SPDX-License-Identifier: MIT */
/* Compares the reader with nm -l on this very program, and checks small programs that are compiled here. */
#include <fcntl.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "tests/unit/fakes/scratch.h"

static bool full;			/* never set, for these tests have no budget */

static const char start_source[] =
	"int twice(int);\nvoid _start(void)\n{\n\ttwice(2);\n\tfor (;;)\n\t\t;\n}\n";
static const char twice_source[] = "int twice(int x)\n{\n\treturn x + x;\n}\n";

/* Two units, start.c and lib/math/twice.c, compiled from the folder that has both. */
static const char *build(const char *name, const char *compiler, const char *options)
{
	char *command = util_format(
		"%s -O0 -nostdlib -ffreestanding -static %s -o %s start.c lib/math/twice.c",
		compiler, options, name);

	scratch_run("mkdir -p lib/math");
	scratch_text("start.c", start_source);
	scratch_text("lib/math/twice.c", twice_source);
	scratch_run(command);
	free(command);
	return scratch_path(name);
}

static uint64_t address_of(int fd, const char *name)
{
	struct symbol_table *table = symbol_table_new(NULL);
	struct build_id id;
	uint64_t address = 0;

	assert_true(sym_elf_read(fd, "program", table, &id, NULL, NULL));
	symbol_table_sort(table);
	assert_true(symbol_table_address(table, name, &address));
	symbol_table_free(table);
	return address;
}

static void check_line(struct sym_dwarf *dwarf, uint64_t address, const char *expected)
{
	char *line = sym_dwarf_line(dwarf, address, &full);

	if (expected) {
		assert_non_null(line);
		assert_string_equal(line, expected);
	} else {
		assert_null(line);
	}
	free(line);
}

/* Of a file in the scratch folder. Both it and the descriptor are the caller's. */
static struct sym_dwarf *read_dwarf(const char *name, int *fd)
{
	struct sym_dwarf *dwarf;

	*fd = open(scratch_path(name), O_RDONLY);
	assert_true(*fd >= 0);
	dwarf = sym_dwarf_new(*fd, NULL, NULL, &full);
	assert_non_null(dwarf);
	return dwarf;
}

static void check_program(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct sym_dwarf *dwarf = sym_dwarf_new(fd, NULL, NULL, &full);

	assert_true(fd >= 0);
	assert_non_null(dwarf);
	check_line(dwarf, address_of(fd, "_start"), "start.c:3");
	check_line(dwarf, address_of(fd, "twice"), "math/twice.c:2");
	check_line(dwarf, 0, NULL);
	check_line(dwarf, UINT64_MAX, NULL);
	sym_dwarf_free(dwarf);
	close(fd);
}

static void test_dwarf_4_and_5(void **state)
{
	(void)state;
	check_program(build("four", "gcc", "-gdwarf-4"));
	check_program(build("five", "gcc", "-gdwarf-5"));
	check_program(build("high", "gcc",
		"-g -mcmodel=kernel -fno-pic -no-pie -Wl,-Ttext=0xffffffff81000000"));
	check_program(build("packed", "gcc", "-g -gz=zlib"));
}

/* Libraries that do not know zstd are helped. Of a module the sections are relocated, too. */
static void test_packed_by_zstd(void **state)
{
	static const char *const options[] = { "-gdwarf-4", "-gdwarf-5", "-g -m32" };

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		build("plain", "gcc", options[i]);
		scratch_run("objcopy --compress-debug-sections=zstd plain packed_zstd");
		check_program(scratch_path("packed_zstd"));
		scratch_run("objcopy --compress-debug-sections=zlib-gnu plain packed_gnu");
		check_program(scratch_path("packed_gnu"));
	}
	build("split", "gcc", "-g -gsplit-dwarf");
	scratch_run("rm -f *.dwo");
	check_program(scratch_path("split"));
}

/* Nothing is read of a file with one section that is not what it says. */
static void test_damaged_zstd(void **state)
{
	size_t size;
	char *bytes, *at;

	(void)state;
	build("plain", "gcc", "-g");
	scratch_run("objcopy --compress-debug-sections=zstd plain packed_zstd");
	bytes = scratch_read(scratch_path("packed_zstd"), &size);
	at = memmem(bytes, size, "\x28\xb5\x2f\xfd", 4);
	assert_non_null(at);
	for (int i = 0; i < 16; i++) {
		struct budget *budget = budget_new(BUDGET_LEAST_MIB);
		size_t before = budget_left(budget);
		struct sym_dwarf *dwarf;
		int fd;

		at[i] ^= 0x55;
		fd = open(scratch_write("spoilt", bytes, size), O_RDONLY);
		at[i] ^= 0x55;
		dwarf = sym_dwarf_new(fd, NULL, budget, &full);
		assert_true(i > 4 || !dwarf);
		sym_dwarf_free(dwarf);
		assert_int_equal(budget_left(budget), before);
		budget_release(budget);
		close(fd);
	}
	free(bytes);
}

static void test_without_aranges(void **state)
{
	(void)state;
	check_program(build("clang", "clang", "-g"));
	build("removed", "gcc", "-g");
	scratch_run("objcopy --remove-section .debug_aranges removed");
	check_program(scratch_path("removed"));
}

/* A function inlined at the very start of another does not hide that one's line. */
static void test_inlined_start(void **state)
{
	int fd;
	struct sym_dwarf *dwarf;

	(void)state;
	scratch_text("inner.h", "static inline int inner(volatile int *x)\n{\n\treturn *x;\n}\n");
	scratch_text("outer.c", "#include \"inner.h\"\n\nint outer(volatile int *x)\n{\n"
		"\treturn inner(x);\n}\n\nvoid _start(void)\n{\n}\n");
	scratch_run("gcc -O2 -g -nostdlib -ffreestanding -static -o inlined outer.c");
	dwarf = read_dwarf("inlined", &fd);
	check_line(dwarf, address_of(fd, "outer"), "outer.c:4");	/* the line of its brace */
	sym_dwarf_free(dwarf);
	close(fd);
}

/* The lines of a function are known even if its first instruction has none. */
static void test_first_has_no_line(void **state)
{
	struct sym_dwarf *dwarf;
	struct code_lines *lines;
	uint64_t split;
	int fd;

	(void)state;
	scratch_text("split.c", "#line 0\nint split(volatile int *x) {\n\treturn *x;\n}\nvoid _start(void) { }\n");
	scratch_run("clang -O0 -g -nostdlib -ffreestanding -static -o split split.c");
	dwarf = read_dwarf("split", &fd);
	split = address_of(fd, "split");
	lines = sym_dwarf_code(dwarf, split, split + 10, &full);
	assert_non_null(lines);
	assert_in_range(lines->row_count, 2, 10);
	assert_int_equal(lines->rows[0].line, 0);
	assert_int_equal(lines->rows[1].line, 1);
	code_lines_free(lines);
	sym_dwarf_free(dwarf);
	close(fd);
}

/* Compilers tell a file below the folder that they ran in, and that folder; together they are where it is. */
static void test_source_in_folder(void **state)
{
	static const char *const ways[][2] = {
		{ "gcc", "-gdwarf-4" }, { "gcc", "-gdwarf-5" }, { "clang", "-gdwarf-4" }, { "clang", "-gdwarf-5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct sym_dwarf *dwarf;
		struct code_lines *lines;
		uint64_t twice;
		int fd;

		build("folded", ways[i][0], ways[i][1]);
		dwarf = read_dwarf("folded", &fd);
		twice = address_of(fd, "twice");
		lines = sym_dwarf_code(dwarf, twice, twice + 4, &full);
		assert_non_null(lines);
		assert_string_equal(lines->files[code_lines_own(lines)], scratch_path("lib/math/twice.c"));
		code_lines_free(lines);
		sym_dwarf_free(dwarf);
		close(fd);
	}
}

static void check_inlined(struct sym_dwarf *dwarf, uint64_t address, const char *expected)
{
	char *names = sym_dwarf_inlined(dwarf, address, &full);

	assert_string_equal(names ? names : "", expected);
	free(names);
}

static void check_lines(struct sym_dwarf *dwarf, uint64_t address, const char *expected)
{
	char *lines = sym_dwarf_lines_at(dwarf, address, &full);

	assert_false(full);
	assert_string_equal(lines, expected);
	free(lines);
}

static const char nested_source[] =
	"static inline int innermost(volatile int *x)\n{\n\tint y = *x;\n\n"
	"\tasm volatile(\".globl deep\\ndeep: nop\");\n\treturn y;\n}\n"
	"static inline int inner(volatile int *x)\n{\n\treturn innermost(x) + *x;\n}\n"
	"int outer(volatile int *x)\n{\n\tif (*x) {\n\t\tint z = inner(x);\n\n"
	"\t\tasm volatile(\".globl outside\\noutside: nop\");\n\t\treturn z;\n\t}\n\treturn 0;\n}\n"
	"void _start(void)\n{\n}\n";

static void check_nested(const char *options)
{
	char *command = util_format("gcc -O2 -g -nostdlib -ffreestanding -static %s -o nested nested.c",
		options);
	struct sym_dwarf *dwarf;
	int fd;

	scratch_text("nested.c", nested_source);
	scratch_run(command);
	dwarf = read_dwarf("nested", &fd);
	check_inlined(dwarf, address_of(fd, "deep"), "inner\ninnermost\n");
	check_inlined(dwarf, address_of(fd, "outside"), "");
	check_inlined(dwarf, 0, "");
	check_inlined(dwarf, UINT64_MAX, "");
	check_lines(dwarf, address_of(fd, "deep"), "nested.c:15\nnested.c:10\nnested.c:5");
	check_lines(dwarf, address_of(fd, "outside"), "nested.c:17");
	check_lines(dwarf, 0, "");
	check_lines(dwarf, UINT64_MAX, "");
	sym_dwarf_free(dwarf);
	close(fd);
	free(command);
}

static void test_inlined(void **state)
{
	(void)state;
	check_nested("-gdwarf-4");
	check_nested("-gdwarf-5");
	check_nested("-gz=zlib");
}

/* The linkage name contains the namespaces, for demangling. */
static void test_inlined_cxx(void **state)
{
	struct sym_dwarf *dwarf;
	int fd;

	(void)state;
	scratch_text("space.c", "namespace a { struct B { int n;\n"
		"__attribute__((always_inline)) int get() {\n"
		"asm volatile(\".globl deep\\ndeep: nop\"); return n; } };\n"
		"int ask(B &b) { return b.get(); } }\nextern \"C\" void _start() {}\n");
	scratch_run("clang -x c++ -O2 -g -nostdlib -ffreestanding -static -o space space.c");
	dwarf = read_dwarf("space", &fd);
	check_inlined(dwarf, address_of(fd, "deep"), "_ZN1a1B3getEv\n");
	sym_dwarf_free(dwarf);
	close(fd);
}

/*
 * An object file, like a kernel module: its code sections lie one after another, except for the one that is
 * only used at its start.
 */
static void test_module(void **state)
{
	struct sym_dwarf *dwarf;
	int fd;

	(void)state;
	scratch_text("module.c",
		"__attribute__((section(\".init.text\"))) int begin(void)\n{\n\treturn 1;\n}\n"
		"__attribute__((aligned(64))) int first(void)\n{\n\treturn 2;\n}\n"
		"__attribute__((section(\".text.unlikely\"), aligned(64))) int second(void)\n{\n"
		"\treturn 3;\n}\n");
	scratch_run("gcc -O0 -g -ffreestanding -c -o module.ko module.c");
	dwarf = read_dwarf("module.ko", &fd);
	check_line(dwarf, 0, "module.c:6");
	check_line(dwarf, 64, "module.c:10");
	check_line(dwarf, 4096, NULL);
	sym_dwarf_free(dwarf);
	close(fd);
}

/* Built in another folder: a file outside keeps the last two parts of its path. */
static void test_outside(void **state)
{
	struct sym_dwarf *dwarf;
	int fd;

	(void)state;
	build("inside", "gcc", "-g");
	scratch_run("mkdir -p out && cd out && gcc -O0 -g -nostdlib -ffreestanding -static "
		"-o ../outside ../start.c ../lib/math/twice.c");
	dwarf = read_dwarf("outside", &fd);
	check_line(dwarf, address_of(fd, "_start"), "start.c:3");
	check_line(dwarf, address_of(fd, "twice"), "math/twice.c:2");
	sym_dwarf_free(dwarf);
	close(fd);
}

/*
 * nm -l prints "address type name TAB /a/b/c.c:41", the line of the declaration. ktop says "b/c.c:42",
 * where the code begins: at the brace, a few lines below at most. What the compiler split off ("name.cold")
 * may begin anywhere.
 */
static bool check_nm_line(struct sym_dwarf *dwarf, const char *text)
{
	const char *tab = strchr(text, '\t'), *type = strchr(text, ' '), *end = strchr(text, '\n');
	char *line, *colon;
	long declared;
	size_t path;

	if (!tab || tab > end || text[0] == ' ' || (type[1] | 0x20) != 't' ||
		memchr(text, '.', (size_t)(tab - text)))
		return false;
	line = sym_dwarf_line(dwarf, strtoull(text, NULL, 16), &full);
	if (!line)
		fail_msg("none for %.*s", (int)(end - text), text);
	colon = strrchr(line, ':');
	path = (size_t)(colon - line) + 1;
	while (end[-1] != ':')
		end--;
	assert_memory_equal(end - path, line, path);
	declared = strtol(end, NULL, 10);
	assert_in_range(atol(colon + 1), declared, declared + 3);
	free(line);
	return true;
}

static void test_against_nm(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct sym_dwarf *dwarf = sym_dwarf_new(fd, NULL, NULL, &full);
	char *command = util_format("nm -l /proc/%d/exe > lines", (int)getpid()), *text;
	size_t size, compared = 0;

	(void)state;
	assert_non_null(dwarf);
	scratch_run(command);
	text = scratch_read(scratch_path("lines"), &size);
	for (char *at = text; *at; at = strchr(at, '\n') + 1)
		compared += check_nm_line(dwarf, at);
	assert_true(compared > 50);
	free(text);
	free(command);
	sym_dwarf_free(dwarf);
	close(fd);
}

static void test_none(void **state)
{
	const char *paths[] = { build("bare", "gcc", "-g0"), scratch_text("text", "no program"),
		"/dev/null" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_RDONLY);

		assert_true(fd >= 0);
		assert_null(sym_dwarf_new(fd, NULL, NULL, &full));
		close(fd);
	}
	assert_null(sym_dwarf_new(-1, NULL, NULL, &full));
}

static void try_bytes(const char *bytes, size_t size, uint64_t address)
{
	int fd = open(scratch_write("damaged", bytes, size), O_RDONLY);
	struct sym_dwarf *dwarf;

	assert_true(fd >= 0);
	dwarf = sym_dwarf_new(fd, NULL, NULL, &full);
	if (dwarf) {
		free(sym_dwarf_line(dwarf, address, &full));
		free(sym_dwarf_inlined(dwarf, address, &full));
		free(sym_dwarf_lines_at(dwarf, address, &full));
	}
	sym_dwarf_free(dwarf);
	close(fd);
}

static void damage(const char *path, uint64_t address)
{
	size_t size;
	char *bytes = scratch_read(path, &size), *copy = malloc(size);
	uint32_t seed = 11;

	assert_non_null(copy);
	for (size_t cut = 0; cut < size; cut += 131)
		try_bytes(bytes, cut, address);
	for (int round = 0; round < 300; round++) {
		memcpy(copy, bytes, size);
		for (int i = 0; i < 10; i++) {
			seed = seed * 1664525 + 1013904223;
			copy[64 + seed % (size - 64)] = (char)(seed >> 24);
		}
		try_bytes(copy, size, address);
	}
	free(copy);
	free(bytes);
}

static void test_damaged(void **state)
{
	const char *path = build("whole", "gcc", "-g");
	int fd = open(path, O_RDONLY);

	(void)state;
	damage(path, address_of(fd, "twice"));
	close(fd);
	scratch_run("gcc -O0 -g -ffreestanding -c -o module.ko lib/math/twice.c");
	damage(scratch_path("module.ko"), 0);
}

/* The budget is charged for a unit's lines before they are read, for a module as for a program. */
static void test_lines_are_paid_for(void **state)
{
	static const char *const builds[] = { "-r", "-e 0 -Ttext=0x0" };

	(void)state;
	scratch_text("first.c", "int first(int x)\n{\n\treturn x;\n}\n");
	scratch_text("paid.c", "int f(int x)\n{\n\treturn x;\n}\nvoid _start(void)\n{\n\tf(1);\n}\n");
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		char *command = util_format("gcc -O0 -g -ffreestanding -fno-pie -c first.c paid.c && "
			"ld %s -o paid first.o paid.o && nm paid | sed -n 's/ T f$//p' >at", builds[i]);
		struct budget *budget = budget_new(BUDGET_LEAST_MIB);
		struct sym_dwarf *dwarf;
		size_t left;
		char *at;
		int fd;

		scratch_run(command);
		at = scratch_read(scratch_path("at"), &left);
		fd = open(scratch_path("paid"), O_RDONLY);
		dwarf = sym_dwarf_new(fd, NULL, budget, &full);
		assert_non_null(dwarf);
		left = budget_left(budget);
		check_line(dwarf, strtoull(at, NULL, 16), "paid.c:2");
		assert_true(budget_left(budget) + 1000 < left);
		sym_dwarf_free(dwarf);
		close(fd);
		budget_release(budget);
		free(command);
		free(at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_4_and_5),
		cmocka_unit_test(test_packed_by_zstd),
		cmocka_unit_test(test_damaged_zstd),
		cmocka_unit_test(test_without_aranges),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_inlined_start),
		cmocka_unit_test(test_first_has_no_line),
		cmocka_unit_test(test_source_in_folder),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_inlined_cxx),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_lines_are_paid_for),
		cmocka_unit_test(test_against_nm),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
