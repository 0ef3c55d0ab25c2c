/* SPDX-License-Identifier: MIT */
/*
 * Each view live, frozen, zeroed, filtered, with a baseline, in a replay and over all machines; each of these at every
 * size, in ASCII and in every depth of colour. Rows and cells are compared with the samples, one by one.
 */
#include <ctype.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/ansi.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "gallery.h"

enum { SECONDS = 20, WINDOW = 10, FIRST = 1, MARK = FIRST + SECONDS };	/* of guest time; a state begins at MARK */
enum { TALL = 60, WIDE = 200, LINE = 4096 };
/* From these sizes on, the header says the state, and rows have all their numbers. */
enum { ROWS_FOR_STATE = 20, COLUMNS_FOR_STATE = 80, COLUMNS_FOR_NUMBERS = 100 };
#define GUARD 0xabcdu

/* ---- states ---- */

static const struct state {
	const char *name, *keys;	/* pressed at MARK */
	uint32_t more;			/* seconds that are sampled then */
	uint32_t from, to;		/* what is shown, in seconds */
	const char *header;		/* which says so */
	size_t machines;
	bool replay, filtered, every_size;
} states[] = {
	{ "live", "", 0, MARK - WINDOW, MARK, "10s window", 1, false, false, true },
	{ "frozen", "Z", 3, MARK - WINDOW, MARK, "FROZEN 10s at 00:00:11", 1, false, false, false },
	{ "zeroed", "z", 5, MARK, MARK + 5, "since 00:00:21", 1, false, false, false },
	{ "filtered", "\\cpu:1 mode:kernel\r", 0, MARK - WINDOW, MARK, "filter: cpu:1 mode:kernel", 1, false, true,
		false },
	{ "baseline", "\b", 4, MARK + 4 - WINDOW, MARK + 4, "baseline of 00:00:21", 1, false, false, false },
	{ "replay", "", 0, MARK - WINDOW, MARK, "replay x", 1, true, false, false },
	{ "all", "", 0, MARK - WINDOW, MARK, "2 machines", GALLERY_MACHINES, false, false, true },
	{ "moved", "[", 3, MARK - WINDOW - WINDOW / 2, MARK - WINDOW / 2, "10s at 00:00:06", 1, false, false,
		false },
	{ "replay filtered", "\\cpu:1 mode:kernel\r", 0, MARK - WINDOW, MARK, "filter: cpu:1 mode:kernel", 1,
		true, true, false },
	{ "all filtered", "\\cpu:1 mode:kernel\r", 0, MARK - WINDOW, MARK, "filter: cpu:1 mode:kernel",
		GALLERY_MACHINES, false, true, false },
	{ "all zeroed", "z", 5, MARK, MARK + 5, "since ", GALLERY_MACHINES, false, false, false },
	{ "all with a baseline", "\b", 4, MARK + 4 - WINDOW, MARK + 4, "baseline of ", GALLERY_MACHINES, false, false,
		false },
	{ "all frozen", "Z", 3, MARK - WINDOW, MARK, "FROZEN 10s at ", GALLERY_MACHINES, false, false, false },
};

struct seen {				/* one view in one state */
	struct gallery *gallery;
	const struct state *state;
	const struct view *view;
	struct truth truth;
	struct facts facts;
	bool found[FACTS];
};

struct view {
	const char *name, *keys, *leave;	/* pressed with the cursor on LOCK in Functions; and afterwards */
	const char *head;		/* is on its screen */
	struct facts (*facts)(const struct truth *truth);	/* NULL: it has no such rows */
	void (*check)(struct seen *seen);	/* what else; NULL: nothing */
	int least;			/* columns from which rows have these numbers */
	const char *all;		/* is on its screen over all machines; NULL: the head */
};

