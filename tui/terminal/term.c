/* SPDX-License-Identifier: MIT */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <unistd.h>
#include <wchar.h>

#include "agent/base/util.h"
#include "canvas.h"
#include "keys.h"
#include "term.h"
#include "theme.h"
#include "tty.h"

/* ---- keys ---- */

/*
 * Codes of our own, above those of ncurses: pasted text begins, pasted text ends, a report of the mouse begins, a key
 * that ktop has no use for. Such a report is "BUTTON;COLUMN;ROW" and an M, or an m where the button was let go: SGR's
 * form, for which term.c asks. Where a terminal's description has another form, ncurses knows no more than 223 columns.
 */
enum { KEY_PASTE = KEY_MAX + 1, KEY_PASTED, KEY_REPORT, KEY_UNUSED };
enum { BUTTON_MODIFIERS = 4 | 8 | 16, BUTTON_UP = 64, BUTTON_DOWN = 65, REPORT_MOST = 20 };
enum { MOUSE_MOST = 16 };		/* more than ncurses keeps */
static const uint64_t pause_ns = 2 * NS_PER_SECOND;	/* what has not ended is over after so long a pause */

static struct {
	WINDOW *pad;			/* reading from a pad draws nothing */
	mbstate_t partial;		/* the state of a character whose bytes come one by one */
	uint64_t pasted;		/* when the last character of a paste came; 0: nothing is being pasted */
	uint64_t reported;		/* when the last character of a report came; 0: there is no report */
	char report[REPORT_MOST];	/* so far, with a zero at its end */
	bool gone;			/* the terminal was hung up */
	MEVENT mouse[MOUSE_MOST];	/* mouse_count events that came with one KEY_MOUSE, the newest first */
	int mouse_count;
} keys;

static void define(const char *sequence, int key)
{
	if (!key_defined(sequence))
		define_key(sequence, key);
}

/*
 * Keys as most terminals send them, whatever the terminal's description lacks: a sequence that is not known would come
 * as Esc and the keys of its characters. With Shift, Alt or Ctrl held, they are no keys of ktop's.
 */
static void define_usual(void)
{
	static const struct { int key; const char *letter, *number; } usual[] = {
		{ KEY_UP, "A", "" }, { KEY_DOWN, "B", "" }, { KEY_RIGHT, "C", "" }, { KEY_LEFT, "D", "" },
		{ KEY_HOME, "H", "1" }, { KEY_END, "F", "4" }, { KEY_PPAGE, "", "5" }, { KEY_NPAGE, "", "6" },
		{ KEY_IC, "", "2" }, { KEY_DC, "", "3" },
		{ KEY_F(1), "P", "11" }, { KEY_F(2), "Q", "12" }, { KEY_F(3), "R", "13" }, { KEY_F(4), "S", "14" },
		{ KEY_F(5), "", "15" }, { KEY_F(6), "", "17" }, { KEY_F(7), "", "18" }, { KEY_F(8), "", "19" },
		{ KEY_F(9), "", "20" }, { KEY_F(10), "", "21" }, { KEY_F(11), "", "23" }, { KEY_F(12), "", "24" },
	};
	enum { MODIFIERS_FROM = 2, MODIFIERS_TO = 16 };
	char text[32];

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		const char *letter = usual[i].letter, *number = usual[i].number;

		for (int form = 0; *letter && form < 2; form++) {
			snprintf(text, sizeof(text), "\033%c%s", "[O"[form], letter);
			define(text, usual[i].key);
		}
		if (*number) {
			snprintf(text, sizeof(text), "\033[%s~", number);
			define(text, usual[i].key);
		}
		for (int held = MODIFIERS_FROM; held <= MODIFIERS_TO; held++) {
			snprintf(text, sizeof(text), "\033[1;%d%s", held, letter);
			if (*letter)
				define(text, KEY_UNUSED);
			snprintf(text, sizeof(text), "\033[%s;%d~", number, held);
			if (*number)
				define(text, KEY_UNUSED);
		}
	}
}

/* Called by term.c once ncurses is up; false: no memory. */
static bool term_keys_open(void)
{
	keys.pad = newpad(1, 1);
	if (!keys.pad)
		return false;
	keypad(keys.pad, TRUE);
	nodelay(keys.pad, TRUE);
	set_escdelay(25);		/* ms after which an escape byte is the Esc key, and begins no sequence */
	define_key("\033[200~", KEY_PASTE);
	define_key("\033[201~", KEY_PASTED);
	define_key("\033[<", KEY_REPORT);
	define_usual();
	mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	return true;
}

static void term_keys_close(void)
{
	if (keys.pad)
		delwin(keys.pad);
	keys.pad = NULL;
}

bool term_keys_gone(void)
{
	return keys.gone;
}

static bool read_event(struct input *input)
{
	static const enum input_kind kinds[] = {
		[TTY_HANGUP] = INPUT_QUIT, [TTY_QUIT] = INPUT_QUIT, [TTY_STOP] = INPUT_SUSPEND,
		[TTY_CONTINUE] = INPUT_CONTINUE, [TTY_RESIZE] = INPUT_RESIZE,
	};
	enum tty_event event = tty_event();

	if (event == TTY_NOTHING)
		return false;
	keys.gone = keys.gone || event == TTY_HANGUP;
	input->kind = kinds[event];
	return true;
}

/*
 * Events that come at once, such as the press and the release of a quick click, come with one KEY_MOUSE. getmouse gives
 * the newest of them first.
 */
static void take_mouse(void)
{
	keys.mouse_count = 0;
	while (keys.mouse_count < MOUSE_MOST && getmouse(&keys.mouse[keys.mouse_count]) == OK)
		keys.mouse_count++;
}

