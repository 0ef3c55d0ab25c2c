/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "code_sizes.h"

enum {
	ALIGNED_MOST = 64,		/* bytes to which functions are aligned at most */
	FILL_LEAST = 16,		/* bytes that are all the same */
	PIECE = 4096,			/* bytes that are read at a time */
};

struct reading {			/* of one file */
	struct code_sizes *sizes;
	const char *path;
	int fd, debug_fd;		/* -1: none */
	struct debug_folders folders;
	struct symbol_table *table;
	struct elf_code code;
	struct build_id build_id;
	struct sym_dwarf *dwarf;	/* NULL: no lines */
	bool full, damaged;		/* there was no memory for them; a part of them is damaged */
	char remark[256];		/* of the search for a debug file; "": none */
	uint64_t *bytes;		/* by symbol */
	uint64_t padding, bare;		/* bytes of code without a symbol */
};

struct code_sizes *code_sizes_new(struct budget *budget)
{
	struct code_sizes *sizes = util_alloc(sizeof(*sizes));

	sizes->budget = budget;
	hash_init(&sizes->index, budget);
	return sizes;
}

void code_sizes_free(struct code_sizes *sizes)
{
	if (!sizes)
		return;
	hash_clear(&sizes->index);
	budget_free(sizes->budget, sizes->pieces, sizes->room * sizeof(*sizes->pieces));
	budget_free(sizes->budget, sizes->texts, sizes->text_room);
	budget_free(sizes->budget, sizes->starts, sizes->start_room * sizeof(*sizes->starts));
	for (uint32_t i = 0; i < sizes->object_count; i++)
		free(sizes->objects[i].note);
	free(sizes->objects);
	free(sizes);
}

/* ---- texts ---- */

const char *code_sizes_told(const struct code_sizes *sizes, uint32_t text)
{
	return text == TEXT_NONE ? "" : sizes->texts + sizes->starts[text - 1];
}

static bool make_room(struct code_sizes *sizes, size_t size)
{
	uint32_t *starts = budget_array(sizes->budget, sizes->starts, sizes->text_count, &sizes->start_room,
		sizeof(*starts));
	size_t room = 2 * sizes->text_room + size + 4096;
	char *texts;

	if (!starts)
		return false;
	sizes->starts = starts;
	if (sizes->text_size + size <= sizes->text_room)
		return true;
	texts = room < UINT32_MAX ? budget_resize(sizes->budget, sizes->texts, sizes->text_room, room) : NULL;
	if (!texts)
		return false;
	sizes->texts = texts;
	sizes->text_room = room;
	return true;
}

static uint32_t find_text(const struct code_sizes *sizes, const char *text, uint64_t value)
{
	uint32_t at = 0, id;

	while ((id = hash_next(&sizes->index, value, &at)) != HASH_NONE)
		if (strcmp(code_sizes_told(sizes, id), text) == 0)
			return id;
	return TEXT_NONE;
}

/* The text is printable. */
static uint32_t intern(struct code_sizes *sizes, const char *text, bool *full)
{
	uint64_t value = hash_text(&sizes->index, text);
	uint32_t id = text[0] ? find_text(sizes, text, value) : TEXT_NONE;
	size_t size = strlen(text) + 1;

	if (id != TEXT_NONE || !text[0])
		return id;
	if (!make_room(sizes, size) || !hash_add(&sizes->index, value, sizes->text_count + 1)) {
		*full = true;
		return TEXT_NONE;
	}
	memcpy(sizes->texts + sizes->text_size, text, size);
	sizes->starts[sizes->text_count++] = (uint32_t)sizes->text_size;
	sizes->text_size += size;
	return sizes->text_count;
}

uint32_t code_sizes_text(struct code_sizes *sizes, const char *text, bool *full)
{
	char *shown = util_printable(text, strlen(text));
	uint32_t id = intern(sizes, shown, full);

	free(shown);
	return id;
}

/* ---- which function each byte is in ---- */

