/* SPDX-License-Identifier: MIT */
/*
 * The functions of an excerpt, and of those that are seen what else a row says; of the one under the cursor,
 * who called it, and what is inlined in it. What is not named in the request is not looked for.
 */
#ifndef FUNCTION_TABLE_H
#define FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/query.h"
#include "answer.h"

enum { FUNCTION_ROWS = 256 };

struct function_request {
	struct request request;
	uint32_t visible[FUNCTION_ROWS];	/* functions whose trend and line are wanted */
	size_t visible_count;
	uint32_t selected;		/* the function under the cursor; FUNCTION_NONE */
	bool callers;			/* of that: who called it, what is inlined in it */
};

struct function_row {			/* what a visible row has beyond the table */
	uint32_t function;
	uint64_t trend[TABLE_TREND];
	const char *line;		/* NULL: not known yet */
};

struct function_share {			/* of one machine of many, in the order of their tabs */
	uint64_t total;			/* of the selected function */
	struct epoch *epoch;		/* held, as the answer's own */
};

struct function_table {
	struct answer answer;
	char kernel[64];		/* the name of the guest's; "": not known, or of many */
	struct filter filter;		/* of the table, as the request had it */
	struct table *table;		/* sorted by nothing; NULL before the first boot */
	struct function_row *visible;
	size_t visible_count;
	uint32_t selected;
	struct caller callers[8];	/* of the selected function */
	size_t caller_count;
	struct caller inlined[4];	/* in the selected function, of `inlined_of` of its weight */
	size_t inlined_count;
	uint64_t inlined_of;
	struct function_share *machines;	/* machine_count of them; NULL: of one machine */
	size_t machine_count;
};

extern const struct answer_kind function_table_kind;

struct function_table *function_table_new(const struct function_request *request, const struct moment *moment);
void function_table_free(struct function_table *functions);

#endif
