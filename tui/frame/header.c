/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/vm/state_words.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "emptiness.h"
#include "header.h"
#include "scope.h"

/* ---- the remark ---- */

enum { ROWS_MOST = 2, TEXT = sizeof(((struct vitals *)0)->note) };

static const uint64_t turn_ns = 5 * NS_PER_SECOND;	/* guest time for which each remark is shown */

/* Copies the first remark of the note to `text`. Returns the rest of the note; NULL: there was no remark. */
static const char *next_remark(const char *note, char text[TEXT])
{
	size_t size = strcspn(note, VITALS_NOTES);

	memcpy(text, note, size);
	text[size] = '\0';
	return size ? note + size + strspn(note + size, VITALS_NOTES) : NULL;
}

/* Finds the remark with this number, or the last, among those that are not put away. Returns how many these are. */
static size_t find(const struct vitals *vitals, const struct scope *scope, size_t number,
	char found[TEXT])
{
	const char *at = vitals->note;
	char text[TEXT];
	size_t count = 0;

	found[0] = '\0';
	while ((at = next_remark(at, text))) {
		if (away_has(&scope->away, text))
			continue;
		if (count++ <= number)
			strcpy(found, text);
	}
	return count;
}

/* How many rows remark_line_draw will use. */
static int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope)
{
	char text[TEXT];
	size_t count = find(vitals, scope, 0, text);
	int most = area.rows < ROWS_MOST ? area.rows : ROWS_MOST, rows = 0;

	for (size_t i = 0; i < count; i++) {
		int needed;

		find(vitals, scope, i, text);
		needed = canvas_rows(canvas, text, area.columns);
		rows = needed > rows ? needed : rows;
	}
	return rows < most ? rows : most;
}

/* Returns the rows of the area that it used: as many as the longest remark needs, so that nothing moves. */
static int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope)
{
	char text[TEXT];
	size_t count = find(vitals, scope, 0, text);

	area.rows = remark_line_rows(canvas, area, vitals, scope);
	if (area.rows == 0)
		return 0;
	find(vitals, scope, vitals->now / turn_ns % count, text);
	canvas_wrap(canvas, area, STYLE_WARN, text);
	return area.rows;
}

bool remark_line_any(const struct vitals *vitals, const struct scope *scope)
{
	char text[TEXT];

	return find(vitals, scope, 0, text) != 0;
}

/* Adds all remarks of the vitals to `away`; with `before` not NULL, only those that are in it. */
static void remark_line_put_away(const struct vitals *vitals, const struct away *before, struct away *away)
{
	const char *at = vitals->note;
	char text[TEXT];

	while ((at = next_remark(at, text)))
		if (!before || away_has(before, text))
			away_put(away, text);
}

/* ---- title ---- */

enum {
	ITEMS = 20, ITEM_TEXT = 200,	/* items at most; bytes of each */
	GAP = 2, STATE = 8,		/* columns between two items; columns of the profiler's state */
	COUNT = 24,			/* bytes of a count as text */
	NARROW = 30,			/* with fewer columns, words are shorter */
	USUAL = 80, WIDE = 120,		/* columns from which a title has two lines; one */
	NEEDED = 60,			/* in a narrow title, an item of this importance may take a further line */
	MUST = 80,			/* in each, an item of this importance: it tells what the numbers are */
};

struct item {
	char text[ITEM_TEXT];
	int width;			/* columns that it takes, at least those of its text (see choose) */
	uint8_t style;
	int keep;			/* its importance, 0 to 100; below NEEDED: where there is room for it */
	bool seen, shown;		/* choose has looked at it; and has chosen it */
};

struct title {
	struct item items[ITEMS];
	int count;
	int second;			/* the first item about the profile: it begins the second line, or is -1 */
};

/* `width`: the least columns for the item, so that the others keep their places when its text changes. */
static __attribute__((format(printf, 5, 6))) void add(struct title *title, uint8_t style, int keep, int width,
	const char *format, ...)
{
	struct item *item;
	va_list arguments;

	if (title->count == ITEMS)
		return;
	item = &title->items[title->count++];
	*item = (struct item) { .style = style, .keep = keep, .width = width };
	va_start(arguments, format);
	vsnprintf(item->text, sizeof(item->text), format, arguments);
	va_end(arguments);
}

static void add_machines(struct title *title, const struct vitals *vitals)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < vitals->machine_count; i++)
		cpus += vitals->machines[i].cpu_count;
	add(title, STYLE_TITLE, 25, 0, "ktop");
	add(title, STYLE_TITLE, 83, 0, "%zu machines", vitals->machine_count);
	add(title, STYLE_TEXT, 20, 0, "%u vCPU", cpus);
}

