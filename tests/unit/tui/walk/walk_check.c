/* SPDX-License-Identifier: MIT */
/* Compares what the screen shows and asks with the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/export/save_format.h"
#include "agent/formats/set_format.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tui/frame/scope.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "walk.h"
#include "walk_fleet.h"

enum { HARMLESS_EVERY = 25 };

void walk_row_text(const struct walk *walk, int row, char text[WALK_TEXT])
{
	char bytes[CELL_BYTES];
	size_t used = 0;

	for (int column = 0; column < walk->canvas->columns && used + CELL_BYTES < WALK_TEXT; column++) {
		const struct cell *cell = canvas_cell(walk->canvas, row, column);

		if (cell && cell->code - 1 < 127)
			text[used++] = (char)cell->code;
		else if (cell)
			for (const char *byte = canvas_utf8(cell, bytes); *byte; byte++)
				text[used++] = *byte;
	}
	text[used] = '\0';
}

void walk_fault(const struct walk *walk, const char *what, const char *wanted)
{
	char *text = canvas_dump(walk->canvas);

	fprintf(stderr, "%s", text);		/* fail_msg would cut it */
	fail_msg("step %ld, page %zu of %zu: %s: \"%s\"", walk->step, walk->page, walk->pages, what, wanted);
}

/* ---- the first rows ---- */

