/* SPDX-License-Identifier: MIT */
/*
 * The questions that readers ask a session, and their answers. Each kind has a request and an answer of its own, whose
 * first members are the structs below. Only those who make, ask and show a kind know what else is in it. The ingest
 * thread makes an answer; whoever takes it owns it. The names in an answer are texts of symbols.h and threads.h; they
 * live as long as the answer does.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/profiler.h"
#include "agent/guest/uptime.h"
#include "agent/query/question/question.h"
#include "agent/source/play.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"

struct answer;
struct answer_kind;
struct decode;
struct epoch;
struct meter;
struct symbols;

/*
 * Times are guest ns. In an answer over many machines they are the host's local time of the day, on a day so many days
 * after the fleet's clock was 0: later than any guest's time, and never near to 0. In hours: 100 years.
 */
enum { FLEET_HOURS = 24 * 36525 };

/* What a view is compared with: the range that it showed when the user marked it. As in struct excerpt. */
struct baseline {
	uint64_t window_ns, zero_ns;
	uint64_t until_ns;		/* 0: there is no baseline; else the excerpt's, or if that was live: its end */
	int64_t back_ns;
	uint64_t moved;			/* no padding: requests are compared as bytes */
};

/* A part of a profile, relative to the guest's clock at the time of the answer. Times are guest ns. */
struct excerpt {
	uint64_t window_ns;		/* how long before its end it begins; 0: it begins at zero_ns */
	uint64_t zero_ns;		/* nothing before this time counts; 0: no such limit */
	uint64_t until_ns;		/* its end, if the window is frozen; 0: it ends now */
	int64_t back_ns;		/* with until_ns: it ends so long before that time; negative: after it */
	struct filter filter;
	enum group_by by;
	/* 1: somebody chose where it lies. It is rounded to whole slices, at least one, and the zero does not count. */
	uint32_t moved;
	struct baseline base;		/* under the same filter and grouping */
};

/*
 * The first member of each kind's request. Requests are compared and copied as bytes. So each is set to zero as a
 * whole before it is filled, and has no pointer but `kind`.
 */
struct request {
	const struct answer_kind *kind;
	struct excerpt excerpt;
	uint64_t pause_ms;		/* the shortest time from the beginning of one answer to that of the next */
};

/* The first member of each kind's answer. */
struct answer {
	const struct answer_kind *kind;
	uint64_t boot;			/* a number that changes with each boot; 0: many machines */
	const struct symbols *symbols;	/* for symbols_get, which any thread may call; NULL: none yet */
	struct epoch *epoch;		/* held, for it owns the texts; NULL: no boot is known, or many machines */
	int64_t zero;			/* guest ns from which on times count that a person reads (uptime.h) */
	bool begun;			/* it has samples; while it has none, the next answer comes soon */
	bool partial;			/* files are still read for it: another answer comes even if nothing is new */
};

enum { QUESTIONS_MOST = 5 };		/* of one request */

/* What a session knows at the moment at which it answers. All of it is borrowed. */
struct moment {
	struct epoch *epoch;		/* the boot that is asked about; NULL: none seen yet */
	bool past;			/* it is an earlier boot: the books and the meter are not its */
	uint32_t readers[QUESTIONS_MOST];	/* of the epoch's query, that this request has (query.h) */
	const struct decode *decode;
	const struct meter *meter;
	enum link_state link;
	enum link_by by;
	enum vm_state vm;
	bool read_dead;			/* the memory of the machine was read when it answered no more */
	enum kept_wish kept;
	struct play_state play;
	const char *trouble;		/* what is wrong with the connections (session_trouble); "": nothing */
	const char *remark;		/* the text of session_remark; NULL: none */
	const char *name;		/* the VM's name; NULL: none is known */
	const atomic_bool *stop;	/* true: nobody waits for answers any more (query_heed); NULL: never */
};

struct answer_kind {
	const char *name;
	size_t request_size;
	unsigned questions;		/* that `make` asks the epoch's query; each has a reader of its own */
	struct answer *(*make)(const struct request *request, const struct moment *moment);
	void (*free)(struct answer *answer);	/* what it has besides itself and the common part; NULL: nothing */
};

/* Fills the common part of an answer. The epoch is in it once its guest has told of itself. */
struct answer answer_begin(const struct answer_kind *kind, const struct moment *moment);

/* Makes and frees an answer of any kind. */
struct answer *answer_new(const struct request *request, const struct moment *moment);
void answer_free(struct answer *answer);	/* NULL is allowed */

/* The question that an excerpt means at the epoch's present time. */
struct question excerpt_question(const struct epoch *epoch, const struct excerpt *excerpt);
/* That of its baseline, which there must be. */
struct question excerpt_base_question(const struct epoch *epoch, const struct excerpt *excerpt);

#endif
