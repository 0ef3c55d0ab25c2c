/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/walk.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/running_kernel.h"
#include "agent/names/running_programs.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "kernel_reading.h"
#include "kernel_watch.h"
#include "trace_places.h"

enum {
	PAUSE_MS = 2000,		/* between two looks */
	SHORT_PAUSE_MS = 200,		/* before one at programs alone, which may end soon */
	PLAYED_LOOK_MS = 1000,		/* pages of a recording that have not come by then are not in it */
	PATIENCE = 4096,		/* a look, or a copy, that does not get on with so many samples is given up */
	TURN_MOST = 8 << 20,		/* the quota of a turn: some milliseconds of processor time */
};

/* QEMU's machine `virt` loads a kernel there: hw/arm/boot.c, start of RAM and 2 MiB. */
#define ARM64_START UINT64_C(0x40200000)

struct kernel_watch {
	struct symbols *symbols;
	struct guest_memory *memory;
	struct running_programs *programs;
	struct kernel_place *place;
	const char *const *folders;
	struct kernel_watch_looks looks;
	bool looking;			/* a look is under way: it walks, or waits for pages */
	bool walking;			/* a walk of this look has paused */
	bool missed;			/* this walk has met pages that are still on their way */
	struct running_kernel_look modules;	/* how far this walk has come */
	bool news;			/* pages have come since the last walk began */
	bool tells;			/* the line about threads is to be sent */
	uint32_t asked;			/* lines of kernel_watch_line() that are not answered */
	struct trace_places places;
	char refused[160];		/* why the first line was that was refused; "": none was */
	bool lost;			/* one of these lines was not answered: the next look tells all again */
	bool whole;			/* this look is not at programs alone */
	uint64_t begun, ended, due;	/* ns: of this look, of the last one; when the next whole one is due */
	struct firmware_search firmware;
	bool firmware_news;		/* pages have come since its last search */
	bool copies_news;		/* likewise, since files of programs were copied */
	bool copies_paused;		/* the last turn of that has paused */
	uint64_t copied;		/* ns: when that turn was */
	bool copying;			/* files are still being copied */
	uint64_t got_on, copied_at;	/* looks.samples when a page came, or a look began; when a file was copied */
	struct kernel_uptime uptime;
};

struct kernel_watch *kernel_watch_new(struct symbols *symbols, struct guest_memory *memory,
	const char *const *folders, struct budget *budget)
{
	struct kernel_watch *watch = util_alloc(sizeof(*watch));

	watch->symbols = symbols;
	watch->memory = memory;
	watch->folders = folders;
	watch->programs = running_programs_new(symbols);
	watch->place = kernel_place_new(symbols, budget);
	watch->firmware_news = true;
	return watch;
}

void kernel_watch_free(struct kernel_watch *watch)
{
	if (!watch)
		return;
	running_programs_free(watch->programs);
	kernel_place_free(watch->place);
	free(watch);
}

/* Without a name, the number is that of its page tables, by which no process is found. */
bool kernel_watch_wants(struct kernel_watch *watch, const struct sample *sample, struct text thread_name)
{
	if (!sample->user_count || !thread_name.size || sample->process == EVENT_KERNEL)
		return false;
	if (sample->thread != sample->process)
		thread_name.size = 0;
	return running_programs_saw(watch->programs, sample->process, thread_name);
}

bool kernel_watch_saw(struct kernel_watch *watch, const struct sample *sample, struct text thread_name)
{
	watch->looks.samples++;
	return kernel_watch_wants(watch, sample, thread_name);
}

void kernel_watch_again(struct kernel_watch *watch)
{
	running_programs_again(watch->programs);
}

void kernel_watch_wake(struct kernel_watch *watch, bool bytes)
{
	watch->news = watch->firmware_news = watch->copies_news = true;
	watch->got_on = bytes ? watch->looks.samples : watch->got_on;
	kernel_place_wake(watch->place);
}

static void place(struct kernel_watch *watch)
{
	const struct memory_reader memory = guest_memory_virtual(watch->memory);
	const struct memory_reader physical = guest_memory_physical(watch->memory);

	if (symbols_linux_kernel(watch->symbols)->arch == ARCH_AARCH64)
		running_kernel_place_physically(watch->symbols, &physical, ARM64_START);
	else
		running_kernel_place(watch->symbols, &memory, 0);
}

