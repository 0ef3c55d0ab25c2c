/* SPDX-License-Identifier: MIT */
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

enum {
	OPEN_MAX = 64,			/* files open at a time; more are closed and opened again */
	EPOCHS_MAX = 1000,		/* folders of one recording: a guest cannot make more */
};

struct file {
	enum stream stream;
	uint32_t cpu;
	int fd;
	uint64_t used;			/* by the counter `uses`; 0: slot free */
};

enum order_kind { ORDER_BEGIN, ORDER_PACKET, ORDER_END };

struct order {
	struct order *next;
	enum order_kind kind;
	enum stream stream;		/* of a packet */
	uint32_t cpu;
	size_t size;
	uint8_t bytes[];		/* the boot id, the packet, or the metadata */
};

struct record_writer {
	/* the worker's alone */
	char *folder, *partial, *final;	/* `partial` is NULL between two epochs */
	unsigned epochs;
	uint8_t boot_id[RECORD_BOOT_ID];
	struct file files[OPEN_MAX];
	uint64_t uses;

	pthread_mutex_t lock;		/* of what follows, never held while the disk is waited for */
	struct order *first, **last;
	size_t waiting;			/* bytes of packets */
	bool working;
	char *error;			/* the first failure; nothing is recorded after it */
	unsigned holders;

	struct errand *errand;		/* the owner's: the last worker; NULL: none yet */
};

static char *unrecorded(const char *path, int why)
{
	return util_format("%s: not recorded: %s; make room, and record again", path, strerror(why));
}

/* The first one counts; any thread. Takes the text. */
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

/* ---- one epoch, one folder ---- */

static char *hex(const uint8_t boot_id[RECORD_BOOT_ID])
{
	char *text = util_alloc(2 * RECORD_BOOT_ID + 1);

	for (int i = 0; i < RECORD_BOOT_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", boot_id[i]);
	return text;
}

static bool is_taken(const char *path)
{
	char *partial = util_format("%s.partial", path);
	bool taken = access(partial, F_OK) == 0 || access(path, F_OK) == 0;

	free(partial);
	return taken;
}

/* The name of the folder; a boot that was put back to an earlier state has several. */
static char *name_epoch(const struct record_writer *writer)
{
	char *boot = hex(writer->boot_id);
	char *path = util_format("%s/%s", writer->folder, boot);

	for (unsigned i = 2; is_taken(path); i++) {
		free(path);
		path = util_format("%s/%s-%u", writer->folder, boot, i);
	}
	free(boot);
	return path;
}

static void begin_epoch(struct record_writer *writer, const uint8_t *boot_id)
{
	memcpy(writer->boot_id, boot_id, RECORD_BOOT_ID);
	writer->final = name_epoch(writer);
	writer->partial = util_format("%s.partial", writer->final);
	if (writer->epochs++ == EPOCHS_MAX)
		fail(writer, writer->partial, EMFILE);
	else if (mkdir(writer->partial, 0700) != 0)
		fail(writer, writer->partial, errno);
}

static bool close_file(struct file *file)
{
	bool good = !file->used || close(file->fd) == 0;

	file->used = 0;
	return good;
}

static void write_metadata(struct record_writer *writer, const struct order *order)
{
	char *path = util_format("%s/metadata", writer->partial), *error = NULL;
	struct util_file *file = util_file_open(path, &error);

	free(path);
	if (file) {
		fwrite(order->bytes, 1, order->size, util_file_stream(file));
		util_file_commit(file, &error);
	}
	if (error)
		fail_with(writer, error);
}

/* After a failure the folder keeps its temporary name, but can still be read. */
static void end_epoch(struct record_writer *writer, const struct order *order)
{
	for (int i = 0; i < OPEN_MAX; i++)
		if (!close_file(&writer->files[i]))
			fail(writer, writer->partial, errno);
	write_metadata(writer, order);
	if (!record_writer_failed(writer) && rename(writer->partial, writer->final) != 0)
		fail(writer, writer->partial, errno);
	free(writer->partial);
	free(writer->final);
	writer->partial = writer->final = NULL;
}

/* ---- one stream of one CPU, one file ---- */

/* The slot of this file, or the one unused for longest. */
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
	static const char *const names[STREAMS] = { "meta", "samples", "trace" };
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
	path = util_format("%s/%s_%u", writer->partial, names[stream], cpu);
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

static void write_packet(struct record_writer *writer, const struct order *order)
{
	struct file *file = open_file(writer, order->stream, order->cpu);

	if (file && !append(file->fd, order->bytes, order->size))
		fail(writer, writer->partial, errno);
}

/* ---- orders ---- */

struct record_writer *record_writer_new(const char *folder)
{
	struct record_writer *writer = util_alloc(sizeof(*writer));

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
	free(writer->error);
	free(writer->folder);
	free(writer);
}

static struct order *next_order(struct record_writer *writer)
{
	struct order *order;

	pthread_mutex_lock(&writer->lock);
	order = writer->first;
	writer->working = order;
	if (order && !(writer->first = order->next))
		writer->last = &writer->first;
	pthread_mutex_unlock(&writer->lock);
	return order;
}

static void obey(struct record_writer *writer, const struct order *order)
{
	bool failed = record_writer_failed(writer);

	if (order->kind == ORDER_BEGIN && !failed)
		begin_epoch(writer, order->bytes);
	else if (order->kind == ORDER_PACKET && !failed)
		write_packet(writer, order);
	else if (order->kind == ORDER_END && writer->partial)
		end_epoch(writer, order);
}

/* The worker: until there is nothing to do. */
static void run(void *context)
{
	struct record_writer *writer = context;
	struct order *order;

	while ((order = next_order(writer))) {
		obey(writer, order);
		pthread_mutex_lock(&writer->lock);
		if (order->kind == ORDER_PACKET)
			writer->waiting -= order->size;
		pthread_mutex_unlock(&writer->lock);
		free(order);
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

static void put(struct record_writer *writer, enum order_kind kind, const struct order *facts,
	const void *bytes, size_t size)
{
	struct order *order = util_alloc(sizeof(*order) + size);
	bool idle;

	*order = *facts;
	order->kind = kind;
	order->size = size;
	if (size)
		memcpy(order->bytes, bytes, size);
	pthread_mutex_lock(&writer->lock);
	*writer->last = order;
	writer->last = &order->next;
	if (kind == ORDER_PACKET)
		writer->waiting += size;
	idle = !writer->working;
	writer->working = true;
	pthread_mutex_unlock(&writer->lock);
	if (idle)
		start_worker(writer);
}

void record_writer_begin(struct record_writer *writer, const uint8_t *boot_id)
{
	put(writer, ORDER_BEGIN, &(struct order){ 0 }, boot_id, RECORD_BOOT_ID);
}

bool record_writer_packet(struct record_writer *writer, const struct packet *packet)
{
	const struct order facts = { .stream = packet->stream, .cpu = packet->cpu };
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
	put(writer, ORDER_PACKET, &facts, packet->bytes, packet->size);
	return true;
}

void record_writer_end(struct record_writer *writer, const char *metadata, size_t size)
{
	put(writer, ORDER_END, &(struct order){ 0 }, metadata, size);
}

bool record_writer_writes(struct record_writer *writer)
{
	return writer->errand && !errand_done(writer->errand);
}

/* Whoever is the last worker: it is the one that has seen the end. */
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
	errand_leave(writer->errand);
	release(writer);
	return good;
}
