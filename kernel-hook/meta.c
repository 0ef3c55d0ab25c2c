/* SPDX-License-Identifier: MIT */
/* Makes the meta events, one at a time, as the drainer has room for them. wire.h has their fields. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/put.h"
#include "events.h"
#include "hook.h"
#include "ktop.h"
#include "meta.h"
#include "trace.h"
#include "wire.h"

/* A row of wire.h's table, as an event that describes it. */
struct descriptor {
	struct ktop_wire_descriptor fixed;
	const char *name, *fields;
};

#define DESCRIPTOR(number, of, label) { \
	.fixed = { .event = number, .stream = of }, \
	.name = #label, \
	.fields = KTOP_WIRE_FIELDS(label), \
},
static const struct descriptor descriptors[] = { KTOP_WIRE_EVENTS(DESCRIPTOR) };

/* Steps of the greeting: a step for each descriptor, then these. */
enum {
	HELLO_GUEST = sizeof(descriptors) / sizeof(descriptors[0]),
	HELLO_TRACING,
	HELLO_FILTERS,
	HELLO_KEYS,
	HELLO_END,
};

/* Steps of the beat: the status, one for each table, for each class of each CPU, and for what each CPU left out. */
enum { BEAT_STATUS, BEAT_PROCESSES, BEAT_THREADS, BEAT_OBJECTS, BEAT_EVENTS, BEAT_TEXTS, BEAT_CPUS };

/* ---- names, which the kernel gives (serial) ---- */

void ktop_process(struct ktop *ktop, uint32_t process, const char *name)
{
	struct ktop_wire_process fixed = { .process = process };
	uint8_t row[8 * KTOP_ROW_WORDS];
	uint8_t *end = ktop_put_text(ktop_put(row, &fixed, sizeof(fixed)), name, KTOP_NAME_MAX);

	ktop_table_put(&ktop->meta.processes, (struct ktop_key) { .id = process }, row,
		(uint32_t)(end - row));
}

void ktop_process_exit(struct ktop *ktop, uint32_t process)
{
	ktop_table_exit(&ktop->meta.processes, process);
	ktop_table_exit(&ktop->meta.objects, process);
}

void ktop_thread(struct ktop *ktop, uint32_t thread, uint32_t process, const char *name)
{
	struct ktop_wire_thread fixed = { .thread = thread, .process = process };
	uint8_t row[8 * KTOP_ROW_WORDS];
	uint8_t *end = ktop_put_text(ktop_put(row, &fixed, sizeof(fixed)), name, KTOP_NAME_MAX);

	ktop_table_put(&ktop->meta.threads, (struct ktop_key) { .id = thread }, row,
		(uint32_t)(end - row));
}

void ktop_thread_exit(struct ktop *ktop, uint32_t thread)
{
	ktop_table_exit(&ktop->meta.threads, thread);
}

/* A build id that is too long is none. */
static uint32_t build_id_size(const uint8_t *build_id, uint32_t size)
{
	return build_id && size <= KTOP_BUILD_ID_MAX ? size : 0;
}

_Static_assert(sizeof(struct ktop_wire_object) + 2 + KTOP_NAME_MAX + 2 + KTOP_BUILD_ID_MAX <=
	8 * KTOP_ROW_WORDS, "an object fits its row");

void ktop_object(struct ktop *ktop, const struct ktop_object *object)
{
	struct ktop_key key = { .id = object->process, .at = object->start };
	struct ktop_wire_object fixed = {
		.process = object->process,
		.start = object->start,
		.end = object->end,
		.bias = object->bias,
	};
	uint8_t row[8 * KTOP_ROW_WORDS];
	uint8_t *end = ktop_put_text(ktop_put(row, &fixed, sizeof(fixed)), object->name, KTOP_NAME_MAX);

	end = ktop_put_list(end, object->build_id,
		build_id_size(object->build_id, object->build_id_size));
	ktop_table_put(&ktop->meta.objects, key, row, (uint32_t)(end - row));
}

/* A text that is refused has an id by its bytes, so that the same one is missing once. */
static uint32_t refused_id(const char *text)
{
	uint32_t id = 0;

	while (*text)
		id = id * 31 + (uint8_t)*text++;
	return id;
}

