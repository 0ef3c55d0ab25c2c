/* SPDX-License-Identifier: MIT */
/*
 * The reference scan: what an answer about samples costs where they are plain rows of 16 bytes. One pass adds up the
 * rows that a filter lets through, by node of the tree of stacks; one from the last node to the first makes the totals,
 * and then those of the functions. `scan ROWS NODES` makes rows up, Zipf(1) over the nodes, and prints the medians of
 * the processor time of both passes.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "setup.h"

enum { FUNCTIONS = 5000, WHO = 1 << 16, DEPTH = 48, ROUNDS = 7, ROWS_A_MS = 80 };

struct row {
	uint32_t time, stack, who, weight;
};

struct node {
	uint32_t parent, function;	/* a parent has a lower number than its children; 0 is the root */
	bool outermost;			/* no frame above it is of the same function: recursion counts once */
};

struct sums {
	uint64_t *own, *total;		/* by node */
	uint64_t *self_of, *total_of;	/* by function */
};

static bool is_outermost(const struct node *nodes, const struct node *node)
{
	for (uint32_t above = node->parent; above; above = nodes[above].parent)
		if (nodes[above].function == node->function)
			return false;
	return true;
}

static struct node *make_nodes(uint32_t count, uint64_t *seed)
{
	struct node *nodes = util_alloc(count * sizeof(*nodes));
	uint8_t *depth = util_alloc(count);

	for (uint32_t i = 1; i < count; i++) {
		do
			nodes[i].parent = (uint32_t)(random_next(seed) % i);
		while (depth[nodes[i].parent] >= DEPTH);
		depth[i] = (uint8_t)(depth[nodes[i].parent] + 1);
		nodes[i].function = (uint32_t)(random_next(seed) % FUNCTIONS);
		nodes[i].outermost = is_outermost(nodes, &nodes[i]);
	}
	free(depth);
	return nodes;
}

static struct row *make_rows(size_t count, uint32_t nodes, uint64_t *seed)
{
	struct row *rows = util_alloc(count * sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		uint64_t rank = (uint64_t)exp((double)(random_next(seed) >> 11) * 0x1p-53 * log(nodes));

		rows[i] = (struct row) {
			.time = (uint32_t)(i / ROWS_A_MS), .stack = (uint32_t)(rank * 2654435761 % nodes),
			.who = (uint32_t)(random_next(seed) % WHO), .weight = 1,
		};
	}
	return rows;
}

static void count(const struct row *rows, size_t rows_count, const uint8_t *passes, const struct sums *sums)
{
	for (size_t i = 0; i < rows_count; i++)
		if (passes[rows[i].who])
			sums->own[rows[i].stack] += rows[i].weight;
}

static void add_up(const struct node *nodes, uint32_t nodes_count, const struct sums *sums)
{
	memcpy(sums->total, sums->own, nodes_count * sizeof(*sums->total));
	for (uint32_t i = nodes_count; i-- > 1;)
		sums->total[nodes[i].parent] += sums->total[i];
	for (uint32_t i = 1; i < nodes_count; i++) {
		sums->self_of[nodes[i].function] += sums->own[i];
		if (nodes[i].outermost)
			sums->total_of[nodes[i].function] += sums->total[i];
	}
}

static double ms_since(uint64_t spent)
{
	return (double)(setup_spent() - spent) / 1e6;
}

int main(int argc, char **argv)
{
	size_t rows_count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	uint32_t nodes_count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	uint64_t seed = 88172645463325252, weight = 0;
	double counted[ROUNDS], added[ROUNDS];
	struct node *nodes;
	struct row *rows;
	struct sums sums;
	uint8_t *passes;

	if (!rows_count || nodes_count < 2) {
		fprintf(stderr, "usage: %s ROWS NODES\n", argv[0]);
		return 2;
	}
	nodes = make_nodes(nodes_count, &seed);
	rows = make_rows(rows_count, nodes_count, &seed);
	passes = util_alloc(WHO);
	memset(passes, 1, WHO);
	sums.total = util_alloc(nodes_count * sizeof(*sums.total));
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t spent = setup_spent();

		sums.own = util_alloc(nodes_count * sizeof(*sums.own));
		count(rows, rows_count, passes, &sums);
		counted[round] = ms_since(spent);
		spent = setup_spent();
		sums.self_of = util_alloc(FUNCTIONS * sizeof(*sums.self_of));
		sums.total_of = util_alloc(FUNCTIONS * sizeof(*sums.total_of));
		add_up(nodes, nodes_count, &sums);
		added[round] = ms_since(spent);
		weight += sums.total[0];
		free(sums.own);
		free(sums.self_of);
		free(sums.total_of);
	}
	if (weight != ROUNDS * rows_count)
		return 1;
	printf("scan_%zu_count\t%.1f\tms\nscan_%zu_totals\t%.1f\tms\n", rows_count, setup_median(counted, ROUNDS),
		rows_count, setup_median(added, ROUNDS));
	free(sums.total);
	free(passes);
	free(rows);
	free(nodes);
	return 0;
}
