/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "pprof.h"
#include "agent/formats/writing/cpu_list.h"
#include "agent/formats/writing/gzip_stream.h"
#include "agent/formats/writing/pprof_comments.h"
#include "agent/formats/writing/protobuf.h"

/* The numbers of fields in profile.proto, by the message that has them. */
enum profile_field {
	SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, TEXT, TIME = 9, DURATION, PERIOD_TYPE, PERIOD, COMMENT,
	DEFAULT_SAMPLE_TYPE,
};
enum type_field { TYPE_NAME = 1, TYPE_UNIT };
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_TEXT };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_END,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINED,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4, FUNCTION_LINE };

/* The texts that are always there come first. Number 0 has to be empty. */
enum fixed_text {
	EMPTY, SAMPLES, COUNT, CPU, NANOSECONDS, THREAD, THREAD_ID, PROCESS, PROCESS_ID, MODE, PERIODS, FIRST_MODE,
};
static const char *const texts[FIRST_MODE] = {
	"", "samples", "count", "cpu", "nanoseconds", "thread", "thread_id", "process", "process_id", "mode",
	"periods",
};
enum { OBJECT_TEXTS = 2, FUNCTION_TEXTS = 2, THREAD_TEXTS = 4 };	/* of each of them */

struct pprof {
	const struct sample_set *set;
	const struct set_writing *writing;
	FILE *to;
	struct cpu_list cpus;
	struct protobuf message, inner, list;
	uint64_t first_object, first_function, first_thread, first_cpu, first_comment;	/* numbers of their texts */
	uint64_t comments;
};

/* ---- texts ---- */

static void put_name(struct pprof *pprof, const char *name)
{
	protobuf_name(&pprof->message, name);
	protobuf_write(pprof->to, TEXT, &pprof->message);
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
		put_name(pprof, whole);
		protobuf_element(&pprof->list, pprof->first_comment + pprof->comments++);
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
	if (pprof->list.size)
		protobuf_write(pprof->to, COMMENT, &pprof->list);
	free(lost);
	free(range);
}

/* ---- what was sampled, and where ---- */

static void put_type(struct pprof *pprof, unsigned field, enum fixed_text name, enum fixed_text unit)
{
	protobuf_number(&pprof->message, TYPE_NAME, name);
	protobuf_number(&pprof->message, TYPE_UNIT, unit);
	protobuf_write(pprof->to, field, &pprof->message);
}

/* A number of the profile itself. */
static void put_fact(struct pprof *pprof, unsigned field, uint64_t number)
{
	protobuf_number(&pprof->message, field, number);
	fwrite(pprof->message.bytes, 1, pprof->message.size, pprof->to);
	pprof->message.size = 0;
}

static void put_facts(struct pprof *pprof)
{
	const struct set_facts *facts = &pprof->set->facts;

	put_type(pprof, SAMPLE_TYPE, SAMPLES, COUNT);
	put_type(pprof, SAMPLE_TYPE, CPU, NANOSECONDS);
	put_type(pprof, SAMPLE_TYPE, PERIODS, COUNT);
	put_type(pprof, PERIOD_TYPE, CPU, NANOSECONDS);
	put_fact(pprof, PERIOD, facts->period);
	put_fact(pprof, TIME, facts->began ? facts->began + facts->from : 0);
	put_fact(pprof, DURATION, facts->to - facts->from);
	put_fact(pprof, DEFAULT_SAMPLE_TYPE, pprof->set->ns ? CPU : SAMPLES);
}

/* Mappings say that they have names, so that pprof looks for none in the files of this host. */
static void put_objects(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->object_count; i++) {
		const struct set_object *object = &pprof->set->objects[i];
		uint64_t text = pprof->first_object + (uint64_t)i * OBJECT_TEXTS;

		protobuf_number(&pprof->message, MAPPING_ID, (uint64_t)i + 1);
		protobuf_number(&pprof->message, MAPPING_START, object->start);
		protobuf_number(&pprof->message, MAPPING_END, object->end);
		protobuf_number(&pprof->message, MAPPING_OFFSET, object->offset);
		protobuf_number(&pprof->message, MAPPING_FILE, text);
		protobuf_number(&pprof->message, MAPPING_BUILD_ID, text + 1);
		for (unsigned has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINED; has++)
			protobuf_number(&pprof->message, has, 1);
		protobuf_write(pprof->to, MAPPING, &pprof->message);
	}
}

