/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "kernel_reading.h"
#include "kernel_watch.h"
#include "raw_samples.h"

enum {
	SHARE = 4,			/* they take 1 / SHARE of the budget at most */
	TURN = 512,			/* samples that are looked at in one step */
	OWNERS = 1024,			/* page tables whose process is kept; a power of two */
	LOOKS_IN_VAIN = 3,		/* whole looks since its code ran: then nobody finds where the kernel is */
	LOOKS_NAMELESS = 2,		/* after so many looks, samples without a thread go on to have none */
	NAMED = 256,			/* with so many samples that tell their thread, programs that run were met */
	NAMELESS = 512,			/* with so many others, although threads can be told, they cannot be */
	PAGE_BITS = 12,			/* page tables begin at multiples of 4 KiB */
};

struct held {
	struct event event;		/* its bytes follow */
	size_t size;			/* of all, bytes */
	uint64_t look;			/* the number of the first look that began after the sample */
	bool wanted;
};

struct owner {
	uint64_t space;			/* 0: none is kept here */
	uint32_t process;		/* EVENT_NONE: more than one had these tables */
};

struct known {				/* of it depends what still waits */
	uint64_t generation, looks;	/* of the symbols; that have ended */
	bool comes, owners, reads;
};

struct raw_samples {
	struct raw_inputs in;
	struct held **list;		/* in the order in which they came; NULL: given already */
	uint32_t count, room, at;	/* `at`: the next one to be looked at; `count`: the pass is over */
	struct known known;		/* when this pass began */
	bool kernel_file;		/* it is being read */
	bool kernel_ran;		/* code that may be the kernel's was sampled */
	uint64_t before_kernel;		/* whole looks that had ended then */
	size_t bytes;
	struct raw_lost lost[RAW_LOSSES];
	struct owner *owners;		/* OWNERS entries */
	uint32_t named, nameless;	/* samples with and without their thread, since that can be told */
};

/* ---- walking ---- */

static void take_registers(const struct raw_sample *raw, struct registers *registers)
{
	uint64_t value;

	for (uint32_t i = 0; i < registers->arch->registers; i++)
		if (raw_sample_register(raw, i, &value))
			registers_set(registers, i, value);
}

/* If the raw sample does not tell the mode, the frames do: a sample with kernel frames was taken in the kernel. */
static enum mode mode_of(const struct raw_sample *raw, const struct unwound *frames)
{
	if (raw->mode < MODES)
		return raw->mode;
	return frames->kernel.count ? MODE_KERNEL : MODE_USER;
}

/*
 * A CPU in the kernel's mode runs no program. Code that is not the kernel's is a boot loader's or the
 * firmware's. It has one frame, since how it keeps its stack is not known.
 */
static void take_for_kernel(struct unwound *frames)
{
	if (frames->kernel.count || !frames->user.count)
		return;
	frames->kernel = frames->user;
	frames->kernel.count = 1;
	frames->kernel.exact = 1;
	frames->user = (struct unwound_frames) { .count = 0 };
}

/*
 * Where the thread is not known, the root of the page tables, as a page number, stands for the process. Linux numbers
 * its threads from 1 on, and has an idle one for each CPU, of number 0, which belongs to no process. While the CPU is
 * idle no thread runs.
 */
static void take_task(const struct raw_sample *raw, struct sample *sample)
{
	if (!raw->name.size) {
		sample->process = raw->owner ? raw->owner :
			raw->space ? (uint32_t)(raw->space >> PAGE_BITS) : EVENT_KERNEL;
		sample->thread = EVENT_NONE;
	} else {
		sample->process = raw->thread ? raw->process : EVENT_KERNEL;
		sample->thread = raw->thread || raw->mode != MODE_IDLE ? raw->thread : EVENT_NONE;
	}
}

