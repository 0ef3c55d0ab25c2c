/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernel-hook/wire.h"
#include "payload.h"
#include "trace_kinds.h"

_Static_assert(sizeof(struct ktop_wire_syscall_exit) == sizeof(((struct event *)NULL)->trace.end_fields) &&
	sizeof(struct ktop_wire_irq_enter) == sizeof(struct ktop_wire_softirq_enter), "as read_held() takes them");

/* The bytes of the payload that are not read yet. */
struct rest {
	const uint8_t *at;
	size_t left;
};

static inline bool take(struct rest *rest, void *to, size_t size)
{
	if (rest->left < size)
		return false;
	memcpy(to, rest->at, size);
	rest->at += size;
	rest->left -= size;
	return true;
}

static bool take_bytes(struct rest *rest, struct text *text, size_t most)
{
	uint16_t size;

	if (!take(rest, &size, sizeof(size)) || size > most || size > rest->left)
		return false;
	*text = (struct text) { .bytes = (const char *)rest->at, .size = size };
	rest->at += size;
	rest->left -= size;
	return true;
}

static bool take_text(struct rest *rest, struct text *text)
{
	return take_bytes(rest, text, KTOP_TEXT_MAX);
}

static inline bool take_words(struct rest *rest, const void **words, uint32_t *count, uint32_t most)
{
	uint16_t size;

	if (!take(rest, &size, sizeof(size)) || size > most)
		return false;
	if (rest->left < size * sizeof(uint64_t))
		return false;
	*words = rest->at;
	*count = size;
	rest->at += size * sizeof(uint64_t);
	rest->left -= size * sizeof(uint64_t);
	return true;
}

static bool read_descriptor(struct rest *rest, struct event *event)
{
	struct ktop_wire_descriptor wire;

	if (!take(rest, &wire, sizeof(wire)) || wire.stream >= STREAMS)
		return false;
	event->kind = EVENT_DESCRIPTOR;
	event->descriptor.event = wire.event;
	event->descriptor.stream = wire.stream;
	return take_text(rest, &event->descriptor.name) &&
		take_text(rest, &event->descriptor.fields);
}

static bool read_guest(struct rest *rest, struct event *event)
{
	struct ktop_wire_guest wire;
	struct guest *guest = &event->guest;

	if (!take(rest, &wire, sizeof(wire)) || wire.cpus > EVENT_CPUS)
		return false;
	event->kind = EVENT_GUEST;
	guest->cpus = wire.cpus;
	guest->clock_hz = wire.clock;
	guest->epoch_ns = wire.epoch;
	guest->anchor_address = wire.anchor_address;
	return take_text(rest, &guest->kernel) && take_text(rest, &guest->version) &&
		take_text(rest, &guest->arch) && take_text(rest, &guest->anchor) &&
		take_text(rest, &guest->build_id);
}

static bool read_process(struct rest *rest, struct event *event)
{
	struct ktop_wire_process wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_PROCESS;
	event->process.process = wire.process;
	return take_text(rest, &event->process.name);
}

static bool read_thread(struct rest *rest, struct event *event)
{
	struct ktop_wire_thread wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_THREAD;
	event->thread.thread = wire.thread;
	event->thread.process = wire.process;
	return take_text(rest, &event->thread.name);
}

static bool read_object(struct rest *rest, struct event *event)
{
	struct ktop_wire_object wire;
	struct object *object = &event->object;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_OBJECT;
	object->process = wire.process;
	object->start = wire.start;
	object->end = wire.end;
	object->bias = wire.bias;
	object->by_offset = false;
	object->contents = 0;
	return take_text(rest, &object->name) && take_text(rest, &object->build_id);
}

static bool read_status(struct rest *rest, struct event *event)
{
	struct ktop_wire_status wire;
	struct status *status = &event->status;

	if (!take(rest, &wire, sizeof(wire)) || wire.sampler >= KTOP_SAMPLERS)
		return false;
	event->kind = EVENT_STATUS;
	status->running = wire.running;
	status->sampler = wire.sampler;
	status->rate = wire.rate;
	status->sampler_cpu = wire.sampler_cpu;
	status->trace_mask = wire.trace_mask;
	status->meta_lost = wire.meta_lost;
	return take_text(rest, &status->note);
}

