/*
 * A QMP client (QEMU Machine Protocol, docs/interop/qmp-spec): greeting, capabilities, requests
 * with ids, events. Never blocks except in the calls that say so. All that QEMU says is untrusted.
 */
#ifndef QMP_H
#define QMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
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
	bool port_present;		/* the port exists, whatever its chardev */
	bool port_plugged;		/* by a ktop (qmp_plug.h), and has no socket for others */
	bool port_taken;		/* its socket has a client already */
	bool i8042;			/* keys can arrive by PS/2 */
	uint32_t cpus;
	char *name;			/* of the VM; may be NULL */
	char *qemu;			/* version, "7.2.22" */
};

/* Blocks at most timeout_ms for the greeting. NULL with `error` set: who is there, what to do. */
struct qmp *qmp_connect(const char *path, int timeout_ms, char **error);
struct qmp *qmp_from_fd(int fd, const char *path, int timeout_ms, char **error); /* takes fd */
void qmp_free(struct qmp *qmp);

/* Blocks at most timeout_ms in all. False with `error` set when a question was not answered. */
bool qmp_discover(struct qmp *qmp, int timeout_ms, struct qmp_facts *facts, char **error);
void qmp_facts_clear(struct qmp_facts *facts);

/*
 * One request and its answer's "return", to be freed by the caller; takes `arguments`, which may be
 * NULL. Blocks until `deadline` (util_now). NULL with `error` set.
 */
struct cJSON *qmp_call(struct qmp *qmp, const char *command, struct cJSON *arguments,
	uint64_t deadline, char **error);
bool qmp_send(struct qmp *qmp, const char *command, struct cJSON *arguments);	/* no answer wanted */
bool qmp_answered(const struct qmp *qmp);	/* the last one was, be it by a refusal */
char *qmp_refusal(const struct qmp *qmp);	/* what that said, in fresh memory; NULL: nothing */

/* Gives QEMU a descriptor as well, by this name; false with `error` set. */
bool qmp_pass(struct qmp *qmp, int fd, const char *name, uint64_t deadline, char **error);

int qmp_fd(const struct qmp *qmp);

/* Reads and handles what is there. False: the connection is gone. */
bool qmp_step(struct qmp *qmp);
enum vm_state qmp_state(const struct qmp *qmp);

/* Asks for the state, unless that is asked already; and since when it is: 0: it is not. */
void qmp_ask(struct qmp *qmp);
uint64_t qmp_asked(const struct qmp *qmp);
uint64_t qmp_resets(const struct qmp *qmp);	/* RESET events seen */

/* Queues a press of these set-1 make codes, in order, and their release in reverse. */
bool qmp_send_keys(struct qmp *qmp, const uint8_t *codes, size_t count);
bool qmp_quit(struct qmp *qmp);

#endif