/* The first start of a symbol behind an address; `end` if there is none before. */
static uint64_t next_start(const struct symbol_table *table, uint64_t address, uint64_t end)
{
	uint32_t low = 0, high = symbol_table_count(table);
	uint64_t start;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbol_table_get(table, middle).address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	start = low < symbol_table_count(table) ? symbol_table_get(table, low).address : end;
	return start < end ? start : end;
}

static bool is_fill(uint8_t byte)
{
	return byte == 0x00 || byte == 0x90 || byte == 0xcc;
}

/* How many bytes at the end of [address, end) are all the same, as linkers fill up sections. */
static uint64_t fill_before(const struct reading *reading, const struct elf_code_range *section, uint64_t address,
	uint64_t end)
{
	uint8_t bytes[PIECE], fill = 0;
	uint64_t at = end;

	while (at > address) {
		size_t size = at - address < PIECE ? (size_t)(at - address) : PIECE, left = size;

		if (pread(reading->fd, bytes, size, (off_t)(section->offset + (at - size - section->address))) !=
				(ssize_t)size)
			return 0;
		if (at == end)
			fill = bytes[size - 1];
		while (left && bytes[left - 1] == fill && is_fill(fill))
			left--;
		at -= size - left;
		if (left)
			break;
	}
	return end - at < FILL_LEAST ? 0 : end - at;
}

/* Does a gap behind a function fill it up to an address that is aligned? */
static bool is_padding(const struct elf_code_range *section, uint64_t address, uint64_t end)
{
	uint64_t size = end - address, aligned = end & (0 - end);

	return address > section->address && size < ALIGNED_MOST && size < aligned;
}

static void measure_gap(struct reading *reading, const struct elf_code_range *section, uint64_t address, uint64_t end)
{
	uint64_t fill = is_padding(section, address, end) ? end - address :
		fill_before(reading, section, address, end);

	reading->padding += fill;
	reading->bare += end - address - fill;
}

/* A symbol that does not tell its size may stand before what only fills up the section. */
static void measure_function(struct reading *reading, const struct elf_code_range *section, uint32_t index,
	uint64_t address, uint64_t end)
{
	uint64_t fill = symbol_table_get(reading->table, index).sized ? 0 : fill_before(reading, section, address, end);

	reading->padding += fill;
	reading->bytes[index] += end - address - fill;
}

static void measure_section(struct reading *reading, const struct elf_code_range *section)
{
	uint64_t at = section->address, gap = at;	/* the code before `gap` is measured */

	while (at < section->end) {
		uint64_t next = next_start(reading->table, at, section->end);
		uint32_t index = symbol_table_find(reading->table, at);

		if (index != SYMBOL_NONE) {
			uint64_t end = symbol_table_get(reading->table, index).end;

			if (gap < at)
				measure_gap(reading, section, gap, at);
			next = end < next ? end : next;
			measure_function(reading, section, index, at, next);
			gap = next;
		}
		at = next;
	}
	if (gap < at)
		measure_gap(reading, section, gap, at);
}

/* ---- what is told of a function ---- */

static void open_dwarf(struct reading *reading)
{
	reading->damaged |= reading->dwarf && sym_dwarf_is_damaged(reading->dwarf);
	sym_dwarf_free(reading->dwarf);
	reading->dwarf = sym_dwarf_new(reading->debug_fd >= 0 ? reading->debug_fd : reading->fd, &reading->folders,
		reading->sizes->budget, &reading->full);
}

/* The path of a function's source file, in fresh memory; NULL: not known. A new handle has room for more lines. */
static char *file_of(struct reading *reading, uint64_t address)
{
	bool full = false;
	char *path = reading->dwarf ? sym_dwarf_file(reading->dwarf, address, &full) : NULL;

	if (!full)
		return path;
	free(path);
	open_dwarf(reading);
	return reading->dwarf ? sym_dwarf_file(reading->dwarf, address, &full) : NULL;
}

