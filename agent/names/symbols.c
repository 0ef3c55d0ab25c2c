/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/linux/modules.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "function.h"
#include "guest_symbols.h"
#include "lines.h"
#include "symbols_state.h"

enum { PAGE = 4096 };
enum { SLOTS_MIN = 1 << 12, SLOTS_MAX = 1 << 20 };	/* powers of two; at most half full */

static const char kernel_name[] = "kernel", unknown_name[] = UNKNOWN_NAME;
static const char trampoline_name[] = "[entry trampoline]";

struct slot {
	uint64_t address;
	uint32_t space;
	uint32_t function;		/* FUNCTION_NONE: empty */
};

struct address_cache {
	struct slot *slots;
	size_t room, count;
	struct hash seed;		/* only its seed is used: the guest chooses the addresses */
	struct budget *budget;
};

/* What tells one from another. The object's text must live as long as the functions; the name is copied. */
struct special {
	const char *name, *object;
	bool kernel, known;		/* as in struct function */
	uint32_t function;		/* its id, set by specials_get */
};

struct specials {
	struct functions *functions;
	struct special *list;
	uint32_t count, room;
	struct hash by_name;		/* and object */
};

/* ---- which function an address of a space resolved to ---- */

static void address_cache_clear(struct address_cache *cache)
{
	memset(cache->slots, 0xff, cache->room * sizeof(*cache->slots));
	cache->count = 0;
}

static struct address_cache *address_cache_new(struct budget *budget)
{
	struct address_cache *cache = util_alloc(sizeof(*cache));

	cache->budget = budget;
	hash_init(&cache->seed, NULL);
	cache->room = SLOTS_MIN;
	cache->slots = util_grow(NULL, cache->room, sizeof(*cache->slots));
	budget_charge(budget, cache->room * sizeof(*cache->slots));
	address_cache_clear(cache);
	return cache;
}

static void address_cache_free(struct address_cache *cache)
{
	if (!cache)
		return;
	budget_free(cache->budget, cache->slots, cache->room * sizeof(*cache->slots));
	free(cache);
}

static size_t address_cache_place(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	return (size_t)hash_pair(&cache->seed, address, space);
}

/* The pair's slot, or the empty slot where it belongs. */
static struct slot *address_cache_slot(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	size_t at = address_cache_place(cache, space, address);

	for (;; at++) {
		struct slot *slot = &cache->slots[at & (cache->room - 1)];

		if (slot->function == FUNCTION_NONE ||
			(slot->address == address && slot->space == space))
			return slot;
	}
}

static bool address_cache_grow(struct address_cache *cache)
{
	struct slot *old = cache->slots, *slots;
	size_t room = cache->room;

	slots = room < SLOTS_MAX ? budget_resize(cache->budget, NULL, 0, 2 * room * sizeof(*slots)) :
		NULL;
	if (!slots)
		return false;
	cache->slots = slots;
	cache->room = 2 * room;
	address_cache_clear(cache);
	for (size_t i = 0; i < room; i++) {
		if (old[i].function != FUNCTION_NONE)
			*address_cache_slot(cache, old[i].space, old[i].address) = old[i], cache->count++;
	}
	budget_free(cache->budget, old, room * sizeof(*old));
	return true;
}

/* The pair must not be in the cache yet. When the cache is full, it forgets everything. */
static void address_cache_add(struct address_cache *cache, uint32_t space, uint64_t address, uint32_t function)
{
	if (cache->count >= cache->room / 2 && !address_cache_grow(cache))
		address_cache_clear(cache);
	*address_cache_slot(cache, space, address) =
		(struct slot) { .address = address, .space = space, .function = function };
	cache->count++;
}

/* ---- functions that are not code, by name and object: "[idle]", "[unknown]" of a program, a group ---- */

static struct specials *specials_new(struct functions *functions)
{
	struct specials *specials = util_alloc(sizeof(*specials));

	specials->functions = functions;
	hash_init(&specials->by_name, NULL);
	return specials;
}

static void specials_free(struct specials *specials)
{
	if (!specials)
		return;
	hash_clear(&specials->by_name);
	free(specials->list);
	free(specials);
}

static const struct special *specials_find(const struct specials *specials, uint64_t hash,
	const struct special *wanted)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&specials->by_name, hash, &at)) != HASH_NONE) {
		const struct special *special = &specials->list[position];

		if (special->kernel == wanted->kernel && special->known == wanted->known &&
				!strcmp(special->object, wanted->object) && !strcmp(special->name, wanted->name))
			return special;
	}
	return NULL;
}

