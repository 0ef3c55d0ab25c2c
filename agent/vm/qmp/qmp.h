/* SPDX-License-Identifier: MIT */
/*
 * A QMP client (QEMU Machine Protocol, docs/interop/qmp-spec): greeting, capabilities, requests
 * with ids, events. Never waits: the caller's loop steps it. All that QEMU says is untrusted.
 */
#ifndef QMP_H
#define QMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
#define QMP_PLUG_PORT "ktop-plugged"		/* id of the port that a ktop plugs in, and of its chardev */

struct qmp;

enum vm_state {
	VM_UNKNOWN, VM_RUNNING, VM_PAUSED, VM_SHUTDOWN, VM_PANICKED,
	VM_HANGS,			/* QEMU does not answer; as its client sees it */
	VM_GONE,
};

/* What QMP tells of a machine; texts are owned by it, NULL when unknown; paths are absolute. */
struct qmp_facts {
	char *kernel;			/* image given by -kernel */
	char *port;			/* socket of the virtserialport org.ktop.0 */
	char *label;			/* of its chardev */
	bool port_present;		/* the port exists, whatever its chardev */
	bool port_plugged;		/* by a ktop (qmp_plug.h), and has no socket for others */
	bool port_taken;		/* its socket has a client already */
	bool i8042;			/* keys can arrive by PS/2 */
	uint32_t cpus;
	char *name;			/* of the VM; may be NULL */
	char *qemu;			/* version, "7.2.22" */
};

/*
 * Connects, and no more: the greeting, the capabilities and the state come by qmp_step, each within
 * timeout_ms. NULL with `error` set: who is there, what to do; *taken: QEMU serves another client,
 * and more wait; who, peer.h may tell.
 */
struct qmp *qmp_connect(const char *path, int timeout_ms, bool *taken, char **error);
struct qmp *qmp_from_fd(int fd, const char *path, int timeout_ms);	/* takes fd */
void qmp_free(struct qmp *qmp);

enum qmp_phase {
	QMP_GREETING, QMP_AGREEING, QMP_ASKING,	/* what is waited for, in this order */
	QMP_READY,			/* for requests */
	QMP_FAILED,			/* qmp_error says why, if it came so far */
};
enum qmp_phase qmp_phase(const struct qmp *qmp);
const char *qmp_error(const struct qmp *qmp);	/* NULL: nothing failed before it was ready */
bool qmp_mute(const struct qmp *qmp);	/* failed, for no greeting came: another client may have it */

/* What is waited for before it is ready: "QEMU's greeting". */
const char *qmp_awaits(const struct qmp *qmp);

void qmp_facts_clear(struct qmp_facts *facts);

/*
 * One request. Takes `arguments`, which may be NULL; `passed`: a descriptor that QEMU
 * gets with it, or -1. One answer is kept: that to the last request that was made so.
 */
void qmp_request(struct qmp *qmp, const char *command, struct cJSON *arguments, int passed);
bool qmp_send(struct qmp *qmp, const char *command, struct cJSON *arguments);	/* no answer wanted */

bool qmp_has_answer(const struct qmp *qmp);
struct cJSON *qmp_take_answer(struct qmp *qmp);	/* whole, now the caller's; NULL: it has not come */

/*
 * Why an answer has no "return", in fresh memory: QEMU's own words, or that it makes no sense. NULL:
 * it has one.
 */
char *qmp_refusal(const struct cJSON *answer);

int qmp_fd(const struct qmp *qmp);

/* Reads and handles some of what is there. False: the connection is gone, or was given up. */
bool qmp_step(struct qmp *qmp, uint64_t now);
enum vm_state qmp_state(const struct qmp *qmp);

/* Asks for the state, unless that is asked already; and since when it is: 0: it is not. */
void qmp_ask(struct qmp *qmp);
uint64_t qmp_asked(const struct qmp *qmp);
uint64_t qmp_resets(const struct qmp *qmp);	/* RESET events seen */
uint64_t qmp_deletions(const struct qmp *qmp);	/* how often QMP_PLUG_PORT was taken out, by whomever */

/* Queues a press of these set-1 make codes, in order, and their release in reverse. */
bool qmp_send_keys(struct qmp *qmp, const uint8_t *codes, size_t count);
bool qmp_quit(struct qmp *qmp);

#endif
