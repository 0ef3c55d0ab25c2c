/* SPDX-License-Identifier: MIT */
/* Sizes of programs that are compiled here, beside what nm and readelf say of them. */
#include <elf.h>
#include <fcntl.h>

#include "agent/base/budget.h"
#include "agent/size/code_sizes.h"
#include "agent/size/size_request.h"
#include "agent/size/size_rows.h"
#include "tests/unit/fakes/scratch.h"

static const char first_source[] =
	"int data = 5;\n"
	"int once(int x) { return x + data; }\n"
	"extern int again(int) __attribute__((alias(\"once\")));\n"
	"static int __attribute__((noinline)) hidden(int x) { return x * x * data; }\n"
	"int twice(int x) { return hidden(x) + hidden(x + 1); }\n"
	"__attribute__((section(\".init.text\"))) int first(int x) { return hidden(x) - 1; }\n";
static const char second_source[] =
	"extern int twice(int);\n"
	"static int __attribute__((noinline)) hidden(int x) { return x - 3; }\n"
	"int thrice(int x) { return hidden(twice(x)); }\n"
	"__asm__(\".pushsection .text\\n.balign 16\\nlabel: nop\\nnop\\n.size outer, 8\\n.type outer, @function\\n"
	"outer: nop\\nnop\\ninner: nop\\n.type inner, @function\\n.size inner, 1\\n.skip 5, 0x90\\n"
	".rept 100\\ninc %eax\\n.endr\\n.skip 300, 0xcc\\n.balign 4096, 0xcc\\n.popsection\\n\");\n"
	"void _start(void) { for (;;) thrice(1); }\n";

static void compile(const char *options)
{
	char *command;

	scratch_run("mkdir -p one/deep two");
	scratch_text("one/deep/first.c", first_source);
	scratch_text("two/second.c", second_source);
	command = util_format("gcc -O1 -g -ffreestanding -fno-pic %s -c one/deep/first.c && "
		"gcc -O1 -g -ffreestanding -fno-pic %s -c two/second.c", options, options);
	scratch_run(command);
	free(command);
}

/* What a command prints in the folder, as numbers of this base that are added up. */
static uint64_t added(const char *command, int base)
{
	char *line = util_format("(%s) >numbers", command), *text;
	uint64_t sum = 0;
	size_t size;

	scratch_run(line);
	text = scratch_read(scratch_path("numbers"), &size);
	for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
		sum += strtoull(at, NULL, base);
	free(text);
	free(line);
	return sum;
}

/* The bytes of the executable sections, as readelf tells them. */
static uint64_t sections(const char *file)
{
	char *command = util_format("readelf -SW %s | sed -nE "
		"'s/^ *\\[ *[0-9]+\\] .* [A-Z_]+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +[A-Z]*X[A-Z]* .*/\\1/p'",
		file);
	uint64_t bytes = added(command, 16);

	free(command);
	return bytes;
}

static uint64_t symbol_size(const char *file, const char *name)
{
	char *command = util_format("nm -S %s | sed -nE 's/^[0-9a-f]+ ([0-9a-f]+) [tTwW] %s$/\\1/p'", file, name);
	uint64_t bytes = added(command, 16);

	free(command);
	return bytes;
}

static struct code_sizes *sizes_of(const char *const *files)
{
	struct code_sizes *sizes = code_sizes_new(NULL);
	char *error = NULL;

	for (; *files; files++)
		if (!code_sizes_add(sizes, scratch_path(*files), NULL, &error))
			fail_msg("%s", error);
	return sizes;
}

static uint64_t all_of(const struct code_sizes *sizes)
{
	uint64_t pieces = 0, objects = 0;

	for (size_t i = 0; i < sizes->count; i++)
		pieces += sizes->pieces[i].bytes;
	for (uint32_t i = 0; i < sizes->object_count; i++)
		objects += sizes->objects[i].bytes;
	assert_int_equal(pieces, objects);
	return pieces;
}

