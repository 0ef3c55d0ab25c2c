/* SPDX-License-Identifier: MIT */
/*
 * `replay KTOP [MB] [name=value...]` makes a recording of so many MB (1000 if not given) of a made-up guest, and before
 * it one of a quarter of that. KTOP plays each on its screen at the highest speed, reads each for a report, and exports
 * each in all formats. Prints how many times faster than guest time that was, and the most memory that it took. Ends
 * with 1 if that was less than 20 times, if samples are missing, if memory grows as the recording does, or if an export
 * takes more than ktop's limit. Works in build/bench/replayed.
 */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "recorded.h"
#include "setup.h"
#include "terminal.h"

enum {
	MB = 1000000,
	LEAST_RATIO = 20,
	MOST_MIB = 150,			/* as for 100 million samples: see docs/speed.md */
	EXPORT_MIB = 512,		/* ktop's own limit, if --memory says no other */
	MOST_GROWTH = 10, SPARE_MIB = 8,	/* percent of the bytes that the larger recording has more; and MiB */
	PATIENCE_S = 900,		/* catches a hang */
};

struct read {				/* by the screen, or by a report */
	double host_s, cpu_s, peak_mib;
	uint64_t samples;
};

static void fail(const char *why)
{
	fprintf(stderr, "replay: %s\n", why);
	exit(1);
}

/* ---- by a report ---- */

static uint64_t samples_of_table(void)
{
	FILE *table = fopen("table", "r");
	unsigned long long samples = 0;
	char line[4096];

	while (table && fgets(line, sizeof(line), table))
		if (sscanf(line, " \"samples\": %llu", &samples) == 1)
			break;
	if (table)
		fclose(table);
	return samples;
}

/* Runs ktop, whose output goes to a file. */
static struct read run(const char *const *words, const char *output)
{
	uint64_t begin = util_now();
	struct read read = { 0 };
	struct rusage used;
	pid_t pid;
	int status;

	fflush(stdout);			/* else the child writes it, too */
	pid = fork();
	if (pid == 0) {
		if (!freopen(output, "w", stdout))
			_exit(1);
		execv(words[0], (char *const *)words);
		_exit(1);
	}
	if (wait4(pid, &status, 0, &used) != pid || status)
		fail(words[1]);
	read.host_s = (double)(util_now() - begin) / (double)NS_PER_SECOND;
	read.cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	read.peak_mib = (double)used.ru_maxrss / 1024;
	return read;
}

static struct read report(char *ktop)
{
	struct read read = run((const char *[]) { ktop, "report", "recording", "--json", NULL }, "table");

	read.samples = samples_of_table();
	return read;
}

/* ---- by exports ---- */

static const char *const formats[] = { "folded", "json", "csv", "csv-stacks", "csv-times", "json-times", "json-stacks",
	"pprof", "callgrind", "speedscope", "firefox", "chrome", "perf-script", "svg", "html" };

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

/* The most memory that an export took. Prints that of each, and its processor time, if they have a name. */
static double exports(char *ktop, const char *name)
{
	double most = 0;

	for (int i = 0; i < FORMATS; i++) {
		struct read read = run((const char *[]) { ktop, "export", "recording", "-o", "-", "--format",
			formats[i], NULL }, "/dev/null");

		if (name)
			printf("replay_%s_%s_memory\t%.0f\tMiB\nreplay_%s_%s_cpu\t%.1f\ts\n", name, formats[i],
				read.peak_mib, name, formats[i], read.cpu_s);
		most = read.peak_mib > most ? read.peak_mib : most;
	}
	return most;
}

/* ---- on the screen ---- */

static void await(struct terminal *terminal, const char *text, const char *other)
{
	uint64_t late = util_now() + PATIENCE_S * NS_PER_SECOND;

	while (terminal_await(terminal, text, other) < 0)
		if (util_now() > late)
			fail("the screen does not show what it should");
}

/* The samples in the file that the snapshot's key has written; 0: it is not there yet. */
static uint64_t samples_of_snapshot(void)
{
	unsigned long long samples = 0;
	char *line = NULL;
	size_t room = 0;
	glob_t found;
	FILE *file;

	if (glob("ktop-*.folded", 0, NULL, &found) != 0)
		return 0;
	file = fopen(found.gl_pathv[0], "r");
	while (file && getline(&line, &room, file) > 0)
		samples += strrchr(line, ' ') ? strtoull(strrchr(line, ' '), NULL, 10) : 0;
	if (file)
		fclose(file);
	free(line);
	unlink(found.gl_pathv[0]);
	globfree(&found);
	return samples;
}

