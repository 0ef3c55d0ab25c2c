/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file with call frame information: the rules that come out name registers that there are. */
#include <sys/mman.h>
#include <unistd.h>

#include "agent/names/dwarf/sym_cfi.h"
#include "fuzz.h"

enum { ADDRESSES = 64, STEP = 16 };

static void check_rules(const struct frame_rules *rules)
{
	require(rules->base < FRAME_RULES_REGISTERS && rules->return_address < FRAME_RULES_REGISTERS);
	for (unsigned i = 0; i < FRAME_RULES_REGISTERS; i++)
		require(rules->registers[i].rule <= FRAME_REGISTER);
}

/* Where the files of the corpus have their code. */
static const uint64_t texts[] = { 0, 0x1000, 0x401000, 0xffffffff81000000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct frame_rules rules;
	struct sym_cfi *cfi;

	require(write(fd, bytes, size) == (ssize_t)size);
	cfi = sym_cfi_open(fd);
	for (size_t i = 0; cfi && i < sizeof(texts) / sizeof(*texts); i++)
		for (uint64_t at = 0; at < ADDRESSES; at++)
			if (sym_cfi_find(cfi, texts[i] + at * STEP, &rules))
				check_rules(&rules);
	sym_cfi_close(cfi);
	return 0;
}
