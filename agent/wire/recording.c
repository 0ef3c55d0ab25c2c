/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "kernel-hook/wire.h"
#include "event.h"
#include "metadata.h"
#include "payload.h"
#include "recording.h"
#include "trace_kinds.h"

/*
 * Where the lanes of a boot end. A guest sends packets of each lane at least every 100 ms, if only empty ones. So a
 * lane whose last packet ends much earlier than others was cut: what came after is missing, though nothing was skipped.
 * A lane without a file is missing if the guest goes on to take events of it; what it says of itself always has one.
 */

struct lane_end {			/* end and cut are 0: there is no such lane */
	uint64_t end;			/* of its last packet, in guest clock ticks; 0: it has none */
	uint64_t taken;			/* events that the guest had taken until then */
	uint64_t told;			/* events that it had taken when it told its last status; 0: it told none */
	uint64_t told_first;		/* when it told its first status */
	bool tells;			/* it has told a status */
	bool cut;			/* it ends with bytes of no whole packet, or has no packet */
};

struct lane_ends {
	struct lane_end of[STREAMS][EVENT_CPUS];
};

struct early_end {			/* a lane that ends before the boot does */
	enum stream stream;
	uint32_t cpu;
	uint64_t ns;			/* guest time from its end to the end of the boot */
	uint64_t missing;		/* at least so many events are missing; 0: not known */
	bool empty;			/* it has no packet at all */
};

struct boot_span {			/* of all packets of a boot; guest clock ticks, of which a second has `hz` */
	uint64_t begin, end, hz;
};

enum { ENDS_TEXT = 400 };		/* bytes that are enough for ends_text */

/* ---- where it begins and ends ---- */

enum {
	EARLY_MS = 500,			/* no whole lane ends so much earlier, unless packets were missed */
	CUT_MS = 1,			/* the same for a lane that ends with a part of a packet: it surely was cut */
	NAMED = 3,			/* so many are named; the others are counted */
};

/* The guest tells a status: so many events it had taken. */
static void ends_tell(struct lane_end *end, uint64_t taken)
{
	if (!end->tells)
		end->told_first = taken;
	end->tells = true;
	end->told = taken;
}

/* Adds what is found in a part to what was found in the parts before, of the same boot. */
static void ends_add(struct lane_ends *ends, const struct lane_ends *part)
{
	for (int stream = 0; stream < STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++) {
			struct lane_end *to = &ends->of[stream][cpu];
			const struct lane_end *from = &part->of[stream][cpu];

			if (from->end) {
				to->end = from->end;
				to->taken = from->taken;
				to->cut = false;
			}
			to->cut = to->cut || from->cut;
			if (from->tells && !to->tells)
				to->told_first = from->told_first;
			to->told = from->told ? from->told : to->told;
			to->tells = to->tells || from->tells;
		}
}

