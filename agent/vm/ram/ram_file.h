/* SPDX-License-Identifier: MIT */
/*
 * A machine's memory, if QEMU keeps it in one file that it shares (-object memory-backend-memfd,share=on, or
 * memory-backend-file). Then it is read without QEMU, and no read meets a device. The file is read, not mapped: if
 * somebody shortens it, a read fails, and no signal comes.
 *
 * Where in the file an address lies is known of QEMU's boards pc, q35, microvm and virt, but not which board it is. So
 * the file is believed only after it has proved itself.
 */
#ifndef RAM_FILE_H
#define RAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ram_file;

/*
 * `socket`: connected to QEMU. `arch`: QEMU's name of the architecture. NULL: QEMU shares no such file, or it is not
 * ours to read.
 */
struct ram_file *ram_file_open(int socket, const char *arch);
void ram_file_close(struct ram_file *shared);

/* The ways in which the file may be laid out that are still possible; 0: none, so it is not the memory. */
unsigned ram_file_layouts(const struct ram_file *shared);

uint64_t ram_file_size(const struct ram_file *shared);	/* bytes */

/* Reads by one of these ways, `layout` < ram_file_layouts(). False: some of it is not in the file. */
bool ram_file_read(const struct ram_file *shared, unsigned layout, uint64_t physical, void *to, size_t size);

/*
 * Bytes of the machine's memory, by all that is known, were compared with those by this way. If they differ, the way
 * goes: the last one takes its number.
 */
void ram_file_judge(struct ram_file *shared, unsigned layout, bool same);

/* One way is left, and was the same often enough. */
bool ram_file_is_proved(const struct ram_file *shared);

void ram_file_give_up(struct ram_file *shared);	/* from now on there is no way */

/* ---- maps of RAM ---- */

/*
 * Where a machine has RAM, as QEMU's monitor tells it by the command RAM_MAP_COMMAND. Only what stays RAM counts: the
 * machine's own, which is larger than the RAM of any of its devices, and what lies right behind it. A guest can put the
 * memory of a card elsewhere, and something else in its place.
 */

#define RAM_MAP_COMMAND "info mtree -f"

enum { RAM_RANGES = 64, RAM_NAME = 64, RAM_LINE = 256 };

struct ram_range {
	uint64_t from, last;		/* the first and the last address */
	char name[RAM_NAME];		/* of the piece of memory that it is a part of */
};

struct ram_map {			/* starts zeroed */
	struct ram_range ranges[RAM_RANGES];
	uint32_t count;
	bool system;			/* the lines that come are of the machine's own addresses */
	char line[RAM_LINE];		/* as much of a line as has come */
	size_t size;
};

/* A piece of what the monitor prints. Lines that make no sense are skipped. */
void ram_map_take(struct ram_map *map, const char *text, size_t size);

/* All has come. `arch`: QEMU's name of the architecture. On x86, what lies below 1 MiB does not count: it changes. */
void ram_map_finish(struct ram_map *map, const char *arch);

/* Are all of these addresses RAM? Physical ones; `size` > 0. */
bool ram_map_has(const struct ram_map *map, uint64_t address, uint64_t size);

#endif
