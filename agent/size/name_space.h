/* SPDX-License-Identifier: MIT */
/* The namespaces in a demangled name of C++ or Rust, such as `core` and `core::fmt` of `core::fmt::write`. */
#ifndef NAME_SPACE_H
#define NAME_SPACE_H

#include <stddef.h>

/*
 * The name's namespace: where it begins in the name, and its bytes; 0: it has none. Of `<a::B<T> as c::D>::e` it is
 * that of the type, `a::B`. Arguments of templates stay out: of `a::B<T>::c` it is `a::B`.
 */
const char *name_space(const char *name, size_t *size);

/* How many bytes at the beginning of a namespace are its outermost part, behind the first `from` of them. */
size_t name_space_part(const char *space, size_t size, size_t from);

#endif
