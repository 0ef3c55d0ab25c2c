#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pattern.h"
#include "threads.h"
#include "util.h"

/* What a guest may make us keep: beyond it, names are not taken, and numbers have to do. */
enum { NAMES_MAX = 1 << 17, TEXTS_MAX = 16 << 20 };

struct name {
	uint32_t id;
	uint32_t process;		/* of a thread, as it was told; EVENT_KERNEL: none */
	const char *text;		/* one of `texts` */
};

struct names {				/* of threads, or of processes */
	struct name *list;
	uint32_t count, room;
	struct hash by_id;
	const char *nameless;		/* "thread": "thread 12" */
};

struct threads {
	struct names threads, processes;
	uint64_t generation;

	char **texts;			/* each text once, for ever */
	uint32_t text_count, text_room;
	size_t text_bytes;
	struct hash by_text;
};

static void names_init(struct names *names, const char *nameless)
{
	hash_init(&names->by_id);
	names->nameless = nameless;
}

struct threads *threads_new(void)
{
	struct threads *threads = util_alloc(sizeof(*threads));

	names_init(&threads->threads, "thread");
	names_init(&threads->processes, "process");
	hash_init(&threads->by_text);
	return threads;
}

static void names_clear(struct names *names)
{
	hash_clear(&names->by_id);
	free(names->list);
}

void threads_free(struct threads *threads)
{
	if (!threads)
		return;
	names_clear(&threads->threads);
	names_clear(&threads->processes);
	for (uint32_t i = 0; i < threads->text_count; i++)
		free(threads->texts[i]);
	free(threads->texts);
	hash_clear(&threads->by_text);
	free(threads);
}

static uint64_t text_hash(const struct threads *threads, const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash_pair(&threads->by_text, hash, hash + (unsigned char)*text);
	return hash;
}

/* The kept text that equals this fresh one, which is freed or kept. NULL when there is no room. */
static const char *keep(struct threads *threads, char *text)
{
	uint64_t hash = text_hash(threads, text);
	size_t size = strlen(text) + 1 + sizeof(char *);
	uint32_t at = 0, position;

	while ((position = hash_next(&threads->by_text, hash, &at)) != HASH_NONE) {
		if (strcmp(threads->texts[position], text) == 0) {
			free(text);
			return threads->texts[position];
		}
	}
	if (threads->text_bytes + size > TEXTS_MAX) {
		free(text);
		return NULL;
	}
	if (threads->text_count == threads->text_room) {
		threads->text_room = 2 * threads->text_room + 64;
		threads->texts = util_grow(threads->texts, threads->text_room,
			sizeof(*threads->texts));
	}
	hash_add(&threads->by_text, hash, threads->text_count);
	threads->texts[threads->text_count++] = text;
	threads->text_bytes += size;
	return text;
}

static struct name *find_name(const struct names *names, uint32_t id)
{
	uint64_t hash = hash_pair(&names->by_id, id, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&names->by_id, hash, &at)) != HASH_NONE)
		if (names->list[position].id == id)
			return &names->list[position];
	return NULL;
}

/* The id's name, without a text when it is new; NULL when there is no room. */
static struct name *have_name(struct names *names, uint32_t id)
{
	struct name *name = find_name(names, id);

	if (name || names->count == NAMES_MAX)
		return name;
	if (names->count == names->room) {
		names->room = 2 * names->room + 64;
		names->list = util_grow(names->list, names->room, sizeof(*names->list));
	}
	hash_add(&names->by_id, hash_pair(&names->by_id, id, 0), names->count);
	names->list[names->count] = (struct name){ .id = id, .process = EVENT_KERNEL };
	return &names->list[names->count++];
}

static void set_name(struct threads *threads, struct names *names, const struct name *told,
	struct text text)
{
	const char *kept = text.size ? keep(threads, util_printable(text.bytes, text.size)) : NULL;
	struct name *name = kept ? have_name(names, told->id) : NULL;

	if (!name || (name->text == kept && name->process == told->process))
		return;
	name->text = kept;
	name->process = told->process;
	threads->generation++;
}

static const char *get_name(struct threads *threads, struct names *names, uint32_t id)
{
	struct name *name = find_name(names, id);
	const char *kept;

	if (name && name->text)
		return name->text;
	kept = keep(threads, util_format("%s %u", names->nameless, id));
	name = kept ? have_name(names, id) : NULL;
	if (name)
		name->text = kept;
	return kept ? kept : names->nameless;
}

void threads_process(struct threads *threads, uint32_t process, struct text name)
{
	const struct name told = { .id = process, .process = EVENT_KERNEL };

	set_name(threads, &threads->processes, &told, name);
}

void threads_thread(struct threads *threads, uint32_t thread, uint32_t process, struct text name)
{
	const struct name told = { .id = thread, .process = process };

	set_name(threads, &threads->threads, &told, name);
}

const char *threads_name(struct threads *threads, uint32_t thread)
{
	return thread == EVENT_NONE ? "[no thread]" : get_name(threads, &threads->threads, thread);
}

const char *threads_process_name(struct threads *threads, uint32_t process)
{
	return process == EVENT_KERNEL ? "kernel" : get_name(threads, &threads->processes, process);
}

bool threads_match(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern)
{
	const struct name *told;
	char number[11];

	if (!*pattern)
		return true;
	if (pattern[strspn(pattern, "0123456789")] == '\0') {
		snprintf(number, sizeof(number), "%u", thread);
		return thread != EVENT_NONE && strcmp(number, pattern) == 0;
	}
	told = find_name(&threads->threads, thread);
	if (process == EVENT_KERNEL && told)
		process = told->process;
	return pattern_match(threads_name(threads, thread), pattern)
		|| pattern_match(threads_process_name(threads, process), pattern);
}

uint64_t threads_generation(const struct threads *threads)
{
	return threads->generation;
}
