/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/job.h"
#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/linux/call_sites.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/modules.h"
#include "agent/names/linux/walk.h"
#include "agent/wire/event.h"
#include "running_kernel.h"
#include "symbols.h"

enum { FUNCTION_MAX = 1 << 20 };	/* bytes: no function is larger */
#define UPTIME_MOST (NS_PER_SECOND * 3600 * 24 * 36525)	/* a hundred years: more is no time */

bool running_kernel_place(struct symbols *symbols, const struct memory_reader *memory, uint64_t code)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide, awaited = memory_reader_awaited(memory);

	/* The last way reads many places, so it waits for the others. */
	if (!kernel || !(slide_by_gate(kernel, memory, &slide) ||
			(code && slide_by_base(kernel, memory, code, &slide)) ||
			(awaited == memory_reader_awaited(memory) && slide_by_banner(kernel, memory, &slide))))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_place_physically(struct symbols *symbols, const struct memory_reader *physical, uint64_t start)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide;

	if (!kernel || !slide_by_physical_base(kernel, physical, start, &slide))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_place_by_returns(struct symbols *symbols, const uint64_t *returns, size_t count)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide;

	if (!kernel || !kernel->calls || !call_sites_slide(kernel->calls, returns, count, SLIDE_STEP, &slide))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_uptime(struct symbols *symbols, const struct memory_reader *memory, uint64_t *place, uint64_t *ns)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	const struct clock_layout *layout = kernel ? &kernel->layout.clock : NULL;
	uint8_t base[8], fraction[8], shift[4];
	uint64_t clock;

	if (!kernel || !layout->known || !symbols_kernel_is_placed(symbols) ||
			!linux_kernel_landmark(kernel, LANDMARK_CLOCK, &clock))
		return false;
	clock += symbols_kernel_slide(symbols);
	if (!memory->read(memory->context, clock + layout->base, base, sizeof(base)) ||
			!memory->read(memory->context, clock + layout->fraction, fraction, sizeof(fraction)) ||
			!memory->read(memory->context, clock + layout->shift, shift, sizeof(shift)) ||
			bytes_64(base) > UPTIME_MOST || bytes_32(shift) > 63 ||
			bytes_64(fraction) >> bytes_32(shift) > 2 * NS_PER_SECOND)
		return false;
	*place = clock + layout->base;
	*ns = bytes_64(base) + (bytes_64(fraction) >> bytes_32(shift));
	return *ns;
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static void map(struct symbols *symbols, uint64_t start, uint64_t size, const char *name)
{
	static const char *const folders[] = { NULL };

	symbols_map(symbols, &(struct object) {
		.process = EVENT_KERNEL, .start = start, .end = start + size, .bias = start, .name = text_of(name),
	}, folders);
}

struct telling {			/* a visitor's context */
	struct symbols *symbols;
	struct quota *quota;		/* for generated code: modules.c spends what modules cost */
};

static bool take_module(void *context, const struct kernel_module *module)
{
	const struct telling *telling = context;

	for (uint32_t i = 0; i < module->count; i++)
		map(telling->symbols, module->parts[i].address, module->parts[i].size, module->name);
	return true;
}

static bool take_symbol(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;
	uint32_t size = symbol->size < FUNCTION_MAX ? (uint32_t)symbol->size : FUNCTION_MAX;

	if (size)
		symbols_tell(telling->symbols, symbol->address, size, text_of(symbol->name));
	return true;
}

static bool take_bpf(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;

	quota_spend(telling->quota, WALK_MAP_COST + WALK_TELL_COST);
	map(telling->symbols, symbol->address, symbol->size, "[bpf]");
	return take_symbol(context, symbol);
}

static bool take_trampoline(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;

	quota_spend(telling->quota, WALK_MAP_COST + WALK_TELL_COST);
	map(telling->symbols, symbol->address, symbol->size, "[trampoline]");
	symbols_tell(telling->symbols, symbol->address, (uint32_t)symbol->size, text_of("[trampoline]"));
	return true;
}

static enum walk read_code(const struct linux_kernel *kernel, const struct walked_memory *memory,
	struct running_kernel_look *look, struct telling *telling)
{
	bool bpf = look->stage == RUNNING_KERNEL_BPF;
	const struct module_visitor visitor = { .symbol = bpf ? take_bpf : take_trampoline, .context = telling };
	uint64_t head;

