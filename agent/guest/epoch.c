/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/arch_id.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/code/listings.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/trace/trace.h"
#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"
#include "epoch.h"
#include "guest_events.h"
#include "kernel_reading.h"
#include "kernel_watch.h"
#include "raw_samples.h"

enum {
	ANSWERS = 4,			/* paid for: one is shown, one waits, one is being made; one to spare */
	MEASURE_LATE_MS = 100,		/* so old may ticks be when they come; ten times that: the guest stood still */
	WAIT_NS = 1000,			/* what a weight of 1 stands for, in `waits` and `wakes` */
	WAIT_COUNTS_MAX = STORE_COUNTS_MAX / 8,
	RETRY_MS = 2000, RETRY_DOUBLED = 5,	/* the first pause between retries; how often it doubles */
	RETRY_SHARE = 8,			/* a retry needs 1 / RETRY_SHARE of the budget free */
	CPU_COST = sizeof(struct epoch_cpu) + ANSWERS * 2 * EPOCH_ANSWER_CPU,
	TREND_COST = ANSWERS * EPOCH_ANSWER_TREND,
};

/*
 * Bytes of the budget for so many CPUs: what the epoch keeps of them, and what answers about them take. An answer that
 * is being made has two arrays by CPU. Besides a trend of each of the first CPUs, it has one for all further CPUs.
 */
static size_t cost_of(uint32_t cpus)
{
	size_t trends = cpus < EPOCH_TRENDS ? cpus : EPOCH_TRENDS;

	return (size_t)cpus * CPU_COST + (trends ? trends + 1 : 0) * TREND_COST;
}

static bool may_retry(const struct epoch *epoch, uint64_t now)
{
	const struct budget *budget = epoch->inputs.budget;

	return now >= epoch->retry_at &&
		budget_left(budget) >= budget_share(budget, RETRY_SHARE);
}

/* Each pause is twice as long as the last, so that a guest that keeps memory full causes few retries. */
static void pause_retries(struct epoch *epoch, uint64_t now)
{
	epoch->retry_at = now + epoch->retry_pause;
	if (epoch->retry_pause < (uint64_t)RETRY_MS * NS_PER_MS << RETRY_DOUBLED)
		epoch->retry_pause *= 2;
}

bool epoch_retry(struct epoch *epoch, uint64_t now)
{
	bool told = epoch->starved;

	if (!may_retry(epoch, now) || (!symbols_retry(epoch->inputs.symbols) && !told))
		return false;
	pause_retries(epoch, now);
	if (!told)
		return false;
	epoch->starved = false;
	symbols_told_again(epoch->inputs.symbols);
	threads_retry(epoch->inputs.threads);
	return true;
}

void epoch_measure_clock(struct epoch *epoch, uint64_t now)
{
	struct clock_measure *measure = &epoch->measure;

	if (!epoch->known || epoch->clock_told || epoch->ticks == measure->to_ticks)
		return;
	if (!measure->from || now - measure->to > 10 * MEASURE_LATE_MS * NS_PER_MS)
		*measure = (struct clock_measure) { .from = now, .from_ticks = epoch->ticks };
	measure->to = now;
	measure->to_ticks = epoch->ticks;
}

bool epoch_measured_clock(const struct epoch *epoch, uint64_t *hz, uint64_t *error)
{
	const struct clock_measure *measure = &epoch->measure;
	uint64_t took = measure->to - measure->from;

	if (epoch->clock_told || took < 10 * MEASURE_LATE_MS * NS_PER_MS)
		return false;
	*hz = (uint64_t)((unsigned __int128)(measure->to_ticks - measure->from_ticks) * NS_PER_SECOND / took);
	*error = (uint64_t)((unsigned __int128)*hz * MEASURE_LATE_MS * NS_PER_MS / took);
	return true;
}

/* The folder of a path, with its slash, in fresh memory; ".": the path has none. */
static char *folder_of(const char *path)
{
	const char *end = strrchr(path, '/');

	return end ? util_copy(path, (size_t)(end + 1 - path)) : util_copy(".", 1);
}

/* It counts where it ends. `stack`: as in struct trace_span. */
static void add_wait(const struct epoch *epoch, const struct trace_span *wait, struct store *store, uint32_t stack)
{
	const struct store_key key = {
		.stack = stack - 1,		/* not told: STACKS_NONE */
		.who = {
			.thread = (uint32_t)wait->thread, .cpu = (uint16_t)wait->cpu, .mode = MODE_KERNEL,
			.context = CONTEXT_TASK,
			.process = threads_owner(epoch->inputs.threads, (uint32_t)wait->thread, EVENT_KERNEL),
		},
	};
	uint64_t left = (wait->end - wait->begin + WAIT_NS / 2) / WAIT_NS;

	for (; left > UINT32_MAX; left -= UINT32_MAX)
		store_add(store, wait->end, &key, UINT32_MAX);
	store_add(store, wait->end, &key, (uint32_t)left);
}

