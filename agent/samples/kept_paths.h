/* SPDX-License-Identifier: MIT */
/*
 * Paths of functions, from a root, by their names alone: those that stand alone where light frames of several sample
 * sets are merged. So what is merged in one set is merged in the others, too.
 */
#ifndef KEPT_PATHS_H
#define KEPT_PATHS_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct kept_paths;
struct sample_set;
struct set_function;

#define KEPT_ROOT 0u			/* the path of no function */

/* `inlined`: functions that were inlined are in the paths; else they count for the one that they are in. */
struct kept_paths *kept_paths_new(bool inlined, struct budget *budget);
void kept_paths_free(struct kept_paths *paths);		/* NULL is allowed */

/* Adds the heaviest stacks of a set, `most` at most, with their callers. False: no memory. */
bool kept_paths_choose(struct kept_paths *paths, const struct sample_set *set, uint32_t most);

/* The path of a function below another path; SET_NONE: it is not kept. */
uint32_t kept_paths_find(const struct kept_paths *paths, uint32_t parent, const char *name);

/* A frame that has all light ones below its caller. Is it the leaf of the stack? */
extern const struct set_function kept_paths_merged;
bool kept_paths_is_merged(const struct sample_set *set, uint32_t stack);

/* ---- light stacks ---- */

/*
 * Which nodes of a tree of stacks are too light to stand alone in a picture. A node weighs as much as all samples in it
 * and below it, so what is below a light node is light, too.
 */

struct stacks;

struct light_stacks {
	uint64_t *weights;		/* by node; NULL: none is light */
	uint32_t nodes;
	uint64_t least;			/* what weighs less is light */
	struct budget *budget;
};

bool light_stacks_init(struct light_stacks *light, uint32_t nodes, struct budget *budget);	/* false: no memory */
void light_stacks_clear(struct light_stacks *light);

static inline void light_stacks_add(struct light_stacks *light, uint32_t node, uint64_t weight)
{
	if (node < light->nodes)
		light->weights[node] += weight;
}

/* When all was added to a boot's nodes: sums them up, and chooses. */
void light_stacks_settle(struct light_stacks *light, const struct stacks *stacks, uint32_t most);

static inline bool light_stacks_has(const struct light_stacks *light, uint32_t node)
{
	return light->weights && light->weights[node] < light->least;
}

#endif
