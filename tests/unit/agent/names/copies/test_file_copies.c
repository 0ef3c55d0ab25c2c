/* SPDX-License-Identifier: MIT */
/* Copies of a program's file, out of the pages that a guest's kernel keeps of it. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "agent/names/copies/file_copies.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/walk.h"
#include "tests/unit/fakes/random.h"

#define BASE UINT64_C(0xffff888000000000)	/* all of the guest's RAM */
#define SLIDE UINT64_C(0x1000000)
#define KERNEL (BASE - SLIDE)			/* where the kernel was linked: at the beginning of RAM */

enum {
	PAGE = 4096, FRAMES = 512, SIZE = FRAMES * PAGE,
	VARIABLES = 0x100,			/* of the kernel: two pointers */
	CONTENTS = 0x200, OWNER = 0x300,	/* the structs of the file */
	NODES = 0x1000, NODE = 0x400,		/* of its tree */
	STRUCTS = 0x10000, STRUCT = 64,		/* of the pages */
	POOL = 64,				/* the first page of RAM that may be of a file */
	FILE_PAGES = 80, FILE_SIZE = FILE_PAGES * PAGE - 100,
	SECTIONS = 6, SECTIONS_AT = FILE_SIZE - SECTIONS * (int)sizeof(Elf64_Shdr),
	NAMES_AT = 70 * PAGE + 10, FRAMES_AT = 20 * PAGE + 50, SYMBOLS_AT = 40 * PAGE, TEXTS_AT = 50 * PAGE - 8,
};

static struct linux_kernel kernel = {
	.arch = ARCH_X86_64, .known = 1u << LANDMARK_PAGE_OFFSET | 1u << LANDMARK_PAGES,
	.landmarks = { [LANDMARK_PAGE_OFFSET] = KERNEL + VARIABLES, [LANDMARK_PAGES] = KERNEL + VARIABLES + 8 },
	.layout.cache = {
		.known = true, .owner = 8, .root = 0x10, .size = 0x18, .shift = 3, .slots = 0x20, .slots_count = 64,
		.page_size = STRUCT, .contents = 0x18, .index = 0x20, .head = 8,
	},
};

static struct guest {
	uint8_t bytes[SIZE];
	uint8_t file[FILE_PAGES * PAGE];
	uint64_t frames[FILE_PAGES];	/* where each of its pages lies */
	uint64_t late;			/* a page of RAM that is asked for, and has not come; 0: none */
	uint64_t awaited;
	unsigned reads;
} guest;

static struct quota quota;

static bool read_guest(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	guest.reads++;
	if (address < BASE || address - BASE > SIZE - size)
		return false;
	if (guest.late && (address - BASE) / PAGE == guest.late) {
		guest.awaited++;
		return false;
	}
	memcpy(to, guest.bytes + (address - BASE), size);
	return true;
}

static uint64_t awaited(void *context)
{
	(void)context;
	return guest.awaited;
}

static const struct memory_reader reader = { .read = read_guest, .awaited = awaited };
static const struct walked_memory memory = { .reader = &reader, .quota = &quota };

static void set(uint64_t at, uint64_t value)
{
	memcpy(guest.bytes + at, &value, sizeof(value));
}

/* ---- the file ---- */

static void set_section(unsigned index, uint32_t name, uint32_t type, uint64_t offset, uint64_t size, uint32_t link)
{
	const Elf64_Shdr section = {
		.sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = size, .sh_link = link,
	};

	memcpy(guest.file + SECTIONS_AT + index * sizeof(section), &section, sizeof(section));
}

static void make_file(void)
{
	static const char names[] = "\0.eh_frame\0.dynsym\0.dynstr\0.shstrtab\0.text";
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_phoff = sizeof(head), .e_phnum = 2, .e_phentsize = sizeof(Elf64_Phdr),
		.e_shoff = SECTIONS_AT, .e_shnum = SECTIONS, .e_shentsize = sizeof(Elf64_Shdr), .e_shstrndx = 4,
	};

	for (int i = 0; i < FILE_SIZE; i++)
		guest.file[i] = (uint8_t)(1 + i % 251);
	memcpy(guest.file, &head, sizeof(head));
	memcpy(guest.file + NAMES_AT, names, sizeof(names));
	set_section(0, 0, SHT_NULL, 0, 0, 0);
	set_section(1, 1, SHT_PROGBITS, FRAMES_AT, 5 * PAGE, 0);
	set_section(2, 11, SHT_DYNSYM, SYMBOLS_AT, 300, 3);
	set_section(3, 19, SHT_STRTAB, TEXTS_AT, 16, 0);
	set_section(4, 27, SHT_STRTAB, NAMES_AT, sizeof(names), 0);
	set_section(5, 37, SHT_PROGBITS, 2 * PAGE, 10 * PAGE, 0);
}

