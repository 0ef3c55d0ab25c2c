/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/cut/black_box.h"
#include "agent/vm/qmp/machine_memory.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "command.h"
#include "interruption.h"

enum { ANSWER_MS = 3000 };

struct crash_request {
	const char *qmp, *image, *folder;
};

static const struct option_row crash_source[] = {
	{ .name = "qmp", .value = "SOCKET", .kind = OPTION_TEXT, .offset = offsetof(struct crash_request, qmp),
		.help = "QEMU's QMP socket: the memory of its machine" },
	{ .name = "image", .value = "FILE", .kind = OPTION_TEXT, .offset = offsetof(struct crash_request, image),
		.help = "a file with that memory, from address 0 on, as QEMU's pmemsave writes it" },
	{ 0 },
};

static const struct option_row crash_result[] = {
	{ .name = "output", .letter = 'o', .value = "DIR", .kind = OPTION_FOLDER,
		.offset = offsetof(struct crash_request, folder), .help = "the new folder of the recording" },
	{ 0 },
};

static bool look(const struct machine_memory *memory, const char *folder, char **said, char **error)
{
	const struct qmp_facts *facts = machine_memory_facts(memory);
	const struct metadata_machine machine = { .name = facts->name, .kernel = facts->kernel };
	const struct memory_image image = {
		machine_memory_read, memory, machine_memory_limit(memory), machine_memory_size(memory),
	};

	return black_box_record(&image, &machine, folder, NULL, said, error);
}

static int read_out(const struct crash_request *request)
{
	struct interruption *interruption = interruption_ends(util_format("%s: the recording is not whole: "
		"interrupted; remove it, and ask again", request->folder));
	char *error = NULL, *said = NULL;
	struct machine_memory *memory = request->qmp ?
		machine_memory_of_vm(request->qmp, request->folder, ANSWER_MS, &error) :
		machine_memory_of_file(request->image, &error);
	bool done = memory && look(memory, request->folder, &said, &error);

	if (said && *said)
		command_print(stdout, util_copy(said, strlen(said) - 1));
	if (done)
		command_print(stdout, util_format("recorded in %s; look at it by: ktop --replay %s", request->folder,
			request->folder));
	else
		recording_remove(request->folder);
	if (memory)
		machine_memory_free(memory);
	free(said);
	interruption_free(interruption);
	return done ? COMMAND_DONE : command_fail(error);
}

static int run(char *const *words, size_t count)
{
	struct crash_request request = { .qmp = NULL };
	const struct option_set sets[] = {
		{ .rows = crash_source, .into = &request }, { .rows = crash_result, .into = &request },
	};
	char *error = NULL;
	size_t used;

	if (!options_parse(words, count, sets, 2, &used, &error))
		return command_usage(&command_crash, error);
	if (used < count)
		return command_usage(&command_crash,
			util_format("%s: not understood: this is not an option", words[used]));
	if (!request.qmp == !request.image)
		return command_usage(&command_crash,
			util_format("no memory: one machine is read; give --qmp SOCKET, or --image FILE"));
	if (!request.folder)
		return command_usage(&command_crash, util_format("no folder: none was named; give -o DIR"));
	return recording_folder(request.folder, &error) ? read_out(&request) : command_fail(error);
}

const struct command command_crash = {
	.name = "crash",
	.words = "-o DIR --qmp SOCKET | --image FILE",
	.help = "Makes a recording of what a kernel with the hook left in memory when it died, or was reset.",
	.options = { { "Whose memory:", crash_source }, { "What is made:", crash_result } },
	.run = run,
};
