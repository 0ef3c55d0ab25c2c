/* SPDX-License-Identifier: MIT */
#define NCURSES_NOMACROS 1

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <curses.h>
#include <termcap.h>

#include "agent/base/util.h"
#include "canvas.h"
#include "term.h"
#include "term_keys.h"
#include "theme.h"
#include "tty.h"

/* Larger than any terminal: a terminal that says that it is larger is not believed. */
enum { ROWS_MOST = 500, COLUMNS_MOST = 1000 };

enum { CURSES_BYTES = 1 << 20 };	/* more than ncurses allocates for most terminals */

/*
 * Bracketed paste, and reports of the mouse for any number of columns (SGR), as xterm has them. Terminals that do not
 * know them ignore this; ncurses switches the mouse itself on, where it knows how.
 */
#define MODES_ON "\033[?2004h\033[?1006h"
#define MODES_OFF "\033[?2004l\033[?1006l"

/* The one terminal. */
static struct {
	SCREEN *screen;
	const struct theme *theme;
	struct canvas *shown;		/* what the terminal shows; NULL: unknown */
	enum depth depth;
	short pairs[STYLE_BYTES];	/* by style: ncurses's pair of its two colours; 0: the terminal's own */
	short halves[STYLES][STYLES];	/* the same by left and right half; 0: not made yet */
	short made;			/* pairs */
} terminal;

/* ncurses and libtinfo crash when one of their allocations fails, so ktop looks first whether there is memory. */
static bool has_memory(void)
{
	void *volatile room = malloc(CURSES_BYTES);
	bool has = room;

	free(room);
	return has;
}

static bool fail_without_memory(char **error)
{
	return util_fail(error, "cannot open the screen: there is no memory for it; close other programs, "
		"or use `ktop report`");
}

/* For the file of the terminal type. Without it, ncurses does not know the type. */
static bool has_descriptor(char **error)
{
	int fd = dup(STDIN_FILENO);

	if (fd < 0)
		return util_fail(error, "cannot open the screen: %s; %s", strerror(errno),
			util_open_remedy(errno, "use `ktop report`"));
	close(fd);
	return true;
}

/* tgetent returns the same for an unknown type and when memory was short, so it is asked twice. */
static bool is_known(const char *name)
{
	return tgetent(NULL, name) == 1 || tgetent(NULL, name) == 1;
}

bool term_possible(char **error)
{
	const char *name = getenv("TERM");
	char move[] = "cm";
	char *shown;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return util_fail(error, "cannot open the screen: this is no terminal; use "
			"`ktop report`, or `ktop run --headless`");
	if (!name || !*name)
		return util_fail(error, "cannot open the screen: TERM is not set; set it, for "
			"example to xterm, or use `ktop report`");
	if (!has_memory())
		return fail_without_memory(error);
	if (!has_descriptor(error))
		return false;
	shown = util_printable(name, strnlen(name, 64));
	if (!is_known(name))
		util_fail(error, "cannot open the screen: terminal type %s is not known; "
			"set TERM, for example to xterm, or use `ktop report`", shown);
	else if (!tgetstr(move, NULL))
		util_fail(error, "cannot open the screen: terminal type %s cannot move its cursor; "
			"set TERM, or use `ktop report`, or `ktop run --headless`", shown);
	else
		name = NULL;
	free(shown);
	return !name;
}

static enum depth depth_of_terminal(void)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !has_colors() || start_color() == ERR || COLORS < 8)
		return DEPTH_NONE;
	use_default_colors();
	return COLORS >= 256 ? DEPTH_256 : COLORS >= 16 ? DEPTH_16 : DEPTH_8;
}

static bool same_colours(uint8_t one, uint8_t other)
{
	struct look a = theme_look(terminal.theme, terminal.depth, one);
	struct look b = theme_look(terminal.theme, terminal.depth, other);

	return a.fore == b.fore && a.back == b.back;
}

/* 0: the terminal has no more. */
static short new_pair(struct look look)
{
	if (terminal.made + 1 >= COLOR_PAIRS || terminal.made == SHRT_MAX)
		return 0;
	init_pair(++terminal.made, (short)look.fore, (short)look.back);
	return terminal.made;
}

/* Styles with the same two colours share a pair: there are more styles than a terminal with 8 colours has pairs. */
static void make_pairs(void)
{
	terminal.made = 0;
	memset(terminal.halves, 0, sizeof(terminal.halves));
	memset(terminal.pairs, 0, sizeof(terminal.pairs));
	for (int i = 0; i < STYLE_BYTES && terminal.depth != DEPTH_NONE; i++) {
		struct look look = theme_look(terminal.theme, terminal.depth, (uint8_t)i);
		int like = 0;

		while (like < i && !same_colours((uint8_t)like, (uint8_t)i))
			like++;
		if (like < i) {
			terminal.pairs[i] = terminal.pairs[like];
		} else {
			terminal.pairs[i] = new_pair(look);
		}
	}
}

static short pair_of_halves(uint8_t left, uint8_t right)
{
	short *pair = &terminal.halves[left % STYLES][right % STYLES];

	if (!*pair)
		*pair = new_pair(theme_halves(terminal.theme, left, right));
	return *pair;
}

/* The bytes that take back all modes that the screen sets. tputs gives them one by one. */
static struct {
	char bytes[128];
	size_t size;
} leaving;

static int add_leaving(int byte)
{
	if (leaving.size < sizeof(leaving.bytes))
		leaving.bytes[leaving.size++] = (char)byte;
	return byte;
}

