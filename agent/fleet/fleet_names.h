/* SPDX-License-Identifier: MIT */
/* The functions of many machines under common ids: those of one name and object are one. */
#ifndef FLEET_NAMES_H
#define FLEET_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct fleet_names;
struct function_table;
struct symbols;

struct fleet_map {			/* of one boot of a machine; starts as { 0 } */
	uint32_t *functions;		/* common ids, by the machine's own */
	size_t count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function);	/* FUNCTION_NONE: not met */
void fleet_map_clear(struct fleet_map *map, struct budget *budget);

struct fleet_names *fleet_names_new(struct budget *budget);
void fleet_names_free(struct fleet_names *names);

/*
 * The common id of a machine's function. Kernel code is told apart by the name of the kernel, which
 * is shown as its object; modules of kernels with different names are told apart, too.
 */
uint32_t fleet_names_map(struct fleet_names *names, struct fleet_map *map,
	const struct function_table *functions, uint32_t function);

const struct symbols *fleet_names_symbols(const struct fleet_names *names);

#endif
