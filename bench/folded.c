/* SPDX-License-Identifier: MIT */
/*
 * `folded BYTES NAMES FILE [threads]` turns a guest's bytes into folded stacks, by the stages of ktop. With `threads`,
 * each thread has its own, as by stackcollapse-perf.pl.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/export/export.h"
#include "agent/guest/epoch.h"
#include "intake.h"

enum { READ = 262144 };

static bool feed(struct intake *intake, const char *path)
{
	int fd = open(path, O_RDONLY);
	uint8_t *buffer = util_alloc(READ);
	ssize_t got = -1;

	while (fd >= 0 && (got = read(fd, buffer, READ)) > 0)
		intake_feed(intake, buffer, (size_t)got);
	return got == 0;
}

static bool write_stacks(struct intake *intake, const char *path, bool threads, struct export_result *result,
	char **error)
{
	const struct question all = { .to = UINT64_MAX };
	const struct stack_options options = { .thread_first = threads };
	const struct export_choice choice = export_stacks(EXPORT_FOLDED, options);
	struct epoch *epoch = intake_epoch(intake);

	return export_write(export_new(&choice, &(struct export_input) { .query = epoch->query,
		.inputs = &epoch->inputs, .question = &all }), path, result, error);
}

int main(int argc, char **argv)
{
	struct export_result result = { 0 };
	struct intake *intake;
	char *error = NULL;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: %s BYTES NAMES FILE [threads]\n", argv[0]);
		return 2;
	}
	intake = intake_new(argv[2], NULL);
	if (feed(intake, argv[1]) && write_stacks(intake, argv[3], argc == 5, &result, &error)) {
		intake_check(intake, result.samples);
		printf("%" PRIu64 " samples in %" PRIu64 " stacks\n", result.samples, result.stacks);
		return 0;
	}
	fprintf(stderr, "folded: %s\n", error ? error : "the bytes cannot be read");
	return 1;
}
