/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "kernel_reading.h"

/* ---- the guest's memory ---- */

enum {
	PAGE = GUEST_MEMORY_PAGE,
	PAGES_MAX = 16384,		/* 64 MiB: a recording's pages with a whole kernel's tables are all kept */
	AHEAD = 2,			/* pages that are asked for where one is missing: it, and the next one */
	UNDER_WAY = 32,			/* pages that are asked for at a time */
	LINE_PAGES = 16,		/* pages that one line asks for */
	LATE = 1024,			/* a page that has not come with so many samples is asked for again */
	LATE_MS = 3000,			/* likewise, of QEMU, after this time */
	ASKS = 3,			/* how often one page is asked for at most */
};

enum state { PAGE_WANTED, PAGE_ASKED, PAGE_THERE, PAGE_ABSENT };

struct page {
	uint64_t address;
	bool physical;
	uint8_t asks;
	enum state state;
	uint64_t renewal;		/* `renewals` when it was wanted: out of date if that has grown */
	uint64_t asked;			/* when: as a number of samples; of QEMU: util_now */
	uint64_t time;			/* guest ns at which its bytes came; 0: not known */
	uint8_t *bytes;			/* NULL: none have come */
};

struct view {				/* a memory_reader's context */
	struct guest_memory *memory;
	bool physical;
};

struct guest_memory {
	struct budget *budget;
	struct hash index;		/* of the pages, by address */
	struct page *pages;
	uint32_t count, room;
	uint32_t under_way, wanted;	/* how many are in these states */
	uint64_t renewals;
	uint64_t awaited, unkept, overdue;
	uint64_t rests_until;		/* samples: nothing is asked for before */
	bool refused;
	struct view views[2];
};

struct guest_memory *guest_memory_new(struct budget *budget)
{
	struct guest_memory *memory = util_alloc(sizeof(*memory));

	memory->budget = budget;
	hash_init(&memory->index, budget);
	for (int i = 0; i < 2; i++)
		memory->views[i] = (struct view) { .memory = memory, .physical = i };
	return memory;
}

static void free_bytes(struct guest_memory *memory, struct page *page)
{
	if (page->bytes)
		budget_free(memory->budget, page->bytes, PAGE);
	page->bytes = NULL;
}

void guest_memory_free(struct guest_memory *memory)
{
	if (!memory)
		return;
	for (uint32_t i = 0; i < memory->count; i++)
		free_bytes(memory, &memory->pages[i]);
	budget_free(memory->budget, memory->pages, memory->room * sizeof(*memory->pages));
	hash_clear(&memory->index);
	free(memory);
}

/* ---- pages ---- */

static struct page *find(struct guest_memory *memory, bool physical, uint64_t address)
{
	uint64_t value = hash_pair(&memory->index, address, physical);
	uint32_t at = 0, position;

	while ((position = hash_next(&memory->index, value, &at)) != HASH_NONE) {
		struct page *page = &memory->pages[position];

		if (page->address == address && page->physical == physical)
			return page;
	}
	return NULL;
}

static void set_state(struct guest_memory *memory, struct page *page, enum state state)
{
	memory->wanted -= page->state == PAGE_WANTED;
	memory->under_way -= page->state == PAGE_ASKED;
	page->state = state;
	memory->wanted += state == PAGE_WANTED;
	memory->under_way += state == PAGE_ASKED;
}

/* NULL: there is no room. */
static struct page *add(struct guest_memory *memory, bool physical, uint64_t address)
{
	uint64_t value = hash_pair(&memory->index, address, physical);
	struct page *pages = memory->count == PAGES_MAX ? NULL :
		budget_array(memory->budget, memory->pages, memory->count, &memory->room, sizeof(*pages));

	if (!pages)
		return NULL;
	memory->pages = pages;
	if (!hash_add(&memory->index, value, memory->count))
		return NULL;
	pages[memory->count] = (struct page) { .address = address, .physical = physical, .state = PAGE_ABSENT };
	return &pages[memory->count++];
}

/* The page, which is asked for if it is not up to date. NULL: there is no room for it. */
static struct page *want(struct guest_memory *memory, bool physical, uint64_t address)
{
	struct page *page = find(memory, physical, address);

	if (page && page->renewal == memory->renewals)
		return page;
	if (!page)
		page = add(memory, physical, address);
	if (!page)
		return NULL;
	page->renewal = memory->renewals;
	page->asks = 0;
	if (page->state != PAGE_ASKED)
		set_state(memory, page, PAGE_WANTED);
	return page;
}

/* ---- readers ---- */

/* False: it is not there, or not yet. */
static bool read_piece(const struct view *view, uint64_t address, void *bytes, size_t size)
{
	struct guest_memory *memory = view->memory;
	uint64_t start = address - address % PAGE;
	struct page *page = want(memory, view->physical, start);

	if (!page) {
		memory->unkept++;
		return false;
	}
	if (page->state == PAGE_THERE)
		memcpy(bytes, page->bytes + address % PAGE, size);
	else if (page->state != PAGE_ABSENT)
		memory->awaited++;
	if (page->state == PAGE_WANTED && !view->physical) {
		for (uint64_t i = 1; i < AHEAD; i++)	/* `page` may move */
			want(memory, view->physical, start + i * PAGE);
		return false;
	}
	return page->state == PAGE_THERE;
}

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	bool good = address + size >= address;

	for (size_t done = 0; good && done < size;) {
		size_t left = PAGE - (size_t)((address + done) % PAGE), piece = size - done < left ? size - done : left;

		good = read_piece(context, address + done, (uint8_t *)bytes + done, piece);
		done += piece;
	}
	return good;
}