/* That this is a recording, and its time, are never left out for want of room. */
static void add_play(struct title *title, const struct play_state *play, int64_t zero)
{
	char at[SCOPE_TIME], end[SCOPE_TIME], speed[16];
	unsigned power = (unsigned)(play->speed < 0 ? -play->speed : play->speed);

	snprintf(speed, sizeof(speed), "x%s%u", play->speed < 0 ? "1/" : "", 1u << power);
	add(title, STYLE_WARN, 99, 0, "replay %s", play->over ? "at its end" : play->playing ? speed : "paused");
	add(title, STYLE_WARN, 98, 19, "at %s of %s", scope_time(uptime_shown(zero, play->at), at),
		scope_time(uptime_shown(zero, play->end), end));
	if (play->boots > 1)
		add(title, STYLE_TEXT, 79, 0, "boot %u of %u", play->boot, play->boots);
}

static void add_machine(struct title *title, const struct vitals *vitals)
{
	bool well = vitals->vm == VM_RUNNING || vitals->vm == VM_UNKNOWN;
	char time[SCOPE_TIME], boot[128];

	add(title, STYLE_TITLE, 25, 0, "ktop");
	if (vitals->kernel[0] != '\0') {
		add(title, STYLE_TITLE, 83, 0, "%s%s%s%s%s", vitals->kernel,
			vitals->version[0] ? " " : "", vitals->version,
			vitals->arch[0] ? " " : "", vitals->arch);
		add(title, STYLE_TEXT, 20, 0, "%u vCPU", vitals->cpu_count);
		if (vitals->up.by != UPTIME_UNKNOWN)
			add(title, STYLE_TEXT, 30, 0, "%s %s", vitals->up.by == UPTIME_MACHINE ? "VM up" : "up",
				scope_time(uptime_shown(vitals->up.begun, vitals->now), time));
		if (vitals->up.both)
			add(title, STYLE_TEXT, 29, 0, "VM up %s",
				scope_time(uptime_shown(vitals->up.reset, vitals->now), time));
		if (boot_times_text(&vitals->boot, boot, sizeof(boot))[0])
			add(title, STYLE_TEXT, 15, 0, "boot: %s", boot);
	} else {
		add(title, STYLE_DIM, 83, 0, "the guest is not known yet");
	}
	if (vitals->play.there) {
		add_play(title, &vitals->play, vitals->answer.zero);
		return;
	}
	if (vitals->kernel[0] != '\0')
		add(title, STYLE_TEXT, 10, 0, vitals->sampler == SAMPLER_STUB ? "gdb stub" :
			vitals->sampler == SAMPLER_OUTSIDE ? "plugin" : "hook");
	add(title, well ? STYLE_TEXT : STYLE_WARN, well ? 12 : 99, 12, "%s",
		state_words_of_vm(vitals->vm)->name);
}

static void add_states(struct title *title, const struct canvas *canvas,
	const struct vitals *vitals)
{
	size_t running = 0;

	for (size_t i = 0; i < vitals->machine_count; i++)
		running += vitals->machines[i].running;
	if (running == vitals->machine_count)
		add(title, STYLE_GOOD, 100, 2 * STATE, "%s REC", glyphs_text(canvas, GLYPH_ON));
	else if (running)
		add(title, STYLE_WARN, 100, 2 * STATE, "%s REC on %zu of %zu",
			glyphs_text(canvas, GLYPH_ON), running, vitals->machine_count);
	else
		add(title, STYLE_WARN, 100, 2 * STATE, "%s off", glyphs_text(canvas, GLYPH_OFF));
}

/* The state, and the rate. While the link is not up, there is no rate, and the state takes its place, too. */
static void add_state(struct title *title, const struct canvas *canvas,
	const struct vitals *vitals)
{
	int digits = snprintf(NULL, 0, "%u", vitals->rate), rate = 2 * digits + 10;
	char achieved[COUNT];

	snprintf(achieved, COUNT, "%.0f", vitals->achieved);
	if (vitals->link != LINK_UP)
		add(title, STYLE_WARN, 100, STATE + GAP + rate, "%s %s",
			glyphs_text(canvas, GLYPH_OFF), state_words_of_link(vitals->link, BY_HOOK)->name);
	else if (vitals->vm == VM_PANICKED)
		add(title, STYLE_WARN, 100, STATE, "%s %s", glyphs_text(canvas, GLYPH_OFF),
			state_words_of_vm(vitals->vm)->brief);
	else if (vitals->vm == VM_PAUSED)
		add(title, STYLE_WARN, 100, STATE, "%s %s", glyphs_text(canvas, GLYPH_PAUSED),
			state_words_of_vm(vitals->vm)->brief);
	else if (vitals->running)
		add(title, STYLE_GOOD, 100, STATE, "%s REC", glyphs_text(canvas, GLYPH_ON));
	else
		add(title, STYLE_WARN, 100, STATE, "%s off", glyphs_text(canvas, GLYPH_OFF));
	if (vitals->link == LINK_UP && vitals->sampler == SAMPLER_NONE)
		add(title, STYLE_WARN, 77, 0, "trace only");
	else if (vitals->link == LINK_UP)
		add(title, STYLE_TEXT, 77, rate, "%u/%-*s Hz %s", vitals->rate, digits,
			vitals->achieved < 0 ? "-" : achieved, sampler_word(vitals->sampler));
}

