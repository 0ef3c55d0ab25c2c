/* SPDX-License-Identifier: MIT */
/*
 * The whole memory of a machine, for who looks for what its dead kernel has left there. QEMU's file of it is read where
 * it shares one; else QEMU writes a copy (pmemsave) to a file without a name. The machine is neither stopped nor asked
 * to go on. Or it is a file that somebody has written before. One owner thread, which may wait.
 */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine_memory;
struct qmp;
struct qmp_facts;

/*
 * `qmp`: the path of QEMU's QMP socket. `folder`: where there is room for the copy. NULL with `error` set. QEMU has
 * timeout_ms for each answer, ten times that for the copy.
 */
struct machine_memory *machine_memory_of_vm(const char *qmp, const char *folder, int timeout_ms, char **error);

/* The same, by a connection that is there. It is borrowed for this call: nobody else uses it. */
struct machine_memory *machine_memory_of_qmp(struct qmp *qmp, const char *folder, int timeout_ms, char **error);

/* `path`: a file with all bytes from physical address 0 on, as pmemsave writes it. */
struct machine_memory *machine_memory_of_file(const char *path, char **error);
void machine_memory_free(struct machine_memory *memory);

/* What QEMU says of the machine; of a file nothing. */
const struct qmp_facts *machine_memory_facts(const struct machine_memory *memory);

uint64_t machine_memory_size(const struct machine_memory *memory);	/* bytes of it that there are */

/* No memory is there, or above it. */
uint64_t machine_memory_limit(const struct machine_memory *memory);

/* Any thread. `memory`: a struct machine_memory. False: some of it is not there. */
bool machine_memory_read(const void *memory, uint64_t physical, void *to, size_t size);

#endif
