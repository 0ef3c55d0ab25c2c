/* SPDX-License-Identifier: MIT */
/*
 * How a kernel's structs are laid out, by the BTF in its image (linux/Documentation/bpf/btf.rst). It owns only
 * an index. The types stay in the bytes that it was made from.
 */
#ifndef BTF_H
#define BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct btf;

struct btf_member {			/* all in bytes */
	uint32_t offset;
	uint32_t size;			/* of an array: of all its elements; 0: not known */
	uint32_t element;		/* of an array: of one element; else as `size` */
};

/* Finds the first BTF in these bytes, which have to outlive it. `word`: bytes of a pointer. NULL: none. */
struct btf *btf_new(const uint8_t *bytes, size_t size, size_t word, struct budget *budget);
void btf_free(struct btf *btf);

/*
 * A member of a struct or union by its name, or by a path through others inside it: "core_layout.base". Members of
 * unnamed structs and unions are their parent's. False: there is none, or it is a bit field.
 */
bool btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *member);

uint32_t btf_size(const struct btf *btf, const char *type);	/* of a struct or union; 0: there is none */

#endif
