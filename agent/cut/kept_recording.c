/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/store/run.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "kept_recording.h"
#include "recorded_packets.h"

#define KEPT_FACTS_UNSEEN 0xfffffffeu

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

struct kept_facts {
	struct budget *budget;
	uint8_t *bytes;			/* events, in the order in which they were told: times do not fall */
	size_t size, room;
	bool full;			/* there was no memory for all */
	struct hash by_id;
	struct known_fact *known;	/* what needs no telling again */
	uint32_t known_count, known_room;
};

struct kept_gap {			/* sampling periods in which a CPU was not run */
	uint64_t time, ticks;
	uint32_t cpu;
};

struct kept_recording {
	const struct epoch *epoch;	/* borrowed */
	struct metadata_machine machine;	/* owned */
	struct kept_facts first, later;	/* told at the beginning; told at their times */
	struct sample_log *log;
	struct kept_gap *gaps;
	uint32_t gap_count, gap_room;
	uint64_t from, to;		/* guest ns */
	bool full;			/* there was no memory for all */
	bool off_cpu;			/* waits are asked for, which it cannot have */

	/* while it is collected */
	struct window *window;
	uint32_t *spaces;		/* by node: that of the program whose stack it is in; or UNSEEN */
	uint32_t nodes;
	uint64_t period;		/* the last one told */
};

/* ---- what a guest has told, told again as events: only what the samples need ---- */

static void kept_facts_init(struct kept_facts *facts, struct budget *budget)
{
	*facts = (struct kept_facts) { .budget = budget };
	hash_init(&facts->by_id, budget);
}

static void kept_facts_clear(struct kept_facts *facts)
{
	budget_free(facts->budget, facts->bytes, facts->room);
	budget_free(facts->budget, facts->known, facts->known_room * sizeof(*facts->known));
	hash_clear(&facts->by_id);
}

static bool kept_facts_have_room(struct kept_facts *facts, size_t size)
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

static void kept_facts_add(struct kept_facts *facts, uint64_t time, const struct made_event *event)
{
	const struct fact fact = { .time = time, .id = event->id, .size = (uint16_t)event->size };

	facts->full = facts->full || !kept_facts_have_room(facts, sizeof(fact) + event->size);
	if (facts->full)
		return;
	memcpy(facts->bytes + facts->size, &fact, sizeof(fact));
	memcpy(facts->bytes + facts->size + sizeof(fact), event->bytes, event->size);
	facts->size += sizeof(fact) + event->size;
}

/* The event at *at, which is moved behind it. False: there is no more. */
static bool kept_facts_next(const struct kept_facts *facts, size_t *at, uint64_t *time, struct made_event *event)
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
static struct known_fact *have_known(struct kept_facts *facts, enum known_kind kind, uint32_t id, bool *fresh)
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
	kept_facts_add(facts, time, &event);
}

/* What the guest has told of itself. */
static void kept_facts_guest(struct kept_facts *facts, const struct epoch *epoch, uint64_t time)
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
	kept_facts_add(facts, time, &event);
	if (symbols_kernel_is_placed(epoch->inputs.symbols))
		add_slide(facts, epoch, time);
}

static void kept_facts_period(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint64_t period)
{
	const struct ktop_wire_status fixed = {
		.running = 1, .sampler = (uint8_t)epoch->sampled.sampler, .sampler_cpu = epoch->sampled.sampler_cpu,
		.rate = period ? (uint32_t)(NS_PER_SECOND / period) : 0,
	};
	struct made_event event;

	made_event_begin(&event, KTOP_EVENT_status, &fixed, sizeof(fixed));
	made_event_text(&event, (struct text) { .size = 0 });
	kept_facts_add(facts, time, &event);
}

static void add_object(struct kept_facts *facts, uint64_t time, const struct object *object)
{
	const struct ktop_wire_object fixed = {
		.process = object->process, .start = object->start, .end = object->end, .bias = object->bias,
	};
	struct made_event event;

	made_event_begin(&event, KTOP_EVENT_object, &fixed, sizeof(fixed));
	made_event_text(&event, object->name);
	made_event_text(&event, object->build_id);
	kept_facts_add(facts, time, &event);
}

