/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "arch_id.h"

enum arch_id arch_id_named(const char *name)
{
	static const struct { const char *name; enum arch_id id; } archs[] = {
		{ "x86_64", ARCH_X86_64 }, { "i386", ARCH_I386 }, { "i686", ARCH_I386 }, { "riscv64", ARCH_RISCV64 },
		{ "aarch64", ARCH_AARCH64 }, { "arm64", ARCH_AARCH64 },
	};

	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (strcmp(archs[i].name, name) == 0)
			return archs[i].id;
	return ARCH_OTHER;
}

enum arch_id arch_id_elf(unsigned machine)
{
	switch (machine) {
	case EM_X86_64: return ARCH_X86_64;
	case EM_386: return ARCH_I386;
	case EM_RISCV: return ARCH_RISCV64;
	case EM_AARCH64: return ARCH_AARCH64;
	default: return ARCH_OTHER;
	}
}

static bool is_pc(enum arch_id arch)
{
	return arch == ARCH_X86_64 || arch == ARCH_I386;
}

bool arch_id_contradicts(enum arch_id a, enum arch_id b)
{
	return a != ARCH_OTHER && b != ARCH_OTHER && a != b && !(is_pc(a) && is_pc(b));
}