/* Only the first user frame can be exact: the hook tells whether it is. Without registers, it has walked all. */
static void read_program(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack)
{
	const struct arch *arch = arch_get(raw->arch);
	struct registers registers = { .arch = arch };
	const struct unwind_code known = kernel_code_now(code, arch, true, raw->told.process);
	struct stack_memory memory = { .count = 1 };

	stack->sample = raw->told;
	if (!raw->register_count)
		return;
	take_registers(raw, &registers);
	memory.pieces[0] = (struct stack_piece) {
		.address = registers.values[arch->sp], .bytes = (const uint8_t *)raw->stack.bytes,
		.size = raw->stack.size,
	};
	unwind(&registers, &known, &memory, &stack->frames);
	stack->sample.user_cut = stack->frames.user.cut;
	stack->sample.user_count = stack->frames.user.count;
	stack->sample.user = stack->frames.user.frames;
}

/* Of the user frames only the first can be exact. */
static void read_cpu(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack)
{
	const struct arch *arch = arch_get(raw->arch);
	struct registers registers = { .arch = arch };
	struct stack_memory memory = { .count = 3 };
	struct unwound *frames = &stack->frames;
	struct sample *sample = &stack->sample;
	struct unwind_code known;

	*sample = (struct sample) {
		.weight = raw->weight, .walked = true, .arch = raw->arch, .space = raw->space, .name = raw->name,
	};
	take_task(raw, sample);
	known = kernel_code_now(code, arch, raw->mode == MODE_USER, sample->process);
	take_registers(raw, &registers);
	memory.pieces[0] = (struct stack_piece) {
		.address = raw->stack_address, .bytes = (const uint8_t *)raw->stack.bytes, .size = raw->stack.size,
	};
	memory.pieces[1] = (struct stack_piece) {
		.address = raw->linked_address, .bytes = (const uint8_t *)raw->linked.bytes, .size = raw->linked.size,
	};
	memory.pieces[2] = (struct stack_piece) {
		.address = raw->user_address, .bytes = (const uint8_t *)raw->user.bytes, .size = raw->user.size,
	};
	unwind(&registers, &known, &memory, frames);
	if (raw->mode == MODE_KERNEL || raw->mode == MODE_IDLE)
		take_for_kernel(frames);
	kernel_code_saw(code, &frames->kernel);
	sample->mode = mode_of(raw, frames);
	sample->kernel_cut = frames->kernel.cut;
	sample->user_cut = frames->user.cut;
	sample->exact = frames->kernel.exact;
	sample->user_exact = frames->user.exact & 1;
	sample->kernel_count = frames->kernel.count;
	sample->user_count = frames->user.count;
	sample->kernel = frames->kernel.frames;
	sample->user = frames->user.frames;
}

void raw_samples_read(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack)
{
	if (raw->of_program)
		read_program(raw, code, stack);
	else
		read_cpu(raw, code, stack);
}

/* ---- those that wait ---- */

struct raw_samples *raw_samples_new(const struct raw_inputs *inputs)
{
	struct raw_samples *held = util_alloc(sizeof(*held));

	held->in = *inputs;
	held->owners = util_alloc(OWNERS * sizeof(*held->owners));
	return held;
}

static void drop(struct raw_samples *held, uint32_t index)
{
	struct held *entry = held->list[index];

	held->list[index] = NULL;
	held->bytes -= entry->size;
	budget_free(held->in.budget, entry, entry->size);
}

void raw_samples_free(struct raw_samples *held)
{
	if (!held)
		return;
	for (uint32_t i = 0; i < held->count; i++)
		if (held->list[i])
			drop(held, i);
	budget_free(held->in.budget, held->list, held->room * sizeof(*held->list));
	free(held->owners);
	free(held);
}

void raw_samples_file_comes(struct raw_samples *held, bool comes)
{
	held->kernel_file = comes;
}

/* ---- whose page tables ---- */

static struct owner *owner_at(struct raw_samples *held, const struct raw_sample *raw)
{
	return &held->owners[(raw->space >> PAGE_BITS) % OWNERS];
}

void raw_samples_met(struct raw_samples *held, const struct raw_sample *raw)
{
	const struct kernel_watch_looks looks = kernel_watch_looks(held->in.watch);
	struct owner *owner = owner_at(held, raw);

	held->named += looks.begun && raw->name.size;
	held->nameless += looks.begun && !looks.asks && !raw->name.size && !raw->of_program;
	if (!raw->space || !raw->name.size || !raw->thread || raw->process == EVENT_KERNEL)
		return;
	if (owner->space != raw->space)
		*owner = (struct owner) { .space = raw->space, .process = raw->process };
	else if (owner->process != raw->process)
		owner->process = EVENT_NONE;
}

