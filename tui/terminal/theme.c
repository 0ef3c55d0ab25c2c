/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "theme.h"

enum { NONE = -1, BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT };
enum { BOLD = LOOK_BOLD, DIM = LOOK_DIM, UNDERLINE = LOOK_UNDERLINE, REVERSE = LOOK_REVERSE };

const struct theme theme_standard = { .entries = {
	[STYLE_TEXT] = { "text", .rich = { NONE, NONE, 0 }, .base = { NONE, NONE, 0 } },
	[STYLE_DIM] = { "dim", .rich = { 245, NONE, 0 }, .base = { NONE, NONE, DIM }, .mono = DIM },
	[STYLE_TITLE] = { "title", .rich = { 231, NONE, BOLD },
		.base = { NONE, NONE, BOLD }, .mono = BOLD },
	[STYLE_GOOD] = { "good", .rich = { 78, NONE, BOLD },
		.base = { GREEN, NONE, BOLD }, .mono = BOLD },
	[STYLE_WARN] = { "warn", .rich = { 221, NONE, BOLD },
		.base = { YELLOW, NONE, BOLD }, .mono = BOLD },
	[STYLE_BAD] = { "bad", .rich = { 231, 160, BOLD },
		.base = { WHITE, RED, BOLD }, .mono = REVERSE },
	[STYLE_KERNEL] = { "kernel", .rich = { 209, NONE, 0 }, .base = { RED, NONE, 0 } },
	[STYLE_USER] = { "user", .rich = { 114, NONE, 0 }, .base = { GREEN, NONE, 0 }, .mono = UNDERLINE },
	[STYLE_IDLE] = { "idle", .rich = { 110, NONE, 0 }, .base = { BRIGHT + BLUE, NONE, 0 } },
	[STYLE_HOT] = { "hot", .rich = { 203, NONE, BOLD },
		.base = { BRIGHT + RED, NONE, 0 }, .mono = BOLD },
	[STYLE_WARM] = { "warm", .rich = { 221, NONE, 0 }, .base = { YELLOW, NONE, 0 } },
	[STYLE_HEAD] = { "head", .rich = { 252, 238, 0 },
		.base = { BLACK, CYAN, 0 }, .mono = REVERSE },
	[STYLE_SORTED] = { "sorted", .rich = { 231, 61, BOLD },
		.base = { BLACK, WHITE, 0 }, .mono = REVERSE | BOLD },
	[STYLE_MATCH] = { "match", .rich = { 16, 221, 0 },
		.base = { BLACK, YELLOW, 0 }, .mono = REVERSE | UNDERLINE },
	[STYLE_KEY] = { "key", .rich = { 231, NONE, BOLD },
		.base = { NONE, NONE, BOLD }, .mono = BOLD },
	[STYLE_LABEL] = { "label", .rich = { 252, 238, 0 },
		.base = { BLACK, CYAN, 0 }, .mono = REVERSE },
	[STYLE_PROMPT] = { "prompt", .rich = { 231, 61, 0 },
		.base = { BLACK, WHITE, 0 }, .mono = REVERSE },
	[STYLE_FLAME_KERNEL + 0] = { "flame-kernel-1", .rich = { 16, 209, 0 },
		.base = { BLACK, RED, 0 }, .mono = REVERSE },
	[STYLE_FLAME_KERNEL + 1] = { "flame-kernel-2", .rich = { 16, 215, 0 },
		.base = { BLACK, YELLOW, 0 }, .mono = REVERSE },
	[STYLE_FLAME_KERNEL + 2] = { "flame-kernel-3", .rich = { 16, 221, 0 },
		.base = { BLACK, BRIGHT + YELLOW, 0 }, .mono = REVERSE },
	[STYLE_FLAME_KERNEL + 3] = { "flame-kernel-4", .rich = { 16, 180, 0 },
		.base = { BLACK, BRIGHT + RED, 0 }, .mono = REVERSE },
	[STYLE_FLAME_KERNEL + 4] = { "flame-kernel-5", .rich = { 16, 174, 0 },
		.base = { BLACK, MAGENTA, 0 }, .mono = REVERSE },
	[STYLE_FLAME_MODULE + 0] = { "flame-module-1", .rich = { 16, 150, 0 },
		.base = { BLACK, GREEN, 0 }, .mono = REVERSE },
	[STYLE_FLAME_MODULE + 1] = { "flame-module-2", .rich = { 16, 114, 0 },
		.base = { BLACK, BRIGHT + GREEN, 0 }, .mono = REVERSE },
	[STYLE_FLAME_MODULE + 2] = { "flame-module-3", .rich = { 16, 187, 0 },
		.base = { BLACK, WHITE, 0 }, .mono = REVERSE },
	[STYLE_FLAME_PROGRAM + 0] = { "flame-program-1", .rich = { 16, 110, 0 },
		.base = { BLACK, CYAN, 0 }, .mono = REVERSE },
	[STYLE_FLAME_PROGRAM + 1] = { "flame-program-2", .rich = { 16, 117, 0 },
		.base = { BLACK, BRIGHT + CYAN, 0 }, .mono = REVERSE },
	[STYLE_FLAME_PROGRAM + 2] = { "flame-program-3", .rich = { 16, 146, 0 },
		.base = { BLACK, BRIGHT + BLUE, 0 }, .mono = REVERSE },
	[STYLE_FLAME_PROGRAM + 3] = { "flame-program-4", .rich = { 16, 152, 0 },
		.base = { BLACK, BRIGHT + MAGENTA, 0 }, .mono = REVERSE },
	[STYLE_MORE] = { "more", .rich = { 203, NONE, BOLD },
		.base = { BRIGHT + RED, NONE, 0 }, .mono = BOLD },
	[STYLE_LESS] = { "less", .rich = { 75, NONE, BOLD },
		.base = { BRIGHT + BLUE, NONE, 0 }, .mono = BOLD },
	[STYLE_FLAME_MORE] = { "flame-more", .rich = { 16, 217, 0 },
		.base = { BLACK, BRIGHT + RED, 0 }, .mono = REVERSE },
	[STYLE_FLAME_MUCH_MORE] = { "flame-much-more", .rich = { 231, 160, BOLD },
		.base = { WHITE, RED, BOLD }, .mono = REVERSE | BOLD },
	[STYLE_FLAME_LESS] = { "flame-less", .rich = { 16, 153, 0 },
		.base = { BLACK, BRIGHT + BLUE, 0 }, .mono = REVERSE },
	[STYLE_FLAME_MUCH_LESS] = { "flame-much-less", .rich = { 231, 26, BOLD },
		.base = { WHITE, BLUE, BOLD }, .mono = REVERSE | BOLD },
	[STYLE_FLAME_SAME] = { "flame-same", .rich = { 16, 250, 0 },
		.base = { BLACK, WHITE, 0 }, .mono = REVERSE },
	/* With few colours, others have them all: this cell has none. */
	[STYLE_FLAME_CURSOR] = { "flame-cursor", .rich = { 231, 61, BOLD },
		.base = { NONE, NONE, BOLD | UNDERLINE }, .mono = BOLD | UNDERLINE },
} };

