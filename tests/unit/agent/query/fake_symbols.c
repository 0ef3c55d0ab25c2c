/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "fake_symbols.h"

enum { FUNCTIONS = 4096, MEMOS = 1024 };

/* A cache of what symbols_function found: oracles ask for the same few addresses a million times. */
struct memo {
	uint32_t space;
	bool unknown;
	uint64_t page;			/* the page, with its function; 0: nothing yet */
	uint32_t function;
};

struct symbols {
	struct memo memos[MEMOS];
	struct function functions[FUNCTIONS];
	char *first_names[FUNCTIONS];	/* each function's first name, by which it is found here */
	size_t count;
	uint64_t unknown;		/* bit set of processes */
	uint64_t generation;
	bool read;
	uint32_t lines_read;		/* functions below this id have a line, or none; the others' is not known yet */
	uint32_t inlined[2];		/* the result of the last call */
	uint64_t never;			/* no code returns here; 0: nothing is known of any */
};

struct symbols *symbols_new(struct budget *budget)
{
	(void)budget;
	return util_alloc(sizeof(struct symbols));
}

void symbols_free(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		free(symbols->first_names[i]);
		free((char *)symbols->functions[i].name);
		free((char *)symbols->functions[i].object);
	}
	free(symbols);
}

static uint32_t have(struct symbols *symbols, const struct function *function)
{
	for (uint32_t i = 0; i < symbols->count; i++)
		if (strcmp(symbols->first_names[i], function->name) == 0 &&
				strcmp(symbols->functions[i].object, function->object) == 0)
			return i;
	if (symbols->count == FUNCTIONS)
		abort();
	symbols->first_names[symbols->count] = util_copy(function->name, strlen(function->name));
	symbols->functions[symbols->count] = *function;
	symbols->functions[symbols->count].name = util_copy(function->name, strlen(function->name));
	symbols->functions[symbols->count].object = util_copy(function->object,
		strlen(function->object));
	return (uint32_t)symbols->count++;
}

static uint32_t name_function(struct symbols *symbols, uint32_t space, uint64_t address)
{
	char name[64], object[16] = "kernel";
	struct function function = { .name = name, .object = object,
		.kernel = space == EVENT_KERNEL };

	snprintf(name, sizeof(name), "k%llu", (unsigned long long)(address >> 8));
	function.address = address & ~0xffull;
	function.known = true;
	if (space != EVENT_KERNEL) {
		snprintf(object, sizeof(object), "p%u", space);
		snprintf(name, sizeof(name), "p%u_%llu", space, (unsigned long long)(address >> 8));
		function.known = !(symbols->unknown >> space % 64 & 1);
	}
	if (!function.known)
		function.name = "[unknown]";
	return have(symbols, &function);
}

void symbols_fetch(const struct symbols *symbols, uint32_t space, uint64_t address)
{
	(void)symbols;
	(void)space;
	(void)address;
}

uint32_t symbols_function(struct symbols *symbols, uint32_t space, uint64_t address)
{
	uint64_t page = address >> 8;
	struct memo *memo = &symbols->memos[(page * 31 + space) % MEMOS];
	bool unknown = space != EVENT_KERNEL && symbols->unknown >> space % 64 & 1;

	if (!page)
		return name_function(symbols, space, address);
	if (memo->page != page || memo->space != space || memo->unknown != unknown)
		*memo = (struct memo) { .space = space, .unknown = unknown, .page = page,
			.function = name_function(symbols, space, address) };
	return memo->function;
}

enum returning symbols_returning(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee,
	bool returns)
{
	(void)space;
	(void)returns;
	(void)callee;
	return symbols->never && address + 1 == symbols->never ? RETURNING_NEVER : RETURNING_MAYBE;
}

void fake_symbols_return_never(struct symbols *symbols, uint64_t address)
{
	symbols->never = address;
	symbols->generation++;
}

bool symbols_inlined(struct symbols *symbols, uint32_t space, uint64_t address,
	struct inlined *inlined)
{
	struct function function = *symbols_get(symbols, symbols_function(symbols, space, address));
	char name[64];

	*inlined = (struct inlined) { .functions = symbols->inlined };
	function.name = name;
	function.inlined = true;
	for (char first = 'i'; symbols->read && address & (first == 'i' ? 0x80 : 0x40); first++) {
		if (first == 'k')
			break;
		snprintf(name, sizeof(name), "%c%llu", first, (unsigned long long)(address >> 8));
		symbols->inlined[inlined->count++] = have(symbols, &function);
	}
	return symbols->read;
}

void fake_symbols_read(struct symbols *symbols)
{
	symbols->read = true;
}

uint32_t symbols_special(struct symbols *symbols, const char *name)
{
	return have(symbols, &(struct function) { .name = name, .object = "" });
}

uint32_t symbols_group(struct symbols *symbols, const char *name, const char *object)
{
	return have(symbols, &(struct function) { .name = name, .object = object, .known = true });
}

uint64_t symbols_generation(const struct symbols *symbols)
{
	return symbols->generation;
}

size_t symbols_functions(const struct symbols *symbols)
{
	return symbols->count;
}

const struct function *symbols_get(const struct symbols *symbols, uint32_t function)
{
	return &symbols->functions[function];
}

void fake_symbols_know(struct symbols *symbols, uint32_t process, bool known)
{
	symbols->unknown &= ~(1ull << process % 64);
	symbols->unknown |= (uint64_t)!known << process % 64;
	symbols->generation++;
}

void fake_symbols_read_lines(struct symbols *symbols, uint32_t functions)
{
	if (functions > symbols->lines_read || functions == 0)
		symbols->lines_read = functions;
}

void fake_symbols_rename(struct symbols *symbols, uint32_t function, const char *name)
{
	free((char *)symbols->functions[function].name);
	symbols->functions[function].name = util_copy(name, strlen(name));
}

const char *symbols_line_at(struct symbols *symbols, uint32_t space, uint64_t address)
{
	static const char *const lines[] = { "a.c:2", "a.c:21", "a.c:22", "b.c:8", "" };

	return symbols_function(symbols, space, address) < symbols->lines_read ? lines[address % 5] : NULL;
}

/* So many at once that what was read before is looked at again. */
uint64_t symbols_lines_read(struct symbols *symbols)
{
	return (uint64_t)symbols->lines_read << 32;
}

bool symbols_lines_all_read(const struct symbols *symbols)
{
	return symbols->lines_read == UINT32_MAX;
}

const char *symbols_line(struct symbols *symbols, uint32_t function)
{
	static const char *const lines[] = { "a.c:1", "a.c:20", "b.c:7", "" };

	return function < symbols->lines_read ? lines[function % 4] : NULL;
}

const char *symbols_source(struct symbols *symbols, uint32_t function)
{
	return symbols_line(symbols, function);
}
