/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/copies/file_copies.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/processes.h"
#include "agent/names/linux/walk.h"
#include "agent/wire/event.h"
#include "running_programs.h"
#include "symbols.h"

enum {
	WANTED = 64,			/* processes that are read at a time; more wait */
	KNOWN = 1024,			/* that are kept; a newer one may take the place of another */
	PAUSE_MAX = 8,			/* readings: a process is read anew after 1, 2, 4, 8, 8... of them */
	BEGINNING = 8,			/* readings: for so many, one without code may only have begun */
};

struct known {				/* a process that was read */
	bool used;
	uint32_t process;
	char name[PROCESS_NAME_MAX + 1];	/* of its first thread; "": not known */
	uint64_t due, pause;		/* the reading in which it is to be read anew; by how much that moves on */
	uint32_t vain;			/* readings that found no code of it; BEGINNING: so many, or one found some */
};

struct wanted {
	uint32_t process;
	char name[PROCESS_NAME_MAX + 1];
	bool read;			/* in this walk */
	bool mapped;			/* it has code, in some walk */
};

struct running_programs {
	struct symbols *symbols;
	struct file_copies *copies;
	uint64_t readings;		/* that have been settled */
	struct known known[KNOWN];	/* by process number */
	uint32_t count;
	struct wanted wanted[WANTED];
	struct list_place place;	/* of the walk that is under way, in the list of processes */
};

struct running_programs *running_programs_new(struct symbols *symbols)
{
	struct running_programs *programs = util_alloc(sizeof(*programs));

	programs->symbols = symbols;
	programs->copies = file_copies_new();
	return programs;
}

void running_programs_free(struct running_programs *programs)
{
	if (programs)
		file_copies_free(programs->copies);
	free(programs);
}

static void copy_name(char to[PROCESS_NAME_MAX + 1], struct text name)
{
	size_t size = name.size < PROCESS_NAME_MAX ? name.size : PROCESS_NAME_MAX;

	if (size)
		memcpy(to, name.bytes, size);
	to[size] = '\0';
}

/* A process that runs may map more files at any time, above all when it has just begun: so it is read anew later. */
static bool is_known(const struct running_programs *programs, uint32_t process, const char *name)
{
	const struct known *known = &programs->known[process % KNOWN];

	return known->used && known->process == process && programs->readings < known->due &&
		(!*name || !*known->name || strcmp(name, known->name) == 0);
}

bool running_programs_saw(struct running_programs *programs, uint32_t process, struct text name)
{
	char text[PROCESS_NAME_MAX + 1];

	copy_name(text, name);
	if (is_known(programs, process, text))
		return false;
	for (uint32_t i = 0; i < programs->count; i++)
		if (programs->wanted[i].process == process) {
			if (*text)
				memcpy(programs->wanted[i].name, text, sizeof(text));
			return true;
		}
	if (programs->count == WANTED)
		return false;
	programs->wanted[programs->count] = (struct wanted) { .process = process };
	memcpy(programs->wanted[programs->count++].name, text, sizeof(text));
	return true;
}

bool running_programs_want(const struct running_programs *programs)
{
	return programs->count > 0;
}

struct reading {
	struct running_programs *programs;
	const struct linux_kernel *kernel;
	const struct walked_memory *memory;
	const char *const *folders;
	struct wanted *wanted;		/* whose areas are visited */
};

static bool take_area(void *context, const struct process_area *area)
{
	const struct reading *reading = context;

	const struct object object = {
		.process = reading->wanted->process, .start = area->start, .end = area->end,
		.bias = area->start - area->offset, .by_offset = true, .contents = area->contents,
		.name = { .bytes = area->path, .size = strlen(area->path) },
	};

	reading->wanted->mapped = true;
	quota_spend(reading->memory->quota, WALK_MAP_COST);
	symbols_map(reading->programs->symbols, &object, reading->folders);
	if (area->contents && symbols_file_state(reading->programs->symbols, &object) != FILE_SETTLED)
		file_copies_want(reading->programs->copies, area->contents, area->path);
	return true;
}

/* How many were not met in this walk. */
static uint32_t left(const struct running_programs *programs)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < programs->count; i++)
		left += !programs->wanted[i].read;
	return left;
}

static bool take_process(void *context, const struct process *process)
{
	struct reading *reading = context;
	struct running_programs *programs = reading->programs;
	const struct process_visitor areas = { .area = take_area, .context = reading };

	for (uint32_t i = 0; i < programs->count; i++) {
		struct wanted *wanted = &programs->wanted[i];

		if (wanted->process != process->number || wanted->read)
			continue;
		wanted->read = true;
		reading->wanted = wanted;
		process_areas_visit(&reading->kernel->layout, process, reading->memory, &areas);
	}
	return left(programs) > 0;
}

static void begin_walk(struct running_programs *programs)
{
	programs->place = (struct list_place) { .next = 0 };
	for (uint32_t i = 0; i < programs->count; i++)
		programs->wanted[i].read = false;
}

enum walk running_programs_read(struct running_programs *programs, const struct walked_memory *memory,
	const char *const *folders)
{
	struct reading reading = {
		.programs = programs, .kernel = symbols_linux_kernel(programs->symbols), .memory = memory,
		.folders = folders,
	};
	const struct process_visitor visitor = { .process = take_process, .context = &reading };
	enum walk walk;
	uint64_t first;

	if (!reading.kernel || reading.kernel->arch == ARCH_I386 || !symbols_kernel_is_placed(programs->symbols) ||
			!linux_kernel_landmark(reading.kernel, LANDMARK_INIT_TASK, &first))
		return WALK_FAILED;
	if (!left(programs))
		return WALK_ENDED;
	walk = processes_visit(&reading.kernel->layout, first + symbols_kernel_slide(programs->symbols), memory,
		&programs->place, &visitor);
	if (!left(programs))
		walk = WALK_ENDED;
	if (walk != WALK_PAUSED)
		begin_walk(programs);
	return walk;
}

