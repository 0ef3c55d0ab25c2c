#include <stdio.h>

#include "canvas.h"
#include "theme.h"
#include "util.h"

enum { NONE = -1, BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT };
enum { BOLD = LOOK_BOLD, DIM = LOOK_DIM, UNDERLINE = LOOK_UNDERLINE, REVERSE = LOOK_REVERSE };

const struct theme theme_standard = { .entries = {
	[STYLE_TEXT] = { .rich = { NONE, NONE, 0 }, .base = { NONE, NONE, 0 } },
	[STYLE_DIM] = { .rich = { 245, NONE, 0 }, .base = { NONE, NONE, DIM }, .mono = DIM },
	[STYLE_TITLE] = { .rich = { 231, NONE, BOLD }, .base = { NONE, NONE, BOLD }, .mono = BOLD },
	[STYLE_GOOD] = { .rich = { 78, NONE, BOLD }, .base = { GREEN, NONE, BOLD }, .mono = BOLD },
	[STYLE_WARN] = { .rich = { 221, NONE, BOLD }, .base = { YELLOW, NONE, BOLD },
		.mono = BOLD },
	[STYLE_BAD] = { .rich = { 231, 160, BOLD }, .base = { WHITE, RED, BOLD }, .mono = REVERSE },
	[STYLE_KERNEL] = { .rich = { 209, NONE, 0 }, .base = { RED, NONE, 0 } },
	[STYLE_USER] = { .rich = { 114, NONE, 0 }, .base = { GREEN, NONE, 0 } },
	[STYLE_IDLE] = { .rich = { 110, NONE, 0 }, .base = { BRIGHT + BLUE, NONE, 0 } },
	[STYLE_HOT] = { .rich = { 203, NONE, BOLD }, .base = { BRIGHT + RED, NONE, 0 },
		.mono = BOLD },
	[STYLE_WARM] = { .rich = { 221, NONE, 0 }, .base = { YELLOW, NONE, 0 } },
	[STYLE_HEAD] = { .rich = { 252, 238, 0 }, .base = { BLACK, CYAN, 0 }, .mono = REVERSE },
	[STYLE_SORTED] = { .rich = { 231, 61, BOLD }, .base = { BLACK, WHITE, 0 },
		.mono = REVERSE | BOLD },
	[STYLE_MATCH] = { .rich = { 16, 221, 0 }, .base = { BLACK, YELLOW, 0 }, .mono = UNDERLINE },
	[STYLE_KEY] = { .rich = { 231, NONE, BOLD }, .base = { NONE, NONE, BOLD }, .mono = BOLD },
	[STYLE_LABEL] = { .rich = { 252, 238, 0 }, .base = { BLACK, CYAN, 0 }, .mono = REVERSE },
	[STYLE_PROMPT] = { .rich = { 231, 61, 0 }, .base = { BLACK, WHITE, 0 }, .mono = REVERSE },
} };

static struct look of_depth(const struct theme_entry *entry, enum depth depth)
{
	struct look look = depth == DEPTH_256 ? entry->rich : entry->base;

	if (depth == DEPTH_NONE)
		return (struct look) { .fore = NONE, .back = NONE, .attributes = entry->mono };
	if (depth == DEPTH_8 && look.fore >= BRIGHT) {
		look.fore -= BRIGHT;
		look.attributes |= BOLD;
	}
	return look;
}

struct look theme_look(const struct theme *theme, enum depth depth, uint8_t style)
{
	struct look look = of_depth(&theme->entries[(style & ~STYLE_CURSOR) % STYLES], depth);

	if (!(style & STYLE_CURSOR))
		return look;
	look.attributes = (look.attributes & ~(unsigned)DIM) | BOLD;
	if (depth != DEPTH_256)
		look.attributes ^= REVERSE;
	else if (look.back == NONE)
		look.back = 24;
	return look;
}

static void write_colour(FILE *to, int base, int colour)
{
	if (colour >= 2 * BRIGHT)
		fprintf(to, ";%d;5;%d", base + 8, colour);
	else if (colour >= BRIGHT)
		fprintf(to, ";%d", base + 60 + colour - BRIGHT);
	else if (colour >= BLACK)
		fprintf(to, ";%d", base + colour);
}

static void write_look(FILE *to, struct look look)
{
	fputs("\033[0", to);
	if (look.attributes & BOLD)
		fputs(";1", to);
	if (look.attributes & DIM)
		fputs(";2", to);
	if (look.attributes & UNDERLINE)
		fputs(";4", to);
	if (look.attributes & REVERSE)
		fputs(";7", to);
	write_colour(to, 30, look.fore);
	write_colour(to, 40, look.back);
	fputc('m', to);
}

char *theme_dump(const struct canvas *canvas, enum depth depth)
{
	char *text = NULL, bytes[CELL_BYTES];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return util_copy("", 0);
	for (int row = 0; row < canvas->rows; row++) {
		int style = -1;

		for (int column = 0; column < canvas->columns; column++) {
			const struct cell *cell = canvas_cell(canvas, row, column);

			if (cell->style != style)
				write_look(to, theme_look(&theme_standard, depth, cell->style));
			style = cell->style;
			fputs(canvas_utf8(cell, bytes), to);
		}
		fputs("\033[0m\n", to);
	}
	fclose(to);
	return text;
}
