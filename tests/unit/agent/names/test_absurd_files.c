/* SPDX-License-Identifier: MIT */
/* Files of symbols with impossible claims: each gives an error or a remark, and no memory is spent on the claim. */
#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/settle.h"

enum { LIMIT_MIB = 64 };

/* A single block above the limit ends the test. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=64";
}

/* ---- the claims ---- */

static const char source[] =
	"int twice(int x) { return x + x; }\n"
	"void _start(void) { for (;;) twice(2); }\n";

struct odd_program {
	char *bytes;
	size_t size;
	Elf64_Ehdr *header;
	Elf64_Shdr *sections;
};

static Elf64_Shdr *section(struct odd_program *program, const char *name)
{
	const char *names =
		program->bytes + program->sections[program->header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < program->header->e_shnum; i++)
		if (strcmp(names + program->sections[i].sh_name, name) == 0)
			return &program->sections[i];
	fail_msg("no section %s", name);
	return NULL;
}

static void *contents(struct odd_program *program, const char *name)
{
	return program->bytes + section(program, name)->sh_offset;
}

static void huge_symbols(struct odd_program *program)
{
	section(program, ".symtab")->sh_size = 1ull << 63;
}

static void endless_symbols(struct odd_program *program)
{
	section(program, ".symtab")->sh_size = UINT64_MAX;
}

static void many_sections(struct odd_program *program)
{
	program->header->e_shnum = 0xfeff;
}

/* More sections than 16 bits can count: the size of the first section tells how many. */
static void very_many_sections(struct odd_program *program)
{
	program->header->e_shnum = 0;
	program->sections[0].sh_size = 1ull << 40;
}

static void sections_beyond(struct odd_program *program)
{
	program->header->e_shoff = 1ull << 40;
}

static void compressed_symbols(struct odd_program *program)
{
	section(program, ".symtab")->sh_flags |= SHF_COMPRESSED;
}

static void names_beyond(struct odd_program *program)
{
	section(program, ".strtab")->sh_offset = 1ull << 50;
}

static void names_too_short(struct odd_program *program)
{
	section(program, ".strtab")->sh_size = 1;
}

static void names_nowhere(struct odd_program *program)
{
	section(program, ".symtab")->sh_link = UINT32_MAX;
}

static void many_segments(struct odd_program *program)
{
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(program->bytes + program->header->e_phoff);

	program->header->e_phnum = PN_XNUM;
	program->sections[0].sh_info = UINT32_MAX;
	segment->p_type = PT_NOTE;
	segment->p_filesz = UINT64_MAX;
}

static void claims_a_terabyte(struct odd_program *program)
{
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1ull << 40, .ch_addralign = 1 };

	section(program, ".debug_info")->sh_flags |= SHF_COMPRESSED;
	memcpy(contents(program, ".debug_info"), &head, sizeof(head));
}

static void long_unit(struct odd_program *program)
{
	memset(contents(program, ".debug_info"), 0xff, 12);
}

static void unit_beyond(struct odd_program *program)
{
	memcpy(contents(program, ".debug_info"), "\xef\xff\xff\xff", 4);
}

static void long_lines(struct odd_program *program)
{
	memset(contents(program, ".debug_line"), 0xff, 12);
}

/* The header of the line program claims the largest length. */
static void long_line_header(struct odd_program *program)
{
	memset((char *)contents(program, ".debug_line") + 8, 0x7f, 4);
}

/* Only half of the names are left. */
static void names_cut(struct odd_program *program)
{
	section(program, ".strtab")->sh_size /= 2;
}

static void claims_100_mb(struct odd_program *program)
{
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 100 << 20, .ch_addralign = 1 };

	section(program, ".debug_info")->sh_flags |= SHF_COMPRESSED;
	memcpy(contents(program, ".debug_info"), &head, sizeof(head));
}

struct damage {
	const char *name;		/* of the damaged file */
	void (*make)(struct odd_program *program);
	const char *why;		/* why it is refused; NULL: it has names */
	const char *line;		/* of its first function; "": not known */
};

