/* SPDX-License-Identifier: MIT */
/*
 * Some machines whose samples are known one by one, and all that is on a terminal in front of them. The answers are
 * real: they come from epochs that got these samples. So what a view shows can be compared with the samples themselves.
 * One file: the gallery is one program, and this is what its parts share.
 */
#ifndef GALLERY_H
#define GALLERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/epoch.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/views/config.h"

enum { GALLERY_MACHINES = 2, GALLERY_CPUS = 2, GALLERY_THREADS = 3, GALLERY_DEPTH = 4 };
enum { GALLERY_TICK_MS = 10, GALLERY_WEIGHT = 10 };	/* between two samples of a CPU; each has as many periods */

/* At each tick of so many, a CPU ends a system call and has an interrupt. */
enum { GALLERY_TRACED = 10, GALLERY_CALL = 98, GALLERY_IRQ = 4 };

/* The functions, in the order of their addresses. */
enum { ENTRY, WORK, COPY, LOCK, ALLOC, FUNCTIONS };
extern const char *const gallery_names[FUNCTIONS];
extern const char *const gallery_threads[GALLERY_THREADS];
extern const uint64_t gallery_pcs[4];	/* where in LOCK it may be interrupted: offsets of its instructions */
uint64_t gallery_address(int function);

struct gallery_sample {
	uint64_t time;			/* guest ns */
	uint32_t cpu, thread;		/* of gallery_threads */
	enum mode mode;
	uint32_t depth;			/* idle: 0 */
	int stack[GALLERY_DEPTH];	/* the function that ran first */
	uint64_t pc;			/* an offset in it */
};

struct gallery_guest {
	struct session session;
	struct epoch *epoch;
	struct decode *decode;
	struct trace_kinds *kinds;
	struct meter meter;
	struct gallery_sample *samples;
	size_t count, room;
};

struct gallery {
	struct config config;
	struct gallery_guest guests[GALLERY_MACHINES];
	size_t machines;
	bool replay;
	struct tabs *tabs;
	struct canvas *canvas;
	struct random random;
	uint64_t clock, now;		/* guest ns; the host's time, */
	uint64_t begun;			/* which was this at first */
};

struct gallery *gallery_new(size_t machines, bool replay);
void gallery_free(struct gallery *gallery);
void gallery_run(struct gallery *gallery, uint32_t seconds);	/* all machines are sampled for so long */

/* Machines answer what was asked. The host's clock moves on; that of the guests stands still. */
void gallery_answer(struct gallery *gallery);
/* Machines answer and the screen is drawn until it stands still; messages are gone. */
void gallery_settle(struct gallery *gallery);
void gallery_press(struct gallery *gallery, uint32_t code);
/* '\b' is F8; '|' settles, as the end does. */
void gallery_type(struct gallery *gallery, const char *keys);
void gallery_draw(struct gallery *gallery, struct canvas *canvas);	/* on another canvas */

/* ---- the truth (truth.c) ---- */

struct truth {				/* what is shown: these samples of all machines */
	const struct gallery *gallery;
	uint64_t from, to;		/* guest ns: from <= time < to */
	bool filtered;			/* CPU 1 in the kernel alone */
	size_t machine;			/* this one alone, from 1 on; 0: all */
};

/* What a view shows beside a name: at the beginning of its row, just before it, or behind it. */
enum { FACT_NAME = 80, FACT_NUMBERS = 3, FACTS = 32 };
enum fact_place { FACT_FIRST, FACT_BEFORE, FACT_BEHIND };
struct fact {
	char name[FACT_NAME];
	enum fact_place place;
	double numbers[FACT_NUMBERS];
	int count;
};

struct facts {
	struct fact facts[FACTS];
	size_t count;
};

struct facts truth_functions(const struct truth *truth);	/* self, total */
struct facts truth_threads(const struct truth *truth);		/* use of a CPU */
struct facts truth_tree(const struct truth *truth);		/* total, of the parent, self: by path */
struct facts truth_around(const struct truth *truth);		/* the same: LOCK and its direct callers */
struct facts truth_page(const struct truth *truth);		/* of LOCK: threads, CPUs, chains of callers */
struct facts truth_instructions(const struct truth *truth);	/* of LOCK */
struct facts truth_events(const struct truth *truth);	/* how many, and how many a second; over all machines none */
/* The part of all time in which CPUs were busy, with what passes the filter; < 0: there is no sample. */
double truth_busy(const struct truth *truth, uint64_t from, uint64_t to);

#endif
