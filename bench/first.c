/* SPDX-License-Identifier: MIT */
/*
 * `first KTOP NAMES RUNS` prints the median time from the start of the live screen to its first table, in milliseconds.
 * The guest sends at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "guest.h"
#include "setup.h"
#include "terminal.h"

enum { RUNS_MAX = 99 };

static double start(char *const *words)
{
	uint64_t begin = util_now();
	struct terminal *terminal = terminal_start(words);
	double waited = terminal_await(terminal, "kern_", "kern_");
	double seconds = (double)(terminal->last - begin) / (double)NS_PER_SECOND;

	terminal_end(terminal);
	if (waited < 0) {
		fprintf(stderr, "first: no table came\n");
		exit(1);
	}
	return seconds;
}

int main(int argc, char **argv)
{
	char socket[] = "build/bench/guest.sock", port[] = "--port", kernel[] = "--kernel";
	char *words[] = { argv[1], port, socket, kernel, argv[argc > 2 ? 2 : 1], NULL };
	uint32_t runs = argc > 3 ? (uint32_t)atoi(argv[3]) : 9;
	struct setup setup = setup_parse(1, argv);
	struct guest guest = guest_start(socket, &setup, false);
	double times[RUNS_MAX];

	runs = runs < RUNS_MAX ? runs : RUNS_MAX;
	for (uint32_t i = 0; i < runs; i++)
		times[i] = start(words);
	printf("%.1f\n", 1000 * setup_median(times, runs));
	guest_end(&guest);
	return 0;
}
