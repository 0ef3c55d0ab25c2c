#define NCURSES_NOMACROS 1

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <curses.h>
#include <termcap.h>

#include "canvas.h"
#include "input.h"
#include "keys.h"
#include "term.h"
#include "theme.h"
#include "util.h"

#define SIGNALS 5
static const int signals[SIGNALS] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP };

/* The one terminal. `pipe` is written by the signal handler, all else by the main thread. */
static struct {
	SCREEN *screen;
	const struct theme *theme;
	struct canvas *shown;		/* what the terminal shows; NULL: unknown */
	enum depth depth;
	bool gone;
	int pipe[2];
	struct sigaction before[SIGNALS];
} terminal = { .pipe = { -1, -1 } };

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int kept = errno;
	ssize_t ignored = write(terminal.pipe[1], &byte, 1);

	(void)ignored;
	errno = kept;
}

bool term_possible(char **error)
{
	const char *name = getenv("TERM");
	char move[] = "cm";

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return util_fail(error,
			"cannot open the screen: this is no terminal; use `ktop report`, or "
			"`ktop run --headless`");
	if (!name || !*name)
		return util_fail(error,
			"cannot open the screen: TERM is not set; set it, for example to xterm");
	if (tgetent(NULL, name) != 1)
		return util_fail(error, "cannot open the screen: terminal type %.64s is not known; "
			"set TERM, for example to xterm", name);
	if (!tgetstr(move, NULL))
		return util_fail(error,
			"cannot open the screen: terminal type %.64s cannot move its cursor; "
			"set TERM, or use `ktop report`, or `ktop run --headless`",
			name);
	return true;
}

static enum depth depth_of_terminal(void)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !has_colors() || start_color() == ERR || COLORS < 8)
		return DEPTH_NONE;
	use_default_colors();
	return COLORS >= 256 ? DEPTH_256 : COLORS >= 16 ? DEPTH_16 : DEPTH_8;
}

/* A style's pair; the one for its cursor row lies STYLES above. Pair 0 is the terminal's own. */
static short pair_of(uint8_t style)
{
	return (short)(1 + (style & ~STYLE_CURSOR) + (style & STYLE_CURSOR ? STYLES : 0));
}

static void make_pairs(void)
{
	for (int i = 0; i < 2 * STYLES && terminal.depth != DEPTH_NONE; i++) {
		uint8_t style = (uint8_t)(i < STYLES ? i : (i - STYLES) | STYLE_CURSOR);
		struct look look = theme_look(terminal.theme, terminal.depth, style);

		init_pair(pair_of(style), (short)look.fore, (short)look.back);
	}
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, &terminal.before[i]);
}

static void start_curses(void)
{
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	terminal.depth = depth_of_terminal();
	make_pairs();
}