static void take_wait(void *context, const struct trace_span *wait)
{
	const struct epoch *epoch = context;

	add_wait(epoch, wait, epoch->inputs.waits, wait->stack);
	add_wait(epoch, wait, epoch->inputs.wakes, wait->woken_at);
}

static void take_sure(void *context, uint64_t time, uint32_t cpu)
{
	const struct epoch *epoch = context;

	if (epoch->log)
		trace_log_mark(sample_log_traces(epoch->log), time, cpu, TRACE_SURE, 0);
}

struct epoch *epoch_new(const uint8_t *boot_id, const char *image, struct budget *budget)
{
	struct epoch *epoch = util_alloc(sizeof(*epoch));

	atomic_init(&epoch->holders, 1);
	memcpy(epoch->boot_id, boot_id, sizeof(epoch->boot_id));
	epoch->clock_hz = EVENT_CLOCK_HZ;
	epoch->sampler = EVENT_NONE;
	epoch->retry_pause = (uint64_t)RETRY_MS * NS_PER_MS;
	epoch->folders[0] = image ? folder_of(image) : NULL;
	epoch->inputs = (struct query_inputs) {
		.budget = budget_hold(budget),
		.kernel = epoch->kernel,
		.store = store_new(budget, STORE_COUNTS_MAX),
		.waits = store_new(budget, WAIT_COUNTS_MAX),
		.wakes = store_new(budget, WAIT_COUNTS_MAX),
		.stacks = stacks_new(budget),
		.symbols = symbols_new(budget),
		.threads = threads_new(budget),
	};
	epoch->query = query_new(&epoch->inputs);
	epoch->code = kernel_code_new(epoch->inputs.symbols);
	epoch->events = guest_events_new(epoch->inputs.budget);
	store_period(epoch->inputs.waits, WAIT_NS);
	store_period(epoch->inputs.wakes, WAIT_NS);
	epoch->trace = trace_new(epoch->inputs.budget, take_wait, take_sure, epoch);
	epoch->memory = guest_memory_new(epoch->inputs.budget);
	epoch->reading = kernel_reading_new(epoch->inputs.symbols, epoch->memory, epoch->inputs.budget);
	epoch->watch = kernel_watch_new(epoch->inputs.symbols, epoch->memory, (const char *const *)epoch->folders,
		epoch->inputs.budget);
	epoch->held = raw_samples_new(&(struct raw_inputs) {
		.symbols = epoch->inputs.symbols, .code = epoch->code, .reading = epoch->reading, .watch = epoch->watch,
		.budget = epoch->inputs.budget,
	});
	epoch->listings = listings_new(epoch->inputs.symbols, epoch->inputs.budget);
	util_print(epoch->remark, sizeof(epoch->remark),
		"no names: no kernel file is known; give --kernel ELF");
	return epoch;
}

struct epoch *epoch_hold(struct epoch *epoch)
{
	if (epoch)
		atomic_fetch_add_explicit(&epoch->holders, 1, memory_order_relaxed);
	return epoch;
}

static void epoch_free(struct epoch *epoch)
{
	query_free(epoch->query);
	raw_samples_free(epoch->held);
	kernel_code_free(epoch->code);
	kernel_watch_free(epoch->watch);
	kernel_reading_free(epoch->reading);
	guest_memory_free(epoch->memory);
	guest_events_free(epoch->events);
	trace_free(epoch->trace);
	listings_free(epoch->listings);
	symbols_free(epoch->inputs.symbols);
	threads_free(epoch->inputs.threads);
	sample_log_release(epoch->log);
	stacks_free(epoch->inputs.stacks);
	store_free(epoch->inputs.store);
	store_free(epoch->inputs.waits);
	store_free(epoch->inputs.wakes);
	budget_give(epoch->inputs.budget, cost_of(epoch->cpus_seen));
	budget_release(epoch->inputs.budget);
	free(epoch->folders[0]);
	free(epoch->cpus);
	free(epoch);
}

