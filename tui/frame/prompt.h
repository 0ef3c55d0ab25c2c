/* SPDX-License-Identifier: MIT */
/* A line that is typed at the bottom of the screen: what to search, what to show. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;
struct place;

enum prompt_event { PROMPT_CHANGED, PROMPT_SAME, PROMPT_DONE, PROMPT_LEFT };

struct prompt {
	const char *label;		/* NULL: no prompt is open */
	char hint[96];			/* shown behind the text where there is room for all */
	char text[128];
	size_t size;
};

void prompt_open(struct prompt *prompt, const char *label, const char *hint, const char *text);

/* Is this key for a prompt: a character, or one that edits or ends the line? */
bool prompt_takes(uint32_t code);

/* PROMPT_DONE and PROMPT_LEFT (Esc, or Backspace on an empty line) close it; the text stays. */
enum prompt_event prompt_key(struct prompt *prompt, uint32_t code);

/* `bad`: what is wrong with the text, or NULL. */
void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct place place,
	const char *bad);

#endif
