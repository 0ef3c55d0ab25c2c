/* SPDX-License-Identifier: MIT */
/*
 * How much may be done in one turn, before others have theirs. What is done counts in bytes: those that are copied, and
 * what takes about as long. Who does it spends, and pauses when the quota is spent; a piece of work may overdraw it.
 */
#ifndef QUOTA_H
#define QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct quota {
	uint64_t most, spent;
};

static inline void quota_spend(struct quota *quota, uint64_t bytes)
{
	quota->spent += bytes;
}

static inline bool quota_is_spent(const struct quota *quota)
{
	return quota->spent >= quota->most;
}

#endif
