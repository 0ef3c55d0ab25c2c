/* SPDX-License-Identifier: MIT */
/* A hook and its host. Each of the headers that include this begins the hook in its own way. */
#ifndef HOSTED_H
#define HOSTED_H

#include <stdlib.h>

#include "kernel-hook/ktop.h"
#include "tests/unit/fakes/fake_host.h"

static struct ktop *ktop;
static struct fake_host *host;

static inline int tear_down(void **state)
{
	(void)state;
	free(ktop);
	fake_host_free(host);
	return 0;
}

static inline void settle(void)
{
	fake_host_drain(ktop);
}

#endif
