/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/diff/diff_request.h"
#include "agent/size/code_sizes.h"
#include "agent/size/size_request.h"
#include "agent/size/size_rows.h"
#include "command.h"
#include "interruption.h"

struct diff {
	bool size;			/* of the code of two ELF files */
	const char *fail_above;
	struct size_request request;
};

static bool check_limit(const char *text, char **error)
{
	struct size_limit limit;

	return size_limit_read(text, &limit, error);
}

static const struct option_row diff_options[] = {
	{ .name = "size", .help = "compare the code of two builds, function by function", .kind = OPTION_FLAG,
		.offset = offsetof(struct diff, size) },
	{ .name = "fail-above", .value = "N", .kind = OPTION_TEXT,
		.help = "exit status 3 if the code has grown by more: 4096 (bytes), or 2%",
		.offset = offsetof(struct diff, fail_above), .check = check_limit },
	{ 0 },
};

/* True with `error` set: what was compared has grown by more than it may. */
static bool has_grown(const struct diff *diff, struct code_sizes *sizes, const struct size_asked *asked, char **error)
{
	struct size_limit limit;
	struct size_rows rows;
	bool passed;

	if (!diff->fail_above)
		return false;
	size_limit_read(diff->fail_above, &limit, NULL);
	passed = size_rows_make(sizes, asked, &rows) && size_limit_passed(&limit, rows.bytes);
	if (passed)
		util_fail(error, "the code has grown by %" PRId64 " bytes: --fail-above %s allows less; "
			"see what is new and grown", size_change_bytes(rows.bytes), diff->fail_above);
	size_rows_clear(&rows, sizes);
	return passed;
}

/* Returns the exit status. */
static int compare(const struct diff *diff, const struct size_asked *asked, char *const *paths)
{
	struct interruption *interruption = interruption_ends(util_format("no diff: interrupted; ask again"));
	struct budget *budget = budget_new(diff->request.memory ? diff->request.memory : BUDGET_MIB);
	struct code_sizes *sizes = code_sizes_new(budget);
	int status = COMMAND_FAILED;
	char *error = NULL;

	if (code_sizes_add(sizes, paths[0], diff->request.debug, &error) &&
			code_sizes_add(sizes, paths[1], diff->request.debug, &error) &&
			size_request_write(&diff->request, sizes, asked, &error))
		status = has_grown(diff, sizes, asked, &error) ? COMMAND_GROWN : COMMAND_DONE;
	if (status != COMMAND_FAILED)
		command_tell(size_request_remark(&diff->request));
	code_sizes_free(sizes);
	budget_release(budget);
	if (error)
		command_fail_as(status, error);
	interruption_free(interruption);
	return status;
}

static int run_sizes(char *const *words, size_t count)
{
	struct diff diff = { .request = size_request_default };
	const struct option_set sets[] = {
		{ .rows = diff_options, .into = &diff },
		{ .rows = size_request_options, .into = &diff.request },
	};
	struct size_asked asked;
	char **paths, *error = NULL;
	size_t path_count;
	int status = COMMAND_DONE;

	paths = command_operands(words, count, sets, 2, &path_count, &error);
	if (!paths)
		return command_usage(&command_diff, error);
	if (path_count != 2)
		status = command_usage(&command_diff,
			util_format("not two builds: it takes two ELF files; give A and B"));
	else if (!size_request_check(&diff.request, &asked, &error))
		status = command_usage(&command_diff, error);
	else {
		asked.compare = true;
		status = compare(&diff, &asked, paths);
	}
	free(paths);
	return status;
}

/* Returns the exit status. */
static int compare_stacks(const struct diff_request *request, char *const *paths)
{
	static const int statuses[] = {
		[DIFF_DONE] = COMMAND_DONE, [DIFF_FAILED] = COMMAND_FAILED, [DIFF_GROWN] = COMMAND_GROWN,
	};
	struct interruption *interruption = interruption_ends(util_format("no diff: interrupted; ask again"));
	char *error = NULL;
	enum diff_outcome outcome = diff_request_do(request, paths[0], paths[1], &error);

	if (error)
		command_fail_as(statuses[outcome], error);
	if (outcome != DIFF_FAILED)
		command_tell(diff_request_remark(request));
	interruption_free(interruption);
	return statuses[outcome];
}

static int run_stacks(char *const *words, size_t count)
{
	struct diff_request request = diff_request_default;
	struct attach_options attach = { 0 };
	uint32_t names = 0;
	const struct option_set sets[] = {
		{ .rows = diff_request_options, .into = &request },
		{ .rows = command_names, .into = &attach, .given = &names },
	};
	char **paths, *error = NULL;
	size_t path_count;
	int status = COMMAND_DONE;

	paths = command_operands(words, count, sets, 2, &path_count, &error);
	if (!paths)
		return command_usage(&command_diff, error);
	request.names = names ? &attach.session : NULL;
	if (path_count != 2)
		status = command_usage(&command_diff,
			util_format("not two sides: it takes two recordings or files of stacks; give A and B"));
	else if (!diff_request_check(&request, &error))
		status = command_usage(&command_diff, error);
	else
		status = compare_stacks(&request, paths);
	free(paths);
	return status;
}

static int run(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], "--size") == 0)
			return run_sizes(words, count);
	return run_stacks(words, count);
}

const struct command command_diff = {
	.name = "diff",
	.words = "[options] A B",
	.help = "Compares recordings (DIR), ranges of one (DIR@FROM..TO), files of stacks; by --size two builds.",
	.options = { { "Of profiles (FROM and TO: as for `ktop report --from`):", diff_request_options },
		{ "Names in recordings (both are of this kernel):", command_names },
		{ "Of two builds:", diff_options }, { "What is told of two builds:", size_request_options } },
	.run = run,
};
