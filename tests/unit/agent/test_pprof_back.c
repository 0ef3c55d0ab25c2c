/* SPDX-License-Identifier: MIT */
/* Profiles of pprof read back: what ktop has written, and what others may write. tests/e2e/diff has Go's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/formats/writing/gzip_stream.h"
#include "agent/formats/writing/name_text.h"
#include "agent/import/set_import.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/protobuf.h"
#include "tests/unit/fakes/sample_world.h"

/* ---- profiles made by hand ---- */

/* The fields of profile.proto that these tests write. */
enum { TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT, DEFAULT = 14 };
enum { LEAF = 1, INLINED, CALLER };	/* functions; so are the locations, but that 1 has LEAF in INLINED */

struct written {
	char *bytes;
	size_t size;
	FILE *to;
};

static struct written *begin(void)
{
	struct written *written = util_alloc(sizeof(*written));

	written->to = util_text_open(&written->bytes, &written->size);
	return written;
}

static void end(struct written *written)
{
	free(written->bytes);
	free(written);
}

static void put_text(FILE *to, const char *text)
{
	struct protobuf message = { 0 };

	protobuf_name(&message, text);
	protobuf_write(to, TEXT, &message);
	protobuf_clear(&message);
}

/* A message of numbers: field, number, ..., 0. */
static void put(FILE *to, unsigned field, const uint64_t *numbers)
{
	struct protobuf message = { 0 };

	for (; numbers[0]; numbers += 2)
		protobuf_number(&message, (unsigned)numbers[0], numbers[1]);
	protobuf_write(to, field, &message);
	protobuf_clear(&message);
}

#define PUT(to, field, ...) put(to, field, (const uint64_t[]) { __VA_ARGS__, 0, 0 })

static void put_number(FILE *to, unsigned field, uint64_t number)
{
	struct protobuf message = { 0 };

	protobuf_number(&message, field, number);
	fwrite(message.bytes, 1, message.size, to);
	protobuf_clear(&message);
}

/* The numbers of texts. */
enum { SAMPLES = 1, COUNT, CPU, NANOSECONDS, LEAF_NAME, INLINED_NAME, CALLER_NAME, FILE_NAME, OBJECT, THREAD, SPACE,
	BYTES, NAME_OF_THREAD, TEXTS };

static void put_texts(FILE *to)
{
	static const char *const texts[TEXTS] = { "", "samples", "count", "cpu", "nanoseconds", "leaf", "inlined",
		"caller", "src/a.c", "/usr/bin/tool", "thread", "space", "bytes", "worker" };

	for (int i = 0; i < TEXTS; i++)
		put_text(to, texts[i]);
}

static void put_location(FILE *to, uint64_t id, uint64_t inner, uint64_t outer)
{
	struct protobuf message = { 0 }, line = { 0 };

	protobuf_number(&message, 1, id);
	protobuf_number(&message, 2, 1);
	protobuf_number(&message, 3, 0x1000 + id);
	for (int i = 0; i < (outer ? 2 : 1); i++) {
		line.size = 0;
		protobuf_number(&line, 1, i ? outer : inner);
		protobuf_number(&line, 2, 10 + (uint64_t)i);
		protobuf_message(&message, 4, &line);
	}
	protobuf_write(to, LOCATION, &message);
	protobuf_clear(&message);
	protobuf_clear(&line);
}

static void put_tables(FILE *to)
{
	put_texts(to);
	PUT(to, MAPPING, 1, 1, 2, 0x1000, 3, 0x2000, 5, OBJECT);
	for (uint64_t id = LEAF; id <= CALLER; id++)
		PUT(to, FUNCTION, 1, id, 2, LEAF_NAME - LEAF + id, 4, FILE_NAME, 5, 7);
	put_location(to, LEAF, LEAF, INLINED);
	put_location(to, CALLER, CALLER, 0);
}

