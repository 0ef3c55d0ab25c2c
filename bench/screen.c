/* SPDX-License-Identifier: MIT */
/*
 * `screen KTOP NAMES` prints what the live screen costs in a terminal, and how soon it answers a key, on a guest that
 * sends at three rates, and on one that sends a million trace events a second; and what each view costs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"
#include "terminal.h"
#include "setup.h"
#include "agent/base/util.h"

enum { KEYS = 50, WARM_S = 3, WATCH_S = 10 };

#define F8 "\033[19~"

struct load {
	const char *name;
	double rate, events;
	const char *keys, *text, *other;	/* of a view; one of these texts is on it alone */
};

/* Ends the program. What was on the terminal instead is in a file. */
static _Noreturn void fail_view(const struct terminal *terminal, const char *name)
{
	const char *path = "build/bench/screen.tail";
	FILE *file = fopen(path, "w");

	if (file) {
		fwrite(terminal->tail, 1, terminal->size, file);
		fclose(file);
	}
	fprintf(stderr, "screen: the view %s did not come; what came instead is in %s\n", name, path);
	exit(1);
}

/* Goes into the help and back. Each awaited text is on no other screen. */
static void press_keys(struct terminal *terminal, const struct load *load)
{
	double times[KEYS];

	for (int i = 0; i < KEYS; i++) {
		/* Types at a random moment between two frames. */
		terminal_run(terminal, 0.1 + 0.0137 * (i % 10));
		terminal_type(terminal, "?");
		times[i] = i % 2 ? terminal_await(terminal, load->text, load->other) :
			terminal_await(terminal, "the same", "every view");
		if (times[i] < 0) {
			fprintf(stderr, "screen: no answer to a key\n");
			exit(1);
		}
	}
	printf("key_%s_median\t%.1f\tms\n", load->name, 1000 * setup_median(times, KEYS));
	printf("key_%s_most\t%.1f\tms\n", load->name, 1000 * times[KEYS - 1]);
}

static void watch(char *const *words, const char *socket, struct setup setup,
	const struct load *load)
{
	struct guest guest;
	struct terminal *terminal;
	uint64_t sent, frames, bytes;
	double cpu;

	setup.traffic.rate = load->rate;
	setup.traffic.events = load->events;
	guest = guest_start(socket, &setup, false);
	terminal = terminal_start(words);
	terminal_await(terminal, "FUNCTION", "HITS");
	if (*load->keys) {
		terminal_type(terminal, load->keys);
		if (terminal_await(terminal, load->text, load->other) < 0)
			fail_view(terminal, load->name);
	}
	terminal_run(terminal, WARM_S);
	sent = *guest.sent;
	frames = terminal->frames;
	bytes = terminal->bytes;
	cpu = terminal_cpu(terminal);
	terminal_run(terminal, WATCH_S);
	cpu = terminal_cpu(terminal) - cpu;
	frames = terminal->frames - frames;
	bytes = terminal->bytes - bytes;
	printf("screen_%s_cpu\t%.2f\t%%\n", load->name, 100 * cpu / WATCH_S);
	printf("screen_%s_taken\t%.0f\t%s/s\n", load->name, (double)(*guest.sent - sent) / WATCH_S,
		load->events > 0 ? "events" : "samples");
	printf("screen_%s_frames\t%.1f\tframes/s\n", load->name, (double)frames / WATCH_S);
	printf("screen_%s_bytes\t%.0f\tbytes/frame\n", load->name,
		frames ? (double)bytes / (double)frames : 0);
	press_keys(terminal, load);
	terminal_end(terminal);
	guest_end(&guest);
}

struct view {
	const char *name, *keys;
	const char *text, *other;	/* one of these is on its screen, and not on the one before it */
};

/* Goes from view to view, on a guest that sends 4,000 samples a second. The cursor is on the first row of each. */
static void watch_views(char *const *words, const char *socket, struct setup setup)
{
	static const struct view views[] = {
		{ "functions", "", "FUNCTION", "HITS" }, { "tree_down", "2", "CALL TREE", "CALL TREE" },
		{ "tree_up", "b", "BOTTOM-UP", "BOTTOM-UP" }, { "flame", "3", "▏", "▏" },
		{ "threads", "5", "MOSTLY", "THREAD" }, { "heat", "4", "brightest", "busy" },
		{ "page", "1\r", "CALLED", "RUN BY" }, { "callers", "x", "CALLEES", "callers above" },
		{ "annotate", "6", "HEAT%", "HEAT" }, { "baseline", "1" F8, "marked", "compares" },
	};
	struct guest guest;
	struct terminal *terminal;

	setup.traffic.rate = 4000;
	guest = guest_start(socket, &setup, false);
	terminal = terminal_start(words);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		double cpu;

		if (*views[i].keys)
			terminal_type(terminal, views[i].keys);
		if (terminal_await(terminal, views[i].text, views[i].other) < 0)
			fail_view(terminal, views[i].name);
		terminal_run(terminal, WARM_S);
		cpu = terminal_cpu(terminal);
		terminal_run(terminal, WATCH_S);
		printf("view_%s_cpu\t%.2f\t%%\n", views[i].name, 100 * (terminal_cpu(terminal) - cpu) / WATCH_S);
	}
	terminal_end(terminal);
	guest_end(&guest);
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{ "idle", 0, 0, "", "FUNCTION", "HITS" }, { "4000", 4000, 0, "", "FUNCTION", "HITS" },
		{ "million", 1000000, 0, "", "FUNCTION", "HITS" },
		{ "traced", 4000, 1000000, "", "FUNCTION", "HITS" }, { "events", 4000, 1000000, "7", "p99", "p50" },
		{ "timeline", 4000, 1000000, "8", "zoom", "cpu3" },
	};
	char socket[] = "build/bench/screen.sock", port[] = "--port", kernel[] = "--kernel";
	char *words[] = { argv[1], port, socket, kernel, argv[argc - 1], NULL };
	struct setup setup = setup_parse(1, argv);

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		watch(words, socket, setup, &loads[i]);
	watch_views(words, socket, setup);
	return 0;
}
