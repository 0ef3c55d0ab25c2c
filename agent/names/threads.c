/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "threads.h"

enum {
	TEXTS_MAX = 16 << 20,
	TEXT_COST = 32,			/* the overhead of a block of memory */
	NUMBER_MAX = 32,
};
#define NO_THREAD "[no thread]"
#define IDLE "swapper"
enum { IDLE_SIZE = sizeof(IDLE) - 1 };

struct name {
	uint32_t process;		/* a thread's, as the guest told; EVENT_KERNEL: none */
	const char *text;		/* one of `texts` */
	enum teller { BY_THREAD, BY_FIRST_THREAD, BY_GUEST } by;	/* of a process: who gave it that name */
};

struct names {				/* of threads, or of processes */
	struct recent *ids;
	struct name *list;		/* by slot of `ids` */
	const char *nameless;		/* what "thread 12" begins with */
	const char *none;		/* the name of EVENT_NONE */
};

struct threads {
	struct names threads, processes;
	uint64_t generation, refused;
	struct budget *budget;

	char **texts;			/* each text once; kept until the end */
	uint32_t text_count, text_room;
	size_t text_bytes, text_most;
	struct hash by_text;
};

static void names_init(struct names *names, const char *nameless, const char *none)
{
	names->ids = recent_new();
	names->list = util_alloc(RECENT_SLOTS * sizeof(*names->list));
	names->nameless = nameless;
	names->none = none;
}

struct threads *threads_new(struct budget *budget)
{
	struct threads *threads = util_alloc(sizeof(*threads));
	size_t share = budget_share(budget, 32);

	names_init(&threads->threads, "thread", NO_THREAD);
	names_init(&threads->processes, "process", "kernel");
	threads->budget = budget;
	threads->text_most = share < TEXTS_MAX ? share : TEXTS_MAX;
	hash_init(&threads->by_text, budget);
	return threads;
}

static void names_clear(struct names *names)
{
	recent_free(names->ids);
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
	budget_give(threads->budget, threads->text_bytes);
	budget_free(threads->budget, threads->texts, threads->text_room * sizeof(char *));
	hash_clear(&threads->by_text);
	free(threads);
}

/* Is there room for one more text of this size? Pays for it. */
static bool have_room(struct threads *threads, size_t size)
{
	char **texts = budget_array(threads->budget, threads->texts, threads->text_count,
		&threads->text_room, sizeof(*texts));

	if (texts)
		threads->texts = texts;
	return texts && size <= threads->text_most - threads->text_bytes &&
		budget_take(threads->budget, size);
}

/* The kept text that equals this fresh one, which is freed or kept. NULL: there is no room. */
static const char *keep(struct threads *threads, char *text)
{
	uint64_t hash = hash_text(&threads->by_text, text);
	size_t size = strlen(text) + TEXT_COST;
	uint32_t at = 0, position;

	while ((position = hash_next(&threads->by_text, hash, &at)) != HASH_NONE) {
		if (strcmp(threads->texts[position], text) == 0) {
			free(text);
			return threads->texts[position];
		}
	}
	if (!have_room(threads, size)) {
		free(text);
		return NULL;
	}
	if (!hash_add(&threads->by_text, hash, threads->text_count)) {
		budget_give(threads->budget, size);
		free(text);
		return NULL;
	}
	threads->texts[threads->text_count++] = text;
	threads->text_bytes += size;
	return text;
}

static const struct name *find_name(const struct names *names, uint32_t id)
{
	uint32_t slot = recent_find(names->ids, id);

	return slot == RECENT_NONE ? NULL : &names->list[slot];
}

static const char *keep_text(struct threads *threads, struct text text)
{
	const char *kept = text.size ? keep(threads, util_printable(text.bytes, text.size)) : NULL;

	threads->refused += text.size && !kept;
	return kept;
}

/* True: it is another name than before. */
static bool set_name(struct names *names, uint32_t id, const struct name *told)
{
	struct name *name, before;
	bool fresh;

	if (!told->text)
		return false;
	name = &names->list[recent_have(names->ids, id, &fresh)];
	before = fresh ? (struct name) { .text = NULL } : *name;
	if (!fresh && (told->by < name->by || (told->by == BY_THREAD && name->by == BY_THREAD)))
		return false;
	*name = *told;
	return name->text != before.text || name->process != before.process;
}

/* The name as the guest told it, else "thread 12" in `number`. That one is not kept, since numbers have no end. */
static const char *shown_name(const struct names *names, uint32_t id, char number[NUMBER_MAX])
{
	const struct name *name = find_name(names, id);

	if (id == EVENT_NONE)
		return names->none;
	if (name)
		return name->text;
	snprintf(number, NUMBER_MAX, "%s %u", names->nameless, id);
	return number;
}

void threads_process(struct threads *threads, uint32_t process, struct text name)
{
	const struct name told = { .process = EVENT_KERNEL, .text = keep_text(threads, name), .by = BY_GUEST };

	threads->generation += set_name(&threads->processes, process, &told);
}

