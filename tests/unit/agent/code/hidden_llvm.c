/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "hidden_llvm.h"

static bool is_hidden;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

void hidden_llvm(bool hidden)
{
	is_hidden = hidden;
}

void *__wrap_dlopen(const char *name, int flags)
{
	return is_hidden ? NULL : __real_dlopen(name, flags);
}
