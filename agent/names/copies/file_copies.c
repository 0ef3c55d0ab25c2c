/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/processes.h"
#include "agent/names/linux/walk.h"
#include "file_copies.h"

enum {
	PAGE_SHIFT = 12,
	PAGE = 1 << PAGE_SHIFT,
	WANTED = 16,			/* copies that wait at a time */
	KNOWN = 256,			/* that are remembered; a newer one may take the place of another */
	TRIES = 3,			/* of one file: what is not in memory may come */
	WINDOW = 16,			/* pages that are asked for at a time; the bits of `there` */
	PAGES_MOST = 1024,		/* that are copied of a file */
	SIZE_MOST = 1 << 30,		/* bytes of a file */
	FOLIO_MOST = 1 << 18,		/* pages: 1 GiB, the largest page of the processor */
	FRAME_BITS = 40,		/* of the number of a page of RAM */
	ADDRESS_BITS = 64,
	SEGMENTS_MAX = 64, SECTIONS_MAX = 512,
	ELF_RANGES_MAX = 16,
	NOTES_MAX = 4096,		/* bytes of one section; a build-id is in a short one */
};

/*
 * An entry with these low bits is no pointer to a page: see xa_mk_internal() in include/linux/xarray.h of Linux. A
 * large one is a pointer to a node, a small one the number of the slot that has the entry for this slot, too.
 */
enum { INTERNAL = 2, INTERNAL_BITS = 3, INTERNAL_SMALL = 4096, SLOT_SHIFT = 2 };

/*
 * Where both are without KASLR, if the kernel has no variables for them: linux/Documentation/arch/x86/x86_64/mm.rst,
 * page tables of four levels.
 */
#define RAM UINT64_C(0xffff888000000000)
#define PAGES UINT64_C(0xffffea0000000000)

struct wanted {
	uint64_t contents;		/* as in struct file_copy */
	char path[PROCESS_PATH_MAX + 1];
};

struct known {
	uint64_t contents;
	uint32_t tries;
};

enum elf_part {
	ELF_PART_HEAD,			/* the file's first bytes */
	ELF_PART_TABLES,		/* its headers of segments and sections */
	ELF_PART_NAMES,			/* of its sections */
	ELF_PART_CONTENTS,		/* symbols, call frame information, notes */
	ELF_PART_LOADED,		/* of a stripped file: its code, and the tables by which it jumps */
	ELF_PARTS,
};

struct elf_ranges {
	size_t count;
	struct { uint64_t offset, size; } list[ELF_RANGES_MAX];
};

struct section {
	uint32_t name, type, link;
	uint64_t offset, size;
};

struct page_cache {
	const struct cache_layout *layout;
	const struct walked_memory *memory;
	uint64_t ram;			/* where all RAM is mapped */
	uint64_t pages;			/* where the structs of its pages are */
	struct page_reader files, nodes, structs;
};

struct file_copies {
	struct wanted wanted[WANTED];	/* the first one is being copied */
	uint32_t count;
	struct known known[KNOWN];	/* by their contents' address */

	/* The copy, of those bytes that were wanted. */
	int fd;				/* -1: it is not made yet */
	uint64_t begun;			/* ns; 0: not yet */
	bool tried;			/* this was counted */
	uint64_t size;			/* of the file */
	enum elf_part part;		/* that is being copied, and of it: */
	struct elf_ranges ranges;
	size_t range;
	uint64_t page;			/* the first one that is missing, in the file */
	uint32_t there;			/* bit i: the page that lies i pages behind was copied */
	uint32_t pages;			/* that were copied, of all parts */
};

/* ---- which bytes of an ELF file tell of its functions: a copy needs no others ---- */