static void fault(const struct seen *seen, const struct canvas *canvas, const char *what, const char *wanted)
{
	char *text = canvas_dump(canvas);

	fprintf(stderr, "%s", text);		/* fail_msg would cut it */
	fail_msg("%s, %s, %dx%d: %s: \"%s\"", seen->view->name, seen->state->name, canvas->columns, canvas->rows, what,
		wanted);
}

/* ---- rows ---- */

/* The first row of the view in a screen's text: it is below the row of names, where there is one. */
static const char *view_of(const char *text)
{
	static const char *const rows[] = { "\n 1 Fun", "\n 1Fun", "\n 1  2  3  4" };	/* as there is room */
	const char *names = NULL;

	for (int i = 0; i < 3 && !names; i++)
		names = strstr(text, rows[i]);
	return names ? strchr(names + 1, '\n') + 1 : text;
}

/* Copies one row; returns the next one, NULL behind the last. */
static const char *next_row(const char *rows, char row[LINE])
{
	size_t size = strcspn(rows, "\n"), copied = size < LINE ? size : LINE - 1;

	if (!*rows)
		return NULL;
	memcpy(row, rows, copied);
	row[copied] = '\0';
	return rows + size + 1;
}

/* The place of a whole word in the row; NULL: it is not there. The mark of the cursor may stand before it. */
static const char *word_in(const char *text, const char *word)
{
	const char *at = text;
	size_t size = strlen(word);

	while ((at = strstr(at, word)) &&
			((at != text && !strchr(" >", at[-1])) || (at[size] != ' ' && at[size] != '\0')))
		at++;
	return at;
}

/* What a row says, and the half of its last digit. */
struct said {
	double number, within;
};

static struct said number_at(const char *at, const char **end)
{
	size_t whole = strspn(at, "0123456789"), digits = at[whole] == '.' ? strspn(at + whole + 1, "0123456789") : 0;
	struct said said = { strtod(at, NULL), 0.501 };

	*end = at + whole + (digits ? 1 + digits : 0);
	while (digits-- > 0)
		said.within /= 10;
	return said;
}

static const char *number_before(const char *row, const char *at)
{
	while (at > row && at[-1] == ' ')
		at--;
	while (at > row && (isdigit((unsigned char)at[-1]) || at[-1] == '.'))
		at--;
	return at;
}

/* The numbers of a row that stand where the fact's are; returns how many. */
static int numbers_of(const struct fact *fact, const char *row, const char *name, struct said numbers[FACT_NUMBERS])
{
	const char *at = row;
	int count = 0;

	if (fact->place == FACT_BEFORE) {
		at = number_before(row, name);
		if (at > row && strchr("+-", at[-1]))	/* the change since the baseline */
			at = number_before(row, at - 1 - (at - 1 > row && at[-2] == '~'));
	} else if (fact->place == FACT_BEHIND) {
		for (at = name + strlen(fact->name); *at && !isdigit((unsigned char)*at); at++)
			;
	}
	while (count < fact->count) {
		at += strspn(at, "> ~");
		if (!isdigit((unsigned char)*at))
			break;
		numbers[count++] = number_at(at, &at);
	}
	return count;
}

static bool agrees(const struct fact *fact, const struct said numbers[FACT_NUMBERS], int count, bool wide)
{
	for (int i = 0; i < (wide ? fact->count : 1); i++) {
		double off = i < count ? fact->numbers[i] - numbers[i].number : 1;

		if (i >= count || off > numbers[i].within || off < -numbers[i].within)
			return false;
	}
	return true;
}

/* A row with the name of a fact has the numbers of one with that name. */
static void check_row(struct seen *seen, const struct canvas *canvas, const char *row)
{
	bool wide = canvas->columns >= COLUMNS_FOR_NUMBERS && !strstr(seen->state->keys, "\b");
	bool named = false, agreed = false;
	const char *wanted = "";

	for (size_t i = 0; i < seen->facts.count; i++) {
		const struct fact *fact = &seen->facts.facts[i];
		const char *name = word_in(row, fact->name);
		struct said numbers[FACT_NUMBERS];
		int count = name ? numbers_of(fact, row, name, numbers) : 0;

		if (!count)
			continue;
		named = true;
		wanted = fact->name;
		if (agrees(fact, numbers, count, wide))
			agreed = seen->found[i] = true;
	}
	if (named && !agreed)
		fault(seen, canvas, "other numbers than those of the samples", wanted);
}