static void specials_keep(struct specials *specials, uint64_t hash, const struct special *special)
{
	struct special *list = budget_array(NULL, specials->list, specials->count,
		&specials->room, sizeof(*special));

	if (!list)
		return;
	specials->list = list;
	if (hash_add(&specials->by_name, hash, specials->count))
		specials->list[specials->count++] = *special;
}

/* Returns the function's id, made once. When there is no memory for a new one, that of the single "[unknown]". */
static uint32_t specials_get(struct specials *specials, const struct special *wanted)
{
	struct function function = { .object = wanted->object, .kernel = wanted->kernel, .known = wanted->known };
	struct special made = *wanted;
	uint64_t hash = hash_text(&specials->by_name, wanted->object) + hash_text(&specials->by_name, wanted->name);
	const struct special *known = specials_find(specials, hash, wanted);

	if (known)
		return known->function;
	function.name = util_printable(wanted->name, strlen(wanted->name));
	made.function = functions_add(specials->functions, &function, NULL);
	made.name = functions_get(specials->functions, made.function)->name;
	if (!functions_is_rest(specials->functions, made.function))
		specials_keep(specials, hash, &made);
	return made.function;
}

/* ---- the symbols ---- */

struct symbols *symbols_new(struct budget *budget)
{
	struct symbols *symbols = util_alloc(sizeof(*symbols));

	symbols->budget = budget;
	symbols->functions = functions_new(budget);
	symbols->objects = objects_new(budget);
	symbols->layouts = layouts_new(symbols->objects, budget);
	symbols->cache = address_cache_new(budget);
	symbols->kernel = kernel_image_new();
	symbols->modules = module_tables_new(budget);
	symbols->told = guest_symbols_new(budget);
	symbols->specials = specials_new(symbols->functions);
	symbols->lines = lines_new(symbols->functions, budget);
	symbols_set_files(symbols, NULL, NULL, false);
	return symbols;
}

/* Sources are freed first: their worker reads from files that the others hold. */
void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	lines_free(symbols->lines);
	address_cache_free(symbols->cache);
	functions_free(symbols->functions);
	layouts_free(symbols->layouts);
	objects_free(symbols->objects);
	guest_symbols_free(symbols->told);
	kernel_image_free(symbols->kernel);
	module_tables_free(symbols->modules);
	free(symbols->returns);
	free(symbols->sysroot);
	free(symbols->debug);
	specials_free(symbols->specials);
	free(symbols);
}

void symbols_renew(struct symbols *symbols)
{
	symbols->generation++;
}

uint64_t symbols_generation(const struct symbols *symbols)
{
	return symbols->generation;
}

const char *symbols_note(struct symbols *symbols, uint64_t *told)
{
	const char *note = objects_note(symbols->objects);

	*told = *note ? objects_told(symbols->objects) : 0;
	if (!*note)
		note = layouts_note(symbols->layouts);
	return *note ? note : lines_note(symbols->lines, symbols->note, sizeof(symbols->note));
}

uint64_t symbols_left_out(const struct symbols *symbols)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint32_t kernel = file ? symbol_table_refused(file->table) : 0;

	return kernel + objects_left_out(symbols->objects);
}

/* ---- objects ---- */

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

void symbols_set_files(struct symbols *symbols, const char *sysroot, const char *debug,
	bool debuginfod)
{
	struct debug_folders folders;

	free(symbols->sysroot);
	free(symbols->debug);
	symbols->sysroot = copy(sysroot);
	symbols->debug = copy(debug);
	folders = (struct debug_folders) {
		.own = symbols->debug, .sysroot = symbols->sysroot, .system = DEBUG_SYSTEM,
	};
	objects_set_folders(symbols->objects, &folders);
	lines_set(symbols->lines, &folders, debuginfod);
}

void symbols_set_programs(struct symbols *symbols, struct programs *programs)
{
	objects_set_programs(symbols->objects, programs);
}

static bool is_kernel(struct symbols *symbols, const struct object *object)
{
	return object->process == EVENT_KERNEL && kernel_image_is(symbols->kernel, object,
		objects_name(symbols->objects, object->name));
}

