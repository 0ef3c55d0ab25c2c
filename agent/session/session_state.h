/* SPDX-License-Identifier: MIT */
/* The inside of a session, shared by session.c, session_orders.c and capture.c. The ingest thread owns it. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/epoch.h"
#include "agent/guest/lease.h"
#include "session.h"
#include "subscription.h"

struct flight;
struct order;
struct packet;
struct post_mortem;

enum { SESSION_TROUBLE = 512 };		/* bytes of a remark */

/* Somebody, such as a capture, who gets each packet before the session handles its events. */
struct packet_tap {
	struct packet_tap *next;
	void *context;
	void (*packet)(void *context, const struct packet *packet);
	void (*step)(void *context);	/* called once in each step of the session */
};

struct session {
	struct budget *budget;
	struct source *source;		/* owned */
	struct decode *decode;
	struct packet_tap *taps;	/* a list; NULL: it is empty */
	struct flight *flight;		/* NULL: what came last is not kept */
	struct post_mortem *dead;	/* the memory of a machine that answers no more is read; NULL: it is not */
	bool dead_failed;		/* it could not be, `dead` says */
	bool read_dead;			/* it was, and nothing has come since */
	struct mailbox *mailbox;
	struct saver *saver;
	struct epoch *epoch;		/* NULL: no boot seen yet */
	struct meter meter;
	char *sysroot, *debug;		/* folders; NULL: none */
	char *source_map;		/* as in the options */
	bool debuginfod;
	struct given_objects *objects;	/* files that the user says are loaded */
	char *image;			/* the kernel's file by the user's option; NULL: the one that QMP tells */
	struct programs *programs;	/* the programs whose files were read */
	struct kernel_names *names;	/* the kernel's names; NULL: no file is known yet */
	bool given, named;		/* the user gave the file of `names`; it was read at least once */
	char *remark;			/* the text of session_remark; NULL: none */
	bool log;			/* each epoch keeps a log */
	const struct trace_watcher *calls;	/* of each epoch; NULL: nobody watches */
	bool patient;			/* the VM may start later */

	char *function, *function_line;	/* that the guest was asked to trace, and how; NULL: it has answered */
	bool ordered, wanted;		/* there was an ORDER_PROFILER; what the last one asked for: on or off */
	bool ran, started;		/* the profiler was on when it came; it is on because of these orders */
	struct lease lease;

	int awaited;			/* as in session_await */
	atomic_bool given_up;		/* set by session_give_up, by any thread */
	bool left;			/* session_leave was called */
	bool left_running;		/* the profiler was on when the guest was left */

	struct subscriptions *subscriptions;
	bool changed;			/* something changed since the last look for news */
	uint64_t beyond;		/* ns that the clock of a recording that is over went on */
	uint64_t noticed;		/* when a change was last found; util_now */
	uint64_t news;			/* grows with each change that it finds */
	uint64_t epochs;		/* how many there were so far */
	uint64_t resets;		/* of the machine, when the last one began */
	enum link_state shown_link;	/* these three: what the last answers told */
	enum vm_state shown_vm;
	uint64_t shown_news;		/* the source's `news` */

	char *buffer;			/* READ_BYTES long */
	size_t got, fed;		/* bytes in it that were read; of these, the bytes that the decoder took */
	uint64_t turn_end;		/* of the present turn; util_now, as: */
	uint64_t boots;			/* when the next boot would be due if they came one each TURN_BOOT_MS */
};

void session_greet(struct session *session);	/* asks the guest for all its meta events again */

/* ---- orders (session_orders.c) ---- */

void session_take_orders(struct session *session);	/* for one turn; the rest waits for the next */
void session_finish_orders(struct session *session);	/* all of them, however long that takes */

#endif
