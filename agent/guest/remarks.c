/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/trace/trace.h"
#include "epoch.h"
#include "guest_events.h"
#include "kernel_reading.h"
#include "kernel_watch.h"
#include "raw_samples.h"
#include "remarks.h"

/* The place in epoch->losses of each count of past losses. PRESENT: a count of what is missing now; it has no place. */
enum loss {
	LOSS_TICKS, LOSS_THREADS, LOSS_STACKS, LOSS_SPACES, LOSS_LINES, LOSS_EVENTS, LOSS_CPUS,
	LOSS_UNTIMED, LOSS_NAMES, LOSS_NOTES, LOSS_PAGES, LOSS_OVERDUE, LOSS_LEFTOVERS, LOSS_CROWDED,
	LOSS_TRACED,
	LOSSES, PRESENT = LOSSES,
};

_Static_assert((int)LOSSES <= (int)EPOCH_LOSSES, "each loss has a place");

struct line {				/* the text in the making */
	struct epoch *epoch;
	uint64_t from;			/* guest ns */
	const char *between;
	char *text;
	size_t size, used;
};

/* Makes the part printable once more: `ktop report` prints it as it is. */
static void add(struct line *line, const char *part)
{
	char *printable = util_printable(part, strlen(part));

	if (*part)
		util_print(line->text + line->used, line->size - line->used, "%s%s",
			line->used ? line->between : "", printable);
	line->used += strlen(line->text + line->used);
	free(printable);
}

/* Adds nothing for 0. In `what`, util_count chooses from "{one|many}". */
static void add_count(struct line *line, uint64_t count, const char *what)
{
	char part[200], words[160];

	util_count(words, sizeof(words), count, what);
	snprintf(part, sizeof(part), "%" PRIu64 " %s", count, words);
	if (count)
		add(line, part);
}

/* True while the range has the moment at which the count was last seen to grow. */
static bool grew_in_range(struct line *line, enum loss loss, uint64_t count)
{
	struct epoch_loss *seen = &line->epoch->losses[loss];

	if (seen->count != count)
		*seen = (struct epoch_loss) { count, epoch_now(line->epoch) };
	return seen->at >= line->from;
}

static void add_loss(struct line *line, enum loss loss, uint64_t count, const char *what)
{
	if (loss == PRESENT || grew_in_range(line, loss, count))
		add_count(line, count, what);
}

/*
 * A note about a file is told while the range has the moment at which it came; a note about the present, always. Here
 * `told` is the count that grows with each new note about a file.
 */
static void add_names(struct line *line, struct symbols *symbols)
{
	uint64_t told;
	const char *note = symbols_note(symbols, &told);
	bool recent = grew_in_range(line, LOSS_NOTES, told);

	if (recent || !told)
		add(line, note);
}

/* The smallest size that would have held all rows. The hook takes powers of 2. */
static uint64_t rows_for(const struct table_fill *table)
{
	uint64_t rows = 1;

	while (rows < (uint64_t)table->used + table->missing)
		rows *= 2;
	return rows > table->size ? rows : (uint64_t)table->size * 2;
}

/*
 * Counts what has no name at present. A table that has free rows may still miss some: they came while it was full, and
 * they still live.
 */