static void begin_walk(struct kernel_watch *watch)
{
	watch->news = watch->missed = false;
	watch->modules = (struct running_kernel_look) { .whole = false };
	if (!symbols_kernel_is_placed(watch->symbols))
		place(watch);
}

static void read_uptime(struct kernel_watch *watch, const struct memory_reader *reader)
{
	uint64_t place, ns, time;

	if (!running_kernel_uptime(watch->symbols, reader, &place, &ns))
		return;
	time = guest_memory_time(watch->memory, place);
	if (time)
		kernel_uptime_saw(&watch->uptime, time, ns);
}

struct kernel_uptime kernel_watch_uptime(const struct kernel_watch *watch)
{
	return watch->uptime;
}

/* A turn of a walk, which goes as far as pages are there. True: the walk has ended, and no page was missing. */
static bool walk(struct kernel_watch *watch)
{
	const struct memory_reader reader = guest_memory_virtual(watch->memory);
	struct quota quota = { .most = TURN_MOST };
	const struct walked_memory memory = { .reader = &reader, .quota = &quota };
	uint64_t awaited = memory_reader_awaited(&reader);

	if (!watch->walking)
		begin_walk(watch);
	watch->walking = (watch->whole &&
		running_kernel_read_modules(watch->symbols, &memory, &watch->modules) == WALK_PAUSED) ||
		running_programs_read(watch->programs, &memory, watch->folders) == WALK_PAUSED;
	if (watch->whole && !watch->walking)
		read_uptime(watch, &reader);
	watch->missed = watch->missed || awaited != memory_reader_awaited(&reader);
	return !watch->walking && !watch->missed;
}

static bool is_due(const struct kernel_watch *watch, uint64_t now)
{
	return now >= watch->due || (running_programs_want(watch->programs) &&
		now - watch->ended >= (uint64_t)SHORT_PAUSE_MS * NS_PER_MS);
}

static void find_firmware(struct kernel_watch *watch)
{
	const struct memory_reader physical = guest_memory_physical(watch->memory);
	enum arch_id board = symbols_board(watch->symbols);

	if (watch->firmware.stage == FIRMWARE_DONE || !watch->firmware_news || board == ARCH_OTHER)
		return;
	watch->firmware_news = false;
	firmware_search(&watch->firmware, board, &physical);
	symbols_set_firmware(watch->symbols, watch->firmware.found);
}

/*
 * A turn of copying the files of programs. It is no part of a look: nobody waits for it. It comes before the look, for
 * a new look makes all pages out of date. It is due when pages have come, and now and then: meanwhile other files may
 * be wanted, or turn out to be missing on the host.
 */
static void copy_files(struct kernel_watch *watch, uint64_t now)
{
	const struct memory_reader reader = guest_memory_virtual(watch->memory);
	struct quota quota = { .most = TURN_MOST };
	const struct walked_memory memory = { .reader = &reader, .quota = &quota };
	uint64_t before = symbols_generation(watch->symbols);
	enum walk walk;

	if (!watch->copies_news && !watch->copies_paused &&
			now - watch->copied < (uint64_t)SHORT_PAUSE_MS * NS_PER_MS)
		return;
	watch->copies_news = false;
	watch->copied = now;
	walk = running_programs_copy(watch->programs, &memory, watch->looks.samples);
	watch->copies_paused = walk == WALK_PAUSED;
	watch->copying = walk != WALK_ENDED;
	if (!watch->copying || before != symbols_generation(watch->symbols))
		watch->copied_at = watch->looks.samples;
}

