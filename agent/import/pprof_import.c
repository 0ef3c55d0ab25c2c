/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/writing/pprof_comments.h"
#include "agent/samples/sample_set.h"
#include "set_import.h"
#include "pprof_tables.h"

enum {
	LINES_MOST = 256,		/* functions at one location */
	NAME_MOST = 4096,		/* bytes of an object's name; a longer one is cut */
};
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum location_field { LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER };

#define UPPER_HALF (UINT64_C(1) << 63)	/* where kernels are */

struct reading {
	struct sample_set *set;
	struct pprof_tables tables;
	const char *bytes;
	size_t size;
	uint32_t chosen, counting, periods;	/* kinds of values, below; PPROF_TYPES: none */
	uint64_t scale;			/* ns of one chosen value; 0: it is no time */
	bool others;			/* a value of another kind is more than 0 */
	struct set_line lines[LINES_MOST];
	uint32_t path[IMPORT_DEPTH];	/* a sample's locations in the set, the leaf first */
	char **error;
};

/* ---- what ktop has told in comments ---- */

/* What stands text_behind the key; NULL: it is another comment. */
static const char *text_behind(const char *comment, const char *key)
{
	size_t size = strlen(key);

	return strncmp(comment, key, size) == 0 ? comment + size : NULL;
}

/* "from-to" */
static void take_told_range(struct set_facts *facts, const char *text)
{
	char *end;
	uint64_t from = strtoull(text, &end, 10), to = *end == '-' ? strtoull(end + 1, &end, 10) : 0;

	if (*end || from >= to)
		return;
	facts->from = from;
	facts->to = to;
}

/* "id: name" */
static void take_told_name(const struct pprof_tables *tables, const char *text)
{
	char *end;
	struct pprof_mapping *mapping = pprof_tables_mapping(tables, strtoull(text, &end, 10));

	if (mapping && end[0] == ':' && end[1] == ' ' && end[2])
		mapping->name = end + 2;
}

static void take_comment(const struct pprof_tables *tables, struct set_facts *facts, const char *comment)
{
	const char *text;

	if ((text = text_behind(comment, PPROF_COMMENT_MACHINE)))
		facts->machine = text;
	else if ((text = text_behind(comment, PPROF_COMMENT_KERNEL)))
		facts->kernel = text;
	else if ((text = text_behind(comment, PPROF_COMMENT_VERSION)))
		facts->version = text;
	else if ((text = text_behind(comment, PPROF_COMMENT_ARCH)))
		facts->arch = text;
	else if ((text = text_behind(comment, PPROF_COMMENT_RANGE)))
		take_told_range(facts, text);
	else if ((text = text_behind(comment, PPROF_COMMENT_LOST)))
		facts->lost = strtoull(text, NULL, 10);
	else if ((text = text_behind(comment, PPROF_COMMENT_MAPPING)))
		take_told_name(tables, text);
}

/*
 * Tells the set what the comments say that ktop has written (pprof_comments.h), and mappings their names. Others say
 * nothing. False with `error` set; without it there is no memory.
 */
static bool take_comments(const struct pprof_tables *tables, struct sample_set *set, char **error)
{
	struct set_facts facts = { .machine = "", .kernel = "", .version = "", .arch = "" };

	for (uint32_t i = 0; i < tables->comment_count; i++) {
		const char *comment = pprof_tables_text(tables, tables->comments[i]);

		if (!comment)
			return util_fail(error, "%s", pprof_no_profile);
		take_comment(tables, &facts, comment);
	}
	return sample_set_tell(set, &facts);
}

/* ---- the profile ---- */

static bool no_profile(const struct reading *reading)
{
	return util_fail(reading->error, "%s", pprof_no_profile);
}

/* What a number leads to has to be there. */
static bool is_there(const struct reading *reading, const void *found, const char *what)
{
	if (found)
		return true;
	return util_fail(reading->error, "it names a %s that is not in it; give the whole file, as it was written",
		what);
}