static uint32_t file_text(struct reading *reading, uint64_t address, bool *full)
{
	char *path = file_of(reading, address);
	uint32_t text = TEXT_NONE;

	if (path) {
		source_path_clean(path);
		text = code_sizes_text(reading->sizes, path, full);
	}
	free(path);
	return text;
}

/* False: there is no memory. */
static bool add_piece(struct code_sizes *sizes, const char *name, uint32_t file, uint64_t bytes)
{
	struct code_piece *pieces = budget_array(sizes->budget, sizes->pieces, sizes->count, &sizes->room,
		sizeof(*pieces));
	struct code_object *object = &sizes->objects[sizes->object_count - 1];
	bool full = !pieces;

	if (!pieces)
		return false;
	sizes->pieces = pieces;
	pieces[sizes->count++] = (struct code_piece) {
		.name = intern(sizes, name, &full), .file = file, .object = sizes->object_count - 1, .bytes = bytes,
	};
	object->bytes += bytes;
	object->lines |= file != TEXT_NONE;
	return !full;
}

static bool add_function(struct reading *reading, uint32_t index)
{
	struct symbol symbol = symbol_table_get(reading->table, index);
	bool full = false;
	uint32_t file = file_text(reading, symbol.address, &full);
	char *name = demangle_shown(symbol.name);
	bool added = !full && add_piece(reading->sizes, name, file, reading->bytes[index]);

	free(name);
	return added;
}

static bool add_functions(struct reading *reading)
{
	for (uint32_t i = 0; i < symbol_table_count(reading->table); i++)
		if (reading->bytes[i] && !add_function(reading, i))
			return false;
	return (!reading->padding || add_piece(reading->sizes, CODE_PADDING, TEXT_NONE, reading->padding)) &&
		(!reading->bare || add_piece(reading->sizes, CODE_NO_SYMBOL, TEXT_NONE, reading->bare));
}

/*
 * Why names, or lines of the file or of its debug file, are not known, once all were asked for; in fresh memory.
 * NULL: they are, or there are none.
 */
static char *note_of(const struct reading *reading)
{
	int fd = reading->debug_fd >= 0 ? reading->debug_fd : reading->fd;
	uint32_t nameless = symbol_table_refused(reading->table);
	struct elf_identity identity;
	const char *why;

	if (nameless)
		return util_format("functions without a name: %" PRIu32 ", for its table of names is damaged; "
			"give the file as it was linked", nameless);
	if (reading->dwarf)
		return !reading->damaged && !sym_dwarf_is_damaged(reading->dwarf) ? NULL :
			util_format("source lines are missing: a part of its debug sections is damaged; "
				"give the file as it was linked");
	if (!sym_elf_identify(fd, &identity, reading->sizes->budget))
		return NULL;
	if (identity.lines && reading->full)
		return util_format("no source lines: there is no memory for its debug sections; give more by --memory");
	if (identity.lines && !reading->sizes->objects[reading->sizes->object_count - 1].bytes)
		return NULL;				/* nothing but data has no lines of code */
	why = sym_elf_lost_lines(&identity);
	if (why)
		return util_format("no source lines: %s; give the file as it was linked", why);
	return reading->remark[0] ? util_format("no source lines: %s", reading->remark) : NULL;
}

static bool add_object(struct reading *reading)
{
	struct code_sizes *sizes = reading->sizes;
	bool full = false;

	sizes->objects = util_grow(sizes->objects, sizes->object_count + 1, sizeof(*sizes->objects));
	sizes->objects[sizes->object_count++] = (struct code_object) {
		.name = code_sizes_text(sizes, reading->path, &full),
	};
	return !full;
}

static bool measure(struct reading *reading)
{
	struct budget *budget = reading->sizes->budget;
	size_t size = symbol_table_count(reading->table) * sizeof(*reading->bytes);
	bool added;

	reading->bytes = size ? budget_resize(budget, NULL, 0, size) : NULL;
	if (size && !reading->bytes)
		return false;
	if (size)
		memset(reading->bytes, 0, size);
	for (size_t i = 0; i < reading->code.count; i++)
		measure_section(reading, &reading->code.ranges[i]);
	open_dwarf(reading);
	added = add_object(reading) && add_functions(reading);
	reading->sizes->objects[reading->sizes->object_count - 1].note = note_of(reading);
	budget_free(budget, reading->bytes, size);
	return added;
}