bool kernel_watch_step(struct kernel_watch *watch, bool live, uint64_t now)
{
	uint64_t before = symbols_generation(watch->symbols);
	const struct memory_reader reader = guest_memory_virtual(watch->memory);
	bool ends;

	watch->looks.asks |= !live;
	find_firmware(watch);
	if (live && !symbols_linux_kernel(watch->symbols) && kernel_place_is_due(watch->place))
		guest_memory_renew(watch->memory);
	kernel_place_step(watch->place, &reader);
	copy_files(watch, now);
	if (!symbols_linux_kernel(watch->symbols) || (!watch->looking && !is_due(watch, now)))
		return before != symbols_generation(watch->symbols);
	if (!watch->looking) {
		if (live)
			guest_memory_renew(watch->memory);
		watch->looking = watch->news = watch->tells = true;
		if (watch->lost)
			watch->places = (struct trace_places) { .next = 0 };
		watch->lost = false;
		watch->whole = now >= watch->due;
		watch->begun = now;
		watch->got_on = watch->looks.samples;
		watch->looks.begun++;
	}
	ends = live ? watch->looks.samples - watch->got_on >= PATIENCE :
		now - watch->begun >= (uint64_t)PLAYED_LOOK_MS * NS_PER_MS;
	if (((watch->news || watch->walking) && walk(watch)) || ends) {
		watch->looking = watch->walking = false;
		running_programs_settle(watch->programs);
		watch->ended = now;
		watch->looks.ended = watch->looks.begun;
		if (watch->whole) {
			watch->due = now + (uint64_t)PAUSE_MS * NS_PER_MS;
			watch->looks.whole++;
			watch->looks.placed |= symbols_kernel_is_placed(watch->symbols);
		}
	}
	return before != symbols_generation(watch->symbols);
}

struct kernel_watch_looks kernel_watch_looks(const struct kernel_watch *watch)
{
	return watch->looks;
}

bool kernel_watch_copies(const struct kernel_watch *watch)
{
	return watch->copying && watch->looks.samples - watch->copied_at < PATIENCE;
}

bool kernel_watch_is_walking(const struct kernel_watch *watch)
{
	return watch->walking || watch->copies_paused;
}

/* Where a pointer to the thread's structure lies, in the data of each CPU. */
static bool find_current(const struct linux_kernel *kernel, uint64_t *current)
{
	if (linux_kernel_landmark(kernel, LANDMARK_PCPU_HOT, current)) {
		*current += kernel->layout.current;
		return true;
	}
	return linux_kernel_landmark(kernel, LANDMARK_CURRENT_TASK, current);
}

/* What a CPU does: its preempt_count, among its data. */
static bool find_context(const struct linux_kernel *kernel, uint64_t *context)
{
	if (!linux_kernel_landmark(kernel, LANDMARK_PCPU_HOT, context) || !kernel->layout.preempt)
		return linux_kernel_landmark(kernel, LANDMARK_PREEMPT_COUNT, context);
	*context += kernel->layout.preempt;
	return true;
}

/* *states: it also says where the state of a thread is. */
static bool write_task_line(const struct linux_kernel *kernel, char line[COMMANDS_LINE_MAX + 1], bool *states)
{
	const struct kernel_layout *layout = &kernel->layout;
	char current[20] = "self";
	uint64_t at;
	int size;

	*states = false;
	if (kernel->arch == ARCH_X86_64 || kernel->arch == ARCH_I386) {
		if (!find_current(kernel, &at))
			return false;
		snprintf(current, sizeof(current), "%" PRIx64, at);
	}
	size = snprintf(line, COMMANDS_LINE_MAX + 1, "task %s %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32, current,
		layout->task_group, layout->task_pid, layout->task_comm, layout->task_memory);
	*states = kernel->arch == ARCH_X86_64 && layout->states && find_context(kernel, &at);
	if (*states)
		snprintf(line + size, COMMANDS_LINE_MAX + 1 - (size_t)size, " %" PRIx32 " %" PRIx32 " %" PRIx64,
			layout->task_state, layout->task_queued, at);
	return true;
}

/* Places are told once threads are. */
bool kernel_watch_line(struct kernel_watch *watch, char line[COMMANDS_LINE_MAX + 1])
{
	const struct linux_kernel *kernel = symbols_linux_kernel(watch->symbols);
	bool any = false;

	if (kernel && kernel->layout.tasks && watch->tells) {
		watch->tells = false;
		any = write_task_line(kernel, line, &watch->places.states);
	} else if (kernel && kernel->layout.tasks && watch->looks.begun) {
		any = trace_places_line(&watch->places, watch->symbols, line);
	}
	watch->asked += any;
	watch->looks.asks |= any;
	return any;
}

