/* SPDX-License-Identifier: MIT */
/* pair 3 and pair 4 are explained in ring.h and hook.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "sampler.h"

static const char no_nmi[] = "nmi: this kernel or machine cannot send them";

/* Generation 0 means that a CPU is off, so the count skips 0 when it wraps round. */
void ktop_sampler_begin(struct ktop *ktop)
{
	uint64_t period = ktop->hz / ktop->control.rate;
	uint32_t generation = ktop->generation + 1 ? ktop->generation + 1 : 1;

	__atomic_store_n(&ktop->period, period ? period : 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < ktop->cpus; i++)
		__atomic_store_n(&ktop->cpu[i].generation, ktop->cpu[i].enabled ? generation : 0,
			__ATOMIC_RELEASE);					/* pair 4 */
	__atomic_store_n(&ktop->generation, generation, __ATOMIC_RELEASE);		/* pair 4 */
	ktop->control.kick = ktop->wanted != KTOP_NONE;
}

/* Is any CPU taking a sample? */
static bool sampling(struct ktop *ktop)
{
	for (uint32_t i = 0; i < ktop->cpus; i++)
		if (ktop_ring_busy(ktop_ring(&ktop->cpu[i], KTOP_SAMPLES)))
			return true;
	return false;
}

/* Makes the counters overflow at this rate; 0: never. Returns NULL, or a text that says why they cannot. */
static const char *count(struct ktop *ktop, uint32_t rate)
{
	const char *why = NULL;

	if (ktop->counters && rate != ktop->control.counting) {
		why = ktop->counters(rate);
		ktop->control.counting = why ? 0 : rate;
	}
	return why;
}

/* The timer samples from now on; `why` goes to the host. */
static void fall_back(struct ktop *ktop, const char *why)
{
	ktop->control.nmi_works = false;
	ktop->control.sampler = KTOP_TIMER;
	ktop_str_set(&ktop->meta.note, why);
	ktop_sampler_renew(ktop);
}

void ktop_sampler_settle(struct ktop *ktop)
{
	const char *why = count(ktop, ktop->wanted == KTOP_NMI ? ktop->control.rate : 0);

	if (why)
		fall_back(ktop, why);
	if (ktop->sampler == ktop->wanted)
		return;
	__atomic_store_n(&ktop->sampler, KTOP_NONE, __ATOMIC_SEQ_CST);		/* pair 3 */
	if (ktop->wanted == KTOP_NONE || sampling(ktop))
		return;
	ktop_sampler_begin(ktop);
	__atomic_store_n(&ktop->sampler, ktop->wanted, __ATOMIC_RELEASE);		/* pair 4 */
}

void ktop_sampler_kick(struct ktop *ktop)
{
	if (!ktop->control.kick)
		return;
	ktop->control.kick = false;
	for (uint32_t i = 0; i < ktop->cpus; i++)
		ktop_port_kick(i);
}

/* A trace point that stays on is not touched: no event is lost when the sampler changes. */
void ktop_sampler_run(struct ktop *ktop, bool on)
{
	on = on && !__atomic_load_n(&ktop->dead, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->running, on, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->wanted, on ? ktop->control.sampler : KTOP_NONE, __ATOMIC_RELAXED);
	ktop->tracing = false;
	for (uint32_t i = 0; i < ktop->control.event_words; i++) {
		uint32_t mask = on ? ktop->control.events[i] : 0;

		ktop->tracing |= mask != 0;
		if (i == KTOP_TRACE_FIRST / 32)
			mask = ktop_trace_choose(ktop, mask);
		if (mask == ktop->trace[i])
			continue;
		__atomic_store_n(&ktop->trace[i], mask, __ATOMIC_SEQ_CST);		/* pair 3 */
	}
	if (__atomic_load_n(&ktop->dead, __ATOMIC_RELAXED))	/* meanwhile, on another CPU */
		for (uint32_t i = 0; i < KTOP_TRACE_WORDS; i++)
			__atomic_store_n(&ktop->trace[i], 0, __ATOMIC_RELAXED);
	ktop_meta_beat(ktop);
}

void ktop_sampler_renew(struct ktop *ktop)
{
	ktop_sampler_run(ktop, ktop_running(ktop));
}

const char *ktop_sampler_refusal(struct ktop *ktop)
{
	struct ktop_cpu *first = &ktop->cpu[0];

	if (ktop->counters)
		return count(ktop, ktop->control.rate);
	if (ktop->cpus < 2)
		return "nmi needs two CPUs: one is set aside to send them";
	if (ktop->control.nmi_works)
		return NULL;
	/* No CPU paces before NMIs are known to work, so here the drainer may write `sent`. */
	__atomic_store_n(&first->sent, first->sent + 1, __ATOMIC_RELAXED);
	ktop->control.nmi_works = ktop_port_nmi(0);
	if (ktop->control.nmi_works)
		return NULL;
	__atomic_store_n(&first->sent, first->sent - 1, __ATOMIC_RELAXED);
	return no_nmi;
}

void ktop_sampler_fall_back(struct ktop *ktop)
{
	if (__atomic_exchange_n(&ktop->unsent, 0, __ATOMIC_RELAXED) &&
			ktop->control.sampler == KTOP_NMI)
		fall_back(ktop, no_nmi);
}
