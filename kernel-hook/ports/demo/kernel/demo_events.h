/* SPDX-License-Identifier: MIT */
/* Trace events of this kernel's own: told in hook_calls.c; `ktop ctl events +mail` switches them on. */
#ifndef DEMO_EVENTS_H
#define DEMO_EVENTS_H

#include "trace.h"

#define MAIL_EVENTS(KTOP_EVENT) \
	KTOP_EVENT(mail_put, (u32, box), (u32, letters), (u64, address)) \
	KTOP_EVENT(mail_take, (u32, box), (u32, letters), (s8, change))

/* From 100 on: any number from KTOP_TRACE_USER on would do. */
KTOP_EVENTS(100, MAIL_EVENTS)

#endif
