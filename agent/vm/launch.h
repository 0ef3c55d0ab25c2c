/* SPDX-License-Identifier: MIT */
/*
 * Starts a QEMU of ktop's own: the user's command line, with a QMP socket added, and what its guest is sampled by. All
 * sockets lie in a private temporary folder. QEMU ends when ktop ends, whatever
 * happens, unless it is detached; no other process is touched.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "link.h"

struct console;
struct launch;

struct launch_extra {			/* what this QEMU is given besides QMP */
	bool port;			/* the port, for a hook; a machine that has virtio-serial gets it in any case */
	const char *plugin;		/* the file of ktop's plugin; NULL: none */
	bool start;			/* the plugin samples from the first instruction on */
	bool guest_clock;		/* its samples are due by the guest's clock, not by the host's */
	bool headless;			/* no window, unless the command line says where the machine is shown */
	const char *console;		/* a file that gets what its console prints; NULL: none does */
};

/*
 * Returns the command line that is run: `words` and what is added, ended by NULL, in fresh memory. A port
 * that is there already is not added again. NULL with `error` set: ktop could not watch such a QEMU.
 */
char **launch_words(char *const *words, size_t count, const struct launch_extra *extra,
	const char *folder, char **error);
void launch_words_free(char **words);

/* True: such a QEMU opens a window, since an option asks for one, or since none says where the machine is shown. */
bool launch_needs_display(char *const *words, size_t count, bool headless);

/* False: such a QEMU reads nothing on its terminal, since no serial port and no monitor is there. */
bool launch_takes_typing(char *const *words, size_t count);

struct launch_wait {			/* for its QMP socket */
	int timeout_ms;
	bool (*given_up)(void *context);	/* asked again and again; NULL: nobody gives it up */
	void *context;
};

/*
 * Starts QEMU, and waits for its QMP socket. NULL with `error` set: then all that was started is gone. *by_plugin: QEMU
 * refuses the plugin, and may start without it.
 */
struct launch *launch_new(char *const *words, size_t count, const struct launch_extra *extra,
	const struct launch_wait *wait, bool *by_plugin, char **error);

/*
 * Asks QEMU to end, by QMP or by SIGTERM; it may still have to write its disks. One that is stopped goes on. A wrapper
 * whose QEMU is gone is asked for nothing: it may clean up.
 */
void launch_quit(struct launch *launch);
bool launch_ended(struct launch *launch, int wait_ms);	/* has it ended? Waits at most wait_ms for that */

/*
 * Ends QEMU, and all that was started with it: by SIGTERM, and what is left after a moment by SIGKILL. Removes the
 * folder. NULL is allowed.
 */
void launch_free(struct launch *launch);

/* Frees it, and lets QEMU go on. Returns how to see it again, in fresh memory; NULL: it had ended. */
char *launch_detach(struct launch *launch);

/* The path of its QMP socket; valid until launch_free. */
const char *launch_qmp(const struct launch *launch);

/* Its console, likewise. */
struct console *launch_console(const struct launch *launch);

/*
 * Why QEMU has failed, with its last words, in fresh memory. Waits at most wait_ms for its end. NULL: it
 * still runs, or has ended well, or its guest has ended it.
 */
char *launch_failure(struct launch *launch, int wait_ms);

/*
 * How QEMU has ended, in a few words, in fresh memory, and whether that was no failure. NULL: it still runs. `launch`:
 * a struct launch.
 */
char *launch_end(void *launch, bool *well);

/* The last line of QEMU's output, printable, in fresh memory; "" if there is none. */
char *launch_last_words(const struct launch *launch);

/* ---- the plugin ---- */

/* ktop's plugin for the QEMU that is to be launched: where it is, and whether this machine is to have it. */

/*
 * The path of the plugin's file, in fresh memory. NULL: no plugin is to be loaded; `error` is set if the user wants it
 * and its file is missing. LINK_AUTO: the plugin is loaded unless the machine's kernel or initrd has the hook. Whether
 * KVM runs the guest, which then shows a plugin nothing, is known once QEMU runs (struct qmp_facts).
 */
char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error);

/* True if the machine's kernel or initrd has the hook. A compressed file does not tell. */
bool launch_has_hook(char *const *words, size_t count);

#endif
