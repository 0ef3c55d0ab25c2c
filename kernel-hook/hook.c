/* SPDX-License-Identifier: MIT */
/* What others may ask of the hook: is it on, and what its books say. */
#include <stdbool.h>
#include <stdint.h>

#include "base/ring.h"
#include "hook.h"
#include "ktop.h"

bool ktop_running(const struct ktop *ktop)
{
	return __atomic_load_n(&ktop->running, __ATOMIC_RELAXED);
}

uint64_t ktop_lost(const struct ktop *ktop, uint32_t cpu, uint32_t stream)
{
	return ktop_ring_lost(ktop_ring(&ktop->cpu[cpu], stream));
}

uint64_t ktop_taken(const struct ktop *ktop, uint32_t cpu, uint32_t stream)
{
	return ktop_ring_taken(ktop_ring(&ktop->cpu[cpu], stream));
}

bool ktop_on(const struct ktop *ktop, uint32_t cpu, enum ktop_stream stream)
{
	if (!ktop->cpu[cpu].enabled)
		return false;
	if (stream == KTOP_TRACE)
		return ktop->tracing;
	return ktop->sampler == KTOP_TIMER ||
		(ktop->sampler == KTOP_NMI && cpu != ktop_sampler_cpu(ktop));
}
