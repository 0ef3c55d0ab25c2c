/* SPDX-License-Identifier: MIT */
/*
 * Where a Linux kernel runs: KASLR moves it in each boot. The slide is its run addresses minus its link
 * addresses, modulo 2^64. Each way reads a few places of the guest's memory and believes only what agrees
 * with the kernel's image. False: no such kernel is there, or it cannot be read now; *slide stays as it is.
 */
#ifndef SLIDE_H
#define SLIDE_H

#include <stdbool.h>
#include <stdint.h>

enum { SLIDE_STEP = 2 << 20 };	/* KASLR moves a kernel by multiples of this */

struct linux_kernel;
struct memory_reader;

/* x86-64: the run address of the function in gate 0 of the IDT. */
bool slide_read_gate(const struct memory_reader *memory, uint64_t *handler);

/* x86-64: by gate 0 of the IDT, which lies at the same address in all kernels. */
bool slide_by_gate(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide);

/*
 * By `code`, any run address in the kernel's code: tries each slide that puts it there. The right one puts the word at
 * base_place (linux_kernel.h), too, and that word holds `base` plus the slide.
 */
bool slide_by_base(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t code,
	uint64_t *slide);

/* The same by physical memory. `start`: the physical address of the kernel's first byte. */
bool slide_by_physical_base(const struct linux_kernel *kernel, const struct memory_reader *physical,
	uint64_t start, uint64_t *slide);

/* x86: looks for the text with the kernel's version at each place that KASLR may choose. */
bool slide_by_banner(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide);

#endif