void kernel_watch_answered(struct kernel_watch *watch, bool ok, const char *text)
{
	bool lost = !ok && commands_unanswered(text);

	watch->asked -= watch->asked > 0;
	watch->looks.asks = watch->asked > 0;
	watch->lost = watch->lost || lost;
	if (!ok && !lost && !watch->refused[0])
		util_print(watch->refused, sizeof(watch->refused), "%s",
			strncmp(text, "usage", 5) == 0 ? "the plugin is older than this ktop" : text);
}

bool kernel_watch_has_told(const struct kernel_watch *watch, char *missing, size_t size)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(watch->symbols);
	bool other = kernel && kernel->arch != ARCH_X86_64;
	bool bare = kernel && !other && !kernel->layout.tasks && watch->looks.ended;

	trace_places_missing(&watch->places, missing, size);
	if (bare)
		util_print(missing, size, "any: its BTF does not tell where the kernel keeps its threads");
	if (watch->refused[0])
		util_print(missing, size, "some: %s", watch->refused);
	return other || bare || (trace_places_are_told(&watch->places) && !watch->asked);
}

/* ---- the code that runs ---- */

enum { RETURNS = 64, RETURNS_STEP = 16 };	/* how many are kept; after so many new ones they are tried */
enum { KEPT = 512 };			/* rules that are kept, by address; a power of two */

struct kept_rules {
	const struct sym_cfi *cfi;	/* NULL: none are kept here */
	uint64_t address;		/* link address */
	bool found;
	struct frame_rules rules;
};

struct kernel_code {
	struct symbols *symbols;
	unsigned address_bits;
	bool user;			/* of the sample, as in kernel_code_now */
	uint32_t process;
	uint64_t generation;		/* of the symbols, when the fields below were made */
	int file;			/* descriptor of the kernel's file, from which `cfi` is; -1: none */
	struct sym_cfi *cfi;		/* call frame information; NULL: the file has none */
	char note[128];			/* see kernel_code_note */
	uint64_t returns[RETURNS];	/* distinct; while it is not known where the kernel runs */
	uint32_t returns_count;
	struct kept_rules *kept;	/* KEPT entries: libdw takes long to find rules */
};

struct kernel_code *kernel_code_new(struct symbols *symbols)
{
	struct kernel_code *code = util_alloc(sizeof(*code));

	*code = (struct kernel_code) {
		.symbols = symbols, .file = -1, .kept = util_alloc(KEPT * sizeof(*code->kept)),
	};
	return code;
}

static void forget(struct kernel_code *code)
{
	if (code->cfi)
		memset(code->kept, 0, KEPT * sizeof(*code->kept));
	sym_cfi_close(code->cfi);
	code->cfi = NULL;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	forget(code);
	free(code->kept);
	free(code);
}

/* Most kernels have the upper half of the addresses. Any other kernel is known by its symbols alone. */
static bool is_kernel(void *context, uint64_t pc)
{
	const struct kernel_code *code = context;
	uint64_t start;

	return pc >> (code->address_bits - 1) & 1 || symbols_kernel_function(code->symbols, pc, &start);
}

static bool function_at(void *context, uint64_t pc, uint64_t *start)
{
	return symbols_kernel_function(((struct kernel_code *)context)->symbols, pc, start);
}

static bool find_orc(void *context, uint64_t pc, struct orc_entry *entry)
{
	return symbols_kernel_orc(((struct kernel_code *)context)->symbols, pc, entry);
}

/* On riscv64, handle_exception() is entered from everywhere. */
static bool is_entry(void *context, uint64_t pc)
{
	const struct kernel_code *code = context;
	const struct linux_kernel *kernel = symbols_linux_kernel(code->symbols);
	uint64_t start, entry;

	return kernel && kernel->arch == ARCH_RISCV64 && linux_kernel_landmark(kernel, LANDMARK_ENTRY, &entry) &&
		symbols_kernel_function(code->symbols, pc, &start) &&
		start == entry + symbols_kernel_slide(code->symbols);
}

