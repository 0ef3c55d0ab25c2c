/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/job.h"
#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/function.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "listing.h"
#include "listings.h"

enum {
	KEPT = 4,			/* listings */
	COST = 4 << 20,			/* bytes of the budget for each: a bound of what it may take */
	CALLEES_MAX = 4096,		/* functions that are named for one listing */
	TRIES = 100,			/* answers after which memory that does not come is given up */
};

struct task {				/* what the job works on; all its own */
	struct code_file file;		/* its descriptor and path are its own, too */
	struct code_bytes code;
	bool bare;			/* `code` was read from the guest's memory */
	uint64_t low, high;
	struct code_lines *lines;
	char *map;
	struct budget *budget;		/* held */
	struct listing *listing;	/* the result */
};

struct entry {
	bool used;
	uint32_t function;
	uint64_t generation;		/* of the symbols, when it was begun */
	uint64_t asked;			/* larger: later */
	struct symbol_code code;
	bool lined, later;		/* the worker has answered; it may have more later */
	bool stale;			/* the listing is to be made, or made anew */
	bool bare;			/* no file has its code */
	unsigned tries;			/* reads of the guest's memory that failed */
	struct code_lines *lines;	/* the job has them while it works */
	struct job *job;		/* NULL: none is under way */
	struct listing *listing;
};

struct listings {
	struct symbols *symbols;
	struct budget *budget;
	char *map;
	uint64_t asks;
	struct entry entries[KEPT];
	struct named_functions named[KEPT];	/* of the last names that were asked for */
	unsigned next_named;
};

/* ---- the job ---- */

static void run(void *context)
{
	struct task *task = context;

	if (!task->bare)
		code_bytes_read(&task->code, &task->file, task->low, task->high, task->budget);
	task->listing = listing_new(&task->code, task->low, task->high, task->lines, task->map);
}

static void free_task(void *context)
{
	struct task *task = context;

	if (task->file.fd >= 0)
		close(task->file.fd);
	free((char *)task->file.path);
	code_lines_free(task->lines);
	listing_release(task->listing);
	budget_release(task->budget);
	free(task->map);
	free(task);
}

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

static struct task *new_task(const struct listings *listings, struct entry *entry)
{
	const struct symbol_code *code = &entry->code;
	struct task *task = util_alloc(sizeof(*task));

	task->low = code->low;
	task->high = code->high;
	task->file.fd = code->fd < 0 ? -1 : fcntl(code->fd, F_DUPFD_CLOEXEC, 0);
	task->file.path = code->kernel ? copy(code->path) : NULL;
	task->file.start = code->kernel ? code->kernel->start : 0;
	if (code->file)
		task->file.then = *code->file;
	task->lines = entry->lines;
	entry->lines = NULL;
	task->map = copy(listings->map);
	task->budget = budget_hold(listings->budget);
	return task;
}

static const struct job_work work = { .run = run, .free = free_task };

/* ---- entries ---- */

static void clear(struct listings *listings, struct entry *entry)
{
	if (entry->used)
		budget_give(listings->budget, COST);
	job_leave(entry->job);
	code_lines_free(entry->lines);
	listing_release(entry->listing);
	*entry = (struct entry) { .used = false };
}

struct listings *listings_new(struct symbols *symbols, struct budget *budget)
{
	struct listings *listings = util_alloc(sizeof(*listings));

	listings->symbols = symbols;
	listings->budget = budget;
	return listings;
}

void listings_free(struct listings *listings)
{
	for (int i = 0; listings && i < KEPT; i++)
		clear(listings, &listings->entries[i]);
	if (listings)
		free(listings->map);
	free(listings);
}

void listings_set_map(struct listings *listings, const char *map)
{
	free(listings->map);
	listings->map = copy(map);
}

const struct named_functions *listings_functions(struct listings *listings, uint64_t name, const char *kernel)
{
	struct named_functions *named = &listings->named[listings->next_named];

	for (int i = 0; i < KEPT; i++)
		if (listings->named[i].name == name)
			named = &listings->named[i];
	if (named->name != name)
		listings->next_named = (listings->next_named + 1) % KEPT;
	named_functions_find(named, listings->symbols, name, kernel);
	return named;
}

/* Code that has moved since, or has another file now, is another function's. */
static bool is_of(const struct listings *listings, struct entry *entry, uint32_t function, uint32_t space,
	uint64_t address)
{
	struct symbol_code now;

	if (!entry->used || entry->function != function)
		return false;
	if (entry->generation == symbols_generation(listings->symbols))
		return true;
	entry->generation = symbols_generation(listings->symbols);
	if (!symbols_code(listings->symbols, space, address, &now) || now.low != entry->code.low ||
			now.high != entry->code.high || now.path != entry->code.path || now.debug != entry->code.debug)
		return false;
	entry->code = now;
	return true;
}

/* An image that was read from memory is no file. */
static bool in_file(const struct symbol_code *code)
{
	return code->fd >= 0 || (code->kernel && code->file && code->file->st_ino);
}

/* NULL: nobody knows the function's code, or there is no memory for it. */
static struct entry *have_entry(struct listings *listings, uint32_t space, uint64_t address)
{
	uint32_t function = symbols_function(listings->symbols, space, address);
	struct entry *oldest = listings->entries;
	struct symbol_code code;

