/* SPDX-License-Identifier: MIT */
/* Common ids for the functions of many machines: functions with the same name and object have the same id. */
#ifndef FLEET_NAMES_H
#define FLEET_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct fleet_names;
struct function_table;
struct symbols;

struct fleet_map {			/* for one boot of one machine; starts as { 0 } */
	uint32_t *functions;		/* common ids, by the machine's own */
	size_t count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function);	/* FUNCTION_NONE: it has no common id yet */
void fleet_map_clear(struct fleet_map *map, struct budget *budget);	/* frees it; the budget is the names' */

struct fleet_names *fleet_names_new(struct budget *budget);	/* borrows the budget */
void fleet_names_free(struct fleet_names *names);

/*
 * The common id of a machine's function, which may be new. The object of kernel code is the kernel's name, so that
 * functions of different kernels stay apart. Modules of kernels with different names stay apart, too.
 */
uint32_t fleet_names_map(struct fleet_names *names, struct fleet_map *map,
	const struct function_table *functions, uint32_t function);

const struct symbols *fleet_names_symbols(const struct fleet_names *names);	/* the functions, by common id */

#endif
