/* SPDX-License-Identifier: MIT */
/* This kernel's own trace events. hook_calls.c describes them to ktop; `ktop ctl events +mail` switches them on. */
#ifndef DEMO_EVENTS_H
#define DEMO_EVENTS_H

#include "trace.h"

#define MAIL_EVENTS(KTOP_EVENT) \
	KTOP_EVENT(mail_put, (u32, box), (u32, letters), (u64, address)) \
	KTOP_EVENT(mail_take, (u32, box), (u32, letters), (s8, change))

/* Their ids begin at 100; any number from KTOP_TRACE_USER on would do. */
KTOP_EVENTS(100, MAIL_EVENTS)

#endif