static void add_space_objects(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint32_t process,
	uint32_t space)
{
	struct object object;

	for (uint32_t i = 0; !facts->full && symbols_mapped(epoch->inputs.symbols, space, i, &object); i++) {
		object.process = process;
		add_object(facts, time, &object);
	}
}

/* What is mapped where, in the process that has this space now. */
static void kept_facts_space(struct kept_facts *facts, const struct epoch *epoch, uint64_t time, uint32_t process,
	uint32_t space)
{
	bool fresh;
	struct known_fact *known = have_known(facts, KNOWN_SPACE, process, &fresh);

	if (!known || known->space == space)
		return;
	known->space = space;
	add_space_objects(facts, epoch, time, process, space);
}

static void add_process(struct kept_facts *facts, const struct epoch *epoch, uint32_t process, uint64_t begin)
{
	const char *name = threads_told_process(epoch->inputs.threads, process);
	const struct ktop_wire_process fixed = { .process = process };
	struct made_event event;
	bool fresh;

	if (process == EVENT_KERNEL || !name || !have_known(facts, KNOWN_PROCESS, process, &fresh) || !fresh)
		return;
	made_event_begin(&event, KTOP_EVENT_process, &fixed, sizeof(fixed));
	made_event_text(&event, text_of(name));
	kept_facts_add(facts, begin, &event);
}

static void add_thread(struct kept_facts *facts, const struct epoch *epoch, uint32_t thread, uint32_t process,
	uint64_t begin)
{
	const char *name = threads_told(epoch->inputs.threads, thread);
	const struct ktop_wire_thread fixed = { .thread = thread, .process = process };
	struct made_event event;
	bool fresh;

	if (thread == EVENT_NONE || !name || !have_known(facts, KNOWN_THREAD, thread, &fresh) || !fresh)
		return;
	made_event_begin(&event, KTOP_EVENT_thread, &fixed, sizeof(fixed));
	made_event_text(&event, text_of(name));
	kept_facts_add(facts, begin, &event);
}

/* These hold from the beginning on: they are told with its time. */
static void kept_facts_threads(struct kept_facts *facts, const struct epoch *epoch, const struct sample_log *log,
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

	if (!symbols_get(symbols, function)->known || !have_known(facts, KNOWN_FUNCTION, function, &fresh) || !fresh ||
			!symbols_code(symbols, EVENT_KERNEL, address, &code))
		return;
	made_event_begin(&event, KTOP_EVENT_symbol, &(struct ktop_wire_symbol) {
		.address = code.low + code.bias,
		.size = code.high - code.low < UINT32_MAX ? (uint32_t)(code.high - code.low) : UINT32_MAX,
	}, sizeof(struct ktop_wire_symbol));
	made_event_text(&event, text_of(symbols_get(symbols, function)->name));
	kept_facts_add(facts, begin, &event);
}

/*
 * Of the kernel, from the beginning on. `spaces`: by node of the stacks, UNSEEN if it is in no sample's stack.
 * `functions`: by node.
 */
static void kept_facts_symbols(struct kept_facts *facts, const struct epoch *epoch, const uint32_t *spaces,
	uint32_t count, const uint32_t *functions, uint64_t begin)
{
	const struct node *nodes = stacks_list(epoch->inputs.stacks);
	struct made_event event;

	for (uint32_t i = 0; !facts->full && i < count; i++)
		if (spaces[i] != KEPT_FACTS_UNSEEN && nodes[i].space == EVENT_KERNEL)
			add_symbol(facts, epoch, nodes[i].address, functions[i], begin);
	made_event_begin(&event, KTOP_EVENT_symbol, &(struct ktop_wire_symbol) { .size = 0 },
		sizeof(struct ktop_wire_symbol));
	made_event_text(&event, (struct text) { .size = 0 });
	kept_facts_add(facts, begin, &event);
}

/* ---- collecting ---- */

/* The space of the program at the root of a stack. Marks the nodes of the stack as seen. */
static uint32_t space_of(struct kept_recording *kept, uint32_t leaf)
{
	const struct node *nodes = stacks_list(kept->epoch->inputs.stacks);
	uint32_t id = leaf, space = EVENT_KERNEL;

	for (; id != STACKS_NONE && kept->spaces[id] == KEPT_FACTS_UNSEEN; id = nodes[id].parent)
		space = nodes[id].space;
	space = id == STACKS_NONE ? space : kept->spaces[id];
	for (id = leaf; id != STACKS_NONE && kept->spaces[id] == KEPT_FACTS_UNSEEN; id = nodes[id].parent)
		kept->spaces[id] = space;
	return space;
}