static int compare(const void *one, const void *other)
{
	const struct early_end *a = one, *b = other;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* There is nothing of it, and there should be. */
static bool is_away(const struct lane_end *lane, enum stream stream, uint32_t cpu)
{
	return !lane->end && (lane->told > lane->told_first || (stream == STREAM_META && cpu == 0));
}

/* True: this lane ends early, and `early` says by how much. */
static bool is_early(const struct boot_span *boot, const struct lane_end *lane, struct early_end *early)
{
	uint64_t end = lane->end ? lane->end : boot->begin, taken = lane->end ? lane->taken : lane->told_first;
	unsigned __int128 ns;

	if (!lane->end && !lane->cut && !is_away(lane, early->stream, early->cpu))
		return false;
	ns = (unsigned __int128)(boot->end - end) * NS_PER_SECOND / boot->hz;
	early->ns = ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
	early->empty = !lane->end;
	early->missing = lane->told > taken ? lane->told - taken : 0;
	return early->empty || early->ns >= (uint64_t)(lane->cut ? CUT_MS : EARLY_MS) * NS_PER_MS;
}

/* Returns how many lanes end early. They are listed, the earliest first; the caller frees the list. */
static size_t ends_find(const struct lane_ends *ends, const struct boot_span *boot, struct early_end **list)
{
	size_t count = 0;

	*list = NULL;
	for (int stream = 0; stream < STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++) {
			struct early_end early = { .stream = (enum stream)stream, .cpu = cpu };

			if (!is_early(boot, &ends->of[stream][cpu], &early))
				continue;
			*list = util_grow(*list, count + 1, sizeof(early));
			(*list)[count++] = early;
		}
	if (count)
		qsort(*list, count, sizeof(**list), compare);
	return count;
}

/* In fresh memory. */
static char *text_of(const struct early_end *early)
{
	double seconds = (double)early->ns / (double)NS_PER_SECOND;

	if (early->stream == STREAM_META && early->empty)
		return util_format("what the guest says of itself is lost: names are missing");
	if (early->stream == STREAM_META)
		return util_format("what the guest says of itself, such as names, ends %.2f s before the rest",
			seconds);
	if (early->stream == STREAM_TRACE)
		return util_format("the trace events of CPU %" PRIu32 " end %.2f s before the rest",
			early->cpu, seconds);
	if (early->missing)
		return util_format("the samples of CPU %" PRIu32 " end %.2f s before the rest, missing: %" PRIu64,
			early->cpu, seconds, early->missing);
	return util_format("the samples of CPU %" PRIu32 " end %.2f s before the rest", early->cpu, seconds);
}

/* Says in one line what ends early; "" if nothing does. Returns `text`. */
static const char *ends_text(const struct early_end *list, size_t count, char *text, size_t size)
{
	size_t used;

	text[0] = '\0';
	for (size_t i = 0; i < count && i < NAMED; i++) {
		char *more = text_of(&list[i]);

		used = strlen(text);
		util_print(text + used, size - used, "%s%s", used ? "; " : "", more);
		free(more);
	}
	used = strlen(text);
	if (count > NAMED)
		util_print(text + used, size - used, "; other files that end early: %zu", count - NAMED);
	return text;
}

/* ---- recording ---- */

#define PARTIAL ".partial"

enum { LOOK = 256 };			/* packets between two looks whether it is given up */

/* The state of one pass over the parts, from the first to the last. */
struct scan {
	struct recording *recording;
	struct recording_boot *boot;	/* the boot of the part before; NULL: none yet */
	struct lane_ends ends;		/* of its lanes */

	/* The part that is being read. */
	struct recording_boot found;	/* what it says of its boot */
	bool empty, goes_back;		/* it has no packet so far; it begins before `ends`, in some lane */
	struct lane_ends part_ends;
	uint8_t packet[KTOP_PACKET_MAX];
};

/* ---- what the guest says of itself ---- */

static void take_guest(struct recording_boot *boot, const uint8_t *payload, uint16_t size)
{
	struct event event = { .id = KTOP_EVENT_guest };
	uint8_t *copy;

	if (boot->payload)
		return;
	copy = util_alloc(size + 1);
	memcpy(copy, payload, size);
	if (!payload_read(NULL, copy, size, &event)) {
		free(copy);
		return;
	}
	boot->guest = event;
	boot->payload = copy;
}

static struct text copy_text(struct text text)
{
	return (struct text) { .bytes = util_copy(text.bytes, text.size), .size = text.size };
}

static bool has_descriptor(const struct recording_boot *boot, uint16_t id)
{
	for (size_t i = 0; i < boot->descriptor_count; i++)
		if (boot->descriptors[i].descriptor.event == id)
			return true;
	return false;
}

static void add_descriptor(struct recording_boot *boot, const struct event *event)
{
	struct event copy = *event;

	if (boot->descriptor_count == TRACE_KINDS || has_descriptor(boot, event->descriptor.event))
		return;
	copy.descriptor.name = copy_text(event->descriptor.name);
	copy.descriptor.fields = copy_text(event->descriptor.fields);
	boot->descriptors = util_grow(boot->descriptors, boot->descriptor_count + 1, sizeof(copy));
	boot->descriptors[boot->descriptor_count++] = copy;
}

static void take_descriptor(struct recording_boot *boot, const uint8_t *payload, uint16_t size)
{
	struct event event = { .id = KTOP_EVENT_descriptor };

	if (payload_read(NULL, payload, size, &event) && event.descriptor.stream == STREAM_TRACE &&
			event.descriptor.event >= KTOP_TRACE_FIRST)
		add_descriptor(boot, &event);
}

static void take_fact(struct recording_boot *boot, uint16_t id, const uint8_t *payload, uint16_t size)
{
	if (id == KTOP_EVENT_guest)
		take_guest(boot, payload, size);
	else if (id == KTOP_EVENT_descriptor)
		take_descriptor(boot, payload, size);
}

static void take_cpu_status(struct scan *scan, const uint8_t *payload, uint16_t size)
{
	struct event event = { .id = KTOP_EVENT_cpu_status };

	if (payload_read(NULL, payload, size, &event))
		ends_tell(&scan->part_ends.of[event.cpu_status.stream][event.cpu_status.cpu], event.cpu_status.taken);
}

static void take_beginning(struct scan *scan, uint64_t time, uint16_t id, const uint8_t *payload, uint16_t size)
{
	struct event event = { .id = id, .time = time };

	if (!scan->found.beginning.told && payload_read(NULL, payload, size, &event))
		beginning_saw(&scan->found.beginning, &event);
}

/*
 * Looks for what the guest says of itself and of its trace events. A reader that begins in the middle of a boot
 * needs it for the events before the guest tells it again.
 */
static void look_for_facts(struct scan *scan, struct recording_lane *lane)
{
	size_t at = sizeof(struct ktop_wire_packet);
	struct ktop_wire_event wire;

	if (lane->stream != STREAM_META || !lane_read(lane, scan->packet))
		return;
	for (; lane->packet.size - at >= sizeof(wire); at += sizeof(wire) + wire.size) {
		const uint8_t *payload = scan->packet + at + sizeof(wire);

		memcpy(&wire, scan->packet + at, sizeof(wire));
		if (wire.size > lane->packet.size - at - sizeof(wire))
			return;
		take_beginning(scan, lane->packet.begin, wire.id, payload, wire.size);
		if (wire.id == KTOP_EVENT_cpu_status)
			take_cpu_status(scan, payload, wire.size);
		else
			take_fact(&scan->found, wire.id, payload, wire.size);
	}
}

/* ---- one part ---- */

/* How many events of the lane the guest had taken when its last packet ended. */
static uint64_t taken_until(struct scan *scan, struct recording_lane *lane, struct lane_packet last)
{
	struct ktop_wire_packet packet;
	struct ktop_wire_event wire;
	uint64_t taken;

	lane->packet = last;
	if (!last.size || !lane_read(lane, scan->packet))
		return 0;
	memcpy(&packet, scan->packet, sizeof(packet));
	taken = packet.before + packet.discarded;
	for (size_t at = sizeof(packet); last.size - at >= sizeof(wire); at += sizeof(wire) + wire.size) {
		memcpy(&wire, scan->packet + at, sizeof(wire));
		if (wire.size > last.size - at - sizeof(wire))
			break;
		taken++;
	}
	return taken;
}

static void note_unread(struct recording *recording, int why)
{
	recording->unread++;
	recording->why_unread = why;
}

static void take_lane(struct scan *scan, struct recording_part *part, int folder,
	struct lane_name name)
{
	struct recording_lane lane = {
		.stream = name.stream, .cpu = name.cpu, .patience = &scan->recording->patience, .fd = -1,
	};
	struct lane_end *end = &scan->part_ends.of[name.stream][name.cpu];
	struct lane_packet last = { .size = 0 };
	uint64_t skipped = 0;

	if (!lane_open(&lane, folder)) {
		note_unread(scan->recording, errno);
		return;
	}
	lane_begin(&lane, scan->empty ? NULL : scan->found.boot_id);
	if (lane.packet.size)
		scan->goes_back |= lane.packet.begin < scan->ends.of[name.stream][name.cpu].end;
	for (; lane.packet.size; lane_next(&lane)) {
		struct recording_boot *found = &scan->found;

		memcpy(found->boot_id, lane.boot_id, sizeof(found->boot_id));
		found->begin = scan->empty || lane.packet.begin < found->begin ?
			lane.packet.begin : found->begin;
		found->end = lane.packet.end > found->end ? lane.packet.end : found->end;
		end->end = lane.packet.end > end->end ? lane.packet.end : end->end;
		scan->empty = false;
		part->packets++;
		part->bytes += lane.packet.size;
		look_for_facts(scan, &lane);
		last = lane.packet;
		skipped = lane.skipped;
		if (part->packets % LOOK == 0 && recording_given_up(lane.patience))
			break;
	}
	end->cut = lane.skipped > skipped || !last.size;
	end->taken = taken_until(scan, &lane, last);
	part->skipped += lane.skipped;
	if (lane.error)
		note_unread(scan->recording, lane.error);
	lane_close(&lane);
}

/* What the guest's packets have said already counts more than what the metadata says of it. False: there is none. */
static bool take_metadata(struct scan *scan, int folder)
{
	char *text = metadata_text_read(folder);
	struct metadata_said said;
	const char *at = NULL;

	if (!text)
		return false;
	scan->found.machine = metadata_text_fact(text, METADATA_NAME);
	scan->found.kernel = metadata_text_fact(text, METADATA_KERNEL);
	while (metadata_text_said(text, &at, &said))
		take_fact(&scan->found, said.id, said.payload, said.size);
	free(text);
	return true;
}

static void free_boot(struct recording_boot *boot)
{
	for (size_t i = 0; i < boot->descriptor_count; i++) {
		free((char *)boot->descriptors[i].descriptor.name.bytes);
		free((char *)boot->descriptors[i].descriptor.fields.bytes);
	}
	free(boot->descriptors);
	free(boot->early);
	free(boot->payload);
	free(boot->machine);
	free(boot->kernel);
}

/* Adds to `boot` what `found` says and its earlier parts do not. Takes over, or frees, what `found` owns. */
static void add_facts(struct recording_boot *boot, struct recording_boot *found)
{
	if (!boot->payload) {
		boot->guest = found->guest;
		boot->payload = found->payload;
		found->payload = NULL;
	}
	if (!boot->machine) {
		boot->machine = found->machine;
		found->machine = NULL;
	}
	if (!boot->kernel) {
		boot->kernel = found->kernel;
		found->kernel = NULL;
	}
	for (size_t i = 0; i < found->descriptor_count; i++)
		add_descriptor(boot, &found->descriptors[i]);
	free_boot(found);
}

static uint64_t clock_of(const struct recording_boot *boot)
{
	return boot->payload && boot->guest.guest.clock_hz >= EVENT_CLOCK_LEAST_HZ ?
		boot->guest.guest.clock_hz : EVENT_CLOCK_HZ;
}

/* What is known of a guest that says nothing of itself: its CPUs have files. */
static void guess_guest(struct scan *scan)
{
	static const struct text none = { .bytes = "" };
	uint32_t cpus = 0;

	for (int stream = 0; stream < STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++)
			if (scan->ends.of[stream][cpu].end && cpu >= cpus)
				cpus = cpu + 1;
	scan->boot->guest = (struct event) { .kind = EVENT_GUEST, .guest = { .cpus = cpus, .kernel = none,
		.version = none, .arch = none, .anchor = none, .build_id = none } };
}

/* All parts of the present boot were read. */
static void end_boot(struct scan *scan)
{
	struct recording_boot *boot = scan->boot;

	uint64_t since;

	if (!boot)
		return;
	if (!boot->payload)
		guess_guest(scan);
	since = beginning_since(&boot->beginning, clock_of(boot));
	if (boot->begin < since)
		boot->begin = since;
	boot->early_count = ends_find(&scan->ends, &(struct boot_span) {
		.begin = boot->begin, .end = boot->end, .hz = clock_of(boot) }, &boot->early);
}

/* A part that continues the time of the part before, and has its boot id, belongs to the same boot. */
static void take_boot(struct scan *scan)
{
	struct recording *recording = scan->recording;
	struct recording_boot *boot = scan->boot, *found = &scan->found;

	if (boot && !scan->goes_back && memcmp(boot->boot_id, found->boot_id, sizeof(found->boot_id)) == 0) {
		boot->parts++;
		boot->end = found->end > boot->end ? found->end : boot->end;
		add_facts(boot, found);
	} else {
		end_boot(scan);
		recording->boots = util_grow(recording->boots, recording->boot_count + 1, sizeof(*boot));
		found->first = recording->part_count - 1;
		found->parts = 1;
		recording->boots[recording->boot_count] = *found;
		scan->boot = &recording->boots[recording->boot_count++];
		memset(&scan->ends, 0, sizeof(scan->ends));
	}
	ends_add(&scan->ends, &scan->part_ends);
}

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), most = strlen(end);

	return size > most && strcmp(name + size - most, end) == 0;
}