/* The first byte, CAN, ends a control sequence that the terminal may be in the middle of, as on a VT100. */
static void write_leaving(void)
{
	static const char *const names[] = { "op", "me", "ke", "ve" };
	char name[3];
	const char *mode;

	leaving.size = 0;
	tputs("\030" MODES_OFF "\033[?1000l", 1, add_leaving);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		mode = tgetstr(strcpy(name, names[i]), NULL);
		if (mode)
			tputs(mode, 1, add_leaving);
	}
	mode = tgetstr(strcpy(name, "te"), NULL);
	if (!mode)
		mode = tgetstr(strcpy(name, "cl"), NULL);
	if (mode)
		tputs(mode, 1, add_leaving);
}

/* Writes past ncurses, which does not know these modes. */
static void send(const char *mode)
{
	if (write(fileno(tty_paper()), mode, strlen(mode)) < 0)
		terminal.shown = NULL;
}

static bool start_curses(char **error)
{
	if (!has_descriptor(error))
		return false;
	terminal.screen = newterm(NULL, tty_paper(), stdin);
	if (!terminal.screen)
		return fail_without_memory(error);	/* for a known type, it fails for no other reason */
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	if (!tty_keep())
		return util_fail(error, "cannot open the screen: there is no room for its frames: %s; use "
			"`ktop report`", strerror(errno));
	endwin();		/* until ncurses comes back from an endwin, it writes each move of the cursor alone */
	tty_drop();
	if (!term_keys_open())
		return fail_without_memory(error);
	curs_set(0);
	send(MODES_ON);
	terminal.depth = depth_of_terminal();
	make_pairs();
	return true;
}

bool term_open(const struct theme *theme, char **error)
{
	if (!term_possible(error))
		return false;
	setlocale(LC_CTYPE, "");
	terminal.theme = theme;
	write_leaving();
	if (!tty_open(leaving.bytes, leaving.size, error))
		return false;
	if (start_curses(error))
		return true;
	term_close();
	return false;
}

static void leave_curses(void)
{
	send(MODES_OFF);
	endwin();
}

void term_close(void)
{
	if (terminal.screen && tty_ours())
		leave_curses();
	tty_close();
	term_keys_close();
	if (terminal.screen)
		delscreen(terminal.screen);
	canvas_free(terminal.shown);
	terminal.shown = NULL;
	terminal.screen = NULL;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

struct canvas *term_canvas(void)
{
	struct canvas *canvas;
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resize_term(least(size.ws_row, ROWS_MOST), least(size.ws_col, COLUMNS_MOST));
	canvas = canvas_new(getmaxy(stdscr), getmaxx(stdscr), strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
	canvas->halves = canvas->unicode && terminal.depth == DEPTH_256;
	return canvas;
}

static attr_t attributes(struct look look)
{
	return (look.attributes & LOOK_BOLD ? A_BOLD : 0) |
		(look.attributes & LOOK_DIM ? A_DIM : 0) |
		(look.attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0) |
		(look.attributes & LOOK_REVERSE ? A_REVERSE : 0);
}

static void show_cell(const struct canvas *canvas, int row, int column)
{
	const struct cell *cell = canvas_cell(canvas, row, column);
	const wchar_t text[2] = { (wchar_t)cell->code };
	short pair = terminal.depth == DEPTH_NONE ? 0 : terminal.pairs[cell->style];
	attr_t attribute = attributes(theme_look(terminal.theme, terminal.depth, cell->style));
	cchar_t complex;

	if (cell->code == 0)
		return;
	if (cell->halves) {
		pair = pair_of_halves(cell->style, cell->right);
		attribute = 0;
	}
	if (setcchar(&complex, text, attribute, pair, NULL) == OK)
		mvadd_wch(row, column, &complex);
}

/* Does the terminal show a canvas of this size? */
static bool same_size(const struct canvas *canvas)
{
	return terminal.shown && terminal.shown->rows == canvas->rows && terminal.shown->columns == canvas->columns;
}

static bool same_cell(const struct canvas *canvas, int row, int column)
{
	const struct cell *shown = canvas_cell(terminal.shown, row, column), *cell = canvas_cell(canvas, row, column);

	return shown->code == cell->code && shown->style == cell->style && shown->halves == cell->halves &&
		(!cell->halves || shown->right == cell->right);
}

/* ncurses takes some hundred instructions for a cell, so it gets only those that have changed. */
bool term_show(const struct canvas *canvas)
{
	bool same = same_size(canvas);

	for (int row = 0; row < canvas->rows; row++)
		for (int column = 0; column < canvas->columns; column++)
			if (!same || !same_cell(canvas, row, column))
				show_cell(canvas, row, column);
	refresh();
	tty_is_whole();
	if (!same) {
		canvas_free(terminal.shown);
		terminal.shown = canvas_new(canvas->rows, canvas->columns, canvas->unicode);
	}
	memcpy(terminal.shown->cells, canvas->cells,
		(size_t)canvas->rows * canvas->columns * sizeof(*canvas->cells));
	return tty_flush();
}

void term_redraw(void)
{
	canvas_free(terminal.shown);
	terminal.shown = NULL;
	clearok(stdscr, TRUE);
}

void term_resume(void)
{
	tty_resume();
	send(MODES_ON);
	term_redraw();
}

bool term_suspend(void)
{
	leave_curses();
	if (!tty_suspend())
		return false;
	term_resume();
	return true;
}

int term_fds(struct pollfd fds[TERM_FDS])
{
	fds[0] = (struct pollfd) { .fd = STDIN_FILENO, .events = POLLIN };
	fds[1] = (struct pollfd) { .fd = tty_fd(), .events = POLLIN };
	fds[2] = (struct pollfd) { .fd = tty_behind(), .events = POLLOUT };
	return TERM_FDS;
}
