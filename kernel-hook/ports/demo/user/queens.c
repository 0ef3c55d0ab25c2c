/* SPDX-License-Identifier: MIT */
/* Counts the ways to put so many queens on a board, by deep recursion. */
#include <stdint.h>

#include "program.h"

struct board {
	uint32_t size, columns, up, down;
};

static uint64_t place_rest(struct board board);

static uint64_t place_queen(struct board board, uint32_t square)
{
	board.columns |= square;
	board.up = (board.up | square) << 1;
	board.down = (board.down | square) >> 1;
	return place_rest(board);
}

static uint64_t place_rest(struct board board)
{
	uint32_t all = (1u << board.size) - 1;
	uint32_t free = all & ~(board.columns | board.up | board.down);
	uint64_t ways = 0;

	if (board.columns == all)
		return 1;
	for (; free != 0; free &= free - 1)
		ways += place_queen(board, free & -free);
	return ways;
}

int64_t main(uint64_t argument)
{
	return place_rest((struct board) { .size = (uint32_t)argument }) == 0;
}
