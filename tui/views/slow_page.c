/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/duration_text.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/theme.h"
#include "slow_page.h"

enum {
	MARK = 2,			/* columns for the cursor's '>' and a space */
	TITLE_FROM = 9, HEADS_FROM = 5, DETAIL_FROM = 7,	/* rows from which there are these */
	DETAIL_MOST = 3,		/* rows of the text below */
	WIDE_FROM = 110,		/* columns from which names have more of them */
	WHEN = 32,			/* bytes of a time */
};

/* The columns from left to right; the heads name them. */
enum { AT_WHEN, AT_TOOK, AT_THREAD, AT_WAITED, AT_CALL, HEADS };

static const struct {
	const char *head;
	int width, wide;
	int from;			/* columns of the area from which it is shown */
} columns[HEADS] = {
	[AT_WHEN] = { "WHEN", 12, 12, 60 }, [AT_TOOK] = { "TOOK", 6, 6, 0 }, [AT_THREAD] = { "THREAD", 13, 18, 24 },
	[AT_WAITED] = { "WAITED", 19, 34, 46 }, [AT_CALL] = { "CALL", 0, 0, 72 },
};

void slow_page_open(struct slow_page *page, const struct event_row *row, enum event_by by)
{
	page->open = true;
	page->of = (struct slow_of) { row->kind, row->number, row->part };
	event_row_text(row, by, page->name);
	list_rewind(&page->list);
}

void slow_page_ask(const struct slow_page *page, struct event_request *request)
{
	if (!page->open)
		return;
	request->slow = 1;
	request->slow_kind = page->of.kind;
	request->slow_numbers[0] = page->of.number;
	request->slow_part = page->of.part;
}

/* ---- rows ---- */

/* The answer is about this page. */
static bool is_told(const struct slow_page *page, const struct event_table *table)
{
	return table && table->slow_told && table->slow_of.kind == page->of.kind &&
		table->slow_of.number == page->of.number && table->slow_of.part == page->of.part;
}

struct shown {
	struct slow_page *page;
	const struct event_table *table;
};

static uint64_t key_of(const void *context, size_t row)
{
	const struct slow_row *slow = &((const struct shown *)context)->table->slow[row];

	return hash_mix(hash_mix(slow->begin, slow->end), (uint64_t)slow->thread << 32 | slow->cpu);
}

static const char *name_of(const void *context, size_t row)
{
	const struct shown *shown = context;
	const struct slow_row *slow = &shown->table->slow[row];
	char waited[SLOW_WAITED];

	return util_print(shown->page->searched, sizeof(shown->page->searched), "%s %s %s", slow->title,
		slow_row_waited(slow, waited), slow->call);
}

static struct list_rows rows_of(const struct shown *shown)
{
	return (struct list_rows) {
		.context = shown, .count = is_told(shown->page, shown->table) ? shown->table->slow_count : 0,
		.key = key_of, .name = name_of,
	};
}

/* NULL: there is none. */
static const struct slow_row *selected(const struct slow_page *page, const struct event_table *table)
{
	return is_told(page, table) && page->list.cursor < table->slow_count ? &table->slow[page->list.cursor] : NULL;
}

/* ---- drawing ---- */

struct emptiness slow_page_empty(const struct slow_page *page, const struct event_table *table)
{
	if (!is_told(page, table))
		return (struct emptiness) { "The slowest are being looked for.", "This takes a moment." };
	if (table->slow_count)
		return (struct emptiness) { NULL, NULL };
	if (table->slow_from >= table->to)
		return (struct emptiness) { "All that ended in this window was forgotten: memory is for the newest.",
			"{back} goes back to all events; more is kept by --memory." };
	return (struct emptiness) { "None of these has ended in this window, with a known end.",
		"{back} goes back to all events; {window} takes a longer window." };
}

/* The part of the area's row that is a column; width 0: it is left out. */
static struct place cell_of(struct area area, int row, int column)
{
	struct place place = { row, area.column + MARK, 0 };

	for (int i = 0; i <= column; i++) {
		bool shown = area.columns >= columns[i].from;

		place.column += place.width ? place.width + (i == AT_TOOK ? 1 : 2) : 0;
		place.width = !shown ? 0 : area.columns < WIDE_FROM ? columns[i].width : columns[i].wide;
	}
	if (column == AT_CALL && area.columns >= columns[AT_CALL].from)
		place.width = area.column + area.columns - place.column;
	return place;
}

static const char *when_text(const struct event_table *table, uint64_t ns, char text[WHEN])
{
	uint64_t shown = uptime_shown(table->answer.zero, ns);
	char time[SCOPE_TIME];

	return util_print(text, WHEN, "%s.%03u", scope_time(shown, time), (unsigned)(shown / NS_PER_MS % 1000));
}

/* "(file=3) = 256": all rows have the same name. */
static const char *words_of(const struct slow_row *slow)
{
	const char *words = strchr(slow->call, '(');

	return words ? words : slow->call;
}

static void draw_row(const struct event_table *table, struct canvas *canvas, struct area area, int at,
	const struct slow_row *slow)
{
	char text[HEADS][SLOW_WAITED], cpu[WHEN];
	bool known = slow->unknown <= (slow->end - slow->begin) / 2;

	canvas_text(canvas, cell_of(area, at, AT_WHEN), STYLE_TEXT, when_text(table, slow->begin, text[AT_WHEN]));
	canvas_right(canvas, cell_of(area, at, AT_TOOK), STYLE_WARM,
		duration_text(slow->end - slow->begin, 2, text[AT_TOOK]));
	util_print(cpu, sizeof(cpu), "cpu %u", (unsigned)slow->cpu);
	canvas_text(canvas, cell_of(area, at, AT_THREAD), STYLE_TEXT, *slow->title ? slow->title : cpu);
	canvas_text(canvas, cell_of(area, at, AT_WAITED), known ? STYLE_TEXT : STYLE_DIM,
		slow_row_waited(slow, text[AT_WAITED]));
	canvas_middle(canvas, cell_of(area, at, AT_CALL), STYLE_TEXT, words_of(slow));
}

