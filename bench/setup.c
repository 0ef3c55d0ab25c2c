/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "setup.h"

static const struct setup usual = {
	.world = { .stacks = 100000, .depth = 12, .functions = 5000, .zipf = true },
	.traffic = { .cpus = 4, .threads = 64, .rate = 80000 },
	.samples = 1000000,
	.runs = 5,
};

static bool take(struct setup *setup, const char *name, const char *value)
{
	const struct { const char *name; uint32_t *number; } numbers[] = {
		{ "stacks", &setup->world.stacks }, { "depth", &setup->world.depth },
		{ "functions", &setup->world.functions }, { "cpus", &setup->traffic.cpus },
		{ "threads", &setup->traffic.threads }, { "runs", &setup->runs },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(numbers[i].name, name) == 0) {
			*numbers[i].number = (uint32_t)strtoul(value, NULL, 10);
			return true;
		}
	if (strcmp(name, "zipf") == 0)
		setup->world.zipf = value[0] == '1';
	else if (strcmp(name, "rate") == 0)
		setup->traffic.rate = strtod(value, NULL);
	else if (strcmp(name, "events") == 0)
		setup->traffic.events = strtod(value, NULL);
	else if (strcmp(name, "samples") == 0)
		setup->samples = strtoull(value, NULL, 10);
	else if (strcmp(name, "names") == 0)
		setup->names = value;
	else
		return false;
	return true;
}

struct setup setup_parse(int argc, char **argv)
{
	struct setup setup = usual;

	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (value)
			*value++ = '\0';
		if (!value || !take(&setup, argv[i], value)) {
			fprintf(stderr, "%s: %s: not understood; give stacks=, depth=, functions=, "
				"zipf=0|1, cpus=, threads=, rate=, events=, samples=, runs=, names=FILE\n",
				argv[0], argv[i]);
			exit(2);
		}
	}
	return setup;
}

void setup_pin(int core)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(core < cores ? core : cores - 1), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

uint64_t setup_spent(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double setup_median(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
