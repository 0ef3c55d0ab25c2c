/* SPDX-License-Identifier: MIT */
/*
 * The whole screen without a terminal. Input, and the answers and messages of a feed, go in; a canvas comes out. Times
 * are those of util_now, given by the caller. The screen's thread makes all calls.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- feed ---- */

/* What a screen is connected to: it brings answers and messages, and takes questions and orders. */

struct answer;
struct console;
struct excerpt;
struct play;
struct request;
struct session_message;

/* A screen has three questions, which are answered apart: the machine's vitals, what the view shows, the time line. */
enum feed_question { FEED_VITALS, FEED_VIEW, FEED_LINE, FEED_QUESTIONS };

struct feed {				/* each function is called with `self`; none of them waits */
	void *self;
	struct console *console;	/* of the QEMU that ktop has started; NULL: it has started none */
	/* Called with each drawing. NULL: nothing is asked. */
	void (*ask)(void *self, enum feed_question question, const struct request *request);
	/* The newest answer, owned by the caller; NULL: none since the last call. */
	struct answer *(*answer)(void *self, enum feed_question question);
	bool (*message)(void *self, struct session_message *message);	/* the next one; false: there is none */
	/* Whether the profiler runs: as last asked for until the outcome is told, and after that as is known. */
	bool (*running)(void *self);
	void (*run_profiler)(void *self, bool on);
	void (*mark)(void *self, const char *text);	/* this moment of the guest */
	/* As session_trace_function. Not over all machines. */
	void (*trace_function)(void *self, const char *name, uint64_t address);
	void (*keep)(void *self, const char *kernel);	/* records what led up to now; `kernel`: as in `snapshot` */
	/* Records the last moments of a machine that answers no more, and shows them. Not over several machines. */
	void (*read_dead)(void *self, const char *kernel);
	void (*play)(void *self, const struct play *play);	/* an order to the player of a recording */
	/* Saves this part of the profile. `kernel`: a name for the file's name. */
	void (*snapshot)(void *self, const struct excerpt *excerpt, const char *kernel);
	/* The format of all screens' snapshots: that of the last time. Its number in the list of save_format.h. */
	size_t (*format)(void *self);
	void (*set_format)(void *self, size_t format);
};

/* ---- screen ---- */

struct canvas;
struct config;
struct input;
struct screen;

enum { SCREEN_LEAST_ROWS = 4, SCREEN_LEAST_COLUMNS = 20 };

/* The configuration and the feed's `self` must outlive the screen. */
struct screen *screen_new(struct feed feed, const struct config *config);
void screen_free(struct screen *screen);

/* Takes the feed's answers and messages. True: there is something new to draw. */
bool screen_step(struct screen *screen, uint64_t now);

/* True: the newest answer to the current view has rows. */
bool screen_has_table(const struct screen *screen);

/*
 * What the caller of an input function has to do besides drawing. SCREEN_REDRAW: send every cell to the terminal.
 * SCREEN_DETACH: quit, but let the QEMU that this ktop has started go on.
 */
enum screen_act {
	SCREEN_NOTHING, SCREEN_REDRAW, SCREEN_SUSPEND, SCREEN_QUIT, SCREEN_DETACH, SCREEN_NEXT_TAB, SCREEN_PREVIOUS_TAB,
};
enum screen_act screen_input(struct screen *screen, const struct input *input, uint64_t now);

/*
 * True: this input acts on rows, and must wait: what was done before it has asked for other rows than those on the
 * screen, or these are not drawn yet. So take answers meanwhile, and draw. A look at another view acts on rows, too.
 * The keys of the window, the filter, the groups, the tabs, the help and the end do not. Behind the help no rows are
 * asked for, so nothing waits there. A click is on what is seen: it waits for a drawing alone.
 *
 * Nothing waits for more than a second. Then it acts on the rows that are on the screen, and nothing waits until an
 * answer comes. So a slow machine is waited for, and one that hangs makes nobody wait twice.
 */
bool screen_awaits(struct screen *screen, const struct input *input, uint64_t now);

/* Another screen is shown from now on: the rows of this one are asked for anew when it is drawn again. */
void screen_look_away(struct screen *screen);

/* True: it ends the screen, whatever is open: it does not wait behind others. So do what signals ask, and a resize. */
bool screen_is_urgent(const struct screen *screen, const struct input *input);

/* Draws the whole canvas, and asks the feed for exactly what was drawn: nothing else is computed. */
void screen_draw(struct screen *screen, struct canvas *canvas);

#endif
