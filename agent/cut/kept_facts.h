/* SPDX-License-Identifier: MIT */
/*
 * What a guest has told, told again as events: for a recording that is made of kept samples. Only what these samples
 * need is among it. One thread; the epoch's texts are copied.
 */
#ifndef KEPT_FACTS_H
#define KEPT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"

struct budget;
struct epoch;
struct made_event;
struct sample_log;

struct kept_facts {
	struct budget *budget;
	uint8_t *bytes;			/* events, one after the other, in the order in which they were told */
	size_t size, room;
	bool full;			/* there was no memory for all */
	struct hash by_id;
	struct known_fact *known;	/* what needs no telling again */
	uint32_t known_count, known_room;
};

void kept_facts_init(struct kept_facts *facts, struct budget *budget);
void kept_facts_clear(struct kept_facts *facts);

/* Times are guest ns, and never earlier than that of the call before. */
void kept_facts_guest(struct kept_facts *facts, const struct epoch *epoch, uint64_t time);	/* of itself */
void kept_facts_period(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint64_t period);
/* What is mapped where, in the process that has this space now. */
void kept_facts_space(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint32_t process,
	uint32_t space);

/* These hold from the beginning on: they are told with its time. */
void kept_facts_threads(struct kept_facts *facts, const struct epoch *epoch, const struct sample_log *log,
	uint64_t begin);
#define KEPT_FACTS_UNSEEN 0xfffffffeu
/* Of the kernel. `spaces`: by node of the stacks, UNSEEN if it is in no sample's stack. `functions`: by node. */
void kept_facts_symbols(struct kept_facts *facts, const struct epoch *epoch, const uint32_t *spaces, uint32_t count,
	const uint32_t *functions, uint64_t begin);

/* The event at *at, which is moved behind it. False: there is no more. */
bool kept_facts_next(const struct kept_facts *facts, size_t *at, uint64_t *time, struct made_event *event);

#endif
