/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "size_format.h"
#include "size_rows.h"
#include "size_stacks.h"

struct writing {
	FILE *out;
	bool compare, any;		/* a stack has been written */
};

/* Replaces what would separate frames, counts or lines. */
static void put_frame(const char *name, FILE *out)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : (unsigned char)*name <= ' ' || *name == 0x7f ? '_' : *name, out);
}

/* With a comparison two numbers: before and after. */
static void write_stack(void *context, char *const *frames, uint32_t count, const uint64_t *bytes)
{
	struct writing *writing = context;

	writing->any = true;
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(';', writing->out);
		put_frame(frames[i], writing->out);
	}
	fprintf(writing->out, " %" PRIu64, bytes[SIZE_BEFORE]);
	if (writing->compare)
		fprintf(writing->out, " %" PRIu64, bytes[SIZE_AFTER]);
	putc('\n', writing->out);
}

static bool write_folded(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct writing writing = { .out = out, .compare = asked->compare };

	(void)top;
	if (!size_stacks_visit(sizes, asked, write_stack, &writing))
		return false;
	if (!writing.any)
		*nothing = "no code passes the filter; take another one";
	return writing.any;
}

const struct size_format size_folded = { .name = "folded", .ending = ".folded", .write = write_folded };