/* A tab has "All" or the machine's number and name, then a mark, and the state in a word. */
static void check_tab(const struct walk *walk, const struct walk_guest *guest, size_t number)
{
	static const char *const links[] = {
		[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "connecting", [LINK_TAKEN] = "taken",
		[LINK_NOT_OPENED] = "waiting", [LINK_NO_HELLO] = "waiting", [LINK_UP] = "off",
		[LINK_SILENT] = "silent", [LINK_LOST] = "lost",
	};
	static const char *const vms[] = {
		[VM_PAUSED] = "paused", [VM_SHUTDOWN] = "shut down", [VM_PANICKED] = "panic",
		[VM_HANGS] = "hangs", [VM_GONE] = "gone",
	};
	bool records = guest->running && guest->link_told == LINK_UP;
	const char *state = !guest->known ? "connecting" : vms[guest->vm_told] ? vms[guest->vm_told] :
		records ? "REC" : links[guest->link_told];
	char text[WALK_TEXT], label[64];
	const char *at;

	walk_row_text(walk, 0, text);
	snprintf(label, sizeof(label), " %zu guest%zu ", number, number);
	at = strstr(text, label);
	if (!at)
		walk_fault(walk, "there is no tab", label);
	at = strchr(at + strlen(label), ' ');		/* behind the mark */
	if (!at || strncmp(at + 1, state, strlen(state)) != 0)
		walk_fault(walk, label, state);
}

static void header_has(const struct walk *walk, const char *header, const char *wanted, bool there)
{
	if (!strstr(header, wanted) == there)
		walk_fault(walk, there ? "the header does not say" : "the header says", wanted);
}

static const char *state_of_all(const struct vitals *vitals, char text[WALK_TEXT])
{
	size_t running = 0;

	for (size_t i = 0; i < vitals->machine_count; i++)
		running += vitals->machines[i].running;
	snprintf(text, WALK_TEXT, " REC on %zu of %zu", running, vitals->machine_count);
	return running == vitals->machine_count ? " REC " : running ? text : " off ";
}

static const char *state_of(const struct vitals *vitals)
{
	static const char *const links[] = {
		[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "connecting",
		[LINK_TAKEN] = "port taken", [LINK_NOT_OPENED] = "waiting for guest",
		[LINK_NO_HELLO] = "waiting for guest", [LINK_SILENT] = "silent",
		[LINK_LOST] = "link lost",
	};

	return vitals->link != LINK_UP ? links[vitals->link] :
		vitals->vm == VM_PANICKED ? " panic" : vitals->vm == VM_PAUSED ? " paused" :
		vitals->running ? " REC " : " off ";
}

static void check_header(struct walk *walk)
{
	const struct model *model = walk_model(walk);
	const struct vitals *vitals = model->vitals;
	bool moved = model->place.moved, frozen = model->place.until_ns && !moved, zeroed = model->zero && !moved;
	char header[WALK_HEADER * WALK_TEXT], text[WALK_TEXT], time[SCOPE_TIME], window[SCOPE_WINDOW];
	int first = walk_has_tab_row(walk, walk->canvas->rows);
	size_t used = 0;

	for (int row = first; row < first + 5; row++, used += strlen(header + used)) {
		walk_row_text(walk, row, header + used);
		if (strstr(header + used, " 1 Functions") == header + used ||
				strstr(header + used, " 1Functions") == header + used)
			break;				/* the row of views: below it is no header */
	}
	header[used] = '\0';
	header_has(walk, header, vitals->machines ? state_of_all(vitals, text) : state_of(vitals),
		true);
	if (!vitals->machines && vitals->kernel[0])
		header_has(walk, header, walk_guest(walk)->name, true);
	if (model->place.until_ns && vitals->to)
		scope_place(vitals->from, vitals->to, text);
	else
		snprintf(text, sizeof(text), moved || frozen ? "at " : "%s window",
			scope_window(&model->place, window));
	header_has(walk, header, text, true);
	header_has(walk, header, "live: .", moved);
	header_has(walk, header, "FROZEN", frozen);
	snprintf(text, sizeof(text), "since %s", scope_time(model->zero, time));
	header_has(walk, header, zeroed ? text : "since ", zeroed);
	snprintf(text, sizeof(text), "baseline of %s",
		scope_time((uint64_t)((int64_t)model->base.until_ns - model->base.back_ns), time));
	header_has(walk, header, model->base.until_ns ? text : "baseline of ", model->base.until_ns != 0);
	snprintf(text, sizeof(text), "filter: %s", model->filter);
	header_has(walk, header, text, model->filter[0] != '\0');
	header_has(walk, header, "idle hidden", model->no_idle);
	/* Where there is no room for it, the head of the table says it. */
	for (int by = GROUP_FUNCTION + 1; by < GROUPS; by++) {
		snprintf(text, sizeof(text), " by %s", group_words[by]);
		if (model->table.by != (enum group_by)by)
			header_has(walk, header, text, false);
	}
}

/* ---- the last rows ---- */

enum { LAST_ROWS = 7 };

/* The rows above the key bar as one text: a message may be broken anywhere between two words. */
static void last_rows(const struct walk *walk, char text[LAST_ROWS * WALK_TEXT])
{
	size_t used = 0;

	for (int row = LAST_ROWS + 1; row >= 2; row--) {
		walk_row_text(walk, walk->canvas->rows - row, text + used);
		used += strlen(text + used);
		while (used && text[used - 1] == ' ')
			used--;
		text[used] = '\0';
	}
}

/* The last row but one: the prompt, or a failure until a key is pressed. A long text begins further up. */
static void check_bottom(struct walk *walk)
{
	const struct model *model = walk_model(walk);
	char text[WALK_TEXT], wanted[WALK_TEXT], said[LAST_ROWS * WALK_TEXT];

	walk_row_text(walk, walk->canvas->rows - 2, text);
	snprintf(wanted, sizeof(wanted), "%s: %s", model->open == PROMPT_FILTER ? "Filter" :
		model->open == PROMPT_MARK ? "Mark" : "Search", model->text);
	if (model->open && strncmp(text, wanted, strlen(wanted)) != 0)
		walk_fault(walk, "the prompt is not", wanted);
	if (!model->open && (strstr(text, "Filter:") == text || strstr(text, "Search:") == text ||
			strstr(text, "Mark:") == text))
		walk_fault(walk, "there is a prompt", "");
	if (model->open || !model->failed)
		return;
	last_rows(walk, said);
	if (!strstr(said, model->failed))
		walk_fault(walk, "what failed is not said", model->failed);
}

/* True: a message that needs several rows lies over this one. */
static bool is_covered(const struct walk *walk, int row)
{
	uint8_t style = canvas_cell(walk->canvas, row, 1)->style;

	return style == STYLE_GOOD || style == STYLE_BAD;
}

static void check_help(struct walk *walk)
{
	char text[WALK_TEXT];

	walk_row_text(walk, walk->canvas->rows - 4, text);	/* the view's last row */
	if (is_covered(walk, walk->canvas->rows - 4))
		return;
	if (!strstr(text, "more: ") == (walk_model(walk)->cover == COVER_HELP))
		walk_fault(walk, "the help is there, or not", "");
}

/* The row under the cursor of the list is that of the format. */
static void check_formats(struct walk *walk)
{
	const char *name = save_format_at(walk_model(walk)->choice).name;
	char text[WALK_TEXT];

	for (int row = walk->canvas->rows - 1; row > 0; row--) {
		walk_row_text(walk, row, text);
		if (text[0] == '>' && (strncmp(text + 4, name, strlen(name)) != 0 || text[4 + strlen(name)] != ' '))
			walk_fault(walk, "the cursor is on another format than", name);
		if (text[0] == '>')
			return;
	}
	walk_fault(walk, "the list has no cursor", name);
}

/* ---- questions ---- */

static void check_place(const struct fake_wanted *wanted, const struct model *model)
{
	assert_int_equal(wanted->until_ns, model->place.until_ns);
	assert_int_equal(wanted->back_ns, model->place.back_ns);
	assert_int_equal(wanted->moved, model->place.moved);
}

/* What machine `index` is asked: words about machines are taken out of the filter before. */
static void check_filter(const struct walk *walk, size_t index, const struct filter *asked, const char *words)
{
	struct filter wanted = filter_of(words);
	char name[WALK_TEXT];

	snprintf(name, sizeof(name), "%zu %s", index + 1, walk->guests[index].name);
	filter_at_machine(&wanted, (unsigned)index + 1, name);
	if (!filter_equal(asked, &wanted))
		fail_msg("machine %zu is not asked for the filter \"%s\"", index, words);
}

static void check_wanted(struct walk *walk)
{
	const struct model *model = walk_model(walk);
	const struct fake_wanted *wanted = &model->wanted;

	assert_int_equal(wanted->window_ns, model->place.window_ns);
	assert_int_equal(wanted->zero_ns, model->zero);
	check_place(wanted, model);
	if (memcmp(&wanted->base, &model->base, sizeof(wanted->base)) != 0)
		walk_fault(walk, wanted->base.until_ns ? "it asks for a baseline" : "it asks for no baseline", "");
	if (walk_is_all(walk))
		assert_filter(&wanted->filter, model->filter);
	else
		check_filter(walk, (size_t)(walk_guest(walk) - walk->guests), &wanted->filter, model->filter);
	assert_int_equal(wanted->by, model->table.by);
	assert_in_range(wanted->visible_count, 0, WALK_FUNCTIONS + 2);
}

/* It is of the format that was chosen last, on any screen. */
static void check_format(struct walk *walk, const struct session *session)
{
	struct save_format format = save_format_at(walk->format);
	size_t size = strlen(session->path), length = strlen(format.ending);

	if (size <= length || strcmp(session->path + size - length, format.ending) != 0)
		walk_fault(walk, "the file of a snapshot is of another format than", format.name);
	if (session->set != set_format_named(format.name))
		walk_fault(walk, "a snapshot is of another format than", format.name);
}

/* A snapshot has what is asked now, even if it is not drawn yet. All's times are those of another clock. */
void walk_check_snapshots(struct walk *walk, const struct model *model)
{
	for (size_t i = 0; i < walk->machines; i++) {
		const struct session *session = &walk->guests[i].session;
		const struct fake_wanted *wanted = &session->snapped;

		if (session->snapshots == walk->guests[i].snapshots_seen)
			continue;
		walk->guests[i].snapshots_seen = session->snapshots;
		check_format(walk, session);
		assert_int_equal(wanted->window_ns, model->place.window_ns);
		check_filter(walk, i, &wanted->filter, model->filter);
		if (walk_is_all(walk))
			continue;
		assert_int_equal(wanted->zero_ns, model->zero);
		check_place(wanted, model);
	}
}

void walk_check_orders(struct walk *walk)
{
	for (size_t i = 0; i < walk->machines; i++) {
		struct walk_guest *guest = &walk->guests[i];
		const struct session *session = &guest->session;

		assert_int_equal(session->runs, guest->runs);
		if (session->runs && session->ran_on != guest->run_on)
			walk_fault(walk, "another order than it should be",
				guest->run_on ? "on" : "off");
		assert_int_equal(session->snapshots, guest->snapshots);
		assert_int_equal(session->marks, guest->marks);
		if (session->marks)
			assert_string_equal(session->mark, guest->mark);
	}
}

/* ---- the whole ---- */

static const struct fake_wanted *wanted_of(struct walk *walk)
{
	if (walk_is_all(walk))
		return walk_fleet_wanted();
	/* A map that stands still is not asked for again. Events are, once there are vitals. */
	if (walk_model(walk)->view != WALK_HEAT && walk_model(walk)->view != WALK_TIMELINE &&
			((walk_model(walk)->view != WALK_EVENTS && walk_model(walk)->view != WALK_MEMORY) ||
			walk_model(walk)->vitals))
		assert_int_equal(walk_guest(walk)->session.asking_functions, !walk_model(walk)->cover);
	return &walk_guest(walk)->session.wanted;
}

/* How many rows the table has between the heads and the detail line. */
static size_t height_of(const struct walk *walk)
{
	int rows = walk->canvas->rows, below = rows - walk_has_tab_row(walk, rows);
	int heads = walk_heads_row(walk), view = rows - (below >= 20) - (below >= 16) - (below >= 10) - heads;

	return heads < 0 ? 0 : (size_t)(view - 1 - (view >= 6));
}

static void find_cursor(struct model *model)
{
	struct table_rows table = model_rows(model);

	for (size_t i = 0; i < table.count; i++)
		if (table.rows[i].function == model->wanted.selected && i != model->table.cursor.row)
			cursor_select(model, i);
	if (!model->table.cursor.follow && table.count)
		model->table.cursor.key = table.rows[0].function;
	model->table.cursor.lost = false;
}

/*
 * The mouse has chosen a window on the time line, or a key in the heat map or for Timeline: what is asked for then
 * tells which. A line or a map of the boot before gives none.
 */
static void find_window(struct walk *walk, struct model *model)
{
	struct scope *place = &model->place;
	bool dragged = model->dragged, heated = model->heated;

	model->heated = model->dragged = model->timed = false;
	if (!model->wanted.moved)
		return;
	walk->tally.mouse[walk_counted(model)][MOUSE_LINE] += dragged;
	walk->tally.ranges += heated && model->wanted.back_ns != place->back_ns;
	if (dragged || model->wanted.window_ns != place->window_ns || model->wanted.until_ns != place->until_ns ||
			model->wanted.back_ns != place->back_ns)
		scope_choose(place, 0, 1, (struct scope_kept) { 0, 1 });
	place->window_ns = model->wanted.window_ns;
	place->until_ns = model->wanted.until_ns;
	place->back_ns = model->wanted.back_ns;
	place->moved = model->wanted.moved;
	assert_in_range(scope_until(place), 1, model->vitals->now);
}

/* Another question is not answered yet. Each other page has looked away from its own. */
static void keep_question(struct walk *walk, struct model *model)
{
	struct fake_wanted asked = model->wanted;

	for (size_t i = 0; i < walk->pages; i++)
		if (&walk->models[i] != model)
			walk->models[i].asked_in = WALK_ALL_VIEWS;
	if (model->cover)
		return;
	memset(asked.visible, 0, sizeof(asked.visible));
	asked.visible_count = asked.selected = 0;
	asked.callers = asked.ran = false;
	asked.cpus = VITALS_NO_CPUS;
	if (model->asked_in != model->view || memcmp(&model->asked, &asked, sizeof(asked)) != 0)
		model->answered = false;
	model->asked = asked;
	model->asked_in = model->view;
}

void walk_draw(struct walk *walk)
{
	struct model *model = walk_model(walk);
	const struct canvas *canvas = walk->canvas;

	tabs_draw(walk->tabs, walk->canvas);
	if (canvas->rows < SCREEN_LEAST_ROWS)
		return;
	model->wanted = *wanted_of(walk);
	keep_question(walk, model);
	if (model->dragged || model->heated || model->timed)
		find_window(walk, model);
	if (model->cover || walk_is_tree(model->view))
		return;
	model->table.columns = canvas->columns;
	cursor_update(model);			/* a baseline that is off: the drawing has sorted the rows anew */
	if (model->table.functions && model->vitals)
		model->table.cursor.height = height_of(walk);
	if (model->table.cursor.lost)
		find_cursor(model);
}

void walk_check(struct walk *walk)
{
	const struct canvas *canvas = walk->canvas;

	if (walk->step % HARMLESS_EVERY == 0 && safe_canvas(canvas))
		walk_fault(walk, "the canvas is not harmless", safe_canvas(canvas));
	if (canvas->rows < SCREEN_LEAST_ROWS)
		return;
	check_wanted(walk);
	tally_seen(walk);
	if (!walk_model(walk)->cover && !walk_is_tree(walk_model(walk)->view))
		walk_check_rows(walk);
	if (canvas->rows != WALK_TALL)
		return;
	for (size_t i = 0; walk->machines > 1 && i < walk->machines; i++)
		check_tab(walk, &walk->guests[i], i + 1);
	if (walk_model(walk)->vitals)
		check_header(walk);
	check_bottom(walk);
	check_help(walk);
	if (walk_model(walk)->cover == COVER_FORMATS)
		check_formats(walk);
}