/* ---- mappings, locations ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Objects are known by their names. The texts are there. */
static const char *name_of(const struct reading *reading, const struct pprof_mapping *mapping)
{
	return mapping->name ? mapping->name : last_part(pprof_tables_text(&reading->tables, mapping->file));
}

static bool add_objects(struct reading *reading)
{
	for (uint32_t i = 0; i < reading->tables.mapping_count; i++) {
		struct pprof_mapping *mapping = &reading->tables.mappings[i];
		const char *file = pprof_tables_text(&reading->tables, mapping->file);
		const char *build_id = pprof_tables_text(&reading->tables, mapping->build_id);

		if (!is_there(reading, file, "text") || !is_there(reading, build_id, "text"))
			return false;
		mapping->object = sample_set_object(reading->set, &(struct set_object) {
			.name = name_of(reading, mapping), .path = strchr(file, '/') ? file : "", .build_id = build_id,
			.start = mapping->start, .end = mapping->end, .offset = mapping->offset,
		});
	}
	return true;
}

static enum set_kind kind_of(const char *name, uint64_t address)
{
	if (strcmp(name, "[idle]") == 0)
		return SET_IDLE;
	return !address ? SET_UNKNOWN : address >= UPPER_HALF ? SET_KERNEL : SET_USER;
}

/* What has no name of its own has that of its object, as go tool pprof says it; without an object it is unknown. */
static uint32_t nameless(struct reading *reading, const char *object, uint64_t address)
{
	char name[NAME_MOST];

	util_print(name, sizeof(name), "[%s]", *object ? object : "unknown");
	return sample_set_function(reading->set, &(struct set_function) {
		.name = name, .object = object, .file = "", .kind = kind_of("", address),
	});
}

/* SET_NONE: its texts are not there. */
static uint32_t function_of(struct reading *reading, const struct pprof_function *function, const char *object,
	uint64_t address)
{
	const char *name = pprof_tables_text(&reading->tables, function->name);
	const char *file = pprof_tables_text(&reading->tables, function->file);

	if (!is_there(reading, name, "text") || !is_there(reading, file, "text"))
		return SET_NONE;
	if (!*name && !*file)
		return nameless(reading, object, address);
	return sample_set_function(reading->set, &(struct set_function) {
		.name = *name ? name : "[unknown]", .object = object, .file = file, .line = (uint32_t)function->line,
		.kind = kind_of(name, address),
	});
}

static bool read_line(struct reading *reading, const struct protobuf_field *message, const char *object,
	uint64_t address, struct set_line *line)
{
	struct protobuf_reader reader = protobuf_reader_of(message->bytes, message->size);
	struct protobuf_field field;
	const struct pprof_function *function;
	uint64_t id = 0;

	line->line = 0;
	while (protobuf_reader_next(&reader, &field))
		if (field.number == LINE_FUNCTION && !field.bytes)
			id = field.value;
		else if (field.number == LINE_NUMBER && !field.bytes)
			line->line = (uint32_t)field.value;
	if (reader.bad)
		return no_profile(reading);
	function = pprof_tables_function(&reading->tables, id);
	if (!is_there(reading, function, "function"))
		return false;
	line->function = function_of(reading, function, object, address);
	return line->function != SET_NONE;
}

/* Its functions, the innermost first. False: a line is none, or there are too many. */
static bool read_lines(struct reading *reading, const struct pprof_location *location, const char *object,
	uint32_t *count)
{
	struct protobuf_reader reader = protobuf_reader_of(location->bytes, location->size);
	struct protobuf_field field;

	*count = 0;
	while (protobuf_reader_next(&reader, &field)) {
		if (field.number != LOCATION_LINE || !field.bytes)
			continue;
		if (*count == LINES_MOST)
			return util_fail(reading->error, "it has more than %d functions at one address; "
				"give a profile with fewer inlined ones", LINES_MOST);
		if (!read_line(reading, &field, object, location->address, &reading->lines[(*count)++]))
			return false;
	}
	if (!*count)
		reading->lines[(*count)++] = (struct set_line) {
			.function = nameless(reading, object, location->address),
		};
	return true;
}