/* The kernel's own file, or that of the program that runs. */
static struct sym_cfi *find_file(struct kernel_code *code, uint64_t pc, uint64_t *link)
{
	if (!code->user && is_kernel(code, pc)) {
		*link = pc - symbols_kernel_slide(code->symbols);
		return code->cfi;
	}
	return code->process == EVENT_KERNEL ? NULL : symbols_frames_of(code->symbols, code->process, pc, link);
}

static bool find_rules(void *context, uint64_t pc, struct frame_rules *rules)
{
	struct kernel_code *code = context;
	struct kept_rules *kept;
	struct sym_cfi *cfi;
	uint64_t link;

	cfi = find_file(code, pc, &link);
	if (!cfi)
		return false;
	kept = &code->kept[link % KEPT];
	if (kept->cfi != cfi || kept->address != link) {
		kept->found = sym_cfi_find(cfi, link, &kept->rules);
		kept->cfi = cfi;
		kept->address = link;
	}
	*rules = kept->rules;
	return kept->found;
}

static uint32_t space_of(struct kernel_code *code, uint64_t pc)
{
	if (!code->user && is_kernel(code, pc))
		return EVENT_KERNEL;
	return code->process == EVENT_KERNEL ? LAYOUTS_UNKNOWN : symbols_space(code->symbols, code->process);
}

static enum calls_frame find_frame(void *context, uint64_t pc)
{
	struct kernel_code *code = context;

	return symbols_frame(code->symbols, space_of(code, pc), pc);
}

static bool find_call(void *context, uint64_t returns, uint64_t callee)
{
	struct kernel_code *code = context;

	return symbols_calls(code->symbols, space_of(code, callee), returns - 1, callee);
}

/* If the kernel's file is another one now, drops what was kept of the old one. */
static void renew(struct kernel_code *code)
{
	int file = symbols_kernel_descriptor(code->symbols);
	struct elf_identity is;

	code->generation = symbols_generation(code->symbols);
	if (file == code->file)
		return;
	forget(code);
	code->file = file;
	code->note[0] = '\0';
	if (file >= 0)
		code->cfi = sym_cfi_open(fcntl(file, F_DUPFD_CLOEXEC, 0));
	if (file >= 0 && !code->cfi && sym_elf_identify(file, &is, NULL) && is.frames)
		util_print(code->note, sizeof(code->note),
			"stacks that go through the kernel are short: %s; give the file as it was linked", is.frames);
}

const char *kernel_code_note(const struct kernel_code *code)
{
	return code->note;
}

struct unwind_code kernel_code_now(struct kernel_code *code, const struct arch *arch, bool user, uint32_t process)
{
	code->user = user;
	code->process = process;
	code->address_bits = arch->word * 8u;
	if (code->generation != symbols_generation(code->symbols) || code->file < 0)
		renew(code);
	return (struct unwind_code) {
		.context = code,
		.is_kernel = user ? NULL : is_kernel,
		.function = user ? NULL : function_at,
		.orc = user ? NULL : find_orc,
		.entry = user ? NULL : is_entry,
		.rules = find_rules,
		.frame = find_frame,
		.calls = find_call,
	};
}

static bool is_kept(const struct kernel_code *code, uint64_t address)
{
	for (uint32_t i = 0; i < code->returns_count; i++) {
		if (code->returns[i] == address)
			return true;
	}
	return false;
}

/*
 * Each time that RETURNS_STEP new addresses were gathered, tries whether they tell where the kernel runs. When there is
 * no more room and they do not tell, begins to gather anew.
 */
static void keep_return(struct kernel_code *code, uint64_t address)
{
	code->returns[code->returns_count++] = address;
	if (code->returns_count % RETURNS_STEP == 0)
		running_kernel_place_by_returns(code->symbols, code->returns, code->returns_count);
	if (code->returns_count == RETURNS)
		code->returns_count = 0;
}

void kernel_code_saw(struct kernel_code *code, const struct unwound_frames *frames)
{
	if (!symbols_linux_kernel(code->symbols) || symbols_kernel_is_placed(code->symbols))
		return;
	for (uint32_t i = 0; i < frames->count; i++) {
		if (!(frames->exact >> i & 1) && !is_kept(code, frames->frames[i]))
			keep_return(code, frames->frames[i]);
	}
}
