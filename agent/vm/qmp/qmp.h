/* SPDX-License-Identifier: MIT */
/*
 * A QMP client (QEMU Machine Protocol, docs/interop/qmp-spec): greeting, capabilities, requests with ids,
 * events. Never waits: the caller's loop steps it. Nothing that QEMU says is trusted. One owner thread.
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
	VM_UNKNOWN,			/* QEMU has not told it yet, or is not asked by QMP */
	VM_RUNNING, VM_PAUSED, VM_SHUTDOWN, VM_PANICKED,
	VM_HANGS,			/* QEMU does not answer; only link.c sets it */
	VM_GONE,			/* the connection to QEMU is gone */
};

/* What QMP tells of a machine. The struct owns its texts; NULL: not known. Paths are absolute. */
struct qmp_facts {
	char *kernel;			/* the path given by -kernel */
	char *port;			/* path of the socket of the virtserialport org.ktop.0 */
	char *label;			/* id of its chardev */
	bool port_present;		/* there is such a port, whatever its chardev is */
	bool port_plugged;		/* a ktop plugged it in (qmp_plug.h); others cannot connect */
	bool port_taken;		/* its socket has a client */
	bool port_open;			/* the guest has opened it */
	char *plugin;			/* path of the plugin's socket; NULL: none is loaded, or KVM runs the guest */
	bool i8042;			/* keys can be sent by PS/2 */
	bool kvm;			/* KVM runs the guest */
	uint32_t cpus;
	char *name;			/* the VM's */
	char *qemu;			/* its version, such as "7.2.22" */
};

/*
 * Connects, and no more: the greeting, the capabilities and the state come by qmp_step, each within
 * timeout_ms. NULL with `error` set: why, and what to do. *taken: QEMU serves another client, and more are
 * waiting; unix_socket.h may tell who it is.
 */
struct qmp *qmp_connect(const char *path, int timeout_ms, bool *taken, char **error);
struct qmp *qmp_from_fd(int fd, const char *path, int timeout_ms);	/* takes over fd */
void qmp_free(struct qmp *qmp);

enum qmp_phase {
	QMP_GREETING, QMP_AGREEING, QMP_ASKING,	/* waits for these, in this order */
	QMP_READY,			/* takes requests */
	QMP_FAILED,			/* qmp_error says why, if it failed before it was ready */
};
enum qmp_phase qmp_phase(const struct qmp *qmp);
const char *qmp_error(const struct qmp *qmp);	/* NULL: nothing failed before it was ready */

/* What it waits for before it is ready, such as "QEMU's greeting"; else "". */
const char *qmp_awaits(const struct qmp *qmp);

void qmp_facts_clear(struct qmp_facts *facts);	/* frees the texts */

/*
 * Sends one request. Takes over `arguments`, which may be NULL. `passed`: a descriptor that QEMU gets with
 * it, or -1. Only the answer to the last qmp_request is kept.
 */
void qmp_request(struct qmp *qmp, const char *command, struct cJSON *arguments, int passed);

/* The same, but the answer is dropped. False: the connection is gone. */
bool qmp_send(struct qmp *qmp, const char *command, struct cJSON *arguments);

bool qmp_has_answer(const struct qmp *qmp);
struct cJSON *qmp_take_answer(struct qmp *qmp);	/* the caller frees it; NULL: it has not come */

int qmp_fd(const struct qmp *qmp);	/* for poll() */

/* Reads and handles some of what has come, 16 KiB at most. False: the connection is gone, or was given up. */
bool qmp_step(struct qmp *qmp, uint64_t now);
enum vm_state qmp_state(const struct qmp *qmp);

/* Asks for the state, unless that is under way. qmp_asked: since when (util_now), or 0: it is not. */
void qmp_ask(struct qmp *qmp);
uint64_t qmp_asked(const struct qmp *qmp);
uint64_t qmp_resumes(const struct qmp *qmp);	/* RESUME events so far */
uint64_t qmp_resets(const struct qmp *qmp);	/* RESET events so far */
uint64_t qmp_deletions(const struct qmp *qmp);	/* how often QMP_PLUG_PORT was deleted, by whomever */

/*
 * Queues a press of these set-1 make codes, in order, and their release in reverse order. False: too many,
 * or the connection is gone.
 */
bool qmp_send_keys(struct qmp *qmp, const uint8_t *codes, size_t count);
bool qmp_quit(struct qmp *qmp);		/* asks QEMU to end; false: the connection is gone */

/* ---- a talk: questions and answers, in order ---- */

/*
 * A dialogue with QEMU: questions in a row, each sent once the one before is answered. The caller's loop
 * drives it, and it never waits. Its state is the function that takes the next answer. That function asks
 * the next question, which sets the next state, or ends the dialogue. A dialogue has one deadline, at which
 * it ends by itself. A refusal is an answer: QEMU does not have what was asked for. Silence is an error,
 * which names the question.
 *
 * The struct of a dialogue begins with this one. Only one dialogue at a time may use a qmp.
 */

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