	if (!linux_kernel_landmark(kernel, bpf ? LANDMARK_BPF : LANDMARK_TRAMPOLINES, &head))
		return WALK_FAILED;
	return modules_code_visit(bpf ? &kernel->layout.bpf : &kernel->layout.trampolines,
		head + symbols_kernel_slide(telling->symbols), memory, &look->place, &visitor);
}

static enum walk read_stage(const struct linux_kernel *kernel, const struct walked_memory *memory,
	struct running_kernel_look *look, struct telling *telling)
{
	const struct module_visitor visitor = { .module = take_module, .symbol = take_symbol, .context = telling };

	if (look->stage != RUNNING_KERNEL_MODULES)
		return read_code(kernel, memory, look, telling);
	return module_tables_read(symbols_modules(telling->symbols), kernel, symbols_kernel_slide(telling->symbols),
		memory, &look->place, &visitor);
}

enum walk running_kernel_read_modules(struct symbols *symbols, const struct walked_memory *memory,
	struct running_kernel_look *look)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	struct telling telling = { .symbols = symbols, .quota = memory->quota };

	if (!kernel || !symbols_kernel_is_placed(symbols))
		return WALK_FAILED;
	while (look->stage != RUNNING_KERNEL_DONE) {
		enum walk walk = read_stage(kernel, memory, look, &telling);

		if (walk == WALK_PAUSED)
			return walk;
		look->whole = look->whole || (look->stage == RUNNING_KERNEL_MODULES && walk == WALK_ENDED);
		look->place = (struct list_place) { .next = 0 };
		look->stage++;
	}
	symbols_tell(symbols, 0, 0, (struct text) { .size = 0 });	/* that is all */
	return look->whole ? WALK_ENDED : WALK_FAILED;
}

/* ---- where a kernel runs that is no Linux ---- */

enum {
	PAGE = 4096,
	CODE_MOST = 32 << 20,		/* bytes of a file's code */
	NEW_SAMPLES = 64,		/* before a look, and before pages that have not come are asked for again */
	REST_MOST = 1 << 16,		/* samples between two looks; each that finds the same rests twice as long */
	REST_OTHER = 1 << 10,		/* the same, where other code runs: its loader, perhaps */
	LEAST = 16,			/* so many samples are looked at, or none */
	TRIED = 8,			/* pages that are tried in a look, outside the file's code, and in it */
	PATIENCE = 4,			/* a look goes without pages that have not come after so many attempts */
	WINDOW = 24, MATCHES = 64,	/* bytes that are looked for; places of the file that are tried */
	COMPARED = 64,			/* bytes of a page that the file must have */
	COSTS = 4,			/* equal bytes that outweigh one that differs: a loader may change addresses */
};

struct kernel_place {
	struct symbols *symbols;
	struct budget *budget;
	int file;			/* the descriptor whose code is kept; -1: none */
	struct elf_segments segments;
	uint8_t *code;			/* of all segments, one behind the other */
	size_t size;
	uint64_t looked;		/* symbols_sampled at the last attempt */
	uint64_t due, rest;		/* symbols_sampled at the next look; how long that has rested by then */
	uint32_t attempts;		/* of this look */
	bool news;			/* pages have come since */
};

struct kernel_place *kernel_place_new(struct symbols *symbols, struct budget *budget)
{
	struct kernel_place *place = util_alloc(sizeof(*place));

	*place = (struct kernel_place) {
		.symbols = symbols, .budget = budget, .file = -1, .due = NEW_SAMPLES, .rest = NEW_SAMPLES,
	};
	return place;
}

static void forget(struct kernel_place *place)
{
	budget_free(place->budget, place->code, place->size);
	place->code = NULL;
	place->size = 0;
	place->file = -1;
}

void kernel_place_free(struct kernel_place *place)
{
	if (!place)
		return;
	forget(place);
	free(place);
}

void kernel_place_wake(struct kernel_place *place)
{
	place->news = true;
}

static bool read_segments(struct kernel_place *place, int fd)
{
	size_t at = 0;

	for (uint32_t i = 0; i < place->segments.count; i++) {
		const struct elf_segment *segment = &place->segments.list[i];

		for (uint64_t done = 0; done < segment->size;) {
			ssize_t got = pread(fd, place->code + at, segment->size - done,
				(off_t)(segment->offset + done));

			if (got <= 0)
				return false;
			at += (size_t)got;
			done += (uint64_t)got;
		}
	}
	return true;
}