/* True: it was not known before. */
static bool find_owner(struct raw_samples *held, struct raw_sample *raw)
{
	const struct owner *owner = owner_at(held, raw);

	if (raw->owner || raw->name.size || !raw->space || owner->space != raw->space || owner->process == EVENT_NONE)
		return false;
	raw->owner = owner->process;
	return true;
}

/* ---- what is still to come ---- */

/* Names, tables or the place of the kernel are being found. */
static bool kernel_comes(const struct raw_samples *held)
{
	return held->kernel_file || kernel_reading_comes(held->in.reading) ||
		(symbols_linux_kernel(held->in.symbols) && !symbols_kernel_is_placed(held->in.symbols) &&
		kernel_watch_looks(held->in.watch).whole - held->before_kernel < LOOKS_IN_VAIN);
}

static bool lacks_function(const struct raw_samples *held, const struct sample *sample)
{
	uint64_t start;

	return sample->kernel_count && sample->exact & 1 &&
		!symbols_kernel_function(held->in.symbols, sample_frame(sample->kernel, 0), &start);
}

static bool lacks_mapping(const struct raw_samples *held, const struct sample *sample)
{
	uint64_t pc = sample_frame(sample->user, 0) - !sample->user_exact;
	struct symbols_mapping mapping;

	return !symbols_mapping(held->in.symbols, symbols_space(held->in.symbols, sample->process), pc, &mapping);
}

static bool is_kernel_code(const struct raw_sample *raw, const struct sample *sample)
{
	return sample->kernel_count && kernel_reading_is_code(raw->arch, sample_frame(sample->kernel, 0));
}

static bool is_nameless(const struct raw_sample *raw, const struct sample *sample)
{
	return !raw->of_program && sample->user_count && !raw->name.size && !raw->owner;
}

/*
 * A thread of the kernel's own borrows the tables of the program that ran before it, and has no program below its
 * stack. That is known by the walk, once this has the kernel's tables.
 */
void raw_samples_walk(struct raw_samples *held, struct raw_sample *raw, struct raw_stack *stack)
{
	if (raw->mode == MODE_USER || raw->user.size)
		find_owner(held, raw);
	raw_samples_read(raw, held->in.code, stack);
	if (!held->kernel_ran && is_kernel_code(raw, &stack->sample)) {		/* behind firmware and boot loader */
		held->kernel_ran = true;
		held->before_kernel = kernel_watch_looks(held->in.watch).whole;
	}
	if (is_nameless(raw, &stack->sample) && !kernel_comes(held) && find_owner(held, raw))
		raw_samples_read(raw, held->in.code, stack);
}

/* Samples tell their threads, or may still do so. */
static bool are_told(const struct raw_samples *held)
{
	return symbols_linux_kernel(held->in.symbols)->layout.tasks &&
		(held->named >= NAMED || held->nameless < NAMELESS);
}

/* Samples tell their threads, or will: so a program that ran before has its process once it runs again. */
static bool owners_come(const struct raw_samples *held)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(held->in.symbols);

	if (kernel && kernel->layout.tasks)
		return held->named < NAMED && held->nameless < NAMELESS;
	return kernel && kernel_watch_looks(held->in.watch).ended < LOOKS_NAMELESS;
}

/* A look finds what the sample lacks, if it began after the sample. */
static bool look_comes(const struct raw_samples *held, const struct held *entry, const struct sample *sample)
{
	const struct kernel_watch_looks looks = kernel_watch_looks(held->in.watch);
	bool nameless = is_nameless(&entry->event.raw, sample);

	if (!symbols_linux_kernel(held->in.symbols))
		return false;
	if (nameless && owners_come(held))
		return true;
	return looks.ended < entry->look && ((!looks.placed && lacks_function(held, sample)) ||
		(sample->user_count && !nameless && entry->wanted && lacks_mapping(held, sample)));
}

static bool files_come(const struct raw_samples *held)
{
	return symbols_reading(held->in.symbols) || kernel_watch_copies(held->in.watch);
}