bool ktop_mark(struct ktop *ktop, uint32_t thread, const char *text)
{
	struct ktop_table *table = &ktop->meta.texts;
	struct ktop_wire_number fixed = { .event = KTOP_EVENT_mark };
	uint8_t row[8 * KTOP_ROW_WORDS];

	if (!ktop_tracing(ktop, KTOP_EVENT_mark))
		return true;
	for (uint32_t i = 0; i < table->size; i++) {
		struct ktop_key key = { .id = KTOP_MARKS_WRITTEN + i };
		uint32_t size;

		fixed.number = key.id;
		size = (uint32_t)(ktop_put_text(ktop_put(row, &fixed, sizeof(fixed)), text, KTOP_NAME_MAX) - row);
		if (!ktop_table_agrees(table, key, row, size))
			continue;
		if (i == ktop_table_fill(table).used)
			ktop_table_put(table, key, row, size);
		ktop_trace_mark(ktop, thread, key.id);
		return true;
	}
	ktop_table_refuse(table, refused_id(text));
	return false;
}

void ktop_symbols(struct ktop *ktop, uint64_t from)
{
	if (from < ktop->meta.symbols_told)
		ktop->meta.symbols_told = from;
}

/* ---- events (the drainer): each function writes a payload at `to`, and returns its end ---- */

static uint8_t *put_descriptor(const struct descriptor *descriptor, uint8_t *to)
{
	to = ktop_put(to, &descriptor->fixed, sizeof(descriptor->fixed));
	to = ktop_put_text(to, descriptor->name, KTOP_NAME_MAX);
	return ktop_put_text(to, descriptor->fields, KTOP_TEXT_MAX / 2);
}

static uint8_t *put_name(uint8_t *to, const struct ktop_name *name)
{
	return ktop_put_list(to, name->bytes, name->size);
}

uint8_t *ktop_meta_guest(const struct ktop *ktop, uint8_t *to)
{
	const struct ktop_meta *meta = &ktop->meta;
	struct ktop_wire_guest fixed = {
		.cpus = ktop->cpus,
		.clock = meta->clock,
		.epoch = meta->epoch,
		.anchor_address = meta->anchor_address,
	};

	to = ktop_put(to, &fixed, sizeof(fixed));
	to = put_name(to, &meta->kernel);
	to = put_name(to, &meta->version);
	to = put_name(to, &meta->arch);
	to = put_name(to, &meta->anchor);
	return ktop_put_list(to, meta->build_id.bytes, meta->build_id.size);
}

/* The lists are empty while the kernel passes no keys on. */
static uint8_t *put_keys(const struct ktop *ktop, uint8_t *to)
{
	uint8_t codes[3];

	to = ktop_put_list(to, codes, ktop_keys_codes(&ktop->keys, KTOP_KEY_START, codes));
	return ktop_put_list(to, codes, ktop_keys_codes(&ktop->keys, KTOP_KEY_STOP, codes));
}

static uint8_t *put_status(const struct ktop *ktop, uint8_t *to)
{
	const struct ktop_meta *meta = &ktop->meta;
	bool nmi = ktop->control.sampler == KTOP_NMI;
	struct ktop_wire_status fixed = {
		.running = ktop_running(ktop),
		.sampler = !nmi && meta->outside ? meta->outside : (uint8_t)ktop->control.sampler,
		.rate = ktop->control.rate,
		.sampler_cpu = nmi ? ktop_sampler_cpu(ktop) : KTOP_NO_CPU,
		.trace_mask = ktop->control.events[KTOP_TRACE_FIRST / 32],
		.meta_lost = ktop_table_fill(&meta->processes).lost +
			ktop_table_fill(&meta->threads).lost + ktop_table_fill(&meta->objects).lost +
			ktop_table_fill(&meta->events).lost + ktop_table_fill(&meta->texts).lost,
	};

	return ktop_put_list(ktop_put(to, &fixed, sizeof(fixed)), meta->note.bytes, meta->note.size);
}

static uint8_t *put_table(const struct ktop_table *table, uint8_t *to)
{
	struct ktop_table_fill fill = ktop_table_fill(table);
	struct ktop_wire_table fixed = {
		.event = table->event, .size = table->size, .used = fill.used,
		.missing = fill.missing,
	};

	return ktop_put(to, &fixed, sizeof(fixed));
}

/* `index`: CPU * KTOP_CLASSES + class. */
static uint8_t *put_cpu_status(const struct ktop *ktop, uint32_t index, uint8_t *to)
{
	uint32_t number = index / KTOP_CLASSES, class = index % KTOP_CLASSES;
	const struct ktop_cpu *cpu = &ktop->cpu[number];
	const struct ktop_ring *ring = &cpu->rings[class];
	bool busy = ktop_ring_busy(ring);	/* read first: if it is not busy, the counts are final */
	struct ktop_wire_cpu_status fixed = {
		.cpu = number,
		.stream = (uint8_t)(KTOP_SAMPLES + class),
		.enabled = ktop_on(ktop, number, KTOP_SAMPLES + class) || busy,
		.taken = ktop_ring_taken(ring),
		.lost = ktop_ring_lost(ring),
		.cost = __atomic_load_n(&ring->cost, __ATOMIC_RELAXED),
		.span = cpu->span[class],
		.used = (uint32_t)(ktop_ring_head(ring) - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED)),
		.size = (uint32_t)ring->size,
	};

	return ktop_put(to, &fixed, sizeof(fixed));
}

