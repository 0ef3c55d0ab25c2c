/* SPDX-License-Identifier: MIT */
/*
 * Watches a Linux kernel that is sampled from outside, in its memory: where it runs, which modules it has now, and
 * which files the sampled programs have mapped. It also finds out, once, which firmware the machine has. What it finds
 * is told to the symbols. Ingest thread.
 */
#ifndef KERNEL_WATCH_H
#define KERNEL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"
#include "commands.h"
#include "uptime.h"

struct budget;
struct guest_memory;
struct kernel_watch;
struct symbols;

/* Borrows all. `folders`: where the files of programs are looked for, as in symbols_map. */
struct kernel_watch *kernel_watch_new(struct symbols *symbols, struct guest_memory *memory,
	const char *const *folders, struct budget *budget);
void kernel_watch_free(struct kernel_watch *watch);

/* A program was sampled: which files its process has mapped is found out. True: the next look is to find it. */
bool kernel_watch_saw(struct kernel_watch *watch, const struct sample *sample, struct text thread_name);
/* The same, of a sample that has counted already, or will. */
bool kernel_watch_wants(struct kernel_watch *watch, const struct sample *sample, struct text thread_name);

/* A recording begins: the programs that are sampled from now on are found out once more, by pages that it gets. */
void kernel_watch_again(struct kernel_watch *watch);

/* A page of the guest's memory has come. `bytes`: it is there. A search that meets none that is gets nowhere. */
void kernel_watch_wake(struct kernel_watch *watch, bool bytes);

/*
 * Call it often. It takes some milliseconds at most, whatever the guest's memory says. `live`: pages that are missing
 * can be asked for. A recording has only the pages that were asked for when it was made. True: the symbols may know
 * more now. `now`: ns of a clock that never goes back: live, util_now; of a recording, the guest's.
 */
bool kernel_watch_step(struct kernel_watch *watch, bool live, uint64_t now);

/* Looks are numbered from 1 on, programs' alone or whole. A look finds what was there when it began. */
struct kernel_watch_looks {
	uint64_t begun, ended;		/* numbers of the last ones; the same: none is under way */
	uint64_t whole;			/* how many whole ones have ended */
	bool placed;			/* one of these knew where the kernel runs, so its modules are known */
	bool asks;			/* a line of kernel_watch_line() waits for its answer; or it is a recording */
	uint64_t samples;		/* how many have come */
};
struct kernel_watch_looks kernel_watch_looks(const struct kernel_watch *watch);

/* Files of programs are being copied out of the memory, and it gets on. */
bool kernel_watch_copies(const struct kernel_watch *watch);

/* For how long the kernel is up, by what its memory says. */
struct kernel_uptime kernel_watch_uptime(const struct kernel_watch *watch);

/* The last step has paused in a walk through pages that have come: the next one goes on, even without samples. */
bool kernel_watch_is_walking(const struct kernel_watch *watch);

/*
 * Writes the control line that says where the kernel keeps which thread a CPU runs. It is to be sent each time that the
 * modules are read, since a hook may have forgotten it. Behind the first one come those that say where trace events
 * happen (trace_places.h). False: that is not known, or the line was given already.
 */
bool kernel_watch_line(struct kernel_watch *watch, char line[COMMANDS_LINE_MAX + 1]);
/* A line was answered, or will not be. What has not reached the guest is told again in the next look. */
void kernel_watch_answered(struct kernel_watch *watch, bool ok, const char *text);

/*
 * All lines about trace events were answered, or there are none for this kernel. `missing`: what is not traced, and
 * why; "": nothing, as far as is known.
 */
bool kernel_watch_has_told(const struct kernel_watch *watch, char *missing, size_t size);

/* ---- the code that runs ---- */

/*
 * What the unwinder has to know of the guest's kernel, and of the program that runs on it, taken from the symbols and
 * their files. Borrows the symbols. Ingest thread.
 */

struct kernel_code;

struct kernel_code *kernel_code_new(struct symbols *symbols);
void kernel_code_free(struct kernel_code *code);

/*
 * What is known now. It is valid until the symbols are told more, or until the next call. `user`: the sample was taken
 * in a program, so no frame of its stack is the kernel's. `process`: the sample's; EVENT_KERNEL: none.
 */
struct unwind_code kernel_code_now(struct kernel_code *code, const struct arch *arch, bool user, uint32_t process);

/*
 * The kernel's frames of a raw sample. While it is not known where a Linux kernel runs, their return addresses are
 * gathered, until they tell.
 */
void kernel_code_saw(struct kernel_code *code, const struct unwound_frames *frames);

/* What is wrong with the kernel's file, so that stacks are short; "": nothing. Valid until the next call. */
const char *kernel_code_note(const struct kernel_code *code);

#endif