static void add_tables(struct line *line, const struct epoch *epoch)
{
	static const struct { const char *what, *setting; } kinds[] = {
		[TABLE_PROCESSES] = { "{process|processes} without a name", "processes" },
		[TABLE_THREADS] = { "{thread|threads} without a name", "threads" },
		[TABLE_OBJECTS] = { "{process without its|processes without their} files", "objects" },
		[TABLE_EVENTS] = { "trace {event|events} that cannot be traced", "events" },
	};
	const struct table_fill *marks = &epoch->tables[TABLE_MARKS];
	char what[160];

	for (int kind = 0; kind < TABLE_MARKS; kind++) {
		const struct table_fill *table = &epoch->tables[kind];

		if (kind == TABLE_EVENTS && table->used < table->size) {	/* which gives no row back */
			add_count(line, table->missing, "trace {event is|events are} refused: another one has the same "
				"id, or the texts are too long");
			continue;
		}
		snprintf(what, sizeof(what), "%s: the guest keeps %" PRIu32 " %s; %s %s=%" PRIu64,
			kinds[kind].what, table->size, kinds[kind].setting,
			strcmp(epoch->kernel, "Linux") == 0 ? "insmod ktop.ko with" :
			"more by the hook's settings:", kinds[kind].setting, rows_for(table));
		add_count(line, table->missing, what);
	}
	snprintf(what, sizeof(what), "{text of programs marks|texts of programs mark} nothing: the guest keeps %" PRIu32
		"; let programs mark with fewer", marks->size);
	add_count(line, marks->missing, what);
	if (!epoch->tables_told)
		add_loss(line, LOSS_NAMES, epoch->status.meta_lost, "{name|names} lost: the tables of the "
			"guest's hook are full; give it larger ones");
}

/*
 * PRESENT: the count says what is missing at present. Either epoch_retry makes it good when memory is free again, or
 * each question counts it anew. All other counts are losses of the past: they are told while the range has their time.
 */
static void add_memory(struct line *line, const struct epoch *epoch)
{
	const struct query_inputs *inputs = &epoch->inputs;
	const struct { enum loss loss; uint64_t count; const char *what; } rows[] = {
		{ LOSS_TICKS, store_given_up(inputs->store), "{sampling tick|sampling ticks} not kept" },
		{ LOSS_THREADS, store_forgotten(inputs->store),
			"{sampling tick without its|sampling ticks without their} thread and CPU" },
		{ LOSS_STACKS, stacks_refused(inputs->stacks), "{sample without its|samples without their} stack" },
		{ PRESENT, query_refused(epoch->query), "{call|calls} not counted" },
		{ PRESENT, symbols_refused(inputs->symbols), "{address without its|addresses without their} function" },
		{ PRESENT, symbols_told_refused(inputs->symbols),
			"{name|names} of kernel functions not kept" },
		{ PRESENT, threads_refused(inputs->threads), "{name of a thread or process|names of "
			"threads and processes} not kept" },
		{ LOSS_SPACES, symbols_spaces_refused(inputs->symbols),
			"{sample of a program without its|samples of programs without their} names" },
		{ LOSS_LINES, symbols_lines_refused(inputs->symbols), "source {line|lines} not read" },
		{ LOSS_EVENTS, guest_events_refused(epoch->events), "{event|events} not counted by kind" },
		{ LOSS_PAGES, guest_memory_unkept(epoch->memory), "{page|pages} of the guest's memory not kept" },
		{ LOSS_CROWDED, raw_samples_lost(epoch->held, RAW_CROWDED).ticks,
			"{sampling tick|sampling ticks} counted before all names and tables had come" },
		{ LOSS_CPUS, epoch->cpus_refused, "{event|events} dropped, of CPUs that are not shown" },
	};
	char what[160];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(what, sizeof(what), "%s: memory is full; give more by --memory", rows[i].what);
		add_loss(line, rows[i].loss, rows[i].count, what);
	}
}

/* Of trace events, with what loses fewer. */
static void add_traced(struct line *line, const struct epoch *epoch)
{
	bool is_linux = strcmp(epoch->kernel, "Linux") == 0;
	char what[160];

	snprintf(what, sizeof(what), "trace {event|events} lost: trace fewer kinds, filter them, or leave out stacks; "
		"or %s", is_linux ? "insmod ktop.ko with a larger ring=" : "give the hook a larger settings.ring_size");
	add_loss(line, LOSS_TRACED, trace_counts(epoch->trace).lost, what);
}

