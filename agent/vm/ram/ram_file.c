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

#include "agent/base/unix_socket.h"
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

uint64_t ram_file_size(const struct ram_file *shared)
{
	return shared->size;
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

/* ---- maps of RAM ---- */

#define LOWEST_X86 (UINT64_C(1) << 20)

/* ---- lines ---- */

/*
 * "  FROM-LAST (prio PRIORITY, KIND): NAME", for each range of a view. A view begins with "FlatView" and a line for
 * each address space that it is of; the machine's own is "memory". A card's memory has another priority than 0.
 */
static void take_line(struct ram_map *map, const char *line)
{
	struct ram_range range;
	char kind[16];
	int priority;

	if (strncmp(line, "FlatView", strlen("FlatView")) == 0)
		map->system = false;
	if (strstr(line, "AS \"memory\""))
		map->system = true;
	if (map->system && map->count < RAM_RANGES &&
			sscanf(line, " %16" SCNx64 "-%16" SCNx64 " (prio %d, %15[^)]): %63s", &range.from, &range.last,
				&priority, kind, range.name) == 5 &&
			priority == 0 && strcmp(kind, "ram") == 0 && range.last > range.from)
		map->ranges[map->count++] = range;
}

void ram_map_take(struct ram_map *map, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != '\n' && text[i] != '\r' && map->size + 1 < RAM_LINE) {
			map->line[map->size++] = text[i];
			continue;
		}
		map->line[map->size] = '\0';
		take_line(map, map->line);
		map->size = 0;
	}
}

/* ---- which of it stays ---- */

static uint64_t size_by_name(const struct ram_map *map, const char *name)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < map->count; i++)
		if (strcmp(map->ranges[i].name, name) == 0)
			sum += map->ranges[i].last - map->ranges[i].from;
	return sum;
}

static const char *largest(const struct ram_map *map)
{
	const char *found = map->ranges[0].name;

	for (uint32_t i = 1; i < map->count; i++)
		if (size_by_name(map, map->ranges[i].name) > size_by_name(map, found))
			found = map->ranges[i].name;
	return found;
}

/* Ranges come in the order of their addresses. A machine of several nodes has several pieces, one behind the other. */
void ram_map_finish(struct ram_map *map, const char *arch)
{
	uint64_t lowest = strcmp(arch, "x86_64") == 0 || strcmp(arch, "i386") == 0 ? LOWEST_X86 : 0;
	char name[RAM_NAME];
	uint32_t kept = 0;

	strcpy(name, largest(map));
	for (uint32_t i = 0; i < map->count; i++) {
		struct ram_range range = map->ranges[i];
		bool behind = kept && range.from == map->ranges[kept - 1].last + 1;

		if (range.last < lowest || (!behind && strcmp(range.name, name) != 0))
			continue;
		range.from = range.from < lowest ? lowest : range.from;
		map->ranges[kept++] = range;
	}
	map->count = kept;
}

bool ram_map_has(const struct ram_map *map, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct ram_range *range = &map->ranges[i];

		if (address >= range->from && address <= range->last && size - 1 <= range->last - address)
			return true;
	}
	return false;
}
