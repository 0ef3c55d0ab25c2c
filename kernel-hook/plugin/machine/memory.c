/* SPDX-License-Identifier: MIT */
#include "memory.h"

enum { PAGE = 4096 };

uint32_t memory_read_physical(const struct qemu *qemu, uint64_t address, void *to, uint32_t size)
{
	if (qemu->read_virtual || size == 0 || qemu->cpu_physical_memory_is_io(address) ||
			qemu->cpu_physical_memory_is_io(address + size - 1))
		return 0;
	qemu->cpu_physical_memory_rw(address, to, size, false);
	return size;
}

/* Within one page. */
static uint32_t read_piece(const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	uint64_t offset = address % PAGE, page;

	if (qemu->read_virtual)
		return qemu->read_virtual(cpu, address, to, size);
	page = qemu->cpu_get_phys_page_debug(cpu, address - offset);
	return page == UINT64_MAX ? 0 : memory_read_physical(qemu, page + offset, to, size);
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
