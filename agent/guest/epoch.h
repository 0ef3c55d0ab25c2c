/* SPDX-License-Identifier: MIT */
/*
 * One boot of the guest: what the guest told of itself, and what was sampled. Addresses, threads and times of one boot
 * are never mixed with those of another. Answers point to texts of the epoch; each of them holds the epoch, which is
 * freed after the last. Any thread may hold and release. All else belongs to the ingest thread.
 */
#ifndef EPOCH_H
#define EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/question.h"
#include "agent/wire/beginning.h"
#include "agent/wire/event.h"
#include "boot_marks.h"
#include "uptime.h"

struct guest_events;
struct guest_memory;
struct raw_samples;
struct raw_stack;
struct kernel_code;
struct kernel_reading;
struct kernel_watch;
struct listings;
struct packet;
struct sample_log;
struct trace;

enum { EPOCH_KEYS = 16, EPOCH_LOSSES = 16 };

struct epoch_loss {
	uint64_t count, at;			/* a count of losses, and the guest ns at which it was seen to grow */
};

struct epoch_cpu {
	struct cpu_status told[STREAMS];	/* the newest status; size 0: none has come */
	uint64_t left_out, left_out_before;	/* by the guest's filters, since boot; when that was told first */
	bool leaves_out;			/* that was told */
	uint64_t lost_before[STREAMS];		/* `lost` of the first status: what was lost before ktop listened */
};

struct epoch {
	atomic_uint holders;
	uint8_t boot_id[16];
	uint64_t number;			/* of this boot in its session, from 1 on; by session.c */
	struct sample_log *log;			/* of each sample with its own time; NULL: nobody wants it */
	struct query_inputs inputs;		/* store, stacks, symbols, threads: the epoch owns them; its budget */
	struct query *query;

	/* what the guest told; texts are printable */
	bool known;				/* EVENT_GUEST has come: clock and kernel are known */
	char kernel[64], version[64], arch[16];	/* `kernel` is part of the names of its functions (tree_name) */
	uint32_t cpu_count;
	uint64_t period;			/* ns between two samples of a CPU; 0: not known */
	uint64_t began;				/* Unix ns when its clock was 0; 0: not known */
	uint64_t clock_hz;			/* ticks of the guest's clock per second; 1 GHz while unknown */
	bool clock_told;			/* the guest itself knows it; else it is measured against the host's: */
	struct clock_measure {
		uint64_t from, to;		/* host ns; 0: not begun */
		uint64_t from_ticks, to_ticks;	/* the newest ones then */
	} measure;
	bool status_known;
	struct status status;			/* the newest; its note points to `note` */
	/* The newest by which samples were taken, else by which the profiler ran; without its note. */
	struct status sampled;
	uint32_t sampler;			/* the CPU that is set aside to pace the others; EVENT_NONE: none */
	char note[256];
	char filters[1025];			/* of trace events, as a control line has them; "": all are told */
	bool tracing_told;			/* what it traces was told; before, it traced what it traced then */
	bool memory_traced;			/* its allocators tell all that they do */
	bool tables_told;			/* EVENT_TABLE has come; older hooks have status.meta_lost alone */
	struct table_fill tables[TABLES];	/* how full the hook's tables are; all 0: nothing is missing */
	uint8_t keys_on[EPOCH_KEYS], keys_off[EPOCH_KEYS];
	size_t keys_on_count, keys_off_count;

	uint64_t ticks;				/* the newest time of the guest's clock */
	uint64_t taken, span;			/* of all sampled CPUs: samples, and the clock ticks that these cover */
	uint64_t traced;			/* trace events of all CPUs, also those that were lost */
	uint64_t counted;			/* how often the guest told a ring's counts again */
	uint32_t tracing;			/* on so many CPUs, trace events are on */
	uint64_t untimed;			/* weight that came before `known`: without a time, in no slice */
	struct beginning beginning;		/* since when somebody listens */
	uint64_t before;			/* ticks at which the boot before was reset; 0: that was not seen */
	bool played;				/* a recording tells that: its first packets are older */
	uint64_t leftovers;			/* events from before: received, and left out */
	uint32_t cpus_seen, cpu_room;		/* used and allocated entries of cpus[] */
	uint64_t cpus_refused;			/* events of CPUs that the budget had no room for */
	struct epoch_cpu *cpus;
	struct guest_events *events;
	struct trace *trace;			/* what its trace events say took time */
	struct kernel_code *code;		/* unwinds the stacks of raw samples */
	struct guest_memory *memory;		/* the guest's, as far as it was asked for */
	uint64_t memory_names;			/* the symbols' generation, when a VM's memory was read last */
	struct kernel_reading *reading;	/* reads the kernel's names out of that memory, where no file has them */
	struct kernel_watch *watch;		/* finds in that memory where the kernel runs, and its modules */
	struct listings *listings;		/* the code of functions that are looked at */
	struct raw_samples *held;		/* raw samples whose names and tables are still to come */
	struct boot_marks marks;		/* of raw samples */
	bool told;				/* the guest itself sends the names of its kernel's functions */
	char remark[256];			/* why no file gives these names; "": one does. By session.c */
	bool starved;				/* memory was short for something that the guest told */
	uint64_t retry_at, retry_pause;		/* host ns: the next retry, and the pause after it */
	char refused[160];			/* why the kernel's file was refused; "": it was not */
	struct epoch_loss losses[EPOCH_LOSSES];	/* remarks.c writes these, and says which is which */
	char *folders[2];			/* where programs' files are looked for; ends with NULL */
};

