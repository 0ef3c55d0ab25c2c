/* SPDX-License-Identifier: MIT */
/* Mangled C++ and Rust names (legacy and v0) to what a person wrote. */
#ifndef KTOP_DEMANGLE_H
#define KTOP_DEMANGLE_H

enum {
	DEMANGLE_IN_MAX = 1024,		/* bytes; where libiberty gives up, too */
	DEMANGLE_OUT_MAX = 4096,	/* a short name can stand for a text without end */
};

/* Fresh memory; NULL when the name is not mangled or its text would be too long. Any thread. */
char *demangle(const char *name);

/* As it is shown: demangled, where it is mangled, and printable; fresh memory. */
char *demangle_shown(const char *name);

#endif
