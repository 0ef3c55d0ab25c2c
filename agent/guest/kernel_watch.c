/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "guest_memory.h"
#include "kernel_watch.h"

enum {
	PAUSE_MS = 2000,		/* between two looks */
	LOOK_MS = 30000,		/* a look that takes longer is given up: the kernel changes meanwhile */
};

/* QEMU's machine `virt` loads a kernel there: hw/arm/boot.c, start of RAM and 2 MiB. */
#define ARM64_START UINT64_C(0x40200000)

struct kernel_watch {
	struct symbols *symbols;
	struct guest_memory *memory;
	bool looking;			/* a look is under way: it waits for pages */
	bool news;			/* pages have come since the last walk */
	bool tells;			/* the line about threads is to be sent */
	uint64_t begun, due;		/* util_now: of this look; of the next one */
};

struct kernel_watch *kernel_watch_new(struct symbols *symbols, struct guest_memory *memory)
{
	struct kernel_watch *watch = util_alloc(sizeof(*watch));

	watch->symbols = symbols;
	watch->memory = memory;
	return watch;
}

void kernel_watch_free(struct kernel_watch *watch)
{
	free(watch);
}

void kernel_watch_wake(struct kernel_watch *watch)
{
	watch->news = true;
}

static void place(struct kernel_watch *watch)
{
	const struct memory_reader memory = guest_memory_virtual(watch->memory);
	const struct memory_reader physical = guest_memory_physical(watch->memory);

	if (symbols_linux_kernel(watch->symbols)->machine == KERNEL_ARM64)
		running_kernel_place_physically(watch->symbols, &physical, ARM64_START);
	else
		running_kernel_place(watch->symbols, &memory, 0);
}

/* Reads as far as pages are there. True: none was missing. */
static bool walk(struct kernel_watch *watch)
{
	const struct memory_reader memory = guest_memory_virtual(watch->memory);
	uint64_t awaited = memory_reader_awaited(&memory);

	watch->news = false;
	if (!symbols_kernel_is_placed(watch->symbols))
		place(watch);
	running_kernel_read_modules(watch->symbols, &memory);
	return awaited == memory_reader_awaited(&memory);
}

bool kernel_watch_step(struct kernel_watch *watch, bool live, uint64_t now)
{
	uint64_t before = symbols_generation(watch->symbols);

	if (!symbols_linux_kernel(watch->symbols) || (!watch->looking && now < watch->due))
		return false;
	if (!watch->looking) {
		if (live)
			guest_memory_renew(watch->memory);
		watch->looking = watch->news = watch->tells = true;
		watch->begun = now;
	}
	if ((watch->news && walk(watch)) || now - watch->begun >= (uint64_t)LOOK_MS * NS_PER_MS) {
		watch->looking = false;
		watch->due = now + (uint64_t)PAUSE_MS * NS_PER_MS;
	}
	return before != symbols_generation(watch->symbols);
}

/* Where a pointer to the thread's record lies, in the data of each CPU. */
static bool find_current(const struct linux_kernel *kernel, uint64_t *current)
{
	if (linux_kernel_landmark(kernel, LANDMARK_PCPU_HOT, current)) {
		*current += kernel->layout.current;
		return true;
	}
	return linux_kernel_landmark(kernel, LANDMARK_CURRENT_TASK, current);
}

bool kernel_watch_line(struct kernel_watch *watch, char line[COMMANDS_LINE_MAX + 1])
{
	const struct linux_kernel *kernel = symbols_linux_kernel(watch->symbols);
	const struct kernel_layout *layout = kernel ? &kernel->layout : NULL;
	char current[20] = "self";
	uint64_t at;

	if (!watch->tells || !kernel || !layout->tasks)
		return false;
	watch->tells = false;
	if (kernel->machine == KERNEL_X86_64 && find_current(kernel, &at))
		snprintf(current, sizeof(current), "%" PRIx64, at);
	else if (kernel->machine != KERNEL_ARM64)
		return false;
	snprintf(line, COMMANDS_LINE_MAX + 1, "task %s %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32, current,
		layout->task_group, layout->task_pid, layout->task_comm, layout->task_memory);
	return true;
}