/* The bytes of the row with this name; NULL `file`: whatever its file. */
static uint64_t row_of(struct code_sizes *sizes, enum size_by by, const char *name, const char *file)
{
	struct size_asked asked = { .by = by };
	struct size_rows rows;
	uint64_t bytes = 0, sum = 0;

	assert_true(size_rows_make(sizes, &asked, &rows));
	for (size_t i = 0; i < rows.count; i++) {
		sum += rows.rows[i].bytes[SIZE_BEFORE];
		if (strcmp(code_sizes_told(sizes, rows.rows[i].name), name) == 0 &&
				(!file || strcmp(code_sizes_told(sizes, rows.rows[i].file), file) == 0))
			bytes += rows.rows[i].bytes[SIZE_BEFORE];
	}
	assert_int_equal(sum, all_of(sizes));
	size_rows_clear(&rows, sizes);
	return bytes;
}

/* Sizes by function are those of nm; aliases count once, and what is inside another function counts there alone. */
static void test_functions(void **state)
{
	struct code_sizes *sizes;
	uint64_t inner;

	(void)state;
	compile("");
	sizes = sizes_of((const char *const[]) { "first.o", "second.o", NULL });
	assert_true(sections("first.o") > 30);
	assert_int_equal(sizes->objects[0].bytes, sections("first.o"));
	assert_int_equal(sizes->objects[1].bytes, sections("second.o"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "again", NULL) + row_of(sizes, SIZE_BY_FUNCTION, "once", NULL),
		symbol_size("first.o", "once"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "first", NULL), symbol_size("first.o", "first"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "hidden", "one/deep/first.c"),
		symbol_size("first.o", "hidden"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "hidden", "two/second.c"), symbol_size("second.o", "hidden"));
	inner = symbol_size("second.o", "inner");
	assert_int_equal(inner, 1);
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "inner", NULL), inner);
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "outer", NULL), symbol_size("second.o", "outer") - inner);
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "label", NULL), 2);
	code_sizes_free(sizes);
}

static void test_gaps(void **state)
{
	struct code_sizes *sizes;

	(void)state;
	compile("");
	sizes = sizes_of((const char *const[]) { "second.o", NULL });
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, CODE_NO_SYMBOL, NULL), 200);
	assert_true(row_of(sizes, SIZE_BY_FUNCTION, CODE_PADDING, NULL) > 3000);
	code_sizes_free(sizes);
}

static void test_sources(void **state)
{
	struct code_sizes *sizes;

	(void)state;
	compile("");
	scratch_run("ld -r -o both.ko first.o second.o && ld -e _start -o both first.o second.o && cp both stripped && "
		"strip stripped");
	for (int i = 0; i < 2; i++) {
		const char *file = i ? "both" : "both.ko";

		sizes = sizes_of((const char *const[]) { file, NULL });
		assert_int_equal(all_of(sizes), sections(file));
		assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "first", "one/deep/first.c"),
			symbol_size("first.o", "first"));
		assert_int_equal(row_of(sizes, SIZE_BY_FILE, "one/deep/first.c", NULL),
			symbol_size("first.o", "(once|hidden|twice|first)"));
		assert_int_equal(row_of(sizes, SIZE_BY_FOLDER, "one/deep", NULL),
			row_of(sizes, SIZE_BY_FILE, "one/deep/first.c", NULL));
		assert_true(row_of(sizes, SIZE_BY_FOLDER, SIZE_NO_SOURCE, NULL) >= 200);
		assert_int_equal(row_of(sizes, SIZE_BY_OBJECT, scratch_path(file), NULL), sections(file));
		code_sizes_free(sizes);
	}
}

/* A stripped program: by .eh_frame; a library: by .dynsym, too; with its debug file as if it were not stripped. */
static void test_stripped(void **state)
{
	struct code_sizes *sizes;

	(void)state;
	compile("-fasynchronous-unwind-tables -fPIC");
	scratch_run("gcc -shared -nostdlib -Wl,--build-id -o whole.so first.o second.o && cp whole.so bare.so && "
		"strip bare.so");
	sizes = sizes_of((const char *const[]) { "bare.so", NULL });
	assert_int_equal(all_of(sizes), sections("bare.so"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "twice", NULL), symbol_size("whole.so", "twice"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "hidden", NULL), 0);
	assert_int_equal(row_of(sizes, SIZE_BY_FOLDER, SIZE_NO_SOURCE, NULL), sections("bare.so"));
	code_sizes_free(sizes);

	scratch_run("objcopy --only-keep-debug whole.so bare.so.debug && "
		"objcopy --add-gnu-debuglink=bare.so.debug bare.so");
	sizes = sizes_of((const char *const[]) { "bare.so", NULL });
	assert_int_equal(all_of(sizes), sections("bare.so"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "hidden", "one/deep/first.c"),
		symbol_size("first.o", "hidden"));
	code_sizes_free(sizes);
}

