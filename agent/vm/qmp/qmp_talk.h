/* SPDX-License-Identifier: MIT */
/*
 * A dialogue with QEMU: questions in a row, each sent once the one before is answered. The caller's loop
 * drives it, and it never waits. Its state is the function that takes the next answer. That function asks
 * the next question, which sets the next state, or ends the dialogue. A dialogue has one deadline, at which
 * it ends by itself. A refusal is an answer: QEMU does not have what was asked for. Silence is an error,
 * which names the question.
 *
 * The struct of a dialogue begins with this one. Only one dialogue at a time may use a qmp.
 */
#ifndef QMP_TALK_H
#define QMP_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct qmp;
struct qmp_talk;

/*
 * Gets the answer's "return", valid during the call only. NULL: QEMU has refused, or nothing was asked
 * (talk_pause).
 */
typedef void qmp_take(struct qmp_talk *talk, const struct cJSON *answer);

struct qmp_talk {
	struct qmp *qmp;
	uint64_t begun, deadline;	/* ns, on the clock that talk_step is given */
	uint64_t now;			/* the time of the present step */
	qmp_take *take;			/* the state; NULL: the dialogue is over */
	uint64_t pause_until;		/* nothing is asked until then; 0: an answer is awaited */
	char question[96];		/* the question that is open, in words */
	char *refusal;			/* why QEMU has refused; NULL: it has answered */
	char *error;			/* at the end: why the dialogue is not complete; NULL: it is */
	bool silent;			/* the dialogue ended because no answer came, or the connection closed */
};

/* Sets the deadline. The first question follows. */
void talk_begin(struct qmp_talk *talk, struct qmp *qmp, uint64_t now, int timeout_ms);
void talk_clear(struct qmp_talk *talk);

/* Takes over `arguments`, which may be NULL. `passed`: a descriptor for QEMU, or -1. */
void talk_ask(struct qmp_talk *talk, const char *command, struct cJSON *arguments, int passed,
	qmp_take *take);

/* Asks a command whose only argument is `id`; lists a folder of devices (qom-list); gets a property (qom-get). */
void talk_ask_for(struct qmp_talk *talk, const char *command, const char *id, qmp_take *take);
void talk_list(struct qmp_talk *talk, const char *path, qmp_take *take);	/* each child has "name" and "type" */
void talk_get(struct qmp_talk *talk, const char *path, const char *property, qmp_take *take);

void talk_pause(struct qmp_talk *talk, int ms, qmp_take *take);	/* calls `take` with NULL after ms */
void talk_end(struct qmp_talk *talk);				/* the dialogue is over */

/* To be called after each qmp_step. True: the dialogue is over. Each call takes one answer at most. */
bool talk_step(struct qmp_talk *talk, uint64_t now);
uint64_t talk_due(const struct qmp_talk *talk);	/* when the next call is due, if nothing comes before */

/* A text in an answer, valid as long as the answer. NULL: it is missing, or no text. */
const char *talk_member(const struct cJSON *object, const char *name);
char *talk_text(const struct cJSON *answer);	/* the answer to talk_get, in fresh memory; NULL: empty, or no text */

#endif
