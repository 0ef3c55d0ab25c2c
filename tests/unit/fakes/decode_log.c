/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "decode_log.h"
#include "packets.h"

uint64_t log_hash(const uint8_t *bytes, size_t size)
{
	uint64_t value = 14695981039346656037u;

	for (size_t i = 0; i < size; i++)
		value = (value ^ bytes[i]) * 1099511628211u;
	return value;
}

void log_add(struct log *log, uint32_t cpu, uint64_t time, uint16_t id,
	const struct body *body)
{
	assert_true(log->count < LOG_MAX);
	log->entries[log->count++] = (struct entry) {
		.cpu = cpu, .time = time, .id = id, .size = (uint32_t)body->size,
		.hash = log_hash(body->bytes, body->size),
	};
}

bool log_same(const struct log *a, const struct log *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct entry *x = &a->entries[i], *y = &b->entries[i];

		if (x->cpu != y->cpu || x->size != y->size || x->time != y->time ||
				x->hash != y->hash || x->id != y->id)
			return false;
	}
	return true;
}

#define FIXED(name, ...) \
	body_fixed(body, &(struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

static void list(struct body *body, struct text text)
{
	body_list(body, text.bytes, text.size, 1);
}

static const uint8_t archs[ARCHS] = {
	[ARCH_X86_64] = KTOP_X86_64, [ARCH_I386] = KTOP_I386, [ARCH_RISCV64] = KTOP_RISCV64,
	[ARCH_AARCH64] = KTOP_AARCH64,
};

static uint8_t flags_of(const struct sample *sample)
{
	static const uint8_t contexts[CONTEXTS] = {
		[CONTEXT_TASK] = KTOP_TASK, [CONTEXT_IRQ] = KTOP_IRQ, [CONTEXT_SOFTIRQ] = KTOP_SOFTIRQ,
	};

	return (uint8_t)((sample->kernel_cut ? KTOP_KERNEL_CUT : 0) |
		(sample->user_cut ? KTOP_USER_CUT : 0) | (sample->entry ? KTOP_ENTRY : 0) |
		(sample->user_exact ? KTOP_USER_EXACT : 0) | contexts[sample->context]);
}

static void write_sample(struct body *body, const struct sample *sample)
{
	if (sample->walked)
		FIXED(walked_sample, sample->process, sample->thread, (uint8_t)sample->mode, flags_of(sample),
			archs[sample->arch], sample->weight, sample->exact, sample->space);
	else
		FIXED(sample, sample->process, sample->thread, (uint8_t)sample->mode, flags_of(sample), sample->weight,
			sample->exact);
	body_list(body, sample->kernel, sample->kernel_count, 8);
	body_list(body, sample->user, sample->user_count, 8);
	if (sample->walked)
		list(body, sample->name);
}

static void write_program_sample(struct body *body, const struct raw_sample *raw)
{
	const struct sample *told = &raw->told;

	FIXED(program_sample, archs[raw->arch], told->process, told->thread, (uint8_t)told->mode, flags_of(told),
		told->weight, told->exact);
	body_list(body, told->kernel, told->kernel_count, 8);
	body_list(body, told->user, told->user_count, 8);
	body_list(body, raw->registers, raw->register_count, 8);
	list(body, raw->stack);
}

static void write_raw_sample(struct body *body, uint16_t id, const struct raw_sample *raw)
{
	if (id == KTOP_EVENT_stacks_sample)
		FIXED(stacks_sample, raw->user_address, raw->process, raw->thread, raw->weight, (uint8_t)raw->mode,
			archs[raw->arch], raw->space, raw->base, raw->valid, raw->stack_address, raw->linked_address);
	else if (id == KTOP_EVENT_task_sample)
		FIXED(task_sample, raw->process, raw->thread, raw->weight, (uint8_t)raw->mode, archs[raw->arch],
			raw->space, raw->base, raw->valid, raw->stack_address, raw->linked_address);
	else
		FIXED(raw_sample, raw->weight, (uint8_t)raw->mode, archs[raw->arch], raw->space, raw->base,
			raw->valid, raw->stack_address, raw->linked_address);
	body_list(body, raw->registers, raw->register_count, 8);
	list(body, raw->stack);
	list(body, raw->linked);
	if (id != KTOP_EVENT_raw_sample)
		list(body, raw->name);
	if (id == KTOP_EVENT_stacks_sample)
		list(body, raw->user);
}

static void write_guest(struct body *body, const struct guest *guest)
{
	FIXED(guest, guest->cpus, guest->clock_hz, guest->epoch_ns, guest->anchor_address);
	list(body, guest->kernel);
	list(body, guest->version);
	list(body, guest->arch);
	list(body, guest->anchor);
	list(body, guest->build_id);
}

static void write_status(struct body *body, const struct status *status)
{
	FIXED(status, status->running, (uint8_t)status->sampler, status->rate, status->sampler_cpu,
		status->trace_mask, status->meta_lost);
	list(body, status->note);
}

static void write_cpu_status(struct body *body, const struct cpu_status *status)
{
	FIXED(cpu_status, status->cpu, (uint8_t)status->stream, status->enabled, status->taken,
		status->lost, status->cost, status->span, status->used, status->size);
}

static void write_object(struct body *body, const struct object *object)
{
	FIXED(object, object->process, object->start, object->end, object->bias);
	list(body, object->name);
	list(body, object->build_id);
}

/* Writes the decoded event back as bytes of the wire. */
static void write_event(struct body *body, const struct event *event)
{
	body->size = 0;
	switch (event->kind) {
	case EVENT_GUEST: write_guest(body, &event->guest); break;
	case EVENT_OBJECT: write_object(body, &event->object); break;
	case EVENT_STATUS: write_status(body, &event->status); break;
	case EVENT_CPU_STATUS: write_cpu_status(body, &event->cpu_status); break;
	case EVENT_SAMPLE: write_sample(body, &event->sample); break;
	case EVENT_RAW_SAMPLE:
		if (event->raw.of_program)
			write_program_sample(body, &event->raw);
		else
			write_raw_sample(body, event->id, &event->raw);
		break;
	case EVENT_TRACE:
		if (event->trace.held)
			body_fixed(body, &event->trace.ago, sizeof(event->trace.ago));
		body_fixed(body, event->trace.fields, event->trace.size);
		if (event->trace.held && event->id == KTOP_EVENT_syscall_whole)
			body_fixed(body, event->trace.end_fields + 8, 8);
		break;
	case EVENT_LEFT_OUT: FIXED(left_out, event->left_out.cpu, event->left_out.pairs); break;
	case EVENT_FILTERS: body_list(body, event->filters.bytes, event->filters.size, 1); break;
	case EVENT_STACK:
		FIXED(stack, event->stack.event, event->stack.sample.kernel_cut, event->stack.sample.exact);
		body_list(body, event->stack.sample.kernel, event->stack.sample.kernel_count, 8);
		break;
	case EVENT_TRACING:
		FIXED(tracing, event->tracing.ids);
		body_list(body, event->tracing.mask, event->tracing.words, 4);
		break;
	case EVENT_MEMORY:
		FIXED(memory, event->memory.physical, event->memory.address);
		list(body, event->memory.bytes);
		break;
	case EVENT_PROCESS:
		FIXED(process, event->process.process);
		list(body, event->process.name);
		break;
	case EVENT_THREAD:
		FIXED(thread, event->thread.thread, event->thread.process);
		list(body, event->thread.name);
		break;
	case EVENT_KEYS:
		list(body, event->keys.on);
		list(body, event->keys.off);
		break;
	case EVENT_REPLY:
		FIXED(reply, event->reply.ok);
		list(body, event->reply.text);
		break;
	case EVENT_SYMBOL:
		FIXED(symbol, event->symbol.address, event->symbol.size);
		list(body, event->symbol.name);
		break;
	case EVENT_NUMBER:
		FIXED(number, event->number.event, event->number.number);
		list(body, event->number.name);
		break;
	case EVENT_ARGUMENTS:
		FIXED(arguments, event->arguments.event, event->arguments.number);
		list(body, event->arguments.fields);
		break;
	case EVENT_TABLE:
		FIXED(table, event->table.event, event->table.size, event->table.used,
			event->table.missing);
		break;
	case EVENT_DESCRIPTOR:
		FIXED(descriptor, event->descriptor.event, (uint8_t)event->descriptor.stream);
		list(body, event->descriptor.name);
		list(body, event->descriptor.fields);
		break;
	case EVENT_MISSED:
		FIXED(missed, event->missed.ticks);
		break;
	}
}

static void on_boot(void *context, const uint8_t *boot_id)
{
	struct log *log = context;

	log->boots++;
	memcpy(log->boot_id, boot_id, KTOP_BOOT_ID);
}

static void on_packet(void *context, const struct packet *packet)
{
	struct log *log = context;

	assert_true(packet->stream < STREAMS && packet->begin <= packet->end);
	log->packets++;
	log->last_packet_end = packet->end;
}

static void on_events(void *context, const struct event *events, size_t count)
{
	struct body body;

	assert_in_range(count, 1, DECODE_EVENTS);
	for (size_t i = 0; i < count; i++) {
		write_event(&body, &events[i]);
		log_add(context, events[i].cpu, events[i].time, events[i].id, &body);
	}
}

static bool want_more(void *context)
{
	const struct log *log = context;

	return !log->hold;
}

struct decode *log_decode(struct log *log)
{
	memset(log, 0, offsetof(struct log, entries));
	return decode_new(&(struct decode_sink) {
		.context = log, .boot = on_boot, .packet = on_packet, .events = on_events,
		.more = want_more,
	});
}