/* Reads the code of the kernel's file, once for a look. False: it has none that is of use. */
static bool have_code(struct kernel_place *place, int fd)
{
	uint64_t size = 0;

	if (fd == place->file)
		return place->code;
	forget(place);
	place->file = fd;
	sym_elf_segments(fd, &place->segments);
	for (uint32_t i = 0; i < place->segments.count; i++) {
		if (place->segments.list[i].size > CODE_MOST - size)
			return false;
		size += place->segments.list[i].size;
	}
	place->code = size ? budget_resize(place->budget, NULL, 0, size) : NULL;
	place->size = place->code ? size : 0;
	if (place->code && !read_segments(place, fd)) {
		forget(place);
		place->file = fd;
	}
	return place->code;
}

/* Where a byte of the code is linked. */
static uint64_t link_of(const struct kernel_place *place, size_t at)
{
	uint32_t i = 0;

	for (; at >= place->segments.list[i].size; i++)
		at -= place->segments.list[i].size;
	return place->segments.list[i].address + at;
}

/* The byte that is linked at an address. NULL: none is. */
static const uint8_t *code_at(const struct kernel_place *place, uint64_t link)
{
	const uint8_t *code = place->code;

	for (uint32_t i = 0; i < place->segments.count; i++) {
		const struct elf_segment *segment = &place->segments.list[i];

		if (link - segment->address < segment->size)
			return code + (link - segment->address);
		code += segment->size;
	}
	return NULL;
}

/* The next place in the code that has these bytes. NULL: there is none. */
static const uint8_t *find_next(const struct kernel_place *place, const uint8_t *from, const uint8_t *window)
{
	return memmem(from, place->size - (size_t)(from - place->code), window, WINDOW);
}

/*
 * How well these bytes fit to the file's code at some place: above 0, they are that code. What fills up a page, and is
 * equal, counts for nothing. 0 also if the file has fewer of the bytes than `least`.
 */
static int fit(const struct kernel_place *place, const uint8_t *bytes, size_t size, uint64_t link, size_t least)
{
	size_t compared = 0;
	int score = 0;

	for (size_t i = 0; i < size; i++) {
		const uint8_t *byte = code_at(place, link + i);

		compared += byte != NULL;
		if (byte && *byte != bytes[i])
			score -= COSTS;
		else if (byte && (i == 0 || bytes[i] != bytes[i - 1]))
			score++;
	}
	return compared < least && compared < place->size ? 0 : score;
}

enum verdict { NOT_READ, NOTHING, HERE, MOVED, OTHER, VERDICTS };

/*
 * By the code that ran at this address: wherever the file has it, all of its page is compared. If one other place fits
 * best, that gives the slide. OTHER: the file has this page at no place, or at several, or at one to which no loader
 * moves it: some code before it is longer. Of a page with data that has changed, the code itself is enough.
 */
static enum verdict judge(struct kernel_place *place, const struct memory_reader *memory, uint64_t address,
	uint64_t *slide)
{
	uint64_t start = address / PAGE * PAGE, now = symbols_kernel_slide(place->symbols);
	size_t at = (size_t)(address - start) < PAGE - WINDOW ? (size_t)(address - start) : PAGE - WINDOW;
	const uint8_t *found = place->code;
	int here, best = 0, second = 0;
	uint8_t page[PAGE];

	if (!memory->read(memory->context, start, page, PAGE))
		return NOT_READ;
	here = fit(place, page, PAGE, start - now, COMPARED);
	for (uint32_t i = 0; i < MATCHES && (found = find_next(place, found, page + at)); i++, found++) {
		uint64_t tried = start + at - link_of(place, (size_t)(found - place->code));
		int score = tried == now ? 0 : fit(place, page, PAGE, start - tried, COMPARED);

		second = score > best ? best : score > second ? score : second;
		if (score <= best)
			continue;
		best = score;
		*slide = tried;
	}
	if (best > here && best > 0)
		return best > second && (here == 0 || (*slide - now) % PAGE == 0) ? MOVED : OTHER;
	if (here >= 0)
		return here ? HERE : NOTHING;
	return fit(place, page + at, WINDOW, start + at - now, WINDOW) > 0 ? HERE : OTHER;
}

