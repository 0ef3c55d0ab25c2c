/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/slide.h"
#include "agent/names/symbols.h"
#include "guest_memory.h"
#include "kernel_reading.h"

enum {
	PAGE = 4096, MIB = 1 << 20,
	STEP = 2 * MIB,			/* bytes that are read before the first search, and the next one, at least */
	MOST = 64 * MIB,		/* bytes that are read in all: larger than any kernel's code and constants */
	GAP_MOST = 4 * MIB,		/* behind so many absent bytes there is nothing more of the kernel */
	WINDOW = 64,			/* pages that are asked for at a time; the bits of `there` */
	TURN = 4 * MIB,			/* bytes that are taken over in one step */
	RENEW = MIB,			/* after so many bytes, the pages that were taken over are forgotten */
	PATIENCE = 8192,		/* pages that do not come with so many samples do not come at all */
	LOOK_MS = 1000,			/* between two looks for a kernel that is still booting */
	REST_MS = 10000, TRIES = 3,	/* between two tries, and how many there are */
};

/* linux/Documentation/arch/x86/x86_64/mm.rst: the kernel's code, wherever KASLR puts it; modules are above. */
#define X86_CODE UINT64_C(0xffffffff80000000)
#define X86_CODE_END UINT64_C(0xffffffffc0000000)
#define X86_ALIGNED UINT64_C(0x200000)	/* its constants begin at a multiple of this, behind the code */

enum stage { LOOKS, READS, SEARCHES, RESTS, DONE };

struct search {				/* the job's context */
	uint8_t *bytes;
	size_t size, room;
	struct kernel_bytes kernel;
	struct budget *budget;		/* held */
	struct symbols *symbols;	/* NULL: there is no table of symbols */
};

struct kernel_reading {
	struct symbols *symbols;
	struct guest_memory *memory;
	struct budget *budget;
	enum stage stage;
	unsigned tries;			/* that were in vain */
	uint64_t due;			/* util_now: of the next look, or try */
	enum arch_id arch;
	uint64_t samples;		/* that have come since it got on */
	uint64_t pc;			/* the lowest address of the kernel's code that was sampled; 0: none */

	/* READS, SEARCHES: what was read so far */
	uint64_t address;		/* of the first byte */
	uint8_t *bytes;			/* not while it is searched */
	size_t size, wanted, room;	/* bytes: read; to be read before the next search; allocated */
	size_t gap;			/* how many of the last bytes were absent */
	size_t renewed;			/* bytes that were read when the pages were renewed */
	uint64_t there;			/* bit i: the page that lies i pages behind `size` was read */
	bool in_vain;			/* LOOKS: nothing is to be read there now */
	bool paused;			/* the last step took over all that it may */
	bool named;			/* the symbols have the names: the tables are still to come */
	struct job *job;
};

struct kernel_reading *kernel_reading_new(struct symbols *symbols, struct guest_memory *memory, struct budget *budget)
{
	struct kernel_reading *reading = util_alloc(sizeof(*reading));

	reading->symbols = symbols;
	reading->memory = memory;
	reading->budget = budget;
	return reading;
}

static void enter(struct kernel_reading *reading, enum stage stage)
{
	if (stage != READS && stage != SEARCHES) {
		budget_free(reading->budget, reading->bytes, reading->room);
		job_leave(reading->job);
		reading->job = NULL;
		reading->bytes = NULL;
		reading->size = reading->wanted = reading->room = reading->gap = reading->renewed = 0;
		reading->there = 0;
	}
	reading->paused = false;
	reading->samples = 0;
	reading->stage = stage;
}

void kernel_reading_free(struct kernel_reading *reading)
{
	if (!reading)
		return;
	enter(reading, DONE);
	free(reading);
}

void kernel_reading_stop(struct kernel_reading *reading)
{
	reading->in_vain = true;
	if (reading->stage != DONE)
		enter(reading, LOOKS);
}

bool kernel_reading_is_busy(const struct kernel_reading *reading)
{
	return reading->stage == READS || reading->stage == SEARCHES;
}

bool kernel_reading_is_paused(const struct kernel_reading *reading)
{
	return reading->paused;
}

bool kernel_reading_searches(const struct kernel_reading *reading)
{
	return reading->stage == SEARCHES;
}

bool kernel_reading_comes(const struct kernel_reading *reading)
{
	return reading->samples < PATIENCE && (kernel_reading_is_busy(reading) ||
		(reading->stage == LOOKS && reading->pc && !reading->in_vain));
}

