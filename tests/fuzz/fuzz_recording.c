/* SPDX-License-Identifier: MIT */
/*
 * What stands in the folder that `report DIR`, `--replay DIR` and `record --repair DIR` are given: parts of any
 * names, files that are cut, damaged or of another kind, links that lead out of it. It is read, played with jumps,
 * repaired, and read again; nothing outside of it is read or written.
 *
 * input: steps, each: kind, then
 *   a part: name, boot            the next steps are in it
 *   a packet: stream, CPU, advance, events, then each: id, size; to the file that it belongs to
 *   a cut: stream, CPU, bytes     off the file's end
 *   bytes: name, size, bytes      to the end of a file of that name
 *   an entry: name, what          a link, a folder or a pipe
 *   a name: size, bytes           a file of any name
 *   metadata: bytes               as ktop writes it, but for so many at its end
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/source/replay.h"
#include "agent/source/source.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_repair.h"
#include "tests/unit/fakes/packets.h"
#include "fuzz.h"

enum { STEPS = 64, EVENTS = 8, OUTSIDE_BOOT = 0x77, TURNS = 64 };

/* ---- the folder: one for the process and those that it forks ---- */

static char folder[64];
static pid_t owner;

static int remove_entry(const char *path, const struct stat *is, int kind, struct FTW *at)
{
	(void)is;
	(void)kind;
	return at->level && remove(path);
}

