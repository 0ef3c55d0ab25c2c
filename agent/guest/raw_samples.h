/* SPDX-License-Identifier: MIT */
/* Raw samples, which are taken from outside the guest: they become samples as the hook would have sent them. */
#ifndef RAW_SAMPLES_H
#define RAW_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"

struct budget;
struct kernel_code;
struct kernel_reading;
struct kernel_watch;
struct symbols;

struct raw_stack {
	struct sample sample;		/* its frames point into `frames`: never copy this struct */
	struct unwound frames;
};

/* Unwinds the raw sample's stack. Fills `stack`. */
void raw_samples_read(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack);

/*
 * The samples whose names and tables are still to come. A sample that is taken before these would have a short stack,
 * or none of its names, for ever. So it is kept raw, and is walked once what it lacks has come, or once it is known
 * that it will not come. It goes by what is being read, not by the clock. Memory is bounded: samples that find no room
 * are walked as they are, and counted. Ingest thread.
 */
struct raw_samples;

/* Takes a sample that waits no longer, and its stack. Both are valid during the call only. */
typedef void raw_taker(void *context, const struct event *event, struct raw_stack *stack);

struct raw_inputs {			/* all borrowed */
	struct symbols *symbols;
	struct kernel_code *code;
	const struct kernel_reading *reading;
	const struct kernel_watch *watch;
	struct budget *budget;
};

struct raw_samples *raw_samples_new(const struct raw_inputs *inputs);
void raw_samples_free(struct raw_samples *held);

/* The kernel's file is being read on the host: no names are known before. */
void raw_samples_file_comes(struct raw_samples *held, bool comes);

/*
 * A sample has come. By these it is known for how long others wait for their process, and to whom page tables belong:
 * to one process, if all samples with these tables tell that one.
 */
void raw_samples_met(struct raw_samples *held, const struct raw_sample *raw);

/* raw_samples_read. If it does not tell its thread, it gets the process of its page tables first, as `owner`. */
void raw_samples_walk(struct raw_samples *held, struct raw_sample *raw, struct raw_stack *stack);

/*
 * True: the sample waits, and was copied. `stack`: what the walk finds now. `wanted`: the files of its process are to
 * be looked for.
 */
bool raw_samples_keep(struct raw_samples *held, const struct event *event, const struct raw_stack *stack,
	bool wanted);

enum raw_state {			/* of a walk */
	RAW_WAITS,			/* names, tables or files for it are still to come */
	RAW_UNKNOWN,			/* nobody knows them: whoever has more of them later can do better */
	RAW_KNOWN,			/* it has found all that there is */
};

/* `look`: the number of the first look that began after the sample. */
enum raw_state raw_samples_state(const struct raw_samples *held, const struct event *event,
	const struct raw_stack *stack, uint64_t look, bool wanted);

/* Gives those that wait no longer, some at a time; `all`: all, since nothing more comes. True: some were given. */
bool raw_samples_step(struct raw_samples *held, bool all, raw_taker *take, void *context);

/* One of the samples from before this time still waits. In guest clock ticks; UINT64_MAX: one of all. */
bool raw_samples_before(const struct raw_samples *held, uint64_t ticks);

enum raw_loss {				/* why a sample was walked without all that there is */
	RAW_CROWDED,			/* it could not wait, since memory was full */
	RAW_HURRIED,			/* nothing more came: what it lacks was not read in time */
	RAW_NAMELESS,			/* its program was not met again once samples told their threads */
	RAW_LOSSES,
};

struct raw_lost {
	uint64_t ticks;			/* sampling periods */
	uint64_t first, last;		/* when they were taken, in guest clock ticks */
};

struct raw_lost raw_samples_lost(const struct raw_samples *held, enum raw_loss why);

#endif
