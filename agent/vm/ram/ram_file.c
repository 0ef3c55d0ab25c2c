/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/base/peer.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "ram_file.h"

enum { LAYOUTS = 5, PROOFS = 16, SMALLEST = 1 << 20 };

#define FOUR_GIB (UINT64_C(1) << 32)

/* Memory begins at `base`. `low` bytes of the file are there, and the rest from 4 GiB on. */
struct layout {
	uint64_t base, low;
	unsigned proofs;
};

struct ram_file {
	int fd;
	uint64_t size;
	struct layout layouts[LAYOUTS];
	unsigned count;
};

/* ---- which file ---- */

struct file {
	dev_t device;
	ino_t inode;
	uint64_t size;			/* bytes up to the last one that is mapped; 0: there is no such file */
};

/* proc(5): "FROM-TO rw-s OFFSET MAJOR:MINOR INODE PATH" */
static bool read_line(const char *line, struct file *file)
{
	uint64_t from, to, offset, inode;
	unsigned device_major, device_minor;
	char rights[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &from, &to, rights, &offset,
			&device_major, &device_minor, &inode) != 7 || strcmp(rights, "rw-s") != 0 || !inode)
		return false;
	*file = (struct file) { makedev(device_major, device_minor), (ino_t)inode, offset + (to - from) };
	return to > from;
}

/* The largest file that the process shares. A file may be mapped in several pieces. */
static struct file find_file(pid_t pid)
{
	char *path = util_format("/proc/%d/maps", (int)pid), *line = NULL;
	FILE *maps = fopen(path, "re");
	struct file found = { .size = 0 }, file;
	size_t room = 0;

	free(path);
	while (maps && getline(&line, &room, maps) > 0)
		if (read_line(line, &file) && file.size > found.size)
			found = file;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* Opens the file by one of the process's own descriptors: it may have no name, or another process's. */
static int open_file(pid_t pid, const struct file *file)
{
	char *path = util_format("/proc/%d/fd", (int)pid);
	DIR *folder = opendir(path);
	struct dirent *entry;
	struct stat is;
	int fd = -1;

	free(path);
	while (folder && fd < 0 && (entry = readdir(folder)))
		if (fstatat(dirfd(folder), entry->d_name, &is, 0) == 0 && S_ISREG(is.st_mode) &&
				is.st_dev == file->device && is.st_ino == file->inode)
			fd = util_file_read(dirfd(folder), entry->d_name, 0, NULL);
	if (folder)
		closedir(folder);
	return fd;
}

/* ---- its layout ---- */

static void add(struct ram_file *shared, uint64_t base, uint64_t low)
{
	shared->layouts[shared->count++] = (struct layout) { .base = base, .low = low };
}

/*
 * On x86, devices have the end of the first 4 GiB. hw/i386/pc_piix.c, pc_q35.c and microvm.c of QEMU: up to which
 * address there is memory; where there is more, all boards but the oldest keep to a multiple of 1 GiB.
 */
static void add_layouts(struct ram_file *shared, const char *arch)
{
	static const uint64_t lows[] = { 0x80000000, 0xb0000000, 0xc0000000, 0xe0000000 };

	if (strcmp(arch, "aarch64") == 0)
		add(shared, 0x40000000, shared->size);
	else if (strcmp(arch, "riscv64") == 0)
		add(shared, 0x80000000, shared->size);
	if (strcmp(arch, "x86_64") != 0 && strcmp(arch, "i386") != 0)
		return;
	if (shared->size <= 0xe0000000)
		add(shared, 0, shared->size);
	for (size_t i = 0; i < sizeof(lows) / sizeof(lows[0]); i++)
		if (lows[i] < shared->size)
			add(shared, 0, lows[i]);
}

struct ram_file *ram_file_open(int socket, const char *arch)
{
	pid_t pid = peer_process(socket);
	struct file file = { .size = 0 };
	struct ram_file *shared;
	int fd;

	if (pid)
		file = find_file(pid);
	fd = file.size >= SMALLEST ? open_file(pid, &file) : -1;
	if (fd < 0)
		return NULL;
	shared = util_alloc(sizeof(*shared));
	shared->fd = fd;
	shared->size = file.size;
	add_layouts(shared, arch);
	return shared;
}

void ram_file_close(struct ram_file *shared)
{
	if (!shared)
		return;
	close(shared->fd);
	free(shared);
}

/* ---- reading ---- */

unsigned ram_file_layouts(const struct ram_file *shared)
{
	return shared->count;
}

/* Where the bytes are in the file. False: not in one piece in it. */
static bool place_of(const struct ram_file *shared, const struct layout *layout, uint64_t physical, size_t size,
	uint64_t *offset)
{
	uint64_t end = layout->low;

	*offset = physical - layout->base;
	if (layout->low < shared->size && physical >= FOUR_GIB) {
		*offset = physical - FOUR_GIB;
		if (*offset > shared->size - layout->low)
			return false;
		*offset += layout->low;
		end = shared->size;
	}
	return physical >= layout->base && *offset < end && end - *offset >= size;
}

bool ram_file_read(const struct ram_file *shared, unsigned layout, uint64_t physical, void *to, size_t size)
{
	uint64_t offset;

	return layout < shared->count && place_of(shared, &shared->layouts[layout], physical, size, &offset) &&
		pread(shared->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* ---- proof ---- */

void ram_file_judge(struct ram_file *shared, unsigned layout, bool same)
{
	if (same)
		shared->layouts[layout].proofs++;
	else
		shared->layouts[layout] = shared->layouts[--shared->count];
}

bool ram_file_is_proved(const struct ram_file *shared)
{
	return shared->count == 1 && shared->layouts[0].proofs >= PROOFS;
}

void ram_file_give_up(struct ram_file *shared)
{
	shared->count = 0;
}