static bool read_cpu_status(struct rest *rest, struct event *event)
{
	struct ktop_wire_cpu_status wire;

	if (!take(rest, &wire, sizeof(wire)) || wire.stream >= STREAMS || wire.cpu >= EVENT_CPUS)
		return false;
	event->kind = EVENT_CPU_STATUS;
	event->cpu_status = (struct cpu_status) {
		.cpu = wire.cpu, .stream = wire.stream, .enabled = wire.enabled,
		.taken = wire.taken, .lost = wire.lost, .cost = wire.cost, .span = wire.span,
		.used = wire.used, .size = wire.size,
	};
	return true;
}

static bool read_keys(struct rest *rest, struct event *event)
{
	event->kind = EVENT_KEYS;
	return take_text(rest, &event->keys.on) && take_text(rest, &event->keys.off);
}

static bool read_number(struct rest *rest, struct event *event)
{
	struct ktop_wire_number wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_NUMBER;
	event->number.event = wire.event;
	event->number.number = wire.number;
	return take_text(rest, &event->number.name);
}

static bool read_arguments(struct rest *rest, struct event *event)
{
	struct ktop_wire_arguments wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_ARGUMENTS;
	event->arguments.event = wire.event;
	event->arguments.number = wire.number;
	return take_text(rest, &event->arguments.fields);
}

static bool read_reply(struct rest *rest, struct event *event)
{
	struct ktop_wire_reply wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_REPLY;
	event->reply.ok = wire.ok;
	return take_text(rest, &event->reply.text);
}

static bool read_symbol(struct rest *rest, struct event *event)
{
	struct ktop_wire_symbol wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_SYMBOL;
	event->symbol.address = wire.address;
	event->symbol.size = wire.size;
	return take_text(rest, &event->symbol.name);
}

static bool read_table(struct rest *rest, struct event *event)
{
	struct ktop_wire_table wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_TABLE;
	event->table = (struct table_fill) {
		.event = wire.event,
		.kind = wire.event == KTOP_EVENT_process ? TABLE_PROCESSES :
			wire.event == KTOP_EVENT_thread ? TABLE_THREADS :
			wire.event == KTOP_EVENT_object ? TABLE_OBJECTS :
			wire.event == KTOP_EVENT_descriptor ? TABLE_EVENTS :
			wire.event == KTOP_EVENT_number ? TABLE_MARKS : TABLES,
		.size = wire.size, .used = wire.used, .missing = wire.missing,
	};
	return true;
}

static bool read_memory(struct rest *rest, struct event *event)
{
	struct ktop_wire_memory wire;
	struct memory_bytes *memory = &event->memory;

	if (!take(rest, &wire, sizeof(wire)) || wire.physical > 1)
		return false;
	event->kind = EVENT_MEMORY;
	memory->packed = event->id == KTOP_EVENT_packed_memory;
	memory->physical = wire.physical;
	memory->address = wire.address;
	return take_bytes(rest, &memory->bytes, KTOP_MEMORY_PAGE);
}

static enum context context_of(const struct ktop_wire_sample *wire)
{
	if (wire->mode != KTOP_MODE_KERNEL)
		return CONTEXT_UNTOLD;
	return wire->flags & KTOP_IRQ ? CONTEXT_IRQ : wire->flags & KTOP_SOFTIRQ ? CONTEXT_SOFTIRQ :
		wire->flags & KTOP_TASK ? CONTEXT_TASK : CONTEXT_UNTOLD;
}

static const enum arch_id archs[KTOP_ARCHS] = {
	[KTOP_X86_64] = ARCH_X86_64, [KTOP_I386] = ARCH_I386, [KTOP_RISCV64] = ARCH_RISCV64,
	[KTOP_AARCH64] = ARCH_AARCH64,
};