static bool read_bytes(int fd, void *bytes, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* False: there is no room for it. */
static bool add_range(struct elf_ranges *ranges, uint64_t offset, uint64_t size)
{
	if (ranges->count == ELF_RANGES_MAX)
		return false;
	ranges->list[ranges->count].offset = offset;
	ranges->list[ranges->count++].size = size;
	return true;
}

static bool read_head(int fd, uint8_t head[sizeof(Elf64_Ehdr)])
{
	return read_bytes(fd, head, sizeof(Elf64_Ehdr), 0) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
		head[EI_CLASS] == ELFCLASS64 && head[EI_DATA] == ELFDATA2LSB;
}

static uint16_t sections_of(const uint8_t *head)
{
	return bytes_16(head + offsetof(Elf64_Ehdr, e_shnum));
}

static bool find_tables(const uint8_t *head, struct elf_ranges *ranges)
{
	uint16_t segments = bytes_16(head + offsetof(Elf64_Ehdr, e_phnum)), sections = sections_of(head);

	return segments && segments <= SEGMENTS_MAX && sections && sections <= SECTIONS_MAX &&
		bytes_16(head + offsetof(Elf64_Ehdr, e_phentsize)) == sizeof(Elf64_Phdr) &&
		bytes_16(head + offsetof(Elf64_Ehdr, e_shentsize)) == sizeof(Elf64_Shdr) &&
		add_range(ranges, bytes_64(head + offsetof(Elf64_Ehdr, e_phoff)), segments * sizeof(Elf64_Phdr)) &&
		add_range(ranges, bytes_64(head + offsetof(Elf64_Ehdr, e_shoff)), sections * sizeof(Elf64_Shdr));
}

static bool read_section(int fd, const uint8_t *head, uint32_t index, struct section *section)
{
	uint8_t bytes[sizeof(Elf64_Shdr)];

	if (index >= sections_of(head) || !read_bytes(fd, bytes, sizeof(bytes),
			bytes_64(head + offsetof(Elf64_Ehdr, e_shoff)) + index * sizeof(bytes)))
		return false;
	*section = (struct section) {
		.name = bytes_32(bytes + offsetof(Elf64_Shdr, sh_name)),
		.type = bytes_32(bytes + offsetof(Elf64_Shdr, sh_type)),
		.link = bytes_32(bytes + offsetof(Elf64_Shdr, sh_link)),
		.offset = bytes_64(bytes + offsetof(Elf64_Shdr, sh_offset)),
		.size = bytes_64(bytes + offsetof(Elf64_Shdr, sh_size)),
	};
	return true;
}

static bool read_names(int fd, const uint8_t *head, struct section *names)
{
	return read_section(fd, head, bytes_16(head + offsetof(Elf64_Ehdr, e_shstrndx)), names) &&
		names->type == SHT_STRTAB;
}

/* Has the section the call frame information, or the index of it? */
static bool is_frames(int fd, const struct section *names, const struct section *section)
{
	static const char frames[] = ".eh_frame", index[] = ".eh_frame_hdr";
	char name[sizeof(index)] = "";

	if (section->type == SHT_NOBITS || section->name >= names->size ||
			!read_bytes(fd, name, sizeof(frames), names->offset + section->name))
		return false;
	if (memcmp(name, frames, sizeof(frames)) == 0)
		return true;
	return read_bytes(fd, name, sizeof(index), names->offset + section->name) &&
		memcmp(name, index, sizeof(index)) == 0;
}

static bool find_contents(int fd, const uint8_t *head, struct elf_ranges *ranges)
{
	struct section names, section, linked;
	bool good = read_names(fd, head, &names);

	for (uint32_t i = 1; good && i < sections_of(head); i++) {
		if (!read_section(fd, head, i, &section))
			return false;
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			good = read_section(fd, head, section.link, &linked) &&
				add_range(ranges, section.offset, section.size) &&
				add_range(ranges, linked.offset, linked.size);
		else if ((section.type == SHT_NOTE && section.size <= NOTES_MAX) || is_frames(fd, &names, &section))
			good = add_range(ranges, section.offset, section.size);
	}
	return good;
}

/* The segments that are loaded. A file with .symtab needs them not. */
static bool find_loaded(int fd, const uint8_t *head, struct elf_ranges *ranges)
{
	uint64_t table = bytes_64(head + offsetof(Elf64_Ehdr, e_phoff));
	struct section section;
	bool good = true;

	for (uint32_t i = 1; i < sections_of(head); i++)
		if (read_section(fd, head, i, &section) && section.type == SHT_SYMTAB)
			return true;
	for (uint16_t i = 0; good && i < bytes_16(head + offsetof(Elf64_Ehdr, e_phnum)); i++) {
		uint8_t bytes[sizeof(Elf64_Phdr)];

		good = read_bytes(fd, bytes, sizeof(bytes), table + i * sizeof(bytes));
		if (good && bytes_32(bytes + offsetof(Elf64_Phdr, p_type)) == PT_LOAD)
			good = add_range(ranges, bytes_64(bytes + offsetof(Elf64_Phdr, p_offset)),
				bytes_64(bytes + offsetof(Elf64_Phdr, p_filesz)));
	}
	return good;
}

/*
 * They are found in steps, for each part says where the next one is. The bytes are hostile. `fd`: the copy, which has
 * the parts before this one. False: it is no such file, or not one with sections, of 64 bits, little-endian.
 */
static bool elf_parts_find(int fd, enum elf_part part, struct elf_ranges *ranges)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	struct section names;

	*ranges = (struct elf_ranges) { .count = 0 };
	if (part == ELF_PART_HEAD)
		return add_range(ranges, 0, sizeof(head));
	if (!read_head(fd, head))
		return false;
	if (part == ELF_PART_TABLES)
		return find_tables(head, ranges);
	if (part == ELF_PART_CONTENTS)
		return find_contents(fd, head, ranges);
	if (part == ELF_PART_LOADED)
		return find_loaded(fd, head, ranges);
	return read_names(fd, head, &names) && add_range(ranges, names.offset, names.size);
}

