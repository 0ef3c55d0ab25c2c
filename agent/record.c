#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode.h"
#include "errand.h"
#include "metadata.h"
#include "record.h"
#include "util.h"
#include "util_file.h"

enum {
	OPEN_MAX = 64,			/* files open at a time; more are closed and opened again */
	ENDINGS_MAX = 8,		/* in work at a time: the disk is too slow for more */
	EPOCHS_MAX = 1000,		/* folders of one recording: a guest cannot make more */
	BOOT_ID = 16,
};

struct file {
	enum stream stream;
	uint32_t cpu;
	int fd;
	uint64_t used;			/* by the counter `uses`; 0: slot free */
};

struct record {
	char *folder;
	char *error;			/* the first failure; nothing is recorded after it */

	/* the epoch being recorded; `partial` is NULL before the first packet */
	char *partial, *final;
	unsigned epochs;
	uint8_t boot_id[BOOT_ID];
	struct metadata *metadata;
	uint64_t ends[STREAMS][EVENT_CPUS];	/* of the last packet in each file */

	struct file files[OPEN_MAX];
	uint64_t uses;

	struct errand *endings[ENDINGS_MAX + 1];	/* of epochs before, that may be in work */
	int ending_count;
};

/* Makes the folder, or finds it empty: 0, or errno. */
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

struct record *record_new(const char *folder, char **error)
{
	int why = make_empty(folder);
	struct record *record;

	if (why) {
		util_fail(error, "%s: no recording: %s; name a new or an empty folder",
			folder, strerror(why));
		return NULL;
	}
	record = util_alloc(sizeof(*record));
	record->folder = util_copy(folder, strlen(folder));
	return record;
}

static char *unrecorded(const char *path, int why)
{
	return util_format("%s: not recorded: %s; make room, and record again", path, strerror(why));
}

static bool fail(struct record *record, const char *path, int why)
{
	if (!record->error)
		record->error = unrecorded(path, why);
	return false;
}

/* ---- one epoch, one folder ---- */