/*
 * The share, 0 to 1, of the missed periods in all time of the window: nobody knows what ran in them, since the host did
 * not run the guest, or the guest stood still. Of the filter, only its CPU counts.
 */
static double title_missed(const struct vitals *vitals, const struct filter *filter)
{
	uint64_t missed = 0, all = 0;

	for (uint32_t i = 0; i < vitals->cpu_count; i++) {
		const struct cpu_series *series = &vitals->cpus[i].series;

		if (!vitals->machines && !filter_passes_cpu(filter, i))
			continue;
		missed += series->missed;
		for (int mode = 0; mode < MODES; mode++)
			all += series->mode[mode];
	}
	return missed ? (double)missed / (double)(missed + all) : 0;
}

/* The count in at most four columns: "9999", "10k". */
static const char *short_count(uint64_t count, char text[COUNT])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t unit = 0;

	for (; count > (unit ? 999 : 9999); count /= 1000)
		unit++;
	snprintf(text, COUNT, "%" PRIu64 "%s", count, units[unit]);
	return text;
}

/* Losses in the guest and on the way to ktop: exact if that fits in the item's width, else shortened; trace events. */
static void add_lost(struct title *title, const struct vitals *vitals, int columns)
{
	int width = columns < NARROW ? 9 : columns < 60 ? 11 : 15, keep = columns < NARROW ? 99 : 97;
	uint64_t guest = vitals->lost_guest, host = vitals->lost_host, events = vitals->events.lost;
	char text[2 * COUNT + 8] = "lost 0", first[COUNT], second[COUNT];

	if (guest + host + events == 0) {
		add(title, STYLE_TEXT, 97, width, "%s", text);
		return;
	}
	if (guest + host)
		snprintf(text, sizeof(text), "lost %" PRIu64 "+%" PRIu64, guest, host);
	if ((int)strlen(text) > width)
		snprintf(text, sizeof(text), "lost %s+%s", short_count(guest, first),
			short_count(host, second));
	if ((int)strlen(text) > width)
		snprintf(text, sizeof(text), "lost %s", short_count(guest + host, first));
	if (events && columns < NARROW)
		add(title, STYLE_BAD, keep, width, "lost %s", short_count(guest + host + events, first));
	else
		add(title, STYLE_BAD, keep, width, "%s%s%s", text, events ? ", events " : "",
			events ? short_count(events, first) : "");
}

/* Trace events: their rate over all CPUs, and their cost as a share of a CPU; nothing while they are off. */
static void add_events(struct title *title, const struct vitals *vitals, int columns)
{
	int keep = columns < USUAL ? NEEDED - 1 : 76;
	double cost = 100 * vitals->events.cost_share;
	char rate[COUNT];

	if (vitals->events.rate < 0)
		snprintf(rate, COUNT, "-");
	else
		short_count((uint64_t)(vitals->events.rate + 0.5), rate);
	if (vitals->events.on && (vitals->machines || !(cost > 0)))
		add(title, STYLE_TEXT, keep, vitals->machines ? 13 : 19, "events %s/s", rate);
	else if (vitals->events.on)
		add(title, STYLE_TEXT, keep, 19, "events %s/s %.*f%%", rate, cost < 9.95, cost);
	else if (vitals->sampler == SAMPLER_NONE && vitals->running && !vitals->machines)
		add(title, STYLE_WARN, keep, 19, "no event is on");
}

/* Where a window lies that is not live: the range by which a report is asked for the same. */
static const char *place_of(const struct vitals *vitals, const struct scope *scope, char text[SCOPE_PLACE])
{
	uint64_t end = scope_until(scope), begin = end > scope->window_ns ? end - scope->window_ns : 0;
	int64_t zero = vitals->answer.zero;
	char time[SCOPE_TIME];

	if (vitals->to)
		return scope_place(uptime_shown(zero, vitals->from), uptime_shown(zero, vitals->to), text);
	if (!scope->moved && scope->zero_ns > begin)
		begin = scope->zero_ns;
	if (scope->window_ns && begin < end)
		return scope_place(uptime_shown(zero, begin), uptime_shown(zero, end), text);
	snprintf(text, SCOPE_PLACE, "at %s", scope_time(uptime_shown(zero, end), time));
	return text;
}

