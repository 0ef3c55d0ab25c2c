/* SPDX-License-Identifier: MIT */
/* Common ids for the functions of many machines: functions with the same name and object have the same id. */
#ifndef FLEET_IDS_H
#define FLEET_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answers/answer.h"

struct budget;
struct fleet_ids;
struct symbols;

struct fleet_origin {			/* where a function comes from; all borrowed */
	const struct symbols *symbols;	/* of one boot of the machine */
	const char *kernel;		/* the name of its kernel */
	enum group_by by;		/* what its functions stand for */
	const char *machine;
};

struct fleet_map {			/* for one boot of one machine; starts as { 0 } */
	const struct symbols *of;	/* this boot's; NULL: the map is empty */
	bool of_machine;		/* its rows are of one machine: a process may be called as an object is */
	uint32_t *functions;		/* common ids, by the machine's own */
	size_t count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function);	/* FUNCTION_NONE: it has no common id yet */
void fleet_map_clear(struct fleet_map *map, struct budget *budget);	/* frees it; the budget is the names' */

struct fleet_ids *fleet_ids_new(struct budget *budget);	/* borrows the budget */
void fleet_ids_free(struct fleet_ids *names);

/*
 * The common id of a machine's function, which may be new. The object of kernel code is the kernel's name, so that
 * functions of different kernels stay apart. Modules of kernels with different names stay apart, too. Rows by process,
 * thread or CPU are of one machine, whose name is their object.
 */
uint32_t fleet_ids_map(struct fleet_ids *names, struct fleet_map *map, const struct fleet_origin *origin,
	uint32_t function);

const struct symbols *fleet_ids_symbols(const struct fleet_ids *names);	/* the functions, by common id */

#endif