/* ---- the pages that a Linux kernel keeps of a file, in its memory ---- */

static bool is_kernel(uint64_t address)
{
	return address >> 63;
}

/* The kernel's variable, or what it would be. False: it cannot be read, or is no address of a page. */
static bool read_base(struct page_cache *cache, const struct linux_kernel *kernel, enum landmark landmark,
	uint64_t slide, uint64_t *base)
{
	uint64_t place;

	if (linux_kernel_landmark(kernel, landmark, &place) && !page_reader_64(&cache->files, place + slide, base))
		return false;
	return is_kernel(*base) && *base % PAGE == 0;
}

/*
 * Of a file in memory, as of an initramfs, the kernel keeps all pages; of one on a disk, those that were used lately.
 * They may change while they are read, and are hostile: each call ends after a few reads. `slide`: run address minus
 * link address of the kernel. Borrows all. False: some of it is not known, or not yet; or it is not x86-64.
 */
static bool page_cache_begin(struct page_cache *cache, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory)
{
	*cache = (struct page_cache) {
		.layout = &kernel->layout.cache, .memory = memory, .ram = RAM, .pages = PAGES,
		.files = page_reader_of(memory), .nodes = page_reader_of(memory), .structs = page_reader_of(memory),
	};
	return kernel->arch == ARCH_X86_64 && cache->layout->known &&
		read_base(cache, kernel, LANDMARK_PAGE_OFFSET, slide, &cache->ram) &&
		read_base(cache, kernel, LANDMARK_PAGES, slide, &cache->pages);
}

/* `contents`: the address of the file's struct address_space. False: it cannot be read (yet). */
static bool page_cache_size(struct page_cache *cache, uint64_t contents, uint64_t *size)
{
	uint64_t owner;

	return page_reader_64(&cache->files, contents + cache->layout->owner, &owner) && is_kernel(owner) &&
		page_reader_64(&cache->files, owner + cache->layout->size, size);
}

static bool is_node(uint64_t entry)
{
	return (entry & INTERNAL_BITS) == INTERNAL && entry > INTERNAL_SMALL;
}

static bool read_slot(struct page_cache *cache, uint64_t node, uint64_t slot, uint64_t *entry)
{
	return page_reader_64(&cache->nodes, node + cache->layout->slots + 8 * slot, entry);
}

/* The entry for a page in a node. `top`: the node is the root. False: it has none, or cannot be read. */
static bool enter_node(struct page_cache *cache, uint64_t node, uint64_t index, bool top, uint8_t shift,
	uint64_t *entry)
{
	uint64_t slot = index >> shift, last = cache->layout->slots_count - 1;

	if ((top && slot > last) || !read_slot(cache, node, slot & last, entry))
		return false;
	if ((*entry & INTERNAL_BITS) != INTERNAL || *entry >> SLOT_SHIFT > last)
		return true;
	return read_slot(cache, node, *entry >> SLOT_SHIFT, entry);
}

/* Finds the folio that has the page. Each node covers less than the one above it, so the way ends. */
static bool find_folio(struct page_cache *cache, uint64_t contents, uint64_t index, uint64_t *folio)
{
	uint8_t above = ADDRESS_BITS, shift;
	uint64_t entry;

	if (!page_reader_64(&cache->files, contents + cache->layout->root, &entry) || (!is_node(entry) && index))
		return false;
	for (; is_node(entry); above = shift) {
		uint64_t node = entry - INTERNAL;

		if (!is_kernel(node) || !page_reader_bytes(&cache->nodes, node + cache->layout->shift, &shift, 1) ||
				shift >= above || !enter_node(cache, node, index, above == ADDRESS_BITS, shift, &entry))
			return false;
	}
	*folio = entry;
	return is_kernel(entry) && !(entry & INTERNAL_BITS);
}

