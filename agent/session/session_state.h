/* SPDX-License-Identifier: MIT */
/* What a session knows: for session.c, which wires the stages, and for those that it has its parts in. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/loan.h"
#include "agent/guest/meter.h"
#include "session.h"
#include "turn.h"

struct packet;

enum { SESSION_TROUBLE = 256 };		/* bytes of a remark */

/* Who gets each packet, before its events are handled. */
struct packet_tap {
	struct packet_tap *next;
	void *context;
	void (*packet)(void *context, const struct packet *packet);
	void (*step)(void *context);	/* once a step of the session */
};

struct session {
	struct budget *budget;
	struct source *source;		/* owned */
	struct decode *decode;
	struct packet_tap *taps;	/* a list; NULL: nobody */
	struct mailbox *mailbox;
	struct saver *saver;
	struct epoch *epoch;		/* NULL: no boot seen yet */
	struct meter meter;
	char *sysroot, *debug;		/* folders; NULL: none */
	bool debuginfod;
	char *image;			/* the kernel's, given by the user; NULL: as QMP tells */
	struct programs *programs;	/* whose files were read */
	struct kernel_names *names;	/* NULL: nobody has told of a file yet */
	bool given, named;		/* that is the user's; it was read once */
	char *remark;			/* as session_remark was given it; NULL: none */
	bool patient;			/* the VM may come later */

	bool wanted;			/* the profiler on, or off, by the last order */
	struct loan loan;

	atomic_bool given_up;		/* by any thread */
	bool left;			/* as session_leave does it */
	bool left_running;		/* the profiler was on when the guest was left */

	struct subscriptions *subscriptions;
	bool changed;			/* since it was noticed last that */
	uint64_t noticed;		/* when; util_now */
	uint64_t news;			/* grows then */
	uint64_t epochs;		/* so many there were */
	enum link_state shown_link;
	enum vm_state shown_vm;
	uint64_t shown_news;		/* of the source */

	char *buffer;			/* READ_BYTES, of which: */
	size_t got, fed;		/* what was read, and went to the decoder */
	struct turn turn;
};

void session_greet(struct session *session);	/* the guest tells all of itself again */
void session_introduce(struct session *session);	/* what the source knows of it before */

/* ---- the kernel's names (session_names.c) ---- */

bool session_awaits_names(const struct session *session);
bool session_give_names(struct session *session);
void session_step_names(struct session *session);

/* ---- answers (session_answers.c) ---- */

enum link_state session_shown_link(const struct session *session);
void session_notice(struct session *session);
uint64_t session_answers_due(struct session *session);
void session_make_answers(struct session *session);

/* ---- what others want (session_orders.c) ---- */

void session_take_orders(struct session *session);	/* for a turn; the rest has the next one */
void session_finish_orders(struct session *session);	/* all: nobody comes back */

#endif
