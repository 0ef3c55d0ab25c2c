/* SPDX-License-Identifier: MIT */
/* A function of five instructions, its lines and its source: what belongs to which, and how it is laid out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "hidden_llvm.h"

/* push %rbp; pause; jne -4 (to pause); nop; ret */
static const uint8_t code_of[] = { 0x55, 0xf3, 0x90, 0x75, 0xfc, 0x90, 0xc3 };

static char folder[] = "/tmp/ktop-listing-XXXXXX";

static char *write_source(const char *text)
{
	char *path = util_format("%s/page.c", folder);
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
	return path;
}

static struct listing *make(const char *path, const char *map, size_t bytes, bool lined)
{
	struct code_bytes *code = util_alloc(sizeof(*code));
	char own[256], list[] = "include/list.h", pop[] = "list_pop", *files[] = { own, list };
	struct code_row rows[] = { { 0x1000, 2, 0 }, { 0x1001, 3, 0 }, { 0x1005, 40, 1 }, { 0x1006, 5, 0 } };
	struct code_inline inlines[] = { { 0x1005, 0x1006, 0, 4, 0, pop } };
	const struct code_lines lines = {
		.files = files, .file_count = 2, .rows = rows, .row_count = 4, .inlines = inlines, .inline_count = 1,
		.file = 0, .line = 2,
	};
	struct listing *listing;

	snprintf(own, sizeof(own), "%s", path);
	code->arch = ARCH_X86_64;
	code->size = bytes;
	memcpy(code->bytes, code_of, sizeof(code_of));
	listing = listing_new(code, 0x1000, 0x1000 + sizeof(code_of), lined ? &lines : NULL, map);
	free(code);
	return listing;
}

static const char source[] = "one\nint f(void)\n\twhile (busy)\x1b[2J\n\tpop();\n}\nsix\n";

static void test_lines_and_inlined_code(void **state)
{
	char *path = write_source(source);
	struct listing *listing = make(path, NULL, sizeof(code_of), true);

	(void)state;
	assert_int_equal(listing->count, 5);
	assert_null(listing->worded);
	assert_int_equal(listing->first, 2);
	assert_int_equal(listing->line_count, 4);
	assert_string_equal(listing_line(listing, 2), "int f(void)");
	assert_null(strchr(listing_line(listing, 3), '\x1b'));
	assert_memory_equal(listing_line(listing, 3), "        while", 13);
	assert_null(listing_line(listing, 1));
	assert_null(listing_line(listing, 6));
	assert_int_equal(listing->instructions[2].line, 3);
	assert_int_equal(listing->instructions[2].target, 1);
	assert_int_equal(listing->instructions[3].line, 4);	/* it is called there */
	assert_string_equal(listing->places[listing->instructions[3].place].function, "list_pop");
	assert_string_equal(listing->places[listing->instructions[3].place].file, "list.h");
	assert_int_equal(listing->places[listing->instructions[3].place].line, 40);
	assert_int_equal(listing_find(listing, 0x1002), 1);
	assert_int_equal(listing_find(listing, 0x1007), LISTING_NONE);
	assert_int_equal(listing_find(listing, 0xfff), LISTING_NONE);
	listing_release(listing);
	free(path);
}

static char *shape_of(const struct listing *listing, enum listing_form form)
{
	size_t count, size;
	struct listing_row *rows = listing_rows(listing, form, &count);
	char *text = NULL;
	FILE *out = util_text_open(&text, &size);

	for (size_t i = 0; i < count; i++)
		if (rows[i].source)
			fprintf(out, "%u%s ", rows[i].line, rows[i].place == LISTING_NONE ? "" : "*");
		else
			fprintf(out, "@%x ", (unsigned)listing->instructions[rows[i].first].address - 0x1000);
	free(rows);
	return util_text_close(out, &text);
}

static void has_shape(const struct listing *listing, enum listing_form form, const char *expected)
{
	char *shape = shape_of(listing, form);

	assert_string_equal(shape, expected);
	free(shape);
}