/* The oldest event that was taken. Without one, the input is no key. */
static bool read_mouse(struct input *input)
{
	MEVENT event;

	if (keys.mouse_count == 0)
		return true;
	event = keys.mouse[--keys.mouse_count];
	input->row = event.y;
	input->column = event.x;
	input->kind = event.bstate & BUTTON4_PRESSED ? INPUT_SCROLL_UP :
		event.bstate & BUTTON5_PRESSED ? INPUT_SCROLL_DOWN :
		event.bstate & BUTTON1_RELEASED ? INPUT_RELEASE : INPUT_CLICK;
	return true;
}

/* The code in keys.h of a key of ncurses; 0: it has none. */
static uint32_t code_of(int key)
{
	static const struct { int curses; uint32_t code; } codes[] = {
		{ KEY_UP, KEYS_UP }, { KEY_DOWN, KEYS_DOWN },
		{ KEY_LEFT, KEYS_LEFT }, { KEY_RIGHT, KEYS_RIGHT },
		{ KEY_PPAGE, KEYS_PAGE_UP }, { KEY_NPAGE, KEYS_PAGE_DOWN },
		{ KEY_HOME, KEYS_HOME }, { KEY_END, KEYS_END },
		{ KEY_FIND, KEYS_HOME }, { KEY_SELECT, KEYS_END },
		{ KEY_BTAB, KEYS_BACK_TAB }, { KEY_ENTER, KEYS_ENTER }, { KEY_BACKSPACE, KEYS_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].curses == key)
			return codes[i].code;
	return key > KEY_F(0) && key <= KEY_F(12) ? (uint32_t)KEYS_F(key - KEY_F(0)) : 0;
}

/* A terminal that was hung up is always readable and gives nothing. That ends the program; it is told once. */
static bool read_end(struct input *input)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	if (keys.gone || poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return false;
	keys.gone = true;
	input->kind = INPUT_QUIT;
	return true;
}

/*
 * The character that this byte completes; 0: it is not complete, or the byte is invalid in this locale. A byte that
 * does not continue the last character may begin the next one, so it is tried once more.
 */
static uint32_t character(int byte)
{
	char one = (char)byte;
	wchar_t wide;
	size_t used = mbrtowc(&wide, &one, 1, &keys.partial);

	if (used == (size_t)-1) {
		memset(&keys.partial, 0, sizeof(keys.partial));
		used = mbrtowc(&wide, &one, 1, &keys.partial);
	}
	if (used == (size_t)-1)
		memset(&keys.partial, 0, sizeof(keys.partial));
	return used <= 1 ? (uint32_t)wide : 0;
}

/* While something is pasted, keys become INPUT_PASTE, and those that are no text become spaces. */
static void read_pasted(struct input *input, int key)
{
	uint64_t now = util_now();

	if (key == KEY_PASTE || key == KEY_PASTED) {
		keys.pasted = key == KEY_PASTE ? now : 0;
		input->code = 0;
	} else if (keys.pasted && now - keys.pasted > pause_ns) {
		keys.pasted = 0;
	} else if (keys.pasted) {
		keys.pasted = now;
		input->kind = INPUT_PASTE;
		if (input->code >= KEYS_UP || input->code == KEYS_BACKSPACE ||
				(input->code && input->code < ' '))
			input->code = ' ';
	}
}

/* The report as an event. It may be anything at all: what ktop does not know is no key. */
static void end_report(struct input *input, bool pressed)
{
	unsigned button, column, row;

	keys.reported = 0;
	if (sscanf(keys.report, "%4u;%4u;%4u", &button, &column, &row) != 3 || column < 1 || row < 1)
		return;
	button &= ~(unsigned)BUTTON_MODIFIERS;
	if (button != 0 && button != BUTTON_UP && button != BUTTON_DOWN)
		return;
	input->row = (int)row - 1;
	input->column = (int)column - 1;
	input->kind = button == BUTTON_UP ? INPUT_SCROLL_UP : button == BUTTON_DOWN ? INPUT_SCROLL_DOWN :
		pressed ? INPUT_CLICK : INPUT_RELEASE;
}

/* False: the key is not part of a report. A report may come in parts; a key that cannot be in it ends it. */
static bool read_report(struct input *input, int key)
{
	size_t size = strlen(keys.report);
	uint64_t now = util_now();

	if (key == KEY_REPORT && !keys.pasted) {
		keys.reported = now;
		keys.report[0] = '\0';
		return true;
	}
	if (!keys.reported || now - keys.reported > pause_ns || size + 1 == sizeof(keys.report) ||
			key <= 0 || key > 127 || !strchr("0123456789;mM", key)) {
		keys.reported = 0;
		return false;
	}
	if (key == 'M' || key == 'm') {
		end_report(input, key == 'M');
		return true;
	}
	keys.reported = now;
	keys.report[size] = (char)key;
	keys.report[size + 1] = '\0';
	return true;
}

bool term_keys_read(struct input *input)
{
	int key;

	*input = (struct input) { .kind = INPUT_KEY };
	if (read_event(input))
		return true;
	if (keys.mouse_count)
		return read_mouse(input);
	key = wgetch(keys.pad);
	if (key == ERR)
		return read_end(input);
	if (key == KEY_MOUSE) {
		take_mouse();
		return read_mouse(input);
	}
	if (read_report(input, key))
		return true;
	input->code = key >= KEY_MIN ? code_of(key) : character(key);
	if (input->code == '\n')
		input->code = KEYS_ENTER;
	if (input->code == '\b')
		input->code = KEYS_BACKSPACE;
	read_pasted(input, key);
	return true;
}

/* ---- term ---- */

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