static bool add_location(struct reading *reading, struct pprof_location *location)
{
	const struct pprof_mapping *mapping = NULL;
	const char *object = "";
	uint32_t count;

	if (location->mapping) {
		mapping = pprof_tables_mapping(&reading->tables, location->mapping);
		if (!is_there(reading, mapping, "mapping"))
			return false;
		object = name_of(reading, mapping);
	}
	if (!read_lines(reading, location, object, &count))
		return false;
	location->location = sample_set_location(reading->set, location->address,
		mapping ? mapping->object : SET_NONE, reading->lines, count);
	return true;
}

static bool add_locations(struct reading *reading)
{
	bool good = true;

	for (uint32_t i = 0; good && i < reading->tables.location_count; i++)
		good = add_location(reading, &reading->tables.locations[i]) && !sample_set_is_full(reading->set);
	return good;
}

/* ---- what is counted ---- */

/* Nanoseconds of a unit; 0: it is no time. */
static uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "nanoseconds", 1 }, { "ns", 1 }, { "microseconds", 1000 }, { "us", 1000 },
		{ "milliseconds", NS_PER_MS }, { "ms", NS_PER_MS },
		{ "seconds", NS_PER_SECOND }, { "s", NS_PER_SECOND },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ns;
	return 0;
}

static bool check_types(const struct reading *reading)
{
	const struct pprof_tables *tables = &reading->tables;

	for (uint32_t i = 0; i < tables->type_count; i++)
		if (!is_there(reading, pprof_tables_text(tables, tables->types[i].name), "text") ||
				!is_there(reading, pprof_tables_text(tables, tables->types[i].unit), "text"))
			return false;
	return is_there(reading, pprof_tables_text(tables, tables->default_type), "text");
}

static bool choose_types(struct reading *reading)
{
	const struct pprof_tables *tables = &reading->tables;
	const char *name;

	if (!check_types(reading))
		return false;
	name = pprof_tables_text(tables, tables->default_type);
	reading->chosen = tables->type_count - 1;
	reading->counting = reading->periods = PPROF_TYPES;
	for (uint32_t i = tables->type_count; *name && i-- > 0;)
		if (strcmp(pprof_tables_text(tables, tables->types[i].name), name) == 0)
			reading->chosen = i;
	for (uint32_t i = 0; i <= reading->chosen; i++)
		if (strcmp(pprof_tables_text(tables, tables->types[i].unit), "count") == 0)
			reading->counting = i;
	for (uint32_t i = 0; i < tables->type_count; i++)
		if (strcmp(pprof_tables_text(tables, tables->types[i].name), "periods") == 0)
			reading->periods = i;
	reading->scale = unit_ns(pprof_tables_text(tables, tables->types[reading->chosen].unit));
	return true;
}

/* ---- samples ---- */

struct values {
	uint32_t seen;
	uint64_t any;			/* not 0: one of them is not */
	uint64_t chosen;		/* of the default kind */
	uint64_t counting;		/* samples */
	uint64_t periods;		/* the weight of a sample of ktop's */
};

static void take_value(const struct reading *reading, struct values *values, uint64_t value)
{
	values->any |= value;
	if (values->seen == reading->chosen)
		values->chosen = value;
	if (values->seen == reading->counting)
		values->counting = value;
	if (values->seen == reading->periods)
		values->periods = value;
	values->seen++;
}

/* Lists are packed, or a field for each number. */
static bool each_number(struct reading *reading, const struct protobuf_field *field, void *context,
	bool (*take)(struct reading *reading, void *context, uint64_t number))
{
	struct protobuf_reader list = protobuf_reader_of(field->bytes, field->size);
	uint64_t number;

	if (!field->bytes)
		return take(reading, context, field->value);
	while (protobuf_reader_number(&list, &number))
		if (!take(reading, context, number))
			return false;
	return !list.bad || no_profile(reading);
}

static bool add_value(struct reading *reading, void *context, uint64_t number)
{
	take_value(reading, context, number);
	return true;
}

struct path {
	uint32_t count;
	bool cut;
};