/* A sample: locations and values, each ended by 0; lists are packed or not. */
static void put_sample(FILE *to, const uint64_t *locations, const uint64_t *values, bool packed)
{
	struct protobuf message = { 0 }, list = { 0 };

	for (unsigned field = 1; field <= 2; field++) {
		list.size = 0;
		for (const uint64_t *at = field == 1 ? locations : values; *at; at++)
			if (packed)
				protobuf_element(&list, *at);
			else
				protobuf_number(&message, field, *at);
		if (packed)
			protobuf_message(&message, field, &list);
	}
	protobuf_write(to, SAMPLE, &message);
	protobuf_clear(&message);
	protobuf_clear(&list);
}

#define STACK(...) (const uint64_t[]) { __VA_ARGS__, 0 }
#define VALUES(...) (const uint64_t[]) { __VA_ARGS__, 0 }

static struct sample_set *read_bytes(struct written *written, struct budget *budget, char **error)
{
	struct sample_set *set;

	util_text_close(written->to, &written->bytes);
	set = set_import_bytes(written->bytes, written->size, budget, error);
	end(written);
	return set;
}

static struct sample_set *reads(struct written *written)
{
	char *error = NULL;
	struct sample_set *set = read_bytes(written, NULL, &error);

	if (!set)
		fail_msg("%s", error);
	return set;
}

static void refuses(struct written *written, const char *why)
{
	char *error = NULL;

	assert_null(read_bytes(written, NULL, &error));
	if (!strstr(error, why))
		fail_msg("%s", error);
	assert_non_null(strstr(error, "; "));
	free(error);
}

/* ---- a set as text ---- */

static void put_who(FILE *to, const struct sample_set *set, const struct set_who *who)
{
	const struct set_thread *thread = who->thread == SET_NONE ? NULL : &set->threads[who->thread];

	fprintf(to, " cpu %x %s", who->cpu, sample_set_mode(who->mode));
	if (thread)
		fprintf(to, " thread %x %s process %x %s", thread->id, thread->name, thread->process,
			thread->process_name);
}