bool term_open(const struct theme *theme, char **error)
{
	if (!term_possible(error))
		return false;
	setlocale(LC_CTYPE, "");
	if (pipe2(terminal.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return util_fail(error, "cannot open the screen: %s; close other programs",
			strerror(errno));
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen) {
		term_close();
		return util_fail(error,
			"cannot open the screen: the terminal does not answer; set TERM");
	}
	terminal.theme = theme;
	start_curses();
	catch_signals();
	atexit(term_close);
	return true;
}

void term_close(void)
{
	if (terminal.screen) {
		endwin();
		for (int i = 0; i < SIGNALS; i++)
			sigaction(signals[i], &terminal.before[i], NULL);
		delscreen(terminal.screen);
	}
	for (int i = 0; i < 2; i++) {
		if (terminal.pipe[i] >= 0)
			close(terminal.pipe[i]);
		terminal.pipe[i] = -1;
	}
	canvas_free(terminal.shown);
	terminal.shown = NULL;
	terminal.screen = NULL;
}

struct canvas *term_canvas(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resize_term(size.ws_row, size.ws_col);
	return canvas_new(getmaxy(stdscr), getmaxx(stdscr),
		strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
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
	short pair = terminal.depth == DEPTH_NONE ? 0 : pair_of(cell->style);
	cchar_t complex;

	if (cell->code == 0)
		return;
	if (setcchar(&complex, text,
		attributes(theme_look(terminal.theme, terminal.depth, cell->style)), pair,
		NULL) == OK)
		mvadd_wch(row, column, &complex);
}

static bool same_row(const struct canvas *canvas, int row)
{
	size_t columns = (size_t)canvas->columns, at = (size_t)row * columns;

	return terminal.shown && terminal.shown->rows == canvas->rows &&
		terminal.shown->columns == canvas->columns &&
		memcmp(terminal.shown->cells + at, canvas->cells + at,
			columns * sizeof *canvas->cells) == 0;
}

void term_show(const struct canvas *canvas)
{
	for (int row = 0; row < canvas->rows; row++)
		for (int column = 0; column < canvas->columns && !same_row(canvas, row); column++)
			show_cell(canvas, row, column);
	refresh();
	if (!terminal.shown || terminal.shown->rows != canvas->rows ||
		terminal.shown->columns != canvas->columns) {
		canvas_free(terminal.shown);
		terminal.shown = canvas_new(canvas->rows, canvas->columns, canvas->unicode);
	}
	memcpy(terminal.shown->cells, canvas->cells,
		(size_t)canvas->rows * canvas->columns * sizeof *canvas->cells);
}

void term_redraw(void)
{
	canvas_free(terminal.shown);
	terminal.shown = NULL;
	clearok(stdscr, TRUE);
}

/* Stops this process alone, as the terminal's own Ctrl-Z would. */
void term_suspend(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, ours;

	def_prog_mode();
	endwin();
	sigaction(SIGTSTP, &standard, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	reset_prog_mode();
	term_redraw();
}

int term_fds(struct pollfd fds[TERM_FDS])
{
	fds[0] = (struct pollfd) { .fd = STDIN_FILENO, .events = POLLIN };
	fds[1] = (struct pollfd) { .fd = terminal.pipe[0], .events = POLLIN };
	return TERM_FDS;
}

static bool read_signal(struct input *input)
{
	unsigned char number;

	if (read(terminal.pipe[0], &number, 1) != 1)
		return false;
	input->kind = number == SIGWINCH ? INPUT_RESIZE :
		number == SIGTSTP ? INPUT_SUSPEND : INPUT_QUIT;
	return true;
}

static bool read_mouse(struct input *input)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return false;
	input->row = event.y;
	input->column = event.x;
	input->kind = event.bstate & BUTTON4_PRESSED ? INPUT_SCROLL_UP :
		event.bstate & BUTTON5_PRESSED ? INPUT_SCROLL_DOWN : INPUT_CLICK;
	return true;
}

static uint32_t code_of(wint_t key)
{
	static const struct { wint_t curses; uint32_t code; } codes[] = {
		{ KEY_UP, KEYS_UP }, { KEY_DOWN, KEYS_DOWN },
		{ KEY_LEFT, KEYS_LEFT }, { KEY_RIGHT, KEYS_RIGHT },
		{ KEY_PPAGE, KEYS_PAGE_UP }, { KEY_NPAGE, KEYS_PAGE_DOWN },
		{ KEY_HOME, KEYS_HOME }, { KEY_END, KEYS_END },
		{ KEY_FIND, KEYS_HOME }, { KEY_SELECT, KEYS_END },
		{ KEY_ENTER, KEYS_ENTER }, { KEY_BACKSPACE, KEYS_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].curses == key)
			return codes[i].code;
	return key > KEY_F(0) && key <= KEY_F(12) ? KEYS_F(key - KEY_F(0)) : 0;
}

/* A closed terminal is always readable and gives nothing: that ends the program, once. */
static bool read_end(struct input *input)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	if (terminal.gone || poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return false;
	terminal.gone = true;
	input->kind = INPUT_QUIT;
	return true;
}

bool term_read(struct input *input)
{
	wint_t key;
	int kind;

	*input = (struct input) { .kind = INPUT_KEY };
	if (read_signal(input))
		return true;
	kind = get_wch(&key);
	if (kind == ERR)
		return read_end(input);
	if (kind == KEY_CODE_YES && key == KEY_MOUSE)
		return read_mouse(input);
	if (kind == KEY_CODE_YES)
		input->code = code_of(key);
	else
		input->code = key == '\n' ? KEYS_ENTER :
			key == '\b' ? KEYS_BACKSPACE : (uint32_t)key;
	return true;
}