static void *reap(void *epoch)
{
	sigset_t signals;

	sigfillset(&signals);			/* signals are for the threads that handle them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	epoch_free(epoch);
	return NULL;
}

/*
 * Freeing may wait for the worker that reads the lines of a large file. So a thread of its own frees the epoch. If
 * none can be started, the caller does.
 */
void epoch_release(struct epoch *epoch)
{
	pthread_t thread;

	/* Each holder releases. The last one acquires, and frees only after all others have stopped reading. */
	if (!epoch || atomic_fetch_sub_explicit(&epoch->holders, 1, memory_order_acq_rel) != 1)
		return;
	if (pthread_create(&thread, NULL, reap, epoch) == 0)
		pthread_detach(thread);
	else
		epoch_free(epoch);
}

uint64_t epoch_ns(const struct epoch *epoch, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * NS_PER_SECOND / epoch->clock_hz;

	return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;	/* the largest time that store.h takes */
}

uint64_t epoch_left_out(const struct epoch *epoch)
{
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < epoch->cpus_seen; i++)
		pairs += epoch->cpus[i].left_out - epoch->cpus[i].left_out_before;
	return pairs;
}

uint64_t epoch_now(const struct epoch *epoch)
{
	return epoch->known ? epoch_ns(epoch, epoch->ticks) : 0;
}

void epoch_ticks(struct epoch *epoch, uint64_t ticks)
{
	if (ticks > epoch->ticks)
		epoch->ticks = ticks;
	if (!epoch->known)
		return;
	store_advance(epoch->inputs.store, epoch_now(epoch));
	store_advance(epoch->inputs.waits, epoch_now(epoch));
	store_advance(epoch->inputs.wakes, epoch_now(epoch));
}

/* The entry of a CPU; a new one is made. NULL: the number is too large, or the budget has no room for it. */
static struct epoch_cpu *cpu_at(struct epoch *epoch, uint32_t cpu)
{
	if (cpu >= EVENT_CPUS)
		return NULL;
	if (cpu >= epoch->cpus_seen) {
		if (!budget_take(epoch->inputs.budget, cost_of(cpu + 1) - cost_of(epoch->cpus_seen))) {
			epoch->cpus_refused++;
			return NULL;
		}
		if (cpu >= epoch->cpu_room) {
			epoch->cpu_room = cpu + 1 + epoch->cpus_seen;
			epoch->cpus = util_grow(epoch->cpus, epoch->cpu_room, sizeof(*epoch->cpus));
		}
		memset(epoch->cpus + epoch->cpus_seen, 0,
			(cpu + 1 - epoch->cpus_seen) * sizeof(*epoch->cpus));
		epoch->cpus_seen = cpu + 1;
	}
	return &epoch->cpus[cpu];
}

static void copy_text(char *to, size_t size, struct text text)
{
	char *printable = util_printable(text.bytes, text.size);

	util_print(to, size, "%s", printable);
	free(printable);
}

/* Of Linux, the hook gives each thread's number but the idle task's. From outside, a thread may just not be known. */
static void name_idle(struct epoch *epoch)
{
	bool hook = epoch->status_known && !sampler_is_outside(epoch->status.sampler);

	threads_idle(epoch->inputs.threads, hook && strcmp(epoch->kernel, "Linux") == 0 ? "swapper" : NULL);
}

static void take_guest(struct epoch *epoch, const struct guest *guest)
{
	struct symbols *symbols = epoch->inputs.symbols;
	bool first = !epoch->known;

	copy_text(epoch->kernel, sizeof(epoch->kernel), guest->kernel);
	copy_text(epoch->version, sizeof(epoch->version), guest->version);
	copy_text(epoch->arch, sizeof(epoch->arch), guest->arch);
	epoch->cpu_count = guest->cpus < EVENT_CPUS ? guest->cpus : EVENT_CPUS;
	epoch->clock_told = epoch->clock_told || (first && guest->clock_hz >= EVENT_CLOCK_LEAST_HZ);
	if (first && epoch->clock_told)
		epoch->clock_hz = guest->clock_hz;
	epoch->began = guest->epoch_ns;
	epoch->known = true;
	name_idle(epoch);
	if (!cpu_at(epoch, epoch->cpu_count ? epoch->cpu_count - 1 : 0))
		epoch->cpu_count = epoch->cpus_seen;

	if (symbols_wrong_arch(symbols, arch_id_named(epoch->arch))) {
		symbols_drop_kernel(symbols);
		snprintf(epoch->refused, sizeof(epoch->refused),
			"the kernel's file is not of this guest: it is for another CPU architecture than %s; "
			"give the right one by --kernel ELF", epoch->arch);
	}
	if (symbols_wrong_build(symbols, guest->build_id.bytes, guest->build_id.size)) {
		symbols_drop_kernel(symbols);
		snprintf(epoch->refused, sizeof(epoch->refused),
			"the kernel's file is not of the kernel that runs: their build-ids differ; "
			"give the right one by --kernel ELF");
	}
	symbols_set_build(symbols, guest->build_id.bytes, guest->build_id.size, epoch->version);
	/* Only once: the search takes long, and a guest may send its facts as often as it likes. */
	if (first && guest->anchor.size) {
		char *anchor = util_copy(guest->anchor.bytes, guest->anchor.size);

		symbols_set_anchor(symbols, anchor, guest->anchor_address);
		free(anchor);
	}
	epoch_ticks(epoch, epoch->ticks);
}

