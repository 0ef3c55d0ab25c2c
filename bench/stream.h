/*
 * What a hook on a made-up guest sends: samples of a world, in the packets of wire.h, with facts,
 * names, status and heartbeats. Guest time goes on by turns, as fast as they are asked for.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdint.h>

enum { STREAM_TURN_MS = 20 };		/* of guest time: how often the rings are drained */

struct packets;
struct stream;
struct world;

struct stream_shape {
	uint32_t cpus, threads;
	double rate;			/* samples per second of guest time, of all CPUs together */
};

struct stream *stream_new(const struct world *world, const struct stream_shape *shape);
void stream_free(struct stream *stream);

/*
 * Each adds to stream_bytes: all that the guest is, as a new host hears it; the answer to a control
 * line; one turn. Whoever has taken the bytes sets their size back to 0.
 */
void stream_hello(struct stream *stream);
void stream_reply(struct stream *stream);
void stream_turn(struct stream *stream);
struct packets *stream_bytes(struct stream *stream);

uint64_t stream_samples(const struct stream *stream);	/* so far */

#endif
