/* SPDX-License-Identifier: MIT */
/*
 * Questions as readers ask them of a session, and their answers. Each kind has a question and an answer of its
 * own, which begin with what is here; nobody but who makes, asks and shows it knows more of it. An answer is
 * made by the ingest thread, and owned by whoever holds it. Names in it are texts of symbols.h and threads.h,
 * which live as long as the answer does.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/profiler.h"
#include "agent/query/question.h"
#include "agent/source/play.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"

struct answer;
struct answer_kind;
struct decode;
struct epoch;
struct meter;
struct symbols;

/* The part of a profile that is looked at: where the guest's clock stands by then is not known yet. */
struct excerpt {
	uint64_t window_ns;		/* up to its end; 0: all since zero_ns */
	uint64_t zero_ns;		/* nothing before this guest time */
	uint64_t until_ns;		/* nothing after it: a frozen window; 0: live */
	struct filter filter;
};

/*
 * The first member of each kind's request. Requests are compared and copied as bytes: one is set to zero as a
 * whole before it is filled, and has no pointer but the kind.
 */
struct request {
	const struct answer_kind *kind;
	struct excerpt excerpt;
	uint32_t pause_ms;		/* between two answers, at least; news wait so long */
};

/* The first member of each kind's answer. */
struct answer {
	const struct answer_kind *kind;
	uint64_t boot;			/* another number with each boot; of many machines 0 */
	const struct symbols *symbols;	/* for symbols_get, which any thread may call; NULL: none yet */
	struct epoch *epoch;		/* held: keeps the texts; NULL: no boot is known, or many are */
	bool begun;			/* there is something in it: the next one can wait */
};

/* What a session knows when it answers; borrowed. */
struct moment {
	struct epoch *epoch;		/* NULL: no boot seen yet */
	uint32_t reader;		/* of the epoch's query, for this request (query.h) */
	const struct decode *decode;
	const struct meter *meter;
	enum link_state link;
	enum vm_state vm;
	enum kept_wish kept;
	struct play_state play;
	uint64_t boot;			/* how many epochs there were */
	const char *trouble;		/* as link_remark tells it */
	const char *remark;		/* a fact that stays; NULL: none */
	const char *name;		/* of the VM; NULL: none is known */
};

struct answer_kind {
	const char *name;
	size_t request_size;
	bool queries;			/* it asks the epoch's query, as the moment's reader */
	struct answer *(*make)(const struct request *request, const struct moment *moment);
	void (*free)(struct answer *answer);
};

/* What all kinds have in common, of a boot that has told of itself. */
struct answer answer_begin(const struct answer_kind *kind, const struct moment *moment);
void answer_end(struct answer *answer);		/* the common part, by the kind's free */

/* Of any kind. */
struct answer *answer_new(const struct request *request, const struct moment *moment);
void answer_free(struct answer *answer);

/* An excerpt as a question, now. */
struct question excerpt_question(const struct epoch *epoch, const struct excerpt *excerpt);

#endif