void epoch_introduce(struct epoch *epoch, const struct guest *guest, const struct beginning *beginning)
{
	epoch->beginning = *beginning;
	epoch->played = true;
	take_guest(epoch, guest);
}

static bool traces_memory(const struct epoch *epoch)
{
	return guest_events_on(epoch->events, KTOP_EVENT_memory_alloc) &&
		guest_events_on(epoch->events, KTOP_EVENT_memory_free);
}

/*
 * Other events are traced than before. Nothing was, as far as is known, before the guest has told its clock. `goes_on`:
 * those that are traced now as before were so in between.
 */
static void trace_is_another(struct epoch *epoch, uint64_t ticks, bool goes_on)
{
	bool memory = traces_memory(epoch);

	if (epoch->known)
		trace_changed(epoch->trace, epoch_ns(epoch, ticks),
			!(goes_on && memory && (epoch->memory_traced || !epoch->tracing_told)));
	epoch->memory_traced = memory;
	epoch->tracing_told = true;
	if (epoch->known && epoch->log)
		trace_log_mark(sample_log_traces(epoch->log), epoch_ns(epoch, ticks), 0, TRACE_CHANGED, 0);
}

static void take_status(struct epoch *epoch, const struct status *status, uint64_t time)
{
	/* Tracing goes off with profiling. It may be on again for a moment before the status says so. */
	if (epoch->status_known && epoch->status.running && !status->running)
		trace_is_another(epoch, time, false);
	copy_text(epoch->note, sizeof(epoch->note), status->note);
	epoch->status = *status;
	epoch->status.note = (struct text) { .bytes = epoch->note, .size = strlen(epoch->note) };
	epoch->status_known = true;
	if (status->running && (status->sampler != SAMPLER_NONE || !epoch->sampled.running ||
			epoch->sampled.sampler == SAMPLER_NONE)) {
		epoch->sampled = *status;
		epoch->sampled.note = (struct text) { 0 };
	}
	guest_events_traced_before(epoch->events, status);
	epoch->sampler = status->running && status->sampler == SAMPLER_NMI ?
		status->sampler_cpu : EVENT_NONE;
	epoch->period = status->rate ? NS_PER_SECOND / status->rate : 0;
	store_period(epoch->inputs.store, epoch->period);
	name_idle(epoch);
}

/* Adds what this CPU's counts have grown by. The CPU that paces the others is left out: it is not sampled. */
static void add_growth(struct epoch *epoch, const struct epoch_cpu *cpu,
	const struct cpu_status *status)
{
	const struct cpu_status *before = &cpu->told[status->stream];

	if (before->size == 0 || status->taken < before->taken || status->span < before->span)
		return;
	epoch->counted++;
	if (status->stream == STREAM_TRACE)
		epoch->traced += status->taken - before->taken;
	if (status->stream != STREAM_SAMPLES || status->cpu == epoch->sampler)
		return;
	epoch->taken += status->taken - before->taken;
	epoch->span += status->span - before->span;
}

static void take_cpu_status(struct epoch *epoch, const struct cpu_status *status)
{
	struct epoch_cpu *cpu = cpu_at(epoch, status->cpu);

	if (!cpu)
		return;
	add_growth(epoch, cpu, status);
	if (status->stream == STREAM_TRACE)
		epoch->tracing += (uint32_t)status->enabled - cpu->told[STREAM_TRACE].enabled;
	if (cpu->told[status->stream].size == 0)
		cpu->lost_before[status->stream] = status->lost;
	cpu->told[status->stream] = *status;
}

static void take_left_out(struct epoch_cpu *cpu, uint64_t pairs)
{
	if (!cpu || (cpu->leaves_out && pairs < cpu->left_out))
		return;
	if (!cpu->leaves_out)
		cpu->left_out_before = pairs;
	cpu->leaves_out = true;
	cpu->left_out = pairs;
}

/* With other filters, the ends of what had begun may not be told, or no beginning of what ends. */
static void take_filters(struct epoch *epoch, struct text text, uint64_t ticks)
{
	char before[sizeof(epoch->filters)];

	memcpy(before, epoch->filters, sizeof(before));
	copy_text(epoch->filters, sizeof(epoch->filters), text);
	if (strcmp(before, epoch->filters) != 0)
		trace_is_another(epoch, ticks, false);
}