static void empty(void)
{
	require_memory(nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

__attribute__((constructor)) static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "%s/ktop-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	require(mkdtemp(folder));
	owner = getpid();
}

__attribute__((destructor)) static void remove_folder(void)
{
	if (getpid() != owner)
		return;
	empty();
	rmdir(folder);
}

/* ---- what is put into it ---- */

struct maker {
	struct fuzz_input *input;
	struct packets *packets;
	uint64_t clock;
	char root[80], outside[80];	/* the recording; what it must not lead to */
	char part[200];
	uint8_t outside_boot[KTOP_BOOT_ID];
};

static void append(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	require(write(fd, bytes, size) == (ssize_t)size || size);
	close(fd);
}

static const char *lane_name(uint8_t stream, uint8_t cpu)
{
	static const char *const streams[] = { "meta", "samples", "trace", "metadata" };
	static char name[32];

	snprintf(name, sizeof(name), "%s_%u", streams[stream % 4], cpu % 16 == 15 ? 65535u + cpu : cpu % 4u);
	return name;
}

static char *path_of(const struct maker *maker, const char *name)
{
	return util_format("%s/%s", maker->part, name);
}

static void make_part(struct maker *maker)
{
	static const char *const names[] = { "0001-a", "0002-a.partial", "0002-a", "0010-b", "9-", "x.partial",
		".hidden", "0001-a/0001" };
	uint8_t name = input_byte(maker->input), boot = input_byte(maker->input);

	snprintf(maker->part, sizeof(maker->part), "%s%s%s", maker->root, name & 8 ? "" : "/",
		name & 8 ? "" : names[name % 8]);
	mkdir(maker->part, 0700);
	if (boot & 128)
		maker->clock = 0;
	packets_boot(maker->packets, boot % 4);
}

static void make_packet(struct maker *maker)
{
	struct packets *packets = maker->packets;
	uint8_t stream = input_byte(maker->input), cpu = input_byte(maker->input);
	uint8_t advance = input_byte(maker->input), events = input_byte(maker->input) % EVENTS;
	uint64_t seed = 1 + (uint64_t)advance;
	size_t begin = packets->size;
	char *path = path_of(maker, lane_name(stream, cpu));

	packets_begin(packets, stream % KTOP_STREAMS, cpu % 4, maker->clock);
	while (events--) {
		uint8_t id = input_byte(maker->input), size = input_byte(maker->input);
		struct body body = { .size = 0 };

		if (id & 128)
			body_random(&body, id & 127, &seed, 1 + size % 32);
		else
			body.size = size;
		packets_event(packets, maker->clock, id & 127, &body);
	}
	maker->clock += (uint64_t)advance << (advance % 32);
	packets_end(packets, maker->clock);
	append(path, packets->bytes + begin, packets->size - begin);
	free(path);
}

static void cut(struct maker *maker)
{
	uint8_t stream = input_byte(maker->input), cpu = input_byte(maker->input), bytes = input_byte(maker->input);
	char *path = path_of(maker, stream % 8 == 7 ? "metadata" : lane_name(stream, cpu));
	struct stat is;

	if (lstat(path, &is) == 0 && S_ISREG(is.st_mode) && truncate(path, is.st_size > bytes ? is.st_size - bytes : 0))
		abort();
	free(path);
}

static void make_bytes(struct maker *maker)
{
	uint8_t name = input_byte(maker->input), size = input_byte(maker->input);
	const uint8_t *bytes;
	char *path = path_of(maker, name % 4 == 3 ? "metadata" : lane_name(name, name >> 4));

	size = (uint8_t)input_bytes(maker->input, &bytes, size);
	append(path, bytes, size);
	free(path);
}

static void make_entry(struct maker *maker)
{
	uint8_t name = input_byte(maker->input), what = input_byte(maker->input);
	const char *const targets[] = { maker->outside, "/dev/zero", ".", "samples_0", "nowhere", maker->root };
	char *path = path_of(maker, name % 4 == 3 ? "metadata" : name % 8 == 4 ? "0003-c" : lane_name(name, name >> 4));

	if (what % 8 == 7)
		mkdir(path, 0700);
	else if (what % 8 == 6)
		mkfifo(path, 0600);
	else if (symlink(targets[what % 8], path) != 0)
		what = 0;			/* the name is taken already: nothing is lost by that */
	free(path);
}

static void make_name(struct maker *maker)
{
	uint8_t size = input_byte(maker->input) % 64;
	const uint8_t *bytes;
	char name[65] = "", *path;

	size = (uint8_t)input_bytes(maker->input, &bytes, size);
	for (size_t i = 0; i < size && bytes[i] && bytes[i] != '/'; i++)
		name[i] = (char)bytes[i];
	path = path_of(maker, name);
	if (name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		append(path, "bytes", 5);
	free(path);
}

static void make_metadata(struct maker *maker)
{
	struct metadata *metadata = metadata_new(&(struct metadata_machine) { .name = "vm", .kernel = "/k" });
	uint8_t off = input_byte(maker->input);
	uint16_t id = off % 2 ? KTOP_EVENT_guest : KTOP_EVENT_descriptor;
	char *path = path_of(maker, "metadata"), *bytes = NULL;
	struct body body = { .size = 0 };
	uint64_t seed = off + 1;
	size_t size = 0;
	FILE *text = util_text_open(&bytes, &size);

	body_random(&body, id, &seed, 40);
	metadata_take(metadata, id, body.bytes, body.size);
	metadata_write(metadata, maker->packets->boot_id, text);
	util_text_close(text, &bytes);
	append(path, bytes, size > 16u * off ? size - 16u * off : 0);
	free(bytes);
	free(path);
	metadata_free(metadata);
}

/* A file with a packet of a boot that no part has. */
static void make_outside(struct maker *maker)
{
	struct packets *packets = packets_new(OUTSIDE_BOOT);

	packets_begin(packets, KTOP_SAMPLES, 0, 1);
	packets_end(packets, 2);
	append(maker->outside, packets->bytes, packets->size);
	memcpy(maker->outside_boot, packets->boot_id, KTOP_BOOT_ID);
	packets_free(packets);
}

static void make_all(struct maker *maker)
{
	static void (*const steps[])(struct maker *) = { make_packet, make_part, make_packet, cut, make_bytes,
		make_entry, make_name, make_metadata };

	empty();
	snprintf(maker->root, sizeof(maker->root), "%s/recording", folder);
	snprintf(maker->outside, sizeof(maker->outside), "%s/outside", folder);
	snprintf(maker->part, sizeof(maker->part), "%s/0001-a", maker->root);
	require(mkdir(maker->root, 0700) == 0 && mkdir(maker->part, 0700) == 0);
	make_outside(maker);
	for (int i = 0; i < STEPS && maker->input->left; i++)
		steps[input_byte(maker->input) % 8](maker);
}

/* ---- what it is read as ---- */

struct seen {
	const uint8_t *outside;		/* a boot that must not be seen */
	uint64_t packets, bytes;
};

/* Without a branch for each byte: such branches would lead libFuzzer to an input with this id. */
static void see_boot(void *context, const uint8_t *boot_id)
{
	const struct seen *seen = context;
	unsigned differs = 0;

	for (int i = 0; i < KTOP_BOOT_ID; i++)
		differs |= boot_id[i] ^ seen->outside[i];
	require(differs);
}

static void see_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

static void see_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

/* Whole packets of the boot, none that ends after it. */
static struct seen read_boot(const struct recording *recording, size_t boot, const uint8_t *outside)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	const struct recording_boot *is = &recording->boots[boot];
	struct seen seen = { .outside = outside };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &seen, .boot = see_boot, .packet = see_packet, .events = see_events });
	struct reader *reader = reader_new(recording, boot);
	uint64_t end;
	size_t got;

	while (reader_peek(reader, &end) && (got = reader_read(reader, bytes, sizeof(bytes)))) {
		require(end <= is->end && memcmp(bytes + 4, is->boot_id, KTOP_BOOT_ID) == 0);
		seen.packets++;
		seen.bytes += got;
		decode_feed(decode, bytes, got);
	}
	reader_free(reader);
	decode_free(decode);
	return seen;
}

