/* SPDX-License-Identifier: MIT */
/*
 * Where a machine has RAM, as QEMU's monitor tells it by the command RAM_MAP_COMMAND. Only what stays RAM counts: the
 * machine's own, which is larger than the RAM of any of its devices, and what lies right behind it. A guest can put the
 * memory of a card elsewhere, and something else in its place.
 */
#ifndef RAM_MAP_H
#define RAM_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
