/* SPDX-License-Identifier: MIT */
/*
 * `ktop record`: turns the guest's profiler on as a report does (report.h), and records what comes, through all boots
 * of the guest, for a given guest time or until it is cut. The ingest thread makes all calls.
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
	const char *folder;		/* where to record to: one that recording_folder has made */
	uint64_t duration_ns;		/* guest time; 0: until recorder_cut, or until the VM is gone */
	uint64_t wait_ns;		/* host time to wait for the guest's first data */
	uint32_t part_mib, parts;	/* as in struct recording_options */
	bool raw_stacks;		/* what is sampled from outside stays as it comes */
	uint32_t rate;			/* Hz per CPU; 0: leave it as it is */
	int sampler;			/* of SAMPLER_CHOICES; -1: leave it as it is */
	uint64_t lead_ns;		/* guest time: only the last of it is recorded, at the end; 0: all is */
	const char *when;		/* what ends it: "panic", or "NAME>DURATION"; NULL: nothing of the guest's */
};

extern const struct recorder_request recorder_default;
extern const struct option_row recorder_options[];	/* they fill a struct recorder_request */

/* Borrows the texts of the request. */
struct recorder *recorder_new(struct session *session, const struct recorder_request *request);
void recorder_free(struct recorder *recorder);	/* sets the guest as it was before, if that is still to be done */

/* Call it after each session_step, until it returns true: the recording is over and written. */
bool recorder_step(struct recorder *recorder);
void recorder_cut(struct recorder *recorder, const char *why, uint64_t late);	/* as report_cut; borrows `why` */

/* Prints what was recorded. False with `error` set when less was recorded than was asked for. Call it once. */
bool recorder_write(struct recorder *recorder, FILE *out, char **error);

#endif
