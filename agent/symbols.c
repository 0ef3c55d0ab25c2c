#include <stdlib.h>
#include <string.h>

#include "address_cache.h"
#include "budget.h"
#include "debug_file.h"
#include "demangle.h"
#include "event.h"
#include "function.h"
#include "functions.h"
#include "guest_symbols.h"
#include "image.h"
#include "layouts.h"
#include "objects.h"
#include "sources.h"
#include "specials.h"
#include "symbol_table.h"
#include "symbols.h"
#include "util.h"

static const char kernel_name[] = "kernel", unknown_name[] = "[unknown]";

struct symbols {
	struct budget *budget;
	struct functions *functions;
	struct objects *objects;
	struct layouts *layouts;
	struct address_cache *cache;
	struct sources *sources;
	uint64_t generation, cached_generation;

	struct guest_symbols *told;	/* by the guest, of its kernel */
	bool being_told;
	struct image *kernel;		/* NULL: none */
	struct image **retired;		/* earlier kernels: functions still refer to them */
	size_t retired_count;

	char *anchor;			/* NULL: the guest has told none */
	uint64_t anchor_address;
	bool anchor_known;		/* in the kernel's file, at: */
	uint64_t anchor_link;
	uint64_t bias;			/* of the kernel's object, 0 when the guest has told none */
	uint64_t slide;			/* run address minus link address, modulo 2^64 */

	char *sysroot, *debug, *version;	/* NULL: not told */
	struct debug_object built;	/* the guest's kernel, by build-id */
	char note[256];
	struct specials *specials;
};

struct symbols *symbols_new(struct budget *budget)
{
	struct symbols *symbols = util_alloc(sizeof(*symbols));

	symbols->budget = budget;
	symbols->functions = functions_new(budget);
	symbols->objects = objects_new(budget);
	symbols->layouts = layouts_new(symbols->objects, budget);
	symbols->cache = address_cache_new(budget);
	symbols->told = guest_symbols_new(budget);
	symbols->specials = specials_new(symbols->functions);
	symbols->sources = sources_new(symbols->functions, budget);
	symbols_set_files(symbols, NULL, NULL, false);
	return symbols;
}

/* Sources go first: a worker reads from files that the others hold. */
void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	sources_free(symbols->sources);
	address_cache_free(symbols->cache);
	functions_free(symbols->functions);
	layouts_free(symbols->layouts);
	objects_free(symbols->objects);
	guest_symbols_free(symbols->told);
	image_free(symbols->kernel);
	for (size_t i = 0; i < symbols->retired_count; i++)
		image_free(symbols->retired[i]);
	free(symbols->retired);
	free(symbols->anchor);
	free(symbols->sysroot);
	free(symbols->debug);
	free(symbols->version);
	specials_free(symbols->specials);
	free(symbols);
}

/* Earlier answers may be wrong now. News come in bursts: the cache is cleared when next asked. */
static void renew(struct symbols *symbols)
{
	symbols->generation++;
}

uint64_t symbols_generation(const struct symbols *symbols)
{
	return symbols->generation;
}

const char *symbols_note(struct symbols *symbols)
{
	const char *note = objects_note(symbols->objects);

	if (!*note)
		note = layouts_note(symbols->layouts);
	return *note ? note : sources_note(symbols->sources, symbols->note, sizeof(symbols->note));
}

uint64_t symbols_left_out(const struct symbols *symbols)
{
	uint32_t kernel = symbols->kernel ? symbol_table_refused(symbols->kernel->table) : 0;

	return kernel + objects_left_out(symbols->objects);
}

/* ---- the kernel ---- */

/* By the anchor, else by the bias of the kernel's object. */
static void set_slide(struct symbols *symbols)
{
	uint64_t slide = symbols->anchor_known ?
		symbols->anchor_address - symbols->anchor_link : symbols->bias;

	if (slide != symbols->slide)
		renew(symbols);
	symbols->slide = slide;
}

/* Where the anchor is: a search of all symbols, for another anchor or another kernel. */
static void find_anchor(struct symbols *symbols)
{
	symbols->anchor_known = symbols->anchor && symbols->kernel
		&& symbol_table_address(symbols->kernel->table, symbols->anchor,
			&symbols->anchor_link);
	set_slide(symbols);
}

static void retire(struct symbols *symbols, struct image *image)
{
	if (!image)
		return;
	symbols->retired =
		util_grow(symbols->retired, symbols->retired_count + 1, sizeof(struct image *));
	symbols->retired[symbols->retired_count++] = image;
}

/* The lines of the kernel that runs are in this file, if it is that. */
static void set_built_file(struct symbols *symbols)
{
	symbols->built.fd = symbols->kernel ? symbols->kernel->fd : -1;
	symbols->built.path = symbols->kernel ? symbols->kernel->path : NULL;
}

