/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/base/util.h"
#include "span.h"

const char *const span_words[SPAN_KINDS] = {
	[SPAN_THREAD] = "thread", [SPAN_INTERRUPT] = "irq", [SPAN_CALL] = "syscall", [SPAN_SLEEP] = "sleep",
	[SPAN_READY] = "ready", [SPAN_SOFTIRQ] = "softirq", [SPAN_LOCK] = "lock", [SPAN_HOLD] = "hold",
	[SPAN_PAIR] = "span", [SPAN_SINGLE] = "event",
};

enum trace_role span_role(enum span_kind kind)
{
	static const enum trace_role roles[SPAN_KINDS] = {
		[SPAN_INTERRUPT] = ROLE_IRQ_BEGIN, [SPAN_CALL] = ROLE_CALL_BEGIN, [SPAN_SOFTIRQ] = ROLE_SOFTIRQ_BEGIN,
		[SPAN_LOCK] = ROLE_LOCK_WAIT, [SPAN_HOLD] = ROLE_LOCK_WAIT,
		[SPAN_PAIR] = ROLE_SINGLE, [SPAN_SINGLE] = ROLE_SINGLE,
	};

	return roles[kind];
}

const char *span_text(enum span_kind kind, uint64_t number, char text[SPAN_TEXT])
{
	static const char *const waits[SPAN_KINDS][2] = {
		[SPAN_SLEEP] = { [SLEEP_ANY] = "sleep", [SLEEP_BLOCKED] = "blocked" },
		[SPAN_READY] = { [READY_WOKEN] = "wake to run", [READY_PREEMPTED] = "preempted" },
	};

	if (waits[kind][0])
		return util_print(text, SPAN_TEXT, "%s", waits[kind][number & 1]);
	if (span_is_other(kind))
		return (uint32_t)number == UINT32_MAX ? util_print(text, SPAN_TEXT, "event %u", SPAN_EVENT(number)) :
			util_print(text, SPAN_TEXT, "event %u %u", SPAN_EVENT(number), (uint32_t)number);
	if (number == SPAN_OTHERS)
		return util_print(text, SPAN_TEXT, "%s (others)", span_words[kind]);
	if (number > UINT32_MAX)			/* an address */
		return util_print(text, SPAN_TEXT, "%s %" PRIx64, span_words[kind], number);
	return util_print(text, SPAN_TEXT, "%s %" PRIu64, span_words[kind], number);
}
