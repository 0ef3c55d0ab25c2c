/* SPDX-License-Identifier: MIT */
/*
 * A QMP server of a table of answers, in a thread of its own. What it says can be cut into pieces,
 * mixed with events and garbage, withheld, sent a byte now and then, or be a lie.
 */
#ifndef FAKE_QMP_H
#define FAKE_QMP_H

#include <stdbool.h>
#include <stddef.h>

struct fake_qmp;

struct fake_answer {
	const char *request;		/* part of the request's line; "" matches all */
	const char *answer;		/* what follows {"id": N, ; NULL: none; "": hangs up */
};

struct fake_script {
	const char *greeting;		/* NULL: none */
	const char *before;		/* sent before each answer */
	size_t piece;			/* bytes of one write; 0: all at once */
	const struct fake_answer *answers;	/* the first that matches; the last is empty */

	/* From this one on, the greeting being 0 (and FAKE_FAIR: never): */
	enum fake_oddity { FAKE_FAIR, FAKE_SILENT, FAKE_DRIPS, FAKE_LIES, FAKE_ODDITIES } odd;
	int odd_from;

	/* Or this one, as a row's answer would be, in the server's thread; NULL: the table's. */
	const char *(*machine)(void *context, const char *line);
	void *context;
};

extern const char fake_greeting[];

struct fake_qmp *fake_qmp_new(const struct fake_script *script);	/* over a socket pair */
struct fake_qmp *fake_qmp_listen(const struct fake_script *script, const char *path);
void fake_qmp_free(struct fake_qmp *fake);

int fake_qmp_answered(struct fake_qmp *fake);	/* so many questions came, odd or not */
int fake_qmp_fd(struct fake_qmp *fake);		/* the client's end, once */
void fake_qmp_say(struct fake_qmp *fake, const char *text);
void fake_qmp_mute(struct fake_qmp *fake, bool mute);	/* answers wait until it is no more */
void fake_qmp_hang_up(struct fake_qmp *fake);

/* Waits, bounded, until a request that has this in it came; its line, or NULL. */
const char *fake_qmp_wait(struct fake_qmp *fake, const char *part);

#endif