static void add_run(struct kept_recording *kept, const struct match *match, const struct slice *slice,
	const struct run *run)
{
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;

	while (!kept->full && match_next(&reader, &count, &who)) {
		uint32_t space = count.stack == STACKS_NONE ? EVENT_KERNEL : space_of(kept, count.stack);

		if (space != EVENT_KERNEL && who->process != EVENT_KERNEL)
			kept_facts_space(&kept->later, kept->epoch, slice->begin, who->process, space);
		sample_log_add(kept->log, slice->begin, count.stack, who, count.weight, (uint32_t)count.samples,
			slice->period);
		kept->full = kept->later.full || sample_log_refused(kept->log) || count.samples > UINT32_MAX;
	}
}

/* Gaps have no thread and no mode: of a filter, only its CPUs count. */
static void add_gaps(struct kept_recording *kept, const struct slice *slice)
{
	for (uint32_t cpu = 0; cpu < slice->cpus->count && !kept->full; cpu++) {
		const struct cpu_sums *sums = cpus_get(slice->cpus, cpu);
		struct kept_gap *gaps;

		if (!sums || !sums->missed || !filter_passes_cpu(&kept->window->question.filter, cpu))
			continue;
		gaps = budget_array(kept->epoch->inputs.budget, kept->gaps, kept->gap_count, &kept->gap_room,
			sizeof(*gaps));
		kept->full = !gaps;
		if (!gaps)
			return;
		kept->gaps = gaps;
		gaps[kept->gap_count++] = (struct kept_gap) { slice->begin, sums->missed, cpu };
	}
}

static void add_slice(struct kept_recording *kept, const struct match *match, const struct slice *slice)
{
	if (slice->period != kept->period)
		kept_facts_period(&kept->later, kept->epoch, slice->begin, slice->period);
	kept->period = slice->period;
	add_gaps(kept, slice);
	for (size_t i = 0; i < slice->run_count && !kept->full; i++)
		add_run(kept, match, slice, slice->runs[i]);
}

static void add_slices(struct kept_recording *kept)
{
	struct window *window = kept->window;
	struct slices slices = slices_in(window->inputs.store, window->question.from, window->question.to, true);
	struct match match = window_match(window);
	struct slice slice;

	while (!kept->full && slices_next(&slices, &slice))
		add_slice(kept, &match, &slice);
	sample_log_settle(kept->log);
}

static void add_facts(struct kept_recording *kept)
{
	struct kept_facts *first = &kept->first;

	kept_facts_guest(first, kept->epoch, kept->from);
	kept_facts_threads(first, kept->epoch, kept->log, kept->from);
	kept_facts_space(first, kept->epoch, kept->from, EVENT_KERNEL, EVENT_KERNEL);
	kept_facts_symbols(first, kept->epoch, kept->spaces, kept->nodes, kept->window->nodes->functions, kept->from);
	kept->full = kept->full || first->full;
}

static void collect(struct kept_recording *kept, const struct question *question)
{
	struct budget *budget = kept->epoch->inputs.budget;
	struct range range;
	size_t size;

	kept->window = &query_reader(kept->epoch->query, question)->window;
	window_look(kept->window, question);
	range = window_range(kept->window);
	kept->from = range.from;
	kept->to = range.to;
	kept->nodes = stacks_nodes(kept->epoch->inputs.stacks);
	size = (kept->nodes + 1) * sizeof(*kept->spaces);
	kept->spaces = budget_resize(budget, NULL, 0, size);
	kept->full = !kept->spaces;
	for (uint32_t i = 0; !kept->full && i < kept->nodes; i++)
		kept->spaces[i] = KEPT_FACTS_UNSEEN;
	add_slices(kept);
	if (!kept->full)
		add_facts(kept);
	budget_free(budget, kept->spaces, kept->spaces ? size : 0);
	kept->spaces = NULL;
}

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct kept_recording *kept_recording_new(const struct epoch *epoch, const struct question *question,
	const struct metadata_machine *machine)
{
	struct kept_recording *kept = util_alloc(sizeof(*kept));

	kept->epoch = epoch;
	kept->machine = (struct metadata_machine) { .name = copy(machine->name), .kernel = copy(machine->kernel) };
	kept->log = sample_log_new(epoch->inputs.budget, NULL);
	kept->period = UINT64_MAX;
	kept->off_cpu = filter_off_cpu(&question->filter);
	kept_facts_init(&kept->first, epoch->inputs.budget);
	kept_facts_init(&kept->later, epoch->inputs.budget);
	if (!kept->off_cpu)
		collect(kept, question);
	return kept;
}

