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

/*
 * The variance of a share s of the weight W is s (1 - s) ((1 - s) a + s b) / W. `a` is the mean weight of the part's
 * samples, `b` that of the rest: a heavy sample moves a share more than a light one. If all weights are 1, this is the
 * variance of a proportion. As the test wants it, the share and the mean weights are those of both ranges.
 */
static inline bool change_is_chance(struct portion now, struct portion base)
{
	uint64_t weight = now.weight + base.weight, whole = now.whole + base.whole;
	uint64_t samples = now.samples + base.samples, all = now.all + base.all;
	double both = change_share(weight, whole);
	double part = change_share(weight, samples), rest = change_share(whole - weight, all - samples);
	double differ = change_share(now.weight, now.whole) - change_share(base.weight, base.whole);

	if (!now.whole || !base.whole)
		return true;
	return differ * differ <= CHANGE_SURE * both * (1 - both) * ((1 - both) * part + both * rest) *
		(1 / (double)now.whole + 1 / (double)base.whole);
}

static inline struct change change_of(struct portion now, struct portion base)
{
	return (struct change) {
		.share = change_share(now.weight, now.whole) - change_share(base.weight, base.whole),
		.chance = change_is_chance(now, base),
		.appeared = base.all && now.weight && !base.weight, .gone = now.all && base.weight && !now.weight,
	};
}

#endif
