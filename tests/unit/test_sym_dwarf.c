/* The reader against nm -l, on this very program; and on small programs compiled here. */
#include <fcntl.h>
#include <unistd.h>

#include "line_worker.h"
#include "scratch.h"
#include "sym_dwarf.h"
#include "sym_elf.h"
#include "symbol_table.h"

static bool full;			/* no memory: never, without a budget */

static const char start_source[] =
	"int twice(int);\nvoid _start(void)\n{\n\ttwice(2);\n\tfor (;;)\n\t\t;\n}\n";
static const char twice_source[] = "int twice(int x)\n{\n\treturn x + x;\n}\n";

/* Two units, start.c and lib/math/twice.c, compiled from a folder that holds both. */
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

static void check_program(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct sym_dwarf *dwarf = sym_dwarf_open(fd, NULL, &full);

	assert_true(fd >= 0);
	assert_non_null(dwarf);
	check_line(dwarf, address_of(fd, "_start"), "start.c:3");
	check_line(dwarf, address_of(fd, "twice"), "math/twice.c:2");
	check_line(dwarf, 0, NULL);
	check_line(dwarf, UINT64_MAX, NULL);
	sym_dwarf_close(dwarf);
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

static void test_without_aranges(void **state)
{
	(void)state;
	check_program(build("clang", "clang", "-g"));
	build("removed", "gcc", "-g");
	scratch_run("objcopy --remove-section .debug_aranges removed");
	check_program(scratch_path("removed"));
}

/* What was inlined at the very start of a function does not hide the function's own line. */
static void test_inlined_start(void **state)
{
	int fd;
	struct sym_dwarf *dwarf;

	(void)state;
	scratch_text("inner.h", "static inline int inner(volatile int *x)\n{\n\treturn *x;\n}\n");
	scratch_text("outer.c", "#include \"inner.h\"\n\nint outer(volatile int *x)\n{\n"
		"\treturn inner(x);\n}\n\nvoid _start(void)\n{\n}\n");
	scratch_run("gcc -O2 -g -nostdlib -ffreestanding -static -o inlined outer.c");
	fd = open(scratch_path("inlined"), O_RDONLY);
	assert_true(fd >= 0);
	dwarf = sym_dwarf_open(fd, NULL, &full);
	assert_non_null(dwarf);
	check_line(dwarf, address_of(fd, "outer"), "outer.c:4");	/* its brace */
	sym_dwarf_close(dwarf);
	close(fd);
}

/* Built in another folder: what is outside keeps the last two parts of its path. */
static void test_outside(void **state)
{
	struct sym_dwarf *dwarf;
	int fd;

	(void)state;
	build("inside", "gcc", "-g");
	scratch_run("mkdir -p out && cd out && gcc -O0 -g -nostdlib -ffreestanding -static "
		"-o ../outside ../start.c ../lib/math/twice.c");
	fd = open(scratch_path("outside"), O_RDONLY);
	assert_true(fd >= 0);
	dwarf = sym_dwarf_open(fd, NULL, &full);
	assert_non_null(dwarf);
	check_line(dwarf, address_of(fd, "_start"), "start.c:3");
	check_line(dwarf, address_of(fd, "twice"), "math/twice.c:2");
	sym_dwarf_close(dwarf);
	close(fd);
}

/*
 * A line of nm -l: "address type name TAB /a/b/c.c:41", where the function is declared; ours is
 * "b/c.c:42", where its code begins: at the brace, a few lines below at most. What the compiler
 * split off ("name.cold") begins anywhere.
 */
static bool check_nm_line(struct sym_dwarf *dwarf, const char *text)
{
	const char *tab = strchr(text, '\t'), *type = strchr(text, ' '), *end = strchr(text, '\n');
	char *line, *colon;
	long declared;
	size_t path;

	if (!tab || tab > end || text[0] == ' ' || (type[1] | 0x20) != 't'
		|| memchr(text, '.', (size_t)(tab - text)))
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
	struct sym_dwarf *dwarf = sym_dwarf_open(fd, NULL, &full);
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
	sym_dwarf_close(dwarf);
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
		assert_null(sym_dwarf_open(fd, NULL, &full));
		close(fd);
	}
	assert_null(sym_dwarf_open(-1, NULL, &full));
}

static void try_bytes(const char *bytes, size_t size, uint64_t address)
{
	int fd = open(scratch_write("damaged", bytes, size), O_RDONLY);
	struct sym_dwarf *dwarf;

	assert_true(fd >= 0);
	dwarf = sym_dwarf_open(fd, NULL, &full);
	if (dwarf)
		free(sym_dwarf_line(dwarf, address, &full));
	sym_dwarf_close(dwarf);
	close(fd);
}

static void test_damaged(void **state)
{
	const char *path = build("whole", "gcc", "-g");
	int fd = open(path, O_RDONLY);
	uint64_t address = address_of(fd, "twice");
	size_t size;
	char *bytes = scratch_read(path, &size), *copy = malloc(size);
	uint32_t seed = 11;

	(void)state;
	assert_non_null(copy);
	close(fd);
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

/* ---- the thread around it ---- */

static char *await_answer(struct line_worker *worker, uint32_t *ticket)
{
	uint64_t deadline = util_now() + 60000000000u;
	char *line = NULL;

	while (!line_worker_take(worker, ticket, &line)) {
		if (util_now() > deadline)
			fail_msg("no answer in a minute");
		usleep(1000);
	}
	return line;
}

static void test_worker_answers_in_order(void **state)
{
	int fd = open(build("asked", "gcc", "-g"), O_RDONLY), none = open("/dev/null", O_RDONLY);
	struct line_question question = { .fd = fd, .address = address_of(fd, "twice") };
	struct line_worker *worker = line_worker_new(NULL);

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		question.ticket = i;
		question.fd = i % 3 ? fd : none;
		assert_true(line_worker_ask(worker, &question));
	}
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t ticket;
		char *line = await_answer(worker, &ticket);

		assert_int_equal(ticket, i);
		if (i % 3)
			assert_string_equal(line, "math/twice.c:2");
		else
			assert_null(line);
		free(line);
	}
	line_worker_free(worker);
	close(fd);
	close(none);
}

static void test_worker_queue_is_bounded(void **state)
{
	int fd = open("/dev/null", O_RDONLY);
	struct line_worker *worker = line_worker_new(NULL);
	struct line_question question = { .fd = fd };
	uint32_t ticket;

	(void)state;
	for (int i = 0; i < LINE_QUEUE; i++)
		assert_true(line_worker_ask(worker, &question));
	assert_false(line_worker_ask(worker, &question));
	free(await_answer(worker, &ticket));
	assert_true(line_worker_ask(worker, &question));
	line_worker_free(worker);
	close(fd);
}

static void test_worker_ends_early(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct line_worker *worker = line_worker_new(NULL);
	struct line_question question = { .fd = fd, .address = 0x1000 };

	(void)state;
	line_worker_free(worker);
	worker = line_worker_new(NULL);
	for (int i = 0; i < LINE_QUEUE; i++)
		assert_true(line_worker_ask(worker, &question));
	line_worker_free(worker);
	line_worker_free(NULL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_4_and_5),
		cmocka_unit_test(test_without_aranges),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_inlined_start),
		cmocka_unit_test(test_against_nm),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_worker_answers_in_order),
		cmocka_unit_test(test_worker_queue_is_bounded),
		cmocka_unit_test(test_worker_ends_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