/* The window, and that it is not live if it was moved or frozen. */
static void add_window(struct title *title, const struct vitals *vitals, const struct scope *scope,
	const struct keys *keys, int columns)
{
	char window[SCOPE_WINDOW], place[SCOPE_PLACE], live[KEYS_TEXT];

	if (!scope->until_ns)
		add(title, STYLE_TEXT, columns < USUAL ? 69 : 82, 10, "%s window", scope_window(scope, window));
	else if (!scope->moved && columns < NARROW)
		add(title, STYLE_WARN, 98, 0, "FROZEN");
	else if (!scope->moved)
		add(title, STYLE_WARN, 98, 0, "FROZEN %s", place_of(vitals, scope, place));
	else if (columns < NARROW)
		add(title, STYLE_WARN, 98, 0, "%s", place_of(vitals, scope, place));
	else
		add(title, STYLE_WARN, 98, 0, "%s, live: %s", place_of(vitals, scope, place),
			keys_text(keys, "{live}", live));
}

static void add_scope(struct title *title, const struct vitals *vitals, const struct scope *scope, int columns)
{
	int64_t zero = vitals->answer.zero;
	char time[SCOPE_TIME];

	if (columns < NARROW) {
		if (scope->base.until_ns)
			add(title, STYLE_WARN, 84, 0, "baseline");
		if (scope->filter_text[0] != '\0')
			add(title, STYLE_WARN, 98, 0, "filtered");
		return;
	}
	if (scope->no_idle)
		add(title, STYLE_TEXT, 81, 0, "idle hidden");
	if (scope->zero_ns && !scope->moved)
		add(title, STYLE_WARN, 85, 0, "since %s",
			scope_time(uptime_shown(zero, scope->zero_ns), time));
	if (scope->base.until_ns)
		add(title, STYLE_WARN, 86, 0, "baseline of %s",
			scope_time(uptime_shown(zero, (uint64_t)((int64_t)scope->base.until_ns - scope->base.back_ns)),
				time));
	if (scope->by != GROUP_FUNCTION)
		add(title, STYLE_TEXT, 59, 0, "by %s", group_words[scope->by]);
	if (scope->filter_text[0] != '\0')
		add(title, STYLE_WARN, 90, 0, "filter: %s", scope->filter_text);
}

/* Less important facts. The last ones are shown only if there is room. */
static void add_rest(struct title *title, const struct vitals *vitals, const struct filter *filter)
{
	double missed = title_missed(vitals, filter) * 100;

	if (missed > 0 || vitals->sampler != SAMPLER_NONE)
		add(title, missed >= 1 ? STYLE_WARN : STYLE_DIM, missed >= 1 ? 78 : 67, 17, "CPUs not run %.*f%%",
			missed < 9.95, missed);
	if (vitals->skipped_bytes)
		add(title, STYLE_BAD, 87, 0, "skipped %" PRIu64 " B", vitals->skipped_bytes);
	if (vitals->lost_before)
		add(title, STYLE_DIM, 72, 0, "lost earlier %" PRIu64, vitals->lost_before);
	if (vitals->machines || vitals->sampler == SAMPLER_NONE)
		return;
	add(title, vitals->ring_fill > 0.8 ? STYLE_WARN : STYLE_DIM, 0, 9, "ring %.0f%%",
		vitals->ring_fill * 100);
	if (vitals->sampler == SAMPLER_STUB)
		add(title, STYLE_WARN, 65, 20, "guest stopped %.1f%%", vitals->cost_share * 100);
	else if (!(vitals->cost_ns > 0))
		add(title, STYLE_DIM, 0, 26, "cost -");
	else
		add(title, STYLE_DIM, 0, 26, "cost %.0f ns/sample %.2f%%", vitals->cost_ns,
			vitals->cost_share * 100);
}

/* Lays out the items that are shown; draws them if `draw`. Item `second` begins a line. Returns how many lines. */
static int flow(const struct title *title, struct canvas *canvas, struct area area, int second,
	bool draw)
{
	int line = 0, column = 1;

	for (int i = 0; i < title->count; i++) {
		const struct item *item = &title->items[i];

		if (!item->shown)
			continue;
		if (column > 1 && (i == second || column + item->width > area.columns)) {
			line++;
			column = 1;
		}
		if (draw)
			canvas_text(canvas, (struct place) { area.row + line, area.column + column,
				area.columns - column }, item->style, item->text);
		column += item->width + GAP;
	}
	return line + 1;
}

/* How many lines the items take. Sets `second` for flow: -1 if one line is enough. */
static int lines(const struct title *title, struct canvas *canvas, struct area area, int *second)
{
	int plain = flow(title, canvas, area, -1, false);

	*second = plain == 1 ? -1 : title->second;
	return plain == 1 ? 1 : flow(title, canvas, area, title->second, false);
}

static struct item *most_important(struct title *title)
{
	struct item *most = NULL;

	for (int i = 0; i < title->count; i++)
		if (!title->items[i].seen && (!most || title->items[i].keep > most->keep))
			most = &title->items[i];
	return most;
}

