/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tests/fuzz/fuzz.h"
#include "judge.h"

enum {
	COST_MOST = 100,		/* times an honest byte's */
	COST_NOISE_MS = 150,		/* a cost below this is never too dear, however few the bytes */
	BOOT_MS = 60,			/* allowed in addition for each boot */
	LEVEL_LEAST_MS = 5,		/* a cost below this is of level 0 */
	SETTLE_MS = 60000,		/* by then all other threads must rest */
};

/* Processor time in ns, of this thread or of all. */
static uint64_t cpu_time(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t of_others(void)
{
	return cpu_time(CLOCK_PROCESS_CPUTIME_ID) - cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

/* Time in ns that the host took from all CPUs of this machine so far (proc(5), /proc/stat, "steal"). */
static uint64_t stolen(void)
{
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/stat", "r");

	if (file && fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	if (file)
		fclose(file);
	return ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* True: the thread runs, or waits for a processor. False also for one that has just ended. */
static bool is_running(const char *thread)
{
	char *path = util_format("/proc/self/task/%s/stat", thread), line[512] = "", *state;
	FILE *file = fopen(path, "r");

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	free(path);
	state = strrchr(line, ')');
	return state && (strncmp(state, ") R", 3) == 0 || strncmp(state, ") D", 3) == 0);
}

static bool others_rest(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	bool rest = true;

	while (threads && rest && (thread = readdir(threads)))
		if (thread->d_name[0] != '.' && atoi(thread->d_name) != gettid())
			rest = !is_running(thread->d_name);
	if (threads)
		closedir(threads);
	return rest;
}

static void settle(void)
{
	int waited = 0;

	for (; !others_rest() && waited < SETTLE_MS; waited++)
		poll(NULL, 0, 1);
	require(waited < SETTLE_MS);
}

void judge_begin(struct judge *judge)
{
	settle();
	judge->all_begun = of_others();
	judge->stolen = stolen();
	judge->too_dear = false;
}

void judge_step(struct judge *judge)
{
	judge->begun = cpu_time(CLOCK_THREAD_CPUTIME_ID);
}

void judge_honest(struct judge *judge, uint64_t bytes)
{
	judge->honest = (double)(cpu_time(CLOCK_THREAD_CPUTIME_ID) - judge->begun) / (double)bytes;
	require(judge->honest > 0);
}

static bool is_good(const struct judge *judge, uint64_t cost, const struct judge_bill *bill)
{
	uint64_t free_of = (COST_NOISE_MS + (uint64_t)bill->boots * BOOT_MS) * NS_PER_MS;

	return cost < free_of || (double)(cost - free_of) < COST_MOST * judge->honest * (double)bill->bytes;
}

static int judge_cost(struct judge *judge, uint64_t cost, const struct judge_bill *bill)
{
	double times = (double)cost / (judge->honest * ((double)bill->bytes + 1));
	bool good = is_good(judge, cost, bill);
	uint64_t taken = good ? 0 : stolen() - judge->stolen;
	int level = 0;

	good = good || cost <= taken || is_good(judge, cost - taken, bill);
	if (getenv("COSTS") || !good)
		fprintf(stderr, "%s: %llu bytes, %u boots, %.1f ms, %.1f times an honest byte%s\n",
			bill->what, (unsigned long long)bill->bytes, bill->boots,
			(double)cost / (double)NS_PER_MS, times, good ? "" : ": too dear");
	judge->too_dear = judge->too_dear || !good;
	for (double most = 2; cost > LEVEL_LEAST_MS * NS_PER_MS && times > most &&
			level < JUDGE_LEVELS - 1; most *= 1.5)
		level++;
	return level;
}

int judge_end_step(struct judge *judge, const struct judge_bill *bill)
{
	return judge_cost(judge, cpu_time(CLOCK_THREAD_CPUTIME_ID) - judge->begun, bill);
}

int judge_end(struct judge *judge, const struct judge_bill *bill)
{
	settle();
	return judge_cost(judge, of_others() - judge->all_begun, bill);
}
