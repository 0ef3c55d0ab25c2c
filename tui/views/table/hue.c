/* SPDX-License-Identifier: MIT */
#include "agent/base/hash.h"
#include "agent/names/function.h"
#include "tui/terminal/theme.h"
#include "hue.h"

/* No seed: the colour outlives the process. */
static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = hash_mix(hash ^ (unsigned char)*name, UINT64_C(0x9e3779b97f4a7c15));
	return hash;
}

uint8_t hue_of_cell(const struct function *function)
{
	uint64_t hash = hash_of(function->name);

	if (!function->known)
		return STYLE_HEAD;
	if (!function->kernel)
		return (uint8_t)(STYLE_FLAME_PROGRAM + hash % FLAME_PROGRAMS);
	return function->module ? (uint8_t)(STYLE_FLAME_MODULE + hash % FLAME_MODULES) :
		(uint8_t)(STYLE_FLAME_KERNEL + hash % FLAME_KERNELS);
}

uint8_t hue_of_name(const struct function *function)
{
	return function->known ? hue_of_cell(function) | STYLE_NAME : STYLE_DIM;
}

/* ---- changes ---- */

uint8_t change_style(struct change change)
{
	return change.chance || change.share == 0 ? STYLE_DIM : change.share > 0 ? STYLE_MORE : STYLE_LESS;
}

/* From 2 points on, a change is large. */
uint8_t change_flame_style(struct change change)
{
	int large = change.share > 0.02 || change.share < -0.02;

	if (change.chance || change.share == 0)
		return STYLE_FLAME_SAME;
	return (uint8_t)((change.share > 0 ? STYLE_FLAME_MORE : STYLE_FLAME_LESS) + large);
}