/* So many lines the item may make of the title, which has at most `most`. */
static int lines_for(const struct item *item, int columns, int most)
{
	int usual = columns >= WIDE || most < 2 ? 1 : columns >= USUAL || item->keep < NEEDED ? 2 : most;

	return item->keep == 0 ? 0 : usual < most ? usual : most;
}

/* Shows the item, but not if it makes more lines than that. */
static bool show(struct title *title, struct canvas *canvas, struct area area, struct item *item, int *height, int most)
{
	int taken, second;

	item->shown = true;
	taken = lines(title, canvas, area, &second);
	item->shown = taken <= *height || taken <= most;
	if (item->shown)
		*height = taken;
	return item->shown;
}

/*
 * Chooses items, the most important first, as far as the lines hold them. Only what tells what the numbers are makes
 * further lines than a title of this width has.
 */
static void choose(struct title *title, struct canvas *canvas, struct area area, int most)
{
	struct item *item;
	int height = 1, second = title->second;

	for (int i = 0; i < title->count; i++) {
		int width = canvas_width(canvas, title->items[i].text);

		if (width > title->items[i].width)
			title->items[i].width = width;
	}
	while ((item = most_important(title))) {
		int usual = lines_for(item, area.columns, most);

		item->seen = true;
		if (show(title, canvas, area, item, &height, usual) || item->keep < MUST)
			continue;
		if (area.columns >= USUAL && height <= usual)
			title->second = -1;	/* lines without a break have more room */
		if (title->second < 0 && show(title, canvas, area, item, &height, usual))
			continue;
		title->second = second;
		show(title, canvas, area, item, &height, most);
	}
}

int title_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys)
{
	int most = area.rows / 5 > 1 ? area.rows / 5 : 1, height, second;
	struct area below = { area.row, area.column + 1, most - 1, area.columns - 2 };
	int note = remark_line_rows(canvas, below, vitals, scope);
	struct title title = { .count = 0 };

	(vitals->machines ? add_machines : add_machine)(&title, vitals);
	title.second = title.count;
	(vitals->machines ? add_states : add_state)(&title, canvas, vitals);
	add_window(&title, vitals, scope, keys, area.columns);
	add_lost(&title, vitals, area.columns);
	add_events(&title, vitals, area.columns);
	add_scope(&title, vitals, scope, area.columns);
	add_rest(&title, vitals, &scope->filter);

	choose(&title, canvas, area, most - note);
	lines(&title, canvas, area, &second);
	height = flow(&title, canvas, area, second, true);
	below.row += height;
	remark_line_draw(canvas, below, vitals, scope);
	return height + note;
}

/* ---- header ---- */

enum {
	BAR_LEAST = 8, BAR_MOST = 25,	/* columns of a bar */
	LABEL = 16,			/* bytes of a label; columns of a machine's name at most */
	IDLE = 7,			/* columns of the share of idle time, " i  17%" */
	STRIP_MOST = 4,			/* rows of the strip */
};

#define MISSED_TOLD 0.2			/* a remark tells of missed periods if their share is larger than this */

struct bars {				/* how many columns the parts of one CPU's line have */
	int label, bar, histogram;
};

/* " cpu0 k ████▌  62% u ██▎  21% i 17% │ 60s ▁▂▃": all parts but the bars and the histogram have fixed widths. */
static struct bars bars_layout(int label, int columns)
{
	static const int histograms[] = { 60, 30, 20, 10, 0 };
	struct bars bars = { .label = label };

	for (size_t i = 0; i < sizeof(histograms) / sizeof(*histograms); i++) {
		int fixed = label + 2 * 7 + 7, left;

		bars.histogram = histograms[i];
		left = columns - 1 - fixed - (bars.histogram ? bars.histogram + 7 : 0);
		bars.bar = left / 2 > BAR_MOST ? BAR_MOST : left / 2 > 0 ? left / 2 : 0;
		if (bars.bar >= BAR_LEAST)
			break;
	}
	return bars;
}

static uint64_t sum_modes(const uint64_t mode[MODES])
{
	uint64_t sum = 0;

	for (int i = 0; i < MODES; i++)
		sum += mode[i];
	return sum;
}

/* A share, 0 to 1; -1: there are no samples. */
static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

/* The style of kernel or of user, whichever has more. */
static uint8_t busier_style(const uint64_t mode[MODES])
{
	return mode[MODE_KERNEL] >= mode[MODE_USER] ? STYLE_KERNEL : STYLE_USER;
}

static void draw_histogram(struct canvas *canvas, struct place place,
	const struct cpu_series *series)
{
	uint64_t modes[MODES][TABLE_TREND], folded[MODES][TABLE_TREND];

	for (int mode = 0; mode < MODES; mode++) {
		for (int i = 0; i < TABLE_TREND; i++)
			modes[mode][i] = series->trend ? series->trend[i][mode] : 0;
		glyphs_fold(modes[mode], TABLE_TREND, folded[mode], (size_t)place.width);
	}
	for (int i = 0; i < place.width; i++) {
		uint64_t all[MODES] = { folded[0][i], folded[1][i], folded[2][i] };
		uint64_t busy = all[MODE_KERNEL] + all[MODE_USER], sum = sum_modes(all);

		glyphs_column(canvas, (struct place) { place.row, place.column + i, 1 },
			busier_style(all), share(busy, sum));
	}
}

