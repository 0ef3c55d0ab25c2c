/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/vitals.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/vm/state_words.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "scope.h"
#include "title.h"

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
	if (vitals->link == LINK_UP)
		add(title, STYLE_TEXT, 77, rate, "%u/%-*.0f Hz %s", vitals->rate, digits,
			vitals->achieved, sampler_word(vitals->sampler));
}

double title_missed(const struct vitals *vitals, const struct filter *filter)
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

/* Losses in the guest and on the way to ktop: exact if that fits in the item's width, else shortened. */
static void add_lost(struct title *title, const struct vitals *vitals, int columns)
{
	int width = columns < NARROW ? 9 : columns < 60 ? 11 : 15, keep = columns < NARROW ? 99 : 97;
	uint64_t guest = vitals->lost_guest, host = vitals->lost_host;
	char text[2 * COUNT + 8], first[COUNT], second[COUNT];

	snprintf(text, sizeof(text), "lost %" PRIu64 "+%" PRIu64, guest, host);
	if (guest + host == 0) {
		add(title, STYLE_TEXT, 97, width, "lost 0");
		return;
	}
	if ((int)strlen(text) > width)
		snprintf(text, sizeof(text), "lost %s+%s", short_count(guest, first),
			short_count(host, second));
	if ((int)strlen(text) > width)
		snprintf(text, sizeof(text), "lost %s", short_count(guest + host, first));
	add(title, STYLE_BAD, keep, width, "%s", text);
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

	add(title, missed >= 1 ? STYLE_WARN : STYLE_DIM, missed >= 1 ? 78 : 67, 17, "CPUs not run %.*f%%",
		missed < 9.95, missed);
	if (vitals->skipped_bytes)
		add(title, STYLE_BAD, 87, 0, "skipped %" PRIu64 " B", vitals->skipped_bytes);
	if (vitals->lost_before)
		add(title, STYLE_DIM, 72, 0, "lost earlier %" PRIu64, vitals->lost_before);
	if (vitals->machines)
		return;
	add(title, vitals->ring_fill > 0.8 ? STYLE_WARN : STYLE_DIM, 0, 9, "ring %.0f%%",
		vitals->ring_fill * 100);
	if (vitals->sampler == SAMPLER_STUB)
		add(title, STYLE_WARN, 65, 20, "guest stopped %.1f%%", vitals->cost_share * 100);
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
	add_scope(&title, vitals, scope, area.columns);
	add_rest(&title, vitals, &scope->filter);

	choose(&title, canvas, area, most - note);
	lines(&title, canvas, area, &second);
	height = flow(&title, canvas, area, second, true);
	below.row += height;
	remark_line_draw(canvas, below, vitals, scope);
	return height + note;
}

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

int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
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

int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
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

void remark_line_put_away(const struct vitals *vitals, const struct away *before, struct away *away)
{
	const char *at = vitals->note;
	char text[TEXT];

	while ((at = next_remark(at, text)))
		if (!before || away_has(before, text))
			away_put(away, text);
}