void symbols_map(struct symbols *symbols, const struct object *object, const char *const *folders)
{
	uint32_t mapping;
	bool found;

	if (is_kernel(symbols, object)) {
		symbols_set_slide(symbols, object->bias);
		return;
	}
	mapping = objects_map(symbols->objects, object, folders, &found);
	if (mapping == OBJECTS_NONE)
		return;
	if (layouts_map(symbols->layouts, object->process, mapping) || found)
		symbols_renew(symbols);
}

/* Code of a program that nobody could read may still be known by its offset alone: then that is its bias. */
bool symbols_mapped(const struct symbols *symbols, uint32_t space, uint32_t index, struct object *object)
{
	const struct mapping *mapping = layouts_get(symbols->layouts, space, index);

	if (!mapping)
		return false;
	*object = (struct object) {
		.start = mapping->start, .end = mapping->end, .bias = objects_bias(mapping),
		.name = { .bytes = mapping->name, .size = strlen(mapping->name) },
		.build_id = { .bytes = (const char *)mapping->build_id.bytes, .size = mapping->build_id.size },
	};
	if (mapping->program)
		object->name = (struct text) { .bytes = mapping->program->name, .size = mapping->program->size };
	return true;
}

enum file_state symbols_file_state(const struct symbols *symbols, const struct object *object)
{
	return objects_file_state(symbols->objects, object);
}

void symbols_give_file(struct symbols *symbols, const struct object *object, int fd)
{
	objects_give_file(symbols->objects, object, fd);
}

bool symbols_step(struct symbols *symbols, bool *starved)
{
	bool news = objects_step(symbols->objects, starved);

	if (news)
		symbols_renew(symbols);
	return news;
}

bool symbols_reading(const struct symbols *symbols)
{
	return objects_reading(symbols->objects);
}

bool symbols_being_told(const struct symbols *symbols)
{
	return symbols->being_told;
}

uint32_t symbols_space(struct symbols *symbols, uint32_t process)
{
	return layouts_space(symbols->layouts, process);
}

/* ---- functions ---- */

static uint32_t special(struct symbols *symbols, const char *name, const char *object, bool kernel)
{
	return specials_get(symbols->specials, &(struct special) { .name = name, .object = object, .kernel = kernel });
}

uint32_t symbols_special(struct symbols *symbols, const char *name)
{
	return special(symbols, name, "", false);
}

/* The column's text is the name of a group, too: names live as long as the functions. */
uint32_t symbols_group(struct symbols *symbols, const char *name, const char *object)
{
	struct special group = { .name = name, .object = "", .known = true };

	if (*object)
		group.object = symbols_get(symbols, symbols_group(symbols, object, ""))->name;
	return specials_get(symbols->specials, &group);
}

uint32_t symbols_add(struct symbols *symbols, const struct function *function)
{
	const char *object = function->object;
	struct function copy = *function;

	copy.name = util_copy(function->name, strlen(function->name));
	copy.object = *object ? objects_name(symbols->objects,
		(struct text) { .bytes = object, .size = strlen(object) }) : "";
	return functions_add(symbols->functions, &copy, NULL);
}

static uint32_t add_function(struct symbols *symbols, const struct image *image, uint32_t index,
	const char *object, bool kernel)
{
	struct symbol symbol = symbol_table_get(image->table, index);
	struct text module = { .bytes = symbol.module, .size = strlen(symbol.module) };
	struct function function = {
		.name = demangle_shown(symbol.name),
		.object = module.size ? objects_name(symbols->objects, module) : object,
		.address = symbol.address,
		.kernel = kernel,
		.known = true,
	};

	function.module = kernel && strcmp(function.object, kernel_name) != 0;

	return functions_add(symbols->functions, &function, &image->debug);
}

/* The function of a symbol in an image. Made once for each, if there is room for it. */
static uint32_t function_of(struct symbols *symbols, struct image *image, uint32_t index,
	const char *object, bool kernel)
{
	size_t size = symbol_table_count(image->table) * sizeof(*image->functions);
	uint32_t function;

	if (!image->functions) {
		budget_charge(symbols->budget, size);
		image->functions = memset(util_alloc(size), 0xff, size);
	}
	if (image->functions[index] != FUNCTION_NONE)
		return image->functions[index];
	function = add_function(symbols, image, index, object, kernel);
	if (!functions_is_rest(symbols->functions, function))
		image->functions[index] = function;
	return function;
}

/*
 * The function that the guest told. Made once for each; and again when another module has an equal one at
 * its place.
 */