/* From the start until the title says that the end is reached. Then the window of all time, and its snapshot. */
static struct read play(char *ktop)
{
	char option[] = "--replay", folder[] = "recording", *words[] = { ktop, option, folder, NULL };
	uint64_t begin = util_now(), late;
	struct terminal *terminal = terminal_start(words);
	struct read read = { 0 };

	await(terminal, "FUNCTION", "HITS");
	terminal_type(terminal, "ffffffffff");
	await(terminal, " its", "at its end");
	read.host_s = (double)(terminal->last - begin) / (double)NS_PER_SECOND;
	read.cpu_s = terminal_cpu(terminal);
	terminal_type(terminal, "ww");
	await(terminal, "all", "all window");
	terminal_type(terminal, "s");
	late = util_now() + PATIENCE_S * NS_PER_SECOND;
	while (!(read.samples = samples_of_snapshot()) && util_now() < late)
		terminal_run(terminal, 0.1);
	read.peak_mib = terminal_peak(terminal);
	terminal_end(terminal);
	return read;
}

/* ---- the figures ---- */

static void print(const char *name, const struct recorded *made, const struct read *read)
{
	printf("replay_%s_ratio\t%.0f\ttimes\n", name, made->guest_s / read->host_s);
	printf("replay_%s_host\t%.1f\ts\n", name, read->host_s);
	printf("replay_%s_cpu\t%.1f\ts\n", name, read->cpu_s);
	printf("replay_%s_memory\t%.0f\tMiB\n", name, read->peak_mib);
	printf("replay_%s_samples\t%.2f\tmillion\n", name, (double)read->samples / 1e6);
}

static bool is_good(const char *name, const struct recorded made[2], const struct read read[2])
{
	double more = (double)(made[1].bytes - made[0].bytes) / (1 << 20), growth = read[1].peak_mib - read[0].peak_mib;
	const char *what = made[1].guest_s < LEAST_RATIO * read[1].host_s ? "is slower than 20 times guest time" :
		read[0].samples != made[0].samples || read[1].samples != made[1].samples ? "lacks samples" :
		read[1].peak_mib > MOST_MIB ? "takes more than 150 MiB" :
		growth > more * MOST_GROWTH / 100 + SPARE_MIB ? "takes much more memory for a larger recording" : NULL;

	if (what)
		fprintf(stderr, "replay: the %s %s\n", name, what);
	return !what;
}

int main(int argc, char **argv)
{
	uint64_t megabytes = argc > 2 && !strchr(argv[2], '=') ? strtoull(argv[2], NULL, 10) : 1000;
	int words = argc > 2 && !strchr(argv[2], '=') ? 2 : 1;
	struct setup setup = setup_parse(argc - words, argv + words);
	char ktop[PATH_MAX];
	struct recorded made[2];
	struct read played[2], reported[2];
	double exported[2];
	bool good;

	if (!realpath(argv[1], ktop) || system("rm -rf build/bench/replayed && mkdir -p build/bench/replayed") != 0 ||
			chdir("build/bench/replayed") != 0)
		fail("build/bench/replayed cannot be made");
	for (int i = 0; i < 2; i++) {
		made[i] = recorded_make(&setup, megabytes * MB / (i ? 1 : 4));
		reported[i] = report(ktop);
		played[i] = play(ktop);
		exported[i] = exports(ktop, i ? "export" : NULL);
	}
	printf("replay_size\t%.0f\tMB\n", (double)made[1].bytes / MB);
	printf("replay_guest\t%.0f\ts\n", made[1].guest_s);
	printf("replay_samples\t%.2f\tmillion\n", (double)made[1].samples / 1e6);
	if (made[1].events)
		printf("replay_events\t%.2f\tmillion\n", (double)made[1].events / 1e6);
	print("screen", &made[1], &played[1]);
	print("report", &made[1], &reported[1]);
	printf("replay_screen_quarter\t%.0f\tMiB\n", played[0].peak_mib);
	printf("replay_report_quarter\t%.0f\tMiB\n", reported[0].peak_mib);
	printf("replay_export_memory\t%.0f\tMiB\n", exported[1]);
	printf("replay_export_quarter\t%.0f\tMiB\n", exported[0]);
	good = is_good("screen", made, played);
	good = is_good("report", made, reported) && good;
	if (exported[1] > EXPORT_MIB) {
		fprintf(stderr, "replay: an export takes more than %d MiB\n", EXPORT_MIB);
		good = false;
	}
	return system("rm -rf recording table") != 0 || !good;
}
