/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "util.h"

static void *take(size_t size)
{
	return util_grow(NULL, size, 1);
}

void json_begin(void)
{
	cJSON_InitHooks(&(cJSON_Hooks) { .malloc_fn = take, .free_fn = free });
}