/* A sum on a line: its frames with their files and lines, who ran it, and its numbers. Names are written apart. */
static char *sum_text(const struct sample_set *set, const struct set_sum *sum)
{
	struct set_line frames[64];
	uint32_t count = sample_set_frames(set, sum->stack, frames, 64);
	char *text;
	size_t size;
	FILE *to = util_text_open(&text, &size);

	for (uint32_t i = 0; i < count; i++) {
		const struct set_function *function = &set->functions[frames[i].function];

		name_text_put(to, function->name, ";:");
		putc(':', to);
		name_text_put(to, function->file, ";:");
		fprintf(to, ":%u:%u;", function->line, frames[i].line);
	}
	put_who(to, set, &sum->who);
	fprintf(to, " %llu %llu %llu", (unsigned long long)sum->samples, (unsigned long long)sum->weight,
		(unsigned long long)sum->ns);
	return util_text_close(to, &text);
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static char **texts_of(const struct sample_set *set)
{
	char **texts = util_alloc(set->sum_count * sizeof(*texts));

	for (uint32_t i = 0; i < set->sum_count; i++)
		texts[i] = sum_text(set, &set->sums[i]);
	qsort(texts, set->sum_count, sizeof(*texts), compare);
	return texts;
}

static void assert_same(const struct sample_set *one, const struct sample_set *other)
{
	char **left = texts_of(one), **right = texts_of(other);

	assert_int_equal(one->sum_count, other->sum_count);
	for (uint32_t i = 0; i < one->sum_count; i++) {
		assert_string_equal(left[i], right[i]);
		free(left[i]);
		free(right[i]);
	}
	free(left);
	free(right);
	assert_int_equal(one->samples, other->samples);
	assert_int_equal(one->weight, other->weight);
	assert_int_equal(one->ns, other->ns);
}

/* ---- the tests ---- */

static void what_ktop_has_written_is_the_same_set(void **state)
{
	struct sample_set *set = sample_world_new(false), *back;
	struct written *written = begin();
	struct set_writing writing = { .to = written->to, .title = "" };
	char *error = NULL;
	uint32_t found = 0;

	(void)state;
	assert_true(format_pprof.write(set, &writing, &error));
	back = reads(written);
	assert_same(set, back);
	for (const char *const *name = sample_world_hostile; *name; name++)
		for (uint32_t i = 0; i < back->function_count; i++)
			if (strcmp(back->functions[i].name, *name) == 0) {
				found++;
				break;
			}
	assert_int_equal(found, 32);
	assert_int_equal(back->object_count, set->object_count);
	for (uint32_t i = 0; i < set->object_count; i++)
		assert_string_equal(back->objects[i].name, set->objects[i].name);
	assert_int_equal(back->facts.lost, set->facts.lost);
	assert_int_equal(back->facts.from, set->facts.from);
	assert_int_equal(back->facts.to, set->facts.to);
	assert_string_equal(back->facts.machine, set->facts.machine);
	assert_string_equal(back->facts.kernel, set->facts.kernel);
	assert_string_equal(back->facts.version, set->facts.version);
	assert_string_equal(back->facts.arch, set->facts.arch);
	sample_set_free(set);
	sample_set_free(back);
}

static struct written *small(bool packed, bool tables_last)
{
	struct written *written = begin();

	if (!tables_last)
		put_tables(written->to);
	PUT(written->to, TYPE, 1, SAMPLES, 2, COUNT);
	PUT(written->to, TYPE, 1, CPU, 2, NANOSECONDS);
	put_sample(written->to, STACK(LEAF, CALLER), VALUES(3, 5000), packed);
	put_sample(written->to, STACK(CALLER), VALUES(2, 2000), packed);
	put_sample(written->to, STACK(LEAF, CALLER), VALUES(1, 1000), packed);
	if (tables_last)
		put_tables(written->to);
	return written;
}

static void tables_may_be_anywhere_and_lists_packed_or_not(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct written *written = small(kind & 1, kind & 2);
		struct sample_set *set = reads(written);
		char *text;

		assert_int_equal(set->sum_count, 2);
		text = sum_text(set, &set->sums[0]);
		assert_string_equal(text,
			"caller:src/a.c:7:10;inlined:src/a.c:7:11;leaf:src/a.c:7:10; cpu ffffffff kernel 4 6000 6000");
		free(text);
		assert_int_equal(set->samples, 6);
		assert_int_equal(set->weight, 8000);
		assert_string_equal(sample_set_leaf(set, set->sums[0].stack)->object, "tool");
		assert_string_equal(set->objects[0].path, "/usr/bin/tool");
		sample_set_free(set);
	}
}

static void a_packed_file_is_unpacked(void **state)
{
	struct written *plain = small(true, false), *written = begin();
	FILE *packed = gzip_stream_open(written->to);
	struct sample_set *set;

	(void)state;
	util_text_close(plain->to, &plain->bytes);
	for (int half = 0; half < 2; half++) {		/* gzip lets files stand one behind the other */
		fwrite(plain->bytes + (half ? plain->size / 2 : 0), 1,
			half ? plain->size - plain->size / 2 : plain->size / 2, packed);
		fclose(packed);
		packed = gzip_stream_open(written->to);
	}
	fclose(packed);
	end(plain);
	set = reads(written);
	assert_int_equal(set->weight, 8000);
	sample_set_free(set);
}