static char *hex(const uint8_t boot_id[BOOT_ID])
{
	char *text = util_alloc(2 * BOOT_ID + 1);

	for (int i = 0; i < BOOT_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", boot_id[i]);
	return text;
}

/* Also by one whose end is in work. */
static bool is_taken(const char *path)
{
	char *partial = util_format("%s.partial", path);
	bool taken = access(partial, F_OK) == 0 || access(path, F_OK) == 0;

	free(partial);
	return taken;
}

/* The name of the folder; a boot that was put back to an earlier state has several. */
static char *name_epoch(const struct record *record)
{
	char *boot = hex(record->boot_id);
	char *path = util_format("%s/%s", record->folder, boot);

	for (unsigned i = 2; is_taken(path); i++) {
		free(path);
		path = util_format("%s/%s-%u", record->folder, boot, i);
	}
	free(boot);
	return path;
}

static bool begin_epoch(struct record *record, const uint8_t *boot_id)
{
	if (!record->metadata || memcmp(record->boot_id, boot_id, BOOT_ID) != 0) {
		metadata_free(record->metadata);
		record->metadata = metadata_new();
		memcpy(record->boot_id, boot_id, BOOT_ID);
	}
	memset(record->ends, 0, sizeof(record->ends));
	record->final = name_epoch(record);
	record->partial = util_format("%s.partial", record->final);
	if (record->epochs++ == EPOCHS_MAX)
		return fail(record, record->partial, EMFILE);
	return mkdir(record->partial, 0700) == 0 || fail(record, record->partial, errno);
}

static bool close_file(struct file *file)
{
	bool good = !file->used || close(file->fd) == 0;

	file->used = 0;
	return good;
}

/* ---- its end, by an errand: files are closed, metadata written, the folder has its name ---- */

struct ending {
	char *partial, *final;		/* final NULL: the folder keeps its temporary name */
	int fds[OPEN_MAX];
	int count;
	char *metadata;
	size_t size;
	char *error;			/* NULL: all is on the disk */
};

static bool write_metadata(const struct ending *ending, char **error)
{
	char *path = util_format("%s/metadata", ending->partial);
	struct util_file *file = util_file_open(path, error);

	free(path);
	if (!file)
		return false;
	fwrite(ending->metadata, 1, ending->size, util_file_stream(file));
	return util_file_commit(file, error);
}

/* After a failure the folder keeps its temporary name, but can still be read. */
static void run_ending(void *context)
{
	struct ending *ending = context;
	int why = 0;

	for (int i = 0; i < ending->count; i++)
		if (close(ending->fds[i]) != 0)
			why = errno;
	if (!write_metadata(ending, &ending->error) || !ending->final)
		return;
	if (!why && rename(ending->partial, ending->final) != 0)
		why = errno;
	if (why)
		ending->error = unrecorded(ending->partial, why);
}

static void free_ending(void *context)
{
	struct ending *ending = context;

	free(ending->partial);
	free(ending->final);
	free(ending->metadata);
	free(ending->error);
	free(ending);
}

/* Those that are done, or, waiting, all; keeps the first failure. */
static void take_endings(struct record *record, bool wait)
{
	int left = 0;

	for (int i = 0; i < record->ending_count; i++) {
		struct errand *errand = record->endings[i];
		struct ending *ending;

		if (wait)
			errand_wait(errand);
		ending = errand_done(errand);
		if (!ending) {
			record->endings[left++] = errand;
			continue;
		}
		if (ending->error && !record->error) {
			record->error = ending->error;
			ending->error = NULL;
		}
		errand_leave(errand);
	}
	record->ending_count = left;
}

static bool print_metadata(struct record *record, struct ending *ending)
{
	FILE *text = open_memstream(&ending->metadata, &ending->size);
	bool good = text;

	if (text) {
		metadata_write(record->metadata, record->boot_id, text);
		good = !ferror(text);
		good = fclose(text) == 0 && good;
	}
	return good;
}

static void end_epoch(struct record *record)
{
	static const struct errand_work work = { .run = run_ending, .free = free_ending };
	struct ending *ending;

	if (!record->partial)
		return;
	take_endings(record, false);
	ending = util_alloc(sizeof(*ending));
	for (int i = 0; i < OPEN_MAX; i++)
		if (record->files[i].used) {
			ending->fds[ending->count++] = record->files[i].fd;
			record->files[i].used = 0;
		}
	if (!print_metadata(record, ending))
		fail(record, record->partial, ENOMEM);
	if (record->ending_count >= ENDINGS_MAX)
		fail(record, record->partial, ETIMEDOUT);
	ending->partial = record->partial;
	if (record->error)
		free(record->final);
	else
		ending->final = record->final;
	record->partial = record->final = NULL;
	record->endings[record->ending_count++] = errand_new(&work, ending);
}

/* ---- one stream of one CPU, one file ---- */

/* The slot of this file, or the one unused for longest. */
static struct file *find_slot(struct record *record, enum stream stream, uint32_t cpu)
{
	struct file *oldest = &record->files[0];

	for (int i = 0; i < OPEN_MAX; i++) {
		struct file *file = &record->files[i];

		if (file->used && file->stream == stream && file->cpu == cpu)
			return file;
		if (file->used < oldest->used)
			oldest = file;
	}
	return oldest;
}

static struct file *open_file(struct record *record, enum stream stream, uint32_t cpu)
{
	static const char *const names[STREAMS] = { "meta", "samples", "trace" };
	struct file *file = find_slot(record, stream, cpu);
	char *path;

	if (file->used && file->stream == stream && file->cpu == cpu) {
		file->used = ++record->uses;
		return file;
	}
	if (!close_file(file)) {
		fail(record, record->partial, errno);
		return NULL;
	}
	path = util_format("%s/%s_%u", record->partial, names[stream], cpu);
	file->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd >= 0) {
		file->stream = stream;
		file->cpu = cpu;
		file->used = ++record->uses;
	} else {
		fail(record, path, errno);
	}
	free(path);
	return file->used ? file : NULL;
}

/* The whole packet or, when there is no room, none of it. */
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

/* Time runs backwards in a file: the machine was put back (loadvm). Readers would refuse that. */
static bool is_new_epoch(const struct record *record, const struct packet *packet)
{
	return !record->partial || memcmp(record->boot_id, packet->boot_id, BOOT_ID) != 0 ||
		packet->begin < record->ends[packet->stream][packet->cpu];
}

void record_packet(struct record *record, const struct packet *packet)
{
	struct file *file;

	if (record->error)
		return;
	if (is_new_epoch(record, packet)) {
		end_epoch(record);
		if (record->error || !begin_epoch(record, packet->boot_id))
			return;
	}
	file = open_file(record, packet->stream, packet->cpu);
	if (!file)
		return;
	if (!append(file->fd, packet->bytes, packet->size)) {
		fail(record, record->partial, errno);
		return;
	}
	record->ends[packet->stream][packet->cpu] = packet->end;
	metadata_packet(record->metadata, packet);
}

void record_event(struct record *record, const struct event *event)
{
	if (record->metadata)
		metadata_event(record->metadata, event);
}

bool record_writes(struct record *record)
{
	end_epoch(record);
	take_endings(record, false);
	return record->ending_count > 0;
}

bool record_close(struct record *record, char **error)
{
	bool good;

	if (!record)
		return true;
	end_epoch(record);
	take_endings(record, true);
	good = !record->error;
	if (good || !error)
		free(record->error);
	else
		*error = record->error;
	metadata_free(record->metadata);
	free(record->folder);
	free(record);
	return good;
}