/* Draws the name of a share, a bar of so many columns, and the share in percent. Returns the column behind them. */
static int draw_bar(struct canvas *canvas, struct place place, int bar, uint8_t style,
	const char *name, double part)
{
	canvas_text(canvas, (struct place) { place.row, place.column, 3 }, STYLE_DIM, name);
	place.column += 3;
	glyphs_bar(canvas, (struct place) { place.row, place.column, bar }, style, part);
	place.column += bar;
	if (part < 0)
		canvas_text(canvas, (struct place) { place.row, place.column, 4 }, STYLE_DIM, "   -");
	else
		canvas_format(canvas, (struct place) { place.row, place.column, 4 }, style,
			"%3.0f%%", part * 100);
	return place.column + 4;
}

static void draw_bars(struct canvas *canvas, struct place place, struct bars bars,
	const struct cpu_series *series)
{
	const uint64_t *mode = series->mode;
	uint64_t sum = sum_modes(mode);
	int end = place.column + place.width;

	place.column = draw_bar(canvas, place, bars.bar, STYLE_KERNEL, " k ",
		share(mode[MODE_KERNEL], sum));
	place.column =
		draw_bar(canvas, place, bars.bar, STYLE_USER, " u ", share(mode[MODE_USER], sum));
	if (place.column + IDLE <= end)
		place.column = draw_bar(canvas, place, 0, STYLE_IDLE, " i ",
			share(mode[MODE_IDLE], sum));
	if (bars.histogram == 0)
		return;
	place.width = end - place.column;
	place.column += 1 + canvas_format(canvas, (struct place) { place.row, place.column + 1, 6 },
		STYLE_DIM, "%s 60s ", glyphs_text(canvas, GLYPH_WALL));
	place.width = bars.histogram;
	draw_histogram(canvas, place, series);
}

/* Why this CPU has no bars; NULL: it has some. */
static const char *why_not_sampled(const struct vitals *vitals, const struct cpu_vitals *cpu)
{
	if (cpu->sampler)
		return "sampler: sends the NMIs to the others, is not sampled itself";
	if (!vitals->running || cpu->enabled || (vitals->sampler == SAMPLER_NONE && sum_modes(cpu->series.mode)))
		return NULL;
	return vitals->sampler == SAMPLER_NONE ? "no samples: trace only" : "not sampled";
}

/* `why`: a text in place of the bars; NULL: the bars are drawn. */
static void draw_cpu(struct canvas *canvas, struct place place, struct bars bars,
	const char *label, const char *why, const struct cpu_series *series)
{
	canvas_text(canvas, (struct place) { place.row, place.column + 1, bars.label }, STYLE_TEXT,
		label);
	place.column += 1 + bars.label;
	place.width -= 1 + bars.label;
	if (!why) {
		draw_bars(canvas, place, bars, series);
		return;
	}
	place.column++;
	place.width--;
	canvas_text(canvas, place, STYLE_DIM, why);
}

static void add_series(struct cpu_series *sum, const struct cpu_series *series, bool trend)
{
	for (int mode = 0; mode < MODES; mode++) {
		sum->mode[mode] += series->mode[mode];
		for (int i = 0; trend && i < TABLE_TREND; i++)
			sum->trend[i][mode] += series->trend[i][mode];
	}
}

/* Draws the busiest of these CPUs, as one column of the strip. */
static void draw_busiest(struct canvas *canvas, struct place place, const struct cpu_vitals *cpus,
	uint32_t count)
{
	const uint64_t *mode = cpus[0].series.mode;
	double most = -1;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *own = cpus[i].series.mode;
		double busy = share(own[MODE_KERNEL] + own[MODE_USER], sum_modes(own));

		if (busy > most) {
			most = busy;
			mode = own;
		}
	}
	glyphs_column(canvas, place, busier_style(mode), most);
}

/* A column for each CPU; if they do not fit, for each group of neighbours. Returns the rows used. */
static int draw_strip(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	uint32_t count = vitals->cpu_count, each = 1, columns, rows;
	char label[LABEL] = "each";
	int left = 6;

	if (area.columns < 2 * LABEL || area.rows < 1)
		return 0;
	columns = (uint32_t)(area.columns - LABEL / 2 - 1);
	rows = area.rows < STRIP_MOST ? (uint32_t)area.rows : STRIP_MOST;
	while (columns * rows < (count + each - 1) / each)
		each++;
	if (each > 1)
		left = 2 + snprintf(label, sizeof(label), "by %u", each);
	canvas_text(canvas, (struct place) { area.row, area.column + 1, left - 1 }, STYLE_DIM, label);
	for (uint32_t i = 0; i * each < count; i++) {
		struct place place = { area.row + (int)(i / columns),
			area.column + left + (int)(i % columns), 1 };
		uint32_t rest = count - i * each;

		draw_busiest(canvas, place, &vitals->cpus[i * each], rest < each ? rest : each);
	}
	return (int)(((count + each - 1) / each + columns - 1) / columns);
}