/* All of it, checked against what was found in it. */
static struct seen read_all(const struct maker *maker, const struct recording *recording)
{
	struct seen all = { 0 };
	size_t parts = 0;

	for (size_t i = 0; i < recording->boot_count; i++) {
		const struct recording_boot *is = &recording->boots[i];
		uint64_t packets = 0, bytes = 0;
		struct seen seen = read_boot(recording, i, maker->outside_boot);
		char text[128];

		require(is->first == parts && is->parts > 0 && is->begin <= is->end);
		parts += is->parts;
		for (size_t k = is->first; k < parts; k++) {
			packets += recording->parts[k].packets;
			bytes += recording->parts[k].bytes;
		}
		require(seen.packets == packets && seen.bytes == bytes);
		require(recording_ns(is, is->begin) <= recording_ns(is, is->end));
		require(strlen(recording_remark(recording, i, text, sizeof(text))) < sizeof(text));
		all.packets += packets;
		all.bytes += bytes;
	}
	require(parts == recording->part_count);
	return all;
}

static struct recording *open_it(const struct maker *maker)
{
	char *error = NULL;
	struct recording *recording = recording_new(maker->root, &error);

	require(!recording == !!error);
	free(error);
	return recording;
}

/* ---- what is done to it ---- */

static void play_it(struct recording *recording, struct fuzz_input *input)
{
	struct source *source = replay_new(recording, &(struct replay_options) { .at_once = input_byte(input) % 2 });
	uint64_t now = util_now();

	for (int i = 0; i < TURNS; i++) {
		uint8_t bytes[2 * KTOP_PACKET_MAX], kind = input_byte(input), by = input_byte(input);
		struct source_wait wait = { 0 };
		struct play_state is;

		source->table->step(source, now);
		for (int reads = 0; reads < 4; reads++)
			require(source->table->read(source, bytes, sizeof(bytes)) <= (ssize_t)sizeof(bytes));
		source->table->await(source, true, now, &wait);
		is = source->table->facts(source).play;
		require(is.there && is.boot >= 1 && is.boot <= is.boots && is.at <= is.end);
		now = wait.due > now && wait.due - now < UINT64_MAX / 4 && kind & 64 ? wait.due :
			now + ((uint64_t)by << kind % 40);
		if (kind & 128)
			source->table->play(source, &(struct play) { .kind = kind % (PLAY_PREVIOUS_BOOT + 1),
				.ns = ((int64_t)by - 128) * ((int64_t)1 << kind % 56) }, now);
	}
	source->table->free(source);
}

/* Afterwards no whole packet is lost, and there is nothing left to repair. */
static void repair_it(const struct maker *maker, struct recording *recording)
{
	struct seen before = read_all(maker, recording);
	struct recording_repaired done;
	char *error = NULL;
	bool good = recording_repair(recording, &done, &error);

	require(good == !error);
	free(error);
	error = NULL;
	recording_free(recording);
	recording = open_it(maker);
	require_memory(recording);
	require(read_all(maker, recording).packets >= before.packets);
	if (good && recording_repair(recording, &done, &error))
		require(!done.files && !done.described && !done.ended);
	free(error);
	recording_free(recording);
}

static void check_outside(const struct maker *maker)
{
	struct stat is;

	require(lstat(maker->outside, &is) == 0 && S_ISREG(is.st_mode) &&
		is.st_size == sizeof(struct ktop_wire_packet));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct maker maker = { .input = &input, .packets = packets_new(1) };
	struct recording *recording;

	make_all(&maker);
	recording = open_it(&maker);
	if (recording) {
		read_all(&maker, recording);
		play_it(recording, &input);
		repair_it(&maker, open_it(&maker));
		check_outside(&maker);
	}
	packets_free(maker.packets);
	return 0;
}