static inline __attribute__((always_inline)) bool read_sample(struct rest *rest, struct event *event)
{
	struct ktop_wire_sample wire;
	struct sample *sample = &event->sample;

	if (!take(rest, &wire, sizeof(wire)) || wire.mode >= MODES)
		return false;
	event->kind = EVENT_SAMPLE;
	*sample = (struct sample) {
		.process = wire.process, .thread = wire.thread, .mode = wire.mode,
		.context = context_of(&wire),
		.kernel_cut = wire.flags & KTOP_KERNEL_CUT, .user_cut = wire.flags & KTOP_USER_CUT,
		.entry = wire.flags & KTOP_ENTRY, .user_exact = wire.flags & KTOP_USER_EXACT,
		.weight = wire.weight, .exact = wire.exact,
	};
	return take_words(rest, &sample->kernel, &sample->kernel_count, KTOP_FRAMES_MAX) &&
		take_words(rest, &sample->user, &sample->user_count, KTOP_FRAMES_MAX);
}

static bool read_raw_sample(struct rest *rest, struct event *event)
{
	struct ktop_wire_raw_sample wire;
	struct raw_sample *raw = &event->raw;

	if (!take(rest, &wire, sizeof(wire)) || wire.mode > KTOP_MODES || wire.arch >= KTOP_ARCHS)
		return false;
	event->kind = EVENT_RAW_SAMPLE;
	*raw = (struct raw_sample) {
		.weight = wire.weight, .mode = wire.mode, .arch = archs[wire.arch], .space = wire.space,
		.base = wire.base, .valid = wire.valid, .stack_address = wire.stack_address,
		.linked_address = wire.linked_address,
	};
	return take_words(rest, &raw->registers, &raw->register_count, KTOP_REGISTERS_MAX) &&
		take_bytes(rest, &raw->stack, KTOP_STACK_MAX) && take_bytes(rest, &raw->linked, 2 * KTOP_STACK_MAX);
}

static bool read_task_sample(struct rest *rest, struct event *event)
{
	uint32_t ids[2];

	if (!take(rest, ids, sizeof(ids)) || !read_raw_sample(rest, event))
		return false;
	event->raw.process = ids[0];
	event->raw.thread = ids[1];
	return take_bytes(rest, &event->raw.name, KTOP_TASK_NAME);
}

static bool read_stacks_sample(struct rest *rest, struct event *event)
{
	uint64_t address;

	if (!take(rest, &address, sizeof(address)) || !read_task_sample(rest, event))
		return false;
	event->raw.user_address = address;
	return take_bytes(rest, &event->raw.user, KTOP_STACK_MAX);
}

static bool read_walked_sample(struct rest *rest, struct event *event)
{
	struct ktop_wire_walked_sample wire;
	struct sample *sample = &event->sample;

	if (!take(rest, &wire, sizeof(wire)) || wire.mode >= MODES || wire.arch >= KTOP_ARCHS)
		return false;
	event->kind = EVENT_SAMPLE;
	*sample = (struct sample) {
		.process = wire.process, .thread = wire.thread, .mode = wire.mode,
		.kernel_cut = wire.flags & KTOP_KERNEL_CUT, .user_cut = wire.flags & KTOP_USER_CUT,
		.entry = wire.flags & KTOP_ENTRY, .user_exact = wire.flags & KTOP_USER_EXACT,
		.weight = wire.weight, .exact = wire.exact,
		.walked = true, .arch = archs[wire.arch], .space = wire.space,
	};
	return take_words(rest, &sample->kernel, &sample->kernel_count, KTOP_FRAMES_MAX) &&
		take_words(rest, &sample->user, &sample->user_count, KTOP_FRAMES_MAX) &&
		take_bytes(rest, &sample->name, KTOP_TASK_NAME);
}