/* The default kind is the one that is named, else the last one. */
static void the_default_kind_is_the_weight(void **state)
{
	struct written *written = begin();
	struct sample_set *set;

	(void)state;
	PUT(written->to, TYPE, 1, SAMPLES, 2, COUNT);
	PUT(written->to, TYPE, 1, CPU, 2, NANOSECONDS);
	PUT(written->to, TYPE, 1, SPACE, 2, BYTES);
	put_tables(written->to);
	put_number(written->to, DEFAULT, CPU);
	put_sample(written->to, STACK(LEAF), VALUES(3, 5001, 70), true);
	set = reads(written);
	assert_int_equal(set->weight, 5001);
	assert_int_equal(set->ns, 5001);
	assert_int_equal(set->samples, 3);
	sample_set_free(set);
	written = begin();
	PUT(written->to, TYPE, 1, SPACE, 2, BYTES);
	PUT(written->to, TYPE, 1, SPACE, 2, BYTES);
	put_tables(written->to);
	put_sample(written->to, STACK(LEAF), VALUES(3, 70), true);
	set = reads(written);
	assert_int_equal(set->weight, 70);
	assert_int_equal(set->samples, 70);
	assert_int_equal(set->ns, 0);
	sample_set_free(set);
}

static void of_a_deep_stack_the_innermost_are_kept(void **state)
{
	enum { DEPTH = IMPORT_DEPTH + 10 };
	uint64_t *stack = util_alloc((DEPTH + 1) * sizeof(*stack));
	struct written *written = begin();
	struct sample_set *set;
	uint32_t depth = 0, root = 0;

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		stack[i] = i ? CALLER : LEAF;
	PUT(written->to, TYPE, 1, SAMPLES, 2, COUNT);
	put_tables(written->to);
	put_sample(written->to, stack, VALUES(1), true);
	set = reads(written);
	for (uint32_t at = set->sums[0].stack; at != SET_NONE; at = set->stacks[at].parent, depth++)
		root = at;
	assert_int_equal(depth, IMPORT_DEPTH);
	assert_true(set->stacks[root].cut);
	assert_string_equal(sample_set_leaf(set, set->sums[0].stack)->name, "leaf");
	sample_set_free(set);
	free(stack);
}

/* A profile with one sample, and what `spoil` puts into it. */
static struct written *spoilt(void (*spoil)(FILE *to))
{
	struct written *written = begin();

	PUT(written->to, TYPE, 1, SAMPLES, 2, COUNT);
	put_tables(written->to);
	put_sample(written->to, STACK(LEAF), VALUES(1), true);
	spoil(written->to);
	return written;
}

static void far_location(FILE *to)
{
	put_sample(to, STACK(99), VALUES(1), true);
}

static void far_function(FILE *to)
{
	put_location(to, 9, 99, 0);
}

static void far_mapping(FILE *to)
{
	PUT(to, LOCATION, 1, 9, 2, 99);
}

static void far_text(FILE *to)
{
	PUT(to, MAPPING, 1, 9, 5, 9999);
}

static void far_name(FILE *to)
{
	PUT(to, FUNCTION, 1, 9, 2, 9999);
	put_location(to, 9, 9, 0);
}

static void far_default(FILE *to)
{
	put_number(to, DEFAULT, 9999);
}

static void twice(FILE *to)
{
	PUT(to, FUNCTION, 1, LEAF);
}

static void no_id(FILE *to)
{
	PUT(to, FUNCTION, 2, LEAF_NAME);
}

static void negative(FILE *to)
{
	put_sample(to, STACK(LEAF), VALUES((uint64_t)-5), true);
}

static void too_many(FILE *to)
{
	put_sample(to, STACK(LEAF), VALUES(INT64_MAX), true);
}

static void values_missing(FILE *to)
{
	put_sample(to, STACK(LEAF), VALUES(1, 2), true);
}

static void group(FILE *to)
{
	fputc(0x0b, to);
}

static void cut_number(FILE *to)
{
	fputs("\x60\xff\xff", to);
}

static void cut_text(FILE *to)
{
	fputs("\x32\x10" "abc", to);
}

static void zero_in_text(FILE *to)
{
	fwrite("\x32\x03" "a\0b", 1, 5, to);
}

static void kinds_without_end(FILE *to)
{
	for (int i = 0; i < 100; i++)
		PUT(to, TYPE, 1, SAMPLES, 2, COUNT);
}