void kept_recording_free(struct kept_recording *kept)
{
	if (!kept)
		return;
	budget_free(kept->epoch->inputs.budget, kept->gaps, kept->gap_room * sizeof(*kept->gaps));
	kept_facts_clear(&kept->first);
	kept_facts_clear(&kept->later);
	sample_log_release(kept->log);
	free((char *)kept->machine.name);
	free((char *)kept->machine.kernel);
	free(kept);
}

/* ---- writing ---- */

struct writing {
	const struct kept_recording *kept;
	struct recording_writer *writer;
	struct packet_maker *meta;
	struct packet_maker *lanes[EVENT_CPUS];	/* of samples; NULL: not begun */
	size_t fact;			/* the next one of `later` */
	uint32_t gap;			/* the next gap */
	bool sampled;			/* samples were added since the lanes were flushed */
	struct kept_sums sums;
};

static struct packet_maker *lane_of(struct writing *writing, uint32_t cpu)
{
	if (!writing->lanes[cpu])
		writing->lanes[cpu] = packet_maker_new(writing->writer, writing->kept->epoch->boot_id, STREAM_SAMPLES,
			cpu, writing->kept->from);
	return writing->lanes[cpu];
}

/* Readers take packets in the order in which these end: what holds from now on has to follow all that came before. */
static void flush_lanes(struct writing *writing)
{
	for (uint32_t cpu = 0; writing->sampled && cpu < EVENT_CPUS; cpu++)
		if (writing->lanes[cpu])
			packet_maker_flush(writing->lanes[cpu]);
	writing->sampled = false;
}

/* What is told up to this time. */
static void put_facts(struct writing *writing, const struct kept_facts *facts, size_t *at, uint64_t time)
{
	struct made_event event;
	size_t next = *at;
	uint64_t told;

	while (kept_facts_next(facts, &next, &told, &event) && told <= time) {
		flush_lanes(writing);
		packet_maker_add(writing->meta, told, &event);
		*at = next;
	}
	packet_maker_flush(writing->meta);
}

/* The gaps up to this time. */
static void put_gaps(struct writing *writing, uint64_t time)
{
	const struct kept_recording *kept = writing->kept;

	for (; writing->gap < kept->gap_count && kept->gaps[writing->gap].time <= time; writing->gap++) {
		const struct kept_gap *gap = &kept->gaps[writing->gap];
		const struct ktop_wire_missed fixed = {
			.ticks = gap->ticks < UINT32_MAX ? (uint32_t)gap->ticks : UINT32_MAX,
		};
		struct made_event event;

		made_event_begin(&event, KTOP_EVENT_missed, &fixed, sizeof(fixed));
		packet_maker_add(lane_of(writing, gap->cpu), gap->time, &event);
	}
}

struct frames {				/* leaf first, as in a sample */
	uint64_t kernel[KTOP_FRAMES_MAX], user[KTOP_FRAMES_MAX];
	uint32_t kernel_count, user_count;
	uint64_t exact;			/* as in a sample */
	uint8_t flags;
};

/*
 * The inverse of stacks_intern: addresses of nodes are for look-ups. A return address follows that. The program's
 * innermost frame is exact.
 */
