#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epoch.h"
#include "remarks.h"
#include "stacks.h"
#include "store.h"
#include "symbols.h"
#include "threads.h"
#include "util.h"

struct line {
	char *text;
	size_t size, used;
};

/* Printable, once more: `ktop report` has nothing behind this that would make it so. */
static void add(struct line *line, const char *part)
{
	char *printable = util_printable(part, strlen(part));

	if (*part)
		util_print(line->text + line->used, line->size - line->used, "%s%s",
			line->used ? "; " : "", printable);
	line->used += strlen(line->text + line->used);
	free(printable);
}

static void add_loss(struct line *line, uint64_t count, const char *what)
{
	char part[128];

	snprintf(part, sizeof(part), "%" PRIu64 " %s", count, what);
	if (count)
		add(line, part);
}

const char *remarks_text(const struct epoch *epoch, char *text, size_t size)
{
	struct line line = { .text = text, .size = size };

	text[0] = '\0';
	add_loss(&line, store_given_up(epoch->inputs.store), "ticks not kept: memory is full");
	add_loss(&line, store_forgotten(epoch->inputs.store),
		"old ticks without their thread and CPU: memory is full");
	add_loss(&line, stacks_refused(epoch->inputs.stacks),
		"samples without their stack: memory is full");
	add_loss(&line, query_refused(epoch->query), "calls not counted: memory is full");
	add_loss(&line, symbols_refused(epoch->inputs.symbols),
		"addresses without their function: memory is full");
	add_loss(&line, symbols_told_refused(epoch->inputs.symbols),
		"functions of the guest's not kept: memory is full");
	add_loss(&line, threads_refused(epoch->inputs.threads), "names not kept: memory is full");
	add_loss(&line, symbols_lines_refused(epoch->inputs.symbols),
		"source lines not read: memory is full");
	add_loss(&line, epoch->cpus_refused, "news of further CPUs not taken: memory is full");
	add_loss(&line, epoch->untimed, "ticks came before the guest told its clock");
	add_loss(&line, epoch->status.meta_lost, "facts lost: the guest's tables are full");
	add_loss(&line, symbols_left_out(epoch->inputs.symbols),
		"symbols left out: their lines or names are damaged");
	add(&line, epoch->told ? "" : epoch->remark);
	add(&line, epoch->refused);
	add(&line, epoch->note);
	add(&line, symbols_note(epoch->inputs.symbols));
	return text;
}
