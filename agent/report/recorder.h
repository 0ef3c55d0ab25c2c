/* SPDX-License-Identifier: MIT */
/*
 * A recording for its own sake: the guest's profiler is on as for a report (report.h), through all its
 * boots, for so much guest time or until it is cut; what comes is recorded. Lives in the thread that
 * drives the session.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/base/options.h"

struct recorder;
struct session;

struct recorder_request {
	const char *folder;		/* of record_folder */
	uint64_t duration_ns;		/* guest time; 0: until it is cut, or the machine is gone */
	uint64_t wait_ns;		/* host time, for a guest that says nothing */
	uint32_t part_mib, parts;	/* as struct record_options has them */
	uint32_t rate;			/* 0: as it is */
	int sampler;			/* enum sampler; -1: as it is */
};

extern const struct recorder_request recorder_default;
extern const struct option_row recorder_options[];	/* of a struct recorder_request */

/* The texts of the request are borrowed. */
struct recorder *recorder_new(struct session *session, const struct recorder_request *request);
void recorder_free(struct recorder *recorder);	/* gives back to the guest what it has not yet */

/* To be called after each session_step until it is true: it is over, and written. */
bool recorder_step(struct recorder *recorder);
void recorder_cut(struct recorder *recorder, const char *why, uint64_t late);	/* as report_cut */

/* What was recorded. False with `error` set when that is not what was asked for. */
bool recorder_write(struct recorder *recorder, FILE *out, char **error);

#endif
