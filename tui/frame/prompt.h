/* SPDX-License-Identifier: MIT */
/* A line at the bottom of the screen in which the user types: a name to search, a filter, a time. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;
struct place;

/* What a key did: the text changed; it is the same; the text is complete; the prompt was left. */
enum prompt_event { PROMPT_CHANGED, PROMPT_SAME, PROMPT_DONE, PROMPT_LEFT };

struct prompt {
	const char *label;		/* NULL: no prompt is open */
	char hint[96];			/* shown behind the text if all of it fits */
	char text[128];
	size_t size;
};

/* Borrows the label while the prompt is open; copies hint and text, as far as they fit. */
void prompt_open(struct prompt *prompt, const char *label, const char *hint, const char *text);

/* True: a prompt uses this key, as a character or to edit or end the line. */
bool prompt_takes(uint32_t code);

/* PROMPT_DONE (Enter) and PROMPT_LEFT (Esc, or Backspace on an empty line) close the prompt; its text stays. */
enum prompt_event prompt_key(struct prompt *prompt, uint32_t code);

/* `bad`: what is wrong with the text, shown in place of the hint; NULL: nothing. */
void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct place place,
	const char *bad);

#endif