/* Without a system name, which would make pprof take what is in <> and () away, and so merge functions. */
static void put_functions(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->function_count; i++) {
		uint64_t text = pprof->first_function + (uint64_t)i * FUNCTION_TEXTS;

		protobuf_number(&pprof->message, FUNCTION_ID, (uint64_t)i + 1);
		protobuf_number(&pprof->message, FUNCTION_NAME, text);
		protobuf_number(&pprof->message, FUNCTION_FILE, text + 1);
		protobuf_number(&pprof->message, FUNCTION_LINE, pprof->set->functions[i].line);
		protobuf_write(pprof->to, FUNCTION, &pprof->message);
	}
}

static void put_locations(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->set->location_count; i++) {
		const struct set_location *location = &pprof->set->locations[i];

		protobuf_number(&pprof->message, LOCATION_ID, (uint64_t)i + 1);
		if (location->object != SET_NONE)
			protobuf_number(&pprof->message, LOCATION_MAPPING, (uint64_t)location->object + 1);
		protobuf_number(&pprof->message, LOCATION_ADDRESS, location->address);
		for (uint32_t k = 0; k < location->count; k++) {
			const struct set_line *line = &pprof->set->lines[location->first + k];

			pprof->inner.size = 0;
			protobuf_number(&pprof->inner, LINE_FUNCTION, (uint64_t)line->function + 1);
			protobuf_number(&pprof->inner, LINE_NUMBER, line->line);
			protobuf_message(&pprof->message, LOCATION_LINE, &pprof->inner);
		}
		protobuf_write(pprof->to, LOCATION, &pprof->message);
	}
}

/* ---- samples ---- */

static void add_label(struct pprof *pprof, enum fixed_text key, uint64_t text)
{
	pprof->inner.size = 0;
	protobuf_number(&pprof->inner, LABEL_KEY, key);
	protobuf_number(&pprof->inner, LABEL_TEXT, text);
	protobuf_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
}

static void add_labels(struct pprof *pprof, const struct set_who *who)
{
	if (who->cpu != SET_NONE)
		add_label(pprof, CPU, pprof->first_cpu + cpu_list_index(&pprof->cpus, who->cpu));
	add_label(pprof, MODE, FIRST_MODE + who->mode);
	if (who->thread != SET_NONE) {
		const struct set_thread *thread = &pprof->set->threads[who->thread];
		uint64_t text = pprof->first_thread + (uint64_t)who->thread * THREAD_TEXTS;

		if (*thread->name)
			add_label(pprof, THREAD, text);
		if (thread->id != SET_NONE)
			add_label(pprof, THREAD_ID, text + 1);
		if (*thread->process_name)
			add_label(pprof, PROCESS, text + 2);
		if (thread->process != SET_NONE)
			add_label(pprof, PROCESS_ID, text + 3);
	}
}

static void put_sum(struct pprof *pprof, const struct set_sum *sum)
{
	pprof->list.size = 0;
	for (uint32_t stack = sum->stack; stack != SET_NONE; stack = pprof->set->stacks[stack].parent)
		protobuf_element(&pprof->list, (uint64_t)pprof->set->stacks[stack].location + 1);
	protobuf_message(&pprof->message, SAMPLE_LOCATIONS, &pprof->list);
	pprof->list.size = 0;
	protobuf_element(&pprof->list, sum->samples);
	protobuf_element(&pprof->list, sum->ns);
	protobuf_element(&pprof->list, sum->weight);
	protobuf_message(&pprof->message, SAMPLE_VALUES, &pprof->list);
	pprof->list.size = 0;
	add_labels(pprof, &sum->who);
	protobuf_write(pprof->to, SAMPLE, &pprof->message);
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
	protobuf_clear(&pprof.message);
	protobuf_clear(&pprof.inner);
	protobuf_clear(&pprof.list);
	fclose(pprof.to);		/* where it fails, writing->to has failed */
	return true;
}

const struct set_format format_pprof = {
	.name = "pprof", .ending = ".pb.gz", .about = "profile for pprof (go tool pprof)", .lines = true,
	.write = write_pprof,
};
