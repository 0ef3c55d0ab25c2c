/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/cut/black_box.h"
#include "agent/cut/recording_cut.h"
#include "agent/source/source.h"
#include "agent/vm/qmp/machine_memory.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "post_mortem.h"

enum {
	LEND_MS = 5000,			/* so long the connection to QMP may be in use */
	ANSWER_MS = 3000,
	KEPT_ID = sizeof(((struct recording_boot *)0)->boot_id),
};

/* The job's: what it is given, and what it has made. */
struct autopsy {
	struct qmp *qmp;		/* owned until it is given back */
	char *path, *name, *kernel;	/* as in struct metadata_machine, the last two */
	struct black_box_had had;	/* no CPUs: nothing */
	char *folder;			/* NULL: it failed, and `error` says why */
	char *said, *error;
	struct recording *recording;	/* NULL: it cannot be read */
};

struct post_mortem {
	struct source *source;
	struct decode *decode;
	struct autopsy *autopsy;
	struct job *job;		/* has the autopsy; NULL: it has not begun */
	uint64_t begun;			/* util_now */
	bool told;
	struct reader *reader;		/* NULL: nothing is to be read, or no more */
	bool ahead;			/* reading has begun */
};

/* ---- the job ---- */

static bool autopsy_record(struct autopsy *autopsy, const char *partial)
{
	const struct metadata_machine machine = { .name = autopsy->name, .kernel = autopsy->kernel };
	struct machine_memory *memory = machine_memory_of_qmp(autopsy->qmp, partial, ANSWER_MS, &autopsy->error);
	bool done = false;

	if (memory) {
		const struct memory_image image = {
			machine_memory_read, memory, machine_memory_limit(memory), machine_memory_size(memory),
		};

		done = black_box_record(&image, &machine, partial, &autopsy->had, &autopsy->said, &autopsy->error);
		machine_memory_free(memory);
	}
	return done;
}

static void autopsy_run(void *context)
{
	struct autopsy *autopsy = context;
	char *folder = partial_folder_unused(autopsy->path), *partial = partial_folder_new(folder, &autopsy->error);
	char *unread = NULL;

	if (!partial || !autopsy_record(autopsy, partial)) {
		partial_folder_discard(partial);
		free(folder);
	} else if (partial_folder_commit(partial, folder, &autopsy->error)) {
		autopsy->folder = folder;
		autopsy->recording = recording_new(folder, &unread);
	} else {
		free(folder);
	}
	free(unread);
}

static void autopsy_free(void *context)
{
	struct autopsy *autopsy = context;

	qmp_free(autopsy->qmp);
	recording_free(autopsy->recording);
	free(autopsy->had.events);
	free(autopsy->path);
	free(autopsy->name);
	free(autopsy->kernel);
	free(autopsy->folder);
	free(autopsy->said);
	free(autopsy->error);
	free(autopsy);
}

/* ---- the ingest thread ---- */

/* What has come so far. */
static struct black_box_had had_by(const struct decode *decode)
{
	struct black_box_had had = { .cpus = decode_cpus(decode) };

	if (!decode_boot(decode))
		return (struct black_box_had) { .cpus = 0 };
	memcpy(had.boot_id, decode_boot(decode), sizeof(had.boot_id));
	had.events = util_alloc((had.cpus + 1) * sizeof(*had.events));
	for (uint32_t cpu = 0; cpu < had.cpus; cpu++)
		for (int lane = 0; lane < BLACK_BOX_LANES; lane++)
			had.events[cpu][lane] = decode_put(decode, (enum stream)(STREAM_SAMPLES + lane), cpu);
	return had;
}

struct post_mortem *post_mortem_new(struct source *source, struct decode *decode, const char *path,
	const struct metadata_machine *machine)
{
	struct post_mortem *dead = util_alloc(sizeof(*dead));

	dead->source = source;
	dead->decode = decode;
	dead->begun = util_now();
	dead->autopsy = util_alloc(sizeof(*dead->autopsy));
	dead->autopsy->path = util_copy(path, strlen(path));
	dead->autopsy->name = machine->name ? util_copy(machine->name, strlen(machine->name)) : NULL;
	dead->autopsy->kernel = machine->kernel ? util_copy(machine->kernel, strlen(machine->kernel)) : NULL;
	return dead;
}

