#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "canvas.h"
#include "glyphs.h"
#include "picture.h"
#include "scope.h"
#include "theme.h"
#include "title.h"

enum { ITEMS = 16, ITEM_TEXT = 300, GAP = 2 };

struct item {
	char text[ITEM_TEXT];
	uint8_t style;
	int keep;			/* the lowest goes first; 0: only where there is room */
	bool shown;
};

struct title {
	struct item items[ITEMS];
	int count;
	int second;			/* the first item about the profile */
};

__attribute__((format(printf, 4, 5)))
static void add(struct title *title, uint8_t style, int keep, const char *format, ...)
{
	struct item *item;
	va_list arguments;

	if (title->count == ITEMS)
		return;
	item = &title->items[title->count++];
	*item = (struct item) { .style = style, .keep = keep, .shown = keep > 0 };
	va_start(arguments, format);
	vsnprintf(item->text, sizeof item->text, format, arguments);
	va_end(arguments);
}

static void add_machine(struct title *title, const struct picture *picture)
{
	static const char *const vm[] = {
		[VM_UNKNOWN] = "VM ?", [VM_RUNNING] = "VM running", [VM_PAUSED] = "VM paused",
		[VM_SHUTDOWN] = "VM shut down", [VM_GONE] = "VM gone",
	};
	bool well = picture->vm == VM_RUNNING || picture->vm == VM_UNKNOWN;
	char time[SCOPE_TIME];

	add(title, STYLE_TITLE, 1, "ktop");
	if (picture->kernel[0] != '\0') {
		add(title, STYLE_TITLE, 78, "%s%s%s%s%s", picture->kernel,
			picture->version[0] ? " " : "", picture->version,
			picture->arch[0] ? " " : "", picture->arch);
		add(title, STYLE_TEXT, 20, "%u vCPU", picture->cpu_count);
		add(title, STYLE_TEXT, 30, "up %s", scope_time(picture->now, time));
	} else {
		add(title, STYLE_DIM, 78, "guest not known yet");
	}
	add(title, well ? STYLE_TEXT : STYLE_WARN, well ? 40 : 99, "%s", vm[picture->vm]);
	if (picture->replay)
		add(title, STYLE_WARN, 65, "replay");
	else
		add(title, STYLE_TEXT, 10, "hook");
}

