/* SPDX-License-Identifier: MIT */
/*
 * How a machine is: its guest, its link and VM, its profiler, what was lost, what there is to remark, and what
 * its CPUs do. What stands at the top of a screen, and as a mark in a tab.
 */
#ifndef VITALS_H
#define VITALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/query.h"
#include "agent/source/play.h"
#include "answer.h"

#define VITALS_NOTES "\n"		/* between two remarks of a note */

/*
 * So many CPUs have a trend of their own, which is more than a screen has rows for. All further
 * ones have one together.
 */
enum { VITALS_OWN_TRENDS = 128 };

struct vitals_request {
	struct request request;		/* its filter does not matter */
	enum vitals_cpus { VITALS_NO_CPUS, VITALS_CPUS, VITALS_TRENDS } cpus;	/* the last: with a trend each */
};

struct cpu_trend {
	uint64_t mode[TABLE_TREND][MODES];
};

struct cpu_vitals {
	bool sampler;			/* set aside to pace the others */
	bool enabled;
	struct cpu_series series;	/* without a trend, unless asked for */
	uint64_t lost;			/* samples */
};

struct machine_vitals {			/* of those over all, as fleet.h makes them */
	char name[48];
	bool known;			/* some of it have come */
	bool running;			/* as vitals_record has it */
	uint32_t cpu_count;
	enum link_state link;
	enum vm_state vm;
};

struct vitals {
	struct answer answer;

	/* the guest */
	char name[64];			/* of the VM, as QEMU's user gave it; "": none */
	char kernel[64], version[64], arch[16];
	uint32_t cpu_count;
	uint64_t now;			/* guest ns */
	enum link_state link;
	enum vm_state vm;
	struct play_state play;		/* of a recording */

	/* the profiler */
	bool running;			/* as the guest's own status says */
	bool unsampled;			/* not a sample of this boot has come: no window has any */
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

	struct cpu_vitals *cpus;	/* cpu_count of them; NULL: not asked for, or not known */
	struct cpu_trend *trends;	/* that those refer to */

	struct machine_vitals *machines;	/* machine_count of them; NULL: of one machine */
	size_t machine_count;
};

extern const struct answer_kind vitals_kind;

/* Is a guest that says it is profiled profiled now: can it say so, and does its VM run? */
bool vitals_record(bool running, enum link_state link, enum vm_state vm);

struct vitals *vitals_new(const struct vitals_request *request, const struct moment *moment);
void vitals_free(struct vitals *vitals);

#endif
