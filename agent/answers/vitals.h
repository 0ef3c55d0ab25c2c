/* SPDX-License-Identifier: MIT */
/*
 * The state of a machine: its guest, link, VM, profiler, losses, remarks, and what its CPUs do. The screen's header
 * and the marks in the tabs show it.
 */
#ifndef VITALS_H
#define VITALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/boot_marks.h"
#include "agent/query/query.h"
#include "agent/source/play.h"
#include "answer.h"

#define VITALS_NOTES "\n"		/* separates the remarks of a note */

/*
 * So many CPUs have a trend of their own, which is more than a screen has rows for. All further CPUs share one trend.
 */
enum { VITALS_OWN_TRENDS = 128 };

struct vitals_request {
	struct request request;		/* its filter is ignored */
	enum vitals_cpus { VITALS_NO_CPUS, VITALS_CPUS, VITALS_TRENDS } cpus;	/* none, CPUs, CPUs with trends */
};

struct cpu_trend {
	uint64_t mode[TABLE_TREND][MODES];
};

struct cpu_vitals {
	bool sampler;			/* it is set aside to pace the others */
	bool enabled;			/* it is sampled */
	struct cpu_series series;	/* its trend points into `trends`; NULL: not asked for */
	uint64_t lost;			/* samples lost, as in the books */
};

struct machine_vitals {			/* one machine of many; made by fleet.h */
	char name[48];
	bool known;			/* its vitals have come; if not, only the name counts */
	bool running;			/* vitals_record of this machine */
	bool unsampled;			/* its sampler is none */
	uint32_t cpu_count;
	enum link_state link;
	enum vm_state vm;
};

struct vitals {
	struct answer answer;

	/* the guest */
	char name[64];			/* the VM's name, by QEMU's -name; "": none */
	char tab[48];			/* its tab's, which begins with its number; whoever has tabs fills it in */
	char kernel[64], version[64], arch[16];
	uint32_t cpu_count;
	uint64_t now;			/* guest ns */
	struct uptime up;		/* over many machines all 0 */
	uint64_t oldest;		/* guest ns from which on something is kept; 0 over many machines */
	uint64_t from, to;		/* guest ns: where a moved or frozen window really lies; 0: it is live */
	struct boot_times boot;		/* guest ns */
	enum link_state link;
	enum link_by by;
	enum vm_state vm;
	bool read_dead;			/* its memory was read when it answered no more */
	struct play_state play;		/* of a replay */

	/* the profiler */
	bool running;			/* as the guest's own status says; false if the link is neither up nor silent */
	bool unsampled;			/* no sample of this boot has come, so no window has one */
	enum kept_wish kept;
	enum sampler sampler;
	uint32_t rate;			/* the rate that is set, Hz per CPU */
	double achieved;		/* the real rate, Hz per CPU, over the window, or a minute; < 0: not known */
	uint64_t lost_guest, lost_host;	/* samples lost by the guest and by the host, since ktop listens */
	uint64_t lost_before;		/* samples from before that: lost by the guest, or left out (beginning.h) */
	uint64_t skipped_bytes;
	double cost_ns, cost_share;	/* the hook's: ns per sample, its share of guest time, 0 to 1; 0: not known */
	struct {			/* trace events */
		bool on;		/* some are on now */
		double rate;		/* a second, of all CPUs, as `achieved` */
		double cost_share;	/* the hook's cost: its share of guest time, 0 to 1; over many machines 0 */
		uint64_t lost;		/* since ktop listens */
	} events;
	double ring_fill;		/* of the fullest ring, 0 to 1 */
	char note[1536];		/* remarks, one per line: first on the connections, then those of remarks.h */

	struct cpu_vitals *cpus;	/* cpu_count of them; NULL: not asked for, or not known */
	struct cpu_trend *trends;	/* what cpus[].series.trend points into */

	struct machine_vitals *machines;	/* machine_count of them; NULL: one machine */
	size_t machine_count;
};

extern const struct answer_kind vitals_kind;	/* until the guest is known, it tells of the connections alone */

/*
 * The guest answers no more, since its kernel has panicked or hangs, or the machine was shut down; and its hook may
 * have left what was not read yet (session_read_dead).
 */
bool vitals_are_dead(const struct vitals *vitals);

/* True: samples are being taken now. The guest says that it is profiled, the link is up, and the VM runs. */
bool vitals_record(bool running, enum link_state link, enum vm_state vm);

struct epoch;

struct vitals_cost {			/* of the hook, as the guest has told it, for samples or trace events */
	double ns, share;		/* ns for each; the share of guest time, 0 to 1; 0: it has told nothing */
};

struct vitals_cost vitals_cost(const struct epoch *epoch, enum stream stream);

#endif
