/* SPDX-License-Identifier: MIT */
/*
 * All that the screen shows at one moment, made by the ingest thread, owned by whoever holds it.
 * Names in it are texts of symbols.h and threads.h, which outlive it.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/profiler.h"
#include "agent/query/query.h"
#include "agent/source/play.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"

struct decode;
struct epoch;
struct meter;
struct session_wish;

#define PICTURE_NOTES "\n"		/* between two remarks of a note */

/*
 * So many CPUs have a trend of their own, which is more than a screen has rows for. All further
 * ones have one together.
 */
enum { PICTURE_TRENDS = 128 };

struct cpu_trend {
	uint64_t mode[TABLE_TREND][MODES];
};

struct picture_cpu {
	bool sampler;			/* set aside to pace the others */
	bool enabled;
	struct cpu_series series;
	uint64_t lost;			/* samples */
};

struct picture_row {			/* what a visible row has beyond the table */
	uint32_t function;
	uint64_t trend[TABLE_TREND];
	const char *line;		/* NULL: not known yet */
};

struct picture_machine {		/* of a picture over all, as fleet.h makes it */
	char name[48];
	bool known;			/* a picture of it has come */
	bool running;			/* as picture_records has it */
	uint32_t cpu_count;
	enum link_state link;
	enum vm_state vm;
	uint64_t total;			/* of the selected function */
	struct epoch *epoch;		/* held, as the picture's own */
};

struct picture {
	uint32_t reader;		/* as the wish had it */
	bool brief;			/* without table, CPUs and rows */

	/* the guest */
	char name[64];			/* of the VM, as QEMU's user gave it; "": none */
	char kernel[64], version[64], arch[16];
	uint32_t cpu_count;
	uint64_t boot;			/* another number with each boot; of many machines 0 */
	uint64_t now, from;		/* guest ns; start of the window */
	enum link_state link;
	enum vm_state vm;
	struct play_state play;		/* of a recording */

	/* the profiler */
	bool running;			/* as the guest's own status says */
	enum kept_wish kept;
	enum sampler sampler;
	uint32_t rate;			/* asked, Hz per CPU */
	double achieved;		/* Hz per CPU, over the window, a minute at most */
	uint64_t lost_guest, lost_host;	/* samples since we listen */
	uint64_t lost_before;		/* by the guest, from its boot until then */
	uint64_t skipped_bytes;
	double cost_ns, cost_share;	/* the hook's own, per sample and of guest time */
	double ring_fill;		/* fullest ring, 0 to 1 */
	char note[1536];		/* what ails the connections, then as remarks.h makes it: a line each */

	struct filter filter;		/* of the table, as the wish had it */
	struct table *table;		/* sorted by nothing; NULL before the first */
	struct picture_cpu *cpus;	/* cpu_count of them */
	struct cpu_trend *trends;	/* that those refer to */
	struct picture_row *visible;
	size_t visible_count;
	struct caller callers[8];	/* of the selected function */
	size_t caller_count;
	struct caller inlined[4];	/* in the selected function, of `inlined_of` of its weight */
	size_t inlined_count;
	uint64_t inlined_of;
	uint32_t selected;

	struct picture_machine *machines;	/* machine_count of them; NULL: it is of one machine */
	size_t machine_count;

	const struct symbols *symbols;	/* for symbols_get, which any thread may call */
	uint64_t generation;		/* changes with everything that a screen would show */
	struct epoch *epoch;		/* held: keeps the texts; NULL before the first */
};

/* What a picture is made of; borrowed. */
struct picture_inputs {
	struct epoch *epoch;		/* NULL: no boot seen yet */
	const struct decode *decode;
	const struct meter *meter;
	const struct session_wish *wish;
	enum link_state link;
	enum vm_state vm;
	enum kept_wish kept;
	uint64_t boot;			/* how many epochs there were */
	const char *trouble;		/* as link_remark tells it */
	const char *name;		/* of the VM; NULL: none is known */
	struct play_state play;
	uint64_t generation;
};

/* Is a guest that says it is profiled profiled now: can it say so, and does its VM run? */
bool picture_records(bool running, enum link_state link, enum vm_state vm);

/* The question whose answer a picture shows, now. */
struct question picture_question(const struct epoch *epoch, const struct session_wish *wish);

struct picture *picture_new(const struct picture_inputs *inputs);
void picture_free(struct picture *picture);

#endif