/* The place that most of them say. False: there are none. */
static bool most_say(const uint64_t *slides, uint32_t count, uint64_t *slide)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t equal = 0;

		for (uint32_t j = 0; j < count; j++)
			equal += slides[j] == slides[i];
		if (equal > most)
			*slide = slides[i];
		most = equal > most ? equal : most;
	}
	return most;
}

/* Leaves the first address of each page, of TRIED pages at most. Returns how many these are. */
static uint32_t leave_pages(uint64_t *addresses, uint32_t count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count && left < TRIED; i++) {
		uint32_t j = 0;

		while (j < left && addresses[j] / PAGE != addresses[i] / PAGE)
			j++;
		if (j == left)
			addresses[left++] = addresses[i];
	}
	return left;
}

/* A look, by the code at these addresses. It ends when all their pages have come, or do not come. */
static void look(struct kernel_place *place, const struct memory_reader *memory, const uint64_t *addresses,
	uint32_t count)
{
	uint32_t verdicts[VERDICTS] = { 0 };
	uint64_t slides[2 * TRIED], other = 0, slide = 0, most;
	bool news;

	for (uint32_t i = 0; i < count; i++) {
		enum verdict verdict = judge(place, memory, addresses[i], &slides[verdicts[MOVED]]);

		verdicts[verdict]++;
		if (verdict == OTHER)
			other = addresses[i] / PAGE * PAGE;
	}
	if (verdicts[NOT_READ] && ++place->attempts < PATIENCE)
		return;
	news = verdicts[MOVED] > verdicts[HERE] && most_say(slides, verdicts[MOVED], &slide);
	if (news)
		symbols_set_slide(place->symbols, slide);
	else if (verdicts[HERE] || verdicts[OTHER])
		news = symbols_kernel_compared(place->symbols, verdicts[HERE], verdicts[OTHER], other);
	forget(place);
	place->attempts = 0;
	most = verdicts[OTHER] ? REST_OTHER : REST_MOST;
	place->rest = news ? NEW_SAMPLES : 2 * place->rest < most ? 2 * place->rest : most;
	place->due = place->looked + place->rest;
}

bool kernel_place_is_due(const struct kernel_place *place)
{
	return symbols_sampled(place->symbols) >= place->due && !place->attempts;
}

void kernel_place_step(struct kernel_place *place, const struct memory_reader *memory)
{
	uint64_t addresses[TRIED + SYMBOLS_RECENT], sampled = symbols_sampled(place->symbols);
	int fd = symbols_kernel_descriptor(place->symbols);
	uint32_t outside, inside, kernel, pages;

	if (fd < 0 || symbols_linux_kernel(place->symbols) || sampled < place->due ||
			(place->attempts && !place->news && sampled - place->looked < NEW_SAMPLES))
		return;
	place->news = false;
	place->looked = sampled;
	outside = symbols_outside(place->symbols, addresses, &kernel);
	outside = 2 * outside > kernel ? outside : 0;
	pages = leave_pages(addresses, outside);
	/* A kernel may map a page of its code once more. It has not moved while the rest of it is where it was. */
	inside = symbols_inside(place->symbols, addresses + pages);
	if (outside + inside < LEAST || !have_code(place, fd))
		place->due = sampled + NEW_SAMPLES;
	else
		look(place, memory, addresses, pages + leave_pages(addresses + pages, inside));
}

/* ---- its names ---- */

enum { PIPE_MS = 30000 };		/* the longest wait for a pipe's writer: nm may be slow */

struct reading {			/* the job's context */
	struct spool spool;		/* path NULL: not opened yet */
	char *path;
	bool given;
	struct budget *budget;		/* held */
	bool check;			/* read only if the file has changed since `file` */
	struct stat file;
	bool same;			/* it has not changed */
	struct symbols *symbols;	/* NULL: it failed, or the file has not changed */
	bool starved;
	char *error;
};

struct kernel_names {
	char *path;
	bool given;			/* by the user; a pipe that others name may have no writer, or never end */
	struct budget *budget;
	struct job *job;		/* NULL: nothing is being read */
	const struct reading *reading;	/* with `job`: its context, of which only spool.copying may be looked at */
	struct spool spool;		/* what was read, for reading it again */
	struct symbols *symbols;	/* of no boot; boots share its kernel file; NULL: none */
	bool starved;
	char *error;			/* NULL: none */
};

