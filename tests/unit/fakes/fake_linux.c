/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/base/util.h"
#include "fake_linux.h"

enum {
	BANNER_AT = 0x100, NOTES_AT = 0x200, NOTES_SIZE = 16 + FAKE_BUILD_ID_SIZE, RELOCATION_AT = 0x280,
	KALLSYMS_AT = 0x400, ELF_HEAD = 0x1000, SECTIONS = 6, TOKENS = 256,
	MERGED = 2, MERGED_FIRST = 0x80,	/* tokens of more than one character, and where they are */
};

static const char *const merged[MERGED] = { "exc_", "_de" };

struct memory {				/* grows as bytes are put behind `size` */
	uint8_t *bytes;
	size_t size, room;
	size_t word;
};

static void put(struct memory *memory, const void *bytes, size_t size)
{
	if (memory->size + size > memory->room) {
		memory->room = 2 * (memory->size + size);
		memory->bytes = util_grow(memory->bytes, memory->room, 1);
	}
	memcpy(memory->bytes + memory->size, bytes, size);
	memory->size += size;
}

static void put_number(struct memory *memory, uint64_t number, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	put(memory, bytes, size);
}

static void align(struct memory *memory)
{
	while (memory->size % memory->word)
		put_number(memory, 0, 1);
}

static void fill_to(struct memory *memory, size_t size)
{
	while (memory->size < size)
		put_number(memory, 0, 1);
}

/* ---- kallsyms ---- */

static void put_tokens(struct memory *memory)
{
	uint16_t places[TOKENS];
	size_t start;

	align(memory);
	start = memory->size;
	for (size_t i = 0; i < TOKENS; i++) {
		const char one[2] = { i < 0x7f ? (char)i : 0, 0 };
		const char *text = i >= MERGED_FIRST && i < MERGED_FIRST + MERGED ? merged[i - MERGED_FIRST] : one;

		places[i] = (uint16_t)(memory->size - start);
		put(memory, text, strlen(text) + 1);
	}
	align(memory);
	for (size_t i = 0; i < TOKENS; i++)
		put_number(memory, places[i], 2);
}

/* Writes type and name as codes. Returns how many. */
static size_t pack_name(const struct fake_symbol *symbol, uint8_t *codes)
{
	const char *at = symbol->name;
	size_t count = 0;

	codes[count++] = (uint8_t)symbol->type;
	while (*at) {
		size_t token = 0;

		while (token < MERGED && strncmp(at, merged[token], strlen(merged[token])) != 0)
			token++;
		codes[count++] = token < MERGED ? (uint8_t)(MERGED_FIRST + token) : (uint8_t)*at;
		at += token < MERGED ? strlen(merged[token]) : 1;
	}
	return count;
}

static void put_names(struct memory *memory, const struct fake_linux *fake)
{
	struct memory marks = { .word = memory->word };
	size_t start;

	align(memory);
	put_number(memory, fake->count, 4);
	align(memory);
	start = memory->size;
	for (size_t i = 0; i < fake->count; i++) {
		uint8_t codes[2048];
		size_t count = pack_name(&fake->symbols[i], codes);

		if (i % 256 == 0)
			put_number(&marks, memory->size - start, 4);
		if (count > 0x7f)
			put_number(memory, (count & 0x7f) | 0x80, 1);
		put_number(memory, count > 0x7f ? count >> 7 : count, 1);
		put(memory, codes, count);
	}
	align(memory);
	put(memory, marks.bytes, marks.size);
	free(marks.bytes);
}

static uint64_t offset_of(const struct fake_linux *fake, uint64_t address, uint64_t base)
{
	if (fake->kind == KALLSYMS_OFFSETS_PERCPU)
		return address < FAKE_PERCPU ? address : base - 1 - address;
	return address - base;
}

/* In an Image, the base is 0: the kernel's own start writes it, and a relocation tells it. */
static void put_addresses(struct memory *memory, const struct fake_linux *fake)
{
	uint64_t base = fake->start;

	align(memory);
	for (size_t i = 0; i < fake->count; i++) {
		if (fake->kind == KALLSYMS_WORDS)
			put_number(memory, fake->symbols[i].address, memory->word);
		else
			put_number(memory, offset_of(fake, fake->symbols[i].address, base), 4);
	}
	if (fake->kind == KALLSYMS_WORDS)
		return;
	align(memory);
	if (fake->shape == FAKE_IMAGE) {
		struct memory relocation = { .word = 8 };

		put_number(&relocation, fake->start + memory->size, 8);
		put_number(&relocation, 0x403, 8);
		put_number(&relocation, base, 8);
		memcpy(memory->bytes + RELOCATION_AT, relocation.bytes, relocation.size);
		free(relocation.bytes);
		base = 0;
	}
	put_number(memory, base, memory->word);
}