static void test_forms(void **state)
{
	char *path = write_source(source);
	struct listing *listing = make(path, NULL, sizeof(code_of), true);

	(void)state;
	has_shape(listing, LISTING_SOURCE, "2 3 4* 5 ");
	has_shape(listing, LISTING_BOTH, "2 @0 3 @1 @3 4* @5 5 @6 ");
	has_shape(listing, LISTING_INSTRUCTIONS, "@0 @1 @3 @5 @6 ");
	listing_release(listing);
	free(path);
}

static void test_without_lines_or_code(void **state)
{
	struct listing *bare = make("page.c", NULL, sizeof(code_of), false);
	struct listing *lines = make("/nowhere/page.c", NULL, 0, true);

	(void)state;
	has_shape(bare, LISTING_SOURCE, "@0 @1 @3 @5 @6 ");
	has_shape(bare, LISTING_BOTH, "@0 @1 @3 @5 @6 ");
	assert_int_equal(lines->count, 0);
	assert_false(lines->sourced);
	has_shape(lines, LISTING_INSTRUCTIONS, "2 ");
	listing_release(bare);
	listing_release(lines);
}

static void test_a_map_leads_to_the_source(void **state)
{
	char *path = write_source(source), *map = util_format("/build/linux=%s", folder);
	struct listing *listing = make("/build/linux/page.c", map, sizeof(code_of), true);

	(void)state;
	assert_true(listing->sourced);
	listing_release(listing);
	free(map);
	free(path);
}

/* The file itself goes before a copy that a server sent. */
static void test_a_fetched_source(void **state)
{
	static const char *const wanted[] = { "int f(void)", "fetched" };
	struct code_bytes *code = util_alloc(sizeof(*code));
	char *own = write_source(source), away[] = "/nowhere/page.c", *copy = util_format("%s/copy", folder);
	struct code_row row = { 0x1000, 2, 0 };
	FILE *file = fopen(copy, "w");

	(void)state;
	fputs("one\nfetched\n", file);
	fclose(file);
	for (int i = 0; i < 2; i++) {
		char *files[] = { i ? away : own };
		struct listing *listing = listing_new(code, 0x1000, 0x1010, &(struct code_lines) {
			.files = files, .file_count = 1, .rows = &row, .row_count = 1, .line = 2,
			.fetched = copy }, NULL);

		assert_true(listing->sourced);
		assert_string_equal(listing_line(listing, 2), wanted[i]);
		listing_release(listing);
	}
	unlink(copy);
	free(copy);
	free(own);
	free(code);
}

/* Where the folder of the compilation is gone, ktop may run in a copy of it. */
static void test_a_source_below_the_folder_of_ktop(void **state)
{
	struct code_bytes *code = util_alloc(sizeof(*code));
	char *own = write_source(source), gone[] = "/nowhere";
	char *away = util_format("%s/%s", gone, strrchr(own, '/') + 1);
	char *files[] = { away }, *before = getcwd(NULL, 0);
	struct code_row row = { 0x1000, 2, 0 };

	(void)state;
	assert_int_equal(chdir(folder), 0);
	for (int i = 0; i < 2; i++) {
		struct listing *listing = listing_new(code, 0x1000, 0x1010, &(struct code_lines) {
			.files = files, .file_count = 1, .rows = &row, .row_count = 1, .line = 2,
			.folder = i ? gone : NULL }, NULL);

		assert_int_equal(listing->sourced, i);
		listing_release(listing);
	}
	assert_int_equal(chdir(before), 0);
	free(before);
	free(away);
	free(own);
	free(code);
}