/* Afterwards there is place for another reply. */
static uint8_t *put_reply(struct ktop_meta *meta, uint8_t *to)
{
	struct ktop_wire_reply fixed = { .ok = meta->reply_ok };

	meta->reply_full = false;
	return ktop_put_list(ktop_put(to, &fixed, sizeof(fixed)), meta->reply.bytes, meta->reply.size);
}

static uint8_t *put_tracing(const struct ktop *ktop, uint8_t *to)
{
	const struct ktop_wire_tracing fixed = { .ids = KTOP_TRACE_IDS };
	const uint32_t *mask = ktop->control.events;
	uint16_t words = (uint16_t)ktop_events_words(mask);

	to = ktop_put(ktop_put(to, &fixed, sizeof(fixed)), &words, sizeof(words));
	return ktop_put(to, mask, words * (uint32_t)sizeof(mask[0]));
}

static uint8_t *put_hello(const struct ktop *ktop, uint32_t step, uint8_t *to, uint16_t *event)
{
	if (step == HELLO_GUEST) {
		*event = KTOP_EVENT_guest;
		return ktop_meta_guest(ktop, to);
	}
	if (step == HELLO_TRACING) {
		*event = KTOP_EVENT_tracing;
		return put_tracing(ktop, to);
	}
	if (step == HELLO_FILTERS) {
		*event = KTOP_EVENT_filters;
		return ktop_put_list(to, ktop->meta.filters.bytes, ktop->meta.filters.size);
	}
	if (step == HELLO_KEYS) {
		*event = KTOP_EVENT_keys;
		return put_keys(ktop, to);
	}
	*event = KTOP_EVENT_descriptor;
	return put_descriptor(&descriptors[step], to);
}

/* The table of a step of the beat. NULL: the step is of no table, or no row of that table was ever lost. */
static const struct ktop_table *beat_table(const struct ktop_meta *meta, uint32_t step)
{
	const struct ktop_table *table = step == BEAT_PROCESSES ? &meta->processes :
		step == BEAT_THREADS ? &meta->threads : step == BEAT_OBJECTS ? &meta->objects :
		step == BEAT_EVENTS ? &meta->events : step == BEAT_TEXTS ? &meta->texts : NULL;

	return table && ktop_table_fill(table).lost ? table : NULL;
}

/* Writes one step of the beat; nothing for a table that never lost a row, or a CPU that leaves nothing out. */
static uint8_t *put_beat(const struct ktop *ktop, uint32_t step, uint8_t *to, uint16_t *event)
{
	const struct ktop_table *table = beat_table(&ktop->meta, step);

	if (step == BEAT_STATUS) {
		*event = KTOP_EVENT_status;
		return put_status(ktop, to);
	}
	if (step >= BEAT_CPUS + ktop->cpus * KTOP_CLASSES) {
		struct ktop_wire_left_out fixed = { .cpu = step - BEAT_CPUS - ktop->cpus * KTOP_CLASSES };

		fixed.pairs = __atomic_load_n(&ktop->cpu[fixed.cpu].left_out, __ATOMIC_RELAXED);
		*event = KTOP_EVENT_left_out;
		return fixed.pairs || ktop->meta.filters.size ? ktop_put(to, &fixed, sizeof(fixed)) : to;
	}
	if (step >= BEAT_CPUS) {
		*event = KTOP_EVENT_cpu_status;
		return put_cpu_status(ktop, step - BEAT_CPUS, to);
	}
	*event = KTOP_EVENT_table;
	return table ? put_table(table, to) : to;
}

/* The next row of a table that the host lacks. Returns its bytes; 0: none. */
static uint32_t put_row(struct ktop_table *table, uint8_t *to, uint16_t *event)
{
	*event = table->event;
	return ktop_table_next(table, to);
}

_Static_assert(sizeof(struct ktop_wire_symbol) + 2 + KTOP_TEXT_MAX <= KTOP_SAMPLE_MAX,
	"any name fits");

/*
 * The next symbol that the host lacks. Returns its bytes; 0: none. After the last symbol, an empty one says that all
 * were sent. A symbol that does not end above symbols_told counts as the end, too: the walk would not go on from it.
 */
