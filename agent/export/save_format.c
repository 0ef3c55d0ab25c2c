/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/query/stop.h"
#include "agent/samples/sample_collect.h"
#include "export_csv.h"
#include "export_json.h"
#include "save_format.h"

static size_t count_sets(void)
{
	size_t count = 0;

	while (set_formats[count])
		count++;
	return count;
}

/* Those of sample sets follow the exporter's own. NULL: it is none of them. */
static const struct set_format *set_at(size_t number)
{
	return number >= EXPORTS && number < EXPORTS + count_sets() ? set_formats[number - EXPORTS] : NULL;
}

/* NULL: it is of a sample set, or there is no such number. */
static const struct export_format *own_at(size_t number)
{
	return number < EXPORTS ? export_formats[number] : number == EXPORTS + count_sets() ? &export_recording : NULL;
}

struct save_format save_format_at(size_t number)
{
	const struct export_format *own = own_at(number);
	const struct set_format *set = set_at(number);

	if (set)
		return (struct save_format) { set->name, set->ending, set->about };
	if (own)
		return (struct save_format) { own->name, own->ending, own->about };
	return (struct save_format) { .name = NULL };
}

bool save_format_named(const char *name, size_t *number)
{
	size_t at = 0;

	while (save_format_at(at).name && strcmp(save_format_at(at).name, name) != 0)
		at++;
	if (save_format_at(at).name)
		*number = at;
	return save_format_at(at).name;
}

struct export_choice save_format_choice(size_t number, const char *machine)
{
	struct stack_options stacks = { .kernel_mark = true };
	struct set_options set = { .format = set_at(number) };

	util_print(stacks.root, sizeof(stacks.root), "%s", machine);
	util_print(set.machine, sizeof(set.machine), "%s", machine);
	if (set.format)
		return export_set_choice(set);
	if (own_at(number) == &export_recording)
		return (struct export_choice) { .format = &export_recording };
	return number == EXPORT_JSON ? json_choice((struct json_options) { .facts = NULL }) :
		number == EXPORT_CSV ? csv_choice((struct csv_options) { .stop = NULL }) :
		export_stacks(EXPORT_FOLDED, stacks);
}

/* ---- export set ---- */

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
		.lines = options->format->lines, .rows = options->format->rows, .events = options->format->events,
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