void post_mortem_free(struct post_mortem *dead)
{
	if (!dead)
		return;
	reader_free(dead->reader);
	if (dead->job)
		job_leave(dead->job);
	else
		autopsy_free(dead->autopsy);
	free(dead);
}

/* What has come up to now is what is known when the job reads: a machine that is dead sends no more. */
static void begin(struct post_mortem *dead)
{
	static const struct job_work work = { autopsy_run, autopsy_free };

	dead->autopsy->qmp = dead->source->table->lend(dead->source);
	if (!dead->autopsy->qmp)
		return;
	dead->autopsy->had = had_by(dead->decode);
	dead->job = job_new(&work, dead->autopsy);
}

/* Something has come since the job began: what it has read was counted by what had come before. */
static bool has_gone_on(const struct post_mortem *dead)
{
	const struct black_box_had *had = &dead->autopsy->had;
	struct black_box_had now = had_by(dead->decode);
	bool same = !had->events == !now.events && had->cpus == now.cpus && (!had->events ||
		(memcmp(had->boot_id, now.boot_id, sizeof(had->boot_id)) == 0 &&
		memcmp(had->events, now.events, had->cpus * sizeof(*had->events)) == 0));

	free(now.events);
	return !same;
}

/* The boot that the session watches; if it has seen none, the only one. SIZE_MAX: it is not there, or not known. */
static size_t boot_to_read(const struct post_mortem *dead)
{
	const struct recording *recording = dead->autopsy->recording;
	const uint8_t *boot_id = decode_boot(dead->decode);

	if (has_gone_on(dead))
		return SIZE_MAX;
	for (size_t i = 0; recording && i < recording->boot_count; i++)
		if (boot_id ? memcmp(recording->boots[i].boot_id, boot_id, KEPT_ID) == 0 : recording->boot_count == 1)
			return i;
	return SIZE_MAX;
}

/* The first line of what was found. */
static char *told_of(const struct autopsy *autopsy, bool shown)
{
	char *said = util_copy(autopsy->said, strlen(autopsy->said)), *text;

	said[strcspn(said, "\n")] = '\0';
	text = util_format("%s: %s%s", autopsy->folder, said, shown ? "" : "; look at it by --replay");
	free(said);
	return text;
}

bool post_mortem_step(struct post_mortem *dead, bool *failed, char **said)
{
	struct autopsy *autopsy = dead->autopsy;
	size_t boot;

	if (dead->told)
		return false;
	if (!dead->job)
		begin(dead);
	*failed = !dead->job && util_now() >= dead->begun + (uint64_t)LEND_MS * NS_PER_MS;
	if (*failed) {
		dead->told = true;
		*said = util_format("the machine's memory was not read: no connection to QMP, or one that is in use; "
			"give --qmp, or try again");
		return true;
	}
	if (!dead->job || !job_done(dead->job))
		return false;
	dead->told = true;
	dead->source->table->take_back(dead->source, autopsy->qmp);
	autopsy->qmp = NULL;
	boot = boot_to_read(dead);
	if (boot != SIZE_MAX)
		dead->reader = reader_new(autopsy->recording, boot);
	*failed = !autopsy->folder;
	*said = *failed ? util_copy(autopsy->error, strlen(autopsy->error)) : told_of(autopsy, dead->reader);
	return true;
}

bool post_mortem_writes(const struct post_mortem *dead, char *text, size_t size)
{
	if (!dead->job || job_done(dead->job))
		return false;
	util_print(text, size, "%s", dead->autopsy->path);
	return true;
}

bool post_mortem_reads(const struct post_mortem *dead)
{
	return dead->reader;
}

bool post_mortem_over(const struct post_mortem *dead)
{
	return dead->told && !dead->reader;
}

size_t post_mortem_read(struct post_mortem *dead, void *to, size_t room)
{
	size_t done = 0, got;

	if (!dead->ahead && dead->autopsy->had.events)
		decode_ahead(dead->decode, true);
	dead->ahead = true;
	while ((got = reader_read(dead->reader, (char *)to + done, room - done)))
		done += black_box_is_new(&dead->autopsy->had, (char *)to + done) ? got : 0;
	if (!done) {
		decode_ahead(dead->decode, false);
		reader_free(dead->reader);
		dead->reader = NULL;
	}
	return done;
}
