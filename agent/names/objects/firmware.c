/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "firmware.h"

enum {
	PAGE = 4096, MIB = 1 << 20,
	WINDOW = 16,			/* pages that are asked for at a time */
	SIGN_MOST = 16,
};

/* Where QEMU's boards have their firmware: hw/i386/pc.c, hw/arm/virt.c, hw/riscv/virt.c. */
struct board {
	/* What EDK II has there. */
	uint64_t sign_at;
	const char *sign;
	size_t sign_size;
	uint64_t uboot;			/* where U-Boot is loaded; NONE: not known */
};

#define NONE UINT64_MAX
/* EDK II, MdePkg/Include/Pi/PiFirmwareVolume.h: a volume's signature, behind 16 zero bytes, a GUID and a length. */
#define VOLUME "_FVH"
enum { VOLUME_AT = 40 };
/* EDK II, OvmfPkg/ResetVector: the GUID of the table that ends 32 bytes below 4 GiB. */
#define TABLE "\xde\x82\xb5\x96\xb2\x1f\xf7\x45\xba\xea\xa3\x66\xc5\x5a\x08\x2d"

static const struct board boards[ARCHS] = {
	[ARCH_X86_64] = { 0xffffffd0, TABLE, sizeof(TABLE) - 1, NONE },
	[ARCH_I386] = { 0xffffffd0, TABLE, sizeof(TABLE) - 1, NONE },
	[ARCH_AARCH64] = { VOLUME_AT, VOLUME, sizeof(VOLUME) - 1, 0 },
	[ARCH_RISCV64] = { 0x20000000 + VOLUME_AT, VOLUME, sizeof(VOLUME) - 1, 0x80200000 },
};

static const char banner[] = "U-Boot 20";	/* and the rest of the year */

/* False: it may come later. `there`: it was read. */
static bool read_bytes(const struct memory_reader *physical, uint64_t address, void *to, size_t size, bool *there)
{
	uint64_t awaited = memory_reader_awaited(physical);

	*there = physical->read(physical->context, address, to, size);
	return *there || memory_reader_awaited(physical) == awaited;
}

static void look_for_uefi(struct firmware_search *search, const struct board *board,
	const struct memory_reader *physical)
{
	char bytes[SIGN_MOST];
	bool there;

	if (!read_bytes(physical, board->sign_at, bytes, board->sign_size, &there))
		return;
	if (there && memcmp(bytes, board->sign, board->sign_size) == 0)
		search->found = FIRMWARE_UEFI;
	search->stage = search->found || board->uboot == NONE ? FIRMWARE_DONE : FIRMWARE_SEARCHES;
}

/* A page, and as much of the next one as a banner needs. False: it may come later. */
static bool look_for_banner(struct firmware_search *search, uint64_t address, const struct memory_reader *physical)
{
	char bytes[PAGE + sizeof(banner)];
	bool there;

	if (!read_bytes(physical, address, bytes, sizeof(bytes), &there))
		return false;
	if (there && memmem(bytes, sizeof(bytes), banner, strlen(banner)))
		search->found = FIRMWARE_UBOOT;
	return true;
}

static void look_for_uboot(struct firmware_search *search, const struct board *board,
	const struct memory_reader *physical)
{
	char byte;
	bool there;

	while (search->searched < MIB && !search->found &&
			look_for_banner(search, board->uboot + search->searched, physical))
		search->searched += PAGE;
	if (search->searched == MIB || search->found)
		search->stage = FIRMWARE_DONE;
	for (uint64_t i = 1; search->stage != FIRMWARE_DONE && i < WINDOW && search->searched + i * PAGE < MIB; i++)
		read_bytes(physical, board->uboot + search->searched + i * PAGE, &byte, 1, &there);
}

void firmware_search(struct firmware_search *search, enum arch_id arch, const struct memory_reader *physical)
{
	const struct board *board = &boards[arch];

	if (!board->sign) {
		search->stage = FIRMWARE_DONE;
		return;
	}
	if (search->stage == FIRMWARE_BEGINS)
		look_for_uefi(search, board, physical);
	if (search->stage == FIRMWARE_SEARCHES)
		look_for_uboot(search, board, physical);
}
