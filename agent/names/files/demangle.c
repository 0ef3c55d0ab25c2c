/* SPDX-License-Identifier: MIT */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "demangle.h"

struct output {
	char text[DEMANGLE_OUT_MAX];
	size_t size;
	jmp_buf full;
};

/*
 * libiberty cannot be told to stop, and a demangled text may double at every back reference. Leaving by
 * longjmp leaks at most the few hundred bytes of one punycode identifier that libiberty may hold.
 */
static void append(const char *text, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size > sizeof(output->text) - output->size)
		longjmp(output->full, 1);
	if (size)
		memcpy(output->text + output->size, text, size);
	output->size += size;
}

/* Without parameters, as perf shows it. "name.cold" keeps its suffix, which distinguishes it from "name". */
static bool demangle_cxx(const char *name, struct output *output)
{
	const char *suffix = strchr(name, '.');

	if (!cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append, output))
		return false;
	if (suffix)
		append(suffix, strlen(suffix), output);
	return true;
}

char *demangle(const char *name)
{
	struct output output = { .size = 0 };
	bool done;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	if (strnlen(name, DEMANGLE_IN_MAX + 1) > DEMANGLE_IN_MAX)
		return NULL;
	if (setjmp(output.full))
		return NULL;
	done = rust_demangle_callback(name, DMGL_NO_OPTS, append, &output);
	if (!done && name[1] == 'Z') {
		output.size = 0;
		done = demangle_cxx(name, &output);
	}
	return done && output.size ? util_copy(output.text, output.size) : NULL;
}

char *demangle_shown(const char *name)
{
	char *plain = demangle(name);
	const char *text = plain ? plain : name;
	char *shown = util_printable(text, strlen(text));

	free(plain);
	return shown;
}
