/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/options.h"
#include "agent/base/util.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "beside.h"
#include "command.h"

/* Prints what there is of a report that failed. Returns why it failed, in fresh memory. */
static char *take_failed(const char *answer)
{
	const char *why = strrchr(answer, CONTROL_SEPARATOR[0]);

	if (why)
		fwrite(answer, 1, (size_t)(why++ - answer), stdout);
	else
		why = answer;
	return util_copy(why, strlen(why));
}

/* What an export writes to the standard output may be any bytes. Behind it stands what belongs beside it. */
static void put_export(const char *answer, size_t size)
{
	const char *beside = memrchr(answer, CONTROL_SEPARATOR[0], size);
	size_t length = beside ? (size_t)(beside++ - answer) : size;
	char *printable = beside ? util_printable_lines(beside, size - length - 1) : NULL;

	fwrite(answer, 1, length, stdout);
	fputs(printable ? printable : "", stderr);
	free(printable);
}

/* The first signal asks the live ktop for what it has. From then on signals end the program. */
static bool enough(void *taken)
{
	int *signal = taken;

	*signal = command_take_signal();
	if (*signal)
		command_release_signals();
	return *signal != 0;
}

int beside_ask(const char *live, const char *word, const struct option_row *rows, const void *request)
{
	char **words = options_words(rows, request), **line, *answer, *error = NULL;
	struct control_question question;
	size_t count = 0, size;
	bool ok = false;
	int taken = 0;

	while (words[count])
		count++;
	line = util_alloc((count + 1) * sizeof(*line));
	line[0] = (char *)word;			/* it is only read */
	memcpy(line + 1, words, count * sizeof(*line));
	command_hold_signals();
	question = (struct control_question) { .words = line, .count = count + 1,
		.deadline = UINT64_MAX, .enough = enough, .context = &taken };
	answer = control_client_ask(live, &question, &ok, &size, &error);
	command_hold_signals();
	command_put_back(taken);	/* nobody may read what is printed now */
	if (answer && ok && strcmp(word, "export") == 0)
		put_export(answer, size);
	else if (answer && ok)
		fwrite(answer, 1, size, stdout);
	else if (answer)
		error = take_failed(answer);
	free(answer);
	free(line);
	options_words_free(words);
	return ok ? COMMAND_DONE : command_fail(error);
}