static size_t take_keys(uint8_t keys[EPOCH_KEYS], struct text codes)
{
	size_t count = codes.size <= EPOCH_KEYS ? codes.size : 0;

	memcpy(keys, codes.bytes, count);
	return count;
}

static uint32_t space_of(struct epoch *epoch, const struct sample *sample)
{
	if (!sample->user_count)
		return EVENT_NONE;
	/* Not even its page tables are known: nothing of this program has a name. */
	if (sample->process == EVENT_KERNEL)
		return LAYOUTS_UNKNOWN;
	return symbols_space(epoch->inputs.symbols, sample->process);
}

/* The store gives damaged samples up, and so does the log. */
static void log_sample(struct epoch *epoch, uint64_t time, const struct store_key *key, uint32_t weight)
{
	if (epoch->log && key->who.cpu < EVENT_CPUS && key->who.mode < MODES && key->who.context < CONTEXTS)
		sample_log_add(epoch->log, time, key->stack, &key->who, weight, 1, epoch->period);
}

/* The sample is in `stack`, since the event of a raw sample has none. */
static inline void take_sample(struct epoch *epoch, const struct event *event,
	const struct stack_key *stack)
{
	const struct sample *sample = stack->sample;
	struct store_key key = {
		.stack = STACKS_NONE,
		.who = {
			.thread = sample->thread,
			.process = sample->process,
			.cpu = (uint16_t)event->cpu,
			.mode = (uint8_t)sample->mode,
			.context = (uint8_t)sample->context,
		},
	};

	if (!epoch->known) {
		epoch->untimed += sample->weight;
		return;
	}
	threads_seen(epoch->inputs.threads, sample->thread, sample->process);
	key.stack = stacks_intern(epoch->inputs.stacks, stack);
	store_add(epoch->inputs.store, epoch_ns(epoch, event->time), &key, sample->weight);
	log_sample(epoch, epoch_ns(epoch, event->time), &key, sample->weight);
}

static void take_missed(struct epoch *epoch, const struct event *event)
{
	if (epoch->known)
		store_missed(epoch->inputs.store, epoch_ns(epoch, event->time), event->cpu,
			event->missed.ticks);
	else
		epoch->untimed += event->missed.ticks;
}

/* Before the guest has told of itself, the time is not known. */
static void add_trace(struct epoch *epoch, const struct event *event)
{
	uint64_t time = epoch_ns(epoch, event->time);
	uint32_t stack = epoch->known ? trace_add(epoch->trace, time, event) : 0;

	if (epoch->log)
		trace_log_add(sample_log_traces(epoch->log), time, event, stack);
}

/* What the hook has held is taken as the events that it was, each at its time. */
static void take_trace(struct epoch *epoch, const struct event *event)
{
	struct event one;

	if (!event->trace.held) {
		add_trace(epoch, event);
		return;
	}
	one = *event;
	one.time -= event->trace.ago < event->time ? event->trace.ago : event->time;
	add_trace(epoch, &one);
	if (!event->trace.end)
		return;
	one.time = event->time;
	one.trace.held = false;
	one.trace.kind = event->trace.end;
	one.trace.fields = event->trace.end_fields;
	add_trace(epoch, &one);
}

static void take_event_stack(struct epoch *epoch, const struct event *event)
{
	struct stack_key key;

	if (!epoch->known)
		return;
	stacks_key(epoch->inputs.stacks, &event->stack.sample, EVENT_NONE, &key);
	trace_stack(epoch->trace, epoch_ns(epoch, event->time), event->cpu, event->stack.event,
		stacks_intern(epoch->inputs.stacks, &key));
}

