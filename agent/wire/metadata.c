/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "kernel-hook/wire.h"
#include "decode.h"
#include "event.h"
#include "fields.h"
#include "metadata.h"
#include "payload.h"

enum {
	DESCRIPTORS_MAX = 1024,		/* descriptors kept */
	IDS = 1 << 16,
	CHANGES_MAX = 64,		/* of the text; the last one describes all ids */
};

/* A value above these counts as unknown: readers compute in signed 64 bits, in ns. */
static const uint64_t clock_hz_max = 18000000000, epoch_ns_max = (uint64_t)1 << 62;

struct descriptor {
	uint16_t id;
	uint32_t stream;
	char *name, *fields;
};

/* A meta event as the guest has sent it. The text keeps it, in case the file of the meta stream is cut. */
struct said {
	uint16_t id;
	size_t size;
	uint8_t *payload;
};

struct metadata {
	char *name, *kernel;			/* of the machine; NULL: not known */
	unsigned changes;			/* of the text, so far */
	uint64_t clock_hz, epoch_ns;
	struct descriptor *descriptors;
	size_t count;
	struct said *said;			/* the guest's facts and its descriptors, each once */
	size_t said_count;
	uint8_t seen[STREAMS][IDS / 8];		/* a bit for each id: it has occurred */
};

struct metadata *metadata_new(const struct metadata_machine *machine)
{
	struct metadata *metadata = util_alloc(sizeof(*metadata));

	metadata->name = machine->name ? util_copy(machine->name, strlen(machine->name)) : NULL;
	metadata->kernel = machine->kernel ? util_copy(machine->kernel, strlen(machine->kernel)) : NULL;
	return metadata;
}

void metadata_free(struct metadata *metadata)
{
	if (!metadata)
		return;
	for (size_t i = 0; i < metadata->count; i++) {
		free(metadata->descriptors[i].name);
		free(metadata->descriptors[i].fields);
	}
	free(metadata->descriptors);
	for (size_t i = 0; i < metadata->said_count; i++)
		free(metadata->said[i].payload);
	free(metadata->said);
	free(metadata->name);
	free(metadata->kernel);
	free(metadata);
}

static const struct descriptor *find_descriptor(const struct metadata *metadata, uint32_t stream, uint16_t id)
{
	for (size_t i = 0; i < metadata->count; i++)
		if (metadata->descriptors[i].stream == stream && metadata->descriptors[i].id == id)
			return &metadata->descriptors[i];
	return NULL;
}

/* ---- what the packets say ---- */

static bool take_guest(struct metadata *metadata, const struct guest *guest)
{
	bool same = metadata->clock_hz == guest->clock_hz && metadata->epoch_ns == guest->epoch_ns;

	metadata->clock_hz = guest->clock_hz;
	metadata->epoch_ns = guest->epoch_ns;
	return !same;
}

static bool take_descriptor(struct metadata *metadata, const struct event *event)
{
	struct text name = event->descriptor.name, fields = event->descriptor.fields;

	if (metadata->count == DESCRIPTORS_MAX ||
			find_descriptor(metadata, event->descriptor.stream, event->descriptor.event))
		return false;
	metadata->descriptors = util_grow(metadata->descriptors, metadata->count + 1, sizeof(struct descriptor));
	metadata->descriptors[metadata->count++] = (struct descriptor) {
		.id = event->descriptor.event,
		.stream = event->descriptor.stream,
		.name = util_copy(name.bytes, name.size),
		.fields = util_copy(fields.bytes, fields.size),
	};
	return true;
}

/* The guest has facts of one kind only: newer ones take the place of the older ones. */
static struct said *said_of(struct metadata *metadata, uint16_t id)
{
	for (size_t i = 0; i < metadata->said_count; i++)
		if (id == KTOP_EVENT_guest && metadata->said[i].id == id)
			return &metadata->said[i];
	metadata->said = util_grow(metadata->said, metadata->said_count + 1, sizeof(struct said));
	metadata->said[metadata->said_count] = (struct said) { .id = id };
	return &metadata->said[metadata->said_count++];
}

/* True: it is kept, and was not before. */
static bool keep(struct metadata *metadata, uint16_t id, const void *payload, size_t size)
{
	struct said *said;

	if (size > METADATA_SAID_MAX)
		return false;
	said = said_of(metadata, id);
	if (said->payload && said->size == size && memcmp(said->payload, payload, size) == 0)
		return false;
	free(said->payload);
	said->payload = memcpy(util_alloc(size + 1), payload, size);
	said->size = size;
	return true;
}

