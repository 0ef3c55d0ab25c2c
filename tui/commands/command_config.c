/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent/base/util.h"
#include "tui/views/config.h"
#include "command.h"

static int run(char *const *words, size_t count)
{
	struct config config;

	if (count > 0)
		return command_usage(&command_config,
			util_format("%s: not understood", words[0]));
	config_init(&config);
	config_write(&config, stdout);
	return COMMAND_DONE;
}

const struct command command_config = {
	.name = "config",
	.words = "[--help]",
	.help = "Prints the standard settings of the screen; ~/.config/ktop/config has yours.",
	.run = run,
};