/* Code of riscv64 without LLVM: words of the instructions' lengths, with their lines. */
static void test_words(void **state)
{
	static const uint8_t words[] = { 0x13, 0x05, 0x10, 0x00, 0x01, 0x00, 0x82, 0x80 };
	struct code_bytes *code = util_alloc(sizeof(*code));
	char page[] = "page.c", *files[] = { page };
	struct code_row rows[] = { { 0x1000, 2, 0 }, { 0x1004, 3, 0 } };
	struct listing *listing;

	(void)state;
	code->arch = ARCH_RISCV64;
	code->size = sizeof(words);
	memcpy(code->bytes, words, sizeof(words));
	hidden_llvm(true);
	listing = listing_new(code, 0x1000, 0x1008, &(struct code_lines) {
		.files = files, .file_count = 1, .rows = rows, .row_count = 2, .line = 2 }, NULL);
	hidden_llvm(false);
	assert_non_null(listing->worded);
	assert_int_equal(listing->count, 3);
	assert_int_equal(listing->instructions[1].address, 0x1004);
	assert_int_equal(listing->instructions[2].line, 3);
	assert_string_equal(listing->instructions[0].text, ".4byte 0x00100513");
	assert_string_equal(listing->instructions[2].text, ".2byte 0x8082");
	listing_release(listing);
	free(code);
}

/* A loop: `nop; 1: addi a0,a0,-1; bnez a0,1b; ret`. */
static void test_riscv64(void **state)
{
	static const uint8_t loop[] = { 0x01, 0x00, 0x7d, 0x15, 0x7d, 0xfd, 0x82, 0x80 };
	struct code_bytes *code = util_alloc(sizeof(*code));
	struct listing *listing;

	(void)state;
	code->arch = ARCH_RISCV64;
	code->size = sizeof(loop);
	memcpy(code->bytes, loop, sizeof(loop));
	listing = listing_new(code, 0x1000, 0x1008, NULL, NULL);
	assert_null(listing->worded);
	assert_int_equal(listing->count, 4);
	assert_string_equal(listing->instructions[2].text, "bnez   a0,1002");
	assert_int_equal(listing->instructions[2].target, 1);
	listing_release(listing);
	free(code);
}

static void test_jumps_are_drawn(void **state)
{
	struct listing *listing = make("page.c", NULL, sizeof(code_of), false);
	struct jumps jumps = jumps_new(listing);
	char text[JUMPS_TEXT];

	(void)state;
	assert_int_equal(jumps.lanes, 1);
	assert_string_equal(jumps_text(&jumps, 0, 0, text), "  ");
	assert_string_equal(jumps_text(&jumps, 1, 0, text), ",>");
	assert_string_equal(jumps_text(&jumps, 2, 1, text), "| ");
	assert_string_equal(jumps_text(&jumps, 2, 0, text), "'-");
	assert_string_equal(jumps_text(&jumps, 3, 0, text), "  ");
	jumps_clear(&jumps);
	listing_release(listing);
}

/* A file that is huge, or no text, costs no more than what is asked of it. */
static void test_any_source(void **state)
{
	char *path = util_format("%s/any.c", folder), *lines[3];
	FILE *file = fopen(path, "w");

	(void)state;
	for (int i = 0; i < 100000; i++)
		putc(i * 7 % 256, file);
	fclose(file);
	assert_in_range(source_file_read(path, NULL, 5, 3, lines), 1, 3);
	for (int i = 0; i < 3; i++) {
		for (const char *c = lines[i]; c && *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 127);
		free(lines[i]);
	}
	assert_int_equal(source_file_read("/dev/zero", NULL, 1, 3, lines), 0);
	assert_int_equal(source_file_read(folder, NULL, 1, 3, lines), 0);
	assert_int_equal(source_file_read(path, NULL, UINT32_MAX, 3, lines), 0);
	unlink(path);
	free(path);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
	char *path = util_format("%s/page.c", folder);

	(void)state;
	unlink(path);
	free(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_and_inlined_code),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_without_lines_or_code),
		cmocka_unit_test(test_a_map_leads_to_the_source),
		cmocka_unit_test(test_a_fetched_source),
		cmocka_unit_test(test_a_source_below_the_folder_of_ktop),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_riscv64),
		cmocka_unit_test(test_jumps_are_drawn),
		cmocka_unit_test(test_any_source),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