static void run(void *context)
{
	struct reading *reading = context;
	uint64_t refused = budget_refused(reading->budget);
	struct symbols *symbols;

	reading->same = reading->check && image_is_current(reading->spool.path, &reading->file);
	if (reading->same)
		return;
	if (!reading->spool.path && !reading->given)
		reading->spool.path = util_copy(reading->path, strlen(reading->path));
	if (reading->spool.path || spool_open(&reading->spool, reading->path, PIPE_MS,
			reading->budget, &reading->error)) {
		symbols = symbols_new(reading->budget);
		if (symbols_load_kernel(symbols, reading->spool.path, &reading->error))
			reading->symbols = symbols;
		else
			symbols_free(symbols);
	}
	reading->starved = reading->error && budget_refused(reading->budget) != refused;
}

static void free_reading(void *context)
{
	struct reading *reading = context;

	symbols_free(reading->symbols);
	spool_close(&reading->spool);
	budget_release(reading->budget);
	free(reading->path);
	free(reading->error);
	free(reading);
}

static void names_forget(struct kernel_names *names)
{
	symbols_free(names->symbols);
	free(names->error);
	names->symbols = NULL;
	names->error = NULL;
}

/* Lends the copy of a file that can be read only once to the job; kernel_names_step takes it back. */
static void begin(struct kernel_names *names, const struct stat *check)
{
	static const struct job_work work = { .run = run, .free = free_reading };
	struct reading *reading = util_alloc(sizeof(*reading));

	reading->path = util_copy(names->path, strlen(names->path));
	reading->given = names->given;
	reading->budget = budget_hold(names->budget);
	reading->spool = names->spool;
	names->spool = (struct spool) { .fd = -1 };
	reading->check = check;
	if (check)
		reading->file = *check;
	else
		names_forget(names);
	names->reading = reading;
	names->job = job_new(&work, reading);
}

struct kernel_names *kernel_names_new(const char *path, bool given, struct budget *budget)
{
	struct kernel_names *names = util_alloc(sizeof(*names));

	names->path = util_copy(path, strlen(path));
	names->given = given;
	names->budget = budget;
	names->spool.fd = -1;
	begin(names, NULL);
	return names;
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	job_leave(names->job);
	symbols_free(names->symbols);
	spool_close(&names->spool);
	free(names->error);
	free(names->path);
	free(names);
}

const char *kernel_names_path(const struct kernel_names *names)
{
	return names->path;
}

bool kernel_names_step(struct kernel_names *names)
{
	struct reading *reading = names->job ? job_done(names->job) : NULL;

	bool news = reading && !reading->same;

	if (!reading)
		return false;
	names->spool = reading->spool;
	reading->spool = (struct spool) { .fd = -1 };
	if (news) {
		names_forget(names);
		names->symbols = reading->symbols;
		names->starved = reading->starved;
		names->error = reading->error;
		reading->symbols = NULL;
		reading->error = NULL;
	}
	job_leave(names->job);
	names->job = NULL;
	return news;
}

bool kernel_names_reading(const struct kernel_names *names)
{
	return names->job;
}

bool kernel_names_copying(const struct kernel_names *names)
{
	return names->job && names->reading->spool.copying;
}

const char *kernel_names_error(const struct kernel_names *names)
{
	return names->error;
}

bool kernel_names_starved(const struct kernel_names *names)
{
	return names->error && names->starved && !names->spool.spent;
}

void kernel_names_again(struct kernel_names *names)
{
	if (!names->job && !names->spool.spent)
		begin(names, NULL);
}

void kernel_names_check(struct kernel_names *names)
{
	if (!names->job && !names->spool.spent)
		begin(names, names->symbols ? symbols_kernel_file(names->symbols) : NULL);
}

bool kernel_names_give(struct kernel_names *names, struct symbols *symbols)
{
	if (!names->symbols) {
		kernel_names_again(names);
		return false;
	}
	return symbols_share_kernel(symbols, names->symbols) ||
		util_fail(&names->error, "%s: not used: too many files are open; let ktop have more (ulimit -n)",
			names->path);
}