/* Reads one part. A folder without a packet of ktop's is not a part, and is passed over. */
static void take_part(struct scan *scan, const char *path, const char *name)
{
	struct recording *recording = scan->recording;
	struct recording_part part = { .partial = ends_in(name, PARTIAL) };
	DIR *entries = lane_folder(path);
	struct lane_name *lanes;
	size_t count;

	if (!entries) {
		note_unread(recording, errno);
		return;
	}
	scan->found = (struct recording_boot) { 0 };
	scan->empty = true;
	scan->goes_back = false;
	memset(&scan->part_ends, 0, sizeof(scan->part_ends));
	count = lane_list(entries, &lanes);
	for (size_t i = 0; i < count && !recording_given_up(&recording->patience); i++)
		take_lane(scan, &part, dirfd(entries), lanes[i]);
	free(lanes);
	if (!scan->empty) {
		part.undescribed = !take_metadata(scan, dirfd(entries));
		part.path = util_copy(path, strlen(path));
		part.name = util_copy(name, strlen(name));
		recording->parts = util_grow(recording->parts, recording->part_count + 1, sizeof(part));
		recording->parts[recording->part_count++] = part;
		take_boot(scan);
	}
	recording->hollow += scan->empty && count;
	closedir(entries);
}

/* ---- all parts ---- */