/* A line for all CPUs together, and below it a strip with a column for each. */
static int draw_summary(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	uint64_t trend[TABLE_TREND][MODES] = { 0 }, (*last)[MODES] = NULL;
	struct cpu_series all = { .trend = trend };
	char label[LABEL];

	for (uint32_t i = 0; i < vitals->cpu_count; i++) {
		const struct cpu_series *series = &vitals->cpus[i].series;

		add_series(&all, series, series->trend && series->trend != last);
		last = series->trend;
	}
	snprintf(label, sizeof(label), "%u %s", vitals->cpu_count,
		vitals->machines ? "machines" : "cpus");
	draw_cpu(canvas, (struct place) { area.row, area.column, area.columns },
		bars_layout((int)strlen(label), area.columns), label, NULL, &all);
	area.row++;
	area.rows--;
	return 1 + draw_strip(canvas, area, vitals);
}

/* Why this machine has no bars; NULL: it has some. */
static const char *why_empty(const struct machine_vitals *machine, const struct cpu_series *series)
{
	if (sum_modes(series->mode))
		return NULL;
	return !machine->known ? "not known yet" : machine->vm == VM_GONE ?
		state_words_of_vm(VM_GONE)->brief :
		machine->link != LINK_UP ? "says nothing" :
		!machine->running ? "off" : machine->unsampled ? "no samples: trace only" : "no sample in this window";
}

static void draw_machines(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	int width = 1;

	for (size_t i = 0; i < vitals->machine_count; i++) {
		int wanted = canvas_width(canvas, vitals->machines[i].name);

		width = wanted > width ? wanted : width;
	}
	width = width < LABEL ? width : LABEL;
	for (size_t i = 0; i < vitals->machine_count; i++) {
		const struct cpu_series *series = &vitals->cpus[i].series;

		draw_cpu(canvas, (struct place) { area.row + (int)i, area.column, area.columns },
			bars_layout(width, area.columns), vitals->machines[i].name,
			why_empty(&vitals->machines[i], series), series);
	}
}

static int draw_cpus(struct canvas *canvas, struct area area, const struct vitals *vitals)
{
	char label[LABEL];
	int width;

	if (!vitals->cpus || vitals->cpu_count == 0 || area.rows < 1)
		return 0;
	if (vitals->cpu_count > (uint32_t)area.rows || vitals->cpu_count > VITALS_OWN_TRENDS)
		return draw_summary(canvas, area, vitals);
	if (vitals->machines) {
		draw_machines(canvas, area, vitals);
		return (int)vitals->machine_count;
	}
	width = snprintf(label, sizeof(label), "cpu%u", vitals->cpu_count - 1);
	for (uint32_t i = 0; i < vitals->cpu_count; i++) {
		const struct cpu_vitals *cpu = &vitals->cpus[i];

		snprintf(label, sizeof(label), "cpu%u", i);
		draw_cpu(canvas, (struct place) { area.row + (int)i, area.column, area.columns },
			bars_layout(width, area.columns), label, why_not_sampled(vitals, cpu),
			&cpu->series);
	}
	return (int)vitals->cpu_count;
}

/* The CPUs have a third of the rows but for the title's line. Without rows for their lines, trends are not needed. */
enum vitals_cpus header_cpus(int rows)
{
	return rows / 3 > 1 ? VITALS_TRENDS : VITALS_CPUS;
}

int header_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys)
{
	int used = title_draw(canvas, area, vitals, scope, keys);

	area.row += used;
	area.rows = area.rows / 3 - used;
	return used + draw_cpus(canvas, area, vitals);
}

/*
 * Remarks of the status line, the most important first: a wish is kept; the filter's machine is none of them; why
 * nothing new comes; periods were missed; why the gdb stub is on; what the plugin cannot see; what the timer sampler
 * cannot see. The first one that applies is shown.
 */
enum limit { LIMIT_KEPT, LIMIT_STRAY, LIMIT_NEWS, LIMIT_MISSED, LIMIT_STUB, LIMIT_PLUGIN, LIMIT_TIMER, LIMITS };

