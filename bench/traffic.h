/* SPDX-License-Identifier: MIT */
/*
 * What a hook on a made-up guest sends: samples of a world (world.h) and trace events, in the packets of wire.h, with
 * facts, names, status and heartbeats. Guest time passes in turns, as fast as the caller asks for them.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdint.h>

enum { TRAFFIC_TURN_MS = 20 };		/* guest time of a turn: how often the rings are drained */

struct packets;
struct traffic;
struct world;

struct traffic_shape {
	uint32_t cpus, threads;
	double rate;			/* samples per second of guest time, of all CPUs together */
	double events;			/* trace events, likewise: switches of threads, system calls, interrupts */
};

struct traffic *traffic_new(const struct world *world, const struct traffic_shape *shape);
void traffic_free(struct traffic *traffic);

/*
 * Each appends to traffic_bytes: all facts and names, as for a new host; the answer to a control line; the packets of
 * one turn. Whoever has taken the bytes sets their size back to 0.
 */
void traffic_hello(struct traffic *traffic);
void traffic_reply(struct traffic *traffic);
void traffic_turn(struct traffic *traffic);
struct packets *traffic_bytes(struct traffic *traffic);

uint64_t traffic_samples(const struct traffic *traffic);	/* so far */
uint64_t traffic_events(const struct traffic *traffic);		/* trace events, so far */

#endif
