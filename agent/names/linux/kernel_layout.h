/* SPDX-License-Identifier: MIT */
/* The offsets, in bytes, of the members of a Linux kernel's structs that ktop reads in the guest's memory. */
#ifndef KERNEL_LAYOUT_H
#define KERNEL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;

/* The kernel keeps lists of the code that it generates while it runs. The struct of an entry of such a list: */
struct code_list_layout {
	bool known;			/* the rest is known */
	bool ends;			/* the member `length` has the code's end, not its size */
	uint32_t list, start, length;	/* the links of the list; the code */
	uint32_t name, name_size;	/* name_size 0: it has no name */
};

/* A node of the tree with a process's areas of memory: struct maple_range_64, struct maple_arange_64. */
struct tree_layout {
	uint32_t pivots, pivots_count;	/* an array: the last address of each slot */
	uint32_t slots, slots_count;	/* an array of pointers: to nodes below, or to areas; 64 at most */
};

/* A process's memory: struct mm_struct, and what it points to. */
struct memory_layout {
	bool known;			/* all of the rest is known */
	uint32_t tree;			/* in struct mm_struct: a pointer to the root of the tree of areas */
	struct tree_layout wide, gaps;	/* struct maple_range_64; struct maple_arange_64 */
	uint32_t start, end, offset, flags, file;	/* in struct vm_area_struct */
	uint32_t entry;			/* in struct file: a pointer to its name, a struct dentry */
	uint32_t name, parent;		/* in that one: pointers to the text, and to the folder's struct dentry */
	uint32_t vdso;			/* in struct mm_struct: the address of the vdso; 0: not known */
	uint32_t contents;		/* in struct file: a pointer to its struct address_space; 0: not known */
};

/* What the kernel has in memory of a file's contents. */
struct cache_layout {
	bool known;			/* all of the rest is known */
	uint32_t owner, root;		/* in struct address_space: a pointer to a struct inode; the root of its tree */
	uint32_t size;			/* in struct inode: the file's size */
	uint32_t shift;			/* in a node of the tree, struct xa_node: a byte */
	uint32_t slots, slots_count;	/* in it: an array of pointers; a power of two, 64 at most */
	uint32_t page_size;		/* of struct page */
	uint32_t contents, index;	/* in struct folio: as in struct file; its place in the file */
	uint32_t head;			/* in struct page: where its folio begins, plus 1; not in a folio's first one */
};

/* The kernel's time since its start, as it was at the last tick: where LANDMARK_CLOCK leads. */
struct clock_layout {
	bool known;
	uint32_t base;			/* 64 bits: ns, and */
	uint32_t fraction, shift;	/* 64 bits and 32 bits: ns, shifted to the left by so much */
};

struct kernel_layout {
	/* struct module */
	bool modules;			/* these members are known */
	uint32_t module_list, module_name, module_name_size;
	uint32_t parts, parts_count, part_size;	/* an array of structs, one for each part of the module's memory */
	uint32_t part_base, part_length;	/* in each of them: a pointer, and 32 bits */
	uint32_t init_part;		/* one more such struct, outside the array; 0: none */
	uint32_t kallsyms;		/* a pointer to a struct mod_kallsyms */
	uint32_t symbols, symbols_count, texts, types;	/* in that one */
	bool orc;			/* the next members, its ORC tables, are known */
	uint32_t orc_count, orc_ips, orc_entries;

	struct code_list_layout bpf, trampolines;	/* struct bpf_ksym; struct ftrace_ops */

	/* struct task_struct */
	bool tasks;			/* these members are known */
	uint32_t task_list, task_pid, task_group, task_comm, task_comm_size, task_stack, task_memory;
	bool states;			/* the next two are known */
	uint32_t task_state, task_queued;	/* 32 bits each; not 0: it is in the scheduler's queue */
	uint32_t current, preempt;	/* in struct pcpu_hot: a pointer to it; preempt_count. 0: no such struct */

	bool irqs;			/* the next one is known */
	uint32_t irq_number;		/* in struct irq_desc: 32 bits */

	struct memory_layout memory;
	struct cache_layout cache;
	struct clock_layout clock;
};

/* Sets what the BTF knows. `word`: bytes of a pointer. */
void kernel_layout_set(struct kernel_layout *layout, const struct btf *btf, size_t word);

/* ---- btf ---- */

/*
 * How a kernel's structs are laid out, by the BTF in its image (linux/Documentation/bpf/btf.rst). It owns only
 * an index. The types stay in the bytes that it was made from.
 */

struct budget;

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