static void test_namespaces(void **state)
{
	struct code_sizes *sizes;

	(void)state;
	scratch_text("names.cc", "namespace outer { struct box { box(); int get(); int it; };\n"
		"box::box() : it(3) {} int box::get() { return it * 3; }\n"
		"template <typename T> T same(T x) { return x + 1; } template int same<int>(int); }\n"
		"int plain(int x) { return x * 7; }\n");
	scratch_run("g++ -O1 -g -c names.cc");
	sizes = sizes_of((const char *const[]) { "names.o", NULL });
	assert_int_equal(all_of(sizes), sections("names.o"));
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, "outer::box::get", NULL),
		symbol_size("names.o", "_ZN5outer3box3getEv"));
	assert_int_equal(row_of(sizes, SIZE_BY_NAMESPACE, "outer::box", NULL),
		symbol_size("names.o", "_ZN5outer3box(3getEv|C2Ev)"));
	assert_int_equal(row_of(sizes, SIZE_BY_NAMESPACE, "outer", NULL), symbol_size("names.o", "_ZN5outer4same.*"));
	assert_int_equal(row_of(sizes, SIZE_BY_NAMESPACE, SIZE_NO_NAMESPACE, NULL),
		all_of(sizes) - symbol_size("names.o", "_ZN5outer(3box3getEv|3boxC2Ev|4same.*)"));
	code_sizes_free(sizes);
}

static void refused(const char *name, const char *why)
{
	struct code_sizes *sizes = code_sizes_new(NULL);
	char *error = NULL;

	assert_false(code_sizes_add(sizes, scratch_path(name), NULL, &error));
	if (!strstr(error, why))
		fail_msg("%s", error);
	free(error);
	code_sizes_free(sizes);
}

/* Debug sections packed by zstd are read; damaged ones are a note. */
static void test_packed(void **state)
{
	static const char *const files[] = { "first.o", "packed.o", "spoilt.o", NULL };
	struct code_sizes *sizes;

	(void)state;
	compile("");
	scratch_run("objcopy --compress-debug-sections=zstd first.o packed.o && "
		"LC_ALL=C sed 's/\\x28\\xb5\\x2f\\xfd/wxyz/' packed.o >spoilt.o && ! cmp -s packed.o spoilt.o");
	sizes = sizes_of(files);
	assert_true(sizes->objects[0].lines && !sizes->objects[0].note);
	assert_true(sizes->objects[1].lines && !sizes->objects[1].note);
	assert_false(sizes->objects[2].lines);
	assert_non_null(strstr(sizes->objects[2].note, "its debug sections are damaged"));
	assert_int_equal(sizes->objects[0].bytes, sizes->objects[1].bytes);
	code_sizes_free(sizes);
}

/* Whichever section that lines need is damaged: that is told. */
static void test_damaged_debug_sections(void **state)
{
	static const char *const sections[] = { "info", "abbrev", "line" }, *const files[] = { "odd", NULL };

	(void)state;
	compile("-gdwarf-5");
	scratch_run("ld -e 0 -o linked first.o second.o");
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		char *command = util_format("objcopy -O binary --only-section=.debug_%s "
			"--set-section-flags .debug_%s=alloc linked bytes && "
			"head -c $(stat -c %%s bytes) /dev/zero >zeros && "
			"objcopy --update-section .debug_%s=zeros linked odd", sections[i], sections[i], sections[i]);
		struct code_sizes *sizes;

		scratch_run(command);
		sizes = sizes_of(files);
		if (!sizes->objects[0].note || !strstr(sizes->objects[0].note, "its debug sections are damaged"))
			fail_msg("%s: %s", sections[i], sizes->objects[0].note ? sizes->objects[0].note : "no note");
		code_sizes_free(sizes);
		free(command);
	}
}

struct change {			/* of the header of a section */
	const char *section;
	size_t at, size;		/* a field of Elf64_Shdr */
	uint64_t value;			/* or HALF of what it is */
};

#define HALF UINT64_MAX

