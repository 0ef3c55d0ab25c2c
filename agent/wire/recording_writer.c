/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "kernel-hook/wire.h"
#include "decode.h"
#include "metadata.h"
#include "recording.h"
#include "recording_writer.h"

/* ---- recording disk ---- */

enum {
	OPEN_MAX = 64,			/* files open at a time; more are closed and opened again */
	WAITING_MUCH = 1 << 20,		/* bytes; see recording_disk_wait */
	BOOTS_MAX = 1000,		/* in one recording: bounds the folders that a guest can make us create */
};

struct file {
	enum stream stream;
	uint32_t cpu;
	int fd;
	uint64_t used;			/* the value of `uses` at its last use; 0: the slot is free */
};

enum entry_kind { ENTRY_BEGIN, ENTRY_METADATA, ENTRY_PACKET, ENTRY_END };

struct entry {
	struct entry *next;
	enum entry_kind kind;
	bool goes_on;			/* the boot has a part already */
	enum stream stream;		/* of a packet */
	uint32_t cpu;
	size_t size;
	uint8_t bytes[];		/* the boot id, the packet, or the metadata */
};

struct recording_disk {
	/* used by the worker alone, but for `folder`, which never changes */
	char *folder, *partial, *final;	/* `partial` is NULL between two parts */
	unsigned begun, boots;		/* parts and boots so far */
	char **kept;			/* parts that may be removed, the oldest first; `most` at most */
	uint32_t kept_count, most;
	struct file files[OPEN_MAX];
	uint64_t uses;

	pthread_mutex_t lock;		/* guards what follows; never held during a wait for the disk */
	struct entry *first, **last;
	size_t waiting;			/* bytes of packets that are not written yet */
	bool working;			/* there is a worker */
	char *error;			/* the first failure; nothing is recorded after it */
	unsigned holders;		/* the owner and each worker; the last one frees all */

	struct job *job;		/* the newest worker; for the owner alone; NULL: none yet */
};

static char *unrecorded(const char *path, int why)
{
	return util_format("%s: not recorded: %s; %s", path, strerror(why),
		util_open_remedy(why, "make room, and try again"));
}

/* Keeps the first error only. Any thread. Takes over the text. */
static void fail_with(struct recording_disk *disk, char *error)
{
	pthread_mutex_lock(&disk->lock);
	if (disk->error)
		free(error);
	else
		disk->error = error;
	pthread_mutex_unlock(&disk->lock);
}

static bool fail(struct recording_disk *disk, const char *path, int why)
{
	fail_with(disk, unrecorded(path, why));
	return false;
}

/* The recording has ended by a failure. */
static bool recording_disk_failed(struct recording_disk *disk)
{
	bool failed;

	pthread_mutex_lock(&disk->lock);
	failed = disk->error;
	pthread_mutex_unlock(&disk->lock);
	return failed;
}

/* The same; `text`: why. */
static bool recording_disk_why(struct recording_disk *disk, char *text, size_t size)
{
	bool failed;

	pthread_mutex_lock(&disk->lock);
	failed = disk->error;
	if (failed)
		util_print(text, size, "%s", disk->error);
	pthread_mutex_unlock(&disk->lock);
	return failed;
}

/* ---- parts ---- */

