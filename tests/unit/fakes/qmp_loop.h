/* SPDX-License-Identifier: MIT */
/* The small loops around a QMP client: one until it is ready, one until a dialogue is over. */
#ifndef QMP_LOOP_H
#define QMP_LOOP_H

#include <poll.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"

static inline void loop_wait(const struct qmp *qmp, int ms)
{
	poll(&(struct pollfd) { .fd = qmp_fd(qmp), .events = POLLIN }, 1, ms);
}

/* Returns the client when it is ready. Frees it and returns NULL, with `error` set, when that fails. */
static inline struct qmp *loop_open(struct qmp *qmp, char **error)
{
	while (qmp_step(qmp, util_now()) && qmp_phase(qmp) != QMP_READY)
		loop_wait(qmp, 10);
	if (qmp_phase(qmp) == QMP_READY)
		return qmp;
	util_fail(error, "%s", qmp_error(qmp));
	qmp_free(qmp);
	return NULL;
}

/*
 * True: the dialogue is over and complete. Its time is over as soon as `late` is true, so that what comes before has
 * all the time that it needs on a busy host. NULL: by the clock.
 */
static inline bool loop_talk_until(struct qmp_talk *talk, bool (*late)(const void *context), const void *context)
{
	while (!talk_step(talk, late && late(context) ? UINT64_MAX : util_now())) {
		loop_wait(talk->qmp, 1);
		qmp_step(talk->qmp, util_now());
	}
	return !talk->error;
}

static inline bool loop_talk(struct qmp_talk *talk)
{
	return loop_talk_until(talk, NULL, NULL);
}

#endif