void threads_thread(struct threads *threads, uint32_t thread, uint32_t process, struct text name)
{
	bool idle = thread == 0 && name.size > IDLE_SIZE && memcmp(name.bytes, IDLE "/", IDLE_SIZE + 1) == 0;
	struct name told = { .process = process, .by = BY_GUEST };
	bool news;

	/* Linux has an idle task for each CPU, all of number 0: swapper/0, swapper/1. */
	told.text = keep_text(threads, (struct text) { name.bytes, idle ? IDLE_SIZE : name.size });
	news = set_name(&threads->threads, thread, &told);
	told = (struct name) { .process = EVENT_KERNEL, .text = told.text,
		.by = thread == process ? BY_FIRST_THREAD : BY_THREAD };
	if (process != EVENT_KERNEL)
		news = set_name(&threads->processes, process, &told) || news;
	threads->generation += news;
}

void threads_idle(struct threads *threads, const char *name)
{
	const char *none = name ? name : NO_THREAD;

	threads->generation += strcmp(none, threads->threads.none) != 0;
	threads->threads.none = none;
}

void threads_seen(struct threads *threads, uint32_t thread, uint32_t process)
{
	recent_find(threads->threads.ids, thread);
	recent_find(threads->processes.ids, process);
}

static const char *told_name(const struct names *names, uint32_t id)
{
	const struct name *name = find_name(names, id);

	return name ? name->text : NULL;
}

const char *threads_told(const struct threads *threads, uint32_t thread)
{
	return told_name(&threads->threads, thread);
}

const char *threads_told_process(const struct threads *threads, uint32_t process)
{
	return told_name(&threads->processes, process);
}

/* The shown name, but a text that lives until threads_free. */
static const char *kept_name(struct threads *threads, const struct names *names, uint32_t id)
{
	char number[NUMBER_MAX];
	const char *name = shown_name(names, id, number);

	if (name == number)
		name = keep(threads, util_copy(number, strlen(number)));
	return name ? name : names->nameless;
}

const char *threads_name(struct threads *threads, uint32_t thread)
{
	return kept_name(threads, &threads->threads, thread);
}

const char *threads_process_name(struct threads *threads, uint32_t process)
{
	return kept_name(threads, &threads->processes, process);
}

static bool name_matches(const struct names *names, uint32_t id, const char *pattern)
{
	char number[NUMBER_MAX];

	return pattern_match(shown_name(names, id, number), pattern);
}

/* Is the pattern a number? Then it must be this id. */
static bool is_number(const char *pattern)
{
	return pattern[strspn(pattern, "0123456789")] == '\0';
}

static bool number_matches(uint32_t id, const char *pattern)
{
	char number[NUMBER_MAX];

	snprintf(number, sizeof(number), "%u", id);
	return id != EVENT_NONE && strcmp(number, pattern) == 0;
}

uint32_t threads_owner(const struct threads *threads, uint32_t thread, uint32_t process)
{
	const struct name *told = process == EVENT_KERNEL ? find_name(&threads->threads, thread) : NULL;

	return told ? told->process : process;
}

bool threads_knows(const struct threads *threads, uint32_t thread)
{
	return find_name(&threads->threads, thread);
}

bool threads_match(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern)
{
	if (!*pattern)
		return true;
	if (is_number(pattern))
		return number_matches(thread, pattern);
	return name_matches(&threads->threads, thread, pattern) ||
		name_matches(&threads->processes, threads_owner(threads, thread, process), pattern);
}

bool threads_match_process(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern)
{
	uint32_t owner = threads_owner(threads, thread, process);

	if (!*pattern)
		return true;
	return is_number(pattern) ? number_matches(owner, pattern) :
		name_matches(&threads->processes, owner, pattern);
}

static void write_title(const struct names *names, uint32_t id, char *text, size_t size)
{
	const struct name *name = find_name(names, id);
	char number[NUMBER_MAX];

	if (name && id != EVENT_NONE && (id || strcmp(name->text, IDLE) != 0))
		snprintf(text, size, "%.*s/%u", (int)size - NUMBER_MAX, name->text, id);
	else
		snprintf(text, size, "%s", shown_name(names, id, number));
}

static const char *comm_of(const struct threads *threads, uint32_t thread, uint32_t process, char number[NUMBER_MAX])
{
	const char *told = thread == EVENT_NONE ? threads_told_process(threads, process) : NULL;

	return told ? told : shown_name(&threads->threads, thread, number);
}

void threads_comm(const struct threads *threads, uint32_t thread, uint32_t process, char *text, size_t size)
{
	char number[NUMBER_MAX];

	snprintf(text, size, "%s", comm_of(threads, thread, process, number));
}

bool threads_is(const struct threads *threads, uint32_t thread, uint32_t process, const char *name)
{
	char number[NUMBER_MAX];

	return strcmp(comm_of(threads, thread, process, number), name) == 0;
}

void threads_title(const struct threads *threads, uint32_t thread, char *text, size_t size)
{
	write_title(&threads->threads, thread, text, size);
}

void threads_title_process(const struct threads *threads, uint32_t thread, uint32_t process, char *text, size_t size)
{
	write_title(&threads->processes, threads_owner(threads, thread, process), text, size);
}

void threads_retry(struct threads *threads)
{
	threads->refused = 0;
}

uint64_t threads_refused(const struct threads *threads)
{
	return threads->refused;
}

uint64_t threads_generation(const struct threads *threads)
{
	return threads->generation;
}
