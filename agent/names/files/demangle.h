/* SPDX-License-Identifier: MIT */
/* Turns mangled C++ and Rust names (legacy and v0) into what a person wrote. */
#ifndef KTOP_DEMANGLE_H
#define KTOP_DEMANGLE_H

enum {
	DEMANGLE_IN_MAX = 1024,		/* bytes; libiberty gives up there, too */
	DEMANGLE_OUT_MAX = 4096,	/* bytes; a short name can stand for an endless text */
};

/* Fresh memory. NULL: the name is not mangled, or its text would be too long. Any thread. */
char *demangle(const char *name);

/* The name as ktop shows it: demangled if it is mangled, and printable; fresh memory. */
char *demangle_shown(const char *name);

#endif
