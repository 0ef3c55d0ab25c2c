/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/export_json.h"
#include "agent/export/json_writer.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/wire/event.h"
#include "tests/unit/agent/query/fake_symbols.h"
#include "tests/unit/fakes/intern.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/scratch.h"

static const struct question everything = { .to = UINT64_MAX };

struct world {
	struct query_inputs inputs;
	struct query *query;
	struct export_result result;
};

static struct world world_new(void)
{
	struct world world = { .inputs = {
		.store = store_new(NULL, STORE_COUNTS_MAX), .stacks = stacks_new(NULL),
		.symbols = symbols_new(NULL), .threads = threads_new(NULL),
	} };

	world.query = query_new(&world.inputs);
	return world;
}

static void world_free(struct world *world)
{
	query_free(world->query);
	store_free(world->inputs.store);
	stacks_free(world->inputs.stacks);
	symbols_free(world->inputs.symbols);
	threads_free(world->inputs.threads);
}

/* Frames are function numbers, leaf first. */
struct work {
	enum mode mode;
	uint32_t thread, process, weight;
	uint32_t kernel_count, user_count;
	uint64_t kernel[8], user[8];
	uint64_t inside;		/* how far each address is inside its kernel function */
};

static void take(struct world *world, const struct work *work)
{
	uint64_t kernel[8], user[8];
	struct sample sample = {
		.process = work->process, .kernel = kernel, .user = user,
		.kernel_count = work->kernel_count, .user_count = work->user_count,
	};
	struct store_key key = { .who = {
		.thread = work->thread, .process = work->process, .mode = (uint8_t)work->mode,
	} };

	for (size_t i = 0; i < 8; i++) {
		kernel[i] = work->kernel[i] * 0x100 + 8 + work->inside;
		user[i] = work->user[i] * 0x100 + 8;
	}
	key.stack = intern(world->inputs.stacks, &sample, work->process);
	store_add(world->inputs.store, NS_PER_SECOND, &key, work->weight);
}

static bool write_export(struct world *world, const char *path, const struct question *question,
	struct stack_options options, char **error)
{
	const struct export_choice choice = export_stacks(EXPORT_FOLDED, options);
	struct export *export = export_new(&choice, &(struct export_input) {
		.query = world->query, .inputs = &world->inputs, .question = question });
	bool written = export_write(export, path, &world->result, error);

	export_free(export);
	return written;
}

static char *export_of(struct world *world, const struct question *question,
	struct stack_options options)
{
	const char *path = scratch_path("out.folded");
	char *error = NULL;
	size_t size;

	assert_true(write_export(world, path, question, options, &error));
	assert_null(error);
	return scratch_read(path, &size);
}

static char *export(struct world *world, struct stack_options options)
{
	return export_of(world, &everything, options);
}

static void check_text(struct world *world, struct stack_options options, const char *wanted)
{
	char *text = export(world, options);

	assert_string_equal(text, wanted);
	free(text);
}

static void a_stack_is_a_line_from_the_root(void **state)
{
	struct world world = world_new();
	const struct work call = { .thread = 4, .process = 2, .weight = 3, .kernel_count = 2,
		.user_count = 2, .kernel = { 7, 6 }, .user = { 5, 4 } };

	(void)state;
	take(&world, &call);
	check_text(&world, (struct stack_options) { 0 }, "p2_4;p2_5;k6;k7 3\n");
	check_text(&world, (struct stack_options) { .kernel_mark = true },
		"p2_4;p2_5;k6_[k];k7_[k] 3\n");
	threads_thread(world.inputs.threads, 4, 2,
		(struct text) { .bytes = "boot; now", .size = 9 });
	check_text(&world, (struct stack_options) { .thread_first = true },
		"boot:_now;p2_4;p2_5;k6;k7 3\n");
	check_text(&world, (struct stack_options) { .root = "1 a;b" },
		"1_a:b;p2_4;p2_5;k6;k7 3\n");
	world_free(&world);
}

/* Once they are read, inlined functions are frames of their own. The weights stay. */
static void what_is_inlined_is_marked(void **state)
{
	struct world world = world_new();
	struct question question = everything;
	struct work one = { .weight = 3, .kernel_count = 2, .kernel = { 7, 6 }, .inside = 0x80 };
	struct work two = { .weight = 2, .kernel_count = 2, .kernel = { 7, 6 }, .inside = 0xc0 };
	char *text;

	(void)state;
	question.inlined = true;
	take(&world, &one);
	take(&world, &two);
	assert_int_equal(query_unread(world.query, &question), 4);
	text = export_of(&world, &question, (struct stack_options) { .kernel_mark = true });
	assert_string_equal(text, "k6_[k];k7_[k] 5\n");
	free(text);
	fake_symbols_read(world.inputs.symbols);
	assert_int_equal(query_unread(world.query, &question), 0);
	text = export_of(&world, &question, (struct stack_options) { .kernel_mark = true });
	assert_string_equal(text, "k6_[k];i6_[i];j6_[i];k7_[k];i7_[i];j7_[i] 2\n"
		"k6_[k];i6_[i];k7_[k];i7_[i] 3\n");
	free(text);
	check_text(&world, (struct stack_options) { .kernel_mark = true }, "k6_[k];k7_[k] 5\n");
	world_free(&world);
}