static uint64_t awaited(void *context)
{
	return ((const struct view *)context)->memory->awaited;
}

static struct memory_reader reader_of(struct view *view)
{
	return (struct memory_reader) { .read = read_memory, .context = view, .awaited = awaited };
}

struct memory_reader guest_memory_virtual(struct guest_memory *memory)
{
	return reader_of(&memory->views[0]);
}

struct memory_reader guest_memory_physical(struct guest_memory *memory)
{
	return reader_of(&memory->views[1]);
}

uint64_t guest_memory_time(struct guest_memory *memory, uint64_t address)
{
	const struct page *page = find(memory, false, address - address % PAGE);

	return page && page->bytes ? page->time : 0;
}

/* Those that nobody has read since the last time are forgotten. */
void guest_memory_renew(struct guest_memory *memory)
{
	uint32_t kept = 0;

	hash_clear(&memory->index);
	for (uint32_t i = 0; i < memory->count; i++) {
		struct page *page = &memory->pages[i];

		if (page->renewal == memory->renewals && hash_add(&memory->index,
				hash_pair(&memory->index, page->address, page->physical), kept)) {
			memory->pages[kept++] = *page;
			continue;
		}
		set_state(memory, page, PAGE_ABSENT);
		free_bytes(memory, page);
	}
	memory->count = kept;
	memory->renewals++;
}

/* ---- asking ---- */

bool guest_memory_take(struct guest_memory *memory, const struct memory_bytes *bytes)
{
	uint64_t start = bytes->address - bytes->address % PAGE;
	struct page *page = find(memory, bytes->physical, start);
	bool whole = (bytes->packed ? bytes->bytes.size : bytes->bytes.size == PAGE) && start == bytes->address;

	if (!page)
		page = add(memory, bytes->physical, start);
	if (!page) {
		memory->unkept++;
		return false;
	}
	if (whole && !page->bytes)
		page->bytes = budget_resize(memory->budget, NULL, 0, PAGE);
	memory->unkept += whole && !page->bytes;
	whole = whole && page->bytes;
	if (whole && bytes->packed)
		whole = unpack_zstd_all((const uint8_t *)bytes->bytes.bytes, bytes->bytes.size, page->bytes, PAGE);
	else if (whole)
		memcpy(page->bytes, bytes->bytes.bytes, PAGE);
	set_state(memory, page, whole ? PAGE_THERE : PAGE_ABSENT);
	page->renewal = memory->renewals;
	page->time = bytes->time;
	return true;
}

/* A page that is late is asked for again, or given up. */
static void look_at_late(struct guest_memory *memory, uint64_t now, uint64_t late)
{
	for (uint32_t i = 0; memory->under_way && i < memory->count; i++) {
		struct page *page = &memory->pages[i];

		if (page->state != PAGE_ASKED || now - page->asked < late)
			continue;
		memory->overdue += page->asks >= ASKS;
		set_state(memory, page, page->asks < ASKS ? PAGE_WANTED : PAGE_ABSENT);
	}
}

static struct page *first_wanted(struct guest_memory *memory)
{
	for (uint32_t i = 0; memory->wanted && i < memory->count; i++)
		if (memory->pages[i].state == PAGE_WANTED)
			return &memory->pages[i];
	return NULL;
}

bool guest_memory_ask(struct guest_memory *memory, uint64_t samples, char line[COMMANDS_LINE_MAX + 1])
{
	struct page *page;
	uint64_t address;
	bool physical;
	uint32_t count = 0;

	look_at_late(memory, samples, LATE);
	if (memory->refused)
		memory->rests_until = samples + LATE;
	memory->refused = false;
	page = samples < memory->rests_until || memory->under_way + LINE_PAGES > UNDER_WAY ? NULL :
		first_wanted(memory);
	if (!page)
		return false;
	physical = page->physical;
	address = page->address;
	while (page && page->state == PAGE_WANTED && count < LINE_PAGES) {
		set_state(memory, page, PAGE_ASKED);
		page->asked = samples;
		page->asks++;
		count++;
		page = find(memory, physical, address + (uint64_t)count * PAGE);
	}
	snprintf(line, COMMANDS_LINE_MAX + 1, "read %s %" PRIx64 " %" PRIu32, physical ? "physical" : "virtual",
		address, count);
	return true;
}

bool guest_memory_next(struct guest_memory *memory, uint64_t now, uint64_t *address)
{
	struct page *page;

	look_at_late(memory, now, (uint64_t)LATE_MS * NS_PER_MS);
	while ((page = first_wanted(memory)) && (page->physical || !(page->address >> 63)))
		set_state(memory, page, PAGE_ABSENT);
	if (!page)
		return false;
	set_state(memory, page, PAGE_ASKED);
	page->asked = now;
	page->asks++;
	*address = page->address;
	return true;
}

void guest_memory_refused(struct guest_memory *memory)
{
	memory->refused = true;
}

uint64_t guest_memory_unkept(const struct guest_memory *memory)
{
	return memory->unkept;
}

uint64_t guest_memory_overdue(const struct guest_memory *memory)
{
	return memory->overdue;
}

/* ---- kernel reading ---- */

enum {
	MIB = 1 << 20,
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
