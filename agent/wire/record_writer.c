/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/errand.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "decode.h"
#include "record_writer.h"
#include "recording_lane.h"

enum {
	OPEN_MAX = 64,			/* files open at a time; more are closed and opened again */
	BOOTS_MAX = 1000,		/* in one recording: bounds the folders that a guest can make us create */
};

struct file {
	enum stream stream;
	uint32_t cpu;
	int fd;
	uint64_t used;			/* the value of `uses` at its last use; 0: the slot is free */
};

enum job_kind { JOB_BEGIN, JOB_METADATA, JOB_PACKET, JOB_END };

struct job {
	struct job *next;
	enum job_kind kind;
	bool goes_on;			/* the boot has a part already */
	enum stream stream;		/* of a packet */
	uint32_t cpu;
	size_t size;
	uint8_t bytes[];		/* the boot id, the packet, or the metadata */
};

struct record_writer {
	/* used by the worker alone, but for `folder`, which never changes */
	char *folder, *partial, *final;	/* `partial` is NULL between two parts */
	unsigned begun, boots;		/* parts and boots so far */
	char **kept;			/* parts that may be removed, the oldest first; `most` at most */
	uint32_t kept_count, most;
	struct file files[OPEN_MAX];
	uint64_t uses;

	pthread_mutex_t lock;		/* guards what follows; never held during a wait for the disk */
	struct job *first, **last;
	size_t waiting;			/* bytes of packets that are not written yet */
	bool working;			/* there is a worker */
	char *error;			/* the first failure; nothing is recorded after it */
	unsigned holders;		/* the owner and each worker; the last one frees all */

	struct errand *errand;		/* the newest worker; for the owner alone; NULL: none yet */
};

static char *unrecorded(const char *path, int why)
{
	return util_format("%s: not recorded: %s; make room, and record again", path, strerror(why));
}

/* Keeps the first error only. Any thread. Takes over the text. */
static void fail_with(struct record_writer *writer, char *error)
{
	pthread_mutex_lock(&writer->lock);
	if (writer->error)
		free(error);
	else
		writer->error = error;
	pthread_mutex_unlock(&writer->lock);
}

static bool fail(struct record_writer *writer, const char *path, int why)
{
	fail_with(writer, unrecorded(path, why));
	return false;
}

bool record_writer_failed(struct record_writer *writer)
{
	bool failed;

	pthread_mutex_lock(&writer->lock);
	failed = writer->error;
	pthread_mutex_unlock(&writer->lock);
	return failed;
}

bool record_writer_why(struct record_writer *writer, char *text, size_t size)
{
	bool failed;

	pthread_mutex_lock(&writer->lock);
	failed = writer->error;
	if (failed)
		util_print(text, size, "%s", writer->error);
	pthread_mutex_unlock(&writer->lock);
	return failed;
}

/* ---- parts ---- */

