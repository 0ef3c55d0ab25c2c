/* SPDX-License-Identifier: MIT */
/* Trace events of a sample set, out of an array. */
#ifndef EVENT_LIST_H
#define EVENT_LIST_H

#include <stddef.h>

#include "agent/samples/sample_set.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"	/* an event of a list without a stack does not say so */

extern const struct set_event_kind event_switch, event_irq_enter, event_irq_exit, event_call, event_return, event_mail,
	event_lost, event_sure, event_changed, event_wait, event_waited, event_leave, event_wake;

/* The set has these events from now on; the array has to live as long. */
void event_list_give(struct sample_set *set, const struct set_event *events, size_t count);

#endif