static int compare_names(const void *one, const void *other)
{
	return strverscmp(*(char *const *)one, *(char *const *)other);
}

static bool is_folder(const char *folder, const char *name)
{
	char *path = util_format("%s/%s", folder, name);
	struct stat is;
	bool good = lstat(path, &is) == 0 && S_ISDIR(is.st_mode);

	free(path);
	return good;
}

/* The names of the folders in `folder`, sorted. */
static size_t list(const char *folder, char ***names, uint64_t *unread)
{
	DIR *entries = lane_folder(folder);
	struct dirent *entry;
	size_t count = 0;

	while (entries && (entry = readdir(entries))) {
		if (entry->d_name[0] == '.' || !is_folder(folder, entry->d_name))
			continue;
		if (count == RECORDING_PARTS_MAX) {
			++*unread;
			continue;
		}
		*names = util_grow(*names, count + 1, sizeof(**names));
		(*names)[count++] = util_copy(entry->d_name, strlen(entry->d_name));
	}
	if (entries)
		closedir(entries);
	if (count)
		qsort(*names, count, sizeof(**names), compare_names);
	return count;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void scan_all(struct recording *recording, const char *folder)
{
	struct scan *scan = util_alloc(sizeof(*scan));
	char **names = NULL;
	size_t count;

	scan->recording = recording;
	take_part(scan, folder, last_name(folder));
	count = recording->part_count ? 0 : list(folder, &names, &recording->unread);
	for (size_t i = 0; i < count; i++) {
		char *path = util_format("%s/%s", folder, names[i]);

		if (!recording_given_up(&recording->patience))
			take_part(scan, path, names[i]);
		free(path);
		free(names[i]);
	}
	end_boot(scan);
	free(names);
	free(scan);
}

static void fail_unread(const char *folder, int why, char **error)
{
	util_fail(error, "%s: not read: %s; %s", folder, strerror(why),
		util_open_remedy(why, "name the folder of a recording"));
}

struct recording *recording_load(const char *folder, struct recording_patience patience, char **error)
{
	DIR *opened = lane_folder(folder);
	struct recording *recording;
	int why;

	if (!opened) {
		fail_unread(folder, errno, error);
		return NULL;
	}
	closedir(opened);
	recording = util_alloc(sizeof(*recording));
	recording->folder = util_copy(folder, strlen(folder));
	recording->patience = patience;
	scan_all(recording, folder);
	why = recording->why_unread;
	if (recording_given_up(&patience))
		util_fail(error, "%s: not read: interrupted; start it again", folder);
	else if (why == EMFILE || why == ENFILE || (!recording->boot_count && (why == EACCES || why == EIO)))
		fail_unread(folder, why, error);
	else if (!recording->boot_count)
		util_fail(error, "%s: not read: there is no packet of a guest in it; name the folder of a recording",
			folder);
	else
		return recording;
	recording_free(recording);
	return NULL;
}

struct recording *recording_new(const char *folder, char **error)
{
	return recording_load(folder, (struct recording_patience) { .given_up = NULL }, error);
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->part_count; i++) {
		free(recording->parts[i].path);
		free(recording->parts[i].name);
	}
	for (size_t i = 0; i < recording->boot_count; i++)
		free_boot(&recording->boots[i]);
	free(recording->folder);
	free(recording->parts);
	free(recording->boots);
	free(recording);
}

