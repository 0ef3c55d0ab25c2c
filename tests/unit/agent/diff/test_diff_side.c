/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/diff/diff_request.h"
#include "agent/samples/sample_set.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

/* A recording: so many samples 1 ms apart of one function, then of another, each of which stands for HEAVY periods. */
enum { EARLY = 1000, LATE = 1000, HEAVY = 3, EARLY_AT = 0x2000, LATE_AT = 0x3000, CALLER_AT = 0x4000, SIZE = 0x100 };

static void put_boot(struct fake_guest *guest)
{
	fake_guest_facts(guest, NULL, 0);
	fake_guest_symbol(guest, EARLY_AT, SIZE, "early");
	fake_guest_symbol(guest, LATE_AT, SIZE, "late");
	fake_guest_symbol(guest, CALLER_AT, SIZE, "caller");
	fake_guest_status(guest, true);
	for (int i = 0; i < EARLY; i++)
		fake_guest_sample(guest, 0, 1, EARLY_AT + 8, CALLER_AT + 8);
	for (int i = 0; i < LATE; i++)
		fake_guest_sample(guest, 1, HEAVY, LATE_AT + 8, CALLER_AT + 8);
	fake_guest_status(guest, false);
	fake_guest_counts(guest);
}

static const char *record(const char *name, int boots)
{
	struct fake_guest *guest = fake_guest_new(scratch_path("port"));

	for (int boot = 1; boot <= boots; boot++) {
		packets_boot(guest->packets, (uint8_t)boot);
		put_boot(guest);
	}
	recordings_write(scratch_path(name), guest->packets);
	fake_guest_free(guest);
	unlink(scratch_path("port"));
	return scratch_path(name);
}

static uint64_t weight_of(const struct sample_set *set, const char *name)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i < set->sum_count; i++)
		if (strcmp(sample_set_leaf(set, set->sums[i].stack)->name, name) == 0)
			weight += set->sums[i].weight;
	return weight;
}

/* `words` is freed. The caller clears the side. */
static struct diff_side reads(char *words, const char *filter)
{
	struct diff_side side;
	char *error = NULL;

	if (!diff_side_read(&side, words, &(struct diff_side_options) { .filter = filter }, NULL, &error))
		fail_msg("%s", error);
	assert_string_equal(side.name, words);
	side.name = "";
	free(words);
	return side;
}

static void refuses(char *words, const char *filter, const char *why)
{
	struct diff_side side;
	char *error = NULL;

	assert_false(diff_side_read(&side, words, &(struct diff_side_options) { .filter = filter }, NULL, &error));
	assert_non_null(strstr(error, why));
	diff_side_clear(&side);
	free(error);
	free(words);
}

static void a_recording_has_samples_and_weights(void **state)
{
	struct diff_side side = reads(util_format("%s", record("one", 1)), NULL);

	(void)state;
	assert_int_equal(side.set->samples, EARLY + LATE);
	assert_int_equal(side.set->weight, EARLY + HEAVY * LATE);
	assert_int_equal(weight_of(side.set, "early"), EARLY);
	assert_int_equal(weight_of(side.set, "late"), HEAVY * LATE);
	diff_side_clear(&side);
}

static void a_range_has_what_is_in_it(void **state)
{
	const char *folder = record("range", 1);
	struct diff_side first = reads(util_format("%s@..+0.75", folder), NULL);
	struct diff_side last = reads(util_format("%s@-0.75..", folder), NULL);

	(void)state;
	assert_int_equal(first.set->weight, first.set->samples);
	assert_int_equal(weight_of(first.set, "early"), first.set->weight);
	assert_in_range(first.set->samples, 500, EARLY);
	assert_int_equal(weight_of(last.set, "late"), last.set->weight);
	assert_int_equal(last.set->weight, HEAVY * last.set->samples);
	assert_in_range(last.set->samples, 500, LATE);
	assert_true(first.set->facts.from < first.set->facts.to && first.set->facts.to < last.set->facts.from);
	diff_side_clear(&first);
	diff_side_clear(&last);
	refuses(util_format("%s@50..60", folder), NULL, "@50..60: no report: nothing is kept in this range: ");
}

static void a_filter_chooses(void **state)
{
	const char *folder = record("filter", 1);
	struct diff_side side = reads(util_format("%s", folder), "cpu:1");

	(void)state;
	assert_int_equal(side.set->samples, LATE);
	assert_int_equal(weight_of(side.set, "late"), side.set->weight);
	diff_side_clear(&side);
	refuses(util_format("%s", folder), "mode:user", ": no report: no sample passes the filter; take another");
}

