/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/string.h"
#include "program.h"
#include "space.h"

/* System V ABI, generic part, chapters 4 and 5: as much as static x86-64 programs need. */
struct elf_header {
	uint8_t magic[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t size, segment_size, segment_count;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

struct elf_note {
	uint32_t name_size, size, type;
};

enum { SEGMENT_LOAD = 1, SEGMENT_NOTE = 4, NOTE_BUILD_ID = 3 };

const struct program *program_find(const char *name)
{
	for (uint32_t i = 0; i < program_count; i++) {
		if (text_same(programs[i].name, name))
			return &programs[i];
	}
	return NULL;
}

/* Adds pages for a segment. Two segments may share a page, which is then there already. False: no memory. */
static bool add_pages(uint64_t space, uint64_t start, uint64_t end)
{
	for (uint64_t at = start & -(uint64_t)PAGE_SIZE; at < end; at += PAGE_SIZE) {
		void *page;

		if (space_find(space, at) != NULL)
			continue;
		page = page_alloc_clear();
		if (page == NULL)
			return false;
		if (!space_map(space, at, page)) {
			page_free(page, 0);
			return false;
		}
	}
	return true;
}

static bool load_segment(const struct program *program, uint64_t space,
	const struct elf_segment *segment)
{
	return add_pages(space, segment->address, segment->address + segment->memory_size) &&
		space_write(space, segment->address, program->image + segment->offset,
			segment->file_size);
}

static uint32_t align4(uint32_t size)
{
	return (size + 3) & ~3u;
}

static void find_build_id(const uint8_t *at, const uint8_t *end, struct program_facts *facts)
{
	struct elf_note note;

	while (at + sizeof(note) <= end) {
		memcpy(&note, at, sizeof(note));
		at += sizeof(note) + align4(note.name_size);
		if (note.type == NOTE_BUILD_ID) {
			facts->build_id = at;
			facts->build_id_size = note.size;
		}
		at += align4(note.size);
	}
}

bool program_load(const struct program *program, uint64_t space, struct program_facts *facts)
{
	const struct elf_header *header = (const void *)program->image;
	const struct elf_segment *segment = (const void *)(program->image + header->segments);

	*facts = (struct program_facts) { .entry = header->entry, .start = UINT64_MAX };
	if (memcmp(header->magic, "\x7f" "ELF\x02", 5) != 0)
		return false;
	for (uint32_t i = 0; i < header->segment_count; i++, segment++) {
		const uint8_t *bytes = program->image + segment->offset;

		if (segment->type == SEGMENT_NOTE)
			find_build_id(bytes, bytes + segment->file_size, facts);
		if (segment->type != SEGMENT_LOAD)
			continue;
		if (!load_segment(program, space, segment))
			return false;
		if (segment->address < facts->start)
			facts->start = segment->address;
		if (segment->address + segment->memory_size > facts->end)
			facts->end = segment->address + segment->memory_size;
	}
	return true;
}
