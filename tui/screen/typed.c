/* SPDX-License-Identifier: MIT */
#include "tabs.h"
#include "typed.h"

void typed_put(struct typed *typed, const struct input *input)
{
	typed->inputs[(typed->first + typed->count++) % TYPED_MOST] = *input;
}

bool typed_is_ready(const struct typed *typed, struct tabs *tabs, uint64_t now)
{
	return typed->count && (typed->count == TYPED_MOST ||
		!tabs_awaits(tabs, &typed->inputs[typed->first], now));
}

bool typed_take(struct typed *typed, struct tabs *tabs, uint64_t now, struct input *input)
{
	if (!typed_is_ready(typed, tabs, now))
		return false;
	*input = typed->inputs[typed->first];
	typed->first = (typed->first + 1) % TYPED_MOST;
	typed->count--;
	return true;
}