static bool add_to_path(struct reading *reading, void *context, uint64_t number)
{
	const struct pprof_location *location = pprof_tables_location(&reading->tables, number);
	struct path *path = context;

	if (!is_there(reading, location, "location"))
		return false;
	if (path->count == IMPORT_DEPTH)
		path->cut = true;
	else
		reading->path[path->count++] = location->location;
	return true;
}

static uint32_t stack_of(struct reading *reading, const struct path *path)
{
	uint32_t stack = SET_NONE;
	bool cut = path->cut;

	for (uint32_t i = path->count; i-- > 0; cut = false)
		stack = sample_set_stack(reading->set, stack, reading->path[i], cut);
	if (path->count)
		return stack;
	reading->lines[0] = (struct set_line) {
		.function = sample_set_function(reading->set, &(struct set_function) {
			.name = "[no stack]", .object = "", .file = "", .kind = SET_UNKNOWN,
		}),
	};
	return sample_set_stack(reading->set, SET_NONE,
		sample_set_location(reading->set, 0, SET_NONE, reading->lines, 1), false);
}

/* The guest's numbers are texts in ktop's files, and may be numbers in others'. */
struct label {
	const char *text;
	uint64_t number;
};

static uint32_t number_of(const struct label *label)
{
	uint64_t number = 0;

	if (!*label->text)
		return label->number < SET_NONE ? (uint32_t)label->number : SET_NONE;
	for (const char *at = label->text; *at; at++) {
		if (*at < '0' || *at > '9' || number >= SET_NONE / 10)
			return SET_NONE;
		number = number * 10 + (uint64_t)(*at - '0');
	}
	return (uint32_t)number;
}

static uint8_t mode_of(const char *text)
{
	for (uint8_t mode = 0; mode < SET_MODES; mode++)
		if (strcmp(sample_set_mode(mode), text) == 0)
			return mode;
	return 0;
}

struct who {
	uint32_t cpu;
	uint8_t mode;
	struct set_thread thread;
	bool threaded;
};

static void take_label(struct who *who, const char *key, const struct label *label)
{
	who->threaded = who->threaded || strncmp(key, "thread", 6) == 0 || strncmp(key, "process", 7) == 0;
	if (strcmp(key, "cpu") == 0)
		who->cpu = number_of(label);
	else if (strcmp(key, "mode") == 0)
		who->mode = mode_of(label->text);
	else if (strcmp(key, "thread") == 0)
		who->thread.name = label->text;
	else if (strcmp(key, "thread_id") == 0)
		who->thread.id = number_of(label);
	else if (strcmp(key, "process") == 0)
		who->thread.process_name = label->text;
	else if (strcmp(key, "process_id") == 0)
		who->thread.process = number_of(label);
}

static bool add_label(const struct reading *reading, struct who *who, const struct protobuf_field *message)
{
	struct protobuf_reader reader = protobuf_reader_of(message->bytes, message->size);
	struct label label = { .number = 0 };
	uint64_t key = 0, text = 0;
	struct protobuf_field field;

	while (protobuf_reader_next(&reader, &field))
		if (field.number == LABEL_KEY)
			key = field.value;
		else if (field.number == LABEL_TEXT)
			text = field.value;
		else if (field.number == LABEL_NUMBER)
			label.number = field.value;
	label.text = pprof_tables_text(&reading->tables, text);
	if (reader.bad)
		return no_profile(reading);
	if (!is_there(reading, label.text, "text") ||
			!is_there(reading, pprof_tables_text(&reading->tables, key), "text"))
		return false;
	take_label(who, pprof_tables_text(&reading->tables, key), &label);
	return true;
}

/* May this be added to a sum? */
static bool may_add(uint64_t sum, uint64_t more)
{
	return more <= INT64_MAX && sum <= INT64_MAX - more;
}