static uint32_t put_symbol(struct ktop_meta *meta, uint8_t *to, uint16_t *event)
{
	struct ktop_symbol symbol;
	struct ktop_wire_symbol fixed;
	uint64_t end;

	if (!meta->symbols || meta->symbols_told == UINT64_MAX)
		return 0;
	end = meta->symbols(meta->symbols_told, &symbol) ? symbol.address + symbol.size : 0;
	if (end <= meta->symbols_told) {
		end = UINT64_MAX;
		symbol = (struct ktop_symbol) { .name = "" };
	}
	meta->symbols_told = end;
	*event = KTOP_EVENT_symbol;
	fixed = (struct ktop_wire_symbol) { .address = symbol.address, .size = symbol.size };
	return (uint32_t)(ktop_put_text(ktop_put(to, &fixed, sizeof(fixed)), symbol.name, KTOP_TEXT_MAX) - to);
}

_Static_assert(sizeof(struct ktop_wire_arguments) + 2 + KTOP_ARGUMENTS_MAX <= KTOP_SAMPLE_MAX, "any text fits");

/* Of the number that was told last. */
static uint32_t put_arguments(struct ktop_meta *meta, struct ktop_numbers_told *told, uint8_t *to, uint16_t *event)
{
	struct ktop_number number = { .name = NULL };
	struct ktop_wire_arguments fixed;

	told->arguments_due = false;
	if (!meta->numbers(told->count - 1, &number) || !number.arguments)
		return 0;
	*event = KTOP_EVENT_arguments;
	fixed = (struct ktop_wire_arguments) { .event = (uint16_t)number.event, .number = number.number };
	return (uint32_t)(ktop_put_text(ktop_put(to, &fixed, sizeof(fixed)), number.arguments,
		KTOP_ARGUMENTS_MAX) - to);
}

uint32_t ktop_meta_number(struct ktop_meta *meta, struct ktop_numbers_told *told, uint8_t *to, uint16_t *event)
{
	struct ktop_number number = { .name = NULL };
	struct ktop_wire_number fixed;
	uint32_t size = told->arguments_due ? put_arguments(meta, told, to, event) : 0;

	if (size || !meta->numbers || told->count == UINT32_MAX)
		return size;
	while (!number.name)
		if (!meta->numbers(told->count++, &number)) {
			told->count = UINT32_MAX;
			return 0;
		}
	told->arguments_due = number.arguments != NULL;
	*event = KTOP_EVENT_number;
	fixed = (struct ktop_wire_number) { .event = (uint16_t)number.event, .number = number.number };
	return (uint32_t)(ktop_put_text(ktop_put(to, &fixed, sizeof(fixed)), number.name, KTOP_NAME_MAX) - to);
}

/* The next mark of a control line that the host has no text of. Returns the bytes; 0: none. */
static uint32_t put_mark(struct ktop_meta *meta, uint8_t *to, uint16_t *event)
{
	struct ktop_wire_number fixed = { .event = KTOP_EVENT_mark, .number = KTOP_MARKS_ASKED + meta->marks_told };

	if (meta->marks_told == meta->mark_count)
		return 0;
	*event = KTOP_EVENT_number;
	return (uint32_t)(put_name(ktop_put(to, &fixed, sizeof(fixed)), &meta->marks[meta->marks_told++]) - to);
}

/* Names, then symbols. Returns the bytes; 0: the host has them all. */
static uint32_t next_row(struct ktop_meta *meta, uint8_t *to, uint16_t *event)
{
	uint32_t size = put_row(&meta->processes, to, event);

	if (size == 0)
		size = put_row(&meta->threads, to, event);
	if (size == 0)
		size = put_row(&meta->objects, to, event);
	if (size == 0)
		size = put_row(&meta->texts, to, event);
	if (size == 0)
		size = put_mark(meta, to, event);
	if (size == 0)
		size = ktop_meta_number(meta, &meta->numbers_told, to, event);
	if (size == 0)
		size = put_symbol(meta, to, event);
	return size;
}

uint32_t ktop_meta_next(struct ktop *ktop, uint64_t now, uint8_t *to, uint16_t *event)
{
	struct ktop_meta *meta = &ktop->meta;
	uint32_t beats = BEAT_CPUS + ktop->cpus * (KTOP_CLASSES + 1), size;

	if (meta->hello < HELLO_END)
		return (uint32_t)(put_hello(ktop, meta->hello++, to, event) - to);
	size = put_row(&meta->events, to, event);	/* a description comes before its events */
	if (size)
		return size;
	if (meta->reply_full) {
		*event = KTOP_EVENT_reply;
		return (uint32_t)(put_reply(meta, to) - to);
	}
	size = meta->memory ? meta->memory->next(to) : 0;
	if (size) {
		*event = KTOP_EVENT_memory;
		return size;
	}
	if (meta->beat >= beats && now - meta->beaten >= ktop_beat(ktop))
		meta->beat = 0;
	if (meta->beat == 0)
		meta->beaten = now;
	while (meta->beat < beats) {
		size = (uint32_t)(put_beat(ktop, meta->beat++, to, event) - to);
		if (size)
			return size;
	}
	return next_row(meta, to, event);
}

