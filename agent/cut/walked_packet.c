/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/guest/epoch.h"
#include "agent/guest/raw_samples.h"
#include "agent/wire/payload.h"
#include "packet_maker.h"
#include "walked_packet.h"

static uint8_t arch_of(enum arch_id arch)
{
	return arch == ARCH_I386 ? KTOP_I386 : arch == ARCH_RISCV64 ? KTOP_RISCV64 :
		arch == ARCH_AARCH64 ? KTOP_AARCH64 : KTOP_X86_64;
}

static void put_frames(struct made_event *made, const void *frames, uint32_t count)
{
	uint64_t words[KTOP_FRAMES_MAX];

	for (uint32_t i = 0; i < count; i++)
		words[i] = sample_frame(frames, i);
	made_event_words(made, words, count);
}

static uint8_t flags_of(const struct sample *sample)
{
	static const uint8_t contexts[CONTEXTS] = {
		[CONTEXT_TASK] = KTOP_TASK, [CONTEXT_IRQ] = KTOP_IRQ, [CONTEXT_SOFTIRQ] = KTOP_SOFTIRQ,
	};

	return (uint8_t)((sample->kernel_cut ? KTOP_KERNEL_CUT : 0) | (sample->user_cut ? KTOP_USER_CUT : 0) |
		(sample->entry ? KTOP_ENTRY : 0) | (sample->user_exact ? KTOP_USER_EXACT : 0) |
		contexts[sample->context]);
}

/* One that the hook took is a sample as hooks without stacks of programs send it. */
static void put_sample(struct made_event *made, const struct sample *sample)
{
	const struct ktop_wire_sample hooks = {
		.process = sample->process, .thread = sample->thread, .mode = (uint8_t)sample->mode,
		.flags = flags_of(sample), .weight = sample->weight, .exact = sample->exact,
	};
	const struct ktop_wire_walked_sample wire = {
		.process = sample->process, .thread = sample->thread, .mode = (uint8_t)sample->mode,
		.flags = flags_of(sample), .arch = arch_of(sample->arch), .weight = sample->weight,
		.exact = sample->exact, .space = sample->space,
	};

	if (sample->walked)
		made_event_begin(made, KTOP_EVENT_walked_sample, &wire, sizeof(wire));
	else
		made_event_begin(made, KTOP_EVENT_sample, &hooks, sizeof(hooks));
	put_frames(made, sample->kernel, sample->kernel_count);
	put_frames(made, sample->user, sample->user_count);
	if (sample->walked)
		made_event_text(made, sample->name);
}

/* False: the event is no raw sample, or stays raw. */
static bool walk(struct made_event *made, const struct ktop_wire_event *wire, const uint8_t *payload,
	struct epoch *epoch)
{
	struct event event = { .id = wire->id };
	struct raw_stack stack;

	if (payload_stream(NULL, wire->id) != STREAM_SAMPLES || !payload_read(NULL, payload, wire->size, &event) ||
			event.kind != EVENT_RAW_SAMPLE || !epoch_walk(epoch, &event, &stack))
		return false;
	put_sample(made, &stack.sample);
	return made->size <= wire->size;
}

void walked_packet_make(struct walked_packet *walked, const struct packet *packet, struct epoch *epoch)
{
	struct ktop_wire_packet head;
	size_t at = sizeof(head), size = sizeof(head), step;
	struct ktop_wire_event wire;
	struct made_event made;

	walked->packet = *packet;
	if (packet->stream != STREAM_SAMPLES)
		return;
	for (; at + sizeof(wire) <= packet->size; at += step) {
		const uint8_t *payload = packet->bytes + at + sizeof(wire);
		bool good;

		memcpy(&wire, packet->bytes + at, sizeof(wire));
		step = sizeof(wire) + wire.size;
		good = walk(&made, &wire, payload, epoch);
		if (good) {
			wire.id = made.id;
			wire.size = (uint16_t)made.size;
		}
		memcpy(walked->bytes + size, &wire, sizeof(wire));
		memcpy(walked->bytes + size + sizeof(wire), good ? made.bytes : payload, wire.size);
		size += sizeof(wire) + wire.size;
	}
	memcpy(&head, packet->bytes, sizeof(head));
	head.content_size = head.packet_size = 8 * size;
	memcpy(walked->bytes, &head, sizeof(head));
	walked->packet.bytes = walked->bytes;
	walked->packet.size = size;
}
