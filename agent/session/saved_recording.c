/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/cut/kept_recording.h"
#include "agent/cut/partial_folder.h"
#include "agent/cut/recording_cut.h"
#include "agent/wire/recording.h"
#include "saved_recording.h"

struct saved_recording {
	struct kept_recording *kept;	/* NULL: it is cut */
	char *source;			/* the folder of the recording that it is cut out of */
	size_t boot;
	uint64_t from, to;
};

struct saved_recording *saved_recording_kept(struct kept_recording *kept)
{
	struct saved_recording *saved = util_alloc(sizeof(*saved));

	saved->kept = kept;
	return saved;
}

struct saved_recording *saved_recording_cut(const char *folder, size_t boot, uint64_t from, uint64_t to)
{
	struct saved_recording *saved = util_alloc(sizeof(*saved));

	*saved = (struct saved_recording) {
		.source = util_copy(folder, strlen(folder)), .boot = boot, .from = from, .to = to,
	};
	return saved;
}

void saved_recording_free(struct saved_recording *saved)
{
	if (!saved)
		return;
	kept_recording_free(saved->kept);
	free(saved->source);
	free(saved);
}

/* Nobody looks how far it is, or stops it. */
static char *write_cut(const struct saved_recording *saved, const char *folder, char **error)
{
	struct recording *recording = recording_new(saved->source, error);
	struct recording_sums sums = { 0 };
	atomic_bool stop = false;
	atomic_uint done = 0;
	const struct recording_cut cut = {
		.boot = saved->boot, .from = saved->from, .to = saved->to, .stop = &stop, .done = &done,
	};
	bool good = false;

	if (recording && saved->boot >= recording->boot_count)
		util_fail(error, "%s: not written: the recording has changed; play it anew", folder);
	else if (recording)
		good = recording_cut_write(recording, &cut, folder, &sums, error);
	recording_free(recording);
	if (!good)
		return NULL;
	return util_format("%s: cut out of the recording: samples and gaps %" PRIu64, folder, sums.samples);
}

static char *success(const char *folder, const struct kept_sums *sums)
{
	char *text = util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 "), at the times of their slices", folder,
		sums->samples, util_plural(sums->samples), sums->weight), *more;

	if (!sums->unknown)
		return text;
	more = util_format("%s; of %" PRIu64 " the CPU is not kept: they stand at CPU 0", text, sums->unknown);
	free(text);
	return more;
}

static char *write_kept(const struct saved_recording *saved, const char *folder, char **error)
{
	char *partial = partial_folder_new(folder, error);
	struct kept_sums sums;

	if (partial && kept_recording_write(saved->kept, partial, &sums, error))
		return partial_folder_commit(partial, folder, error) ? success(folder, &sums) : NULL;
	partial_folder_discard(partial);
	return NULL;
}

char *saved_recording_write(struct saved_recording *saved, const char *path, char **error)
{
	char *folder = partial_folder_unused(path);
	char *text = saved->kept ? write_kept(saved, folder, error) : write_cut(saved, folder, error);

	free(folder);
	return text;
}
