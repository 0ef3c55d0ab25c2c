/* SPDX-License-Identifier: MIT */
/*
 * A dialogue with QEMU: questions in a row, each of which is sent when the one before is answered. A
 * state machine that the caller's loop drives, and that never waits. Its state is the function that
 * takes the next answer; that asks the next question, which names the next state, or ends the
 * dialogue. It has one deadline, at which it ends by itself. A refusal is an answer: there is none of
 * what was asked for. Silence is not: it is an error, which names the question.
 *
 * A dialogue's own struct begins with this one. One dialogue at a time may use a qmp.
 */
#ifndef QMP_TALK_H
#define QMP_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct qmp;
struct qmp_talk;

/* The answer's "return", good for the call only; NULL: refused, or nothing was asked (talk_pause). */
typedef void qmp_take(struct qmp_talk *talk, const struct cJSON *answer);

struct qmp_talk {
	struct qmp *qmp;
	uint64_t begun, deadline;	/* of the clock that the steps are given */
	uint64_t now;			/* of the present step */
	qmp_take *take;			/* NULL: over */
	uint64_t pause_until;		/* nothing is asked; 0: a question waits for its answer */
	char question[96];		/* that one, in words */
	char *refusal;			/* why the present answer is none; NULL: it is one */
	char *error;			/* with its end: why it is not complete; NULL: it is */
	bool silent;			/* it ended for there was no answer, or the connection went */
};

void talk_begin(struct qmp_talk *talk, struct qmp *qmp, uint64_t now, int timeout_ms);
void talk_clear(struct qmp_talk *talk);

/* Takes `arguments`, which may be NULL; `passed`: a descriptor for QEMU, or -1. */
void talk_ask(struct qmp_talk *talk, const char *command, struct cJSON *arguments, int passed,
	qmp_take *take);
void talk_ask_for(struct qmp_talk *talk, const char *command, const char *id, qmp_take *take);
void talk_list(struct qmp_talk *talk, const char *path, qmp_take *take);	/* "name" and "type" */
void talk_get(struct qmp_talk *talk, const char *path, const char *property, qmp_take *take);
void talk_pause(struct qmp_talk *talk, int ms, qmp_take *take);
void talk_end(struct qmp_talk *talk);

/* To be called after each qmp_step. True: it is over. At most one answer is taken by a call. */
bool talk_step(struct qmp_talk *talk, uint64_t now);
uint64_t talk_due(const struct qmp_talk *talk);	/* the next call, if nothing comes before */

/* A text in an answer, good as long as that; NULL when it is another type, or not there. */
const char *talk_member(const struct cJSON *object, const char *name);
char *talk_text(const struct cJSON *answer);	/* of talk_get, in fresh memory; NULL: empty, no text */

#endif
