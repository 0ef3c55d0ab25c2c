/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/budget.h"
#include "agent/base/job.h"
#include "agent/base/spool.h"
#include "agent/base/util.h"
#include "agent/names/files/image.h"
#include "kernel_names.h"
#include "symbols.h"

enum { PIPE_MS = 30000 };		/* the longest wait for a pipe's writer: nm may be slow */

struct reading {			/* the job's context */
	struct spool spool;		/* path NULL: not opened yet */
	char *path;
	bool given;
	struct budget *budget;		/* held */
	bool check;			/* read only if the file has changed since `file` */
	struct stat file;
	bool same;			/* it has not changed */
	struct symbols *symbols;	/* NULL: it failed, or the file has not changed */
	bool starved;
	char *error;
};

struct kernel_names {
	char *path;
	bool given;			/* by the user; a pipe that others name may have no writer, or never end */
	struct budget *budget;
	struct job *job;		/* NULL: nothing is being read */
	const struct reading *reading;	/* with `job`: its context, of which only spool.copying may be looked at */
	struct spool spool;		/* what was read, for reading it again */
	struct symbols *symbols;	/* of no boot; boots share its kernel file; NULL: none */
	bool starved;
	char *error;			/* NULL: none */
};

static void run(void *context)
{
	struct reading *reading = context;
	uint64_t refused = budget_refused(reading->budget);
	struct symbols *symbols;

	reading->same = reading->check && image_is_current(reading->spool.path, &reading->file);
	if (reading->same)
		return;
	if (!reading->spool.path && !reading->given)
		reading->spool.path = util_copy(reading->path, strlen(reading->path));
	if (reading->spool.path || spool_open(&reading->spool, reading->path, PIPE_MS,
			reading->budget, &reading->error)) {
		symbols = symbols_new(reading->budget);
		if (symbols_load_kernel(symbols, reading->spool.path, &reading->error))
			reading->symbols = symbols;
		else
			symbols_free(symbols);
	}
	reading->starved = reading->error && budget_refused(reading->budget) != refused;
}

static void free_reading(void *context)
{
	struct reading *reading = context;

	symbols_free(reading->symbols);
	spool_close(&reading->spool);
	budget_release(reading->budget);
	free(reading->path);
	free(reading->error);
	free(reading);
}

static void forget(struct kernel_names *names)
{
	symbols_free(names->symbols);
	free(names->error);
	names->symbols = NULL;
	names->error = NULL;
}

/* Lends the copy of a file that can be read only once to the job; kernel_names_step takes it back. */
static void begin(struct kernel_names *names, const struct stat *check)
{
	static const struct job_work work = { .run = run, .free = free_reading };
	struct reading *reading = util_alloc(sizeof(*reading));

	reading->path = util_copy(names->path, strlen(names->path));
	reading->given = names->given;
	reading->budget = budget_hold(names->budget);
	reading->spool = names->spool;
	names->spool = (struct spool) { .fd = -1 };
	reading->check = check;
	if (check)
		reading->file = *check;
	else
		forget(names);
	names->reading = reading;
	names->job = job_new(&work, reading);
}

struct kernel_names *kernel_names_new(const char *path, bool given, struct budget *budget)
{
	struct kernel_names *names = util_alloc(sizeof(*names));

	names->path = util_copy(path, strlen(path));
	names->given = given;
	names->budget = budget;
	names->spool.fd = -1;
	begin(names, NULL);
	return names;
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	job_leave(names->job);
	symbols_free(names->symbols);
	spool_close(&names->spool);
	free(names->error);
	free(names->path);
	free(names);
}

const char *kernel_names_path(const struct kernel_names *names)
{
	return names->path;
}

bool kernel_names_step(struct kernel_names *names)
{
	struct reading *reading = names->job ? job_done(names->job) : NULL;

	bool news = reading && !reading->same;

	if (!reading)
		return false;
	names->spool = reading->spool;
	reading->spool = (struct spool) { .fd = -1 };
	if (news) {
		forget(names);
		names->symbols = reading->symbols;
		names->starved = reading->starved;
		names->error = reading->error;
		reading->symbols = NULL;
		reading->error = NULL;
	}
	job_leave(names->job);
	names->job = NULL;
	return news;
}

bool kernel_names_reading(const struct kernel_names *names)
{
	return names->job;
}

bool kernel_names_copying(const struct kernel_names *names)
{
	return names->job && names->reading->spool.copying;
}

const char *kernel_names_error(const struct kernel_names *names)
{
	return names->error;
}

bool kernel_names_starved(const struct kernel_names *names)
{
	return names->error && names->starved && !names->spool.spent;
}

void kernel_names_again(struct kernel_names *names)
{
	if (!names->job && !names->spool.spent)
		begin(names, NULL);
}

void kernel_names_check(struct kernel_names *names)
{
	if (!names->job && !names->spool.spent)
		begin(names, names->symbols ? symbols_kernel_file(names->symbols) : NULL);
}

bool kernel_names_give(struct kernel_names *names, struct symbols *symbols)
{
	if (!names->symbols) {
		kernel_names_again(names);
		return false;
	}
	return symbols_share_kernel(symbols, names->symbols) ||
		util_fail(&names->error, "%s: not used: too many files are open; let ktop have more (ulimit -n)",
			names->path);
}