/* The struct of the page. What does not say that it is this page of this file is another's by now. */
static bool find_page(struct page_cache *cache, uint64_t contents, uint64_t index, uint64_t *page)
{
	const struct cache_layout *layout = cache->layout;
	uint64_t folio, owner, first, head;

	if (!find_folio(cache, contents, index, &folio) ||
			!page_reader_64(&cache->structs, folio + layout->contents, &owner) ||
			!page_reader_64(&cache->structs, folio + layout->index, &first) ||
			owner != contents || first > index || index - first >= FOLIO_MOST)
		return false;
	*page = folio + (index - first) * layout->page_size;
	return first == index || (page_reader_64(&cache->structs, *page + layout->head, &head) && head == folio + 1);
}

/* Reads the page at `index` times its size. False: it is not in memory, or cannot be read (yet). */
static bool page_cache_read(struct page_cache *cache, uint64_t contents, uint64_t index, uint8_t bytes[PAGE])
{
	const struct memory_reader *memory = cache->memory->reader;
	uint64_t page, frame;

	if (!find_page(cache, contents, index, &page) || page < cache->pages ||
			(page - cache->pages) % cache->layout->page_size)
		return false;
	frame = (page - cache->pages) / cache->layout->page_size;
	if (frame >> FRAME_BITS || !is_kernel(cache->ram + (frame << PAGE_SHIFT)))
		return false;
	quota_spend(cache->memory->quota, PAGE);
	return memory->read(memory->context, cache->ram + (frame << PAGE_SHIFT), bytes, PAGE);
}

/* ---- copies ---- */

struct file_copies *file_copies_new(void)
{
	struct file_copies *copies = util_alloc(sizeof(*copies));

	copies->fd = -1;
	return copies;
}

static void drop_copy(struct file_copies *copies)
{
	if (copies->fd >= 0)
		close(copies->fd);
	copies->fd = -1;
	copies->begun = 0;
	copies->tried = false;
}

void file_copies_free(struct file_copies *copies)
{
	if (copies)
		drop_copy(copies);
	free(copies);
}

/* ---- what is wanted ---- */

static struct known *known_of(struct file_copies *copies, uint64_t contents)
{
	struct known *known = &copies->known[contents / 8 % KNOWN];

	if (known->contents != contents)
		*known = (struct known) { .contents = contents };
	return known;
}

void file_copies_want(struct file_copies *copies, uint64_t contents, const char *path)
{
	struct wanted *wanted = &copies->wanted[copies->count];

	for (uint32_t i = 0; i < copies->count; i++)
		if (copies->wanted[i].contents == contents)
			return;
	if (copies->count == WANTED || known_of(copies, contents)->tries == TRIES)
		return;
	wanted->contents = contents;
	util_print(wanted->path, sizeof(wanted->path), "%s", path);
	copies->count++;
}

/* The first one was copied, or is not to be copied any more. */
static void end_file(struct file_copies *copies)
{
	drop_copy(copies);
	memmove(copies->wanted, copies->wanted + 1, --copies->count * sizeof(*copies->wanted));
}

/* ---- copying ---- */

/* What came of a piece of work: more of the memory has to come; it cannot be done. */
enum outcome { DONE, WAITS, FAILED };

static enum outcome failed(const struct page_cache *cache, uint64_t awaited)
{
	return memory_reader_awaited(cache->memory->reader) != awaited ? WAITS : FAILED;
}

static uint64_t page_behind(const struct file_copies *copies)
{
	return (copies->ranges.list[copies->range].offset + copies->ranges.list[copies->range].size + PAGE - 1) / PAGE;
}

static void begin_range(struct file_copies *copies)
{
	if (copies->range < copies->ranges.count)
		copies->page = copies->ranges.list[copies->range].offset / PAGE;
	copies->there = 0;
}

/* Which bytes a part has. False: it makes no sense, or is too much. */
static bool find_part(struct file_copies *copies, enum elf_part part)
{
	uint64_t pages = copies->pages;

	if (!elf_parts_find(copies->fd, part, &copies->ranges))
		return false;
	for (size_t i = 0; i < copies->ranges.count; i++) {
		uint64_t offset = copies->ranges.list[i].offset, size = copies->ranges.list[i].size;

		if (offset > copies->size || size > copies->size - offset)
			return false;
		pages += size / PAGE + 2;
	}
	return pages <= PAGES_MOST;
}

/* A copy is of use without what is loaded. */
static bool begin_part(struct file_copies *copies, enum elf_part part)
{
	bool found = find_part(copies, part);

	if (!found && part == ELF_PART_LOADED)
		copies->ranges.count = 0;
	copies->part = part;
	copies->range = 0;
	begin_range(copies);
	return found || part == ELF_PART_LOADED;
}

static enum outcome begin_copy(struct file_copies *copies, struct page_cache *cache)
{
	uint64_t awaited = memory_reader_awaited(cache->memory->reader);

