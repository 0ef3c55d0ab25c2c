/* SPDX-License-Identifier: MIT */
#define NCURSES_NOMACROS 1

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <curses.h>

#include "agent/base/util.h"
#include "input.h"
#include "keys.h"
#include "term_keys.h"
#include "tty.h"

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

bool term_keys_open(void)
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

void term_keys_close(void)
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
