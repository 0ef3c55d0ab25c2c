/* SPDX-License-Identifier: MIT */
/*
 * A QMP server with a table of answers, in a thread of its own. Its answers can be cut into pieces, mixed with events
 * and garbage, withheld, sent a byte now and then, or false.
 */
#ifndef FAKE_QMP_H
#define FAKE_QMP_H

#include <stdbool.h>
#include <stddef.h>

struct fake_qmp;

struct fake_answer {
	const char *request;		/* part of the request's line; "" matches all */
	const char *answer;		/* the text that follows {"id": N, ; NULL: no answer; "": hangs up */
};

struct fake_script {
	const char *greeting;		/* NULL: none */
	const char *before;		/* text to send before each answer */
	size_t piece;			/* bytes of one write; 0: an answer at once */
	const struct fake_answer *answers;	/* the first row that matches is used; the last row is empty */

	/* The oddity, from answer `odd_from` on. The greeting is answer 0. FAKE_FAIR: there is none. */
	enum fake_oddity { FAKE_FAIR, FAKE_SILENT, FAKE_DRIPS, FAKE_LIES, FAKE_ODDITIES } odd;
	int odd_from;

	int mute_from;			/* this answer waits until fake_qmp_mute; 1: the greeting; 0: none waits */

	/* Gives answers in place of the table, in the server's thread. NULL: the table gives them. */
	const char *(*machine)(void *context, const char *line);
	void *context;
};

extern const char fake_greeting[];

struct fake_qmp *fake_qmp_new(const struct fake_script *script);	/* over a socket pair */
struct fake_qmp *fake_qmp_listen(const struct fake_script *script, const char *path);
void fake_qmp_free(struct fake_qmp *fake);

int fake_qmp_answered(struct fake_qmp *fake);	/* how many questions came, odd answers included */
int fake_qmp_fd(struct fake_qmp *fake);		/* the client's end; the caller owns it; one call only */
void fake_qmp_say(struct fake_qmp *fake, const char *text);
void fake_qmp_mute(struct fake_qmp *fake, bool mute);	/* while mute, answers wait */
void fake_qmp_hang_up(struct fake_qmp *fake);

/* Waits for a request with this text in it. Returns its line. */
const char *fake_qmp_wait(struct fake_qmp *fake, const char *part);

#endif
