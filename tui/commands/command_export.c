/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/report/report.h"
#include "command.h"

static int look(const struct report_request *request)
{
	if (request->format && strcmp(request->format, "help") == 0) {
		report_export_list(stdout);
		return COMMAND_DONE;
	}
	if (request->out)
		return COMMAND_GO_ON;
	return command_usage(&command_export, util_format("no file: none was named; give -o FILE"));
}

static int run(char *const *words, size_t count)
{
	return command_ask(&command_export, export_options, words, count, look);
}

const struct command command_export = {
	.name = "export",
	.words = "-o FILE [options] [DIR[@FROM..TO]]",
	.help = "Writes samples to a file for other tools; also beside a live ktop. DIR: of a recording.",
	.options = { { "Which VM (default: that of the only live ktop):", command_attach },
		{ "What is written:", export_options }, { "Limits:", command_limits } },
	.run = run,
};