/* The file of the program that ran is not known: it has its functions, and the way to walk its stack. */
static bool lacks_file(const struct raw_samples *held, const struct sample *sample)
{
	uint64_t pc = sample_frame(sample->user, 0) - !sample->user_exact, link;

	return sample->process == EVENT_KERNEL || !symbols_frames_of(held->in.symbols, sample->process, pc, &link);
}

static bool waits(const struct raw_samples *held, const struct held *entry, const struct raw_stack *stack)
{
	const struct raw_sample *raw = &entry->event.raw;
	const struct sample *sample = &stack->sample;
	bool file_comes = sample->user_count && files_come(held) && lacks_file(held, sample);
	bool linux_code = is_kernel_code(raw, sample);

	if (raw->of_program)
		return file_comes;
	return file_comes || ((linux_code || raw->mode == MODE_USER) && kernel_comes(held)) ||
		look_comes(held, entry, sample);
}

/* A look may have come too early for a process that begins. It is wanted again then, and the next look finds it. */
static bool is_sought_again(const struct raw_samples *held, const struct held *entry, const struct sample *sample)
{
	return !entry->event.raw.of_program && symbols_linux_kernel(held->in.symbols) &&
		kernel_watch_looks(held->in.watch).ended == entry->look &&
		sample->user_count && !is_nameless(&entry->event.raw, sample) && lacks_mapping(held, sample);
}

/*
 * Nobody will ever know the file of the program that ran: a look has begun after the sample, and has not found its
 * process any more, or code that is of no file. A program that was not met again may still be.
 */
static bool is_of_no_file(const struct raw_samples *held, const struct held *entry, const struct sample *sample)
{
	uint64_t pc = sample_frame(sample->user, 0) - !sample->user_exact;
	struct symbols_mapping mapping;

	if (entry->event.raw.of_program || !symbols_linux_kernel(held->in.symbols))
		return false;
	if (is_nameless(&entry->event.raw, sample) && are_told(held))
		return false;
	if (sample->process == EVENT_KERNEL)	/* its memory is gone: it ends */
		return true;
	if (!symbols_mapping(held->in.symbols, symbols_space(held->in.symbols, sample->process), pc, &mapping))
		return kernel_watch_looks(held->in.watch).ended >= entry->look;
	return mapping.name[0] == '[';
}

enum raw_state raw_samples_state(const struct raw_samples *held, const struct event *event,
	const struct raw_stack *stack, uint64_t look, bool wanted)
{
	const struct held entry = { .event = *event, .look = look, .wanted = wanted || event->raw.owner };
	const struct sample *sample = &stack->sample;
	bool code = is_kernel_code(&event->raw, sample);

	if (waits(held, &entry, stack) || (wanted && is_sought_again(held, &entry, sample)))
		return RAW_WAITS;
	return (!event->raw.of_program && code && lacks_function(held, sample)) ||
		(sample->user_count && lacks_file(held, sample) && !is_of_no_file(held, &entry, sample)) ?
		RAW_UNKNOWN : RAW_KNOWN;
}

/* ---- what is lost ---- */

static void lose(struct raw_samples *held, enum raw_loss why, const struct event *event)
{
	struct raw_lost *lost = &held->lost[why];

	lost->first = lost->ticks && lost->first < event->time ? lost->first : event->time;
	lost->last = lost->last > event->time ? lost->last : event->time;
	lost->ticks += event->raw.weight;
}

/* What is given to the taker now stays as it is. */
static void lose_owner(struct raw_samples *held, const struct event *event, const struct sample *sample)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(held->in.symbols);

	if (kernel && kernel->layout.tasks && is_nameless(&event->raw, sample))
		lose(held, RAW_NAMELESS, event);
}

struct raw_lost raw_samples_lost(const struct raw_samples *held, enum raw_loss why)
{
	return held->lost[why];
}

/* ---- keeping ---- */

static void *copy(uint8_t **at, const void *bytes, size_t size)
{
	void *to = *at;

	if (size)
		memcpy(to, bytes, size);
	*at += size;
	return to;
}

static void copy_text(uint8_t **at, struct text *text)
{
	text->bytes = copy(at, text->bytes, text->size);
}