static void check_rows(struct seen *seen, const struct canvas *canvas, const char *text)
{
	const char *rows = view_of(text);
	char row[LINE];

	while (seen->facts.count && canvas->columns >= seen->view->least && (rows = next_row(rows, row)))
		check_row(seen, canvas, row);
}

static void check_header(struct seen *seen, const struct canvas *canvas, const char *text)
{
	const char *head = seen->state->machines > 1 && seen->view->all ? seen->view->all : seen->view->head;

	if (canvas->rows < ROWS_FOR_STATE || canvas->columns < COLUMNS_FOR_STATE)
		return;
	if (!strstr(text, seen->state->header))
		fault(seen, canvas, "the header does not say", seen->state->header);
	if (!strstr(text, head))
		fault(seen, canvas, "it is another view without", head);
	if (strstr(text, "FROZEN 10s") && !strstr(seen->state->keys, "Z"))
		fault(seen, canvas, "it is not so:", "FROZEN");
}

/* ---- terminals ---- */

/* A number of a sequence that sets a colour; `palette`: 38 or 48 came before, or is it. */
static bool is_allowed(enum depth depth, long number, bool palette)
{
	bool base = (number >= 30 && number <= 37) || (number >= 40 && number <= 47);
	bool bright = (number >= 90 && number <= 97) || (number >= 100 && number <= 107);
	bool attribute = number == 0 || number == 1 || number == 2 || number == 4 || number == 7;

	return attribute || (base && depth >= DEPTH_8) || (bright && depth >= DEPTH_16) ||
		(palette && depth == DEPTH_256);
}

static void check_depth(const struct seen *seen, const struct canvas *canvas, enum depth depth)
{
	char *text = ansi_text(canvas, depth);

	for (const char *at = text; (at = strstr(at, "\033["));) {
		bool palette = false;

		at += strlen("\033[");
		while (*at != 'm') {
			char *end;
			long number = strtol(at, &end, 10);

			palette = palette || number == 38 || number == 48;
			if (end == at || !is_allowed(depth, number, palette))
				fault(seen, canvas, "a colour that the terminal does not have", at);
			at = end + (*end == ';');
		}
	}
	free(text);
}

static void check_ascii(const struct seen *seen, const struct canvas *canvas)
{
	for (int i = 0; i < canvas->rows * canvas->columns; i++)
		if (canvas->cells[i].code < ' ' || canvas->cells[i].code > '~')
			fault(seen, canvas, "more than ASCII", "");
}

enum charset { ASCII, UNICODE, HALVES };

/* Draws between two rows that must stay as they are. `all`: checks what a terminal of each depth would get, too. */
static void look(struct seen *seen, int rows, int columns, enum charset charset, bool all)
{
	size_t count = (size_t)(rows + 2) * (size_t)columns;
	struct cell *cells = util_alloc(count * sizeof(*cells));
	struct canvas canvas = { .rows = rows, .columns = columns, .unicode = charset != ASCII,
		.halves = charset == HALVES, .cells = cells + columns };
	char *text;

	for (size_t i = 0; i < count; i++)
		cells[i].code = GUARD;
	gallery_draw(seen->gallery, &canvas);
	for (int i = 0; i < columns; i++)
		if (cells[i].code != GUARD || cells[count - 1 - (size_t)i].code != GUARD)
			fault(seen, &canvas, "it draws beside the screen", "");
	if (charset == ASCII)
		check_ascii(seen, &canvas);
	text = canvas_dump(&canvas);
	check_rows(seen, &canvas, text);
	check_header(seen, &canvas, text);
	free(text);
	for (int depth = DEPTH_NONE; all && depth <= DEPTH_256; depth++)
		if (charset != HALVES || depth == DEPTH_256)
			check_depth(seen, &canvas, (enum depth)depth);
	if (all && charset != HALVES && safe_canvas(&canvas))
		fault(seen, &canvas, "not harmless", safe_canvas(&canvas));
	free(cells);
}

