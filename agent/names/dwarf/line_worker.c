/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "line_worker.h"
#include "sym_dwarf.h"

enum { HANDLES = 8 };			/* files open at a time, for each may be large */

struct handle {
	const struct debug_object *object;	/* NULL: empty */
	/* There was no memory for it, or for more of it. */
	bool full;
	bool told;			/* that a part of it is damaged */
	bool asking;			/* debuginfod is asked for its file */
	unsigned tries;			/* the worker's `tries` when it was opened */
	int fd;				/* of the debug file; -1: the object's own file, or none */
	struct sym_dwarf *dwarf;	/* NULL: no DWARF */
	uint64_t used;			/* larger: later */
};

/* The counters only grow; a slot is the counter modulo LINE_QUEUE. taken <= answered <= asked. */
struct line_worker {
	struct budget *budget;
	atomic_uint tries;		/* how often memory has come back */

	/* used by the owner */
	pthread_t thread;
	bool started;

	/* used by the thread */
	struct handle handles[HANDLES];
	uint64_t uses;
	struct debug_folders folders;
	struct debuginfod *debuginfod;	/* NULL: no server is asked */

	/* guarded by `lock` */
	pthread_mutex_t lock;
	pthread_cond_t asked_more;
	bool stop;
	uint64_t asked, answered, taken;
	struct line_question questions[LINE_QUEUE];
	struct line_answer answers[LINE_QUEUE];
	char note[256];
};

struct line_worker *line_worker_new(struct budget *budget)
{
	struct line_worker *worker = util_alloc(sizeof(*worker));

	worker->budget = budget;
	for (size_t i = 0; i < HANDLES; i++)
		worker->handles[i].fd = -1;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->asked_more, NULL);
	return worker;
}

void line_worker_set(struct line_worker *worker, const struct debug_folders *folders,
	bool debuginfod)
{
	worker->folders = *folders;
	debuginfod_free(worker->debuginfod);
	worker->debuginfod = debuginfod ? debuginfod_new() : NULL;
}

static void close_handle(struct handle *handle)
{
	sym_dwarf_free(handle->dwarf);
	if (handle->fd >= 0)
		close(handle->fd);
	*handle = (struct handle) { .fd = -1 };
}

static void note(struct line_worker *worker, const char *text)
{
	pthread_mutex_lock(&worker->lock);
	snprintf(worker->note, sizeof(worker->note), "%s", text);
	pthread_mutex_unlock(&worker->lock);
}

/* `some`: other lines can be read. */
static void note_lost(struct line_worker *worker, const struct debug_object *object, bool some, const char *why)
{
	char *text = util_format(some ? "source lines of %s are missing: %s; give the file as it was linked" :
		"no source lines of %s: %s; give the file as it was linked",
		object->path && *object->path ? object->path : "a program", why);
	char *printable = util_printable(text, strlen(text));

	note(worker, printable);
	free(printable);
	free(text);
}

/* A file that should have lines, or may have some, but none can be read. */
static void note_unread(struct line_worker *worker, const struct debug_object *object, int fd)
{
	struct elf_identity identity;
	const char *why = sym_elf_identify(fd, &identity, worker->budget) ? sym_elf_lost_lines(&identity) : NULL;

	if (why)
		note_lost(worker, object, false, why);
}

/* Opens the object's own file, or else the debug file of its build. */
static void open_dwarf(struct line_worker *worker, struct handle *handle)
{
	const struct debug_object *object = handle->object;
	char remark[sizeof(worker->note)] = "";

	handle->tries = atomic_load(&worker->tries);
	if (handle->fd < 0 && object->fd >= 0)
		handle->dwarf = sym_dwarf_new(object->fd, &worker->folders, worker->budget,
			&handle->full);
	if (handle->dwarf || handle->full)
		return;
	if (handle->fd < 0)
		handle->fd = debug_file_open(&worker->folders, object, worker->budget, remark,
			sizeof(remark));
	if (handle->fd >= 0)
		handle->dwarf = sym_dwarf_new(handle->fd, &worker->folders, worker->budget,
			&handle->full);
	else if (remark[0])
		note(worker, remark);
	if (!handle->dwarf && !handle->full && (handle->fd >= 0 || object->fd >= 0))
		note_unread(worker, object, handle->fd >= 0 ? handle->fd : object->fd);
	handle->asking = handle->fd < 0 && worker->debuginfod &&
		build_id_known(&object->build_id);
}