static void put_sequence(struct memory *memory, const struct fake_linux *fake)
{
	align(memory);
	for (size_t i = 0; i < fake->count; i++)
		put_number(memory, i * 7 % fake->count, 3);
}

static void put_kallsyms(struct memory *memory, const struct fake_linux *fake)
{
	if (fake->order != FAKE_6_4)
		put_addresses(memory, fake);
	put_names(memory, fake);
	if (fake->order == FAKE_6_2)
		put_sequence(memory, fake);
	put_tokens(memory);
	if (fake->order != FAKE_6_4)
		return;
	put_addresses(memory, fake);
	put_sequence(memory, fake);
}

/* ---- a kernel ---- */

static void put_notes(struct memory *memory)
{
	put_number(memory, 4, 4);
	put_number(memory, FAKE_BUILD_ID_SIZE, 4);
	put_number(memory, NT_GNU_BUILD_ID, 4);
	put(memory, ELF_NOTE_GNU, 4);
	for (unsigned i = 1; i <= FAKE_BUILD_ID_SIZE; i++)
		put_number(memory, i, 1);
}

static struct memory make_memory(const struct fake_linux *fake)
{
	struct memory memory = { .word = fake->shape == FAKE_ELF32 ? 4 : 8 };

	fill_to(&memory, BANNER_AT);
	put(&memory, FAKE_BANNER, sizeof(FAKE_BANNER));
	fill_to(&memory, NOTES_AT);
	put_notes(&memory);
	fill_to(&memory, KALLSYMS_AT);
	put_kallsyms(&memory, fake);
	for (size_t i = 0; i < fake->parts_count; i++) {
		fill_to(&memory, fake->parts[i].at);
		put(&memory, fake->parts[i].bytes, fake->parts[i].size);
	}
	if (fake->shape == FAKE_IMAGE)
		memcpy(memory.bytes + 0x38, "ARM\x64", 4);
	return memory;
}

static void put_section(struct memory *memory, size_t name, uint32_t type, uint64_t address, size_t offset, size_t size)
{
	size_t word = memory->word;

	put_number(memory, name, 4);
	put_number(memory, type, 4);
	put_number(memory, 0, word);
	put_number(memory, address, word);
	put_number(memory, offset, word);
	put_number(memory, size, word);
	put_number(memory, 0, 8);
	put_number(memory, 1, word);
	put_number(memory, 0, word);
}

static void put_sections(struct memory *memory, const struct fake_linux *fake, size_t names, size_t names_size)
{
	static const size_t parts[] = { 8, 23, 35 };	/* their names, as put_elf has them */

	put_section(memory, 0, SHT_NULL, 0, 0, 0);
	put_section(memory, 1, SHT_NOTE, fake->start + NOTES_AT, ELF_HEAD + NOTES_AT, NOTES_SIZE);
	for (size_t i = 0; i < 3; i++) {
		const struct fake_part *part = i < fake->parts_count ? &fake->parts[i] : NULL;

		put_section(memory, part ? parts[i] : 0, SHT_PROGBITS, part ? fake->start + part->at : 0,
			part ? ELF_HEAD + part->at : 0, part ? part->size : 0);
	}
	put_section(memory, 40, SHT_STRTAB, 0, names, names_size);
}

static struct memory make_elf(const struct fake_linux *fake, const struct memory *kernel)
{
	static const char names[] = "\0.notes\0.orc_unwind_ip\0.orc_unwind\0.BTF\0.shstrtab";
	bool wide = fake->shape == FAKE_ELF64;
	size_t word = wide ? 8 : 4, sections = ELF_HEAD + kernel->size + sizeof(names);
	struct memory elf = { .word = word };

