/* SPDX-License-Identifier: MIT */
/*
 * The guest's side of a port, driven by the test: a listening socket, the packets that a hook would send, and the
 * control lines that it gets.
 */
#ifndef FAKE_GUEST_H
#define FAKE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packets.h"

enum { FAKE_GUEST_HZ = 2000000000, FAKE_GUEST_TICKS_PER_MS = FAKE_GUEST_HZ / 1000 };

struct fake_guest {
	int listener, fd;		/* `fd` is -1 while nobody is connected */
	struct packets *packets;
	size_t sent;			/* of packets->bytes */
	uint64_t clock;
	uint64_t taken[2];		/* samples, per CPU */
	bool running;
	uint8_t sampler;		/* an enum ktop_sampler, told with the next status */
	char lines[4096];		/* control lines that came and were not taken yet */
	char echo[32];			/* the echo that came before hello; it is answered first */
};

struct fake_guest *fake_guest_new(const char *path);
void fake_guest_free(struct fake_guest *guest);
void fake_guest_hang_up(struct fake_guest *guest);

/* These append a packet each, 1 ms later than the one before. fake_guest_step sends them. */
void fake_guest_facts(struct fake_guest *guest, const void *build_id, size_t build_id_size);
void fake_guest_status(struct fake_guest *guest, bool running);
void fake_guest_counts(struct fake_guest *guest);
void fake_guest_reply(struct fake_guest *guest, bool ok, const char *text);
void fake_guest_keys(struct fake_guest *guest);
void fake_guest_sample(struct fake_guest *guest, uint32_t cpu, uint32_t weight, uint64_t leaf,
	uint64_t caller);
void fake_guest_missed(struct fake_guest *guest, uint32_t cpu, uint32_t ticks);
void fake_guest_symbol(struct fake_guest *guest, uint64_t address, uint32_t size, const char *name);
void fake_guest_object(struct fake_guest *guest, uint32_t process, uint64_t start, uint64_t end,
	const char *name);
void fake_guest_traces(struct fake_guest *guest, uint16_t id, const char *name);	/* it, and no other event */
void fake_guest_beat(struct fake_guest *guest, uint64_t ms);

/* Accepts a client, sends all, reads what is there. It never waits. */
void fake_guest_step(struct fake_guest *guest);

/* Takes the first line if it is this one; false: it is another, or there is none. */
bool fake_guest_got(struct fake_guest *guest, const char *line);

/* Obeys the first line if it is start or stop. */
void fake_guest_obey(struct fake_guest *guest);

#endif