static const char *const colours[2 * BRIGHT] = {
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow",
	"bright-blue", "bright-magenta", "bright-cyan", "bright-white",
};
enum { PALETTE = 256 };

static const struct { const char *name; unsigned bit; } attributes[] = {
	{ "bold", BOLD }, { "dim", DIM }, { "underline", UNDERLINE }, { "reverse", REVERSE },
};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(*attributes) };

static bool take_attribute(const char *word, unsigned *bits)
{
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (strcmp(word, attributes[i].name) == 0) {
			*bits |= attributes[i].bit;
			return true;
		}
	return false;
}

static bool take_colour(const char *word, int *colour)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	for (int i = 0; i < 2 * BRIGHT; i++)
		if (strcmp(word, colours[i]) == 0) {
			*colour = i;
			return true;
		}
	if (strcmp(word, "default") == 0) {
		*colour = NONE;
		return true;
	}
	*colour = (int)number;
	return isdigit((unsigned char)*word) && *end == '\0' && number < PALETTE;
}

/*
 * Takes the words of one look, up to the end or a "/", and moves *words there. There may be one colour for the text,
 * and one behind "on".
 */
static bool take_look(struct look *look, char *const **words, char **error)
{
	bool given[2] = { false, false }, on = false;

	*look = (struct look) { .fore = NONE, .back = NONE };
	for (; **words && strcmp(**words, "/") != 0; (*words)++) {
		const char *word = **words;

		if (take_attribute(word, &look->attributes))
			continue;
		if (strcmp(word, "on") == 0 && !on) {
			on = true;
			continue;
		}
		if (!take_colour(word, on ? &look->back : &look->fore))
			return util_fail(error, "%.40s: neither a colour nor an attribute; give "
				"default, red, bright-red or 0 to 255; bold, dim, underline, "
				"reverse", word);
		if (given[on])
			return util_fail(error, "%.40s: a second colour; give one for the text, "
				"and one after on", word);
		given[on] = true;
	}
	return given[1] || !on || util_fail(error, "on: no colour follows it; give one: on blue");
}