/* Only the folder itself can be opened. */
static void that_files_cannot_be_opened_is_said(void **state)
{
	const char *folder = record("closed", 1);
	struct rlimit before, few;
	struct recording *recording;
	char *error = NULL;
	int next = dup(0);

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)next + 1;
	close(next);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	recording = recording_new(folder, &error);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(recording);
	assert_non_null(strstr(error, ": not read: Too many open files; let ktop have more files (ulimit -n)"));
	free(error);
}

static void of_several_boots_the_first_counts_and_a_note_says_so(void **state)
{
	struct diff_side side = reads(util_format("%s", record("boots", 3)), NULL);

	(void)state;
	assert_int_equal(side.set->samples, EARLY + LATE);
	assert_non_null(strstr(side.note, "this is boot 1 of 3 in the recording"));
	diff_side_clear(&side);
}

static void expect_stacks(const char *name)
{
	struct diff_side side = reads(util_format("%s", scratch_text(name, "main;work 3\nmain;idle 4\n")), NULL);

	assert_int_equal(side.set->samples, 7);
	assert_null(side.note);
	diff_side_clear(&side);
	assert_null(side.set);
}

static void what_is_there_by_its_name_has_no_range(void **state)
{
	(void)state;
	expect_stacks("old.folded");
	expect_stacks("old@1..2");
	expect_stacks("@..");
	expect_stacks("me@home");
}

static void a_file_of_stacks_has_no_times(void **state)
{
	const char *path = scratch_text("new.folded", "main 1\n");

	(void)state;
	refuses(util_format("%s@1..2", path), NULL, "@1..2: not read: a file of stacks has no times; leave out");
	refuses(util_format("%s@..", path), NULL, "a file of stacks has no times");
	refuses(util_format("%s", path), "cpu:0", "--filter: without effect: ");
}

static void a_wrong_time_is_told(void **state)
{
	const char *path = scratch_path(".");

	(void)state;
	refuses(util_format("%s@x..2", path), NULL, "@x..2: not read: not a time; give 90, ");
	refuses(util_format("%s@1..1:2:3:4", path), NULL, "not a time");
	refuses(util_format("%s@1..2..3", path), NULL, "not a time");
}

static void what_is_no_recording_is_told(void **state)
{
	const char *path = scratch_path("empty");

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	refuses(util_format("%s", path), NULL, "there is no packet of a guest in it; name the folder of a");
	refuses(util_format("%s@-30..", path), NULL, "there is no packet of a guest in it; name the folder of");
	refuses(util_format("%s/nothing", path), NULL, "/nothing: not read: No such file or directory; name a rec");
	refuses(util_format("%s/nothing@1..2", path), NULL, "/nothing: not read: No such file or directory; name a");
	refuses(util_format("%s/nothing@1-2", path), NULL, "/nothing@1-2: not read: No such file or directory");
}

static bool is_known(int format, const char *file)
{
	struct diff_request request = diff_request_default;
	char *error = NULL;
	bool known;

	request.format = format;
	request.file = file;
	known = diff_request_check(&request, &error);
	assert_int_equal(known, !error);
	free(error);
	return known;
}

static void a_file_has_to_name_its_format(void **state)
{
	(void)state;
	assert_true(is_known(-1, NULL));
	assert_true(is_known(-1, "a.json"));
	assert_true(is_known(-1, "a.svg.txt"));
	assert_true(is_known(-1, "a.svg"));
	assert_true(is_known(-1, "a.html"));
	assert_false(is_known(-1, "a.png"));
	assert_false(is_known(-1, "json"));
	assert_false(is_known(-1, "a.json/diff"));
	assert_true(is_known(0, "a.svg"));
	assert_true(is_known(1, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_has_samples_and_weights),
		cmocka_unit_test(a_range_has_what_is_in_it),
		cmocka_unit_test(a_filter_chooses),
		cmocka_unit_test(that_files_cannot_be_opened_is_said),
		cmocka_unit_test(of_several_boots_the_first_counts_and_a_note_says_so),
		cmocka_unit_test(what_is_there_by_its_name_has_no_range),
		cmocka_unit_test(a_file_of_stacks_has_no_times),
		cmocka_unit_test(a_wrong_time_is_told),
		cmocka_unit_test(what_is_no_recording_is_told),
		cmocka_unit_test(a_file_has_to_name_its_format),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