/* Sizes that people have, and each number of columns and of rows up to a large terminal; in most states some. */
static void check_sizes(struct seen *seen)
{
	static const struct { int rows, columns; } sizes[] = {
		{ 5, 20 }, { 12, 40 }, { 24, 80 }, { 36, 120 }, { TALL, WIDE }, { 100, 400 },
	};
	int step = seen->state->every_size ? 1 : 7;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int charset = ASCII; charset <= HALVES; charset++)
			look(seen, sizes[i].rows, sizes[i].columns, (enum charset)charset, sizes[i].columns <= WIDE);
	for (int columns = 1; columns <= WIDE; columns += step)
		look(seen, 1 + columns * 37 % TALL, columns, columns % 2 ? UNICODE : ASCII, false);
	for (size_t i = 0; i < seen->facts.count; i++)
		if (!seen->found[i] && seen->facts.facts[i].numbers[0] > 0)
			fault(seen, seen->gallery->canvas, "it is not shown at any size", seen->facts.facts[i].name);
}

/* ---- the flame ---- */

enum { MOVES = 1000 };

/* Columns of the cell under the cursor. The style is that of the view's name above, too. */
static int selected_columns(const struct canvas *canvas, const char *text)
{
	int most = 0, first = 0;

	for (const char *at = text; at < view_of(text); at++)
		first += *at == '\n';
	for (int row = first; row < canvas->rows - 1; row++) {
		int columns = 0;

		for (int column = 0; column < canvas->columns; column++)
			columns += (canvas_cell(canvas, row, column)->style & (STYLE_NAME - 1)) == STYLE_FLAME_CURSOR;
		most = columns > most ? columns : most;
	}
	return most;
}

/* The line below: "name  12.34% of all, 56.78% of parent". */
static void check_cell(struct seen *seen, const struct facts *paths, bool found[FACTS])
{
	const struct canvas *canvas = seen->gallery->canvas;
	char *text = canvas_dump(canvas), wanted[LINE];
	int columns = selected_columns(canvas, text);
	bool is = false;

	for (size_t i = 0; i < paths->count; i++) {
		const struct fact *path = &paths->facts[i];
		double width = path->numbers[0] / 100 * canvas->columns;

		snprintf(wanted, sizeof(wanted), "\n %s  %.2f%% of all", path->name, path->numbers[0]);
		if (!strstr(text, wanted))
			continue;
		is = found[i] = true;
		if (columns < width - 1.5 || columns > width + 1.5)
			fault(seen, canvas, "a cell is not as wide as its share", path->name);
	}
	free(text);
	if (!is)
		fault(seen, canvas, "no such cell in the samples", "");
}

static size_t first_not(const bool found[FACTS], size_t count)
{
	size_t i = 0;

	while (i < count && found[i])
		i++;
	return i;
}

/* The cursor goes to each of the cells. */
static void check_flame(struct seen *seen)
{
	static const uint32_t keys[] = { KEYS_UP, KEYS_DOWN, KEYS_LEFT, KEYS_RIGHT };
	struct facts paths = truth_tree(&seen->truth);
	struct random random = { .state = 3 };
	bool found[FACTS] = { false };

	if (strstr(seen->state->keys, "\b"))
		return;				/* shares have their changes behind them */
	for (int i = 0; i < MOVES && first_not(found, paths.count) < paths.count; i++) {
		gallery_press(seen->gallery, keys[random_below(&random, 4)]);
		check_cell(seen, &paths, found);
	}
	if (first_not(found, paths.count) < paths.count)
		fault(seen, seen->gallery->canvas, "a path has no cell",
			paths.facts[first_not(found, paths.count)].name);
}

