/* SPDX-License-Identifier: MIT */
/* Trace events, each in a packet of its own. */
#ifndef TRACE_GIVE_H
#define TRACE_GIVE_H

#include "agent/guest/epoch.h"
#include "agent/wire/decode.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "kernel-hook/wire.h"

static inline void trace_give(struct epoch *epoch, const struct trace_kinds *kinds, uint32_t cpu, uint64_t time,
	uint16_t id, const void *fields, size_t size)
{
	const struct event event = { .kind = EVENT_TRACE, .id = id, .cpu = cpu, .time = time, .trace = {
		.kind = trace_kinds_find(kinds, id), .fields = fields, .size = size } };

	epoch_packet(epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = cpu, .begin = time, .end = time });
	epoch_events(epoch, &event, 1);
}

/* TRACE_GIVE(world, cpu, time, irq_enter, .irq = 4): to a world with an epoch and kinds. */
#define TRACE_GIVE(world, cpu, time, name, ...) trace_give((world)->epoch, (world)->kinds, cpu, time, \
	KTOP_EVENT_##name, &(const struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

#endif
