/*
 * QEMU's objects (QOM), as QMP tells of them: questions in a row, until a deadline. A refusal is an
 * answer: there is none of it. Silence is not: after the first, nothing is asked any more.
 */
#ifndef QMP_QOM_H
#define QMP_QOM_H

#include <stdint.h>

struct cJSON;
struct qmp;

struct qom {
	struct qmp *qmp;
	uint64_t deadline;		/* util_now */
	char *error;			/* of the first call that was not answered; freed by the user */
};

/* NULL: refused, or not answered; freed by the caller. Takes `arguments`, which may be NULL. */
struct cJSON *qom_call(struct qom *qom, const char *command, struct cJSON *arguments);
struct cJSON *qom_list(struct qom *qom, const char *path);	/* an array of "name" and "type" */

/* A property's text in fresh memory; NULL when it is empty, another type, or not there. */
char *qom_text(struct qom *qom, const char *path, const char *property);

/* A text in an answer, good as long as that; NULL when it is another type, or not there. */
const char *qom_member(const struct cJSON *object, const char *name);

#endif