	put(&elf, ELFMAG, SELFMAG);
	put_number(&elf, wide ? ELFCLASS64 : ELFCLASS32, 1);
	put_number(&elf, ELFDATA2LSB, 1);
	put_number(&elf, EV_CURRENT, 1);
	fill_to(&elf, EI_NIDENT);
	put_number(&elf, ET_EXEC, 2);
	put_number(&elf, wide ? EM_X86_64 : EM_386, 2);
	put_number(&elf, EV_CURRENT, 4);
	put_number(&elf, fake->start, word);
	put_number(&elf, wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), word);
	put_number(&elf, sections, word);
	put_number(&elf, 0, 4);
	put_number(&elf, wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	put_number(&elf, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	put_number(&elf, 1, 2);
	put_number(&elf, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put_number(&elf, SECTIONS, 2);
	put_number(&elf, SECTIONS - 1, 2);
	put_number(&elf, PT_LOAD, 4);
	if (wide)
		put_number(&elf, PF_R | PF_X, 4);
	put_number(&elf, ELF_HEAD, word);
	put_number(&elf, fake->start, word);
	put_number(&elf, fake->start, word);
	put_number(&elf, kernel->size, word);
	put_number(&elf, kernel->size, word);
	fill_to(&elf, ELF_HEAD);
	put(&elf, kernel->bytes, kernel->size);
	put(&elf, names, sizeof(names));
	put_sections(&elf, fake, ELF_HEAD + kernel->size, sizeof(names));
	return elf;
}

/* Returns the bytes in memory of the exact size, so that reading on is caught. */
static uint8_t *trim(struct memory *memory, size_t *size)
{
	*size = memory->size;
	return util_grow(memory->bytes, memory->size, 1);
}

uint8_t *fake_linux_memory(const struct fake_linux *fake, size_t *size)
{
	struct memory kernel = make_memory(fake);

	return trim(&kernel, size);
}

uint8_t *fake_linux(const struct fake_linux *fake, size_t *size)
{
	struct memory kernel = make_memory(fake), elf;

	if (fake->shape == FAKE_IMAGE)
		return trim(&kernel, size);
	elf = make_elf(fake, &kernel);
	free(kernel.bytes);
	return trim(&elf, size);
}

/* ---- around it ---- */

static size_t pack_gzip(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
	z_stream stream = {
		.next_in = (Bytef *)bytes, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)room,
	};

	deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	deflate(&stream, Z_FINISH);
	deflateEnd(&stream);
	return stream.total_out - 4;	/* without its own size, which fake_pack appends */
}

static size_t pack_lz4(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
	struct memory head = { .word = 4 };
	int packed = LZ4_compress_default((const char *)bytes, (char *)to + 8, (int)size, (int)room - 8);

	put_number(&head, 0x184c2102, 4);
	put_number(&head, (uint32_t)packed, 4);
	memcpy(to, head.bytes, head.size);
	free(head.bytes);
	return 8 + (size_t)packed;
}

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *to, size_t room, enum fake_packer packer)
{
	size_t packed = 0;

	if (packer == FAKE_GZIP)
		return pack_gzip(bytes, size, to, room);
	if (packer == FAKE_ZSTD)
		return ZSTD_compress(to, room, bytes, size, 1);
	if (packer == FAKE_LZ4)
		return pack_lz4(bytes, size, to, room);
	lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, bytes, size, to, &packed, room);
	return packed;
}

uint8_t *fake_pack(uint8_t *bytes, size_t *size, enum fake_packer packer)
{
	size_t room = 2 * *size + 4096;
	struct memory memory = { .bytes = util_alloc(room), .room = room, .word = 1 };

	if (packer == FAKE_PLAIN) {
		free(memory.bytes);
		return bytes;
	}
	memory.size = pack(bytes, *size, memory.bytes, room, packer);
	put_number(&memory, *size, 4);
	free(bytes);
	return trim(&memory, size);
}

uint8_t *fake_bzimage(uint8_t *packed, size_t *size)
{
	enum { SETUP = 2, PAYLOAD = 0x180 };	/* sectors of setup code; bytes between it and the payload */
	struct memory memory = { .word = 1 };

	fill_to(&memory, 0x1f1);
	put_number(&memory, SETUP, 1);
	fill_to(&memory, 0x202);
	put(&memory, "HdrS", 4);
	put_number(&memory, 0x20f, 2);
	fill_to(&memory, 0x248);
	put_number(&memory, PAYLOAD, 4);
	put_number(&memory, *size, 4);
	fill_to(&memory, (SETUP + 1) * 512 + PAYLOAD);
	put(&memory, packed, *size);
	fill_to(&memory, memory.size + 100);
	free(packed);
	return trim(&memory, size);
}