static bool read_program_sample(struct rest *rest, struct event *event)
{
	struct raw_sample raw = { .of_program = true };
	uint8_t arch;

	if (!take(rest, &arch, sizeof(arch)) || arch >= KTOP_ARCHS || !read_sample(rest, event) ||
			!take_words(rest, &raw.registers, &raw.register_count, KTOP_REGISTERS_MAX) ||
			!take_bytes(rest, &raw.stack, KTOP_PROGRAM_STACK_MAX))
		return false;
	raw.told = event->sample;
	raw.weight = raw.told.weight;
	raw.mode = raw.told.mode;
	raw.arch = archs[arch];
	raw.valid = raw.register_count ? UINT64_MAX >> (64 - raw.register_count) : 0;
	event->kind = EVENT_RAW_SAMPLE;
	event->raw = raw;
	return true;
}

static bool read_missed(struct rest *rest, struct event *event)
{
	struct ktop_wire_missed wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_MISSED;
	event->missed.ticks = wire.ticks;
	return true;
}

static bool read_left_out(struct rest *rest, struct event *event)
{
	struct ktop_wire_left_out wire;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_LEFT_OUT;
	event->left_out.cpu = wire.cpu;
	event->left_out.pairs = wire.pairs;
	return true;
}

static bool read_filters(struct rest *rest, struct event *event)
{
	event->kind = EVENT_FILTERS;
	return take_text(rest, &event->filters);
}

static bool read_stack(struct rest *rest, struct event *event)
{
	struct ktop_wire_stack wire;
	struct sample *sample = &event->stack.sample;

	if (!take(rest, &wire, sizeof(wire)))
		return false;
	event->kind = EVENT_STACK;
	event->stack.event = wire.event;
	*sample = (struct sample) {
		.process = EVENT_KERNEL, .thread = EVENT_NONE, .kernel_cut = wire.cut,
		.called = true, .exact = wire.exact,
	};
	return take_words(rest, &sample->kernel, &sample->kernel_count, KTOP_FRAMES_MAX);
}

static bool read_tracing(struct rest *rest, struct event *event)
{
	struct ktop_wire_tracing wire;
	uint16_t words;

	if (!take(rest, &wire, sizeof(wire)) || !take(rest, &words, sizeof(words)) ||
			words > (UINT16_MAX + 1) / 32 || rest->left < words * sizeof(uint32_t))
		return false;
	event->kind = EVENT_TRACING;
	event->tracing.ids = wire.ids;
	event->tracing.words = words;
	event->tracing.mask = rest->at;
	rest->at += words * sizeof(uint32_t);
	rest->left -= words * sizeof(uint32_t);
	return true;
}

/* Reads a trace event by the description of its fields, ktop's own or the guest's. */
static bool read_trace(const struct trace_kinds *kinds, const struct rest *rest, struct event *event)
{
	const struct trace_kind *kind = trace_kinds_find(kinds, event->id);

	if (!kind || !fields_fit(kind->fields, kind->count, rest->at, rest->left))
		return false;
	event->kind = EVENT_TRACE;
	event->trace.kind = kind;
	event->trace.fields = rest->at;
	event->trace.size = rest->left;
	event->trace.held = false;
	return true;
}

/* A beginning that the hook has held, and its end if that came next, which repeats by its first fields what it ends. */
static bool read_held(const struct trace_kinds *kinds, struct rest *rest, struct event *event, uint16_t begin,
	uint16_t end)
{
	const bool call = begin == KTOP_EVENT_syscall_enter;
	uint8_t *result = event->trace.end_fields + sizeof(struct ktop_wire_syscall_exit) - sizeof(uint64_t);

	event->kind = EVENT_TRACE;
	event->trace.kind = trace_kinds_find(kinds, begin);
	event->trace.end = end ? trace_kinds_find(kinds, end) : NULL;
	event->trace.held = true;
	event->trace.size = call ? sizeof(struct ktop_wire_syscall_enter) : sizeof(struct ktop_wire_irq_enter);
	if (!event->trace.kind || (end && !event->trace.end) ||
			!take(rest, &event->trace.ago, sizeof(event->trace.ago)) || rest->left < event->trace.size)
		return false;
	event->trace.fields = rest->at;
	rest->at += event->trace.size;
	rest->left -= event->trace.size;
	memcpy(event->trace.end_fields, event->trace.fields, call ? 8 : 4);
	return !(call && end && !take(rest, result, sizeof(uint64_t))) && rest->left == 0;
}

