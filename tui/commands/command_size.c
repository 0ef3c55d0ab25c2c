/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/size/code_sizes.h"
#include "agent/size/size_request.h"
#include "command.h"
#include "interruption.h"

/* Reads each file, and writes the answer. Returns the exit status. */
static int answer(const struct size_request *request, const struct size_asked *asked, char *const *paths, size_t count)
{
	struct interruption *interruption = interruption_ends(util_format("no sizes: interrupted; ask again"));
	struct budget *budget = budget_new(request->memory ? request->memory : BUDGET_MIB);
	struct code_sizes *sizes = code_sizes_new(budget);
	char *error = NULL;
	bool done = true;

	for (size_t i = 0; i < count && done; i++)
		done = code_sizes_add(sizes, paths[i], request->debug, &error);
	done = done && size_request_write(request, sizes, asked, &error);
	if (done)
		command_tell(size_request_remark(request));
	else
		command_fail(error);
	code_sizes_free(sizes);
	budget_release(budget);
	interruption_free(interruption);
	return done ? COMMAND_DONE : COMMAND_FAILED;
}

static int run(char *const *words, size_t count)
{
	struct size_request request = size_request_default;
	const struct option_set set = { .rows = size_request_options, .into = &request };
	struct size_asked asked;
	char **paths, *error = NULL;
	size_t path_count;
	int status = COMMAND_DONE;

	paths = command_operands(words, count, &set, 1, &path_count, &error);
	if (!paths)
		return command_usage(&command_size, error);
	if (!path_count)
		status = command_usage(&command_size, util_format("no file: none was named; give an ELF file"));
	else if (!size_request_check(&request, &asked, &error))
		status = command_usage(&command_size, error);
	else
		status = answer(&request, &asked, paths, path_count);
	free(paths);
	return status;
}

const struct command command_size = {
	.name = "size",
	.words = "[options] ELF ...",
	.help = "Tells how large the code of programs, libraries, kernels or modules is, and where it comes from.",
	.options = { { "What is told:", size_request_options } },
	.run = run,
};
