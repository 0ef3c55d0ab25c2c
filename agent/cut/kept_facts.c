/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/who.h"
#include "kernel-hook/wire.h"
#include "kept_facts.h"
#include "packet_maker.h"

enum { FIRST_ROOM = 16 << 10 };		/* bytes */

struct fact {				/* before the payload of each event */
	uint64_t time;
	uint16_t id, size;
};

enum known_kind { KNOWN_SPACE, KNOWN_PROCESS, KNOWN_THREAD, KNOWN_FUNCTION };

struct known_fact {			/* what was told of a process, a thread or a function */
	enum known_kind kind;
	uint32_t id;
	uint32_t space;			/* KNOWN_SPACE: the last one; KEPT_FACTS_UNSEEN: none yet */
};

void kept_facts_init(struct kept_facts *facts, struct budget *budget)
{
	*facts = (struct kept_facts) { .budget = budget };
	hash_init(&facts->by_id, budget);
}

void kept_facts_clear(struct kept_facts *facts)
{
	budget_free(facts->budget, facts->bytes, facts->room);
	budget_free(facts->budget, facts->known, facts->known_room * sizeof(*facts->known));
	hash_clear(&facts->by_id);
}

static bool have_room(struct kept_facts *facts, size_t size)
{
	size_t room = facts->room ? 2 * facts->room : FIRST_ROOM;
	uint8_t *bytes;

	if (facts->size + size <= facts->room)
		return true;
	bytes = budget_resize(facts->budget, facts->bytes, facts->room, room);
	if (!bytes)
		return false;
	facts->bytes = bytes;
	facts->room = room;
	return true;
}

static void add(struct kept_facts *facts, uint64_t time, const struct made_event *event)
{
	const struct fact fact = { .time = time, .id = event->id, .size = (uint16_t)event->size };

	facts->full = facts->full || !have_room(facts, sizeof(fact) + event->size);
	if (facts->full)
		return;
	memcpy(facts->bytes + facts->size, &fact, sizeof(fact));
	memcpy(facts->bytes + facts->size + sizeof(fact), event->bytes, event->size);
	facts->size += sizeof(fact) + event->size;
}

bool kept_facts_next(const struct kept_facts *facts, size_t *at, uint64_t *time, struct made_event *event)
{
	struct fact fact;

	if (*at == facts->size)
		return false;
	memcpy(&fact, facts->bytes + *at, sizeof(fact));
	made_event_begin(event, fact.id, facts->bytes + *at + sizeof(fact), fact.size);
	*time = fact.time;
	*at += sizeof(fact) + fact.size;
	return true;
}

/* What is known of this one; made once. `fresh`: just now. NULL: there is no memory. */
static struct known_fact *have(struct kept_facts *facts, enum known_kind kind, uint32_t id, bool *fresh)
{
	uint64_t hash = hash_pair(&facts->by_id, kind, id);
	uint32_t at = 0, position;
	struct known_fact *list;

