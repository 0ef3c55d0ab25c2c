/* SPDX-License-Identifier: MIT */
/* Where the members of a Linux kernel's structs lie that ktop reads in the guest's memory. In bytes. */
#ifndef KERNEL_LAYOUT_H
#define KERNEL_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct btf;

/* A list of code that the kernel makes while it runs. */
struct code_list_layout {
	bool known;
	bool ends;			/* `length` is its end, not its size */
	uint32_t list, start, length;
	uint32_t name, name_size;	/* name_size 0: it has none */
};

struct kernel_layout {
	bool modules;			/* the following is known: of struct module */
	uint32_t module_list, module_name, module_name_size;
	uint32_t parts, parts_count, part_size;		/* its memory: so many structs, each so large */
	uint32_t part_base, part_length;		/* in each: a pointer, and 32 bits */
	uint32_t init_part;		/* another one of them, beside; 0: none */
	uint32_t kallsyms;		/* a pointer to this: */
	uint32_t symbols, symbols_count, texts, types;	/* in struct mod_kallsyms */
	bool orc;			/* and this: of its ORC tables */
	uint32_t orc_count, orc_ips, orc_entries;

	struct code_list_layout bpf, trampolines;	/* of struct bpf_ksym; of struct ftrace_ops */

	bool tasks;			/* the following is known: of struct task_struct */
	uint32_t task_list, task_pid, task_group, task_comm, task_comm_size, task_stack;
};

void kernel_layout_set(struct kernel_layout *layout, const struct btf *btf);

#endif