/* Periods were missed. What samples from outside may be late while the guest's CPUs run. */
static void missed_text(enum sampler sampler, double percent, char text[HEADER_REMARK])
{
	if (sampler == SAMPLER_STUB)
		snprintf(text, HEADER_REMARK, "No sample came for %.0f %% of the time: the stub is slow; is the "
			"host busy?", percent);
	else if (sampler == SAMPLER_OUTSIDE)
		snprintf(text, HEADER_REMARK, "No sample came for %.0f %% of the time: a busy host, or QEMU's -icount?",
			percent);
	else
		snprintf(text, HEADER_REMARK, "The host did not run the guest's CPUs for %.0f %% of the "
			"time: is it busy?", percent);
}

/* The machine may come later, so it is looked for with each drawing. */
static void stray_text(const struct vitals *vitals, const struct filter *filter, char text[HEADER_REMARK])
{
	const char *stray = emptiness_stray(vitals, filter);
	int used;

	if (!stray)
		return;
	used = snprintf(text, HEADER_REMARK, "No machine is called %s; there are:", stray);
	for (size_t i = 0; i < vitals->machine_count && used < HEADER_REMARK; i++)
		used += snprintf(text + used, (size_t)(HEADER_REMARK - used), "%s %s", i ? "," : "",
			vitals->machines[i].name);
}

/* The remark's text; "": it does not apply. */
static const char *limit_text(const struct vitals *vitals, const struct filter *filter,
	enum limit limit, const struct keys *keys, char text[HEADER_REMARK])
{
	char what_to_do[KEYS_TEXT];
	struct emptiness news = emptiness_of_news(vitals);
	double missed = title_missed(vitals, filter);

	text[0] = '\0';
	if (limit == LIMIT_KEPT && vitals->kept)
		snprintf(text, HEADER_REMARK, "Profiling %s when the guest answers; %s.",
			vitals->kept == KEPT_ON ? "starts" : "stops",
			keys_text(keys, "{profile} cancels that", what_to_do));
	else if (limit == LIMIT_STRAY)
		stray_text(vitals, filter, text);
	else if (limit == LIMIT_NEWS && news.why)
		snprintf(text, HEADER_REMARK, "%s %s", news.why,
			keys_text(keys, news.what_to_do, what_to_do));
	else if (limit == LIMIT_MISSED && missed > MISSED_TOLD)
		missed_text(vitals->sampler, 100 * missed, text);
	else if (limit == LIMIT_STUB && vitals->sampler == SAMPLER_STUB && vitals->running && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s", keys_text(keys, "The gdb stub began by itself; {profile} "
			"stops it. With ktop.ko: --source hook.", what_to_do));
	else if (limit == LIMIT_PLUGIN && vitals->sampler == SAMPLER_OUTSIDE && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s",
			"plugin: a sample lands between two of QEMU's blocks of code");
	else if (limit == LIMIT_TIMER && vitals->sampler == SAMPLER_TIMER && !vitals->machines)
		snprintf(text, HEADER_REMARK, "%s",
			"timer: time with interrupts off is counted where they are enabled; nmi sees it");
	return text;
}

const char *header_remark(const struct vitals *vitals, const struct scope *scope, bool rows,
	const struct keys *keys, char text[HEADER_REMARK])
{
	const bool has_place[LIMITS] = {
		[LIMIT_KEPT] = true,
		[LIMIT_STRAY] = true,
		[LIMIT_NEWS] = rows,			/* without rows, the view tells it */
		[LIMIT_MISSED] = true,
		[LIMIT_STUB] = vitals->link == LINK_UP && !vitals->play.there,
		[LIMIT_PLUGIN] = vitals->link == LINK_UP,
		[LIMIT_TIMER] = vitals->link == LINK_UP,
	};

	for (int limit = 0; limit < LIMITS; limit++)
		if (has_place[limit] &&
				*limit_text(vitals, &scope->filter, limit, keys, text) &&
				!away_has(&scope->away, text))
			return text;
	text[0] = '\0';
	return text;
}

/* The remarks that apply now; with `before` not NULL, only those of them that were put away before. */
static struct away put_away(const struct vitals *vitals, const struct filter *filter,
	const struct keys *keys, const struct away *before)
{
	struct away away = { .count = 0 };
	char text[HEADER_REMARK];

	for (int limit = 0; limit < LIMITS; limit++)
		if (*limit_text(vitals, filter, limit, keys, text) &&
				(!before || away_has(before, text)))
			away_put(&away, text);
	remark_line_put_away(vitals, before, &away);
	return away;
}

bool header_dismiss(const struct vitals *vitals, struct scope *scope, bool rows,
	const struct keys *keys)
{
	char text[HEADER_REMARK];
	bool any = remark_line_any(vitals, scope) ||
		*header_remark(vitals, scope, rows, keys, text);

	scope->away = put_away(vitals, &scope->filter, keys, NULL);
	return any;
}

void header_settle(const struct vitals *vitals, struct scope *scope, const struct keys *keys)
{
	const struct away before = scope->away;

	if (before.count)
		scope->away = put_away(vitals, &scope->filter, keys, &before);
}
