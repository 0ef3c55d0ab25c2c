/* SPDX-License-Identifier: MIT */
/*
 * A thread that reads source lines and inlined functions, so that nobody waits for DWARF or its file. One
 * owner asks and takes the answers. The thread starts with the first question.
 */
#ifndef LINE_WORKER_H
#define LINE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_QUEUE = 2048 };		/* the most questions whose answers were not taken yet */

struct budget;
struct code_lines;
struct debug_folders;
struct debug_object;
struct line_worker;

/*
 * The line of the function that begins at an address; the functions inlined at any address; the lines of any address;
 * all that is known of the code from an address on.
 */
enum line_wanted { LINE_PLACE, LINE_INLINED, LINE_AT, LINE_CODE };

struct line_question {
	const struct debug_object *object;	/* it and its file live until line_worker_free */
	uint64_t address;		/* link address */
	uint64_t end;			/* LINE_CODE: where the code ends */
	uint32_t ticket;		/* comes back with the answer */
	enum line_wanted wanted;
};

struct line_answer {
	uint32_t ticket;
	enum line_wanted wanted;
	bool later;			/* the file is not there yet: ask again */
	bool starved;			/* there was no memory for the file's DWARF */
	char *text;			/* see sym_dwarf.h; NULL: none */
	struct code_lines *code;	/* LINE_CODE has this in place of a text; likewise */
};

struct line_worker *line_worker_new(struct budget *budget);
void line_worker_free(struct line_worker *worker);	/* waits for the question in work */

/*
 * Sets where debug files are, and whether servers are asked for missing ones. To be called before the first
 * question; the texts stay the caller's.
 */
void line_worker_set(struct line_worker *worker, const struct debug_folders *folders,
	bool debuginfod);

/* There is memory again: files that had none are opened again with their next question. */
void line_worker_retry(struct line_worker *worker);

/* False: the queue is full, or the system gives no thread; ask again later. */
bool line_worker_ask(struct line_worker *worker, const struct line_question *question);

/* Takes the next answer; the caller clears it. False: there is none. */
bool line_worker_take(struct line_worker *worker, struct line_answer *answer);
void line_answer_clear(struct line_answer *answer);	/* frees what it holds */

/* What is wrong with the files; "" if nothing. Returns `text`. */
const char *line_worker_note(struct line_worker *worker, char *text, size_t size);

#endif