static bool is_base(struct look look)
{
	return look.fore < 2 * BRIGHT && look.back < 2 * BRIGHT;
}

bool theme_set(struct theme *theme, const char *name, char *const *words, char **error)
{
	struct theme_entry *entry = theme->entries, set;

	while (entry < theme->entries + STYLES && strcmp(entry->name, name) != 0)
		entry++;
	if (entry == theme->entries + STYLES)
		return util_fail(error, "no such style; `ktop config` lists them");
	set = *entry;
	if (!take_look(&set.rich, &words, error))
		return false;
	if (is_base(set.rich))
		set.base = set.rich;
	if (*words && (words++, !take_look(&set.base, &words, error)))
		return false;
	if (*words)
		return util_fail(error, "more than one /; give one set of colours, or two");
	if (!is_base(set.base))
		return util_fail(error, "after the / there are 16 colours; give a name, or 0 to 15");
	*entry = set;
	return true;
}

static void write_colour_word(FILE *to, int colour)
{
	if (colour < 2 * BRIGHT)
		fprintf(to, " %s", colour < 0 ? "default" : colours[colour]);
	else
		fprintf(to, " %d", colour);
}

static void write_look_words(FILE *to, struct look look)
{
	write_colour_word(to, look.fore);
	if (look.back != NONE) {
		fputs(" on", to);
		write_colour_word(to, look.back);
	}
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (look.attributes & attributes[i].bit)
			fprintf(to, " %s", attributes[i].name);
}

void theme_write(const struct theme_entry *entry, FILE *to)
{
	write_look_words(to, entry->rich);
	fputs(" /", to);
	write_look_words(to, entry->base);
}

static struct look of_depth(const struct theme_entry *entry, enum depth depth)
{
	struct look look = depth == DEPTH_256 ? entry->rich : entry->base;

	if (depth == DEPTH_NONE)
		return (struct look) { .fore = NONE, .back = NONE, .attributes = entry->mono };
	if (depth == DEPTH_8 && look.fore >= BRIGHT) {
		look.fore -= BRIGHT;
		look.attributes |= BOLD;
	}
	if (depth == DEPTH_8 && look.back >= BRIGHT)
		look.back -= BRIGHT;
	return look;
}

/* With few colours a name of the kernel is plain text, as all other text, and one of a program looks as user time. */
static struct look of_name(const struct theme *theme, uint8_t flame, enum depth depth)
{
	bool program = flame >= STYLE_FLAME_PROGRAM && flame < STYLE_FLAME_PROGRAM + FLAME_PROGRAMS;
	struct look look = of_depth(&theme->entries[program && depth != DEPTH_256 ? STYLE_USER : STYLE_TEXT], depth);

	if (depth == DEPTH_256)
		look.fore = theme->entries[flame].rich.back;
	return look;
}

struct look theme_look(const struct theme *theme, enum depth depth, uint8_t style)
{
	uint8_t base = style & (STYLE_NAME - 1);
	/* On the cursor's ground, what is dim cannot be read. */
	const struct theme_entry *entry =
		&theme->entries[style & STYLE_CURSOR && base == STYLE_DIM ? STYLE_TEXT : base % STYLES];
	struct look look = style & STYLE_NAME ? of_name(theme, base % STYLES, depth) : of_depth(entry, depth);

	if (!(style & STYLE_CURSOR))
		return look;
	look.attributes = (look.attributes & ~(unsigned)DIM) | BOLD;
	if (depth != DEPTH_256)
		look.attributes ^= REVERSE;
	else if (look.back == NONE)
		look.back = 24;
	return look;
}

/* The terminal's own background cannot be a foreground: the cell's block is then the right half (canvas_half). */
struct look theme_halves(const struct theme *theme, uint8_t left, uint8_t right)
{
	struct look one = theme_look(theme, DEPTH_256, left), other = theme_look(theme, DEPTH_256, right);

	if (left == STYLE_TEXT)
		return (struct look) { .fore = other.back, .back = one.back };
	return (struct look) { .fore = one.back, .back = other.back };
}