static char *hex(const uint8_t boot_id[RECORD_BOOT_ID])
{
	char *text = util_alloc(2 * RECORD_BOOT_ID + 1);

	for (int i = 0; i < RECORD_BOOT_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", boot_id[i]);
	return text;
}

/* Removes a part with all its files. False with errno set. */
static bool remove_part(const char *path)
{
	DIR *entries = opendir(path);
	struct dirent *entry;

	if (!entries)
		return false;
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
	return rmdir(path) == 0;
}

static void remove_oldest(struct record_writer *writer)
{
	char *oldest = writer->kept[0];

	if (!remove_part(oldest))
		fail_with(writer, util_format("%s: not recorded: the oldest part cannot be removed: %s; "
			"remove it, and record again", oldest, strerror(errno)));
	free(oldest);
	memmove(writer->kept, writer->kept + 1, --writer->kept_count * sizeof(*writer->kept));
}

/* A part that cannot begin for want of room takes that of older ones; the last one that is kept stays. */
static bool make_partial(struct record_writer *writer)
{
	while (mkdir(writer->partial, 0700) != 0) {
		if (errno != ENOSPC || !writer->most || writer->kept_count < 2) {
			fail(writer, writer->partial, errno);
			return false;
		}
		remove_oldest(writer);
	}
	return true;
}

/* The oldest part goes once the new one is there: what is recorded last is never nothing. */
static void begin_part(struct record_writer *writer, const struct job *job)
{
	char *boot = hex(job->bytes);

	writer->boots += !job->goes_on;
	writer->final = util_format("%s/%04u-%s", writer->folder, ++writer->begun, boot);
	writer->partial = util_format("%s.partial", writer->final);
	free(boot);
	if (writer->boots > BOOTS_MAX)
		fail_with(writer, util_format("%s: not recorded: more than %d boots in one recording; record again",
			writer->folder, BOOTS_MAX));
	else if (make_partial(writer))
		while (writer->most && writer->kept_count >= writer->most)
			remove_oldest(writer);
}

static bool close_file(struct file *file)
{
	bool good = !file->used || close(file->fd) == 0;

	file->used = 0;
	return good;
}

static void write_metadata(struct record_writer *writer, const struct job *job)
{
	char *path = util_format("%s/metadata", writer->partial), *error = NULL;
	struct util_file *file = util_file_open(path, &error);

	free(path);
	if (file) {
		fwrite(job->bytes, 1, job->size, util_file_stream(file));
		util_file_commit(file, &error);
	}
	if (error)
		fail_with(writer, error);
}

/* After a failure the folder keeps its temporary name. It can still be read. */
static void end_part(struct record_writer *writer)
{
	for (int i = 0; i < OPEN_MAX; i++)
		if (!close_file(&writer->files[i]))
			fail(writer, writer->partial, errno);
	if (!record_writer_failed(writer) && rename(writer->partial, writer->final) != 0)
		fail(writer, writer->partial, errno);
	if (writer->most) {
		writer->kept = util_grow(writer->kept, writer->kept_count + 1, sizeof(*writer->kept));
		writer->kept[writer->kept_count++] = writer->final;
	} else {
		free(writer->final);
	}
	free(writer->partial);
	writer->partial = writer->final = NULL;
}

/* ---- one stream of one CPU, one file ---- */

/* The slot of this file, else the one that is unused for longest. */
static struct file *find_slot(struct record_writer *writer, enum stream stream, uint32_t cpu)
{
	struct file *oldest = &writer->files[0];

	for (int i = 0; i < OPEN_MAX; i++) {
		struct file *file = &writer->files[i];

		if (file->used && file->stream == stream && file->cpu == cpu)
			return file;
		if (file->used < oldest->used)
			oldest = file;
	}
	return oldest;
}

static struct file *open_file(struct record_writer *writer, enum stream stream, uint32_t cpu)
{
	struct file *file = find_slot(writer, stream, cpu);
	char *path;

	if (file->used && file->stream == stream && file->cpu == cpu) {
		file->used = ++writer->uses;
		return file;
	}
	if (!close_file(file)) {
		fail(writer, writer->partial, errno);
		return NULL;
	}
	path = lane_path(writer->partial, stream, cpu);
	file->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd >= 0) {
		file->stream = stream;
		file->cpu = cpu;
		file->used = ++writer->uses;
	} else {
		fail(writer, path, errno);
	}
	free(path);
	return file->used ? file : NULL;
}

/* Appends the whole packet. If that fails, removes what was written of it. False with errno set. */
static bool append(int fd, const uint8_t *bytes, size_t size)
{
	struct stat before;
	size_t done = 0;
	int why;

	while (done < size) {
		ssize_t went = write(fd, bytes + done, size - done);

		if (went < 0 && errno != EINTR)
			break;
		done += went > 0 ? (size_t)went : 0;
	}
	if (done == size)
		return true;
	why = errno;
	if (fstat(fd, &before) == 0 && before.st_size >= (off_t)done &&
			ftruncate(fd, before.st_size - (off_t)done) != 0)
		why = errno;
	errno = why;
	return false;
}

static void write_packet(struct record_writer *writer, const struct job *job)
{
	struct file *file = open_file(writer, job->stream, job->cpu);

	if (file && !append(file->fd, job->bytes, job->size))
		fail(writer, writer->partial, errno);
}

/* ---- jobs ---- */

struct record_writer *record_writer_new(const char *folder, uint32_t parts)
{
	struct record_writer *writer = util_alloc(sizeof(*writer));

	writer->most = parts;
	writer->folder = util_copy(folder, strlen(folder));
	writer->last = &writer->first;
	writer->holders = 1;
	pthread_mutex_init(&writer->lock, NULL);
	return writer;
}