/* "read(file=3) = 256: took 48ms, ran 3%, slept 97%", at the foot of the area, which it makes smaller. */
static void draw_detail(const struct slow_row *slow, struct canvas *canvas, struct area *area)
{
	struct area at = { area->row, area->column + 1, 0, area->columns - 2 };
	char text[CALL_TEXT + SLOW_PARTS + STACK_TEXT + EVENT_TEXT], parts[SLOW_PARTS], took[DURATION_TEXT];

	if (!slow || area->rows < DETAIL_FROM)
		return;
	slow_row_parts(slow, parts);
	util_print(text, sizeof(text), "%s%stook %s on cpu %u%s%s%s%s", slow->call, *slow->call ? ": " : "",
		duration_text(slow->end - slow->begin, 3, took), (unsigned)slow->cpu, *parts ? ", " : "", parts,
		*slow->stack ? "; at " : "", slow->stack);
	at.rows = canvas_rows(canvas, text, at.columns);
	at.rows = at.rows < DETAIL_MOST ? at.rows : DETAIL_MOST;
	area->rows -= at.rows;
	at.row += area->rows;
	canvas_wrap(canvas, at, STYLE_TITLE, text);
}

static void mark_match(const struct slow_row *slow, const char *match, struct canvas *canvas, struct area area, int at)
{
	const struct { int column; const char *text; } cells[] = {
		{ AT_THREAD, slow->title }, { AT_CALL, words_of(slow) },
	};

	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
		const char *found = list_match(cells[i].text, match);
		struct place place = cell_of(area, at, cells[i].column);
		int before = found ? (int)(found - cells[i].text) : 0, length = canvas_width(canvas, match);

		if (found && before + length <= place.width && canvas_width(canvas, cells[i].text) <= place.width)
			canvas_restyle(canvas, (struct place) { at, place.column + before, length }, STYLE_MATCH);
	}
}

static const char *call_head(enum span_kind kind)
{
	return kind == SPAN_CALL ? columns[AT_CALL].head : kind == SPAN_PAIR ? "FIELDS" : "";
}

void slow_page_draw(struct slow_page *page, const struct event_table *table, const char *match, struct canvas *canvas,
	struct area area)
{
	struct shown shown = { page, table };
	struct list_rows rows = rows_of(&shown);

	draw_detail(selected(page, table), canvas, &area);
	if (area.rows >= TITLE_FROM) {
		canvas_format(canvas, (struct place) { area.row, area.column + MARK, area.columns - MARK }, STYLE_TITLE,
			"the slowest of %s", page->name);
		area.row++;
		area.rows--;
	}
	if (area.rows >= HEADS_FROM) {
		for (int i = 0; i < HEADS; i++)
			(i == AT_TOOK ? canvas_right : canvas_text)(canvas, cell_of(area, area.row, i), STYLE_HEAD,
				i == AT_CALL ? call_head(page->of.kind) : columns[i].head);
		area.row++;
		area.rows--;
	}
	page->rows = area;
	list_update(&page->list, &rows, (size_t)(area.rows > 0 ? area.rows : 0));
	for (size_t i = page->list.top; i < rows.count && i < page->list.top + page->list.height; i++) {
		int at = area.row + (int)(i - page->list.top);

		draw_row(table, canvas, area, at, &table->slow[i]);
		mark_match(&table->slow[i], match, canvas, area, at);
		if (i == page->list.cursor) {
			struct place line = { at, area.column, area.columns };

			canvas_put(canvas, line, STYLE_TITLE, '>');
			canvas_restyle(canvas, line, STYLE_CURSOR);
		}
	}
}

/* ---- what the user does ---- */

bool slow_page_act(struct slow_page *page, const struct event_table *table, enum action action)
{
	struct shown shown = { page, table };
	struct list_rows rows = rows_of(&shown);

	return list_act(&page->list, &rows, action);
}

void slow_page_click(struct slow_page *page, const struct event_table *table, int row)
{
	struct shown shown = { page, table };
	struct list_rows rows = rows_of(&shown);
	size_t at = page->list.top + (size_t)(row - page->rows.row);

	if (row >= page->rows.row && row < page->rows.row + page->rows.rows && at < rows.count)
		list_select(&page->list, &rows, at);
}

bool slow_page_search(struct slow_page *page, const struct event_table *table, const char *pattern,
	enum list_search where)
{
	struct shown shown = { page, table };
	struct list_rows rows = rows_of(&shown);

	return list_search(&page->list, &rows, pattern, where);
}

/* Half as much before and behind it. */
bool slow_page_moment(const struct slow_page *page, const struct event_table *table, struct view_moment *moment)
{
	const struct slow_row *slow = selected(page, table);
	uint64_t half = slow ? (slow->end - slow->begin) / 2 : 0;

	if (!slow)
		return false;
	*moment = (struct view_moment) {
		.from = slow->begin > half ? slow->begin - half : 0, .to = slow->end + half + 1, .at = slow->begin,
		.thread = slow->thread, .cpu = slow->cpu, .machine = slow->machine,
	};
	return true;
}