/* Go's own way to say it: the name of the object. Code of no object, and no code at all, are rows of their own. */
static void what_has_no_name_has_its_objects(void **state)
{
	enum { NAMELESS = 7, ALONE, EMPTY, EMPTY_FUNCTION };
	static const char *const names[] = { "[tool]", "[unknown]", "[tool]", "[no stack]", "leaf" };
	struct written *written = begin();
	struct sample_set *set;

	(void)state;
	put_tables(written->to);
	PUT(written->to, TYPE, 1, SAMPLES, 2, COUNT);
	PUT(written->to, LOCATION, 1, NAMELESS, 2, 1, 3, 0x1500);
	PUT(written->to, LOCATION, 1, ALONE, 3, 0x9000);
	PUT(written->to, FUNCTION, 1, EMPTY_FUNCTION);
	put_location(written->to, EMPTY, EMPTY_FUNCTION, 0);
	put_sample(written->to, STACK(NAMELESS), VALUES(1), true);
	put_sample(written->to, STACK(ALONE), VALUES(2), true);
	put_sample(written->to, STACK(EMPTY, CALLER), VALUES(3), true);
	put_sample(written->to, STACK(0), VALUES(4), true);
	put_sample(written->to, STACK(LEAF), VALUES(5), true);
	set = reads(written);
	assert_int_equal(set->sum_count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_string_equal(sample_set_leaf(set, set->sums[i].stack)->name, names[i]);
	sample_set_free(set);
}

/* The kind that is compared is 0 everywhere, another one is not. */
static void a_kind_without_values_is_said(void **state)
{
	struct written *written = begin();
	struct protobuf message = { 0 }, values = { 0 };

	(void)state;
	put_tables(written->to);
	PUT(written->to, TYPE, 1, SPACE, 2, BYTES);
	PUT(written->to, TYPE, 1, CPU, 2, NANOSECONDS);
	protobuf_number(&message, 1, LEAF);
	protobuf_element(&values, 4096);
	protobuf_element(&values, 0);
	protobuf_message(&message, 2, &values);
	protobuf_write(written->to, SAMPLE, &message);
	protobuf_clear(&message);
	protobuf_clear(&values);
	refuses(written, "all its values are 0 of the kind that go tool pprof shows");
}

static void inlined_without_end(FILE *to)
{
	struct protobuf message = { 0 }, line = { 0 };

	protobuf_number(&message, 1, 9);
	protobuf_number(&line, 1, LEAF);
	for (int i = 0; i < 300; i++)
		protobuf_message(&message, 4, &line);
	protobuf_write(to, LOCATION, &message);
	protobuf_clear(&message);
	protobuf_clear(&line);
}

static void what_is_no_profile_is_refused(void **state)
{
	static const struct {
		void (*spoil)(FILE *to);
		const char *why;
	} cases[] = {
		{ far_location, "a location that is not in it" }, { far_function, "a function that is not in it" },
		{ far_mapping, "a mapping that is not in it" }, { far_text, "a text that is not in it" },
		{ far_name, "a text that is not in it" }, { far_default, "a text that is not in it" },
		{ twice, "no profile of pprof" }, { no_id, "no profile of pprof" },
		{ negative, "a value of it is negative" }, { too_many, "too large to add up" },
		{ values_missing, "no profile of pprof" }, { group, "no profile of pprof" },
		{ cut_number, "no profile of pprof" }, { cut_text, "no profile of pprof" },
		{ zero_in_text, "no profile of pprof" }, { kinds_without_end, "no profile of pprof" },
		{ inlined_without_end, "more than 256 functions at one address" },
	};
	struct written *nothing = begin();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct written *written = spoilt(cases[i].spoil);

		refuses(written, cases[i].why);
	}
	PUT(nothing->to, TYPE, 1, SAMPLES, 2, COUNT);
	put_texts(nothing->to);
	refuses(nothing, "it has no samples");
}

