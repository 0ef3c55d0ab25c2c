/* SPDX-License-Identifier: MIT */
/* A guest that does not know how fast its clock runs: that is said, and measured against the host's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/wire/event.h"

enum { MHZ = 2400 };			/* ticks in a us of the host */

static struct epoch *begin(uint64_t clock_hz)
{
	static const uint8_t boot_id[16] = { 1 };
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = { .cpus = 1, .clock_hz = clock_hz } };

	epoch_events(epoch, &guest, 1);
	return epoch;
}

/* A packet of each 50 ms of the host's time from `from` to `to` ms. */
static void run(struct epoch *epoch, uint64_t from, uint64_t to)
{
	for (uint64_t ms = from; ms < to; ms += 50) {
		epoch_ticks(epoch, ms * 1000 * MHZ);
		epoch_measure_clock(epoch, ms * NS_PER_MS);
	}
}

static bool remarks_say(struct epoch *epoch, const char *what)
{
	char text[REMARKS_SIZE];

	return strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), what);
}

static void an_unknown_clock_is_measured(void **state)
{
	struct epoch *epoch = begin(0);
	uint64_t hz, error;

	(void)state;
	assert_true(remarks_say(epoch, "does not know how fast its clock runs: times are as if at 1 GHz"));
	run(epoch, 1000, 1500);
	assert_false(epoch_measured_clock(epoch, &hz, &error));		/* too early */
	run(epoch, 1500, 11050);
	assert_true(epoch_measured_clock(epoch, &hz, &error));
	assert_int_equal(hz, UINT64_C(1000000) * MHZ);
	assert_int_equal(error, hz / 100);				/* 100 ms of 10 s */
	assert_true(remarks_say(epoch, "by the host's clock it runs at 2400 MHz, within 1 %"));
	run(epoch, 60000, 60500);					/* it has stood still meanwhile */
	assert_false(epoch_measured_clock(epoch, &hz, &error));
	epoch_release(epoch);
}

static void a_known_clock_is_not_measured(void **state)
{
	struct epoch *epoch = begin(NS_PER_SECOND);
	uint64_t hz, error;

	(void)state;
	run(epoch, 1000, 11000);
	assert_false(epoch_measured_clock(epoch, &hz, &error));
	assert_false(remarks_say(epoch, "clock"));
	epoch_release(epoch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_clock_is_measured),
		cmocka_unit_test(a_known_clock_is_not_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