	if (!copies->tried)
		known_of(copies, copies->wanted[0].contents)->tries++;
	copies->tried = true;
	if (!page_cache_size(cache, copies->wanted[0].contents, &copies->size))
		return failed(cache, awaited);
	if (!copies->size || copies->size > SIZE_MOST)
		return FAILED;
	copies->fd = memfd_create("ktop-program", MFD_CLOEXEC);
	copies->pages = 0;
	return copies->fd >= 0 && ftruncate(copies->fd, (off_t)copies->size) == 0 && begin_part(copies, ELF_PART_HEAD) ?
		DONE : FAILED;
}

/* The last page has bytes behind the file's end. Of what is loaded, a page that is not in memory stays zero. */
static enum outcome copy_page(struct file_copies *copies, struct page_cache *cache, uint64_t page)
{
	uint64_t awaited = memory_reader_awaited(cache->memory->reader), left = copies->size - page * PAGE;
	size_t size = left < PAGE ? (size_t)left : PAGE;
	uint8_t bytes[PAGE];

	if (!page_cache_read(cache, copies->wanted[0].contents, page, bytes)) {
		enum outcome outcome = failed(cache, awaited);

		return outcome == FAILED && copies->part == ELF_PART_LOADED ? DONE : outcome;
	}
	return pwrite(copies->fd, bytes, size, (off_t)(page * PAGE)) == (ssize_t)size ? DONE : FAILED;
}

/* Asks for the next pages of a range, and copies those that are there. DONE: some more of them are. */
static enum outcome copy_window(struct file_copies *copies, struct page_cache *cache)
{
	uint64_t end = page_behind(copies);

	for (unsigned i = 0; i < WINDOW && copies->page + i < end; i++) {
		enum outcome outcome = copies->there >> i & 1 ? DONE : copy_page(copies, cache, copies->page + i);

		if (outcome == FAILED)
			return outcome;
		if (outcome == DONE)
			copies->there |= 1u << i;
	}
	if (copies->page < end && !(copies->there & 1))
		return WAITS;
	for (; copies->there & 1; copies->there >>= 1, copies->page++)
		copies->pages++;
	return DONE;
}

static struct file_copy first_of(const struct file_copies *copies)
{
	const struct wanted *wanted = &copies->wanted[0];

	return (struct file_copy) { .contents = wanted->contents, .path = wanted->path, .fd = copies->fd };
}

/* All parts of the first file are there. */
static void give(struct file_copies *copies, const struct file_copy_taker *taker)
{
	const struct file_copy copy = first_of(copies);

	copies->fd = -1;
	taker->take(taker->context, &copy);
}

static bool is_whole(const struct file_copies *copies)
{
	return copies->fd >= 0 && copies->range == copies->ranges.count && copies->part + 1 == ELF_PARTS;
}

/* A piece of work on the first file, which is not whole. FAILED: it has no copy. */
static enum outcome copy(struct file_copies *copies, struct page_cache *cache, const struct file_copy_taker *taker)
{
	const struct file_copy file = first_of(copies);
	enum file_state state = copies->fd < 0 ? taker->state(taker->context, &file) : FILE_MISSING;
	enum outcome outcome;

	if (state != FILE_MISSING)
		return state == FILE_SOUGHT ? WAITS : FAILED;
	if (copies->fd < 0)
		return begin_copy(copies, cache);
	if (copies->range == copies->ranges.count)
		return begin_part(copies, copies->part + 1) ? DONE : FAILED;
	outcome = copy_window(copies, cache);
	if (outcome == DONE && copies->page >= page_behind(copies)) {
		copies->range++;
		begin_range(copies);
	}
	return outcome;
}

enum walk file_copies_read(struct file_copies *copies, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory, uint64_t samples, const struct file_copy_taker *taker)
{
	struct page_cache cache;

	if (!copies->count)
		return WALK_ENDED;
	if (!page_cache_begin(&cache, kernel, slide, memory))
		return WALK_FAILED;
	do {
		enum outcome outcome;

		copies->begun = copies->begun ? copies->begun : samples;
		outcome = samples - copies->begun >= FILE_COPIES_LONGEST ? FAILED : copy(copies, &cache, taker);
		if (outcome == WAITS)
			return WALK_FAILED;
		if (outcome == DONE && is_whole(copies))
			give(copies, taker);
		if (outcome == FAILED || copies->fd < 0)
			end_file(copies);
	} while (copies->count && !quota_is_spent(memory->quota));
	return copies->count ? WALK_PAUSED : WALK_ENDED;
}