static void set_kernel(struct symbols *symbols, struct image *image)
{
	retire(symbols, symbols->kernel);
	symbols->kernel = image;
	set_built_file(symbols);
	renew(symbols);
	find_anchor(symbols);
}

bool symbols_load_kernel(struct symbols *symbols, const char *path, char **error)
{
	struct image *image = image_load(path, IMAGE_ELF_OR_TEXT, symbols->budget, error);

	if (!image)
		return false;
	if (symbol_table_count(image->table) == 0) {
		image_free(image);
		return util_fail(error, "cannot load symbols of %s: it holds none (stripped?); "
			"give the unstripped file, or the output of nm by --symbols", path);
	}
	set_kernel(symbols, image);
	return true;
}

bool symbols_share_kernel(struct symbols *symbols, const struct symbols *others)
{
	const struct image *theirs = others->kernel;
	struct image *image = theirs ? image_share(theirs) : NULL;

	if (image)
		set_kernel(symbols, image);
	return image;
}

const struct stat *symbols_kernel_file(const struct symbols *symbols)
{
	return symbols->kernel ? &symbols->kernel->file : NULL;
}

void symbols_drop_kernel(struct symbols *symbols)
{
	retire(symbols, symbols->kernel);
	symbols->kernel = NULL;
	renew(symbols);
	find_anchor(symbols);
}

bool symbols_set_anchor(struct symbols *symbols, const char *name, uint64_t address)
{
	free(symbols->anchor);
	symbols->anchor = util_copy(name, strlen(name));
	symbols->anchor_address = address;
	find_anchor(symbols);
	return symbols->anchor_known;
}

bool symbols_wrong_build(const struct symbols *symbols, const void *build_id, size_t size)
{
	struct build_id guest;

	build_id_set(&guest, build_id, size);
	return symbols->kernel && build_id_contradicts(&symbols->kernel->build_id, &guest);
}

/* ---- objects ---- */

static bool has_build_id(const struct image *image, struct text id)
{
	return id.size && id.size == image->build_id.size
		&& memcmp(id.bytes, image->build_id.bytes, id.size) == 0;
}

/* Is this the kernel that is loaded, and not one of its modules? */
static bool is_kernel(const struct symbols *symbols, const struct object *object)
{
	const char *name, *file;

	if (!symbols->kernel || object->process != EVENT_KERNEL)
		return false;
	if (symbols->anchor && symbols->anchor_address >= object->start
		&& symbols->anchor_address < object->end)
		return true;
	name = objects_name(symbols->objects, object->name);
	file = strrchr(symbols->kernel->path, '/');
	return strcmp(name, kernel_name) == 0
		|| strcmp(name, file ? file + 1 : symbols->kernel->path) == 0
		|| has_build_id(symbols->kernel, object->build_id);
}

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
	folders = (struct debug_folders){
		.own = symbols->debug, .sysroot = symbols->sysroot, .system = DEBUG_SYSTEM,
	};
	objects_set_folders(symbols->objects, &folders);
	sources_set(symbols->sources, &folders, debuginfod);
}

void symbols_set_programs(struct symbols *symbols, struct programs *programs)
{
	objects_set_programs(symbols->objects, programs);
}

void symbols_set_build(struct symbols *symbols, const void *build_id, size_t size,
	const char *version)
{
	if (symbols->version)
		return;
	symbols->version = copy(version);
	objects_set_version(symbols->objects, version);
	symbols->built = (struct debug_object){
		.kind = DEBUG_KERNEL, .version = symbols->version,
	};
	set_built_file(symbols);
	build_id_set(&symbols->built.build_id, build_id, size);
}

void symbols_map(struct symbols *symbols, const struct object *object, const char *const *folders)
{
	uint32_t mapping;
	bool found;

	if (is_kernel(symbols, object)) {
		symbols->bias = object->bias;
		set_slide(symbols);
		return;
	}
	mapping = objects_map(symbols->objects, object, folders, &found);
	if (mapping == OBJECTS_NONE)
		return;
	if (layouts_map(symbols->layouts, object->process, mapping) || found)
		renew(symbols);
}

bool symbols_step(struct symbols *symbols, bool *starved)
{
	bool news = objects_step(symbols->objects, starved);

	if (news)
		renew(symbols);
	return news;
}

bool symbols_reading(const struct symbols *symbols)
{
	return objects_reading(symbols->objects);
}