/* Takes any other event. */
static void take_fact(struct epoch *epoch, const struct event *event)
{
	uint64_t refused = budget_refused(epoch->inputs.budget);
	struct memory_bytes memory;

	if (!epoch->played)
		beginning_saw(&epoch->beginning, event);
	switch (event->kind) {
	case EVENT_GUEST:
		take_guest(epoch, &event->guest);
		break;
	case EVENT_PROCESS:
		threads_process(epoch->inputs.threads, event->process.process, event->process.name);
		break;
	case EVENT_THREAD:
		threads_thread(epoch->inputs.threads, event->thread.thread, event->thread.process,
			event->thread.name);
		break;
	case EVENT_OBJECT:
		symbols_map(epoch->inputs.symbols, &event->object,
			(const char *const *)epoch->folders);
		break;
	case EVENT_SYMBOL:
		symbols_tell(epoch->inputs.symbols, event->symbol.address, event->symbol.size,
			event->symbol.name);
		/* A symbol of one byte is no function. It only says where the kernel runs. */
		epoch->told = epoch->told || event->symbol.size > 1;
		break;
	case EVENT_MEMORY:
		memory = event->memory;
		memory.time = epoch->known ? epoch_ns(epoch, event->time) : 0;
		if (guest_memory_take(epoch->memory, &memory))
			kernel_watch_wake(epoch->watch, memory.bytes.size);
		break;
	case EVENT_STATUS:
		take_status(epoch, &event->status, event->time);
		break;
	case EVENT_CPU_STATUS:
		take_cpu_status(epoch, &event->cpu_status);
		break;
	case EVENT_LEFT_OUT:
		take_left_out(cpu_at(epoch, event->left_out.cpu), event->left_out.pairs);
		break;
	case EVENT_FILTERS:
		take_filters(epoch, event->filters, event->time);
		break;
	case EVENT_TABLE:
		if (event->table.kind < TABLES)
			epoch->tables[event->table.kind] = event->table;
		epoch->tables_told = true;
		break;
	case EVENT_KEYS:
		epoch->keys_on_count = take_keys(epoch->keys_on, event->keys.on);
		epoch->keys_off_count = take_keys(epoch->keys_off, event->keys.off);
		break;
	case EVENT_DESCRIPTOR:
		guest_events_describe(epoch->events, event);
		break;
	case EVENT_NUMBER:
		guest_events_number(epoch->events, event);
		break;
	case EVENT_ARGUMENTS:
		guest_events_tell_arguments(epoch->events, event);
		break;
	case EVENT_TRACING:
		if (guest_events_traced(epoch->events, event))
			trace_is_another(epoch, event->time, true);
		break;
	default:
		break;
	}
	if (budget_refused(epoch->inputs.budget) != refused)
		epoch->starved = true;
}

/* A sample from outside brings its thread's name along. */
static void take_name(struct epoch *epoch, const struct sample *sample)
{
	if (!sample->name.size || sample->thread == EVENT_NONE)
		return;
	threads_thread(epoch->inputs.threads, sample->thread, sample->process, sample->name);
}

/* Sampled, or traced, before `since` (beginning.h). */
static bool is_leftover(const struct event *event, uint64_t since)
{
	return event->time < since && (event->kind == EVENT_SAMPLE || event->kind == EVENT_RAW_SAMPLE ||
		event->kind == EVENT_MISSED || event->kind == EVENT_TRACE || event->kind == EVENT_STACK);
}

static inline void take_event(struct epoch *epoch, const struct event *event,
	const struct stack_key *stack)
{
	if (event->kind == EVENT_SAMPLE || event->kind == EVENT_RAW_SAMPLE) {
		take_name(epoch, stack->sample);
		take_sample(epoch, event, stack);
	} else if (event->kind == EVENT_MISSED)
		take_missed(epoch, event);
	else if (event->kind == EVENT_TRACE)
		take_trace(epoch, event);
	else if (event->kind == EVENT_STACK)
		take_event_stack(epoch, event);
	else
		take_fact(epoch, event);
}

static inline void key_of(struct epoch *epoch, const struct sample *sample, struct stack_key *stack)
{
	uint32_t space = space_of(epoch, sample);

	if (sample->kernel_count && sample->exact & 1 && sample->mode != MODE_IDLE)
		symbols_saw(epoch->inputs.symbols, EVENT_KERNEL, sample_frame(sample->kernel, 0));
	else if (!sample->kernel_count && sample->user_count && sample->user_exact)
		symbols_saw(epoch->inputs.symbols, space, sample_frame(sample->user, 0));
	stacks_key(epoch->inputs.stacks, sample, space, stack);
}

/* Of a sample from outside: what it tells of the kernel and its programs. True: the files of its process are sought. */
static bool learn(struct epoch *epoch, const struct sample *sample, uint64_t time)
{
	symbols_set_board(epoch->inputs.symbols, sample->arch);
	boot_marks_saw(&epoch->marks, sample, time);
	boot_marks_tell_early(&epoch->marks, sample, epoch->inputs.symbols);
	if (sample->mode == MODE_KERNEL && sample->kernel_count && sample->exact & 1)
		kernel_reading_saw(epoch->reading, sample->arch, sample_frame(sample->kernel, 0));
	return kernel_watch_saw(epoch->watch, sample, sample->name);
}

/* Walks its stack. False: names and tables are still to come, so it waits. */
static bool walk(struct epoch *epoch, struct event *event, struct raw_stack *stack)
{
	raw_samples_met(epoch->held, &event->raw);
	raw_samples_walk(epoch->held, &event->raw, stack);
	return !raw_samples_keep(epoch->held, event, stack,
		event->raw.of_program || learn(epoch, &stack->sample, event->time));
}