static void idle_and_unknown_time_are_in_it_and_missed_time_is_not(void **state)
{
	struct world world = world_new();
	const struct work idle = { .mode = MODE_IDLE, .weight = 3, .kernel_count = 1,
		.kernel = { 7 } };
	const struct work nothing = { .mode = MODE_KERNEL, .weight = 4 };

	(void)state;
	take(&world, &idle);
	take(&world, &nothing);
	store_missed(world.inputs.store, NS_PER_SECOND, 0, 100);
	check_text(&world, (struct stack_options) { .kernel_mark = true },
		"[idle] 3\n[unknown] 4\n");
	assert_int_equal(world.result.weight, 7);
	assert_int_equal(world.result.stacks, 2);
	world_free(&world);
}

static void lines_that_read_the_same_are_one(void **state)
{
	struct world world = world_new();
	struct work work = { .thread = 1, .process = 2, .mode = MODE_USER, .weight = 3,
		.user_count = 1 };

	(void)state;
	fake_symbols_know(world.inputs.symbols, 2, false);
	fake_symbols_know(world.inputs.symbols, 3, false);
	take(&world, &work);
	work.process = 3;
	take(&world, &work);
	work.thread = 2;
	take(&world, &work);
	check_text(&world, (struct stack_options) { 0 }, "[unknown] 9\n");
	check_text(&world, (struct stack_options) { .thread_first = true },
		"thread_1;[unknown] 6\nthread_2;[unknown] 3\n");
	world_free(&world);
}

/* Lines are sorted by bytes: the end of a frame comes before '(', that before ';', and a longer name last. */
static void names_are_harmless_and_sorted_by_bytes(void **state)
{
	static const char *const names[] = { "f", "f(int, long)", "f;g", "f\ng h", "f\xc3\xa9",
		"f!" };
	struct world world = world_new();
	struct work work = { .mode = MODE_KERNEL, .weight = 1 };
	struct symbols *symbols = world.inputs.symbols;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		fake_symbols_rename(symbols, symbols_function(symbols, EVENT_KERNEL, i * 0x100),
			names[i]);
	for (work.kernel_count = 1; work.kernel_count <= 2; work.kernel_count++) {
		work.kernel[0] = 0;
		for (uint64_t i = 0; i < 6; i++) {
			work.kernel[work.kernel_count - 1] = i;
			take(&world, &work);
		}
	}
	check_text(&world, (struct stack_options) { 0 },
		"f 1\nf! 1\nf!;f 1\nf(int,_long) 1\nf(int,_long);f 1\nf:g 1\nf:g;f 1\nf;f 1\n"
		"f_g_h 1\nf_g_h;f 1\nf\xc3\xa9 1\nf\xc3\xa9;f 1\n");
	world_free(&world);
}

/* ---- random stacks ---- */

static void check_lines(char *text, const struct export_result *result)
{
	uint64_t weight = 0, lines = 0;
	char *before = NULL, *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *space = strchr(line, ' '), *end;

		assert_non_null(space);
		assert_int_not_equal(*line, ' ');
		assert_null(strstr(line, ";;"));
		weight += strtoull(space + 1, &end, 10);
		assert_int_equal(*end, '\0');
		assert_true(end > space + 1);
		*space = '\0';
		/* Equal stacks would be neighbours. The shorter of two lines ends with ' '. */
		assert_true(!before || strcmp(before, line) < 0);
		before = line;
		lines++;
	}
	assert_int_equal(weight, result->weight);
	assert_int_equal(lines, result->stacks);
}

static void the_file_adds_up_to_the_table(void **state)
{
	struct random random = { .state = 77 };
	struct world world = world_new();
	struct table *table;

	(void)state;
	for (size_t i = 0; i < 5000; i++) {
		struct work work = {
			.mode = (enum mode)random_below(&random, MODES),
			.thread = (uint32_t)random_below(&random, 3),
			.process = (uint32_t)random_below(&random, 3),
			.weight = (uint32_t)random_below(&random, 9),
			.kernel_count = (uint32_t)random_below(&random, 8),
			.user_count = (uint32_t)random_below(&random, 4),
		};

		for (size_t k = 0; k < 8; k++) {
			work.kernel[k] = random_below(&random, 12);
			work.user[k] = random_below(&random, 3);
		}
		take(&world, &work);
	}
	table = query_table(world.query, &everything);
	for (int options = 0; options < 4; options++) {
		char *text = export(&world, (struct stack_options) { .kernel_mark = options & 1,
			.thread_first = options & 2 });

		check_lines(text, &world.result);
		assert_int_equal(world.result.weight, table->weight);
		assert_int_equal(world.result.samples, table->samples);
		free(text);
	}
	table_free(table);
	world_free(&world);
}

