/* SPDX-License-Identifier: MIT */
/* Reports of a fixture's session, of a guest that does what it is told. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <stdint.h>

#include "agent/report/report.h"

struct fake_guest;
struct fixture;

/* What a true guest does while a report is made: obeys lines, samples while it is on. */
void report_fixture_live(struct fake_guest *guest);

/* Steps the report, its session and its guest until it is in that state. */
void report_fixture_until(struct fixture *fixture, struct report *report, enum report_state state);

/* A report that runs; its guest has come up, and is on. The second takes an hour, and has samples. */
struct report *report_fixture_begin(struct fixture *fixture, const struct report_request *request);
struct report *report_fixture_run_at(struct fixture *fixture, uint32_t rate);
struct report *report_fixture_run(struct fixture *fixture);

void report_fixture_finish(struct fixture *fixture, struct report *report);
uint64_t report_fixture_late(void);	/* for what the guest does in its time: no loaded host is so late */
char *report_fixture_text(struct report *report);	/* to be freed */

#endif