static void learn_walked(struct epoch *epoch, const struct event *event)
{
	const struct sample *sample = &event->sample;
	const struct raw_sample raw = {
		.process = sample->process, .thread = sample->thread, .name = sample->name, .space = sample->space,
	};

	raw_samples_met(epoch->held, &raw);
	learn(epoch, sample, event->time);
}

enum raw_state epoch_walk(struct epoch *epoch, struct event *event, uint64_t look, struct raw_stack *stack)
{
	raw_samples_walk(epoch->held, &event->raw, stack);
	return raw_samples_state(epoch->held, event, stack, look, event->raw.of_program ||
		kernel_watch_wants(epoch->watch, &stack->sample, event->raw.name));
}

void epoch_events(struct epoch *epoch, const struct event *events, size_t count)
{
	struct stack_key stacks[DECODE_EVENTS];
	struct raw_stack raw[DECODE_EVENTS];
	uint64_t since = beginning_since(&epoch->beginning, epoch->clock_hz);
	bool passed[DECODE_EVENTS] = { false };		/* these are not taken, or not yet */

	if (cpu_at(epoch, events[0].cpu))		/* all events of a call come from one CPU */
		guest_events_count(epoch->events, events, count);
	/* All keys are made before the first is used: making a key fetches the memory that its use needs (stacks.h). */
	for (size_t i = 0; i < count; i++) {
		passed[i] = is_leftover(&events[i], since);
		if (passed[i]) {
			epoch->leftovers++;
		} else if (events[i].kind == EVENT_SAMPLE) {
			if (events[i].sample.walked)
				learn_walked(epoch, &events[i]);
			key_of(epoch, &events[i].sample, &stacks[i]);
		} else if (events[i].kind == EVENT_RAW_SAMPLE) {
			struct event event = events[i];

			passed[i] = !walk(epoch, &event, &raw[i]);
			if (!passed[i])
				key_of(epoch, &raw[i].sample, &stacks[i]);
		}
	}
	for (size_t i = 0; i < count; i++)
		if (!passed[i])
			take_event(epoch, &events[i], &stacks[i]);
}

static void take_held(void *context, const struct event *event, struct raw_stack *stack)
{
	struct epoch *epoch = context;
	struct stack_key key;

	key_of(epoch, &stack->sample, &key);
	take_event(epoch, event, &key);
}

bool epoch_walk_held(struct epoch *epoch, bool all)
{
	return raw_samples_step(epoch->held, all, take_held, epoch);
}

void epoch_over(struct epoch *epoch)
{
	trace_end(epoch->trace);
}

bool epoch_awaits(const struct epoch *epoch, uint64_t before)
{
	unsigned __int128 ticks = (unsigned __int128)before * epoch->clock_hz / NS_PER_SECOND;

	return raw_samples_before(epoch->held, ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX);
}

void epoch_packet(struct epoch *epoch, const struct packet *packet)
{
	if (packet->stream != STREAM_TRACE || !epoch->known)
		return;
	trace_packet(epoch->trace, &(struct trace_packet) {
		.cpu = packet->cpu, .begin = epoch_ns(epoch, packet->begin), .end = epoch_ns(epoch, packet->end),
		.lost = packet->lost, .bytes = packet->content,
		.ring = packet->cpu < epoch->cpus_seen ? epoch->cpus[packet->cpu].told[STREAM_TRACE].size : 0,
	});
	if (epoch->log && packet->lost)
		trace_log_mark(sample_log_traces(epoch->log), epoch_ns(epoch, packet->begin), packet->cpu, TRACE_LOST,
			packet->lost);
}

bool epoch_log_begin(struct epoch *epoch)
{
	if (epoch->log)
		return false;
	epoch->log = sample_log_new(epoch->inputs.budget, unnamed_file_folder());
	return true;
}

struct sample_log *epoch_log_end(struct epoch *epoch)
{
	struct sample_log *log = epoch->log;

	epoch_walk_held(epoch, true);
	epoch->log = NULL;
	return log;
}

/* NULL: the guest told its version itself, or no version is found. */
static const struct linux_kernel *versioned(const struct epoch *epoch)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(epoch->inputs.symbols);

	return kernel && kernel->version[0] && epoch->known && !epoch->version[0] ? kernel : NULL;
}

const char *epoch_kernel(const struct epoch *epoch)
{
	return versioned(epoch) ? "Linux" : epoch->kernel;
}

