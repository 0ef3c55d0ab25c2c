/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/process.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/command.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/memory/slab.h"

enum { PHASE_SECONDS = 10 };

static const struct phase {
	const char *name;
	void (*work)(uint32_t worker, uint32_t round);
	uint32_t threads;		/* how many for two CPUs; with more CPUs in proportion, rounded up */
} phases[] = {
	{ "files", files_work, 3 },
	{ "processes", processes_work, 3 },
	{ "memory", memory_work, 2 },
	{ "ledger", ledger_work, 4 },
	{ "mail", mail_work, 4 },
	{ "quiet", quiet_work, 1 },
};

enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

struct worker {
	const struct phase *phase;
	uint32_t number, turn;
};

static struct slab workers = { .size = sizeof(struct worker) };
static uint32_t turn;			/* phases that have begun; written by the conductor */

static void worker_run(void *argument)
{
	struct worker worker = *(struct worker *)argument;

	slab_free(&workers, argument);
	for (uint32_t round = 0; __atomic_load_n(&turn, __ATOMIC_RELAXED) == worker.turn; round++)
		worker.phase->work(worker.number, round);
}

static void start_worker(const struct phase *phase, uint32_t number)
{
	struct worker *worker = slab_alloc(&workers);

	if (worker == NULL)
		panic("no memory for a worker");
	*worker = (struct worker) { .phase = phase, .number = number, .turn = turn };
	thread_spawn(phase->name, worker_run, worker);
}

/* Its name changes with the phases, so that a change of a name can be seen. */
static void conductor(void *argument)
{
	uint32_t seconds = command_number("mix.seconds");

	(void)argument;
	for (;;) {
		const struct phase *phase = &phases[turn % PHASES];
		uint32_t threads = (phase->threads * cpu_count + 1) / 2;

		print("mix: %s, %u threads\n", phase->name, threads);
		thread_rename(turn % 2 ? "conductor" : "conductor of mix");
		for (uint32_t i = 0; i < threads; i++)
			start_worker(phase, i);
		sched_sleep((uint64_t)(seconds > 0 ? seconds : PHASE_SECONDS) * NS_PER_SECOND);
		__atomic_store_n(&turn, turn + 1, __ATOMIC_RELAXED);
	}
}

void mix_start(void)
{
	ledger_start();
	process_spawn("pulse", 0);
	thread_spawn("conductor", conductor, NULL);
}
