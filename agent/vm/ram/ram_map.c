/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ram_map.h"

#define LOWEST_X86 (UINT64_C(1) << 20)

/* ---- lines ---- */

/*
 * "  FROM-LAST (prio PRIORITY, KIND): NAME", for each range of a view. A view begins with "FlatView" and a line for
 * each address space that it is of; the machine's own is "memory". A card's memory has another priority than 0.
 */
static void take_line(struct ram_map *map, const char *line)
{
	struct ram_range range;
	char kind[16];
	int priority;

	if (strncmp(line, "FlatView", strlen("FlatView")) == 0)
		map->system = false;
	if (strstr(line, "AS \"memory\""))
		map->system = true;
	if (map->system && map->count < RAM_RANGES &&
			sscanf(line, " %16" SCNx64 "-%16" SCNx64 " (prio %d, %15[^)]): %63s", &range.from, &range.last,
				&priority, kind, range.name) == 5 &&
			priority == 0 && strcmp(kind, "ram") == 0 && range.last > range.from)
		map->ranges[map->count++] = range;
}

void ram_map_take(struct ram_map *map, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != '\n' && text[i] != '\r' && map->size + 1 < RAM_LINE) {
			map->line[map->size++] = text[i];
			continue;
		}
		map->line[map->size] = '\0';
		take_line(map, map->line);
		map->size = 0;
	}
}

/* ---- which of it stays ---- */

static uint64_t size_by_name(const struct ram_map *map, const char *name)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < map->count; i++)
		if (strcmp(map->ranges[i].name, name) == 0)
			sum += map->ranges[i].last - map->ranges[i].from;
	return sum;
}

static const char *largest(const struct ram_map *map)
{
	const char *found = map->ranges[0].name;

	for (uint32_t i = 1; i < map->count; i++)
		if (size_by_name(map, map->ranges[i].name) > size_by_name(map, found))
			found = map->ranges[i].name;
	return found;
}

/* Ranges come in the order of their addresses. A machine of several nodes has several pieces, one behind the other. */
void ram_map_finish(struct ram_map *map, const char *arch)
{
	uint64_t lowest = strcmp(arch, "x86_64") == 0 || strcmp(arch, "i386") == 0 ? LOWEST_X86 : 0;
	char name[RAM_NAME];
	uint32_t kept = 0;

	strcpy(name, largest(map));
	for (uint32_t i = 0; i < map->count; i++) {
		struct ram_range range = map->ranges[i];
		bool behind = kept && range.from == map->ranges[kept - 1].last + 1;

		if (range.last < lowest || (!behind && strcmp(range.name, name) != 0))
			continue;
		range.from = range.from < lowest ? lowest : range.from;
		map->ranges[kept++] = range;
	}
	map->count = kept;
}

bool ram_map_has(const struct ram_map *map, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct ram_range *range = &map->ranges[i];

		if (address >= range->from && address <= range->last && size - 1 <= range->last - address)
			return true;
	}
	return false;
}
