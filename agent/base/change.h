/* SPDX-License-Identifier: MIT */
/*
 * How a share has changed between two ranges of time, and whether that may be chance: the two-proportion z-test, for
 * samples that have weights. If nothing has changed, the test gives more than CHANGE_SURE in 1 of 100 cases. It takes
 * each sample for independent of the others.
 */
#ifndef CHANGE_H
#define CHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHANGE_SURE 6.635		/* the square of z = 2.576: 99 % of a normal distribution is within */

struct portion {			/* a part of what was sampled in one range */
	uint64_t weight, whole;		/* of the part; of all in the range */
	uint64_t samples, all;		/* likewise, not weighted */
};

struct change {
	double share;			/* the share now, less that in the baseline */
	bool chance;			/* so few samples differ that much by chance */
	bool appeared;			/* the baseline has samples, but none of it; the range now has some */
	bool gone;			/* the reverse */
};

static inline double change_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* How heavy the samples of a part are beside the mean sample of their ranges: 1 if they are as heavy. */
static inline double change_heaviness(uint64_t weight, double expected)
{
	return expected > 0 ? (double)weight / expected : 1;
}

/*
 * The variance of a share s of n samples is s (1 - s) ((1 - s) a + s b) / n: `a` is the heaviness of the part's
 * samples, `b` that of the rest. A heavy sample moves a share more than a light one. If all are alike, this is the
 * variance of a proportion. As the test wants it, s, a and b are those of both ranges. The ranges' own mean weights may
 * differ: more ticks were missed in one of them.
 */
static inline bool change_is_chance(struct portion now, struct portion base)
{
	double both = change_share(now.weight + base.weight, now.whole + base.whole);
	double differ = change_share(now.weight, now.whole) - change_share(base.weight, base.whole);
	double now_mean = change_share(now.whole, now.all), base_mean = change_share(base.whole, base.all);
	double samples = now_mean * (double)now.samples + base_mean * (double)base.samples;
	double part = change_heaviness(now.weight + base.weight, samples);
	double rest = change_heaviness(now.whole - now.weight + base.whole - base.weight,
		(double)now.whole + (double)base.whole - samples);

	if (!now.all || !base.all)
		return true;
	return differ * differ <= CHANGE_SURE * both * (1 - both) * ((1 - both) * part + both * rest) *
		(1 / (double)now.all + 1 / (double)base.all);
}

static inline struct change change_of(struct portion now, struct portion base)
{
	return (struct change) {
		.share = change_share(now.weight, now.whole) - change_share(base.weight, base.whole),
		.chance = change_is_chance(now, base),
		.appeared = base.all && now.weight && !base.weight, .gone = now.all && base.weight && !now.weight,
	};
}

/* ---- the change as text ---- */

/* How it is written: "+7.10", "new +9.87", "gone -3.30"; "~+0.30" may be chance. */

enum { CHANGE_TEXT = 32, CHANGE_WIDTH = 12, CHANGE_NUMBER = 7 };	/* bytes; columns, with and without the word */

/*
 * In percentage points. Where `columns` are few, without the word; where they are fewer, with one decimal. A change of
 * a hundred points has a decimal less.
 */
static inline const char *change_text(struct change change, int columns, char text[CHANGE_TEXT])
{
	const char *word = change.appeared ? "new" : change.gone ? "gone" : "";
	int room = columns < CHANGE_NUMBER ? columns : CHANGE_NUMBER, decimals = columns < CHANGE_NUMBER ? 1 : 2;
	char number[CHANGE_TEXT - 8];

	do
		snprintf(number, sizeof(number), "%s%+.*f", change.chance ? "~" : "", decimals, 100 * change.share);
	while ((int)strlen(number) > room && decimals--);
	if (columns < CHANGE_WIDTH || !*word)
		snprintf(text, CHANGE_TEXT, "%s", number);
	else
		snprintf(text, CHANGE_TEXT, "%s %*s", word, CHANGE_NUMBER, number);
	return text;
}

#endif