uint64_t recording_ns(const struct recording_boot *boot, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * NS_PER_SECOND / clock_of(boot);

	return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

uint64_t recording_ticks(const struct recording_boot *boot, uint64_t ns)
{
	unsigned __int128 ticks = ((unsigned __int128)ns * clock_of(boot) + NS_PER_SECOND - 1) / NS_PER_SECOND;

	return ns < INT64_MAX && ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}

/* ---- what is said of it ---- */

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

/* ---- lanes: one file each ---- */

enum {
	HEADER = sizeof(struct ktop_wire_packet),
	SEARCH_BYTES = 65536,		/* read at a time */
};

static const char *const lane_names[STREAMS] = { "meta", "samples", "trace" };

static bool read_name(const char *name, struct lane_name *read)
{
	for (int i = 0; i < STREAMS; i++) {
		size_t size = strlen(lane_names[i]);
		const char *digits = name + size + 1;
		char *end;
		unsigned long number;

		if (strncmp(name, lane_names[i], size) != 0 || name[size] != '_' || digits[0] < '0' ||
				digits[0] > '9' || (digits[0] == '0' && digits[1]))
			continue;
		number = strtoul(digits, &end, 10);
		*read = (struct lane_name) { .stream = (enum stream)i, .cpu = (uint32_t)number };
		return !*end && strlen(digits) < 6 && number < EVENT_CPUS;
	}
	return false;
}

char *lane_path(const char *folder, enum stream stream, uint32_t cpu)
{
	return util_format("%s/%s_%u", folder, lane_names[stream], cpu);
}

static int lane_compare_names(const void *one, const void *other)
{
	const struct lane_name *a = one, *b = other;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

size_t lane_list(DIR *folder, struct lane_name **list)
{
	struct dirent *entry;
	struct lane_name name;
	size_t count = 0;

	*list = NULL;
	while ((entry = readdir(folder)))
		if (read_name(entry->d_name, &name)) {
			*list = util_grow(*list, count + 1, sizeof(name));
			(*list)[count++] = name;
		}
	if (count)
		qsort(*list, count, sizeof(name), lane_compare_names);
	return count;
}

DIR *lane_folder(const char *path)
{
	DIR *folder = opendir(path);

	if (!folder && errno == ENOMEM)
		util_no_memory();
	return folder;
}

bool lane_open(struct recording_lane *lane, int folder)
{
	char name[32];
	struct stat is;

	snprintf(name, sizeof(name), "%s_%u", lane_names[lane->stream], lane->cpu);
	lane->fd = util_file_read(folder, name, O_NOFOLLOW, NULL);
	if (lane->fd >= 0 && fstat(lane->fd, &is) == 0) {
		if (!lane->size)
			lane->size = (uint64_t)is.st_size;
		return true;
	}
	lane_close(lane);
	return false;
}

void lane_close(struct recording_lane *lane)
{
	if (lane->fd >= 0)
		close(lane->fd);
	lane->fd = -1;
}

/* Returns how many bytes were read. At an error the file seems to end, and the lane notes the error. */
static size_t read_at(struct recording_lane *lane, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(lane->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno != EINTR)
			lane->error = errno;
		if (got == 0 || lane->error)
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	return done;
}

bool recording_given_up(const struct recording_patience *patience)
{
	return patience && patience->given_up && patience->given_up(patience->context);
}

static bool is_of_boot(const struct recording_lane *lane, const struct ktop_wire_packet *wire)
{
	return !lane->booted || memcmp(lane->boot_id, wire->boot_id, LANE_BOOT_ID) == 0;
}

/* If `wire`, from this offset, is a header, and its packet is all in the file, that is the lane's next packet. */
static bool take_packet(struct recording_lane *lane, uint64_t offset, const struct ktop_wire_packet *wire)
{
	if (wire->magic != KTOP_MAGIC || wire->stream != lane->stream || wire->cpu != lane->cpu ||
			wire->begin > wire->end || wire->content_size != wire->packet_size ||
			wire->packet_size % 8 || wire->packet_size / 8 < HEADER ||
			wire->packet_size / 8 > KTOP_PACKET_MAX ||
			wire->packet_size / 8 > lane->size - offset || !is_of_boot(lane, wire))
		return false;
	memcpy(lane->boot_id, wire->boot_id, LANE_BOOT_ID);
	lane->booted = true;
	lane->packet = (struct lane_packet) { .offset = offset, .size = (uint32_t)(wire->packet_size / 8),
		.begin = wire->begin, .end = wire->end };
	return true;
}

/* Returns the offset of the next packet, or the file's end. Reads each byte about once, whatever it finds. */
static uint64_t search(struct recording_lane *lane, uint64_t offset)
{
	static const uint32_t magic = KTOP_MAGIC;
	uint8_t bytes[SEARCH_BYTES];

	while (lane->size - offset >= HEADER && !recording_given_up(lane->patience)) {
		size_t got = read_at(lane, bytes, sizeof(bytes), offset);
		const uint8_t *at = bytes, *last = bytes + got - (HEADER - 1);

		if (got < HEADER)
			break;
		while (at < last && (at = memmem(at, (size_t)(bytes + got - at), &magic, sizeof(magic))) &&
				at < last) {
			struct ktop_wire_packet wire;

			memcpy(&wire, at, HEADER);
			if (take_packet(lane, offset + (uint64_t)(at - bytes), &wire))
				return lane->packet.offset;
			at++;
		}
		offset += (uint64_t)(last - bytes);
	}
	return lane->size;
}

static void seek(struct recording_lane *lane, uint64_t offset)
{
	struct ktop_wire_packet wire;

	lane->packet.size = 0;
	if (lane->size - offset >= HEADER && read_at(lane, &wire, HEADER, offset) == HEADER &&
			take_packet(lane, offset, &wire))
		return;
	lane->skipped += search(lane, offset) - offset;
}

void lane_begin(struct recording_lane *lane, const uint8_t *boot_id)
{
	lane->booted = boot_id;
	if (boot_id)
		memcpy(lane->boot_id, boot_id, LANE_BOOT_ID);
	lane->skipped = 0;
	lane->error = 0;
	seek(lane, 0);
}

void lane_next(struct recording_lane *lane)
{
	seek(lane, lane->packet.offset + lane->packet.size);
}

bool lane_read(struct recording_lane *lane, void *to)
{
	return read_at(lane, to, lane->packet.size, lane->packet.offset) == lane->packet.size;
}
