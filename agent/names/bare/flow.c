/* SPDX-License-Identifier: MIT */
#include "flow.h"
#include "flow_parts.h"

flow_reader *flow_reader_of(enum arch_id arch)
{
	switch (arch) {
	case ARCH_X86_64: return flow_x86_64;
	case ARCH_I386: return flow_i386;
	case ARCH_AARCH64: return flow_aarch64;
	case ARCH_RISCV64: return flow_riscv64;
	default: return NULL;
	}
}