/* ---- the kernel's structs ---- */

static uint64_t page_struct(uint64_t frame)
{
	return STRUCTS + frame * STRUCT;
}

static void set_entry(uint64_t node, unsigned slot, uint64_t entry)
{
	set(node + kernel.layout.cache.slots + 8 * slot, entry);
}

static uint64_t leaf_of(unsigned page)
{
	return NODES + (1 + page / 64) * NODE;
}

/* The page is the folio's `behind`-th. */
static void set_page(unsigned page, uint64_t frame, unsigned behind)
{
	const struct cache_layout *cache = &kernel.layout.cache;
	uint64_t at = page_struct(frame), folio = page_struct(frame - behind);

	guest.frames[page] = frame;
	memcpy(guest.bytes + frame * PAGE, guest.file + page * PAGE, PAGE);
	if (behind) {
		set(at + cache->head, BASE + folio + 1);
		set_entry(leaf_of(page), page % 64, (uint64_t)(page - behind) % 64 << 2 | 2);
		return;
	}
	set(at + cache->contents, BASE + CONTENTS);
	set(at + cache->index, page);
	set_entry(leaf_of(page), page % 64, BASE + at);
}

/* A tree of two levels. Pages lie backwards in RAM, but for those of a folio of eight, which has part of .eh_frame. */
static void set_up(void)
{
	const struct cache_layout *cache = &kernel.layout.cache;

	memset(&guest, 0, sizeof(guest));
	quota = (struct quota) { .most = UINT64_MAX };
	make_file();
	set(VARIABLES, BASE);
	set(VARIABLES + 8, BASE + STRUCTS);
	set(CONTENTS + cache->owner, BASE + OWNER);
	set(CONTENTS + cache->root, BASE + NODES + 2);
	set(OWNER + cache->size, FILE_SIZE);
	guest.bytes[NODES + cache->shift] = 6;
	for (unsigned i = 0; i < 2; i++)
		set_entry(NODES, i, BASE + leaf_of(64 * i) + 2);
	for (unsigned i = 0; i < FILE_PAGES; i++)
		set_page(i, FRAMES - 1 - i, 0);
	for (unsigned i = 0; i < 8; i++)
		set_page(16 + i, POOL + i, i);
}

/* ---- the copy ---- */

static struct file_copies *copies;
static uint8_t copied[FILE_PAGES * PAGE];
static unsigned taken;

static void take(void *context, const struct file_copy *copy)
{
	struct stat is;

	(void)context;
	taken++;
	assert_true(copy->contents == BASE + CONTENTS);
	assert_string_equal(copy->path, "/bin/tool");
	assert_int_equal(fstat(copy->fd, &is), 0);
	assert_int_equal(is.st_size, FILE_SIZE);
	assert_int_equal(pread(copy->fd, copied, sizeof(copied), 0), FILE_SIZE);
	close(copy->fd);
}

static enum file_state now_is;

static enum file_state state_of(void *context, const struct file_copy *file)
{
	(void)context;
	assert_true(file->contents == BASE + CONTENTS);
	assert_string_equal(file->path, "/bin/tool");
	return now_is;
}

static enum walk turn(uint64_t samples)
{
	const struct file_copy_taker taker = { .state = state_of, .take = take };

	return file_copies_read(copies, &kernel, SLIDE, &memory, samples, &taker);
}

static void begin(void)
{
	taken = 0;
	now_is = FILE_MISSING;
	memset(copied, 0, sizeof(copied));
	copies = file_copies_new();
	file_copies_want(copies, BASE + CONTENTS, "/bin/tool");
}

static void check_range(unsigned at, size_t size)
{
	assert_memory_equal(copied + at, guest.file + at, size);
}