/* All times that are shown are wrong by as much. */
static void add_clock(struct line *line)
{
	uint64_t hz = 0, error = 0;
	char text[200];

	if (!line->epoch->known || line->epoch->clock_told)
		return;
	add(line, "the guest does not know how fast its clock runs: times are as if at 1 GHz");
	if (epoch_measured_clock(line->epoch, &hz, &error))
		add(line, util_print(text, sizeof(text), "by the host's clock it runs at %.4g MHz, within %.2g %%",
			(double)hz * 1e-6, 100.0 * (double)error / (double)hz));
}

/* What the plugin cannot trace of this kernel. */
static void add_missing(struct line *line)
{
	char missing[400], part[440];

	kernel_watch_has_told(line->epoch->watch, missing, sizeof(missing));
	if (missing[0])
		add(line, util_print(part, sizeof(part), "events that the plugin does not trace of this kernel: %s",
			missing));
}

const char *remarks_text(struct epoch *epoch, uint64_t from, const char *outside, const char *between, char *text,
	size_t size)
{
	struct line line = {
		.epoch = epoch, .from = from, .between = between, .text = text, .size = size,
	};

	text[0] = '\0';
	add_memory(&line, epoch);
	add_loss(&line, LOSS_UNTIMED, epoch->untimed, "{sampling tick is not counted: it|sampling ticks are not "
		"counted: they} came before the guest told the speed of its clock; later ones are");
	add_loss(&line, LOSS_LEFTOVERS, epoch->played ? epoch->leftovers : 0, "{sample or event of the guest is|"
		"samples and events of the guest are} left out: from before the recording began, for somebody else");
	add_loss(&line, LOSS_OVERDUE, guest_memory_overdue(epoch->memory), "{page|pages} of the guest's memory did "
		"not come: names of its modules and processes may be missing; ktop asks again");
	add_traced(&line, epoch);
	add_tables(&line, epoch);
	add_count(&line, symbols_left_out(epoch->inputs.symbols),
		"{symbol left out: its line or name is|symbols left out: their lines or names "
		"are} damaged; give a whole file");
	add_clock(&line);
	add(&line, epoch->told ? "" : epoch->remark);
	add(&line, epoch->refused);
	add(&line, epoch->note);
	add(&line, kernel_code_note(epoch->code));
	add_names(&line, epoch->inputs.symbols);
	add_missing(&line);
	add(&line, outside);
	return text;
}

/* What was lost at another time is no reason. */
static void add_reasons(struct line *line, uint64_t to)
{
	static const char *const why[RAW_LOSSES] = {
		[RAW_CROWDED] = "it came before its names, and memory was full; give more by --memory",
		[RAW_HURRIED] = "it came before its names, which did not come in time",
		[RAW_NAMELESS] = "it ran before threads were known, in a program that was not met again",
	};

	for (int i = 0; i < RAW_LOSSES; i++) {
		const struct raw_lost lost = raw_samples_lost(line->epoch->held, (enum raw_loss)i);

		if (lost.ticks && epoch_ns(line->epoch, lost.first) < to &&
				epoch_ns(line->epoch, lost.last) >= line->from)
			add(line, why[i]);
	}
}

const char *remarks_incomplete(struct epoch *epoch, uint64_t from, uint64_t to, char text[REMARKS_INCOMPLETE])
{
	struct line line = {
		.epoch = epoch, .from = from, .between = "; or ", .text = text, .size = REMARKS_INCOMPLETE,
	};

	if (epoch->remark[0] && !epoch->told)
		return util_print(text, REMARKS_INCOMPLETE, "%s", epoch->remark);
	if (symbols_being_told(epoch->inputs.symbols) || symbols_reading(epoch->inputs.symbols))
		return util_print(text, REMARKS_INCOMPLETE, "%s", "its names have not all come yet; report again");
	text[0] = '\0';
	add_reasons(&line, to);
	if (!text[0])
		add(&line, "the code is in no file and no region that is known; a program, or the sampling of it, "
			"may have ended before its files were found");
	return text;
}