static void add_state(struct title *title, const struct canvas *canvas,
	const struct picture *picture)
{
	static const char *const links[] = {
		[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "connecting",
		[LINK_NOT_OPENED] = "waiting for guest", [LINK_NO_HELLO] = "waiting for guest",
		[LINK_UP] = "off", [LINK_LOST] = "link lost",
	};

	if (picture->link == LINK_UP && picture->vm == VM_PAUSED)
		add(title, STYLE_WARN, 100, "%s paused", glyphs_text(canvas, GLYPH_PAUSED));
	else if (picture->link == LINK_UP && picture->running)
		add(title, STYLE_GOOD, 100, "%s REC", glyphs_text(canvas, GLYPH_ON));
	else
		add(title, STYLE_WARN, 100, "%s %s", glyphs_text(canvas, GLYPH_OFF),
			links[picture->link]);
	if (picture->rate != 0)
		add(title, STYLE_TEXT, 70, "%u/%.0f Hz %s", picture->rate, picture->achieved,
			picture->sampler == SAMPLER_NMI ? "nmi" : "timer");
}

/* Ticks that came too late to be charged to anything: the guest had no time, or stood still. */
static double missed_share(const struct table *table)
{
	uint64_t all = table ? table->weight + table->missed : 0;

	return all ? (double)table->missed / (double)all : 0;
}

static void add_losses(struct title *title, const struct picture *picture)
{
	double missed = missed_share(picture->table);

	if (picture->lost_guest || picture->lost_host)
		add(title, STYLE_BAD, 97, "lost %" PRIu64 " (guest %" PRIu64 " host %" PRIu64 ")",
			picture->lost_guest + picture->lost_host, picture->lost_guest,
			picture->lost_host);
	else
		add(title, STYLE_TEXT, 80, "lost 0");
	if (missed >= 0.01)
		add(title, STYLE_WARN, 67, "missed %.0f%%", missed * 100);
	if (picture->skipped_bytes)
		add(title, STYLE_BAD, 66, "skipped %" PRIu64 " B", picture->skipped_bytes);
}

static void add_scope(struct title *title, const struct scope *scope)
{
	char text[SCOPE_TIME];

	add(title, STYLE_TEXT, 69, "%s window", scope_window(scope, text));
	if (scope->until_ns)
		add(title, STYLE_WARN, 98, "FROZEN at %s", scope_time(scope->until_ns, text));
	if (scope->zero_ns)
		add(title, STYLE_WARN, 85, "since %s", scope_time(scope->zero_ns, text));
	if (scope->filter_text[0] != '\0')
		add(title, STYLE_WARN, 90, "filter: %s", scope->filter_text);
}

static void add_note(struct title *title, const struct picture *picture)
{
	if (picture->note[0] != '\0')
		add(title, STYLE_WARN, 64, "%s", picture->note);
}

static void add_costs(struct title *title, const struct picture *picture)
{
	if (picture->cost_ns > 0)
		add(title, STYLE_DIM, 0, "cost %.0f ns/sample %.2f%%", picture->cost_ns,
			picture->cost_share * 100);
	if (picture->ring_fill > 0)
		add(title, picture->ring_fill > 0.8 ? STYLE_WARN : STYLE_DIM, 0, "ring %.0f%%",
			picture->ring_fill * 100);
}

/* Lays the items out, and draws them when `draw`; returns the lines. */
static int flow(const struct title *title, struct canvas *canvas, struct area area, int second,
	bool draw)
{
	int line = 0, column = 1;

	for (int i = 0; i < title->count; i++) {
		const struct item *item = &title->items[i];
		int width = canvas_width(canvas, item->text);

		if (!item->shown)
			continue;
		if (column > 1 && (i == second || column + width > area.columns)) {
			line++;
			column = 1;
		}
		if (draw)
			canvas_text(canvas, (struct place) { area.row + line, area.column + column,
				area.columns - column }, item->style, item->text);
		column += width + GAP;
	}
	return line + 1;
}

static int lines(const struct title *title, struct canvas *canvas, struct area area, int *second)
{
	*second = -1;
	if (flow(title, canvas, area, -1, false) == 1)
		return 1;
	*second = title->second;
	return flow(title, canvas, area, title->second, false);
}

static void drop_least(struct title *title)
{
	struct item *least = NULL;

	for (int i = 0; i < title->count; i++)
		if (title->items[i].shown && (!least || title->items[i].keep < least->keep))
			least = &title->items[i];
	if (least)
		least->shown = false;
}

static void add_where_room(struct title *title, struct canvas *canvas, struct area area, int height)
{
	int second;

	for (int i = 0; i < title->count; i++) {
		struct item *item = &title->items[i];

		if (item->keep == 0) {
			item->shown = true;
			item->shown = lines(title, canvas, area, &second) <= height;
		}
	}
}

int title_draw(struct canvas *canvas, struct area area, const struct picture *picture,
	const struct scope *scope)
{
	int most = area.rows / 5 > 1 ? area.rows / 5 : 1, height, second;
	struct title title = { .count = 0 };

	add_machine(&title, picture);
	title.second = title.count;
	add_state(&title, canvas, picture);
	add_losses(&title, picture);
	add_scope(&title, scope);
	add_note(&title, picture);
	add_costs(&title, picture);

	while ((height = lines(&title, canvas, area, &second)) > most)
		drop_least(&title);
	add_where_room(&title, canvas, area, height);
	lines(&title, canvas, area, &second);
	return flow(&title, canvas, area, second, true);
}