bool metadata_take(struct metadata *metadata, uint16_t id, const void *payload, size_t size)
{
	struct event event = { .id = id };
	bool is_guest = id == KTOP_EVENT_guest, changed;

	if ((!is_guest && id != KTOP_EVENT_descriptor) || !payload_read(NULL, payload, size, &event))
		return false;
	changed = is_guest ? take_guest(metadata, &event.guest) : take_descriptor(metadata, &event);
	if (is_guest || changed)
		changed |= keep(metadata, id, payload, size);
	return changed;
}

/* Does ktop's own table, in kernel-hook/wire.h, describe this event? */
static bool is_in_table(uint32_t stream, uint16_t id)
{
	return payload_stream(NULL, id) == stream;
}

static bool take_id(struct metadata *metadata, uint32_t stream, uint16_t id)
{
	uint8_t *byte = &metadata->seen[stream][id / 8], bit = (uint8_t)(1u << id % 8);
	bool is_new = !(*byte & bit);

	*byte |= bit;
	return is_new && !is_in_table(stream, id) && !find_descriptor(metadata, stream, id);
}

uint64_t metadata_events(const struct packet *packet)
{
	struct ktop_wire_event wire;
	uint64_t count = 0;

	for (size_t at = sizeof(struct ktop_wire_packet); at + sizeof(wire) <= packet->size;
			at += sizeof(wire) + wire.size, count++)
		memcpy(&wire, packet->bytes + at, sizeof(wire));
	return count;
}

bool metadata_packet(struct metadata *metadata, const struct packet *packet)
{
	struct ktop_wire_event wire;
	bool changed = false;

	for (size_t at = sizeof(struct ktop_wire_packet);
			at + sizeof(wire) <= packet->size && metadata->changes < CHANGES_MAX;
			at += sizeof(wire) + wire.size) {
		memcpy(&wire, packet->bytes + at, sizeof(wire));
		changed |= packet->stream == STREAM_META &&
			metadata_take(metadata, wire.id, packet->bytes + at + sizeof(wire), wire.size);
		changed |= take_id(metadata, packet->stream, wire.id);
	}
	metadata->changes += changed;
	if (changed && metadata->changes == CHANGES_MAX)
		memset(metadata->seen, 0xff, sizeof(metadata->seen));
	return changed;
}

/* ---- the text ---- */

/* The name of a type that write_types() defines. Elements of a list of u64 are addresses. */
static const char *type_name(const struct field *field)
{
	static const char *const names[] = {
		[FIELD_U8] = "u8", [FIELD_U16] = "u16", [FIELD_U32] = "u32", [FIELD_U64] = "u64",
		[FIELD_S8] = "s8", [FIELD_S16] = "s16", [FIELD_S32] = "s32", [FIELD_S64] = "s64",
		[FIELD_CHAR] = "text",
	};

	return field->list && field->type == FIELD_U64 ? "address" : names[field->type];
}

/*
 * A field's name gets a '_' in front, which CTF readers take off again. So no name can be a keyword. The
 * length of list `x` is called `__x_length`; no field can have that name.
 */
static void write_field(const struct field *field, FILE *to)
{
	if (field->list)
		fprintf(to, "\t\tu16 __%s_length;\n\t\t%s _%s[__%s_length];\n",
			field->name, type_name(field), field->name, field->name);
	else
		fprintf(to, "\t\t%s _%s;\n", type_name(field), field->name);
}

static void write_event(const struct descriptor *descriptor, FILE *to)
{
	struct field fields[FIELDS_MAX];
	int count = fields_parse(descriptor->fields, fields);

	fprintf(to, "event {\n\tid = %u;\n\tstream_id = %u;\n", descriptor->id, descriptor->stream);
	if (fields_is_name(descriptor->name, strlen(descriptor->name)))
		fprintf(to, "\tname = \"%s\";\n", descriptor->name);
	else
		fprintf(to, "\tname = \"event_%u\";\n", descriptor->id);
	fprintf(to, "\tfields := struct {\n");
	for (int i = 0; i < count; i++)
		write_field(&fields[i], to);
	if (count < 0)
		fprintf(to, "\t\tu8 _bytes[stream.event.context.size];\n");
	fprintf(to, "\t};\n};\n\n");
}

