/* SPDX-License-Identifier: MIT */
/* Files of a recording that end before the rest: a remark says which, how much earlier, and how much is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"
#include "recording_seen.h"

enum { TICKS = 1000, BEATS = 40, BEAT = 100, AT_ONCE = 5 };	/* a second; packets of a lane; ticks between them */

/* What the guest tells at a beat: how many events of a CPU it has taken. */
static void put_status(struct packets *packets, uint32_t cpu, uint64_t time, uint64_t taken)
{
	const struct ktop_wire_cpu_status wire = { .cpu = cpu, .stream = KTOP_SAMPLES, .enabled = 1, .taken = taken,
		.size = 65536 };
	struct body body = { .size = 0 };

	packets_begin(packets, KTOP_META, 0, time);
	body_fixed(&body, &wire, sizeof(wire));
	packets_event(packets, time, KTOP_EVENT_cpu_status, &body);
	packets_end(packets, time);
}

/* A guest that is recorded for four seconds, with so many CPUs, on which it takes events at each beat. */
static char *record_beats(const char *name, uint32_t cpus)
{
	struct packets *packets = packets_new(3);
	char *part;

	for (uint64_t beat = 1; beat <= BEATS; beat++) {
		recordings_guest(packets, beat * BEAT, TICKS);
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			recordings_missed(packets, cpu, beat * BEAT - AT_ONCE, AT_ONCE);
			put_status(packets, cpu, beat * BEAT, beat * AT_ONCE);
		}
	}
	recordings_write(scratch_path(name), packets);
	packets_free(packets);
	part = scratch_only(scratch_path(name));
	return part;
}

/* Cuts a lane behind so many of its packets, which are of equal size; `more` bytes of the next one stay. */
static void cut_lane(const char *part, const char *lane, uint64_t packets, uint64_t more)
{
	char *file = util_format("%s/%s", part, lane);

	assert_int_equal(truncate(file, (off_t)(size_of(file) / BEATS * packets + more)), 0);
	free(file);
}

static void check_remark(const char *name, const char *wanted)
{
	char *error = NULL, text[512];
	struct recording *recording = recording_new(scratch_path(name), &error);

	assert_non_null(recording);
	assert_string_equal(recording_remark(recording, 0, text, sizeof(text)), wanted);
	recording_free(recording);
}

/* Each file is cut at a place of its own: the remark says which CPU ends how much earlier than the rest. */
static void test_which_cpu_ends_early(void **state)
{
	char *part = record_beats("early", 4);

	(void)state;
	check_remark("early", "");
	cut_lane(part, "samples_1", 16, 7);
	cut_lane(part, "samples_3", 38, 0);	/* as much as may be on its way in any recording: nothing is said */
	check_remark("early", "left out of the recording, cut or damaged: 7 bytes; "
		"the samples of CPU 1 end 2.40 s before the rest, missing: 120");
	cut_lane(part, "samples_0", 39, 1);
	cut_lane(part, "samples_2", 0, 0);
	check_remark("early", "left out of the recording, cut or damaged: 8 bytes; "
		"the samples of CPU 2 end 3.90 s before the rest, missing: 195; "
		"the samples of CPU 1 end 2.40 s before the rest, missing: 120; "
		"the samples of CPU 0 end 0.10 s before the rest, missing: 5");
	free(part);
}

/* The guest goes on to take events of it. What it took before its first status may be older than the recording. */
static void test_a_file_is_not_there(void **state)
{
	char *part = record_beats("away", 2), *file = util_format("%s/samples_1", part);

	(void)state;
	assert_int_equal(remove(file), 0);
	check_remark("away", "the samples of CPU 1 end 3.90 s before the rest, missing: 195");
	free(file);
	file = util_format("%s/meta_0", part);
	assert_int_equal(remove(file), 0);
	check_remark("away", "what the guest says of itself is lost: names are missing");
	free(file);
	free(part);
}

/* What the guest says of itself is cut, too, so nobody knows how many samples are missing. */
static void test_which_cpu_ends_early_without_counts(void **state)
{
	char *part = record_beats("uncounted", 5);

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		char *lane = util_format("samples_%d", cpu);

		cut_lane(part, lane, (uint64_t)(30 - cpu), 0);
		free(lane);
	}
	cut_lane(part, "meta_0", 10, 0);
	check_remark("uncounted", "what the guest says of itself, such as names, ends 3.00 s before the rest; "
		"the samples of CPU 3 end 1.30 s before the rest; the samples of CPU 2 end 1.20 s before the rest; "
		"other files that end early: 2");
	free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_cpu_ends_early),
		cmocka_unit_test(test_a_file_is_not_there),
		cmocka_unit_test(test_which_cpu_ends_early_without_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
