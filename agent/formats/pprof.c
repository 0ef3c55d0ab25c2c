/* SPDX-License-Identifier: MIT */
/*
 * The profiles of pprof: a message of profile.proto, packed by gzip. Lists of the set become lists of the profile, in
 * their order; an id is an index plus 1. Texts have no list of their own in a set, so each thing has as many texts as
 * its kind needs, and the number of a text is known before it is written. What is written twice costs little, since it
 * is packed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <protobuf-c/protobuf-c.h>

#include "agent/base/util.h"
#include "agent/formats/writing/gzip_stream.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/pprof_comments.h"
#include "agent/formats/writing/profile.pb-c.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

/* The texts that are always there come first. Number 0 has to be empty. */
enum fixed_text {
	EMPTY, SAMPLES, COUNT, CPU, NANOSECONDS, THREAD, THREAD_ID, PROCESS, PROCESS_ID, MODE, PERIODS, OFF_CPU,
	FIRST_MODE,
};
static const char *const texts[FIRST_MODE] = {
	"", "samples", "count", "cpu", "nanoseconds", "thread", "thread_id", "process", "process_id", "mode",
	"periods", "off-cpu",
};
enum { OBJECT_TEXTS = 2, FUNCTION_TEXTS = 2, THREAD_TEXTS = 4 };	/* of each of them */
enum { LABELS = 6 };			/* of a sample, at most */

struct pprof {
	const struct sample_set *set;
	const struct set_writing *writing;
	struct cpu_list cpus;
	uint64_t first_object, first_function, first_thread, first_cpu, first_comment;	/* numbers of their texts */
	uint64_t comments;
	FILE *to;
	char *name;			/* the text that is being put; room for `name_room` bytes */
	size_t name_room;
	uint64_t *locations;		/* of a sample; room for `depth` */
	size_t depth;
	Pprof__Line *lines, **line_list;	/* of a location; room for `line_room` */
	size_t line_room;
};

/*
 * The file is a row of profiles, each with one thing in it. A reader of protocol buffers merges them to one, as their
 * encoding says ("Last One Wins"). So the file is never in memory as a whole.
 */
#define PIECE(...) (&(Pprof__Profile) { .base = PROTOBUF_C_MESSAGE_INIT(&pprof__profile__descriptor), __VA_ARGS__ })

struct stream {
	ProtobufCBuffer buffer;		/* comes first: append() gets its address */
	FILE *to;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	fwrite(bytes, 1, size, ((const struct stream *)buffer)->to);
}

static void put(const struct pprof *pprof, const Pprof__Profile *piece)
{
	struct stream stream = { .buffer = { .append = append }, .to = pprof->to };

	pprof__profile__pack_to_buffer(piece, &stream.buffer);
}

/* ---- texts ---- */

static void put_name(struct pprof *pprof, const char *name)
{
	size_t room = NAME_PIECE * strlen(name) + 1, at = 0;

	if (room > pprof->name_room) {
		pprof->name = util_grow(pprof->name, 2 * room, 1);
		pprof->name_room = 2 * room;
	}
	for (size_t size; (size = name_text_next(&name, "", pprof->name + at)); at += size)
		;
	pprof->name[at] = '\0';
	put(pprof, PIECE(.n_texts = 1, .texts = &pprof->name));
}

static void put_number(struct pprof *pprof, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%" PRIu32, number);
	put_name(pprof, number == SET_NONE ? "" : digits);
}

static void number_texts(struct pprof *pprof)
{
	const struct sample_set *set = pprof->set;

	pprof->first_object = FIRST_MODE + SET_MODES;
	pprof->first_function = pprof->first_object + (uint64_t)set->object_count * OBJECT_TEXTS;
	pprof->first_thread = pprof->first_function + (uint64_t)set->function_count * FUNCTION_TEXTS;
	pprof->first_cpu = pprof->first_thread + (uint64_t)set->thread_count * THREAD_TEXTS;
	pprof->first_comment = pprof->first_cpu + pprof->cpus.count;
}

static void put_texts(struct pprof *pprof)
{
	const struct sample_set *set = pprof->set;

	for (unsigned i = 0; i < FIRST_MODE; i++)
		put_name(pprof, texts[i]);
	for (unsigned i = 0; i < SET_MODES; i++)
		put_name(pprof, sample_set_mode((uint8_t)i));
	for (uint32_t i = 0; i < set->object_count; i++) {
		const struct set_object *object = &set->objects[i];

		put_name(pprof, *object->path ? object->path : object->name);
		put_name(pprof, object->build_id);
	}
	for (uint32_t i = 0; i < set->function_count; i++) {
		put_name(pprof, set->functions[i].name);
		put_name(pprof, set->functions[i].file);
	}
	for (uint32_t i = 0; i < set->thread_count; i++) {
		put_name(pprof, set->threads[i].name);
		put_number(pprof, set->threads[i].id);
		put_name(pprof, set->threads[i].process_name);
		put_number(pprof, set->threads[i].process);
	}
	for (uint32_t i = 0; i < pprof->cpus.count; i++)
		put_number(pprof, pprof->cpus.cpus[i]);
}

