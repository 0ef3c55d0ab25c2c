/* SPDX-License-Identifier: MIT */
/*
 * `memory KTOP NAMES [MILLIONS]` prints the most memory that the live screen had after so many million samples (100 if
 * not given) in an hour of guest time, and what a further hour adds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "guest.h"
#include "setup.h"
#include "terminal.h"

enum { HOUR_S = 3600 };

static double peak_at(struct terminal *terminal, const struct guest *guest, uint64_t samples)
{
	while (*guest->sent < samples)
		terminal_run(terminal, 0.05);
	return terminal_peak(terminal);
}

int main(int argc, char **argv)
{
	char socket[] = "build/bench/memory.sock", port[] = "--port", kernel[] = "--kernel";
	char *words[] = { argv[1], port, socket, kernel, argv[argc > 2 ? 2 : 1], NULL };
	uint64_t samples = 1000000 * (argc > 3 ? strtoull(argv[3], NULL, 10) : 100);
	struct setup setup = setup_parse(1, argv);
	struct terminal *terminal;
	struct guest guest;
	double first, second;

	setup.traffic.rate = (double)samples / HOUR_S;
	guest = guest_start(socket, &setup, true);
	terminal = terminal_start(words);
	first = peak_at(terminal, &guest, samples);
	printf("memory_hour\t%.0f\tMiB\n", first);
	fflush(stdout);
	second = peak_at(terminal, &guest, 2 * samples);
	printf("memory_growth\t%.0f\tMiB\n", second - first);
	terminal_end(terminal);
	guest_end(&guest);
	return 0;
}