static uint32_t function_told(struct symbols *symbols, struct guest_symbol *symbol,
	const struct mapping *mapping)
{
	struct function function = {
		.object = mapping ? mapping->name : kernel_name,
		.address = symbol->address -
			(mapping ? mapping->bias : kernel_image_slide(symbols->kernel)),
		.kernel = true,
		.module = mapping,
		.known = true,
	};

	if (symbol->function == FUNCTION_NONE || functions_get(symbols->functions,
			symbol->function)->object != function.object ||
			functions_is_rest(symbols->functions, symbol->function)) {
		function.name = demangle_shown(guest_symbols_name(symbols->told, symbol));
		symbol->function = functions_add(symbols->functions, &function,
			mapping ? mapping->debug : NULL);
	}
	return symbol->function;
}

/* Code of a program that nothing names has a row for each page of it, named as sym_elf_bare.c names such pieces. */
static uint32_t unnamed_page(struct symbols *symbols, const struct mapping *mapping, uint64_t address)
{
	uint64_t page = objects_offset(mapping, address) / PAGE * PAGE;
	char *name = util_format("%s+0x%" PRIx64 "-0x%" PRIx64, mapping->name, page, page + PAGE);
	uint32_t function = specials_get(symbols->specials, &(struct special) {
		.name = name, .object = mapping->name, .known = true,
	});

	free(name);
	return function;
}

static uint32_t resolve_mapped(struct symbols *symbols, const struct mapping *mapping,
	uint64_t address, bool kernel)
{
	struct image *image = objects_image(mapping);
	uint32_t index = SYMBOL_NONE;

	if (image)
		index = symbol_table_find(image->table, address - objects_bias(mapping));
	if (index == SYMBOL_NONE && !kernel && mapping->name[0] == '[')	/* a region that is of no file */
		return special(symbols, mapping->name, mapping->name, kernel);
	if (index == SYMBOL_NONE && !kernel && mapping->name[0])
		return unnamed_page(symbols, mapping, address);
	if (index == SYMBOL_NONE)
		return special(symbols, unknown_name, mapping->name, kernel);
	return function_of(symbols, image, index, mapping->name, kernel);
}

/* Asks the kernel's file first, which also knows lines, then what the guest told. FUNCTION_NONE: neither knows. */
static uint32_t resolve_kernel(struct symbols *symbols, const struct mapping *mapping,
	uint64_t address)
{
	struct guest_symbol *symbol = guest_symbols_find(symbols->told, address);
	struct image *file = kernel_image_file(symbols->kernel);
	uint32_t index = SYMBOL_NONE;

	if (kernel_image_is_placed(symbols->kernel))
		index = symbol_table_find(file->table, address - kernel_image_slide(symbols->kernel));
	if (index != SYMBOL_NONE)
		return function_of(symbols, file, index, kernel_name, true);
	return symbol ? function_told(symbols, symbol, mapping) : FUNCTION_NONE;
}

/* A module's own file is preferred to the kernel's list. */
static uint32_t resolve(struct symbols *symbols, uint32_t space, uint64_t address)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);
	bool kernel = space == EVENT_KERNEL;
	uint32_t function = FUNCTION_NONE;
	const struct region *region;

	/* Of a program that no kernel tells of, a file may be given (running_programs.h): it is mapped for all. */
	if (!kernel && !mapping && !symbols_linux_kernel(symbols)) {
		mapping = layouts_find(symbols->layouts, EVENT_KERNEL, address);
		if (mapping && !objects_image(mapping))		/* the guest told it: it is the kernel's */
			mapping = NULL;
	}
	if (kernel && !(mapping && objects_image(mapping)))
		function = resolve_kernel(symbols, mapping, address);
	if (function != FUNCTION_NONE)
		return function;
	if (mapping)
		return resolve_mapped(symbols, mapping, address, kernel);
	if (kernel && symbols_is_trampoline(symbols, address))
		return special(symbols, trampoline_name, kernel_name, true);
	region = kernel ? symbols_region(symbols, address) : NULL;
	if (region)
		return special(symbols, region->name, region->object, true);
	return special(symbols, unknown_name, kernel ? kernel_name : "",
		kernel);
}

void symbols_fetch(const struct symbols *symbols, uint32_t space, uint64_t address)
{
	const struct address_cache *cache = symbols->cache;

	__builtin_prefetch(&cache->slots[address_cache_place(cache, space, address) & (cache->room - 1)]);
}