static void put_comment(struct pprof *pprof, const char *key, const char *text)
{
	char *whole = util_format("%s%s", key, text);

	if (*text) {
		int64_t comment = (int64_t)(pprof->first_comment + pprof->comments++);

		put_name(pprof, whole);
		put(pprof, PIECE(.n_comments = 1, .comments = &comment));
	}
	free(whole);
}

/* Objects that are not called as their file is. */
static void put_object_comments(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->object_count; i++) {
		const struct set_object *object = &pprof->set->objects[i];
		const char *slash = strrchr(object->path, '/');
		char *key = util_format("%s%" PRIu32 ": ", PPROF_COMMENT_MAPPING, i + 1);

		if (*object->path && strcmp(slash ? slash + 1 : object->path, object->name) != 0)
			put_comment(pprof, key, object->name);
		free(key);
	}
}

/* What else is known, as texts that pprof shows by -comments. They are the last ones. ktop reads them back. */
static void put_comments(struct pprof *pprof)
{
	const struct set_facts *facts = &pprof->set->facts;
	char *lost = util_format("%" PRIu64, facts->lost);
	char *range = util_format("%" PRIu64 "-%" PRIu64, facts->from, facts->to);

	put_comment(pprof, "", pprof->writing->title);
	put_comment(pprof, PPROF_COMMENT_MACHINE, facts->machine);
	put_comment(pprof, PPROF_COMMENT_KERNEL, facts->kernel);
	put_comment(pprof, PPROF_COMMENT_VERSION, facts->version);
	put_comment(pprof, PPROF_COMMENT_ARCH, facts->arch);
	if (facts->to) {
		put_comment(pprof, PPROF_COMMENT_RANGE, range);
		put_comment(pprof, PPROF_COMMENT_LOST, lost);
	}
	put_object_comments(pprof);
	free(lost);
	free(range);
}

/* ---- what was sampled, and where ---- */

#define VALUE_TYPE(NAME, UNIT) \
	{ .base = PROTOBUF_C_MESSAGE_INIT(&pprof__value_type__descriptor), .name = NAME, .unit = UNIT }

static void put_facts(struct pprof *pprof)
{
	const struct set_facts *facts = &pprof->set->facts;
	const enum fixed_text time = facts->off_cpu ? OFF_CPU : CPU;
	Pprof__ValueType types[] = {
		VALUE_TYPE(SAMPLES, COUNT), VALUE_TYPE(time, NANOSECONDS), VALUE_TYPE(PERIODS, COUNT),
	};

	put(pprof, PIECE(
		.n_sample_types = 3, .sample_types = (Pprof__ValueType *[]) { &types[0], &types[1], &types[2] },
		.period_type = &types[1], .period = (int64_t)facts->period,
		.time = (int64_t)(facts->began ? facts->began + facts->from : 0),
		.duration = (int64_t)(facts->to - facts->from),
		.default_sample_type = pprof->set->ns ? time : SAMPLES));
}

/* Mappings say that they have names, so that pprof looks for none in the files of this host. */
static void put_objects(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->object_count; i++) {
		const struct set_object *object = &pprof->set->objects[i];
		int64_t text = (int64_t)(pprof->first_object + (uint64_t)i * OBJECT_TEXTS);
		Pprof__Mapping mapping = {
			.base = PROTOBUF_C_MESSAGE_INIT(&pprof__mapping__descriptor),
			.id = (uint64_t)i + 1, .start = object->start, .end = object->end, .offset = object->offset,
			.file = text, .build_id = text + 1,
			.has_functions = true, .has_files = true, .has_lines = true, .has_inlined = true,
		};

		put(pprof, PIECE(.n_mappings = 1, .mappings = (Pprof__Mapping *[]) { &mapping }));
	}
}

/* Without a system name, which would make pprof take what is in <> and () away, and so merge functions. */
static void put_functions(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->function_count; i++) {
		int64_t text = (int64_t)(pprof->first_function + (uint64_t)i * FUNCTION_TEXTS);
		Pprof__Function function = {
			.base = PROTOBUF_C_MESSAGE_INIT(&pprof__function__descriptor),
			.id = (uint64_t)i + 1, .name = text, .file = text + 1, .line = pprof->set->functions[i].line,
		};

		put(pprof, PIECE(.n_functions = 1, .functions = (Pprof__Function *[]) { &function }));
	}
}

static void have_lines(struct pprof *pprof, uint32_t count)
{
	if (count <= pprof->line_room)
		return;
	pprof->line_room = 2 * (size_t)count;
	pprof->lines = util_grow(pprof->lines, pprof->line_room, sizeof(*pprof->lines));
	pprof->line_list = util_grow(pprof->line_list, pprof->line_room, sizeof(*pprof->line_list));
	for (size_t i = 0; i < pprof->line_room; i++)
		pprof->line_list[i] = &pprof->lines[i];
}

