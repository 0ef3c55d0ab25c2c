/* SPDX-License-Identifier: MIT */
/* What has to be known of a profile besides its table, as members of a JSON object: of a report, or of a snapshot. */
#ifndef PROFILE_FACTS_H
#define PROFILE_FACTS_H

#include <stdint.h>

struct epoch;
struct json_writer;
struct profile;
struct status;

struct profile_facts {
	struct epoch *epoch;
	const struct profile *profile;
	const struct status *status;	/* of the profiler at the end of the range */
	uint64_t begin;			/* guest ns: losses before it are none of this profile's */
	uint64_t from, to;		/* guest ns */
	const char *note;		/* "": none */
};

/* Ingest thread. */
void profile_facts_json(const struct profile_facts *facts, struct json_writer *writer);

#endif