static void note_asking(struct line_worker *worker, const struct debug_object *object,
	enum debuginfod_state state)
{
	const char *name = object->kind == DEBUG_KERNEL ? "the kernel" : object->name ?
		object->name : object->path;
	char *text = util_format(state == DEBUGINFOD_ASKING ?
		"debuginfod is asked for the lines of %s" :
		"no source lines of %s: debuginfod has no debug file for it; give that by "
		"--debug-dir", name ? name : "a program");
	char *printable = util_printable(text, strlen(text));

	note(worker, state == DEBUGINFOD_FOUND ? "" : printable);
	free(printable);
	free(text);
}

/* A file from a server is used only if it is of the right build. */
static void ask_server(struct line_worker *worker, struct handle *handle)
{
	const struct debug_object *object = handle->object;
	char remark[sizeof(worker->note)] = "";
	const char *path = NULL;
	enum debuginfod_state state = debuginfod_find(worker->debuginfod, &object->build_id, &path);

	handle->asking = state == DEBUGINFOD_ASKING;
	note_asking(worker, object, state);
	if (state != DEBUGINFOD_FOUND)
		return;
	snprintf(remark, sizeof(remark), "what debuginfod sent is not used: it is not a debug "
		"file; is DEBUGINFOD_URLS right?");
	handle->fd = debug_file_try(path, &object->build_id, worker->budget, remark,
		sizeof(remark));
	if (handle->fd < 0)
		note(worker, remark);
	else
		handle->dwarf = sym_dwarf_new(handle->fd, &worker->folders, worker->budget,
			&handle->full);
}

/* The object's handle. A new one takes the place of the one that is unused for longest. */
static struct handle *have_handle(struct line_worker *worker, const struct debug_object *object)
{
	struct handle *oldest = worker->handles;

	for (size_t i = 0; i < HANDLES; i++) {
		struct handle *handle = &worker->handles[i];

		if (handle->object == object)
			return handle;
		if (handle->used < oldest->used)
			oldest = handle;
	}
	close_handle(oldest);
	oldest->object = object;
	open_dwarf(worker, oldest);
	return oldest;
}

void line_answer_clear(struct line_answer *answer)
{
	free(answer->text);
	code_lines_free(answer->code);
	answer->text = NULL;
	answer->code = NULL;
}

/* A source file that is not on this host is asked for, too. True: it may come later. */
static bool fetch_source(struct line_worker *worker, const struct debug_object *object, struct code_lines *lines)
{
	uint16_t own = lines ? code_lines_own(lines) : CODE_NO_FILE;
	const char *path = NULL;
	enum debuginfod_state state;

	if (!worker->debuginfod || own >= (lines ? lines->file_count : 0) || access(lines->files[own], R_OK) == 0)
		return false;
	state = debuginfod_find_source(worker->debuginfod, &object->build_id, lines->files[own], &path);
	if (state == DEBUGINFOD_FOUND)
		lines->fetched = util_copy(path, strlen(path));
	return state == DEBUGINFOD_ASKING;
}

static void read_answer(struct handle *handle, const struct line_question *question, struct line_answer *answer)
{
	line_answer_clear(answer);
	if (!handle->dwarf)
		return;
	switch (question->wanted) {
	case LINE_PLACE:
		answer->text = sym_dwarf_line(handle->dwarf, question->address, &handle->full);
		break;
	case LINE_INLINED:
		answer->text = sym_dwarf_inlined(handle->dwarf, question->address, &handle->full);
		break;
	case LINE_AT:
		answer->text = sym_dwarf_lines_at(handle->dwarf, question->address, &handle->full);
		break;
	case LINE_CODE:
		answer->code = sym_dwarf_code(handle->dwarf, question->address, question->end, &handle->full);
		break;
	}
}

