/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "private.h"
#include "text.h"

/* Addresses, fixed after text_init(); both 0: unknown. */
struct range {
	u64 begin, end;
};

static struct range entry, thunks;

static struct range range(const char *begin, const char *end)
{
	return (struct range) { private_address(begin), private_address(end) };
}

void text_init(void)
{
	entry = range("__entry_text_start", "__entry_text_end");
	thunks = range("__indirect_thunk_start", "__indirect_thunk_end");
}

static bool has(const struct range *range, u64 pc)
{
	return range->begin <= pc && pc < range->end;
}

bool text_is_entry(u64 pc)
{
	return has(&entry, pc);
}

bool text_is_thunk(u64 pc)
{
	return has(&thunks, pc);
}