/* The header of the section with this name. */
static Elf64_Shdr *header_of(char *bytes, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)bytes;
	Elf64_Shdr *headers = (Elf64_Shdr *)(bytes + head->e_shoff);
	const char *names = bytes + headers[head->e_shstrndx].sh_offset;

	for (size_t i = 0; i < head->e_shnum; i++)
		if (strcmp(names + headers[i].sh_name, name) == 0)
			return &headers[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static void check_told(const char *what, size_t at)
{
	static const char *const files[] = { "odd", NULL };
	struct code_sizes *sizes = sizes_of(files);

	if (!sizes->objects[0].note || !strstr(sizes->objects[0].note, "damaged"))
		fail_msg("%s, field at %zu: %s", what, at, sizes->objects[0].note ? sizes->objects[0].note : "no note");
	code_sizes_free(sizes);
}

#define FIELD(name) offsetof(Elf64_Shdr, name), sizeof(((Elf64_Shdr *)NULL)->name)

/* Lines or names are lost: by whatever section that is cut, or is not where the file says, that is told. */
static void test_headers_of_damaged_sections(void **state)
{
	static const struct change changes[] = {
		{ ".debug_info", FIELD(sh_size), HALF }, { ".debug_info", FIELD(sh_name), 0xffffff },
		{ ".debug_info", FIELD(sh_offset), UINT64_C(1) << 40 },
		{ ".debug_line", FIELD(sh_size), HALF }, { ".debug_line", FIELD(sh_offset), UINT64_C(1) << 40 },
		{ ".debug_line_str", FIELD(sh_size), HALF }, { ".debug_line_str", FIELD(sh_offset), UINT64_C(1) << 40 },
		{ ".debug_line_str", FIELD(sh_name), 0xffffff },
		{ ".debug_str", FIELD(sh_offset), UINT64_C(1) << 40 }, { ".debug_str", FIELD(sh_name), 0xffffff },
		{ ".debug_abbrev", FIELD(sh_size), HALF }, { ".debug_abbrev", FIELD(sh_offset), UINT64_C(1) << 40 },
		{ ".debug_rnglists", FIELD(sh_offset), UINT64_C(1) << 40 },
		{ ".shstrtab", FIELD(sh_offset), UINT64_C(1) << 40 }, { ".shstrtab", FIELD(sh_size), HALF },
		{ ".shstrtab", FIELD(sh_type), SHT_NOBITS }, { ".strtab", FIELD(sh_size), HALF },
	};
	size_t size;
	char *bytes;

	(void)state;
	compile("-gdwarf-5");
	scratch_run("ld -e 0 -o linked first.o second.o");
	bytes = scratch_read(scratch_path("linked"), &size);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		const struct change *change = &changes[i];
		Elf64_Shdr *header = header_of(bytes, change->section);
		uint64_t value = change->value == HALF ? header->sh_size / 2 : change->value;
		char *field = (char *)header + change->at, before[8];

		memcpy(before, field, change->size);
		memcpy(field, &value, change->size);
		scratch_write("odd", bytes, size);
		memcpy(field, before, change->size);
		check_told(change->section, change->at);
	}
	for (size_t i = 0; i < 3; i++) {
		static const uint16_t indexes[] = { 0xfffe, 0, 1 };

		((Elf64_Ehdr *)bytes)->e_shstrndx = indexes[i];
		scratch_write("odd", bytes, size);
		check_told("e_shstrndx", i);
	}
	free(bytes);
}

/* What a packed section says of its size is damage where nothing so small has so much, else a want of memory. */
static void test_packed_too_large(void **state)
{
	static const char *const files[] = { "packed.o", "lie.o", "large.o", NULL };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct code_sizes *sizes = code_sizes_new(budget);
	uint64_t lie = 600 << 20;
	char *bytes, *magic, *error = NULL;
	size_t size;

	(void)state;
	compile("");
	scratch_run("objcopy --compress-debug-sections=zstd first.o packed.o");
	bytes = scratch_read(scratch_path("packed.o"), &size);
	magic = memmem(bytes, size, "\x28\xb5\x2f\xfd", 4);
	assert_true(magic && magic - bytes > 16);
	memcpy(magic - 16, &lie, sizeof(lie));		/* ch_size */
	scratch_write("lie.o", bytes, size);
	free(bytes);
	scratch_run("gcc -c -x assembler - -o large.o <<'END'\n.text\nonly: ret\n.section .debug_info\n"
		".zero 100 << 20\nEND\n"
		"objcopy --compress-debug-sections=zstd large.o");
	for (int i = 0; files[i]; i++)
		if (!code_sizes_add(sizes, scratch_path(files[i]), NULL, &error))
			fail_msg("%s", error);
	assert_null(sizes->objects[0].note);
	assert_non_null(strstr(sizes->objects[1].note, "its debug sections are damaged"));
	assert_non_null(strstr(sizes->objects[2].note, "no memory for its debug sections; give more by --memory"));
	code_sizes_free(sizes);
	budget_release(budget);
}