static char *hex(const uint8_t boot_id[RECORDING_BOOT_ID])
{
	char *text = util_alloc(2 * RECORDING_BOOT_ID + 1);

	for (int i = 0; i < RECORDING_BOOT_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", boot_id[i]);
	return text;
}

/* Removes a part with all its files. False with errno set. */
static bool recording_disk_remove(const char *path)
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

static void remove_oldest(struct recording_disk *disk)
{
	char *oldest = disk->kept[0];

	if (!recording_disk_remove(oldest))
		fail_with(disk, util_format("%s: not recorded: the oldest part cannot be removed: %s; "
			"remove it, and record again", oldest, strerror(errno)));
	free(oldest);
	memmove(disk->kept, disk->kept + 1, --disk->kept_count * sizeof(*disk->kept));
}

/* If there is no room for a new part, removes old ones to make room, but never the last one that is kept. */
static bool make_partial(struct recording_disk *disk)
{
	while (mkdir(disk->partial, 0700) != 0) {
		if (errno != ENOSPC || !disk->most || disk->kept_count < 2) {
			fail(disk, disk->partial, errno);
			return false;
		}
		remove_oldest(disk);
	}
	return true;
}

/* The oldest part is removed only once the new one is there, so that there is always a part. */
static void recording_disk_begin_part(struct recording_disk *disk, const struct entry *entry)
{
	char *boot = hex(entry->bytes);

	disk->boots += !entry->goes_on;
	disk->final = util_format("%s/%04u-%s", disk->folder, ++disk->begun, boot);
	disk->partial = util_format("%s.partial", disk->final);
	free(boot);
	if (disk->boots > BOOTS_MAX)
		fail_with(disk, util_format("%s: not recorded: more than %d boots in one recording; record again",
			disk->folder, BOOTS_MAX));
	else if (make_partial(disk))
		while (disk->most && disk->kept_count >= disk->most)
			remove_oldest(disk);
}

static bool close_file(struct file *file)
{
	bool good = !file->used || close(file->fd) == 0;

	file->used = 0;
	return good;
}

static void recording_disk_write_metadata(struct recording_disk *disk, const struct entry *entry)
{
	char *path = util_format("%s/metadata", disk->partial), *error = NULL;
	struct util_file *file = util_file_open(path, &error);

	free(path);
	if (file) {
		fwrite(entry->bytes, 1, entry->size, util_file_stream(file));
		util_file_commit(file, &error);
	}
	if (error)
		fail_with(disk, error);
}

/* After a failure the folder keeps its temporary name. It can still be read. */
static void recording_disk_end_part(struct recording_disk *disk)
{
	for (int i = 0; i < OPEN_MAX; i++)
		if (!close_file(&disk->files[i]))
			fail(disk, disk->partial, errno);
	if (!recording_disk_failed(disk) && rename(disk->partial, disk->final) != 0)
		fail(disk, disk->partial, errno);
	if (disk->most) {
		disk->kept = util_grow(disk->kept, disk->kept_count + 1, sizeof(*disk->kept));
		disk->kept[disk->kept_count++] = disk->final;
	} else {
		free(disk->final);
	}
	free(disk->partial);
	disk->partial = disk->final = NULL;
}

/* ---- one stream of one CPU, one file ---- */

/* The slot of this file, else the one that is unused for longest. */
static struct file *find_slot(struct recording_disk *disk, enum stream stream, uint32_t cpu)
{
	struct file *oldest = &disk->files[0];

	for (int i = 0; i < OPEN_MAX; i++) {
		struct file *file = &disk->files[i];

		if (file->used && file->stream == stream && file->cpu == cpu)
			return file;
		if (file->used < oldest->used)
			oldest = file;
	}
	return oldest;
}

static struct file *open_file(struct recording_disk *disk, enum stream stream, uint32_t cpu)
{
	struct file *file = find_slot(disk, stream, cpu);
	char *path;

	if (file->used && file->stream == stream && file->cpu == cpu) {
		file->used = ++disk->uses;
		return file;
	}
	if (!close_file(file)) {
		fail(disk, disk->partial, errno);
		return NULL;
	}
	path = lane_path(disk->partial, stream, cpu);
	file->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd >= 0) {
		file->stream = stream;
		file->cpu = cpu;
		file->used = ++disk->uses;
	} else {
		fail(disk, path, errno);
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

static void write_packet(struct recording_disk *disk, const struct entry *entry)
{
	struct file *file = open_file(disk, entry->stream, entry->cpu);

	if (file && !append(file->fd, entry->bytes, entry->size))
		fail(disk, disk->partial, errno);
}

/* ---- entries ---- */

struct recording_disk *recording_disk_new(const char *folder, uint32_t parts)
{
	struct recording_disk *disk = util_alloc(sizeof(*disk));

	disk->most = parts;
	disk->folder = util_copy(folder, strlen(folder));
	disk->last = &disk->first;
	disk->holders = 1;
	pthread_mutex_init(&disk->lock, NULL);
	return disk;
}

static void release(void *context)
{
	struct recording_disk *disk = context;
	bool last;

	pthread_mutex_lock(&disk->lock);
	last = --disk->holders == 0;
	pthread_mutex_unlock(&disk->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&disk->lock);
	for (uint32_t i = 0; i < disk->kept_count; i++)
		free(disk->kept[i]);
	free(disk->kept);
	free(disk->error);
	free(disk->folder);
	free(disk);
}

static struct entry *next_entry(struct recording_disk *disk)
{
	struct entry *entry;

	pthread_mutex_lock(&disk->lock);
	entry = disk->first;
	disk->working = entry;
	if (entry && !(disk->first = entry->next))
		disk->last = &disk->first;
	pthread_mutex_unlock(&disk->lock);
	return entry;
}

static void do_entry(struct recording_disk *disk, const struct entry *entry)
{
	bool failed = recording_disk_failed(disk);

	if (entry->kind == ENTRY_BEGIN && !failed)
		recording_disk_begin_part(disk, entry);
	else if (entry->kind == ENTRY_METADATA && !failed)
		recording_disk_write_metadata(disk, entry);
	else if (entry->kind == ENTRY_PACKET && !failed)
		write_packet(disk, entry);
	else if (entry->kind == ENTRY_END && disk->partial)
		recording_disk_end_part(disk);
}

/* The worker's thread: does entries until there is none. */
static void run(void *context)
{
	struct recording_disk *disk = context;
	struct entry *entry;

	while ((entry = next_entry(disk))) {
		do_entry(disk, entry);
		pthread_mutex_lock(&disk->lock);
		if (entry->kind == ENTRY_PACKET)
			disk->waiting -= entry->size;
		pthread_mutex_unlock(&disk->lock);
		free(entry);
	}
}

static void start_worker(struct recording_disk *disk)
{
	static const struct job_work work = { .run = run, .free = release };

	pthread_mutex_lock(&disk->lock);
	disk->holders++;
	pthread_mutex_unlock(&disk->lock);
	job_leave(disk->job);
	disk->job = job_new(&work, disk);
}

static void put(struct recording_disk *disk, enum entry_kind kind, const struct entry *facts,
	const void *bytes, size_t size)
{
	struct entry *entry = util_alloc(sizeof(*entry) + size);
	bool idle;

	*entry = *facts;
	entry->kind = kind;
	entry->size = size;
	if (size)
		memcpy(entry->bytes, bytes, size);
	pthread_mutex_lock(&disk->lock);
	*disk->last = entry;
	disk->last = &entry->next;
	if (kind == ENTRY_PACKET)
		disk->waiting += size;
	idle = !disk->working;
	disk->working = true;
	pthread_mutex_unlock(&disk->lock);
	if (idle)
		start_worker(disk);
}

void recording_disk_begin(struct recording_disk *disk, const uint8_t *boot_id, bool goes_on)
{
	put(disk, ENTRY_BEGIN, &(struct entry) { .goes_on = goes_on }, boot_id, RECORDING_BOOT_ID);
}

static void recording_disk_metadata(struct recording_disk *disk, const char *text, size_t size)
{
	put(disk, ENTRY_METADATA, &(struct entry) { 0 }, text, size);
}

static bool recording_disk_packet(struct recording_disk *disk, const struct packet *packet)
{
	const struct entry facts = { .stream = packet->stream, .cpu = packet->cpu };
	size_t waiting;

	pthread_mutex_lock(&disk->lock);
	waiting = disk->waiting;
	pthread_mutex_unlock(&disk->lock);
	if (waiting + packet->size > RECORDING_WAITING_MAX) {
		fail_with(disk, util_format("%s: not recorded: the disk is too slow: %d MB wait to be "
			"written; record to a faster one, or at a lower rate", disk->folder,
			RECORDING_WAITING_MAX >> 20));
		return false;
	}
	put(disk, ENTRY_PACKET, &facts, packet->bytes, packet->size);
	return true;
}

/* Waits while much is still to be written. */
static void recording_disk_wait(struct recording_disk *disk)
{
	size_t waiting;

	pthread_mutex_lock(&disk->lock);
	waiting = disk->waiting;
	pthread_mutex_unlock(&disk->lock);
	if (waiting > WAITING_MUCH)
		job_wait(disk->job);
}

void recording_disk_end(struct recording_disk *disk)
{
	put(disk, ENTRY_END, &(struct entry) { 0 }, NULL, 0);
}

/* True while something is still to be written. */
static bool recording_disk_busy(struct recording_disk *disk)
{
	return disk->job && !job_done(disk->job);
}

/* Gives the disk up without waiting. Its thread writes the rest, and frees it. */
static void recording_disk_leave(struct recording_disk *disk)
{
	job_leave(disk->job);
	release(disk);
}

/* Waiting for the newest worker is enough: it has done the last entry. */
bool recording_disk_close(struct recording_disk *disk, char **error)
{
	bool good;

	if (disk->job)
		job_wait(disk->job);
	good = !disk->error;
	if (!good && error) {
		*error = disk->error;
		disk->error = NULL;
	}
	recording_disk_leave(disk);
	return good;
}

/* ---- recording writer ---- */

enum { NAMES_MAX = 64 << 20 };		/* bytes that names may add to a part; see is_full */

struct recording_writer {
	struct recording_disk *disk;
	struct metadata_machine machine;	/* owned */
	uint64_t part_bytes;			/* the most for a part; 0: no limit */
	struct recording_sums sums;

	/* The part that is being recorded. */
	bool begun;
	uint64_t bytes;
	uint64_t names;				/* of `bytes`: those of packets with the kernel's own names */
	bool naming;				/* the kernel has not told all its names yet */
	uint8_t boot_id[RECORDING_BOOT_ID];
	struct metadata *metadata;
	uint64_t ends[STREAMS][EVENT_CPUS];	/* when the last packet in each file ends; guest clock ticks */
};

/* Makes the folder, or checks that it is empty. Returns 0, or errno. */
static int make_empty(const char *folder)
{
	struct dirent *entry;
	int why = 0;
	DIR *opened;

	if (mkdir(folder, 0700) == 0)
		return 0;
	if (errno != EEXIST || !(opened = opendir(folder)))
		return errno;
	while (!why && (entry = readdir(opened)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			why = ENOTEMPTY;
	closedir(opened);
	return why;
}

bool recording_folder(const char *folder, char **error)
{
	int why = make_empty(folder);

	return !why || util_fail(error, "%s: not recorded: %s; %s", folder, strerror(why),
		util_open_remedy(why, "name a new or an empty folder"));
}

void recording_remove(const char *folder)
{
	DIR *parts = opendir(folder);
	struct dirent *part;

	while (parts && (part = readdir(parts)))
		if (part->d_name[0] != '.') {
			char *path = util_format("%s/%s", folder, part->d_name);

			recording_disk_remove(path);
			free(path);
		}
	if (parts)
		closedir(parts);
	rmdir(folder);
}

static char *copy(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct recording_writer *recording_writer_new(const struct recording_options *options,
	const struct metadata_machine *machine)
{
	struct recording_writer *writer = util_alloc(sizeof(*writer));

	writer->disk = recording_disk_new(options->folder, options->parts);
	writer->part_bytes = options->part_bytes;
	writer->machine.name = copy(machine->name);
	writer->machine.kernel = copy(machine->kernel);
	return writer;
}

static void end_part(struct recording_writer *writer)
{
	if (writer->begun)
		recording_disk_end(writer->disk);
	writer->begun = false;
}

static bool is_same_boot(const struct recording_writer *writer, const struct packet *packet)
{
	return writer->metadata && memcmp(writer->boot_id, packet->boot_id, RECORDING_BOOT_ID) == 0;
}

/*
 * A kernel that knows its own names tells them again for each part, and they may be larger than part_bytes. Then
 * the part grows beyond that, until it has all of the names, and as many other bytes.
 */
static bool is_full(const struct recording_writer *writer, const struct packet *packet)
{
	uint64_t most = writer->part_bytes, bytes = writer->bytes;
	bool waits = bytes < most + NAMES_MAX && (writer->naming || bytes < 2 * writer->names);

	return most && bytes && bytes + packet->size > most && !waits;
}

/* Time would run backwards in a file, which readers refuse: the machine was put back (loadvm). */
static bool is_put_back(const struct recording_writer *writer, const struct packet *packet)
{
	return packet->begin < writer->ends[packet->stream][packet->cpu];
}

/* A new part of the same boot keeps the metadata: it describes all that was described before. */
static void begin_part(struct recording_writer *writer, const struct packet *packet, bool goes_on)
{
	end_part(writer);
	if (!is_same_boot(writer, packet)) {
		metadata_free(writer->metadata);
		writer->metadata = metadata_new(&writer->machine);
		memcpy(writer->boot_id, packet->boot_id, RECORDING_BOOT_ID);
		writer->sums.boots++;
	}
	memset(writer->ends, 0, sizeof(writer->ends));
	writer->begun = true;
	writer->naming = goes_on && writer->names;	/* the kernel tells them again */
	writer->bytes = writer->names = 0;
	recording_disk_begin(writer->disk, packet->boot_id, goes_on);
}

static void write_metadata(struct recording_writer *writer)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = util_text_open(&bytes, &size);

	metadata_write(writer->metadata, writer->boot_id, text);
	util_text_close(text, &bytes);
	recording_disk_metadata(writer->disk, bytes, size);
	free(bytes);
}

/* Counts the kernel's own names. An empty name ends them. */
static void count_names(struct recording_writer *writer, const struct packet *packet)
{
	struct ktop_wire_event wire;
	bool found = false;

	for (size_t at = sizeof(struct ktop_wire_packet); at + sizeof(wire) <= packet->size;
			at += sizeof(wire) + wire.size) {
		memcpy(&wire, packet->bytes + at, sizeof(wire));
		if (wire.id != KTOP_EVENT_symbol)
			continue;
		found = true;
		writer->naming = wire.size > sizeof(struct ktop_wire_symbol) + sizeof(uint16_t);
	}
	writer->names += found ? packet->size : 0;
}

static void count(struct recording_writer *writer, const struct packet *packet)
{
	uint64_t *events = packet->stream == STREAM_SAMPLES ? &writer->sums.samples :
		&writer->sums.events;

	writer->sums.packets++;
	writer->sums.bytes += packet->size;
	writer->bytes += packet->size;
	*events += metadata_events(packet);
	if (packet->stream == STREAM_META)
		count_names(writer, packet);
}

bool recording_writer_packet(struct recording_writer *writer, const struct packet *packet)
{
	bool goes_on = writer->begun && is_same_boot(writer, packet) && !is_put_back(writer, packet);
	bool full = goes_on && is_full(writer, packet), begins = !goes_on || full;

	if (recording_disk_failed(writer->disk))
		return false;
	if (begins)
		begin_part(writer, packet, full);
	if (metadata_packet(writer->metadata, packet) || begins)
		write_metadata(writer);
	if (recording_disk_packet(writer->disk, packet)) {
		writer->ends[packet->stream][packet->cpu] = packet->end;
		count(writer, packet);
	}
	return full;
}

void recording_writer_wait(struct recording_writer *writer)
{
	recording_disk_wait(writer->disk);
}

struct recording_sums recording_writer_sums(const struct recording_writer *writer)
{
	return writer->sums;
}

bool recording_writer_busy(struct recording_writer *writer)
{
	end_part(writer);
	return recording_disk_busy(writer->disk);
}

bool recording_writer_failed(struct recording_writer *writer, char *text, size_t size)
{
	return recording_disk_why(writer->disk, text, size);
}

static void free_record(struct recording_writer *writer)
{
	metadata_free(writer->metadata);
	free((char *)writer->machine.name);
	free((char *)writer->machine.kernel);
	free(writer);
}

bool recording_writer_close(struct recording_writer *writer, char **error)
{
	bool good;

	end_part(writer);
	good = recording_disk_close(writer->disk, error);
	free_record(writer);
	return good;
}

void recording_writer_leave(struct recording_writer *writer)
{
	if (!writer)
		return;
	end_part(writer);
	recording_disk_leave(writer->disk);
	free_record(writer);
}