/* ---- start, and what is sent again ---- */

/* NULL gives the empty name. */
static struct ktop_name name_of(const char *text)
{
	struct ktop_name name = { .size = (uint8_t)ktop_str_fit(text, KTOP_NAME_MAX) };

	if (text)
		__builtin_memcpy(name.bytes, text, name.size);
	return name;
}

static bool same_name(const struct ktop_name *a, const struct ktop_name *b)
{
	uint32_t i = 0;

	while (i < a->size && i < b->size && a->bytes[i] == b->bytes[i])
		i++;
	return i == a->size && i == b->size;
}

uint32_t ktop_meta_mark(struct ktop *ktop, const char *text)
{
	const struct ktop_name name = name_of(text);
	struct ktop_meta *meta = &ktop->meta;
	uint32_t i = 0;

	while (i < meta->mark_count && !same_name(&meta->marks[i], &name))
		i++;
	if (i == KTOP_MARK_TEXTS)
		return 0;
	if (i == meta->mark_count)
		meta->marks[meta->mark_count++] = name;
	return KTOP_MARKS_ASKED + i;
}

uint64_t ktop_meta_memory(const struct ktop_settings *settings)
{
	return ktop_table_memory(settings->processes) + ktop_table_memory(settings->threads) +
		ktop_table_memory(settings->objects) + ktop_table_memory(settings->events) +
		ktop_table_memory(KTOP_MARK_TEXTS);
}

void ktop_meta_init(struct ktop_meta *meta, const struct ktop_facts *facts,
	const struct ktop_settings *settings, void *memory)
{
	uint8_t *at = memory;

	meta->epoch = facts->epoch_ns;
	meta->clock = facts->clock_hz;
	meta->anchor_address = facts->anchor_address;
	meta->kernel = name_of(facts->kernel);
	meta->version = name_of(facts->version);
	meta->arch = name_of(facts->arch);
	meta->anchor = name_of(facts->anchor);
	meta->symbols = facts->symbols;
	meta->numbers = facts->numbers;
	meta->memory = facts->memory;
	meta->functions = facts->functions;
	meta->outside = facts->outside;
	__builtin_memcpy(meta->boot_id, facts->boot_id, sizeof(meta->boot_id));
	meta->build_id.size = (uint8_t)build_id_size(facts->build_id, facts->build_id_size);
	if (meta->build_id.size)
		__builtin_memcpy(meta->build_id.bytes, facts->build_id, meta->build_id.size);
	ktop_table_init(&meta->processes, at, settings->processes, KTOP_EVENT_process);
	at += ktop_table_memory(settings->processes);
	ktop_table_init(&meta->threads, at, settings->threads, KTOP_EVENT_thread);
	at += ktop_table_memory(settings->threads);
	ktop_table_init(&meta->objects, at, settings->objects, KTOP_EVENT_object);
	at += ktop_table_memory(settings->objects);
	ktop_table_init(&meta->events, at, settings->events, KTOP_EVENT_descriptor);
	at += ktop_table_memory(settings->events);
	ktop_table_init(&meta->texts, at, KTOP_MARK_TEXTS, KTOP_EVENT_number);
}

void ktop_meta_hello(struct ktop *ktop)
{
	struct ktop_meta *meta = &ktop->meta;

	meta->hello = 0;
	meta->beat = 0;
	ktop_table_restart(&meta->processes);
	ktop_table_restart(&meta->threads);
	ktop_table_restart(&meta->objects);
	ktop_table_restart(&meta->events);
	ktop_table_restart(&meta->texts);
	meta->symbols_told = 0;
	meta->numbers_told = (struct ktop_numbers_told) { 0 };
	meta->marks_told = 0;
}

void ktop_meta_beat(struct ktop *ktop)
{
	ktop->meta.beat = 0;
}

void ktop_meta_tracing(struct ktop *ktop)
{
	if (ktop->meta.hello > HELLO_TRACING)
		ktop->meta.hello = HELLO_TRACING;
}

void ktop_meta_keys(struct ktop *ktop)
{
	if (ktop->meta.hello > HELLO_KEYS)
		ktop->meta.hello = HELLO_KEYS;
}