static inline __attribute__((always_inline)) bool read_fields(struct rest *rest, struct event *event)
{
	switch (event->id) {
	case KTOP_EVENT_descriptor: return read_descriptor(rest, event);
	case KTOP_EVENT_guest: return read_guest(rest, event);
	case KTOP_EVENT_process: return read_process(rest, event);
	case KTOP_EVENT_thread: return read_thread(rest, event);
	case KTOP_EVENT_object: return read_object(rest, event);
	case KTOP_EVENT_status: return read_status(rest, event);
	case KTOP_EVENT_cpu_status: return read_cpu_status(rest, event);
	case KTOP_EVENT_keys: return read_keys(rest, event);
	case KTOP_EVENT_number: return read_number(rest, event);
	case KTOP_EVENT_left_out: return read_left_out(rest, event);
	case KTOP_EVENT_filters: return read_filters(rest, event);
	case KTOP_EVENT_arguments: return read_arguments(rest, event);
	case KTOP_EVENT_reply: return read_reply(rest, event);
	case KTOP_EVENT_symbol: return read_symbol(rest, event);
	case KTOP_EVENT_table: return read_table(rest, event);
	case KTOP_EVENT_memory:
	case KTOP_EVENT_packed_memory: return read_memory(rest, event);
	case KTOP_EVENT_sample: return read_sample(rest, event);
	case KTOP_EVENT_missed: return read_missed(rest, event);
	case KTOP_EVENT_raw_sample: return read_raw_sample(rest, event);
	case KTOP_EVENT_task_sample: return read_task_sample(rest, event);
	case KTOP_EVENT_stacks_sample: return read_stacks_sample(rest, event);
	case KTOP_EVENT_walked_sample: return read_walked_sample(rest, event);
	case KTOP_EVENT_program_sample: return read_program_sample(rest, event);
	case KTOP_EVENT_stack: return read_stack(rest, event);
	case KTOP_EVENT_tracing: return read_tracing(rest, event);
	default: return false;
	}
}

uint32_t payload_stream(const struct trace_kinds *kinds, uint16_t id)
{
#define STREAM_CASE(number, stream, name) case number: return stream;
	switch (id) {
		KTOP_WIRE_EVENTS(STREAM_CASE)
	default: return trace_kinds_find(kinds, id) ? STREAM_TRACE : STREAMS;
	}
}

const char *payload_name(uint16_t id)
{
#define NAME_CASE(number, stream, name) case number: return #name;
	switch (id) {
		KTOP_WIRE_EVENTS(NAME_CASE)
	default: return "";
	}
}

bool payload_read(const struct trace_kinds *kinds, const void *bytes, size_t size,
	struct event *event)
{
	struct rest rest = { .at = bytes, .left = size };

	if (read_fields(&rest, event))
		return rest.left == 0;
	switch (event->id) {
	case KTOP_EVENT_syscall_began: return read_held(kinds, &rest, event, KTOP_EVENT_syscall_enter, 0);
	case KTOP_EVENT_irq_began: return read_held(kinds, &rest, event, KTOP_EVENT_irq_enter, 0);
	case KTOP_EVENT_softirq_began: return read_held(kinds, &rest, event, KTOP_EVENT_softirq_enter, 0);
	case KTOP_EVENT_syscall_whole:
		return read_held(kinds, &rest, event, KTOP_EVENT_syscall_enter, KTOP_EVENT_syscall_exit);
	case KTOP_EVENT_irq_whole: return read_held(kinds, &rest, event, KTOP_EVENT_irq_enter, KTOP_EVENT_irq_exit);
	case KTOP_EVENT_softirq_whole:
		return read_held(kinds, &rest, event, KTOP_EVENT_softirq_enter, KTOP_EVENT_softirq_exit);
	default: return read_trace(kinds, &rest, event);
	}
}
