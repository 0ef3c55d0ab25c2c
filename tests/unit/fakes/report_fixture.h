/* SPDX-License-Identifier: MIT */
/* Reports on a fixture's session. Its guest does what it is told. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include <stdint.h>

#include "agent/report/report.h"

struct fake_guest;
struct fixture;

/* What a real guest does while a report is made: obeys control lines, and samples while profiling is on. */
void report_fixture_live(struct fake_guest *guest);

/* Steps the report, its session and its guest until the report is in that state. */
void report_fixture_until(struct fixture *fixture, struct report *report, enum report_state state);

/* A running report; its guest is up, and profiling is on. The second lasts an hour, and has samples. */
struct report *report_fixture_begin(struct fixture *fixture, const struct report_request *request);
struct report *report_fixture_run_at(struct fixture *fixture, uint32_t rate);
struct report *report_fixture_run(struct fixture *fixture);

void report_fixture_finish(struct fixture *fixture, struct report *report);
uint64_t report_fixture_late(void);	/* a deadline for what the guest does: no loaded host is that late */
char *report_fixture_text(struct report *report);	/* the caller frees it */

#endif
