/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the memory of a guest, out of which files of programs are copied. Its first words are two variables of
 * the kernel, and the structs of two files.
 */
#include <unistd.h>

#include "agent/names/copies/file_copies.h"
#include "agent/names/linux/linux_kernel.h"
#include "fuzz_memory.h"

enum { CONTENTS = 16, CONTENTS_SIZE = 24, FILES = 2 };

static enum file_state state(void *context, const struct file_copy *file)
{
	(void)context;
	require(file->fd == -1);
	return FILE_MISSING;
}

static void take(void *context, const struct file_copy *copy)
{
	char byte;

	(void)context;
	require(copy->contents >= FUZZ_MEMORY && strcmp(copy->path, "/bin/tool") == 0);
	require(pread(copy->fd, &byte, 1, 0) == 1);
	close(copy->fd);
}

/* True: no turn took too long. */
static bool play(const uint8_t *bytes, size_t size)
{
	static const struct linux_kernel kernel = {
		.arch = ARCH_X86_64, .known = 1u << LANDMARK_PAGE_OFFSET | 1u << LANDMARK_PAGES,
		.landmarks = { [LANDMARK_PAGE_OFFSET] = FUZZ_MEMORY, [LANDMARK_PAGES] = FUZZ_MEMORY + 8 },
		.layout.cache = {
			.known = true, .owner = 0, .root = 8, .size = 16, .shift = 0, .slots = 8, .slots_count = 64,
			.page_size = 64, .contents = 0, .index = 8, .head = 16,
		},
	};
	static const struct file_copy_taker taker = { .state = state, .take = take };
	struct fuzz_memory guest = { .bytes = bytes, .size = size };
	const struct memory_reader reader = { .read = fuzz_memory_read, .context = &guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &guest.quota };
	struct file_copies *copies = file_copies_new();
	enum walk walk = WALK_PAUSED;

	for (uint64_t i = 0; i < FILES; i++)
		file_copies_want(copies, FUZZ_MEMORY + CONTENTS + i * CONTENTS_SIZE, "/bin/tool");
	for (int i = 0; i < FUZZ_TURNS && walk == WALK_PAUSED; i++) {
		fuzz_memory_turn(&guest);
		walk = file_copies_read(copies, &kernel, 0, &memory, 1, &taker);
		fuzz_memory_judge(&guest);
	}
	file_copies_free(copies);
	return !guest.late;
}

/* A host may be so busy that a turn takes long once. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	require(play(bytes, size) || play(bytes, size) || play(bytes, size));
	return 0;
}