/*
 * A handle without room for more is made anew, which frees what it holds. A handle that got no memory at
 * all is made anew once memory has come back.
 */
static struct line_answer find_answer(struct line_worker *worker,
	const struct line_question *question)
{
	struct handle *handle = have_handle(worker, question->object);
	struct line_answer answer = {
		.ticket = question->ticket, .wanted = question->wanted,
	};

	if (handle->asking)
		ask_server(worker, handle);
	answer.later = handle->asking;
	read_answer(handle, question, &answer);
	handle->used = ++worker->uses;
	if (handle->full && (handle->dwarf || handle->tries != atomic_load(&worker->tries))) {
		sym_dwarf_free(handle->dwarf);
		handle->dwarf = NULL;
		handle->full = false;
		open_dwarf(worker, handle);
		read_answer(handle, question, &answer);
	}
	if (handle->dwarf && sym_dwarf_is_damaged(handle->dwarf) && !handle->told) {
		handle->told = true;
		note_lost(worker, question->object, true, "a part of its debug sections is damaged");
	}
	answer.starved = handle->full;
	answer.later = fetch_source(worker, question->object, answer.code) || answer.later;
	return answer;
}

/* Waits for a question. False: the thread is to end. */
static bool next_question(struct line_worker *worker, struct line_question *question)
{
	bool go;

	pthread_mutex_lock(&worker->lock);
	while (!worker->stop && worker->answered == worker->asked)
		pthread_cond_wait(&worker->asked_more, &worker->lock);
	go = !worker->stop;
	if (go)
		*question = worker->questions[worker->answered % LINE_QUEUE];
	pthread_mutex_unlock(&worker->lock);
	return go;
}

static void *work(void *context)
{
	struct line_worker *worker = context;
	struct line_question question;
	sigset_t signals;

	sigfillset(&signals);			/* signals go to the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	while (next_question(worker, &question)) {
		struct line_answer answer = find_answer(worker, &question);

		pthread_mutex_lock(&worker->lock);
		worker->answers[worker->answered++ % LINE_QUEUE] = answer;
		pthread_mutex_unlock(&worker->lock);
	}
	for (size_t i = 0; i < HANDLES; i++)
		close_handle(&worker->handles[i]);
	debuginfod_free(worker->debuginfod);	/* here, for its process ends with this thread */
	return NULL;
}

bool line_worker_ask(struct line_worker *worker, const struct line_question *question)
{
	bool room;

	if (!worker->started && pthread_create(&worker->thread, NULL, work, worker) != 0)
		return false;
	worker->started = true;
	pthread_mutex_lock(&worker->lock);
	room = worker->asked - worker->taken < LINE_QUEUE;
	if (room)
		worker->questions[worker->asked++ % LINE_QUEUE] = *question;
	pthread_cond_signal(&worker->asked_more);
	pthread_mutex_unlock(&worker->lock);
	return room;
}

void line_worker_retry(struct line_worker *worker)
{
	atomic_fetch_add(&worker->tries, 1);
}

bool line_worker_take(struct line_worker *worker, struct line_answer *answer)
{
	bool any;

	pthread_mutex_lock(&worker->lock);
	any = worker->taken < worker->answered;
	if (any)
		*answer = worker->answers[worker->taken++ % LINE_QUEUE];
	pthread_mutex_unlock(&worker->lock);
	return any;
}

const char *line_worker_note(struct line_worker *worker, char *text, size_t size)
{
	pthread_mutex_lock(&worker->lock);
	snprintf(text, size, "%s", worker->note);
	pthread_mutex_unlock(&worker->lock);
	return text;
}

void line_worker_free(struct line_worker *worker)
{
	struct line_answer answer;

	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->asked_more);
	pthread_mutex_unlock(&worker->lock);
	if (worker->started)
		pthread_join(worker->thread, NULL);
	else
		debuginfod_free(worker->debuginfod);
	while (line_worker_take(worker, &answer))
		line_answer_clear(&answer);
	pthread_cond_destroy(&worker->asked_more);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}