static size_t held_size(const struct raw_sample *raw)
{
	return sizeof(struct held) + (raw->register_count + raw->told.kernel_count + raw->told.user_count) *
		sizeof(uint64_t) + raw->name.size + raw->stack.size + raw->linked.size + raw->user.size;
}

static bool have_room(struct raw_samples *held, size_t size)
{
	struct held **list;

	if (size > budget_share(held->in.budget, SHARE) - held->bytes)
		return false;
	list = budget_array(held->in.budget, held->list, held->count, &held->room, sizeof(*list));
	held->list = list ? list : held->list;
	return list;
}

bool raw_samples_keep(struct raw_samples *held, const struct event *event, const struct raw_stack *stack,
	bool wanted)
{
	struct held try = { .event = *event, .size = held_size(&event->raw) }, *entry;
	struct raw_sample *raw;
	uint8_t *at;

	try.look = kernel_watch_looks(held->in.watch).begun + 1;
	try.wanted = wanted || event->raw.owner;
	if (!waits(held, &try, stack)) {
		lose_owner(held, event, &stack->sample);
		return false;
	}
	entry = have_room(held, try.size) ? budget_resize(held->in.budget, NULL, 0, try.size) : NULL;
	if (!entry) {
		lose(held, RAW_CROWDED, event);
		return false;
	}
	*entry = try;
	at = (uint8_t *)(entry + 1);
	raw = &entry->event.raw;
	raw->registers = copy(&at, raw->registers, raw->register_count * sizeof(uint64_t));
	raw->told.kernel = copy(&at, raw->told.kernel, raw->told.kernel_count * sizeof(uint64_t));
	raw->told.user = copy(&at, raw->told.user, raw->told.user_count * sizeof(uint64_t));
	copy_text(&at, &raw->name);
	copy_text(&at, &raw->stack);
	copy_text(&at, &raw->linked);
	copy_text(&at, &raw->user);
	held->at += held->at == held->count;	/* it was looked at just now */
	held->list[held->count++] = entry;
	held->bytes += entry->size;
	return true;
}

/* ---- giving ---- */

static struct known known_now(const struct raw_samples *held)
{
	return (struct known) {
		.generation = symbols_generation(held->in.symbols), .looks = kernel_watch_looks(held->in.watch).ended,
		.comes = kernel_comes(held), .owners = owners_come(held), .reads = files_come(held),
	};
}

static bool is_same(struct known a, struct known b)
{
	return a.generation == b.generation && a.looks == b.looks && a.comes == b.comes &&
		a.owners == b.owners && a.reads == b.reads;
}

/* Removes the places of those that were given, and begins a pass. */
static void begin_pass(struct raw_samples *held, struct known now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < held->count; i++)
		if (held->list[i])
			held->list[kept++] = held->list[i];
	held->count = kept;
	held->at = 0;
	held->known = now;
}

bool raw_samples_step(struct raw_samples *held, bool all, raw_taker *take, void *context)
{
	struct known now = known_now(held);
	struct raw_stack stack;
	bool given = false;
	uint32_t owner;

	if (held->at == held->count ? (all || !is_same(now, held->known)) : all)
		begin_pass(held, now);
	for (uint32_t turn = 0; held->at < held->count && (all || turn < TURN); held->at++, turn++) {
		struct held *entry = held->list[held->at];

		if (!entry)
			continue;
		owner = entry->event.raw.owner;
		raw_samples_walk(held, &entry->event.raw, &stack);
		if (entry->event.raw.owner != owner) {	/* the files of that process are known soon */
			entry->look = kernel_watch_looks(held->in.watch).begun + 1;
			entry->wanted = true;
		}
		if (waits(held, entry, &stack)) {
			if (!all)
				continue;
			lose(held, RAW_HURRIED, &entry->event);
		} else {
			lose_owner(held, &entry->event, &stack.sample);
		}
		take(context, &entry->event, &stack);
		drop(held, held->at);
		given = true;
	}
	return given;
}

bool raw_samples_before(const struct raw_samples *held, uint64_t ticks)
{
	for (uint32_t i = 0; i < held->count; i++)
		if (held->list[i] && held->list[i]->event.time < ticks)
			return true;
	return false;
}