const char *epoch_version(const struct epoch *epoch)
{
	const struct linux_kernel *kernel = versioned(epoch);

	return kernel ? kernel->version : epoch->version;
}

/* The hook of another kernel than Linux may have a clock that does not begin anew with a boot; so has the gdb stub. */
static uint64_t reset_of(const struct epoch *epoch)
{
	bool goes_on = epoch->before && epoch->beginning.known && epoch->beginning.at >= epoch->before;

	if (!goes_on || (epoch->played && epoch->status.sampler == SAMPLER_STUB))
		return 0;
	return epoch_ns(epoch, epoch->before);
}

struct uptime epoch_uptime(const struct epoch *epoch)
{
	const struct kernel_uptime own = kernel_watch_uptime(epoch->watch);
	bool stub = epoch->status.sampler == SAMPLER_STUB, outside = sampler_is_outside(epoch->status.sampler);
	uint64_t reset = outside || strcmp(epoch->kernel, "Linux") != 0 ? reset_of(epoch) : 0;
	struct uptime uptime = {
		.by = stub && !reset ? UPTIME_UNKNOWN : outside || reset ? UPTIME_MACHINE : UPTIME_GUEST,
		.begun = (int64_t)reset, .reset = (int64_t)reset,
		.zero = (int64_t)(reset / NS_PER_SECOND * NS_PER_SECOND),
	};

	/* A boot that was sampled before its kernel began has all its times from the machine's reset on. */
	if (own.known && !(epoch->marks.any && (int64_t)epoch_ns(epoch, epoch->marks.first) < own.zero))
		uptime.zero = own.zero;
	else
		uptime.both = own.known && uptime.by == UPTIME_MACHINE;
	if (own.known) {
		uptime.by = UPTIME_GUEST;
		uptime.begun = own.begun;
	}
	return uptime;
}

struct boot_times epoch_boot(const struct epoch *epoch)
{
	struct boot_times times = boot_marks_tell(&epoch->marks, epoch->inputs.symbols);

	/* The boot was not sampled from its beginning, or the clock began long before it: its times say nothing. */
	if (epoch_ns(epoch, epoch->marks.first) > BOOT_MARKS_LATE_S * NS_PER_SECOND)
		return (struct boot_times) { .known = { false } };
	for (int phase = 0; phase < PHASES; phase++)
		times.at[phase] = epoch_ns(epoch, times.at[phase]);
	return times;
}

uint64_t epoch_kept_from(const struct epoch *epoch)
{
	uint64_t samples = store_oldest(epoch->inputs.store), spans = span_rows_first(trace_rows(epoch->trace));

	return spans && spans < samples ? spans : samples;
}

/* ---- rates ---- */

void meter_clear(struct meter *meter)
{
	meter->used = 0;
}

static bool is_behind(const struct meter_point *point, const struct meter_point *last)
{
	return point->time < last->time || point->taken < last->taken || point->span < last->span ||
		point->traced < last->traced;
}

void meter_add(struct meter *meter, const struct meter_point *point)
{
	size_t last = meter->used - 1;

	if (meter->used && is_behind(point, &meter->points[last]))
		meter->used = 0;
	if (meter->used && point->time - meter->points[last].time <
			(uint64_t)METER_STEP_MS * NS_PER_MS)
		return;
	if (meter->used == METER_POINTS)
		memmove(meter->points, meter->points + 1,
			--meter->used * sizeof(meter->points[0]));
	meter->points[meter->used++] = *point;
}

/* What there is more at the newest point than at the oldest one of the window; all 0 while that is not known. */
static struct meter_point growth_in(const struct meter *meter, uint64_t window)
{
	size_t last = meter->used - 1, first = 0;
	const struct meter_point *to, *from;

	if (meter->used < 2)
		return (struct meter_point) { .time = 0 };
	while (window && first + 1 < last &&
			meter->points[last].time - meter->points[first].time > window)
		first++;
	to = &meter->points[last];
	from = &meter->points[first];
	return (struct meter_point) { .time = to->time - from->time, .taken = to->taken - from->taken,
		.span = to->span - from->span, .traced = to->traced - from->traced,
		.counted = to->counted - from->counted };
}

static double per_second(uint64_t count, uint64_t ns)
{
	return ns ? (double)count * (double)NS_PER_SECOND / (double)ns : 0;
}

double meter_rate(const struct meter *meter, uint64_t window)
{
	struct meter_point growth = growth_in(meter, window);

	return growth.span ? per_second(growth.taken, growth.span) : -1;
}

double meter_traced(const struct meter *meter, uint64_t window)
{
	struct meter_point growth = growth_in(meter, window);

	return growth.counted ? per_second(growth.traced, growth.time) : -1;
}