static void release(void *context)
{
	struct record_writer *writer = context;
	bool last;

	pthread_mutex_lock(&writer->lock);
	last = --writer->holders == 0;
	pthread_mutex_unlock(&writer->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&writer->lock);
	for (uint32_t i = 0; i < writer->kept_count; i++)
		free(writer->kept[i]);
	free(writer->kept);
	free(writer->error);
	free(writer->folder);
	free(writer);
}

static struct job *next_job(struct record_writer *writer)
{
	struct job *job;

	pthread_mutex_lock(&writer->lock);
	job = writer->first;
	writer->working = job;
	if (job && !(writer->first = job->next))
		writer->last = &writer->first;
	pthread_mutex_unlock(&writer->lock);
	return job;
}

static void do_job(struct record_writer *writer, const struct job *job)
{
	bool failed = record_writer_failed(writer);

	if (job->kind == JOB_BEGIN && !failed)
		begin_part(writer, job);
	else if (job->kind == JOB_METADATA && !failed)
		write_metadata(writer, job);
	else if (job->kind == JOB_PACKET && !failed)
		write_packet(writer, job);
	else if (job->kind == JOB_END && writer->partial)
		end_part(writer);
}

/* The worker's thread: does jobs until there is none. */
static void run(void *context)
{
	struct record_writer *writer = context;
	struct job *job;

	while ((job = next_job(writer))) {
		do_job(writer, job);
		pthread_mutex_lock(&writer->lock);
		if (job->kind == JOB_PACKET)
			writer->waiting -= job->size;
		pthread_mutex_unlock(&writer->lock);
		free(job);
	}
}

static void start_worker(struct record_writer *writer)
{
	static const struct errand_work work = { .run = run, .free = release };

	pthread_mutex_lock(&writer->lock);
	writer->holders++;
	pthread_mutex_unlock(&writer->lock);
	errand_leave(writer->errand);
	writer->errand = errand_new(&work, writer);
}

static void put(struct record_writer *writer, enum job_kind kind, const struct job *facts,
	const void *bytes, size_t size)
{
	struct job *job = util_alloc(sizeof(*job) + size);
	bool idle;

	*job = *facts;
	job->kind = kind;
	job->size = size;
	if (size)
		memcpy(job->bytes, bytes, size);
	pthread_mutex_lock(&writer->lock);
	*writer->last = job;
	writer->last = &job->next;
	if (kind == JOB_PACKET)
		writer->waiting += size;
	idle = !writer->working;
	writer->working = true;
	pthread_mutex_unlock(&writer->lock);
	if (idle)
		start_worker(writer);
}

void record_writer_begin(struct record_writer *writer, const uint8_t *boot_id, bool goes_on)
{
	put(writer, JOB_BEGIN, &(struct job) { .goes_on = goes_on }, boot_id, RECORD_BOOT_ID);
}

void record_writer_metadata(struct record_writer *writer, const char *text, size_t size)
{
	put(writer, JOB_METADATA, &(struct job) { 0 }, text, size);
}

bool record_writer_packet(struct record_writer *writer, const struct packet *packet)
{
	const struct job facts = { .stream = packet->stream, .cpu = packet->cpu };
	size_t waiting;

	pthread_mutex_lock(&writer->lock);
	waiting = writer->waiting;
	pthread_mutex_unlock(&writer->lock);
	if (waiting + packet->size > RECORD_WAITING_MAX) {
		fail_with(writer, util_format("%s: not recorded: the disk is too slow: %d MB wait to be "
			"written; record to a faster one, or at a lower rate", writer->folder,
			RECORD_WAITING_MAX >> 20));
		return false;
	}
	put(writer, JOB_PACKET, &facts, packet->bytes, packet->size);
	return true;
}

void record_writer_end(struct record_writer *writer)
{
	put(writer, JOB_END, &(struct job) { 0 }, NULL, 0);
}

bool record_writer_writes(struct record_writer *writer)
{
	return writer->errand && !errand_done(writer->errand);
}

/* Waiting for the newest worker is enough: it has done the last job. */
bool record_writer_close(struct record_writer *writer, char **error)
{
	bool good;

	if (writer->errand)
		errand_wait(writer->errand);
	good = !writer->error;
	if (!good && error) {
		*error = writer->error;
		writer->error = NULL;
	}
	record_writer_leave(writer);
	return good;
}

void record_writer_leave(struct record_writer *writer)
{
	errand_leave(writer->errand);
	release(writer);
}