static const struct damage damages[] = {
	{ "huge-symbols", huge_symbols, "damaged", NULL },
	{ "endless-symbols", endless_symbols, "damaged", NULL },
	{ "many-sections", many_sections, "damaged", NULL },
	{ "very-many-sections", very_many_sections, "damaged", NULL },
	{ "sections-beyond", sections_beyond, "damaged", NULL },
	{ "compressed-symbols", compressed_symbols, "damaged", NULL },
	{ "names-beyond", names_beyond, "damaged", NULL },
	{ "names-nowhere", names_nowhere, "damaged", NULL },
	{ "names-too-short", names_too_short, "symbols", NULL },
	{ "many-segments", many_segments, NULL, "program.c:1" },
	{ "claims-a-terabyte", claims_a_terabyte, NULL, "" },
	{ "claims-100-mb", claims_100_mb, NULL, "" },
	{ "long-unit", long_unit, NULL, "" },
	{ "unit-beyond", unit_beyond, NULL, "program.c:1" },
	{ "long-lines", long_lines, NULL, "" },
	{ "long-line-header", long_line_header, NULL, "" },
};

enum { DAMAGES = sizeof(damages) / sizeof(damages[0]) };

/* Writes a small program with names and lines, and with this damage. */
static const char *write_damaged(const struct damage *damage)
{
	struct odd_program program;
	const char *path;

	if (access(scratch_path("whole"), R_OK) != 0) {
		scratch_text("program.c", source);
		scratch_run("gcc -g -gz=none -O1 -nostdlib -static -no-pie -Wl,--build-id=none "
			"-o whole program.c");
	}
	program.bytes = scratch_read(scratch_path("whole"), &program.size);
	program.header = (Elf64_Ehdr *)(void *)program.bytes;
	program.sections = (Elf64_Shdr *)(void *)(program.bytes + program.header->e_shoff);
	damage->make(&program);
	path = scratch_write(damage->name, program.bytes, program.size);
	free(program.bytes);
	return path;
}

/* ---- as the kernel's file ---- */

/* The form is `what failed: why; what to do`. */
static void check_error(const char *error, const char *path, const char *why)
{
	const char *at = strstr(error, path);

	if (!at || !strstr(at, why) || !strstr(at, ": ") || !strstr(at, "; "))
		fail_msg("%s", error);
}

static void load_kernel(const char *path, const char *why)
{
	struct budget *budget = budget_new(LIMIT_MIB);
	size_t left = budget_left(budget);
	struct symbols *symbols = symbols_new(budget);
	char *error = NULL;

	assert_int_equal(symbols_load_kernel(symbols, path, &error), !why);
	if (why)
		check_error(error, path, why);
	free(error);
	symbols_free(symbols);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void test_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < DAMAGES; i++)
		load_kernel(write_damaged(&damages[i]), damages[i].why);
}

/* ---- as the file of a program in the guest ---- */

static struct symbols *map(struct budget *budget, const char *name)
{
	const char *folders[] = { (scratch_path("."), scratch_folder), NULL };
	struct object object = {
		.process = 1, .start = 0x400000, .end = 0x500000,
		.name = { .bytes = name, .size = strlen(name) },
	};
	struct symbols *symbols = symbols_new(budget);

	symbols_map(symbols, &object, folders);
	settle(symbols);
	return symbols;
}

/* Waits for the line of the first function. */
static void check_line(struct symbols *symbols, const char *expected)
{
	uint32_t function = symbols_function(symbols, symbols_space(symbols, 1), 0x401000);
	const char *line;

	assert_true(symbols_get(symbols, function)->known);
	while (!(line = symbols_line(symbols, function)))
		usleep(1000);
	assert_string_equal(line, expected);
}

static void test_programs(void **state)
{
	(void)state;
	for (size_t i = 0; i < DAMAGES; i++) {
		struct budget *budget = budget_new(LIMIT_MIB);
		struct symbols *symbols;

		write_damaged(&damages[i]);
		symbols = map(budget, damages[i].name);
		if (damages[i].why)
			check_error(note_of(symbols), damages[i].name, damages[i].why);
		else
			check_line(symbols, damages[i].line);
		symbols_free(symbols);
		budget_release(budget);
	}
}

