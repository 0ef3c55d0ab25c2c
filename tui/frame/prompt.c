/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "prompt.h"

void prompt_open(struct prompt *prompt, const char *label, const char *hint, const char *text)
{
	*prompt = (struct prompt) { .label = label };
	snprintf(prompt->hint, sizeof(prompt->hint), "%s", hint);
	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->size = strlen(prompt->text);
}

/* Removes the last character: its continuation bytes, and the byte before them. */
static void erase(struct prompt *prompt)
{
	while (prompt->size > 0 && ((unsigned char)prompt->text[--prompt->size] >> 6) == 2)
		;
	prompt->text[prompt->size] = '\0';
}

static enum prompt_event add(struct prompt *prompt, uint32_t code)
{
	struct cell cell = { .code = code };
	char bytes[CELL_BYTES];
	size_t size = strlen(canvas_utf8(&cell, bytes));

	if (code < ' ' || code >= KEYS_UP || prompt->size + size >= sizeof(prompt->text))
		return PROMPT_SAME;
	strcpy(prompt->text + prompt->size, bytes);
	prompt->size += size;
	return PROMPT_CHANGED;
}

bool prompt_takes(uint32_t code)
{
	return code == KEYS_ESCAPE || code == KEYS_ENTER || code == KEYS_CTRL('U') ||
		(code >= ' ' && code < KEYS_UP);
}

enum prompt_event prompt_key(struct prompt *prompt, uint32_t code)
{
	bool leave = code == KEYS_ESCAPE || (code == KEYS_BACKSPACE && prompt->size == 0);

	if (leave || code == KEYS_ENTER) {
		prompt->label = NULL;
		return leave ? PROMPT_LEFT : PROMPT_DONE;
	}
	if (code == KEYS_CTRL('U')) {
		prompt->size = 0;
		prompt->text[0] = '\0';
		return PROMPT_CHANGED;
	}
	if (code == KEYS_BACKSPACE) {
		erase(prompt);
		return PROMPT_CHANGED;
	}
	return add(prompt, code);
}

void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct place place,
	const char *bad)
{
	int end = place.column + place.width, room;
	const char *text = prompt->text;

	canvas_blank(canvas, place);
	place.column += canvas_text(canvas, place, STYLE_PROMPT, prompt->label);
	canvas_put(canvas, (struct place) { place.row, place.column++, 1 }, STYLE_PROMPT, ' ');
	room = end - place.column - 1;
	text = canvas_skip(canvas, text, canvas_width(canvas, text) - room);
	place.width = room;
	place.column += canvas_text(canvas, place, STYLE_TEXT, text);
	canvas_put(canvas, (struct place) { place.row, place.column, 1 }, STYLE_TEXT | STYLE_CURSOR,
		' ');
	place.column += 3;
	place.width = end - place.column;
	if (bad || canvas_width(canvas, prompt->hint) <= place.width)
		canvas_text(canvas, place, bad ? STYLE_WARN : STYLE_DIM, bad ? bad : prompt->hint);
}