/* ---- where the kernel is ---- */

static bool is_core(enum arch_id arch, uint64_t pc)
{
	static const struct { uint64_t from, to; } code[ARCHS] = {
		[ARCH_X86_64] = { X86_CODE, X86_CODE_END },
		[ARCH_I386] = { UINT64_C(0x80000000), UINT64_C(0xff000000) },		/* firmware is above */
		[ARCH_RISCV64] = { UINT64_C(1) << 63, UINT64_MAX },
		[ARCH_AARCH64] = { UINT64_C(1) << 63, UINT64_C(0xfffffbfff0000000) },	/* the fixmap */
	};

	return pc >= code[arch].from && pc < code[arch].to;
}

bool kernel_reading_is_code(enum arch_id arch, uint64_t pc)
{
	return is_core(arch, pc) || (arch != ARCH_I386 && pc >> 63);
}

void kernel_reading_saw(struct kernel_reading *reading, enum arch_id arch, uint64_t pc)
{
	reading->samples++;
	if (reading->stage != LOOKS || !is_core(arch, pc))
		return;
	if (!reading->pc || pc < reading->pc)
		reading->pc = pc;
	reading->arch = arch;
}

/* The address from which on it is read: one behind the code, or in it. False: it is not known yet. */
static bool find_start(struct kernel_reading *reading, uint64_t *start)
{
	const struct memory_reader memory = guest_memory_virtual(reading->memory);
	uint64_t handler;

	*start = reading->pc / PAGE * PAGE;
	if (reading->arch != ARCH_X86_64)
		return true;
	if (!slide_read_gate(&memory, &handler) || handler < X86_CODE || handler >= X86_CODE_END)
		return false;
	*start = (handler + X86_ALIGNED - 1) / X86_ALIGNED * X86_ALIGNED;
	return true;
}

/* Has room for all that is wanted. False: there is no memory. */
static bool make_room(struct kernel_reading *reading)
{
	uint8_t *bytes = reading->room >= reading->wanted ? reading->bytes :
		budget_resize(reading->budget, reading->bytes, reading->room, reading->wanted);

	if (!bytes)
		return false;
	reading->bytes = bytes;
	if (reading->room < reading->wanted)
		reading->room = reading->wanted;
	return true;
}

/* Nothing more is tried for a while, or at all. A page that is absent now may be there then. */
static void fail(struct kernel_reading *reading, uint64_t now)
{
	reading->tries++;
	reading->pc = 0;
	reading->due = now + (uint64_t)REST_MS * NS_PER_MS;
	enter(reading, reading->named ? DONE : RESTS);
}

static void look(struct kernel_reading *reading, bool live, uint64_t now)
{
	const struct memory_reader memory = guest_memory_virtual(reading->memory);
	uint64_t start, awaited = memory_reader_awaited(&memory);

	if (!reading->pc)
		return;
	if (live && now >= reading->due) {
		guest_memory_renew(reading->memory);
		reading->due = now + (uint64_t)LOOK_MS * NS_PER_MS;
	}
	if (!find_start(reading, &start)) {
		reading->in_vain = awaited == memory_reader_awaited(&memory);
		return;
	}
	reading->address = start;
	reading->wanted = STEP;
	enter(reading, READS);
	if (!make_room(reading))
		fail(reading, now);
}

/* ---- reading ---- */

/* Takes over a page, or zeros where there is none. False: it is still to come. */
static bool take_page(struct kernel_reading *reading, size_t at)
{
	const struct memory_reader memory = guest_memory_virtual(reading->memory);
	uint64_t awaited = memory_reader_awaited(&memory);

	if (memory.read(memory.context, reading->address + at, reading->bytes + at, PAGE))
		return true;
	if (memory_reader_awaited(&memory) != awaited)
		return false;
	memset(reading->bytes + at, 0, PAGE);
	return true;
}

static bool is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0;
}

/* Asks for the next pages, and takes over what has come of them. False: the very next one is still to come. */
static bool take_window(struct kernel_reading *reading)
{
	for (unsigned i = 0; i < WINDOW && reading->size + (size_t)i * PAGE < reading->wanted; i++)
		if (!(reading->there >> i & 1) && take_page(reading, reading->size + (size_t)i * PAGE))
			reading->there |= UINT64_C(1) << i;
	if (!(reading->there & 1))
		return false;
	for (; reading->there & 1; reading->there >>= 1) {
		reading->gap = is_zero(reading->bytes + reading->size) ? reading->gap + PAGE : 0;
		reading->size += PAGE;
	}
	reading->samples = 0;
	return true;
}

