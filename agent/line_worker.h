/*
 * A thread that looks up source lines, so that nobody waits for DWARF. One owner asks and takes;
 * the thread starts with the first question.
 */
#ifndef LINE_WORKER_H
#define LINE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

enum { LINE_QUEUE = 512 };		/* questions whose answers are not taken yet */

struct budget;
struct line_worker;

struct line_question {
	uint32_t ticket;		/* comes back with the answer */
	int fd;				/* of an ELF file; stays open until line_worker_free */
	uint64_t address;		/* link address */
};

struct line_worker *line_worker_new(struct budget *budget);
void line_worker_free(struct line_worker *worker);	/* waits for the question in work */

/* False: the queue is full, ask again later. */
bool line_worker_ask(struct line_worker *worker, const struct line_question *question);

/* Questions without an answer: there was no memory for the file's lines. */
uint64_t line_worker_refused(const struct line_worker *worker);

/* The next answer, if any: in fresh memory, NULL when there is no line. */
bool line_worker_take(struct line_worker *worker, uint32_t *ticket, char **line);

#endif
