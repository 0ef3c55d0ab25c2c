/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/query/stop.h"
#include "agent/samples/sample_collect.h"
#include "export_set.h"

struct collected {
	struct set_options options;
	char *title;
	struct sample_set *set;		/* NULL: `error` says why */
	char *error;
};

static void *collect(const struct export_input *input, const void *given)
{
	const struct set_options *options = given;
	struct collected *collected = util_alloc(sizeof(*collected));
	struct set_facts facts = *input->facts;

	collected->options = *options;
	if (options->machine[0])
		facts.machine = options->machine;
	collected->title = util_format("%s%s%s %s", options->machine, options->machine[0] ? ": " : "", facts.kernel,
		facts.version);
	collected->set = sample_collect(&(struct sample_collect) {
		.query = input->query, .inputs = input->inputs, .question = input->question, .facts = &facts,
		.log = input->log,
		.lines = options->format->lines, .rows = options->format->rows,
		.most = options->format->merges ? SAMPLE_COLLECT_ALONE : 0,
	}, &collected->error);
	return collected;
}

static bool fail(char **error, const char *name, const char *why)
{
	return util_fail(error, "%s: not written: %s", name, why);
}

static bool write_set(void *context, const char *name, FILE *to, struct export_result *result, char **error)
{
	struct collected *collected = context;
	const struct sample_set *set = collected->set;
	struct set_progress *progress = collected->options.progress;
	const struct set_writing writing = {
		.to = to, .title = collected->title, .flame = collected->options.flame,
		.stop = progress ? &progress->stop : collected->options.stop, .done = progress ? &progress->done : NULL,
	};
	char *why = NULL;

	if (!set)
		return fail(error, name, collected->error);
	if (!collected->options.format->write(set, &writing, &why)) {
		fail(error, name, why);
		free(why);
		return false;
	}
	if (stop_now(writing.stop))
		return fail(error, name, "interrupted; take it again");
	*result = (struct export_result) { .weight = set->weight, .samples = set->samples };
	return true;
}

static void free_set(void *context)
{
	struct collected *collected = context;

	sample_set_free(collected->set);
	free(collected->error);
	free(collected->title);
	free(collected);
}

const struct export_format export_set = {
	.name = "set", .ending = "", .collect = collect, .write = write_set, .free = free_set,
};
