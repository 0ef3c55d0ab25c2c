/* SPDX-License-Identifier: MIT */
/* The phase `processes`: short programs, one after another, and the kernel's work to start and end them. */
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/process.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/time.h"

void processes_work(uint32_t worker, uint32_t round)
{
	static const struct {
		const char *program;
		uint32_t least, range;	/* of the argument, which says how much the program does */
	} jobs[] = {
		{ "hash", 4, 150 }, { "primes", 1000, 30000 },
		{ "queens", 6, 4 }, { "sort", 500, 12000 },
	};
	struct random random = random_seed((uint64_t)worker << 32 | round);
	uint32_t job = random_below(&random, sizeof(jobs) / sizeof(jobs[0]));
	struct process *process = process_spawn(jobs[job].program,
		jobs[job].least + random_below(&random, jobs[job].range));

	if (process != NULL)
		process_wait(process);
	else
		sched_sleep(NS_PER_MS);
}
