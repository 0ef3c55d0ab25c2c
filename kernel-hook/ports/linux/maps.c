#include <linux/dcache.h>
#include <linux/elf.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ktop.h"
#include "maps.h"

enum { MAPS = 64, SEGMENTS = 32, PATH_SHOWN = 63 };

struct map {
	u64 start, end, offset;		/* in the file */
	struct file *file;
};

static struct map maps[MAPS];		/* of the process that is told of */
static char *path;			/* PATH_MAX bytes */

static bool can_read(const struct file *file)
{
	return (file->f_mode & FMODE_READ) && file->f_op->read_iter && !file->f_op->read;
}

static bool read_at(struct file *file, void *to, size_t size, loff_t at)
{
	return kernel_read(file, to, size, &at) == (ssize_t)size;
}

/* Of the byte at an offset of an ELF file; in any other file, the offset. */
static u64 link_address(struct file *file, u64 offset)
{
	struct elf64_hdr header;
	struct elf64_phdr segment;

	if (!can_read(file) || !read_at(file, &header, sizeof(header), 0) ||
			memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
			header.e_ident[EI_CLASS] != ELFCLASS64)
		return offset;
	for (int i = 0; i < header.e_phnum && i < SEGMENTS; i++) {
		if (!read_at(file, &segment, sizeof(segment),
				header.e_phoff + i * sizeof(segment)))
			break;
		if (segment.p_type == PT_LOAD && offset >= (segment.p_offset & PAGE_MASK) &&
				offset < segment.p_offset + segment.p_filesz)
			return segment.p_vaddr - segment.p_offset + offset;
	}
	return offset;
}

/* The hook cuts long names at their end: of a long path that would be the file's name. */
static void tell(struct ktop *ktop, pid_t process, const struct map *map)
{
	const char *name = d_path(&map->file->f_path, path, PATH_MAX);

	if (IS_ERR(name))
		return;
	ktop_object(ktop, &(struct ktop_object){
		.process = process, .start = map->start, .end = map->end,
		.bias = map->start - link_address(map->file, map->offset),
		.name = strlen(name) > PATH_SHOWN ? kbasename(name) : name,
	});
}

static unsigned int collect(struct mm_struct *mm)
{
	struct vm_area_struct *area;
	unsigned int count = 0;
	VMA_ITERATOR(areas, mm, 0);

	for_each_vma(areas, area)
		if ((area->vm_flags & VM_EXEC) && area->vm_file && count < MAPS)
			maps[count++] = (struct map){
				.start = area->vm_start, .end = area->vm_end,
				.offset = (u64)area->vm_pgoff << PAGE_SHIFT,
				.file = get_file(area->vm_file),
			};
	return count;
}

unsigned long maps_pages(struct task_struct *process)
{
	struct mm_struct *mm = get_task_mm(process);
	unsigned long pages = mm ? READ_ONCE(mm->exec_vm) : 0;

	if (mm)
		mmput(mm);
	return pages;
}

unsigned long maps_tell(struct ktop *ktop, struct task_struct *process)
{
	struct mm_struct *mm = get_task_mm(process);
	unsigned long pages = 0;
	unsigned int count = 0;

	if (mm && mmap_read_trylock(mm)) {
		count = collect(mm);
		pages = mm->exec_vm;
		mmap_read_unlock(mm);
	}
	if (mm)
		mmput(mm);
	for (unsigned int i = 0; i < count; i++) {
		tell(ktop, process->tgid, &maps[i]);
		fput(maps[i].file);
	}
	return pages;
}

int maps_init(void)
{
	path = kmalloc(PATH_MAX, GFP_KERNEL);
	return path ? 0 : -ENOMEM;
}

void maps_free(void)
{
	kfree(path);
}