/*
 * The most bytes that an answer may keep for each CPU, and for the trend of each of the first EPOCH_TRENDS CPUs. The
 * epoch takes them from the budget, so that no answer lacks memory. vitals.c asserts that its structs fit.
 */
enum { EPOCH_ANSWER_CPU = 64, EPOCH_ANSWER_TREND = 1440, EPOCH_TRENDS = 128 };

/*
 * `boot_id`: 16 bytes. `image`: the path of the kernel's file, or NULL. It is not read here: programs' files are looked
 * for in its folder. The caller holds the new epoch.
 */
struct epoch *epoch_new(const uint8_t *boot_id, const char *image, struct budget *budget);

struct epoch *epoch_hold(struct epoch *epoch);	/* any thread; returns the epoch; NULL is allowed */
void epoch_release(struct epoch *epoch);	/* any thread; the last holder frees; NULL is allowed */

/* What a recording tells beforehand: the guest's facts, and since when somebody listened. */
void epoch_introduce(struct epoch *epoch, const struct guest *guest, const struct beginning *beginning);
/* Takes 1 to DECODE_EVENTS events of one CPU, as decode.h gives them. */
void epoch_events(struct epoch *epoch, const struct event *events, size_t count);
void epoch_packet(struct epoch *epoch, const struct packet *packet);	/* it begins: its events come next */
void epoch_over(struct epoch *epoch);	/* nothing more comes: what waits for later trace events does not */
void epoch_ticks(struct epoch *epoch, uint64_t ticks);	/* a packet ends at this time: epoch_now moves on */

/*
 * Call it often. Once memory is free again, and a pause is over, it tries again what failed for want of memory. True:
 * for that, the guest has to send all its meta events again. `now`: host ns.
 */
bool epoch_retry(struct epoch *epoch, uint64_t now);

/* Measures the clock of a live guest that does not know how fast it runs. To be called often. `now`: host ns. */
void epoch_measure_clock(struct epoch *epoch, uint64_t now);

/* Hz, and the most that it may be wrong by. False: it is told, or too early to say. */
bool epoch_measured_clock(const struct epoch *epoch, uint64_t *hz, uint64_t *error);

/*
 * Call it often. Samples that waited for names and tables are walked, and counted at their time, as far as these have
 * come; `all`: nothing more comes. True: some were.
 */
bool epoch_walk_held(struct epoch *epoch, bool all);
/* Walks the stack of a raw sample, which counts nowhere by that. `look`: as in raw_samples_state. */
enum raw_state epoch_walk(struct epoch *epoch, struct event *event, uint64_t look, struct raw_stack *stack);
bool epoch_awaits(const struct epoch *epoch, uint64_t before);	/* some from before that time wait; guest ns */

/*
 * From now on each sample is also kept with its own time, for one who wants it. False: another one does. The end gives
 * the log to the caller. Ingest thread.
 */
bool epoch_log_begin(struct epoch *epoch);
struct sample_log *epoch_log_end(struct epoch *epoch);

/*
 * The kernel's name and version, to be shown: as the guest told them; of a guest that tells no version, as its Linux
 * kernel's file or memory does. They last as long as the epoch.
 */
const char *epoch_kernel(const struct epoch *epoch);
const char *epoch_version(const struct epoch *epoch);

/* Since when the guest is up, and from when on times count that a person reads. */
struct uptime epoch_uptime(const struct epoch *epoch);

/* Guest ns from which on samples or spans of trace events are kept; UINT64_MAX: neither are. */
uint64_t epoch_kept_from(const struct epoch *epoch);

struct boot_times epoch_boot(const struct epoch *epoch);	/* in guest ns */
uint64_t epoch_ns(const struct epoch *epoch, uint64_t ticks);	/* ticks of the guest's clock as guest ns */
uint64_t epoch_left_out(const struct epoch *epoch);	/* of all CPUs, since ktop listens */
uint64_t epoch_now(const struct epoch *epoch);	/* guest ns; 0 while the clock is unknown */

/* ---- rates ---- */

/*
 * The real sampling rate of a CPU, by the guest's own counts and clock, over the last seconds or at most the last
 * minute. It does not matter when the samples reach the host.
 */

enum { METER_POINTS = 256, METER_STEP_MS = 250 };

struct meter_point {
	uint64_t time;			/* guest ns */
	uint64_t taken;			/* samples so far, of all CPUs */
	uint64_t span;			/* ns for which CPUs were sampled so far, all CPUs added up */
	uint64_t traced;		/* trace events so far, of all CPUs */
	uint64_t counted;		/* as in struct epoch */
};

struct meter {
	struct meter_point points[METER_POINTS];	/* oldest first */
	size_t used;
};

/* May be called at any time; keeps one point per METER_STEP_MS. If the clock or a count goes back, it begins anew. */
void meter_add(struct meter *meter, const struct meter_point *point);
void meter_clear(struct meter *meter);	/* forgets all points */

/* Samples per second and CPU over `window` ns up to the newest point; `window` 0: all points. Negative: not known. */
double meter_rate(const struct meter *meter, uint64_t window);
double meter_traced(const struct meter *meter, uint64_t window);	/* likewise, trace events, of all CPUs */

#endif
