/* SPDX-License-Identifier: MIT */
/* Tracks and markers of a Firefox profile. tests/e2e/formats adds its stacks up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/event_list.h"
#include "tests/unit/fakes/sample_world.h"

/* Thread 41 is the world's "sh"; nobody knows thread 9. */
static const struct set_event events[] = {
	{ WORLD_FROM + 10, 0, &event_switch, { 0, 41 } }, { WORLD_FROM + 20, 0, &event_irq_enter, { 3 } },
	{ WORLD_FROM + 30, 0, &event_irq_exit, { 3 } }, { WORLD_FROM + 35, 5, &event_mail, { 1, (uint64_t)-2 } },
	{ WORLD_FROM + 40, 0, &event_call, { 41, 1 } }, { WORLD_FROM + 60, 0, &event_return, { 41, 1, (uint64_t)-5 } },
	{ WORLD_FROM + 70, 0, &event_call, { 9, 2 } }, { WORLD_FROM + 80, 0, &event_return, { 9, 2, 0 } },
	{ WORLD_FROM + 90, 0, &event_lost, { 12 } },
};

static cJSON *profile_of(struct sample_set *set)
{
	struct set_writing writing = { .title = "t" };
	char *text, *error = NULL;
	size_t size;
	cJSON *json;

	writing.to = util_text_open(&text, &size);
	assert_true(set_format_named("firefox")->write(set, &writing, &error));
	util_text_close(writing.to, &text);
	json = cJSON_Parse(text);
	assert_non_null(json);
	free(text);
	return json;
}

static cJSON *thread_named(const cJSON *profile, const char *pid, const char *name)
{
	cJSON *thread;

	cJSON_ArrayForEach(thread, cJSON_GetObjectItem(profile, "threads"))
		if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(thread, "pid")), pid) == 0 &&
				strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(thread, "name")), name) == 0)
			return thread;
	fail_msg("no thread %s of %s", name, pid);
	return NULL;
}

static double count_of(const cJSON *thread, const char *table)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(thread, table), "length"));
}

static cJSON *value(const cJSON *thread, const char *table, const char *column, int index)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(thread, table), column), index);
}

/* A marker: its name, and its data as text. */
static void assert_marker(const cJSON *profile, const cJSON *thread, int index, const char *name, const char *data)
{
	const cJSON *texts = cJSON_GetObjectItem(cJSON_GetObjectItem(profile, "shared"), "stringArray");
	int number = (int)cJSON_GetNumberValue(value(thread, "markers", "name", index));
	char *text = cJSON_PrintUnformatted(value(thread, "markers", "data", index));

	assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(texts, number)), name);
	assert_string_equal(text, data);
	free(text);
}

static void each_sample_is_in_the_tracks_of_its_cpu_and_its_thread(void **state)
{
	struct sample_set *set = sample_world_new(true);
	cJSON *profile = profile_of(set), *thread;
	double cpus = 0, threads = 0;
	uint64_t of_cpus = 0, of_threads = 0;

	(void)state;
	cJSON_ArrayForEach(thread, cJSON_GetObjectItem(profile, "threads")) {
		bool cpu = strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(thread, "pid")), "CPUs") == 0;
		const cJSON *weight;

		cJSON_ArrayForEach(weight, cJSON_GetObjectItem(cJSON_GetObjectItem(thread, "samples"), "weight"))
			*(cpu ? &cpus : &threads) += cJSON_GetNumberValue(weight) * (double)NS_PER_MS;
	}
	for (uint32_t i = 0; i < set->sum_count; i++) {
		of_cpus += set->sums[i].ns;
		of_threads += set->sums[i].who.thread == SET_NONE ? 0 : set->sums[i].ns;
	}
	assert_true(cpus > (double)of_cpus - 1 && cpus < (double)of_cpus + 1);
	assert_true(threads > (double)of_threads - 1 && threads < (double)of_threads + 1);
	assert_true(of_threads && of_threads < of_cpus);
	thread = thread_named(profile, "40", "sh");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(thread, "processName")), "sh");
	assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(thread, "tid")), 41);
	cJSON_Delete(profile);
	sample_set_free(set);
}

