/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/store/cpus.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "kept_facts.h"
#include "kept_recording.h"
#include "packet_maker.h"

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

	/* while it is collected */
	struct window *window;
	uint32_t *spaces;		/* by node: that of the program whose stack it is in; or UNSEEN */
	uint32_t nodes;
	uint64_t period;		/* the last one told */
};

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
	struct match match = window_match(window);

	for (size_t i = window->span.first; i < window->span.end && !kept->full; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		add_slice(kept, &match, &slice);
	}
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
	kept_facts_init(&kept->first, epoch->inputs.budget);
	kept_facts_init(&kept->later, epoch->inputs.budget);
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