static void write_events(const struct metadata *metadata, FILE *to)
{
#define TABLE_ROW(number, belongs, called) \
	{ number, belongs, (char[]) { #called }, (char[]) { KTOP_WIRE_FIELDS(called) } },
	const struct descriptor table[] = { KTOP_WIRE_EVENTS(TABLE_ROW) };
	const size_t table_count = sizeof(table) / sizeof(table[0]);
	struct metadata described = { 0 };

	for (size_t i = 0; i < metadata->count + table_count; i++) {
		bool sent = i < metadata->count;
		const struct descriptor *descriptor = sent ?
			&metadata->descriptors[i] : &table[i - metadata->count];
		uint8_t *byte = &described.seen[descriptor->stream][descriptor->id / 8];
		uint8_t bit = (uint8_t)(1u << descriptor->id % 8);

		if (!(*byte & bit))
			write_event(descriptor, to);
		*byte |= bit;
	}
	for (uint32_t i = 0; i < STREAMS * IDS; i++) {
		struct descriptor descriptor = { .stream = i / IDS, .id = (uint16_t)i, .name = (char[]) { "" },
			.fields = (char[]) { "?" } };
		unsigned byte = metadata->seen[descriptor.stream][descriptor.id / 8] &
			~described.seen[descriptor.stream][descriptor.id / 8];

		if (byte >> descriptor.id % 8 & 1)
			write_event(&descriptor, to);
	}
}

static void write_clock(const struct metadata *metadata, FILE *to)
{
	bool known = metadata->clock_hz > 0 && metadata->clock_hz <= clock_hz_max;
	uint64_t hz = known ? metadata->clock_hz : EVENT_CLOCK_HZ;
	uint64_t epoch = metadata->epoch_ns < epoch_ns_max ? metadata->epoch_ns : 0;

	fprintf(to, "clock {\n\tname = guest;\n\tfreq = %llu;\n\toffset_s = %llu;\n\toffset = %llu;\n"
		"\tabsolute = true;\n};\n\n", (unsigned long long)hz,
		(unsigned long long)(epoch / NS_PER_SECOND),
		(unsigned long long)(epoch % NS_PER_SECOND * hz / NS_PER_SECOND));
}

static void write_trace(const uint8_t *boot_id, FILE *to)
{
	fprintf(to, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n\tuuid = \"");
	for (int i = 0; i < KTOP_BOOT_ID; i++)
		fprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", boot_id[i]);
	fprintf(to, "\";\n"
		"\tpacket.header := struct {\n"
		"\t\tu32 magic;\n"
		"\t\tu8 uuid[16];\n"
		"\t\tu32 stream_id;\n"
		"\t};\n"
		"};\n\n");
}

static void write_stream(unsigned id, FILE *to)
{
	fprintf(to, "stream {\n"
		"\tid = %u;\n"
		"\tpacket.context := struct {\n"
		"\t\tclock_u64 timestamp_begin;\n"
		"\t\tclock_u64 timestamp_end;\n"
		"\t\tu64 content_size;\n"
		"\t\tu64 packet_size;\n"
		"\t\tu64 packet_seq_num;\n"
		"\t\tu64 events_discarded;\n"
		"\t\tu64 events_before;\n"
		"\t\tu32 cpu_id;\n"
		"\t};\n"
		"\tevent.header := struct {\n"
		"\t\tclock_u32 timestamp;\n"
		"\t\tu16 id;\n"
		"\t};\n"
		"\tevent.context := struct {\n"
		"\t\tu16 size;\n"
		"\t};\n"
		"};\n\n", id);
}

static void write_integer(const char *name, int bits, const char *more, FILE *to)
{
	fprintf(to, "typealias integer { size = %d; align = 8; %s } := %s;\n", bits, more, name);
}

static void write_types(FILE *to)
{
	write_integer("u8", 8, "signed = false;", to);
	write_integer("u16", 16, "signed = false;", to);
	write_integer("u32", 32, "signed = false;", to);
	write_integer("u64", 64, "signed = false;", to);
	write_integer("s8", 8, "signed = true;", to);
	write_integer("s16", 16, "signed = true;", to);
	write_integer("s32", 32, "signed = true;", to);
	write_integer("s64", 64, "signed = true;", to);
	write_integer("address", 64, "signed = false; base = 16;", to);
	write_integer("text", 8, "signed = false; encoding = UTF8;", to);
}

/* One fact in a line of its own. A text that would need escapes in CTF is left out. */
static void write_fact(const char *name, const char *text, FILE *to)
{
	if (!text || !text[0])
		return;
	for (const char *at = text; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			return;
	fprintf(to, "\t%s = \"%s\";\n", name, text);
}

/* See metadata.h. */
static void write_said(size_t number, const struct said *said, FILE *to)
{
	fprintf(to, "\t" METADATA_SAID "%zu = \"%04x", number, said->id);
	for (size_t i = 0; i < said->size; i++)
		fprintf(to, "%02x", said->payload[i]);
	fprintf(to, "\";\n");
}

static void write_environment(const struct metadata *metadata, FILE *to)
{
	fprintf(to, "env {\n\ttracer_name = \"ktop\";\n");
	write_fact(METADATA_NAME, metadata->name, to);
	write_fact(METADATA_KERNEL, metadata->kernel, to);
	for (size_t i = 0; i < metadata->said_count; i++)
		write_said(i, &metadata->said[i], to);
	fprintf(to, "};\n\n");
}

void metadata_write(const struct metadata *metadata, const uint8_t *boot_id, FILE *to)
{
	fprintf(to, "/* CTF 1.8 */\n\n");	/* CTF 1.8.3, section 7 wants exactly these bytes */
	write_types(to);
	fprintf(to, "\n");
	write_trace(boot_id, to);
	write_environment(metadata, to);
	write_clock(metadata, to);
	write_integer("clock_u32", 32, "signed = false; map = clock.guest.value;", to);
	write_integer("clock_u64", 64, "signed = false; map = clock.guest.value;", to);
	fprintf(to, "\n");
	for (unsigned i = 0; i < STREAMS; i++)
		write_stream(i, to);
	write_events(metadata, to);
	fprintf(to, METADATA_END);
}

/* ---- its text ---- */

enum { TEXT_MAX = 1 << 20 };

char *metadata_text_read(int folder)
{
	int fd = util_file_read(folder, "metadata", O_NOFOLLOW, NULL);
	char *text = fd >= 0 ? util_alloc(TEXT_MAX + 1) : NULL;
	ssize_t got = fd >= 0 ? read(fd, text, TEXT_MAX) : 0;

	if (fd >= 0)
		close(fd);
	if (got > 0)
		return text;
	free(text);
	return NULL;
}

struct line {				/* NAME = "VALUE"; of the block of facts */
	const char *name, *value;
	size_t name_size, size;
};

/* The first line of the block of facts. NULL: the text has none. */
static const char *lines_of(const char *text)
{
	static const char begin[] = "\nenv {\n";
	const char *env = strstr(text, begin);

	return env ? env + strlen(begin) : NULL;
}

/* Reads the line at `*at`, and moves `*at` behind it. False: the block ends here, or was cut. */
static bool next_line(const char **at, struct line *line)
{
	static const char middle[] = " = \"", last[] = "\";";
	const char *end = strchr(*at, '\n'), *value;

	if (**at != '\t' || !end)
		return false;
	line->name = *at + 1;
	*at = end + 1;
	value = memmem(line->name, (size_t)(end - line->name), middle, strlen(middle));
	if (!value)
		return false;
	line->name_size = (size_t)(value - line->name);
	line->value = value + strlen(middle);
	line->size = (size_t)(end - line->value);
	if (line->size < strlen(last) || memcmp(end - strlen(last), last, strlen(last)) != 0)
		return false;
	line->size -= strlen(last);
	return true;
}

char *metadata_text_fact(const char *text, const char *name)
{
	const char *at = lines_of(text);
	struct line line;

	while (at && next_line(&at, &line))
		if (line.name_size == strlen(name) && memcmp(line.name, name, line.name_size) == 0)
			return util_copy(line.value, line.size);
	return NULL;
}

static int digit_of(char digit)
{
	return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads so many bytes of hex. False: there is something else. */
static bool read_hex(const char *digits, size_t bytes, uint8_t *to)
{
	for (size_t i = 0; i < bytes; i++) {
		int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (uint8_t)(16 * high + low);
	}
	return true;
}

/* The value has the event's id in its first four digits, the highest first, and then the payload. */
static bool read_said(const struct line *line, struct metadata_said *said)
{
	uint8_t id[2];

	if (line->name_size < strlen(METADATA_SAID) ||
			memcmp(line->name, METADATA_SAID, strlen(METADATA_SAID)) != 0 ||
			line->size % 2 || line->size < 4 || line->size - 4 > 2 * METADATA_SAID_MAX)
		return false;
	said->size = (uint16_t)(line->size / 2 - sizeof(id));
	if (!read_hex(line->value, sizeof(id), id) || !read_hex(line->value + 4, said->size, said->payload))
		return false;
	said->id = (uint16_t)(id[0] << 8 | id[1]);
	return true;
}

bool metadata_text_said(const char *text, const char **at, struct metadata_said *said)
{
	struct line line;

	if (!*at)
		*at = lines_of(text);
	while (*at && next_line(at, &line))
		if (read_said(&line, said))
			return true;
	return false;
}
