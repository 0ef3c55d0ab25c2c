/* SPDX-License-Identifier: MIT */
/*
 * Finds in a running Linux kernel's memory which files the sampled processes have mapped, and tells the symbols. Who
 * samples from outside the guest learns this in no other way. Ingest thread.
 */
#ifndef RUNNING_PROGRAMS_H
#define RUNNING_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/names/linux/walk.h"
#include "agent/wire/event.h"

struct running_programs;
struct symbols;

struct running_programs *running_programs_new(struct symbols *symbols);	/* borrows the symbols */
void running_programs_free(struct running_programs *programs);

/*
 * A program of the process was sampled. `name`: of its first thread; "" if another thread was sampled. A process with
 * another name than before runs another program. True: the next reading is to read it.
 */
bool running_programs_saw(struct running_programs *programs, uint32_t process, struct text name);

bool running_programs_want(const struct running_programs *programs);	/* there are some to be read */

/*
 * A turn of a walk (walk.h) that reads the mappings of processes that were sampled, and are not known, or were read
 * some time ago. `folders`: where their files are looked for, as in symbols_map. Another walk is to be made while the
 * memory still awaits bytes.
 */
enum walk running_programs_read(struct running_programs *programs, const struct walked_memory *memory,
	const char *const *folders);

/*
 * A turn of a walk of its own, which copies files that the symbols lack out of the memory, and gives them the copies.
 * WALK_FAILED: another turn is to be made when more of the memory has come. `samples`: how many have come.
 */
enum walk running_programs_copy(struct running_programs *programs, const struct walked_memory *memory,
	uint64_t samples);

/* Each process that is sampled is read anew, for somebody who has none of the pages that were read before. */
void running_programs_again(struct running_programs *programs);

/* No more bytes come now: what could not be read of a process is given up until some time later. */
void running_programs_settle(struct running_programs *programs);

/* ---- objects that were given ---- */

/*
 * ELF files that the user says are loaded into the guest's kernel, and at which addresses: a boot loader, firmware, a
 * second kernel, a module of a kernel that does not tell of it.
 */

struct given_objects;

/*
 * `texts`: FILE@ADDRESS each, ended by NULL; the address is where the file's lowest byte lies in the guest. Reads the
 * heads of the files. NULL with `error` set.
 */
struct given_objects *given_objects_new(const char *const *texts, char **error);
void given_objects_free(struct given_objects *objects);

void given_objects_map(const struct given_objects *objects, struct symbols *symbols);	/* for a new boot */

#endif