static void check_copy(void)
{
	static const uint8_t none[10 * PAGE];

	assert_int_equal(taken, 1);
	check_range(0, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
	check_range(SECTIONS_AT, FILE_SIZE - SECTIONS_AT);
	check_range(NAMES_AT, 40);
	check_range(FRAMES_AT, 5 * PAGE);
	check_range(SYMBOLS_AT, 300);
	check_range(TEXTS_AT, 16);
	assert_memory_equal(copied + 2 * PAGE, none, sizeof(none));
}

static void what_tells_of_functions_is_copied_and_nothing_else(void **state)
{
	(void)state;
	set_up();
	begin();
	assert_int_equal(turn(1), WALK_ENDED);
	check_copy();
	assert_int_equal(turn(2), WALK_ENDED);
	assert_int_equal(taken, 1);
	file_copies_free(copies);
}

static void set_loaded(uint32_t type)
{
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_offset = 2 * PAGE, .p_filesz = 10 * PAGE };

	memcpy(guest.file + sizeof(Elf64_Ehdr), &segment, sizeof(segment));
	memcpy(guest.bytes + guest.frames[0] * PAGE, guest.file, PAGE);
	set_section(2, 11, type, SYMBOLS_AT, 300, 3);
	for (unsigned i = SECTIONS_AT / PAGE; i < FILE_PAGES; i++)
		memcpy(guest.bytes + guest.frames[i] * PAGE, guest.file + i * PAGE, PAGE);
}

/* Pages of it that are not in memory are zeros. A file with .symtab needs it not. */
static void of_a_stripped_file_what_is_loaded_is_copied(void **state)
{
	static const uint8_t none[10 * PAGE];

	(void)state;
	set_up();
	set_loaded(SHT_DYNSYM);
	set_entry(leaf_of(5), 5, 0);
	begin();
	assert_int_equal(turn(1), WALK_ENDED);
	assert_int_equal(taken, 1);
	check_range(2 * PAGE, 3 * PAGE);
	assert_memory_equal(copied + 5 * PAGE, none, PAGE);
	check_range(6 * PAGE, 6 * PAGE);
	file_copies_free(copies);
	set_up();
	set_loaded(SHT_SYMTAB);
	begin();
	assert_int_equal(turn(1), WALK_ENDED);
	check_copy();
	file_copies_free(copies);
}

/* Each page of the guest is late once. */
static void a_copy_waits_for_what_comes_late(void **state)
{
	unsigned waited = 0;

	(void)state;
	for (uint64_t late = 1; late < FRAMES; late++) {
		set_up();
		begin();
		guest.late = late;
		if (turn(1) == WALK_FAILED) {
			waited++;
			assert_int_equal(taken, 0);
			assert_int_equal(turn(2), WALK_FAILED);
			guest.late = 0;
			assert_int_equal(turn(3), WALK_ENDED);
		}
		check_copy();
		file_copies_free(copies);
	}
	assert_in_range(waited, 10, 20);
}

static void a_turn_ends_with_its_quota(void **state)
{
	unsigned turns = 0;

	(void)state;
	set_up();
	begin();
	for (enum walk walk = WALK_PAUSED; walk == WALK_PAUSED; turns++) {
		quota = (struct quota) { .most = 1 };
		guest.reads = 0;
		walk = turn(1);
		assert_in_range(guest.reads, 0, 200);
	}
	check_copy();
	assert_in_range(turns, 5, 20);
	file_copies_free(copies);
}

/* The file is tried three times, however often it is wanted, and whatever comes later. */
static void refuse(void)
{
	begin();
	for (int i = 0; i < 3; i++) {
		unsigned reads = guest.reads;

		file_copies_want(copies, BASE + CONTENTS, "/bin/tool");
		turn(1);
		assert_true(guest.reads > reads);
	}
	set_up();
	file_copies_want(copies, BASE + CONTENTS, "/bin/tool");
	assert_int_equal(turn(1), WALK_ENDED);
	assert_int_equal(guest.reads, 0);
	assert_int_equal(taken, 0);
	file_copies_free(copies);
}