/* ---- the heat map ---- */

enum { LABELS = 9, LABEL_UNIT = 6, SECOND_MS = 1000, SLOT_MS = 20 };

static int brightest_of(const struct canvas *canvas)
{
	char *text = canvas_dump(canvas);
	const char *at = strstr(text, "brightest at ");
	int percent = at ? atoi(at + strlen("brightest at ")) : 0;

	free(text);
	return percent;
}

/*
 * The last column is the second in which the map ends, and the last cell has the slot in which it does. A window that
 * was moved leaves the map where it was.
 */
static void check_heat_row(struct seen *seen, const struct canvas *canvas, int row, uint32_t ms, uint32_t each)
{
	uint32_t end = strcmp(seen->state->keys, "[") == 0 ? MARK : seen->state->to, seconds = end + 1;
	struct truth truth = seen->truth;

	truth.to = end * NS_PER_SECOND + SLOT_MS * NS_PER_MS;
	for (uint32_t second = 0; second < seconds; second++) {
		uint64_t from = second * NS_PER_SECOND + ms * NS_PER_MS;
		double busy = truth_busy(&truth, from, from + each * NS_PER_MS);
		double level = busy < 0 ? -1 : busy * 100 / brightest_of(canvas);
		uint32_t code = canvas_cell(canvas, row, LABELS + (int)second)->code;
		uint32_t wanted = level < 0 ? ' ' : 0x2581 + (uint32_t)((level > 1 ? 1 : level) * 7 + 0.5);

		if (code != wanted)
			fault(seen, canvas, "a cell is not as bright as the samples", "");
	}
}

static void check_heat(struct seen *seen)
{
	const struct canvas *canvas = seen->gallery->canvas;
	char *text = canvas_dump(canvas), row[LINE];
	int at = 0, count = 0, first = 0;
	uint32_t ms[TALL];

	for (const char *rows = text; (rows = next_row(rows, row)); at++)
		if (strncmp(row + LABEL_UNIT, "ms ", 3) == 0) {
			first = count ? first : at;
			ms[count++] = (uint32_t)atoi(row);
		}
	free(text);
	if (!count)
		fault(seen, canvas, "there are no cells", "");
	for (int i = 0; i < count && seen->state->machines == 1; i++)	/* over all, it has the host's times */
		check_heat_row(seen, canvas, first + i, ms[i], (uint32_t)(SECOND_MS / count));
}

/* ---- annotate: over all machines it shows the code of one ---- */

static struct facts instructions(const struct truth *truth)
{
	struct truth one = *truth;
	char *text = canvas_dump(truth->gallery->canvas);

	if (truth->gallery->machines > 1)
		one.machine = strstr(text, "  on 1 web") ? 1 : 2;
	free(text);
	return truth_instructions(&one);
}

/* ---- events ---- */

/* A call takes 100 to 799 us: all bars are between, and one of them is full. Nothing was lost. */
static void check_events(struct seen *seen)
{
	const struct canvas *canvas = seen->gallery->canvas;
	char *text = canvas_dump(canvas);

	if ((!strstr(text, "│ 66us    262us   1.0ms\n") ||
			!strstr(text, " ████") || strstr(text, "trace event")))
		fault(seen, canvas, "the histogram is not that of the calls", "");
	free(text);
}

/* ---- the help ---- */

static void check_help(struct seen *seen)
{
	const struct keys *keys = &seen->gallery->config.keys;
	char *text, *more;

	for (int i = 0; i < KEYS_ROWS; i++)
		gallery_press(seen->gallery, KEYS_UP);
	text = canvas_dump(seen->gallery->canvas);
	gallery_press(seen->gallery, KEYS_PAGE_DOWN);
	more = canvas_dump(seen->gallery->canvas);
	gallery_press(seen->gallery, KEYS_PAGE_UP);
	for (int i = 0; i < KEYS_ROWS; i++)
		if (keys_shown(keys, &keys->rows[i]) && !strstr(text, keys->rows[i].help) &&
				!strstr(more, keys->rows[i].help))
			fault(seen, seen->gallery->canvas, "the help lacks", keys->rows[i].help);
	free(text);
	free(more);
}

