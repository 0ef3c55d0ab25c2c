/* SPDX-License-Identifier: MIT */
/*
 * What is known of a Linux kernel besides the names of its code: where some of its data lies, its ORC
 * tables, its version and build. Addresses are link addresses. Made once from the kernel's bytes, then only
 * read, by any thread.
 */
#ifndef LINUX_KERNEL_H
#define LINUX_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_bytes.h"
#include "kernel_layout.h"

struct budget;
struct call_sites;
struct kallsyms;
struct orc;
struct orc_entry;

enum landmark {				/* symbols that ktop looks for */
	LANDMARK_TEXT,			/* where the kernel begins */
	LANDMARK_CODE, LANDMARK_CODE_END,	/* its code */
	LANDMARK_DIVIDE_ERROR,		/* x86: the handler of gate 0 of the IDT */
	LANDMARK_THUNKS,		/* x86: code by which functions are called whose address is in a register */
	LANDMARK_VECTORS,		/* arm64 */
	LANDMARK_ENTRY,			/* riscv64 */
	LANDMARK_BANNER,		/* the text with its version */
	LANDMARK_MODULES, LANDMARK_BPF, LANDMARK_TRAMPOLINES, LANDMARK_INIT_TASK,
	LANDMARK_CURRENT_TASK, LANDMARK_PCPU_HOT, LANDMARK_PREEMPT_COUNT,	/* absolute, as offsets */
	LANDMARK_PER_CPU_OFFSET,
	LANDMARK_PAGE_OFFSET, LANDMARK_PAGES,	/* x86-64: pointers to all RAM, and to the structs of its pages */
	LANDMARK_CLOCK,			/* struct tk_data, or what came before it: the kernel's time */
	LANDMARK_NOTES, LANDMARK_NOTES_END,
	LANDMARK_ORC_IP, LANDMARK_ORC_IP_END, LANDMARK_ORC, LANDMARK_ORC_END,
	LANDMARK_BTF_END,
	LANDMARKS,
};

enum { LINUX_BANNER_MAX = 127, LINUX_BUILD_ID_MAX = 64, LINUX_VERSION_MAX = 63 };

struct linux_kernel {
	enum arch_id arch;
	uint64_t start;			/* address of its first byte */
	uint64_t end;			/* where the last of its tables ends, by its symbols; 0: they do not tell */
	uint64_t base;			/* kallsyms.base: moves with the kernel */
	uint64_t base_place;		/* the address where the kernel stores `base`; 0: nowhere */
	uint32_t known;			/* bit i: landmarks[i] is known */
	uint64_t landmarks[LANDMARKS];
	char banner[LINUX_BANNER_MAX + 1];	/* "Linux version 6.1..."; any bytes, "" if it was not found */
	char version[LINUX_VERSION_MAX + 1];	/* "6.1..." out of the banner, printable; "" if it was not found */
	uint64_t room, room_start;	/* boot_image_room(); 0: not known */
	size_t build_id_size;		/* 0: unknown */
	uint8_t build_id[LINUX_BUILD_ID_MAX];
	struct kernel_layout layout;	/* by its BTF; all 0: it has none */
	struct call_sites *calls;	/* NULL: not known */
	struct orc *orc;		/* NULL: it has no ORC tables */
};

/*
 * `kallsyms` was found in `bytes`. If the bytes are an Image, this sets their addresses. If only the boot writes the
 * base of `kallsyms`, this sets it to what the boot would write. NULL: an Image does not say where it was linked.
 */
struct linux_kernel *linux_kernel_new(struct kernel_bytes *bytes, struct kallsyms *kallsyms,
	struct budget *budget);

struct linux_kernel *linux_kernel_hold(struct linux_kernel *kernel);
void linux_kernel_free(struct linux_kernel *kernel);	/* the last holder frees it; NULL is allowed */

/* The ORC entry for a link address. False: none. */
bool linux_kernel_orc(const struct linux_kernel *kernel, uint64_t address, struct orc_entry *entry);

/* False: that address is not known. */
bool linux_kernel_landmark(const struct linux_kernel *kernel, enum landmark landmark, uint64_t *address);

/* ---- the slide ---- */

/*
 * Where a Linux kernel runs: KASLR moves it in each boot. The slide is its run addresses minus its link
 * addresses, modulo 2^64. Each way reads a few places of the guest's memory and believes only what agrees
 * with the kernel's image. False: no such kernel is there, or it cannot be read now; *slide stays as it is.
 */

enum { SLIDE_STEP = 2 << 20 };	/* KASLR moves a kernel by multiples of this */

struct linux_kernel;
struct memory_reader;

/* x86-64: the run address of the function in gate 0 of the IDT. */
bool slide_read_gate(const struct memory_reader *memory, uint64_t *handler);

/* x86-64: by gate 0 of the IDT, which lies at the same address in all kernels. */
bool slide_by_gate(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide);

/*
 * By `code`, any run address in the kernel's code: tries each slide that puts it there. The right one puts the word at
 * base_place, too, and that word holds `base` plus the slide.
 */
bool slide_by_base(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t code,
	uint64_t *slide);

/* The same by physical memory. `start`: the physical address of the kernel's first byte. */
bool slide_by_physical_base(const struct linux_kernel *kernel, const struct memory_reader *physical,
	uint64_t start, uint64_t *slide);

/* x86: looks for the text with the kernel's version at each place that KASLR may choose. */
bool slide_by_banner(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide);

#endif
