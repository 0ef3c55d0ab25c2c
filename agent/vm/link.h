/* SPDX-License-Identifier: MIT */
/*
 * The two connections to one VM: to QMP, and to the port of its guest or to ktop's plugin in QEMU, whose socket
 * then counts as the port. The steps of the caller's loop make them, and make them anew when they break, at most
 * twice a second. The link does not read what comes from the port; it only notes that something came. Times are
 * in ns, on the clock of util_now(). One owner thread.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/vm/qmp/qmp.h"

struct link;
struct port_socket;

/* The states of a link, in the order in which it comes up. All but LINK_UP say why nothing new is seen. */
enum link_state {
	LINK_NO_PORT,			/* the VM has no port for ktop */
	LINK_CONNECTING,		/* not connected to the port's socket yet */
	LINK_TAKEN,			/* connected, but QEMU serves another client */
	LINK_NOT_OPENED,		/* connected; no byte has come from the guest yet */
	LINK_NO_HELLO,			/* bytes have come, but not the guest's facts */
	LINK_UP,			/* the guest has told its facts */
	LINK_SILENT,			/* was up; the VM runs, but nothing comes */
	LINK_LOST,			/* was up; the other side closed */
};

enum link_by { BY_HOOK, BY_PLUGIN, BY_STUB };	/* who samples the machine */

/*
 * Who samples: the hook in the guest, ktop's plugin in QEMU, or a process of ktop's by QEMU's gdb stub. AUTO: the
 * hook while the guest has its port open, else the plugin, if QEMU has it, else the gdb stub.
 */
enum link_choice { LINK_AUTO, LINK_HOOK, LINK_PLUGIN, LINK_GDB };

enum {
	LINK_RETRY_MS = 500,
	LINK_SILENT_MS = 2000,		/* nothing in it, where a heartbeat is due every 100 ms at least */
};

/*
 * `qmp` or `port` may be NULL, but not both. `port` takes precedence over the port that QMP tells. If QMP
 * tells none, and `plug` is set, a port is plugged in as soon as the VM runs: into a controller that is there; or with
 * a controller of its own, if the user chose the hook, or the file of the kernel has it. Only the steps connect.
 */
struct link *link_new(const char *qmp, const char *port, bool plug, enum link_choice choice);
void link_set_kernel(struct link *link, const char *path);	/* before the first step: a file of the kernel, too */
/*
 * The QEMU is this ktop's own, so nobody starts it again. Asked once the VM is gone: how it has ended, in fresh memory,
 * and whether that was no failure; NULL: it has not yet.
 */
void link_set_own(struct link *link, char *(*ended)(void *context, bool *well), void *context);
const char *link_ended(const struct link *link, bool *well);	/* its answer */
void link_free(struct link *link);

/*
 * Goes on with the stage under way, and retries what is broken. Handles QMP's events, and looks for the
 * cause of a silence. Never waits. Returns true if the port has just been connected, for the first time or
 * again.
 */
bool link_step(struct link *link, uint64_t now);
int link_fd(const struct link *link);		/* QMP's, for the caller's poll; -1: none */

/*
 * When the next step is due, if link_fd does not become readable before. UINT64_MAX: at no certain time. A retry
 * has none: it comes with the steps that the caller makes anyway.
 */
uint64_t link_due(struct link *link, uint64_t now);
uint64_t link_news(const struct link *link);	/* grows when link_remark may have changed */

/*
 * link_settled: the first try is over. The port is connected, or waits for the VM to run, or the try has
 * failed. link_failure: why it failed and what to do; NULL: it did not, or is not over. The steps try again
 * in any case.
 */
bool link_settled(const struct link *link);
const char *link_failure(const struct link *link);

/* Says in one line what was plugged in, and where; "" if nothing was. Returns `text`. */
const char *link_plugged(const struct link *link, char *text, size_t size);

/*
 * Takes out what was plugged in. The caller steps the link while link_leaving, which ends after timeout_ms
 * at the latest. The link can then only be freed. link_stays: what could not be taken out, in one line;
 * NULL: nothing.
 */
void link_leave(struct link *link, uint64_t now, int timeout_ms);
bool link_leaving(const struct link *link);
const char *link_stays(const struct link *link);

/* Is the link connected to the plugin, or about to be, and not to the guest's port? */
bool link_by_plugin(const struct link *link);
bool link_by_gdb(const struct link *link);	/* likewise: the process at the gdb stub */
enum link_by link_by(const struct link *link);	/* the stub: also while it is about to, if no hook speaks before */

/*
 * link_wants_change: another choice is better now. The guest has opened its port (hook) or closed it (plugin); or a
 * hook speaks while the gdb stub is in use. link_change closes the port; the next steps connect the better one.
 */
bool link_wants_change(const struct link *link);
void link_change(struct link *link, uint64_t now);

/*
 * The guest's memory as its kernel sees it, where its hook is the source. link_can_read: a page can be read now.
 * link_take_page: the page that was asked for last has come, or cannot be had; true once.
 */
struct link_page {
	uint64_t address;
	const uint8_t *bytes;		/* 4096, valid until the next read; NULL: it cannot be had */
};
bool link_can_read(const struct link *link);
void link_read(struct link *link, uint64_t address, uint64_t now);	/* `address`: a multiple of 4096 */
bool link_take_page(struct link *link, struct link_page *page);

struct qmp *link_qmp(const struct link *link);		/* NULL: not connected, or lent */
/*
 * Lends the connection to QMP, to whoever waits for its answers in another thread: the machine answers no more, and
 * nothing else is to be asked meanwhile. NULL: there is none, or it is in use. link_take_back ends that; the link must
 * still be there.
 */
struct qmp *link_lend(struct link *link);
void link_take_back(struct link *link, struct qmp *qmp);
struct port_socket *link_socket(const struct link *link);	/* NULL: not connected */
const struct qmp_facts *link_facts(const struct link *link);
enum vm_state link_vm(const struct link *link);
/*
 * The port was lost a moment ago, and QMP is there: it is soon known whether the VM is gone, too; or it is gone, and it
 * is soon known how it has ended.
 */
bool link_is_unsure(const struct link *link, uint64_t now);

/*
 * The port's state as far as the link knows it: it sees that bytes come, and not what they say. So it returns
 * neither LINK_UP nor LINK_SILENT.
 */
enum link_state link_port_state(const struct link *link);
bool link_silent(const struct link *link);		/* the VM should run, but nothing comes */
bool link_closed(const struct link *link);		/* the port is silent, and the guest itself has closed it */

/* Says in one line what is wrong with the connections, and what to do; "" if nothing. Returns `text`. */
const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size);

void link_heard(struct link *link);			/* to be called when bytes came from the port */
void link_lost_port(struct link *link);			/* to be called when the port was closed */

#endif