static void trace_events_are_markers(void **state)
{
	struct sample_set *set = sample_world_new(true);
	cJSON *profile, *cpu, *thread;

	(void)state;
	event_list_give(set, events, sizeof(events) / sizeof(*events));
	profile = profile_of(set);
	cpu = thread_named(profile, "CPUs", "CPU 0");
	assert_int_equal((int)count_of(cpu, "markers"), 4);
	assert_marker(profile, cpu, 0, "interrupt", "{\"type\":\"interrupt\",\"name\":\"irq 3\",\"number\":3}");
	assert_marker(profile, cpu, 1, "system call",
		"{\"type\":\"system call\",\"name\":\"syscall 2\",\"number\":2,\"result\":\"0\"}");
	assert_marker(profile, cpu, 2, "running thread",
		"{\"type\":\"running thread\",\"name\":\"sh\",\"thread\":41,\"lost\":\"events\"}");
	assert_marker(profile, cpu, 3, "events lost", "{\"type\":\"event 1\",\"value0\":\"12\"}");
	assert_true(cJSON_GetNumberValue(value(cpu, "markers", "endTime", 3)) >
		cJSON_GetNumberValue(value(cpu, "markers", "startTime", 3)));
	assert_int_equal((int)cJSON_GetNumberValue(value(cpu, "markers", "phase", 0)), 1);
	assert_int_equal((int)cJSON_GetNumberValue(value(cpu, "markers", "phase", 3)), 1);
	thread = thread_named(profile, "CPUs", "CPU 5");
	assert_int_equal((int)count_of(thread, "samples"), 0);
	assert_marker(profile, thread, 0, "mail \"put\"", "{\"type\":\"event 0\",\"value0\":\"1\",\"value1\":\"-2\"}");
	thread = thread_named(profile, "40", "sh");
	assert_int_equal((int)count_of(thread, "markers"), 1);
	assert_marker(profile, thread, 0, "system call",
		"{\"type\":\"system call\",\"name\":\"syscall re\\\"ad\",\"number\":1,\"result\":\"-5\"}");
	cJSON_Delete(profile);
	sample_set_free(set);
}

/* What ran in an interrupt has its category, and the same stack otherwise has its own. */
static void interrupts_have_a_category(void **state)
{
	struct sample_set *set = sample_world_new(true);
	cJSON *profile = profile_of(set), *shared = cJSON_GetObjectItem(profile, "shared");
	cJSON *categories = cJSON_GetObjectItem(cJSON_GetObjectItem(profile, "meta"), "categories");
	cJSON *frames = cJSON_GetObjectItem(cJSON_GetObjectItem(shared, "stackTable"), "frame");
	cJSON *category = cJSON_GetObjectItem(cJSON_GetObjectItem(shared, "frameTable"), "category"), *thread, *stack;
	uint64_t interrupts = 0, wanted = 0;

	(void)state;
	cJSON_ArrayForEach(thread, cJSON_GetObjectItem(profile, "threads")) {
		if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(thread, "pid")), "CPUs") != 0)
			continue;
		cJSON_ArrayForEach(stack, cJSON_GetObjectItem(cJSON_GetObjectItem(thread, "samples"), "stack")) {
			int frame = (int)cJSON_GetNumberValue(cJSON_GetArrayItem(frames, stack->valueint));
			int number = (int)cJSON_GetNumberValue(cJSON_GetArrayItem(category, frame));

			interrupts += strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(
				cJSON_GetArrayItem(categories, number), "name")), "Interrupt") == 0;
		}
	}
	for (struct set_rows *rows = set->rows->open(set->rows_context); rows;) {
		struct set_row row;

		if (set->rows->next(rows, &row)) {
			wanted += strstr(sample_set_mode(set->sums[row.sum].who.mode), "irq") != NULL;
		} else {
			set->rows->close(rows);
			rows = NULL;
		}
	}
	assert_true(wanted > 0);
	assert_int_equal(interrupts, wanted);
	cJSON_Delete(profile);
	sample_set_free(set);
}

static void a_folder_that_takes_no_file_is_an_error(void **state)
{
	struct sample_set *set = sample_world_new(true);
	const char *before = getenv("TMPDIR");
	char *kept = before ? util_copy(before, strlen(before)) : NULL, *text, *error = NULL;
	size_t size;
	struct set_writing writing = { .to = util_text_open(&text, &size), .title = "t" };

	(void)state;
	setenv("TMPDIR", "/var/tmp/there is no such folder", 1);
	assert_false(set_format_named("firefox")->write(set, &writing, &error));
	assert_non_null(strstr(error, "No such file or directory; set TMPDIR"));
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	util_text_close(writing.to, &text);
	free(text);
	free(kept);
	free(error);
	sample_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_is_in_the_tracks_of_its_cpu_and_its_thread),
		cmocka_unit_test(trace_events_are_markers),
		cmocka_unit_test(interrupts_have_a_category),
		cmocka_unit_test(a_folder_that_takes_no_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
