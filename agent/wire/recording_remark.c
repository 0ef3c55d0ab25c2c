/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "recording.h"
#include "recording_ends.h"

/* Adds a part to the line. Frees it. */
static void add(char *text, size_t size, char *part)
{
	size_t used = strlen(text);

	util_print(text + used, size - used, "%s%s", used ? "; " : "", part);
	free(part);
}

static void add_lost(const struct recording *recording, size_t boot, char *text, size_t size)
{
	const struct recording_boot *is = &recording->boots[boot];
	char early[ENDS_TEXT];

	if (is->early_count)
		add(text, size, util_format("%s", ends_text(is->early, is->early_count, early, sizeof(early))));
	if (recording->hollow)
		add(text, size, util_format("parts of the recording in which no packet is whole: %" PRIu64,
			recording->hollow));
	if (recording->unread)
		add(text, size, util_format("files and folders of the recording that cannot be read: %" PRIu64 " (%s)",
			recording->unread, recording->why_unread ? strerror(recording->why_unread) : "too many parts"));
	if (!is->payload)
		add(text, size, util_format("the recording does not say what guest it is of: names and times may be "
			"wrong"));
}

const char *recording_lost(const struct recording *recording, size_t boot, char *text, size_t size)
{
	text[0] = '\0';
	add_lost(recording, boot, text, size);
	return text;
}

const char *recording_remark(const struct recording *recording, size_t boot, char *text, size_t size)
{
	const struct recording_boot *is = &recording->boots[boot];
	const struct recording_part *partial = NULL;
	uint64_t skipped = 0, undescribed = 0;

	for (size_t i = is->first; i < is->first + is->parts; i++) {
		skipped += recording->parts[i].skipped;
		undescribed += recording->parts[i].undescribed;
		if (recording->parts[i].partial)
			partial = &recording->parts[i];
	}
	text[0] = '\0';
	if (partial)
		add(text, size, util_format("the recording is not complete: its recorder was killed, had no more "
			"room, or still records: %s", partial->name));
	if (skipped)
		add(text, size, util_format("left out of the recording, cut or damaged: %" PRIu64 " bytes", skipped));
	if (undescribed)
		add(text, size, util_format("parts of the recording without metadata: %" PRIu64 ": where the kernel's "
			"file is, is not known; give it by --kernel", undescribed));
	add_lost(recording, boot, text, size);
	return text;
}