	for (struct entry *entry = listings->entries; entry < listings->entries + KEPT; entry++) {
		if (is_of(listings, entry, function, space, address))
			return entry;
		if (entry->asked < oldest->asked)
			oldest = entry;
	}
	if (!symbols_code(listings->symbols, space, address, &code))
		return NULL;
	clear(listings, oldest);
	if (!budget_take(listings->budget, COST))
		return NULL;
	*oldest = (struct entry) {
		.used = true, .function = function, .code = code, .bare = !in_file(&code),
		.generation = symbols_generation(listings->symbols),
	};
	return oldest;
}

/* ---- steps ---- */

/* The function that a call leads to: its own text, which lives as long as the listing. */
static void name_callees(struct listings *listings, struct listing *listing, uint32_t space, uint64_t bias)
{
	uint32_t *offsets = util_alloc(listing->count * sizeof(*offsets));
	size_t size, count = 0, used = 1;
	FILE *texts = util_text_open(&listing->callees, &size);

	fputc('\0', texts);
	for (size_t i = 0; i < listing->count && count < CALLEES_MAX; i++) {
		const struct listing_instruction *from = &listing->instructions[i];
		const struct function *function;
		uint32_t id;

		if (!from->goes || (from->goes >= listing->low && from->goes < listing->high))
			continue;
		id = symbols_function(listings->symbols, space, from->goes + bias);
		function = symbols_get(listings->symbols, id);
		if (!function->known)
			continue;
		offsets[i] = (uint32_t)used;
		listing->instructions[i].called = id;
		used += strlen(function->name) + 1;
		fwrite(function->name, 1, strlen(function->name) + 1, texts);
		count++;
	}
	listing->callees = util_text_close(texts, &listing->callees);
	for (size_t i = 0; i < listing->count; i++)
		if (offsets[i])
			listing->instructions[i].callee = listing->callees + offsets[i];
	free(offsets);
}

/* True: `code` has what there is, perhaps nothing. False: some of the memory is still on its way. */
static bool read_memory(struct entry *entry, enum arch_id arch, const struct memory_reader *memory,
	struct code_bytes *code)
{
	uint64_t size = entry->code.high - entry->code.low, awaited = memory_reader_awaited(memory);

	if (size > CODE_BYTES_MAX)
		size = CODE_BYTES_MAX;
	code->arch = arch;
	code->size = 0;
	if (memory->read(memory->context, entry->code.low + entry->code.bias, code->bytes, size))
		code->size = size;
	return code->size || memory_reader_awaited(memory) == awaited || entry->tries++ >= TRIES;
}

static void take_job(struct listings *listings, struct entry *entry, uint32_t space)
{
	struct task *task = entry->job ? job_done(entry->job) : NULL;

	if (!task)
		return;
	listing_release(entry->listing);
	entry->listing = task->listing;
	task->listing = NULL;
	entry->lines = task->lines;
	task->lines = NULL;
	job_leave(entry->job);
	entry->job = NULL;
	entry->stale = false;
	name_callees(listings, entry->listing, space, entry->code.bias);
	if (!entry->listing->count && !entry->bare && space == EVENT_KERNEL)
		entry->bare = entry->stale = true;	/* its file has no code: the guest's memory has */
}

/* Asks for its lines; again and again while debuginfod is asked. True: they are there, as far as they are known. */
static bool have_lines(struct listings *listings, struct entry *entry)
{
	struct code_lines *lines;

	if (entry->lined && !entry->later)
		return true;
	if (!symbols_code_lines(listings->symbols, &entry->code, &lines, &entry->later))
		return entry->lined;
	if (!entry->lined || lines) {
		code_lines_free(entry->lines);
		entry->lines = lines;
		entry->stale = true;
	}
	entry->lined = true;
	return true;
}

static void begin_job(struct listings *listings, struct entry *entry, enum arch_id arch,
	const struct memory_reader *memory)
{
	struct task *task = new_task(listings, entry);

	task->bare = entry->bare;
	if (!entry->bare || read_memory(entry, arch, memory, &task->code)) {
		entry->job = job_new(&work, task);
		return;
	}
	entry->lines = task->lines;
	task->lines = NULL;
	free_task(task);
}

static const char *lacks(const struct entry *entry)
{
	const struct listing *listing = entry->listing;

	if (!listing)
		return "";
	if (!listing->count)
		return "no instructions: no file has its code, and the guest's memory cannot be read";
	if (listing->worded)
		return listing->worded;
	if (!listing->first)
		return "no source lines: no file with its DWARF is known; give --debug-dir FOLDER or --debuginfod";
	if (!listing->sourced)
		return "its source file is not here; give --source-map FROM=TO or --debuginfod";
	return "";
}

struct listing_answer listings_get(struct listings *listings, uint32_t space, uint64_t address, enum arch_id arch,
	const struct memory_reader *memory)
{
	struct entry *entry = have_entry(listings, space, address);
	struct listing_answer answer = { .lacks = "no code: nobody knows where it is, or memory is short" };

	if (!entry)
		return answer;
	entry->asked = ++listings->asks;
	take_job(listings, entry, space);
	if (!entry->job && have_lines(listings, entry) && entry->stale)
		begin_job(listings, entry, arch, memory);
	return (struct listing_answer) {
		.listing = listing_hold(entry->listing), .bias = entry->code.bias,
		.more = !entry->lined || entry->stale || entry->later, .lacks = lacks(entry),
	};
}
