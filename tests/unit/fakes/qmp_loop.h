/* SPDX-License-Identifier: MIT */
/* The small loop around a QMP client: until it is ready, until a dialogue is over. */
#ifndef QMP_LOOP_H
#define QMP_LOOP_H

#include <poll.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_talk.h"

static inline void loop_wait(const struct qmp *qmp, int ms)
{
	poll(&(struct pollfd) { .fd = qmp_fd(qmp), .events = POLLIN }, 1, ms);
}

/* NULL with `error` set; frees it then. */
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

/* True: it is complete. */
static inline bool loop_talk(struct qmp_talk *talk)
{
	while (!talk_step(talk, util_now())) {
		loop_wait(talk->qmp, 1);
		qmp_step(talk->qmp, util_now());
	}
	return !talk->error;
}

#endif