/* Each beginning of a file is refused, or a smaller set; packed, it is always refused. */
static void what_is_cut_is_refused(void **state)
{
	struct written *whole = small(true, false), *packed = begin();
	FILE *to = gzip_stream_open(packed->to);

	(void)state;
	util_text_close(whole->to, &whole->bytes);
	fwrite(whole->bytes, 1, whole->size, to);
	fclose(to);
	util_text_close(packed->to, &packed->bytes);
	for (int gzip = 0; gzip < 2; gzip++) {
		const struct written *from = gzip ? packed : whole;

		for (size_t size = 3; size < from->size; size++) {
			char *copy = util_copy(from->bytes, size), *error = NULL;
			struct sample_set *set = set_import_bytes(copy, size, NULL, &error);

			assert_true(!set == (error != NULL));
			assert_true(!set || (!gzip && set->weight < 8000));
			sample_set_free(set);
			free(error);
			free(copy);
		}
	}
	end(whole);
	end(packed);
}

/* Zeros may fill up a block of a tape; anything else would be left out. */
static void what_follows_is_refused(void **state)
{
	static const char *const behind[] = { "\0\0\0\0", "x\0\0\0", "\0\0\0y", "\x1f\0\0\0" };

	(void)state;
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
		struct written *packed = begin();
		FILE *to = gzip_stream_open(packed->to);
		char *error = NULL;
		struct sample_set *set;

		fprintf(to, "main;work 7\n");
		fclose(to);
		fwrite(behind[i], 1, 4, packed->to);
		set = read_bytes(packed, NULL, &error);
		assert_true(!set == (i > 0));
		assert_true(!error || strstr(error, "has other bytes behind its end; give"));
		sample_set_free(set);
		free(error);
	}
}

/* A small file may unpack to more than there is memory. */
static void no_more_than_the_budget_is_unpacked(void **state)
{
	enum { BLOCK = 1 << 20, BLOCKS = 200 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget);
	struct written *written = begin();
	FILE *packed = gzip_stream_open(written->to);
	char *zeros = util_alloc(BLOCK), *error = NULL;

	(void)state;
	for (int i = 0; i < BLOCKS; i++)
		fwrite(zeros, 1, BLOCK, packed);
	fclose(packed);
	free(zeros);
	fflush(written->to);
	assert_true(written->size < 1 << 20);
	assert_null(read_bytes(written, budget, &error));
	assert_non_null(strstr(error, "no memory for so much; give more by --memory"));
	assert_int_equal(budget_left(budget), before);
	free(error);
	budget_release(budget);
}

static void names_come_back(void **state)
{
	static const char *const own[] = { "C:\\foo", "C:\\x41bc", "\\x", "\\x5", "a\\x5C", "\\x00", "\\x1b\\", "" };
	char name[16];

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		name_text_back(own[i], strlen(own[i]), name);
		assert_string_equal(name, own[i]);	/* ktop writes none of these */
	}
	name_text_back("a\\x5cb\\x1b\\xff", 14, name);
	assert_string_equal(name, "a\\b\x1b\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ktop_has_written_is_the_same_set),
		cmocka_unit_test(tables_may_be_anywhere_and_lists_packed_or_not),
		cmocka_unit_test(a_packed_file_is_unpacked),
		cmocka_unit_test(the_default_kind_is_the_weight),
		cmocka_unit_test(of_a_deep_stack_the_innermost_are_kept),
		cmocka_unit_test(what_has_no_name_has_its_objects),
		cmocka_unit_test(a_kind_without_values_is_said),
		cmocka_unit_test(what_is_no_profile_is_refused),
		cmocka_unit_test(what_is_cut_is_refused),
		cmocka_unit_test(what_follows_is_refused),
		cmocka_unit_test(no_more_than_the_budget_is_unpacked),
		cmocka_unit_test(names_come_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
