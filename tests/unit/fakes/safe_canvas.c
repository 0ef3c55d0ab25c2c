/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "ansi.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "safe_canvas.h"

bool safe_character(uint32_t code)
{
	static const struct { uint32_t first, last; } tricks[] = {
		{ 0, 0x1f }, { 0x7f, 0xa0 }, { 0xad, 0xad }, { 0x300, 0x36f }, { 0x483, 0x489 },
		{ 0x590, 0x8ff }, { 0x115f, 0x11ff }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x200b, 0x200f }, { 0x2028, 0x202f }, { 0x2060, 0x206f }, { 0x20d0, 0x20ff },
		{ 0x302a, 0x302f }, { 0x3164, 0x3164 }, { 0xd800, 0xf8ff }, { 0xfb1d, 0xfdff },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfe70, 0xfeff }, { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xffff }, { 0x1f1e6, 0x1f1ff }, { 0x1f3fb, 0x1f3ff },
		{ 0xe0000, 0xffffffff },
	};

	for (size_t i = 0; i < sizeof(tricks) / sizeof(*tricks); i++)
		if (code >= tricks[i].first && code <= tricks[i].last)
			return false;
	return true;
}

static const char *row_trouble(const struct canvas *canvas, int row)
{
	int width;

	for (int column = 0; column < canvas->columns; column += width) {
		const struct cell *cell = canvas_cell(canvas, row, column);
		const struct cell *right = canvas_cell(canvas, row, column + 1);

		if (!safe_character(cell->code))
			return "a character, or half of one";
		if (!canvas->unicode && cell->code > '~')
			return "more than ASCII";
		width = wcwidth((wchar_t)cell->code);
		if (width != 1 && (width != 2 || !right || right->code != 0))
			return "a width";
		if ((cell->style & (STYLE_NAME - 1)) >= STYLES)
			return "a style";
	}
	return NULL;
}

/* Removes the sequences that set colours, such as "\033[0;1;31m". */
static void plain(char *text)
{
	char *to = text;

	while (*text != '\0') {
		size_t size = strncmp(text, "\033[", 2) == 0 ? 2 + strspn(text + 2, "0123456789;") : 0;

		if (size > 0 && text[size] == 'm')
			text += size + 1;
		else
			*to++ = *text++;
	}
	*to = '\0';
}

/* Without the colours, the output is the same in each depth of colour, and has no sequence left. */
static const char *output_trouble(const struct canvas *canvas)
{
	const char *trouble = NULL;
	char *none = ansi_text(canvas, DEPTH_NONE);

	plain(none);
	for (int depth = DEPTH_8; depth <= DEPTH_256; depth++) {
		char *text = ansi_text(canvas, (enum depth)depth);

		plain(text);
		if (strcmp(text, none) != 0 || strchr(text, '\033'))
			trouble = "a sequence";
		free(text);
	}
	free(none);
	return trouble;
}

const char *safe_canvas(const struct canvas *canvas)
{
	for (int row = 0; row < canvas->rows; row++) {
		const char *trouble = row_trouble(canvas, row);

		if (trouble)
			return trouble;
	}
	return output_trouble(canvas);
}
