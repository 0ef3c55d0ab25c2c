/* SPDX-License-Identifier: MIT */
#include "canvas.h"
#include "glyphs.h"

enum { TREND_MOST = 256 };		/* columns */

static const struct { const char *unicode, *ascii; } texts[GLYPHS] = {
	[GLYPH_ON] = { "●", "*" },
	[GLYPH_PAUSED] = { "‖", "=" },
	[GLYPH_OFF] = { "○", "o" },
	[GLYPH_DOWN] = { "▼", "v" },
	[GLYPH_UP] = { "▲", "^" },
	[GLYPH_WALL] = { "│", "|" },
	[GLYPH_RUN] = { "█", "=" },
	[GLYPH_CALL] = { "▄", "#" },
	[GLYPH_INTERRUPT] = { "╳", "|" },
	[GLYPH_IDLE] = { "·", "." },
	[GLYPH_READY] = { "░", "^" },
	[GLYPH_SLEEP] = { "─", "-" },
	[GLYPH_BLOCKED] = { "═", ":" },
	[GLYPH_LOCK] = { "▒", "%" },
};

const char *glyphs_text(const struct canvas *canvas, enum glyph glyph)
{
	return canvas->unicode ? texts[glyph].unicode : texts[glyph].ascii;
}

static double clamp(double share)
{
	return share > 1 ? 1 : share > 0 ? share : 0;
}

/* Unicode has blocks of one to seven eighths, from the left, at U+258F down to U+2589; the full block is U+2588. */
void glyphs_bar(struct canvas *canvas, struct place place, uint8_t style, double share)
{
	int eighths = (int)(clamp(share) * place.width * 8 + 0.5);

	for (int i = 0; i < place.width; i++) {
		struct place at = { place.row, place.column + i, 1 };
		int part = eighths - i * 8;

		if (canvas->unicode && part > 0)
			canvas_put(canvas, at, style, part >= 8 ? 0x2588 : 0x2590 - (uint32_t)part);
		else if (part >= 4)
			canvas_put(canvas, at, style, '#');
	}
}

/* Unicode has blocks of one to eight eighths, from below, at U+2581 to U+2588. */
void glyphs_column(struct canvas *canvas, struct place place, uint8_t style, double level)
{
	static const char ascii[] = ".:-=+*#";

	if (level < 0)
		return;
	if (canvas->unicode)
		canvas_put(canvas, place, style, 0x2581 + (uint32_t)(clamp(level) * 7 + 0.5));
	else
		canvas_put(canvas, place, style,
			(unsigned char)ascii[(int)(clamp(level) * 6 + 0.5)]);
}

void glyphs_fold(const uint64_t *values, size_t count, uint64_t *folded, size_t columns)
{
	size_t each = columns ? count / columns : 0;

	for (size_t i = 0; i < columns; i++) {
		folded[i] = 0;
		for (size_t j = 0; j < each; j++)
			folded[i] += values[count - (columns - i) * each + j];
	}
}

void glyphs_trend(struct canvas *canvas, struct place place, uint8_t style, const uint64_t *values, size_t count)
{
	uint64_t folded[TREND_MOST], most = 0;

	if (place.width <= 0 || place.width > TREND_MOST || (size_t)place.width > count)
		return;
	glyphs_fold(values, count, folded, (size_t)place.width);
	for (int i = 0; i < place.width; i++)
		most = folded[i] > most ? folded[i] : most;
	for (int i = 0; i < place.width; i++)
		glyphs_column(canvas, (struct place) { place.row, place.column + i, 1 }, style,
			folded[i] ? (double)folded[i] / (double)most : -1);
}