/* Its segments are its code; a file without any is refused. */
static void test_without_sections(void **state)
{
	static const char *const files[] = { "bare", NULL };
	struct code_sizes *sizes;

	(void)state;
	scratch_text("bare.s", ".globl _start\n_start: hlt\njmp _start\n");
	scratch_run("gcc -c bare.s && ld -o bare bare.o && cp bare.o object && cp bare.o counted && "
		"for file in bare object counted; do "
		"printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=$file bs=1 seek=40 conv=notrunc status=none && "
		"[ $file = counted ] || "
		"printf '\\0\\0\\0\\0' | dd of=$file bs=1 seek=60 conv=notrunc status=none; done");
	sizes = sizes_of(files);
	assert_int_equal(row_of(sizes, SIZE_BY_FUNCTION, CODE_NO_SYMBOL, NULL), 3);
	assert_int_equal(all_of(sizes), 3);
	code_sizes_free(sizes);
	refused("object", "neither sections nor segments of code");
	refused("counted", "neither sections nor segments of code");	/* that there are some is all that it says */
}

/* A file of data has DWARF, and no lines of code: nothing is wrong with it. */
static void test_data_alone(void **state)
{
	static const char *const files[] = { "data.o", NULL };
	struct code_sizes *sizes;

	(void)state;
	scratch_text("data.c", "int data = 5;\n");
	scratch_run("gcc -g -c data.c");
	sizes = sizes_of(files);
	assert_null(sizes->objects[0].note);
	code_sizes_free(sizes);
}

/* The table of symbols, or that of their names, is not one. */
static void test_damaged_symbols(void **state)
{
	size_t size;
	char *bytes;

	(void)state;
	compile("");
	scratch_run("ld -e 0 -o linked first.o second.o");
	bytes = scratch_read(scratch_path("linked"), &size);
	header_of(bytes, ".symtab")->sh_link = 1;
	scratch_write("odd", bytes, size);
	refused("odd", "the names of its symbols are not where it says");
	header_of(bytes, ".symtab")->sh_type = SHT_NULL;
	scratch_write("odd", bytes, size);
	refused("odd", "its .symtab is no table of symbols");
	free(bytes);
}

static void test_refused(void **state)
{
	(void)state;
	compile("");
	scratch_run("mkdir -p folder && mkfifo pipe 2>/dev/null; head -c 900 first.o >cut.o; : >empty");
	refused("folder", "Is a directory");
	refused("pipe", "not a regular file");
	refused("none", "No such file");
	refused("empty", "not an ELF file");
	refused("cut.o", "damaged");
	scratch_run("gzip -k first.o && xz -k first.o");
	refused("first.o.gz", "it is packed by gzip: unpack it");
	refused("first.o.xz", "it is packed by xz: unpack it");
	refused("one/deep/first.c", "not an ELF file");
}

/* A pipe, or a file: what is no folder has no debug files, and that is told before it is read. */
static void test_a_debug_folder_is_one(void **state)
{
	struct size_request request = size_request_default;
	struct size_asked asked;
	char *path, *error;

	(void)state;
	scratch_run("mkfifo pipe && touch file && mkdir folder");
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "pipe", "file", "none", "folder" };

		error = NULL;
		path = util_format("%s", scratch_path(names[i]));
		request.debug = path;
		if (size_request_check(&request, &asked, &error) != (i == 3))
			fail_msg("%s: %s", names[i], error ? error : "taken");
		if (i != 3)
			assert_non_null(strstr(error, ": no such folder; give one"));
		free(error);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_damaged_debug_sections),
		cmocka_unit_test(test_headers_of_damaged_sections),
		cmocka_unit_test(test_packed_too_large),
		cmocka_unit_test(test_without_sections),
		cmocka_unit_test(test_data_alone),
		cmocka_unit_test(test_damaged_symbols),
		cmocka_unit_test(test_a_debug_folder_is_one),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