/* ---- the views ---- */

static const struct view views[] = {
	{ "Functions", "", "", "SELF%", truth_functions, NULL, 0, NULL },
	{ "a function's page", "\r", "\x1b", "ON CPU", truth_page, NULL, 0, NULL },
	{ "callers and callees", "x", "\x1b", "CALLERS AND CALLEES", truth_around, NULL, 0, NULL },
	{ "Tree", "2|g|E|", "1", "CALL TREE", truth_tree, NULL, 0, NULL },
	{ "Flame", "3", "1", "% of all", NULL, check_flame, 0, NULL },
	{ "Heat", "4|\x1b", "1", "brightest at ", NULL, check_heat, 0, NULL },
	{ "Threads", "5", "1", "THREAD", truth_threads, NULL, 0, NULL },
	{ "Annotate", "6", "1", "HEAT%", instructions, NULL, 0, NULL },
	{ "Events", "7", "1", "p50    p99 ", truth_events, check_events, 38, NULL },
	{ "Timeline", "8", "1", "cpu0", NULL, NULL, 38, "1 web cpu" },
	{ "the help", "?", "?", "Keys, the same in every view", NULL, check_help, 0, NULL },
};

static void look_at(struct gallery *gallery, const struct state *state, const struct view *view)
{
	struct seen seen = { .gallery = gallery, .state = state, .view = view, .truth = {
		.gallery = gallery, .from = state->from * NS_PER_SECOND, .to = state->to * NS_PER_SECOND,
		.filtered = state->filtered } };

	gallery_type(gallery, "1/take_lock\r\x1b");
	gallery_type(gallery, view->keys);
	if (view->facts)
		seen.facts = view->facts(&seen.truth);
	if (view->check)
		view->check(&seen);
	check_sizes(&seen);
	gallery_settle(gallery);
	gallery_type(gallery, view->leave);
}

static void test_views_in_each_state(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct gallery *gallery = gallery_new(states[i].machines, states[i].replay);

		gallery_run(gallery, SECONDS);
		gallery_settle(gallery);
		gallery_type(gallery, states[i].keys);
		if (states[i].more)
			gallery_run(gallery, states[i].more);
		gallery_settle(gallery);
		for (size_t k = 0; k < sizeof(views) / sizeof(*views); k++)
			look_at(gallery, &states[i], &views[k]);
		gallery_free(gallery);
	}
}

/* ---- the cursor of a function's page ---- */

/* The row of the canvas that the cursor is on, in its left half. */
static int cursor_row(const struct gallery *gallery)
{
	char *text = canvas_dump(gallery->canvas), *line = text;
	int row = 0;

	while (*line && *line != '>') {
		line += strcspn(line, "\n");
		line += *line != '\0';
		row++;
	}
	assert_int_equal(*line, '>');
	free(text);
	return row;
}

/* A CPU, a mode, a line, a process and the threads: it stays on each of them when the next answer comes. */
static void test_each_row_of_a_page(void **unused)
{
	struct gallery *gallery = gallery_new(1, false);
	int last, row = 0, rows = 0;

	(void)unused;
	gallery_run(gallery, SECONDS);
	gallery_settle(gallery);
	gallery_type(gallery, "1/take_lock\r\r");
	do {
		last = row;
		row = cursor_row(gallery);
		assert_true(row >= last);
		rows += row > last;
		gallery_type(gallery, "j");
	} while (row > last);
	assert_int_equal(rows, 4 + GALLERY_THREADS);
	gallery_free(gallery);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views_in_each_state),
		cmocka_unit_test(test_each_row_of_a_page),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
