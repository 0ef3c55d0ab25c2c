/* SPDX-License-Identifier: MIT */
/*
 * One function's code, with the samples on each instruction in an excerpt: the view Annotate asks for it, and
 * `report --annotate`. It is partial while code or lines are still being read.
 */
#ifndef ANNOTATION_H
#define ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/change.h"
#include "agent/wire/event.h"
#include "answer.h"

struct listing;
struct listing_row;
struct symbols;

struct annotation_request {
	struct request request;		/* its excerpt's `by` is ignored */
	uint64_t function;		/* its tree_name (agent/query/tree/tree.h); 0: none */
};

struct annotation_heat {
	uint64_t weight, samples;
};

struct annotation_base {		/* the baseline: another range, under the same filter */
	bool there;
	struct annotation_heat *heat;	/* by instruction of the listing */
	struct annotation_heat self;	/* all of the function's */
	uint64_t weight, samples;	/* of all that passes the filter */
};

struct annotation {
	struct answer answer;
	char kernel[64];		/* the guest's kernel; of a fleet, that of `machine`; "": not known */
	const struct symbols *called;	/* of that guest: in these, the ids of the listing are; NULL: no listing */
	char machine[64];		/* of a fleet: the machine whose code this is; "": there is one machine */
	struct filter filter;		/* the request's */
	uint64_t of;			/* likewise: `function` */
	uint32_t function;		/* its id; FUNCTION_NONE: no such function is known so far */
	struct listing *listing;	/* held; NULL: not known (yet) */
	uint64_t bias;			/* run address minus link address of the listing */
	struct annotation_heat *heat;	/* by instruction of the listing */
	struct annotation_heat self;	/* all of the function's */
	struct annotation_heat elsewhere;	/* the part that is at no instruction of the listing */
	uint64_t weight, samples;	/* of all that passes the filter */
	struct annotation_base base;
	uint64_t mode[MODES];
	uint64_t time;			/* the ns of CPU behind the weight, where the period was known */
	uint64_t from, to;		/* as in struct table (agent/query/table.h) */
	const char *lacks;		/* what the listing lacks, and what to do; "": nothing */
};

extern const struct answer_kind annotation_kind;

/* The tree_name of the function that an instruction calls or jumps to; 0: it does not, or that is not known. */
uint64_t annotation_callee(const struct annotation *annotation, uint32_t instruction);

/* The instruction with the most weight. LISTING_NONE: none has any. */
uint32_t annotation_hottest(const struct annotation *annotation);

/* The weight of a row of the listing (agent/code/listing.h). */
struct annotation_heat annotation_row(const struct annotation *annotation, const struct listing_row *row);

/* How a row's share of the function, and the function's share of all, have changed since the baseline. */
struct change annotation_row_change(const struct annotation *annotation, const struct listing_row *row);
struct change annotation_self_change(const struct annotation *annotation);

/* The weight of a line of the function's own file, with what is inlined there. */
struct annotation_heat annotation_line(const struct annotation *annotation, uint32_t line);

#endif