static bool is_at_end(const struct kernel_reading *reading)
{
	return reading->size >= MOST || reading->gap >= GAP_MOST;
}

/* ---- searching ---- */

static void run(void *context)
{
	struct search *search = context;

	search->symbols = symbols_new(search->budget);
	if (symbols_read_kernel(search->symbols, &search->kernel))
		return;
	symbols_free(search->symbols);
	search->symbols = NULL;
}

static void free_search(void *context)
{
	struct search *search = context;

	symbols_free(search->symbols);
	budget_free(search->budget, search->bytes, search->room);
	budget_release(search->budget);
	free(search);
}

/* The job has the bytes until it is done. */
static void begin_search(struct kernel_reading *reading)
{
	static const struct job_work work = { .run = run, .free = free_search };
	struct search *search = util_alloc(sizeof(*search));

	*search = (struct search) {
		.bytes = reading->bytes, .size = reading->size, .room = reading->room,
		.kernel = { .bytes = reading->bytes, .size = reading->size, .arch = reading->arch },
		.budget = budget_hold(reading->budget),
	};
	kernel_bytes_place(&search->kernel, reading->address);
	reading->bytes = NULL;
	reading->room = 0;
	reading->job = job_new(&work, search);
	enter(reading, SEARCHES);
}

/* True: the tables are not whole yet, and more is to be read. Symbols of code alone do not tell where tables end. */
static bool wants_tables(struct kernel_reading *reading)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(reading->symbols);
	uint64_t end = kernel->end ? kernel->end - reading->address : kernel->layout.tasks ? 0 : MOST;

	if (is_at_end(reading) || end > MOST || end <= reading->size)
		return false;
	reading->wanted = (size_t)(end + PAGE - 1) / PAGE * PAGE;
	return true;
}

static bool take_found(struct kernel_reading *reading, struct search *search, uint64_t now)
{
	bool found = search->symbols && symbols_share_kernel(reading->symbols, search->symbols), more;

	reading->bytes = search->bytes;
	reading->room = search->room;
	search->bytes = NULL;
	search->room = 0;
	job_leave(reading->job);
	reading->job = NULL;
	if (found)
		symbols_set_slide(reading->symbols, 0);
	more = found ? !reading->named && wants_tables(reading) : !reading->named && !is_at_end(reading);
	if (!found && more)		/* few searches, each over all that was read */
		reading->wanted = reading->size + (reading->size / 2 > STEP ? reading->size / 2 / PAGE * PAGE : STEP);
	reading->named |= found;
	enter(reading, more ? READS : found ? DONE : SEARCHES);
	if ((more && !make_room(reading)) || (!more && !found))
		fail(reading, now);
	return found;
}

static void rest(struct kernel_reading *reading, uint64_t now)
{
	if (now >= reading->due && reading->tries < TRIES)
		enter(reading, LOOKS);
}

static void read_on(struct kernel_reading *reading, bool live)
{
	size_t begun = reading->size;

	while (reading->size < reading->wanted && !is_at_end(reading) && reading->size - begun < TURN &&
			take_window(reading))
		;
	reading->paused = reading->size - begun >= TURN;
	if (live && reading->size - reading->renewed >= RENEW) {
		guest_memory_renew(reading->memory);
		reading->renewed = reading->size;
	}
	if (reading->size >= reading->wanted || is_at_end(reading))
		begin_search(reading);
}

bool kernel_reading_step(struct kernel_reading *reading, bool live, uint64_t now)
{
	struct search *search = reading->job ? job_done(reading->job) : NULL;
	bool found = search && take_found(reading, search, now);

	if (reading->stage == RESTS)
		rest(reading, now);
	if (reading->stage == LOOKS)
		look(reading, live, now);
	if (reading->stage == READS)
		read_on(reading, live);
	return found;
}

const char *kernel_reading_remark(const struct kernel_reading *reading, char *text, size_t size)
{
	if (reading->stage == RESTS)
		return util_print(text, size, "no names: no kernel file is known, and no table of symbols was found "
			"in the guest's memory; give --kernel ELF");
	if (!kernel_reading_is_busy(reading))
		return util_print(text, size, "%s", "");
	if (!reading->named)
		return util_print(text, size, "the kernel's names are being read from the guest's memory: "
			"%zu MiB so far", reading->size / MIB);
	return util_print(text, size, "the kernel's tables are being read from the guest's memory: %zu %%",
		reading->size * 100 / reading->wanted);
}
