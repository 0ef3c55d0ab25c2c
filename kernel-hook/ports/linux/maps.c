/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A user of this machine may serve a file (FUSE) and never answer a read. So nothing here reads a file from its file
 * system, faults, waits for a lock, or takes down an address space, which closes files.
 */
#include <linux/dcache.h>
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ktop.h"
#include "maps.h"

enum {
	MAPS = 64,			/* of a process, at most */
	AREAS_GLIMPSED = 64,		/* memory areas that an interrupt goes through, at most */
	SEGMENTS = 32,			/* program headers of a file, at most */
	PATH_SHOWN = 63,		/* bytes of a name that the hook keeps */
};
#define NOWHERE (1ull << 63)		/* no file is linked for an address with this bit */

static struct map maps[MAPS];		/* of the process in maps_tell() */
static char *path;			/* PATH_MAX bytes */

/* Reads from the page cache alone. False: the bytes are not there. */
static bool read_cached(struct file *file, void *to, size_t size, u64 at)
{
	while (size) {
		size_t part = min_t(size_t, size, PAGE_SIZE - offset_in_page(at));
		struct page *page = find_get_page(file->f_mapping, at >> PAGE_SHIFT);
		bool there = page && PageUptodate(page);

		if (there)
			memcpy_from_page(to, page, offset_in_page(at), part);
		if (page)
			put_page(page);
		if (!there)
			return false;
		to += part;
		at += part;
		size -= part;
	}
	return true;
}

/*
 * Finds the address for which the byte at an offset of an ELF file was linked; for any other file, the offset. False:
 * the file's headers are not in memory. The address is then NOWHERE, so that functions get no wrong names.
 */
static bool link_address(struct file *file, u64 offset, u64 *address)
{
	struct elf64_hdr header;
	struct elf64_phdr segment;

	*address = offset;
	if (!S_ISREG(file_inode(file)->i_mode))
		return true;
	*address |= NOWHERE;
	if (!read_cached(file, &header, sizeof(header), 0))
		return false;
	*address = offset;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return true;
	for (int i = 0; i < header.e_phnum && i < SEGMENTS; i++) {
		*address = offset | NOWHERE;
		if (!read_cached(file, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)))
			return false;
		*address = segment.p_vaddr - segment.p_offset + offset;
		if (segment.p_type == PT_LOAD && offset >= (segment.p_offset & PAGE_MASK) &&
				offset < segment.p_offset + segment.p_filesz)
			return true;
	}
	*address = offset;
	return true;
}

/* Gives the hook one object. The hook cuts long names at their end, so of a long path it gets the file's name alone. */
static bool tell(struct ktop *ktop, pid_t process, const struct map *map)
{
	const char *name = d_path(&map->file->f_path, path, PATH_MAX);
	bool known;
	u64 link;

	if (IS_ERR(name))
		return true;
	known = link_address(map->file, map->offset, &link);
	ktop_object(ktop, &(struct ktop_object) {
		.process = process, .start = map->start, .end = map->end, .bias = map->start - link,
		.name = strlen(name) > PATH_SHOWN ? kbasename(name) : name,
	});
	return known;
}

/* Fills `to` with the files that are mapped as code, and holds them. mm is locked for reading. */
static unsigned int collect(struct mm_struct *mm, struct map *to, unsigned int most)
{
	struct vm_area_struct *area;
	unsigned int count = 0;
	VMA_ITERATOR(areas, mm, 0);

	for_each_vma(areas, area)
		if ((area->vm_flags & VM_EXEC) && area->vm_file && count < most)
			to[count++] = (struct map) {
				.start = area->vm_start, .end = area->vm_end,
				.offset = (u64)area->vm_pgoff << PAGE_SHIFT,
				.file = get_file(area->vm_file),
			};
	return count;
}

unsigned long maps_pages(struct task_struct *process)
{
	unsigned long pages = 0;

	task_lock(process);
	if (process->mm)
		pages = READ_ONCE(process->mm->exec_vm);
	task_unlock(process);
	return pages;
}

/* Returns how many maps were found. `pages`: as maps_pages(); it stays 0 if this has to be done later. */
static unsigned int find_maps(struct mm_struct *mm, unsigned int *areas, unsigned long *pages)
{
	unsigned int count;

	if (!*areas || !mmap_read_trylock(mm))
		return 0;
	count = collect(mm, maps, MAPS);
	*areas -= min_t(unsigned int, *areas, mm->map_count);
	*pages = mm->exec_vm;
	mmap_read_unlock(mm);
	return count;
}

unsigned long maps_tell(struct ktop *ktop, struct task_struct *process, unsigned int *areas)
{
	struct mm_struct *mm = get_task_mm(process);
	unsigned long pages = 0;
	unsigned int count;

	if (!mm)
		return 0;
	count = find_maps(mm, areas, &pages);
	mmput_async(mm);		/* if this was its last user, a work item takes it down */
	for (unsigned int i = 0; i < count; i++) {
		if (!tell(ktop, process->tgid, &maps[i]))
			pages = 0;
		fput(maps[i].file);
	}
	return pages;
}

bool maps_glimpse(struct mm_struct *mm, struct maps_glimpse *glimpse)
{
	glimpse->count = 0;
	if (!mmap_read_trylock(mm))
		return false;
	if (mm->map_count <= AREAS_GLIMPSED)
		glimpse->count = collect(mm, glimpse->maps, MAPS_GLIMPSE);
	mmap_read_unlock(mm);
	return true;
}

void maps_tell_glimpse(struct ktop *ktop, pid_t process, const struct maps_glimpse *glimpse)
{
	for (unsigned int i = 0; i < glimpse->count; i++)
		tell(ktop, process, &glimpse->maps[i]);
}

void maps_drop_glimpse(struct maps_glimpse *glimpse)
{
	for (unsigned int i = 0; i < glimpse->count; i++)
		fput(glimpse->maps[i].file);
}

int maps_start(void)
{
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	return path ? 0 : -ENOMEM;
}

void maps_stop(void)
{
	kfree(path);
}
