/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "qmp_memory.h"

enum { WORDS = QMP_PAGE / sizeof(uint64_t) };

#define FOUND "gpa: "			/* QEMU's answer to gva2gpa, before the address */

static struct qmp_memory *of(struct qmp_talk *talk)
{
	return (struct qmp_memory *)talk;
}

/* Takes over the line. */
static void command(struct qmp_talk *talk, char *line, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "command-line", line);
	cJSON_AddNumberToObject(arguments, "cpu-index", of(talk)->cpu);
	talk_ask(talk, "human-monitor-command", arguments, -1, take);
	free(line);
}

static const char *said(const cJSON *answer)
{
	return cJSON_IsString(answer) ? answer->valuestring : "";
}

/* Lines of "ADDRESS: WORD WORD". All words of the page, or it is not there. */
static bool take_words(const char *text, uint8_t bytes[QMP_PAGE])
{
	size_t count = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line + strcspn(line, ":\n");
		char *end;

		while (*at == ':' || *at == ' ') {
			uint64_t word = strtoull(++at, &end, 16);

			if (end == at)
				break;
			if (count == WORDS)
				return false;
			memcpy(bytes + count++ * sizeof(word), &word, sizeof(word));
			at = end;
		}
	}
	return count == WORDS;
}

static void take_page(struct qmp_talk *talk, const cJSON *answer)
{
	of(talk)->there = take_words(said(answer), of(talk)->bytes);
	talk_end(talk);
}

static void find(struct qmp_talk *talk);

static void take_place(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_memory *memory = of(talk);
	const char *text = said(answer);
	bool found = strncmp(text, FOUND, strlen(FOUND)) == 0;

	if (found)
		memory->physical = strtoull(text + strlen(FOUND), NULL, 16);
	if (found && memory->physical % QMP_PAGE == 0 && ram_map_has(&memory->map, memory->physical, QMP_PAGE)) {
		command(talk, util_format("xp /%dxg 0x%" PRIx64, (int)WORDS, memory->physical), take_page);
	} else if (++memory->cpu < memory->cpus) {
		find(talk);
	} else {
		talk_end(talk);
	}
}

static void find(struct qmp_talk *talk)
{
	command(talk, util_format("gva2gpa 0x%" PRIx64, of(talk)->address), take_place);
}

static void take_map(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_memory *memory = of(talk);
	const char *text = said(answer);

	memory->map = (struct ram_map) { .count = 0 };
	ram_map_take(&memory->map, text, strlen(text));
	ram_map_take(&memory->map, "\n", 1);
	ram_map_finish(&memory->map, "x86_64");
	memory->mapped = memory->map.count;
	if (memory->mapped)
		find(talk);
	else
		talk_end(talk);
}

void memory_begin(struct qmp_memory *memory, struct qmp *qmp, uint32_t cpus, uint64_t address, uint64_t now,
	int timeout_ms)
{
	memory->there = false;
	memory->address = address;
	memory->cpu = 0;
	memory->cpus = cpus < QMP_MEMORY_CPUS ? cpus : QMP_MEMORY_CPUS;
	talk_begin(&memory->talk, qmp, now, timeout_ms);
	if (memory->mapped)
		find(&memory->talk);
	else
		command(&memory->talk, util_format(RAM_MAP_COMMAND), take_map);
}

void memory_clear(struct qmp_memory *memory)
{
	talk_clear(&memory->talk);
}