static struct object object_of(const struct file_copy *copy)
{
	return (struct object) {
		.contents = copy->contents, .name = { .bytes = copy->path, .size = strlen(copy->path) },
	};
}

static enum file_state state_of(void *context, const struct file_copy *file)
{
	const struct object object = object_of(file);

	return symbols_file_state(context, &object);
}

static void take_copy(void *context, const struct file_copy *copy)
{
	const struct object object = object_of(copy);

	symbols_give_file(context, &object, copy->fd);
}

enum walk running_programs_copy(struct running_programs *programs, const struct walked_memory *memory,
	uint64_t samples)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(programs->symbols);
	const struct file_copy_taker taker = { .state = state_of, .take = take_copy, .context = programs->symbols };

	if (!kernel || !symbols_kernel_is_placed(programs->symbols))
		return WALK_FAILED;
	return file_copies_read(programs->copies, kernel, symbols_kernel_slide(programs->symbols), memory,
		samples, &taker);
}

void running_programs_again(struct running_programs *programs)
{
	memset(programs->known, 0, sizeof(programs->known));
}

/*
 * One that begins may have no code yet, or be in no list, and pages may be late on a busy host: if it is sampled again,
 * it is read at once, a bounded number of times.
 */
void running_programs_settle(struct running_programs *programs)
{
	programs->readings++;
	for (uint32_t i = 0; i < programs->count; i++) {
		const struct wanted *wanted = &programs->wanted[i];
		struct known *known = &programs->known[wanted->process % KNOWN];

		if (!known->used || known->process != wanted->process || strcmp(known->name, wanted->name) != 0)
			*known = (struct known) { .used = true, .process = wanted->process, .pause = 1 };
		memcpy(known->name, wanted->name, sizeof(known->name));
		known->vain = wanted->mapped ? BEGINNING : known->vain + (known->vain < BEGINNING);
		known->due = programs->readings;
		if (known->vain < BEGINNING)
			continue;
		known->due += known->pause;
		known->pause = known->pause < PAUSE_MAX ? 2 * known->pause : PAUSE_MAX;
	}
	programs->count = 0;
	begin_walk(programs);
}

/* ---- objects that were given ---- */

struct given_object {
	char *path, *folder;
	uint64_t start, end, bias;
};

struct given_objects {
	struct given_object *list;
	size_t count;
};

/* What the file says of itself. False with `error` set. */
static bool read_place(struct given_object *object, const char *text, char **error)
{
	const char *why = "it is no ELF file that loads anything";
	int fd = util_file_read(AT_FDCWD, object->path, 0, &why);
	uint64_t low, high;
	bool good = fd >= 0 && sym_elf_extent(fd, &low, &high);

	if (fd >= 0 && !good)
		why = unpack_told(fd, why);
	if (fd >= 0)
		close(fd);
	if (!good)
		return util_fail(error, "--object %s: %s; give an ELF file as linked", text, why);
	if (high - low > UINT64_MAX - object->start)
		return util_fail(error, "--object %s: its %" PRIu64 " bytes do not fit there, at the end of all "
			"addresses; give a lower address", text, high - low);
	object->end = object->start + (high - low);
	object->bias = object->start - low;
	return true;
}

static bool read_object(struct given_object *object, const char *text, char **error)
{
	const char *at = strrchr(text, '@'), *slash;
	char *end = NULL;

	errno = 0;
	object->start = at && at > text && isdigit((unsigned char)at[1]) ? strtoull(at + 1, &end, 0) : 0;
	if (!end || end == at + 1 || *end || errno)
		return util_fail(error, "--object %s: no address; give FILE@ADDRESS, such as "
			"loader.elf@0x80000000", text);
	object->path = util_copy(text, (size_t)(at - text));
	slash = strrchr(object->path, '/');
	object->folder = slash ? util_copy(object->path, (size_t)(slash - object->path) + 1) : util_copy(".", 1);
	return read_place(object, text, error);
}

struct given_objects *given_objects_new(const char *const *texts, char **error)
{
	struct given_objects *objects = util_alloc(sizeof(*objects));

	while (texts[objects->count]) {
		objects->list = util_grow(objects->list, objects->count + 1, sizeof(*objects->list));
		objects->list[objects->count] = (struct given_object) { .path = NULL };
		if (!read_object(&objects->list[objects->count], texts[objects->count], error)) {
			objects->count++;
			given_objects_free(objects);
			return NULL;
		}
		objects->count++;
	}
	return objects;
}

void given_objects_free(struct given_objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->list[i].path);
		free(objects->list[i].folder);
	}
	free(objects->list);
	free(objects);
}

/* The file is looked for by its name in its folder, and read as any other object's. */
void given_objects_map(const struct given_objects *objects, struct symbols *symbols)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct given_object *given = &objects->list[i];
		const char *const folders[] = { given->folder, NULL };

		symbols_map(symbols, &(struct object) {
			.process = EVENT_KERNEL, .start = given->start, .end = given->end, .bias = given->bias,
			.name = { .bytes = given->path, .size = strlen(given->path) },
		}, folders);
	}
}
