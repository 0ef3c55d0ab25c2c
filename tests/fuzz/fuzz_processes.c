/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as BTF, and as the memory of a guest whose processes and their areas are read by what that says, or by a
 * layout of our own. The first process is at the first byte.
 */
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/processes.h"
#include "fuzz_memory.h"

struct seen {				/* a visitor's context */
	const struct kernel_layout *layout;
	struct fuzz_memory *guest;
};

static bool see_area(void *context, const struct process_area *area)
{
	(void)context;
	require(area->start < area->end && strlen(area->path) <= PROCESS_PATH_MAX);
	return true;
}

static bool see_process(void *context, const struct process *process)
{
	const struct seen *seen = context;
	const struct memory_reader reader = { .read = fuzz_memory_read, .context = seen->guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &seen->guest->quota };
	const struct process_visitor visitor = { .area = see_area };

	require(strlen(process->name) <= PROCESS_NAME_MAX);
	process_areas_visit(seen->layout, process, &memory, &visitor);
	return true;
}

static void read_all(const struct kernel_layout *layout, struct fuzz_memory *guest)
{
	const struct memory_reader reader = { .read = fuzz_memory_read, .context = guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &guest->quota };
	struct seen seen = { .layout = layout, .guest = guest };
	const struct process_visitor visitor = { .process = see_process, .context = &seen };
	struct list_place place = { .next = 0 };
	enum walk walk = WALK_PAUSED;

	for (int i = 0; i < FUZZ_TURNS && walk == WALK_PAUSED; i++) {
		fuzz_memory_turn(guest);
		walk = processes_visit(layout, FUZZ_MEMORY, &memory, &place, &visitor);
		fuzz_memory_judge(guest);
	}
}

/* True: no turn took too long. */
static bool play(const uint8_t *bytes, size_t size)
{
	static const struct kernel_layout own = {
		.tasks = true, .task_list = 8, .task_pid = 24, .task_group = 28, .task_comm = 32, .task_comm_size = 16,
		.task_memory = 48,
		.memory = {
			.known = true, .tree = 8, .vdso = 16,
			.wide = { .pivots = 8, .pivots_count = 15, .slots = 128, .slots_count = 16 },
			.gaps = { .pivots = 8, .pivots_count = 9, .slots = 80, .slots_count = 10 },
			.end = 8, .offset = 16, .flags = 24, .file = 32,
			.entry = 8, .name = 16, .parent = 24,
		},
	};
	struct fuzz_memory guest = { .bytes = bytes, .size = size };
	struct btf *btf = btf_new(bytes, size, 8, NULL);
	struct kernel_layout layout;

	if (btf) {
		kernel_layout_set(&layout, btf, 8);
		read_all(&layout, &guest);
	}
	btf_free(btf);
	read_all(&own, &guest);
	return !guest.late;
}

/* A host may be so busy that a turn takes long once. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	require(play(bytes, size) || play(bytes, size) || play(bytes, size));
	return 0;
}