uint32_t symbols_function(struct symbols *symbols, uint32_t space, uint64_t address)
{
	uint32_t function;

	if (symbols->cached_generation != symbols->generation)
		address_cache_clear(symbols->cache);
	symbols->cached_generation = symbols->generation;
	function = address_cache_slot(symbols->cache, space, address)->function;
	if (function == FUNCTION_NONE) {
		function = resolve(symbols, space, address);
		address_cache_add(symbols->cache, space, address, function);
	}
	return function;
}

struct sym_cfi *symbols_frames_of(struct symbols *symbols, uint32_t process, uint64_t address, uint64_t *link)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, layouts_space(symbols->layouts, process),
		address);

	if (!mapping || !mapping->program || !mapping->program->image)
		return NULL;
	*link = address - objects_bias(mapping);
	return mapping->program->rules;
}

bool symbols_retry(struct symbols *symbols)
{
	bool again = functions_retry(symbols->functions), lines = lines_retry(symbols->lines);

	if (again)
		symbols_renew(symbols);
	return again || lines;
}

void symbols_told_again(struct symbols *symbols)
{
	objects_retry(symbols->objects);
	guest_symbols_retry(symbols->told);
}

uint64_t symbols_refused(const struct symbols *symbols)
{
	return functions_refused(symbols->functions);
}

uint64_t symbols_told_refused(const struct symbols *symbols)
{
	return guest_symbols_refused(symbols->told);
}

uint64_t symbols_spaces_refused(const struct symbols *symbols)
{
	return layouts_refused(symbols->layouts);
}

uint64_t symbols_lines_refused(const struct symbols *symbols)
{
	return lines_refused(symbols->lines);
}

size_t symbols_functions(const struct symbols *symbols)
{
	return functions_count(symbols->functions);
}

const struct function *symbols_get(const struct symbols *symbols, uint32_t function)
{
	return functions_get(symbols->functions, function);
}

/* ---- lines, and what was inlined ---- */

static bool is_file(const struct debug_object *object)
{
	return object && (object->fd >= 0 || build_id_known(&object->build_id));
}

/* For the kernel, that is the given file, or the debug file of its build. */
const struct debug_object *symbols_debug_of(struct symbols *symbols, uint32_t function)
{
	const struct debug_object *object = functions_origin(symbols->functions, function)->object;
	const struct debug_object *built = kernel_image_debug(symbols->kernel);
	const struct image *file = kernel_image_file(symbols->kernel);
	const struct function *facts = functions_get(symbols->functions, function);
	bool kernel = facts->kernel && facts->known && strcmp(facts->object, kernel_name) == 0;

	if (kernel && built && (!object || (file && object == &file->debug)))
		object = built;
	return is_file(object) ? object : NULL;
}

const char *symbols_line(struct symbols *symbols, uint32_t function)
{
	const struct debug_object *object = symbols_debug_of(symbols, function);

	return object ? lines_of(symbols->lines, function, object) : "";
}

/* Run address minus link address, for the function at an address. */
static uint64_t bias_at(struct symbols *symbols, uint32_t space, uint64_t address,
	const struct debug_object *object)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);

	if (!mapping || (kernel_image_file(symbols->kernel) &&
			object == kernel_image_debug(symbols->kernel)))
		return kernel_image_slide(symbols->kernel);
	return objects_bias(mapping);
}

bool symbols_inlined(struct symbols *symbols, uint32_t space, uint64_t address,
	struct inlined *inlined)
{
	uint32_t function = symbols_function(symbols, space, address);
	const struct debug_object *object = symbols_debug_of(symbols, function);

	*inlined = (struct inlined) { .count = 0 };
	return !object || lines_inlined(symbols->lines, object,
		address - bias_at(symbols, space, address, object), function, inlined);
}

const char *symbols_line_at(struct symbols *symbols, uint32_t space, uint64_t address)
{
	const char *lines = symbols_lines_at(symbols, space, address), *last = lines ? strrchr(lines, '\n') : NULL;

	return last ? last + 1 : lines;
}

const char *symbols_lines_at(struct symbols *symbols, uint32_t space, uint64_t address)
{
	const struct debug_object *object = symbols_debug_of(symbols, symbols_function(symbols, space, address));

	return object ? lines_at(symbols->lines, object, address - bias_at(symbols, space, address, object)) : "";
}

uint64_t symbols_lines_read(struct symbols *symbols)
{
	return lines_read(symbols->lines);
}

bool symbols_lines_all_read(const struct symbols *symbols)
{
	return lines_all_read(symbols->lines);
}
