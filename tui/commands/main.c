/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/json.h"
#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_sampler.h"
#include "command.h"
#include "interruption.h"

#define VERSION "0.1"

static const struct command *const commands[] = {
	&command_top, &command_report, &command_export, &command_record, &command_ctl, &command_run, &command_size,
	&command_diff, &command_strace, &command_trace, &command_crash, &command_config,
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int print_help(void)
{
	printf("ktop - a live top for kernels that run in QEMU\n\n");
	printf("  ktop --qmp SOCKET        the live screen on a VM with that QMP socket\n");
	for (int i = 0; i < COMMANDS; i++)
		printf("  ktop %-6s ...          %s\n", commands[i]->name,
			commands[i]->help);
	printf("\nktop COMMAND --help lists the options of a command.\n");
	return COMMAND_DONE;
}

static int print_command_help(const struct command *command)
{
	printf("ktop %s %s\n%s\n", command->name, command->words, command->help);
	for (int i = 0; i < COMMAND_GROUPS && command->options[i].rows; i++) {
		printf("\n%s\n", command->options[i].title);
		options_help(stdout, command->options[i].rows);
	}
	return COMMAND_DONE;
}

static bool asks_for_help(char *const *words, size_t count)
{
	for (size_t i = 0; i < count && words[i][0] == '-' && strcmp(words[i], "--") != 0; i++)
		if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
			return true;
	return false;
}

static int run_command(const struct command *command, char *const *words, size_t count)
{
	if (asks_for_help(words, count))
		return print_command_help(command);
	return command->run(words, count);
}

static int run(int count, char **words)
{
	const char *first = count > 1 ? words[1] : "--help";

	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
		return print_help();
	if (strcmp(first, "--version") == 0)
		return printf("ktop %s\n", VERSION) > 0 ? COMMAND_DONE : COMMAND_FAILED;
	if (strcmp(first, GDB_SAMPLER_WORD) == 0 && count == 3)
		return gdb_sampler_run(STDIN_FILENO, words[2]) ? COMMAND_DONE : COMMAND_FAILED;
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(first, commands[i]->name) == 0)
			return run_command(commands[i], words + 2, (size_t)count - 2);
	if (first[0] == '-')
		return run_command(&command_top, words + 1, (size_t)count - 1);
	command_tell(util_format("%s: no such command; see ktop --help", first));
	return COMMAND_USAGE;
}

/*
 * If a standard descriptor is closed, the next socket would get its number. So it is opened in the wrong direction:
 * using it fails.
 */
static void take_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Why the standard output has failed before: the stream forgets that, but a pipe knows whether it has a reader. */
static int lost_error(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) ? EPIPE : EIO;
}

/* All that a command has written, if it has not done so itself. It may have held the signals: they end this, too. */
static int flush(int status)
{
	char *line = util_format("standard output: not written: interrupted; ask again");
	struct interruption *interruption = interruption_ends(util_copy(line, strlen(line)));
	int error = fflush(stdout) != 0 ? errno : ferror(stdout) ? lost_error() : 0;

	if (command_loses_output() && status == COMMAND_DONE)
		status = command_fail(util_copy(line, strlen(line)));
	else if (error && status == COMMAND_DONE)
		status = command_fail(util_format("standard output: not written: %s; %s",
			strerror(error), util_write_remedy(error)));
	interruption_free(interruption);
	free(line);
	return status;
}

int main(int count, char **words)
{
	struct interruption *prints;
	int status;

	take_standard_descriptors();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file that may not grow gives its writer EFBIG instead */
	json_begin();
	prints = interruption_of_prints();
	status = flush(run(count, words));
	interruption_free(prints);
	return status;
}