/* ---- the files ---- */

/* The debug file of a file that has no lines of its own. */
static void open_debug_file(struct reading *reading)
{
	struct elf_identity identity;
	struct debug_object object = {
		.kind = DEBUG_PROGRAM, .fd = reading->fd, .path = reading->path, .build_id = reading->build_id,
	};

	if (sym_elf_identify(reading->fd, &identity, reading->sizes->budget) && !identity.lines)
		reading->debug_fd = debug_file_open(&reading->folders, &object, reading->sizes->budget, reading->remark,
			sizeof(reading->remark));
}

/* A debug file has the same sections, without their bytes. */
static void add_debug_symbols(struct reading *reading)
{
	struct build_id unused;
	struct elf_code code;

	sym_elf_read_code(reading->debug_fd, "", reading->table, &code, &unused, reading->sizes->budget, NULL);
	elf_code_clear(&code);
}

static bool read_functions(struct reading *reading, char **error)
{
	uint32_t own;

	if (!sym_elf_read_code(reading->fd, reading->path, reading->table, &reading->code, &reading->build_id,
			reading->sizes->budget, error))
		return false;
	own = symbol_table_count(reading->table);
	open_debug_file(reading);
	if (reading->debug_fd >= 0)
		add_debug_symbols(reading);
	if (symbol_table_count(reading->table) == own)
		sym_elf_add_bare(reading->fd, reading->path, false, reading->table, reading->sizes->budget);
	symbol_table_sort(reading->table);
	return !symbol_table_starved(reading->table) || util_fail(error, "cannot read the code of %s: too many symbols "
		"for the memory that is left; give more by --memory", reading->path);
}

bool code_sizes_add(struct code_sizes *sizes, const char *path, const char *debug, char **error)
{
	struct reading reading = {
		.sizes = sizes, .path = path, .debug_fd = -1, .folders = { .own = debug, .system = DEBUG_SYSTEM },
	};
	const char *why;
	bool read;

	reading.fd = util_file_read(AT_FDCWD, path, 0, &why);
	if (reading.fd < 0)
		return util_fail(error, "cannot open %s: %s; give an ELF file", path, why);
	reading.table = symbol_table_new(sizes->budget);
	read = read_functions(&reading, error);
	if (read && !measure(&reading))
		read = util_fail(error, "%s: no memory for the names of its code; give more by --memory", path);
	sym_dwarf_free(reading.dwarf);
	symbol_table_free(reading.table);
	elf_code_clear(&reading.code);
	if (reading.debug_fd >= 0)
		close(reading.debug_fd);
	close(reading.fd);
	return read;
}

/* ---- source path ---- */

static bool is_part(const char *part, size_t size, const char *text)
{
	return strlen(text) == size && memcmp(part, text, size) == 0;
}

/* Where the last part of what is kept begins. */
static size_t last_part(const char *path, size_t root, size_t kept)
{
	while (kept > root && path[kept - 1] != '/')
		kept--;
	return kept;
}

void source_path_clean(char *path)
{
	size_t root = path[0] == '/', kept = root;

	for (const char *at = path + root, *next; *at; at = next) {
		size_t size = strcspn(at, "/"), last = last_part(path, root, kept);

		next = at + size + (at[size] == '/');
		if (size == 0 || is_part(at, size, "."))
			continue;
		if (is_part(at, size, "..") && kept > root && !is_part(path + last, kept - last, "..")) {
			kept = last > root ? last - 1 : root;
			continue;
		}
		if (is_part(at, size, "..") && root)
			continue;
		if (kept > root)
			path[kept++] = '/';
		memmove(path + kept, at, size);
		kept += size;
	}
	path[kept] = '\0';
}

size_t source_path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}
