/* SPDX-License-Identifier: MIT */
/* A session whose thread must not wait, and a bound for what it may take. */
#ifndef WATCHED_H
#define WATCHED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/fake_guest.h"
#include "no_waits.h"
#include "tests/unit/fakes/session_fixture.h"

static inline void check_no_waits(const char *what, int number)
{
	if (no_waits_seen())
		fail_msg("%s %d: %s may wait", what, number, no_waits_seen());
}

static const uint64_t PATIENCE_NS = 30 * NS_PER_SECOND;	/* the bound of waits for what has to come */

static inline uint64_t bytes_of(const struct fixture *fixture)
{
	return decode_counts(session_decode(fixture->session)).bytes;
}

/* As fixture_step. */
static inline void watched_step(struct fixture *fixture)
{
	fake_guest_beat(fixture->guest, 1);
	fake_guest_step(fixture->guest);
	no_waits_begin(1);
	session_step(fixture->session, FIXTURE_STEP_MS);
	no_waits_end();
	usleep(FIXTURE_STEP_MS * 1000);
}

#endif