static void find_frames(const struct node *nodes, uint32_t leaf, struct frames *frames)
{
	frames->kernel_count = frames->user_count = 0;
	frames->exact = 0;
	frames->flags = KTOP_USER_EXACT;
	for (uint32_t id = leaf; id != STACKS_NONE; id = nodes[id].parent) {
		bool kernel = nodes[id].space == EVENT_KERNEL;
		uint32_t *count = kernel ? &frames->kernel_count : &frames->user_count;

		if (nodes[id].cut)
			frames->flags |= kernel ? KTOP_KERNEL_CUT : KTOP_USER_CUT;
		if (*count == KTOP_FRAMES_MAX)
			continue;
		if (kernel) {
			frames->kernel[*count] = nodes[id].address + nodes[id].returned;
			frames->exact |= (uint64_t)!nodes[id].returned << *count;
		} else {
			frames->user[*count] = nodes[id].address + (*count > 0);
		}
		++*count;
	}
}

static uint8_t context_flag(uint8_t context)
{
	return context == CONTEXT_TASK ? KTOP_TASK : context == CONTEXT_IRQ ? KTOP_IRQ :
		context == CONTEXT_SOFTIRQ ? KTOP_SOFTIRQ : 0;
}

/* The samples of a row have its weight together; nobody knows any more how it was shared among them. */
static void put_row(struct writing *writing, const struct log_row *row)
{
	const struct kept_recording *kept = writing->kept;
	const struct who who = who_table_list(sample_log_whos(kept->log))[row->who];
	uint32_t cpu = who.cpu < EVENT_CPUS ? who.cpu : 0;
	struct ktop_wire_sample fixed = {
		.process = who.process, .thread = who.thread, .mode = who.mode,
	};
	struct made_event event;
	struct frames frames;

	find_frames(stacks_list(kept->epoch->inputs.stacks), row->stack, &frames);
	fixed.exact = frames.exact;
	fixed.flags = frames.flags | context_flag(who.context);
	for (uint32_t i = 0; i < row->samples; i++) {
		fixed.weight = (uint32_t)(row->weight / row->samples + (i < row->weight % row->samples));
		made_event_begin(&event, KTOP_EVENT_sample, &fixed, sizeof(fixed));
		made_event_words(&event, frames.kernel, frames.kernel_count);
		made_event_words(&event, frames.user, frames.user_count);
		packet_maker_add(lane_of(writing, cpu), row->time, &event);
	}
	writing->sampled = true;
	writing->sums.samples += row->samples;
	writing->sums.weight += row->weight;
	writing->sums.unknown += who.cpu < EVENT_CPUS ? 0 : row->samples;
}

static void put_rows(struct writing *writing)
{
	struct sample_log_reader *rows = sample_log_open(writing->kept->log);
	struct log_row row;
	char why[256];

	while (!recording_writer_failed(writing->writer, why, sizeof(why)) && sample_log_next(rows, &row)) {
		put_facts(writing, &writing->kept->later, &writing->fact, row.time);
		put_gaps(writing, row.time);
		put_row(writing, &row);
	}
	sample_log_close(rows);
}

/* Each lane ends with the range, as that of a guest does that was recorded for so long. */
static void end_lanes(struct writing *writing)
{
	const struct kept_recording *kept = writing->kept;

	put_gaps(writing, UINT64_MAX);
	for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++)
		if (writing->lanes[cpu])
			packet_maker_end(writing->lanes[cpu], kept->to);
	packet_maker_end(writing->meta, kept->to);
}

bool kept_recording_write(struct kept_recording *kept, const char *folder, struct kept_sums *sums, char **error)
{
	struct writing *writing;
	size_t first = 0;
	bool good;

	if (kept->off_cpu)
		return util_fail(error, "%s: not written: a recording has samples, and waits are none; leave "
			"the mode out of the filter, or choose another format", folder);
	if (kept->full)
		return util_fail(error, "%s: not written: no memory for it; give more by --memory, or take a shorter "
			"range", folder);
	writing = util_alloc(sizeof(*writing));
	writing->kept = kept;
	writing->writer = recording_writer_new(&(struct recording_options) { .folder = folder }, &kept->machine);
	writing->meta = packet_maker_new(writing->writer, kept->epoch->boot_id, STREAM_META, 0, kept->from);
	put_facts(writing, &kept->first, &first, kept->from);
	put_rows(writing);
	end_lanes(writing);
	*sums = writing->sums;
	good = recording_writer_close(writing->writer, error);
	for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++)
		packet_maker_free(writing->lanes[cpu]);
	packet_maker_free(writing->meta);
	free(writing);
	return good;
}