	*fresh = false;
	while ((position = hash_next(&facts->by_id, hash, &at)) != HASH_NONE)
		if (facts->known[position].kind == kind && facts->known[position].id == id)
			return &facts->known[position];
	list = budget_array(facts->budget, facts->known, facts->known_count, &facts->known_room, sizeof(*list));
	if (list)
		facts->known = list;
	*fresh = list && hash_add(&facts->by_id, hash, facts->known_count);
	facts->full = facts->full || !*fresh;
	if (!*fresh)
		return NULL;
	list[facts->known_count] = (struct known_fact) { .kind = kind, .id = id, .space = KEPT_FACTS_UNSEEN };
	return &list[facts->known_count++];
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

/* ---- the guest ---- */

/* An object by the name of the kernel's: only its bias is of use, so it takes the place of no code. */
static void add_slide(struct kept_facts *facts, const struct epoch *epoch, uint64_t time)
{
	uint64_t slide = symbols_kernel_slide(epoch->inputs.symbols);
	const struct ktop_wire_object fixed = {
		.process = KTOP_KERNEL, .start = slide, .end = slide + 1, .bias = slide,
	};
	struct made_event event;

	made_event_begin(&event, KTOP_EVENT_object, &fixed, sizeof(fixed));
	made_event_text(&event, text_of("kernel"));
	made_event_text(&event, (struct text) { .size = 0 });
	add(facts, time, &event);
}

void kept_facts_guest(struct kept_facts *facts, const struct epoch *epoch, uint64_t time)
{
	const struct ktop_wire_guest fixed = {
		.cpus = epoch->cpu_count, .clock = NS_PER_SECOND, .epoch = epoch->began,
	};
	struct symbols_mapping kernel = { .name = "" };
	struct made_event event;

	symbols_mapping(epoch->inputs.symbols, EVENT_KERNEL, 0, &kernel);
	made_event_begin(&event, KTOP_EVENT_guest, &fixed, sizeof(fixed));
	made_event_text(&event, text_of(epoch_kernel(epoch)));
	made_event_text(&event, text_of(epoch_version(epoch)));
	made_event_text(&event, text_of(epoch->arch));
	made_event_text(&event, (struct text) { .size = 0 });
	made_event_text(&event, (struct text) {
		.bytes = (const char *)kernel.build_id.bytes, .size = kernel.build_id.size,
	});
	add(facts, time, &event);
	if (symbols_kernel_is_placed(epoch->inputs.symbols))
		add_slide(facts, epoch, time);
}

void kept_facts_period(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint64_t period)
{
	const struct ktop_wire_status fixed = {
		.running = 1, .sampler = (uint8_t)epoch->sampled.sampler, .sampler_cpu = epoch->sampled.sampler_cpu,
		.rate = period ? (uint32_t)(NS_PER_SECOND / period) : 0,
	};
	struct made_event event;

	made_event_begin(&event, KTOP_EVENT_status, &fixed, sizeof(fixed));
	made_event_text(&event, (struct text) { .size = 0 });
	add(facts, time, &event);
}

/* ---- what is mapped ---- */

static void add_object(struct kept_facts *facts, uint64_t time, const struct object *object)
{
	const struct ktop_wire_object fixed = {
		.process = object->process, .start = object->start, .end = object->end, .bias = object->bias,
	};
	struct made_event event;

	made_event_begin(&event, KTOP_EVENT_object, &fixed, sizeof(fixed));
	made_event_text(&event, object->name);
	made_event_text(&event, object->build_id);
	add(facts, time, &event);
}

static void add_objects(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint32_t process,
	uint32_t space)
{
	struct object object;

	for (uint32_t i = 0; !facts->full && symbols_mapped(epoch->inputs.symbols, space, i, &object); i++) {
		object.process = process;
		add_object(facts, time, &object);
	}
}

void kept_facts_space(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint32_t process,
	uint32_t space)
{
	bool fresh;
	struct known_fact *known = have(facts, KNOWN_SPACE, process, &fresh);

	if (!known || known->space == space)
		return;
	known->space = space;
	add_objects(facts, epoch, time, process, space);
}

/* ---- names ---- */

static void add_process(struct kept_facts *facts, const struct epoch *epoch, uint32_t process, uint64_t begin)
{
	const char *name = threads_told_process(epoch->inputs.threads, process);
	const struct ktop_wire_process fixed = { .process = process };
	struct made_event event;
	bool fresh;

	if (process == EVENT_KERNEL || !name || !have(facts, KNOWN_PROCESS, process, &fresh) || !fresh)
		return;
	made_event_begin(&event, KTOP_EVENT_process, &fixed, sizeof(fixed));
	made_event_text(&event, text_of(name));
	add(facts, begin, &event);
}

static void add_thread(struct kept_facts *facts, const struct epoch *epoch, uint32_t thread, uint32_t process,
	uint64_t begin)
{
	const char *name = threads_told(epoch->inputs.threads, thread);
	const struct ktop_wire_thread fixed = { .thread = thread, .process = process };
	struct made_event event;
	bool fresh;

	if (thread == EVENT_NONE || !name || !have(facts, KNOWN_THREAD, thread, &fresh) || !fresh)
		return;
	made_event_begin(&event, KTOP_EVENT_thread, &fixed, sizeof(fixed));
	made_event_text(&event, text_of(name));
	add(facts, begin, &event);
}

void kept_facts_threads(struct kept_facts *facts, const struct epoch *epoch, const struct sample_log *log,
	uint64_t begin)
{
	const struct who_table *whos = sample_log_whos(log);

	for (uint32_t i = WHO_FORGOTTEN; !facts->full && i < who_table_count(whos); i++) {
		const struct who *who = &who_table_list(whos)[i];
		uint32_t owner = threads_owner(epoch->inputs.threads, who->thread, who->process);

		add_process(facts, epoch, owner, begin);
		add_thread(facts, epoch, who->thread, owner, begin);
	}
}

static void add_symbol(struct kept_facts *facts, const struct epoch *epoch, uint64_t address, uint32_t function,
	uint64_t begin)
{
	struct symbols *symbols = epoch->inputs.symbols;
	struct symbol_code code;
	struct made_event event;
	bool fresh;

	if (!symbols_get(symbols, function)->known || !have(facts, KNOWN_FUNCTION, function, &fresh) || !fresh ||
			!symbols_code(symbols, EVENT_KERNEL, address, &code))
		return;
	made_event_begin(&event, KTOP_EVENT_symbol, &(struct ktop_wire_symbol) {
		.address = code.low + code.bias,
		.size = code.high - code.low < UINT32_MAX ? (uint32_t)(code.high - code.low) : UINT32_MAX,
	}, sizeof(struct ktop_wire_symbol));
	made_event_text(&event, text_of(symbols_get(symbols, function)->name));
	add(facts, begin, &event);
}

void kept_facts_symbols(struct kept_facts *facts, const struct epoch *epoch, const uint32_t *spaces, uint32_t count,
	const uint32_t *functions, uint64_t begin)
{
	const struct node *nodes = stacks_list(epoch->inputs.stacks);
	struct made_event event;

	for (uint32_t i = 0; !facts->full && i < count; i++)
		if (spaces[i] != KEPT_FACTS_UNSEEN && nodes[i].space == EVENT_KERNEL)
			add_symbol(facts, epoch, nodes[i].address, functions[i], begin);
	made_event_begin(&event, KTOP_EVENT_symbol, &(struct ktop_wire_symbol) { .size = 0 },
		sizeof(struct ktop_wire_symbol));
	made_event_text(&event, (struct text) { .size = 0 });
	add(facts, begin, &event);
}
