#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "line_worker.h"
#include "sym_dwarf.h"
#include "util.h"

enum { HANDLES = 4 };			/* files open at a time: each may be large */

struct handle {
	bool used, full;
	int fd;
	struct sym_dwarf *dwarf;	/* NULL: the file has no line information */
};

struct answer {
	uint32_t ticket;
	char *line;
};

/* Counters run on; the slot is the counter modulo LINE_QUEUE. taken <= answered <= asked. */
struct line_worker {
	struct budget *budget;
	_Atomic uint64_t refused;

	/* the owner's */
	pthread_t thread;
	bool started;

	/* the thread's */
	struct handle handles[HANDLES];
	size_t next_handle;

	/* under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t asked_more;
	bool stop;
	uint64_t asked, answered, taken;
	struct line_question questions[LINE_QUEUE];
	struct answer answers[LINE_QUEUE];
};

struct line_worker *line_worker_new(struct budget *budget)
{
	struct line_worker *worker = util_alloc(sizeof(*worker));

	worker->budget = budget;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->asked_more, NULL);
	return worker;
}

static struct handle *open_dwarf(struct line_worker *worker, int fd)
{
	struct handle *handle;

	for (size_t i = 0; i < HANDLES; i++) {
		handle = &worker->handles[i];
		if (handle->used && handle->fd == fd)
			return handle;
	}
	handle = &worker->handles[worker->next_handle++ % HANDLES];
	sym_dwarf_close(handle->dwarf);
	*handle = (struct handle){ .used = true, .fd = fd };
	handle->dwarf = sym_dwarf_open(fd, worker->budget, &handle->full);
	return handle;
}

/* A handle that has no room for more lines is opened anew: that lets go of those it has. */
static char *find_line(struct line_worker *worker, const struct line_question *question)
{
	struct handle *handle = open_dwarf(worker, question->fd);
	char *line = NULL;

	if (handle->dwarf)
		line = sym_dwarf_line(handle->dwarf, question->address, &handle->full);
	if (handle->dwarf && handle->full) {
		sym_dwarf_close(handle->dwarf);
		handle->dwarf = sym_dwarf_open(question->fd, worker->budget, &handle->full);
		if (handle->dwarf)
			line = sym_dwarf_line(handle->dwarf, question->address, &handle->full);
	}
	worker->refused += handle->full;
	return line;
}

/* Waits for a question; false: it is time to end. */
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

	sigfillset(&signals);			/* they are for the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	while (next_question(worker, &question)) {
		char *line = find_line(worker, &question);

		pthread_mutex_lock(&worker->lock);
		worker->answers[worker->answered++ % LINE_QUEUE] = (struct answer){
			.ticket = question.ticket,
			.line = line,
		};
		pthread_mutex_unlock(&worker->lock);
	}
	for (size_t i = 0; i < HANDLES; i++)
		sym_dwarf_close(worker->handles[i].dwarf);
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

bool line_worker_take(struct line_worker *worker, uint32_t *ticket, char **line)
{
	bool any;

	pthread_mutex_lock(&worker->lock);
	any = worker->taken < worker->answered;
	if (any) {
		struct answer *answer = &worker->answers[worker->taken++ % LINE_QUEUE];

		*ticket = answer->ticket;
		*line = answer->line;
	}
	pthread_mutex_unlock(&worker->lock);
	return any;
}

uint64_t line_worker_refused(const struct line_worker *worker)
{
	return worker->refused;
}

void line_worker_free(struct line_worker *worker)
{
	uint32_t ticket;
	char *line;

	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->asked_more);
	pthread_mutex_unlock(&worker->lock);
	if (worker->started)
		pthread_join(worker->thread, NULL);
	while (line_worker_take(worker, &ticket, &line))
		free(line);
	pthread_cond_destroy(&worker->asked_more);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}
