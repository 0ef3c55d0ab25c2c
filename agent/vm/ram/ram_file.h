/* SPDX-License-Identifier: MIT */
/*
 * A machine's memory, if QEMU keeps it in one file that it shares (-object memory-backend-memfd,share=on, or
 * memory-backend-file). Then it is read without QEMU, and no read meets a device. The file is read, not mapped: if
 * somebody shortens it, a read fails, and no signal comes.
 *
 * Where in the file an address lies is known of QEMU's boards pc, q35, microvm and virt, but not which board it is. So
 * the file is believed only after it has proved itself.
 */
#ifndef RAM_FILE_H
#define RAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ram_file;

/*
 * `socket`: connected to QEMU. `arch`: QEMU's name of the architecture. NULL: QEMU shares no such file, or it is not
 * ours to read.
 */
struct ram_file *ram_file_open(int socket, const char *arch);
void ram_file_close(struct ram_file *shared);

/* The ways in which the file may be laid out that are still possible; 0: none, so it is not the memory. */
unsigned ram_file_layouts(const struct ram_file *shared);

/* Reads by one of these ways, `layout` < ram_file_layouts(). False: some of it is not in the file. */
bool ram_file_read(const struct ram_file *shared, unsigned layout, uint64_t physical, void *to, size_t size);

/*
 * Bytes of the machine's memory, by all that is known, were compared with those by this way. If they differ, the way
 * goes: the last one takes its number.
 */
void ram_file_judge(struct ram_file *shared, unsigned layout, bool same);

/* One way is left, and was the same often enough. */
bool ram_file_is_proved(const struct ram_file *shared);

void ram_file_give_up(struct ram_file *shared);	/* from now on there is no way */

#endif
