/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "oracle.h"
#include "ports/demo/machine/x86.h"

enum { LEAST = 5000 };			/* turns; for fewer, oracle_recurse() does not call itself again */

void oracle_flat(uint64_t loops)
{
	oracle_burn(loops);
}

void oracle_recurse(uint64_t loops)
{
	oracle_burn(loops - loops / 2);
	if (loops / 2 > LEAST)
		oracle_recurse(loops / 2);
	else
		oracle_burn(loops / 2);
}

void oracle_tail(uint64_t loops)
{
	oracle_burn(loops);
}

void oracle_late(uint64_t loops)
{
	oracle_burn(loops);
}

void oracle_shared(uint64_t loops)
{
	oracle_burn(loops);
}

void oracle_left(uint64_t loops)
{
	oracle_shared(loops);
}

void oracle_right(uint64_t loops)
{
	oracle_shared(loops);
}

void oracle_irqoff(uint64_t loops)
{
	oracle_burn(loops);
}

void oracle_masked(uint64_t loops)
{
	unsigned long flags = irq_save();

	oracle_irqoff(loops);
	irq_restore(flags);
}

void oracle_deep(uint64_t loops)
{
	oracle_burn(loops);
}

/* oracle_deep_20() calls oracle_deep_19(), and so on down to oracle_deep(). */
#define LINK(name, next) \
	void name(uint64_t loops); \
	void name(uint64_t loops) \
	{ \
		next(loops); \
	}
LINK(oracle_deep_1, oracle_deep)
LINK(oracle_deep_2, oracle_deep_1)
LINK(oracle_deep_3, oracle_deep_2)
LINK(oracle_deep_4, oracle_deep_3)
LINK(oracle_deep_5, oracle_deep_4)
LINK(oracle_deep_6, oracle_deep_5)
LINK(oracle_deep_7, oracle_deep_6)
LINK(oracle_deep_8, oracle_deep_7)
LINK(oracle_deep_9, oracle_deep_8)
LINK(oracle_deep_10, oracle_deep_9)
LINK(oracle_deep_11, oracle_deep_10)
LINK(oracle_deep_12, oracle_deep_11)
LINK(oracle_deep_13, oracle_deep_12)
LINK(oracle_deep_14, oracle_deep_13)
LINK(oracle_deep_15, oracle_deep_14)
LINK(oracle_deep_16, oracle_deep_15)
LINK(oracle_deep_17, oracle_deep_16)
LINK(oracle_deep_18, oracle_deep_17)
LINK(oracle_deep_19, oracle_deep_18)
LINK(oracle_deep_20, oracle_deep_19)