/* A file that claims more than there is memory for is counted. */
static void test_lines_refused(void **state)
{
	static const struct damage large[] = {
		{ "terabyte", claims_a_terabyte, NULL, "" }, { "100-mb", claims_100_mb, NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct budget *budget = budget_new(LIMIT_MIB);
		struct symbols *symbols;

		write_damaged(&large[i]);
		symbols = map(budget, large[i].name);
		check_line(symbols, "");
		assert_int_equal(symbols_lines_refused(symbols), 1);
		symbols_free(symbols);
		budget_release(budget);
	}
}

/* A refused file is not read again at each mapping, but only once it has changed. */
static void test_refused_once(void **state)
{
	const struct damage bad = { "again", huge_symbols, "damaged", NULL };
	struct symbols *symbols;
	char *note;

	(void)state;
	write_damaged(&bad);
	symbols = map(NULL, "again");
	note = util_copy(note_of(symbols), strlen(note_of(symbols)));
	for (uint64_t i = 1; i < 5; i++) {
		struct object object = {
			.process = 1, .start = i << 32, .end = (i << 32) + 0x100000,
			.bias = (i << 32) - 0x400000, .name = { .bytes = "again", .size = 5 },
		};
		const char *folders[] = { scratch_folder, NULL };

		if (i == 4)
			scratch_run("cp whole again && touch -d @1 again");
		symbols_map(symbols, &object, folders);
		settle(symbols);
		assert_string_equal(note_of(symbols), i == 4 ? "" : note);	/* the cause has gone */
		assert_int_equal(symbols_get(symbols, symbols_function(symbols,
			symbols_space(symbols, 1), object.start + 0x1000))->address != 0, i == 4);
	}
	free(note);
	symbols_free(symbols);
}

static void test_left_out(void **state)
{
	const struct damage cut = { "cut", names_cut, NULL, NULL };
	struct symbols *symbols = symbols_new(NULL);
	const char *path = write_damaged(&cut);
	char *error = NULL;

	(void)state;
	if (!symbols_load_kernel(symbols, path, &error))
		fail_msg("%s", error);
	assert_in_range(symbols_left_out(symbols), 1, 20);
	symbols_free(symbols);
	symbols = map(NULL, "cut");
	assert_in_range(symbols_left_out(symbols), 1, 20);
	symbols_free(symbols);
	symbols = symbols_new(NULL);
	path = scratch_text("names", "1000 T first\nwhat is this?\n2000 T second\nand this\n");
	assert_true(symbols_load_kernel(symbols, path, &error));
	assert_int_equal(symbols_left_out(symbols), 2);
	symbols_free(symbols);
}

/* ---- the whole program, with no more memory than it may take ---- */

/* ktop must refuse the names, with one line that has the form of an error and contains `why`. */
static void run(const char *names, const char *why)
{
	char *command = util_format("ulimit -d %d; exec build/ktop report --port /nowhere "
		"--memory %d --symbols %s 2>&1 1>/dev/null", LIMIT_MIB << 10, LIMIT_MIB, names);
	FILE *output = popen(command, "r");
	char line[1024] = "", more[1024];
	int status;

	assert_non_null(output);
	do		/* on a busy host it says first what it waits for */
		assert_non_null(fgets(line, sizeof(line), output));
	while (strstr(line, ": reads the kernel's names from "));
	if (fgets(more, sizeof(more), output))
		fail_msg("a second line: %s, after: %s", more, line);
	status = pclose(output);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	if (strncmp(line, "ktop: ", 6) != 0)
		fail_msg("%s", line);
	check_error(line, "", why);
	free(command);
}

static void test_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < DAMAGES; i++)
		if (damages[i].why)
			run(write_damaged(&damages[i]), damages[i].why);
}

static const char *write_sparse(const char *name, const void *head, size_t size)
{
	const char *path = scratch_write(name, head, size);

	assert_int_equal(truncate(path, 1ll << 40), 0);
	return path;
}

static void whole_terabyte(struct odd_program *program)
{
	Elf64_Shdr *symbols = section(program, ".symtab");

	symbols->sh_size = (1ull << 40) - symbols->sh_offset;
}

static void test_sparse(void **state)
{
	const struct damage terabyte = { "sparse.elf", whole_terabyte, NULL, NULL };
	const char *path = write_damaged(&terabyte);

	(void)state;
	assert_int_equal(truncate(path, 1ll << 40), 0);
	run(path, "no memory for its symbols");
	run(write_sparse("sparse.nm", "1000 T first\n", 13), "larger than 512 MB");
	run(write_sparse("sparse", "", 0), "larger than 512 MB");
}

/* A line of a gigabyte, which never exists as a whole. */
static void test_endless_line(void **state)
{
	int fd;

	(void)state;
	scratch_run("mkfifo names.fifo");
	fd = open(scratch_path("names.fifo"), O_RDWR);		/* so that it has a writer from the beginning */
	if (fork() == 0) {
		static char text[1 << 20];
		int to = open(scratch_path("names.fifo"), O_WRONLY);

		close(fd);
		memset(text, 'x', sizeof(text));
		memcpy(text, "1000 T ", 7);
		for (int i = 0; i < 1 << 10; i++)
			if (write(to, text, sizeof(text)) < 0)
				break;
		_exit(0);
	}
	run(scratch_path("names.fifo"), "no memory for it (--memory gives more)");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_lines_refused),
		cmocka_unit_test(test_refused_once),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_endless_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