/* False with `error` set: the values are none of samples. */
static bool add_sum(struct reading *reading, const struct values *values, struct set_sum *sum)
{
	const struct sample_set *set = reading->set;

	if (values->chosen > INT64_MAX || values->counting > INT64_MAX || values->periods > INT64_MAX)
		return util_fail(reading->error, "a value of it is negative; "
			"give a profile of samples, not a difference of two");
	reading->others = reading->others || values->any;
	sum->weight = reading->periods == PPROF_TYPES ? values->chosen : values->periods;
	sum->samples = reading->counting == PPROF_TYPES ? sum->weight : values->counting;
	if (!may_add(set->weight, sum->weight) || !may_add(set->samples, sum->samples) ||
			(reading->scale && values->chosen > (INT64_MAX - set->ns) / reading->scale))
		return util_fail(reading->error, "its values are too large to add up; give a shorter profile");
	sum->ns = values->chosen * reading->scale;
	return (!sum->weight && !sum->samples) || sample_set_add(reading->set, sum) != SET_NONE;
}

static bool add_sample(struct reading *reading, const struct protobuf_field *message)
{
	struct protobuf_reader reader = protobuf_reader_of(message->bytes, message->size);
	struct values values = { .seen = 0 };
	struct path path = { .count = 0 };
	struct who who = {
		.cpu = SET_NONE, .thread = { .id = SET_NONE, .process = SET_NONE, .name = "", .process_name = "" },
	};
	struct set_sum sum = { .stack = SET_NONE };
	struct protobuf_field field;
	bool good = true;

	while (good && protobuf_reader_next(&reader, &field))
		switch (field.number) {
		case SAMPLE_LOCATIONS: good = each_number(reading, &field, &path, add_to_path); break;
		case SAMPLE_VALUES: good = each_number(reading, &field, &values, add_value); break;
		case SAMPLE_LABEL: good = !field.bytes || add_label(reading, &who, &field); break;
		default: break;
		}
	if (good && (reader.bad || values.seen != reading->tables.type_count))
		return no_profile(reading);
	if (!good)
		return false;
	sum.stack = stack_of(reading, &path);
	sum.who = (struct set_who) {
		.thread = who.threaded ? sample_set_thread(reading->set, &who.thread) : SET_NONE,
		.cpu = who.cpu, .mode = who.mode,
	};
	return !sample_set_is_full(reading->set) && add_sum(reading, &values, &sum);
}

/* ---- all of it ---- */

static bool add_samples(struct reading *reading)
{
	struct protobuf_reader reader = protobuf_reader_of(reading->bytes, reading->size);
	struct protobuf_field field;

	while (protobuf_reader_next(&reader, &field))
		if (field.number == PPROF_SAMPLE && field.bytes && !add_sample(reading, &field))
			return false;
	return true;
}

static bool has_samples(const struct reading *reading)
{
	if (reading->set->weight)
		return true;
	if (reading->others)
		return util_fail(reading->error, "all its values are 0 of the kind that go tool pprof shows at first, "
			"though not of its other kinds; give a profile in which that kind is more than 0");
	return util_fail(reading->error, "it has no samples; give a profile that has some");
}

static bool read_profile(struct reading *reading, struct budget *budget)
{
	return pprof_tables_read(&reading->tables, reading->bytes, reading->size, budget, reading->error) &&
		choose_types(reading) && take_comments(&reading->tables, reading->set, reading->error) &&
		add_objects(reading) && add_locations(reading) && add_samples(reading) &&
		has_samples(reading);
}

static bool read_pprof(struct sample_set *set, char *bytes, size_t size, struct budget *budget, char **error)
{
	struct reading *reading = budget_resize(budget, NULL, 0, sizeof(*reading));
	bool good;

	if (!reading)
		return false;
	*reading = (struct reading) { .set = set, .bytes = bytes, .size = size, .error = error };
	good = read_profile(reading, budget);
	pprof_tables_clear(&reading->tables);
	budget_free(budget, reading, sizeof(*reading));
	return good;
}

/* Its first text has to be empty, so it has a zero; no text has. It begins with a number or a message. */
static bool fits_pprof(const char *bytes, size_t size)
{
	unsigned char tag = size ? (unsigned char)bytes[0] : 0;

	return tag >= 8 && tag < 0x80 && ((tag & 7) == 0 || (tag & 7) == 2) && memchr(bytes, 0, size);
}

const struct set_import import_pprof = { .name = "pprof", .fits = fits_pprof, .read = read_pprof };