static void nothing_makes_an_empty_file(void **state)
{
	struct world world = world_new();

	(void)state;
	check_text(&world, (struct stack_options) { 0 }, "");
	assert_int_equal(world.result.stacks, 0);
	world_free(&world);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
	struct world world = world_new();
	char *error = NULL;

	(void)state;
	assert_false(write_export(&world, scratch_path("no/such/folder"), &everything,
		(struct stack_options) { 0 }, &error));
	assert_non_null(error);
	assert_non_null(strstr(error, "no/such/folder"));
	free(error);
	world_free(&world);
}

static void only_the_named_file_is_left(void **state)
{
	struct world world = world_new();
	DIR *folder;
	size_t files = 0;

	(void)state;
	free(export(&world, (struct stack_options) { 0 }));
	folder = opendir(scratch_folder);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		files += entry->d_name[0] != '.';
	closedir(folder);
	assert_int_equal(files, 1);
	world_free(&world);
}

/* Each format has all that its callers need. No two formats share a name or an ending. */
static void the_table_of_formats(void **state)
{
	(void)state;
	for (size_t count = 0; count < EXPORTS; count++) {
		const struct export_format *format = export_formats[count];

		assert_true(format->name && format->ending[0] == '.' && format->collect && format->write &&
			format->free);
		for (size_t i = 0; i < count; i++)
			assert_true(strcmp(export_formats[i]->name, format->name) != 0 &&
				strcmp(export_formats[i]->ending, format->ending) != 0);
	}
}

/* The asker's facts come first, and then the table's rows. There are no rows for an asker who gives up. */
static void put_fact(const void *context, struct json_writer *writer)
{
	json_member_text(writer, "fact", context);
}

/* Each number to its last digit: a reader of 64 bits has them, and a double is not in between. */
static void json_has_exact_numbers(void **state)
{
	static const struct { uint64_t number; const char *text; } numbers[] = {
		{ 0, "0" }, { 1u << 31, "2147483648" }, { 999999999999999, "999999999999999" },
		{ 1000000000000001, "1000000000000001" }, { (1ull << 53) - 1, "9007199254740991" },
		{ (1ull << 53) + 1, "9007199254740993" }, { 0xffffffff8043a0a0, "18446744071566500000" },
		{ 0xffffffff8043a0a1, "18446744071566500001" }, { UINT64_MAX, "18446744073709551615" },
	};
	struct json_writer writer;
	char *text = NULL, wanted[128];
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		FILE *to = open_memstream(&text, &size);
		cJSON *row = cJSON_CreateObject();

		json_begin_object(&writer, to);
		json_member_count(&writer, "a", numbers[i].number);
		json_begin_list(&writer, "rows");
		json_add_count(row, "b", numbers[i].number);
		json_row(&writer, row);
		json_end_list(&writer);
		assert_true(json_end_object(&writer));
		fclose(to);
		snprintf(wanted, sizeof(wanted), "{\n\"a\": %s,\n\"rows\": [\n{\"b\":%s}]\n}\n", numbers[i].text,
			numbers[i].text);
		assert_string_equal(text, wanted);
		free(text);
	}
}

static void json_has_the_facts_and_the_table(void **state)
{
	struct world world = world_new();
	const struct work work = { .weight = 3, .kernel_count = 2, .kernel = { 7, 6 } };
	atomic_bool stop;
	char *text = NULL;
	size_t size;

	(void)state;
	atomic_init(&stop, false);
	take(&world, &work);
	for (int given_up = 0; given_up < 2; given_up++) {
		struct table *table = query_table(world.query, &everything);
		const struct export_choice choice = json_choice((struct json_options) {
			.facts = put_fact, .context = "a \"fact\"", .stop = &stop, .set_aside = EVENT_NONE });
		struct export *export = export_new(&choice, &(struct export_input) {
			.query = world.query, .inputs = &world.inputs, .question = &everything,
			.table = table });
		FILE *to = open_memstream(&text, &size);

		atomic_store(&stop, given_up);
		assert_true(export_put(export, "JSON", to, &world.result, NULL));
		fclose(to);
		assert_int_equal(world.result.weight, 3);
		assert_non_null(strstr(text, "{\n\"fact\": \"a \\\"fact\\\"\",\n\"cpus\": []"));
		assert_int_equal(strstr(text, "\"name\":\"k7\"") == NULL, given_up);
		free(text);
		export_free(export);
		table_free(table);
		atomic_store(&stop, false);
	}
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_of_formats),
		cmocka_unit_test(json_has_exact_numbers),
		cmocka_unit_test(json_has_the_facts_and_the_table),
		cmocka_unit_test(a_stack_is_a_line_from_the_root),
		cmocka_unit_test(what_is_inlined_is_marked),
		cmocka_unit_test(idle_and_unknown_time_are_in_it_and_missed_time_is_not),
		cmocka_unit_test(lines_that_read_the_same_are_one),
		cmocka_unit_test(names_are_harmless_and_sorted_by_bytes),
		cmocka_unit_test(the_file_adds_up_to_the_table),
		cmocka_unit_test(nothing_makes_an_empty_file),
		cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),
		cmocka_unit_test(only_the_named_file_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