void symbols_tell(struct symbols *symbols, uint64_t address, uint32_t size, struct text name)
{
	symbols->being_told = size != 0;
	if (guest_symbols_add(symbols->told, address, size, name))
		renew(symbols);
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

uint32_t symbols_special(struct symbols *symbols, const char *name)
{
	return specials_get(symbols->specials, name, "", false);
}

uint32_t symbols_add(struct symbols *symbols, const struct function *function)
{
	const char *object = function->object;
	struct function copy = *function;

	copy.name = util_copy(function->name, strlen(function->name));
	copy.object = *object ? objects_name(symbols->objects,
		(struct text){ .bytes = object, .size = strlen(object) }) : "";
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

	return functions_add(symbols->functions, &function, &image->debug);
}

/* Made once per symbol of an image, when there is room for it. */
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

/* Made once per symbol; and once more when another module has come with the like at its place. */
static uint32_t function_told(struct symbols *symbols, struct guest_symbol *symbol,
	const struct mapping *mapping)
{
	struct function function = {
		.object = mapping ? mapping->name : kernel_name,
		.address = symbol->address - (mapping ? mapping->bias : symbols->slide),
		.kernel = true,
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

static uint32_t resolve_mapped(struct symbols *symbols, const struct mapping *mapping,
	uint64_t address, bool kernel)
{
	struct image *image = objects_image(mapping);
	uint32_t index = SYMBOL_NONE;

	if (image)
		index = symbol_table_find(image->table, address - mapping->bias);
	if (index == SYMBOL_NONE)
		return specials_get(symbols->specials, unknown_name, mapping->name, kernel);
	return function_of(symbols, image, index, mapping->name, kernel);
}

/* By the kernel's file, which knows lines too, else by what the guest tells; or FUNCTION_NONE. */
static uint32_t resolve_kernel(struct symbols *symbols, const struct mapping *mapping,
	uint64_t address)
{
	struct guest_symbol *symbol = guest_symbols_find(symbols->told, address);
	uint32_t index = SYMBOL_NONE;

	if (symbols->kernel)
		index = symbol_table_find(symbols->kernel->table, address - symbols->slide);
	if (index != SYMBOL_NONE)
		return function_of(symbols, symbols->kernel, index, kernel_name, true);
	return symbol ? function_told(symbols, symbol, mapping) : FUNCTION_NONE;
}

/* A module with a file of its own knows better than the kernel's list. */
static uint32_t resolve(struct symbols *symbols, uint32_t space, uint64_t address)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);
	bool kernel = space == EVENT_KERNEL;
	uint32_t function = FUNCTION_NONE;

	if (kernel && !(mapping && objects_image(mapping)))
		function = resolve_kernel(symbols, mapping, address);
	if (function != FUNCTION_NONE)
		return function;
	if (mapping)
		return resolve_mapped(symbols, mapping, address, kernel);
	return specials_get(symbols->specials, unknown_name, kernel ? kernel_name : "",
		kernel);
}

uint32_t symbols_function(struct symbols *symbols, uint32_t space, uint64_t address)
{
	uint32_t function;

	if (symbols->cached_generation != symbols->generation)
		address_cache_clear(symbols->cache);
	symbols->cached_generation = symbols->generation;
	function = address_cache_find(symbols->cache, space, address);
	if (function == FUNCTION_NONE) {
		function = resolve(symbols, space, address);
		address_cache_add(symbols->cache, space, address, function);
	}
	return function;
}

bool symbols_retry(struct symbols *symbols)
{
	bool again = functions_retry(symbols->functions), lines = sources_retry(symbols->sources);

	if (again)
		renew(symbols);
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
	return sources_refused(symbols->sources);
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

/* NULL: nobody knows its source. The kernel's is the file that was given, or that of its build. */
static const struct debug_object *object_of(struct symbols *symbols, uint32_t function)
{
	const struct debug_object *object = functions_origin(symbols->functions, function)->object;
	const struct function *facts = functions_get(symbols->functions, function);
	bool kernel = facts->kernel && facts->known && strcmp(facts->object, kernel_name) == 0;

	if (kernel && symbols->version
			&& (!object || (symbols->kernel && object == &symbols->kernel->debug)))
		object = &symbols->built;
	return is_file(object) ? object : NULL;
}

const char *symbols_line(struct symbols *symbols, uint32_t function)
{
	const struct debug_object *object = object_of(symbols, function);

	return object ? sources_line(symbols->sources, function, object) : "";
}

/* Run address minus link address of a function that is at this one. */
static uint64_t bias_at(struct symbols *symbols, uint32_t space, uint64_t address,
	const struct debug_object *object)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);

	if (!mapping || (symbols->kernel && object == &symbols->built))
		return symbols->slide;
	return mapping->bias;
}

bool symbols_inlined(struct symbols *symbols, uint32_t space, uint64_t address,
	struct inlined *inlined)
{
	uint32_t function = symbols_function(symbols, space, address);
	const struct debug_object *object = object_of(symbols, function);

	*inlined = (struct inlined){ .count = 0 };
	return !object || sources_inlined(symbols->sources, object,
		address - bias_at(symbols, space, address, object), function, inlined);
}