static void without_some_of_it_there_is_no_copy(void **state)
{
	const struct cache_layout *cache = &kernel.layout.cache;

	(void)state;
	set_up();
	set_entry(leaf_of(21), 22, 0);		/* it was never read */
	refuse();
	set_up();
	set_entry(leaf_of(22), 22, 0x1001);	/* it is on a disk */
	refuse();
	set_up();
	set(page_struct(guest.frames[40]) + cache->contents, BASE + OWNER);	/* it is another file's by now */
	refuse();
	set_up();
	set(page_struct(guest.frames[40]) + cache->index, 41);
	refuse();
	set_up();
	set(page_struct(guest.frames[22]) + cache->head, 0);	/* the folio was split */
	refuse();
	set_up();
	set_entry(NODES, 0, BASE + NODES + 2);	/* a loop */
	refuse();
	set_up();
	set(OWNER + cache->size, PAGE);		/* its sections are beyond its end */
	refuse();
	set_up();
	set_section(1, 1, SHT_PROGBITS, FRAMES_AT, UINT64_MAX - 1, 0);
	set_page(79, guest.frames[79], 0);
	refuse();
	set_up();
	guest.bytes[guest.frames[0] * PAGE] = 0;	/* no ELF file */
	refuse();
}

static void what_never_comes_is_given_up(void **state)
{
	(void)state;
	set_up();
	begin();
	guest.late = guest.frames[40];
	assert_int_equal(turn(1), WALK_FAILED);
	assert_int_equal(turn(FILE_COPIES_LONGEST), WALK_FAILED);
	assert_int_equal(turn(FILE_COPIES_LONGEST + 1), WALK_ENDED);
	assert_int_equal(taken, 0);
	file_copies_free(copies);
}

static void what_is_on_the_host_is_not_copied(void **state)
{
	(void)state;
	set_up();
	begin();
	now_is = FILE_SOUGHT;
	for (int i = 0; i < 5; i++)
		assert_int_equal(turn(1), WALK_FAILED);
	now_is = FILE_SETTLED;
	assert_int_equal(turn(1), WALK_ENDED);
	assert_int_equal(taken, 0);
	file_copies_want(copies, BASE + CONTENTS, "/bin/tool");
	now_is = FILE_MISSING;
	assert_int_equal(turn(1), WALK_ENDED);
	check_copy();
	file_copies_free(copies);
}

/* Other processors, and a kernel whose structs are not known. */
static void another_kernel_is_not_read(void **state)
{
	(void)state;
	set_up();
	begin();
	kernel.arch = ARCH_AARCH64;
	assert_int_equal(turn(1), WALK_FAILED);
	kernel.arch = ARCH_X86_64;
	kernel.layout.cache.known = false;
	assert_int_equal(turn(1), WALK_FAILED);
	kernel.layout.cache.known = true;
	assert_int_equal(guest.reads, 0);
	assert_int_equal(turn(1), WALK_ENDED);
	check_copy();
	file_copies_free(copies);
}

/* Each word may lead to any other: a turn ends after a bounded number of reads. */
static void hostile_memory_ends(void **state)
{
	struct random random = { .state = 11 };

	(void)state;
	for (int round = 0; round < 300; round++) {
		set_up();
		for (int i = 0; i < 1 + round % 40; i++) {
			uint64_t at = random_below(&random, STRUCTS + FRAMES * STRUCT) / 8 * 8;

			set(at, random_below(&random, 4) ? BASE + random_below(&random, SIZE) :
				random_next(&random));
		}
		copies = file_copies_new();
		file_copies_want(copies, BASE + CONTENTS, "/bin/tool");
		quota = (struct quota) { .most = 1 << 20 };
		turn(1);
		assert_in_range(guest.reads, 0, 2000);
		file_copies_free(copies);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tells_of_functions_is_copied_and_nothing_else),
		cmocka_unit_test(of_a_stripped_file_what_is_loaded_is_copied),
		cmocka_unit_test(a_copy_waits_for_what_comes_late),
		cmocka_unit_test(a_turn_ends_with_its_quota),
		cmocka_unit_test(without_some_of_it_there_is_no_copy),
		cmocka_unit_test(what_never_comes_is_given_up),
		cmocka_unit_test(what_is_on_the_host_is_not_copied),
		cmocka_unit_test(another_kernel_is_not_read),
		cmocka_unit_test(hostile_memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