static void put_locations(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->location_count; i++) {
		const struct set_location *from = &pprof->set->locations[i];
		Pprof__Location location = {
			.base = PROTOBUF_C_MESSAGE_INIT(&pprof__location__descriptor),
			.id = (uint64_t)i + 1, .address = from->address,
			.mapping = from->object != SET_NONE ? (uint64_t)from->object + 1 : 0,
			.n_lines = from->count,
		};

		have_lines(pprof, from->count);
		for (uint32_t k = 0; k < from->count; k++) {
			const struct set_line *line = &pprof->set->lines[from->first + k];

			pprof->lines[k] = (Pprof__Line) {
				.base = PROTOBUF_C_MESSAGE_INIT(&pprof__line__descriptor),
				.function = (uint64_t)line->function + 1, .line = line->line,
			};
		}
		location.lines = pprof->line_list;
		put(pprof, PIECE(.n_locations = 1, .locations = (Pprof__Location *[]) { &location }));
	}
}

/* ---- samples ---- */

struct labels {
	Pprof__Label labels[LABELS], *list[LABELS];
	size_t count;
};

static void add_label(struct labels *labels, enum fixed_text key, uint64_t text)
{
	Pprof__Label *label = &labels->labels[labels->count];

	*label = (Pprof__Label) {
		.base = PROTOBUF_C_MESSAGE_INIT(&pprof__label__descriptor), .key = key, .value = (int64_t)text,
	};
	labels->list[labels->count++] = label;
}

static void add_labels(const struct pprof *pprof, const struct set_who *who, struct labels *labels)
{
	if (who->cpu != SET_NONE)
		add_label(labels, CPU, pprof->first_cpu + cpu_list_index(&pprof->cpus, who->cpu));
	add_label(labels, MODE, FIRST_MODE + who->mode);
	if (who->thread != SET_NONE) {
		const struct set_thread *thread = &pprof->set->threads[who->thread];
		uint64_t text = pprof->first_thread + (uint64_t)who->thread * THREAD_TEXTS;

		if (*thread->name)
			add_label(labels, THREAD, text);
		if (thread->id != SET_NONE)
			add_label(labels, THREAD_ID, text + 1);
		if (*thread->process_name)
			add_label(labels, PROCESS, text + 2);
		if (thread->process != SET_NONE)
			add_label(labels, PROCESS_ID, text + 3);
	}
}

/* The stack's locations. Returns how many. */
static size_t fill_locations(struct pprof *pprof, uint32_t stack)
{
	size_t count = 0;

	for (; stack != SET_NONE; stack = pprof->set->stacks[stack].parent) {
		if (count == pprof->depth) {
			pprof->depth = 2 * pprof->depth + 64;
			pprof->locations = util_grow(pprof->locations, pprof->depth, sizeof(*pprof->locations));
		}
		pprof->locations[count++] = (uint64_t)pprof->set->stacks[stack].location + 1;
	}
	return count;
}

static void put_sum(struct pprof *pprof, const struct set_sum *sum)
{
	int64_t values[] = { (int64_t)sum->samples, (int64_t)sum->ns, (int64_t)sum->weight };
	struct labels labels = { .count = 0 };
	Pprof__Sample sample = {
		.base = PROTOBUF_C_MESSAGE_INIT(&pprof__sample__descriptor),
		.n_locations = fill_locations(pprof, sum->stack), .n_values = 3, .values = values,
	};

	add_labels(pprof, &sum->who, &labels);
	sample.locations = pprof->locations;
	sample.n_labels = labels.count;
	sample.labels = labels.list;
	put(pprof, PIECE(.n_samples = 1, .samples = (Pprof__Sample *[]) { &sample }));
}

static void put_profile(struct pprof *pprof)
{
	const struct sample_set *set = pprof->set;

	number_texts(pprof);
	put_facts(pprof);
	put_texts(pprof);
	put_comments(pprof);
	put_objects(pprof);
	put_functions(pprof);
	put_locations(pprof);
	for (uint32_t i = 0; i < set->sum_count && !set_writing_step(pprof->writing, i, set->sum_count); i++)
		put_sum(pprof, &set->sums[i]);
}

static bool write_pprof(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct pprof pprof = { .set = set, .writing = writing, .to = gzip_stream_open(writing->to) };

	if (!pprof.to)
		return util_fail(error, "%s", sample_set_no_memory);
	cpu_list_init(&pprof.cpus, set);
	put_profile(&pprof);
	cpu_list_clear(&pprof.cpus);
	free(pprof.name);
	free(pprof.locations);
	free(pprof.lines);
	free(pprof.line_list);
	fclose(pprof.to);		/* where it fails, writing->to has failed */
	return true;
}

const struct set_format format_pprof = {
	.name = "pprof", .ending = ".pb.gz", .about = "profile for pprof (go tool pprof)", .lines = true,
	.write = write_pprof,
};
