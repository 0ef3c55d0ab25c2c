/* SPDX-License-Identifier: MIT */
/*
 * What a Linux kernel that runs tells of itself by its memory, where its boot image is known: where it runs, and its
 * modules with their functions. To be called now and then, by whoever has a source that can read the guest's memory.
 */
#ifndef RUNNING_KERNEL_H
#define RUNNING_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct memory_reader;
struct symbols;

/* `code`: an address of the kernel's code, 0 if none is known. False: where it runs is not known, or not yet. */
bool running_kernel_place(struct symbols *symbols, const struct memory_reader *memory, uint64_t code);

/* Likewise by physical memory, where the kernel's first byte lies there. */
bool running_kernel_place_physically(struct symbols *symbols, const struct memory_reader *physical, uint64_t start);

/*
 * New modules become objects of the symbols, and their functions are told to them. False: it is not known where the
 * kernel runs, or its list could not be read to its end.
 */
bool running_kernel_read_modules(struct symbols *symbols, const struct memory_reader *memory);

#endif
