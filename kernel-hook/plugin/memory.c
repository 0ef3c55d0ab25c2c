/* SPDX-License-Identifier: MIT */
#include "memory.h"

enum { PAGE = 4096 };

/* Within one page. */
static uint32_t read_piece(const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	uint64_t offset = address % PAGE, page = qemu->cpu_get_phys_page_debug(cpu, address - offset);

	if (page == UINT64_MAX || qemu->cpu_physical_memory_is_io(page + offset))
		return 0;
	qemu->cpu_physical_memory_rw(page + offset, to, size, false);
	return size;
}

uint32_t memory_read(const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	uint32_t done = 0, got = 1;

	while (done < size && got) {
		uint64_t at = address + done;
		uint32_t left = (uint32_t)(PAGE - at % PAGE);

		got = read_piece(qemu, cpu, at, (uint8_t *)to + done, size - done < left ? size - done : left);
		done += got;
	}
	return done;
}
