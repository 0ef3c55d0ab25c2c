/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "debug_file.h"
#include "sysroot.h"

enum { WALK_MAX = 1 << 16 };		/* the most files of a modules' folder that are looked at */

struct search {
	const struct debug_folders *folders;
	const struct debug_object *object;
	struct budget *budget;
	char *remark;
	size_t remark_size;
	int fd;				/* the result; -1: nothing so far */
};

/* ---- one file ---- */

static void tell_unused(const char *path, const char *why, char *remark, size_t size)
{
	char *text = util_format("%s is not used: %s; give the one of the same build", path, why);
	char *printable = util_printable(text, strlen(text));

	snprintf(remark, size, "%s", printable);
	free(printable);
	free(text);
}

/* Returns the file if it is the right one; else closes it and returns -1. */
static int check(struct search *search, int fd, const char *path)
{
	const struct build_id *wanted = &search->object->build_id;
	struct elf_identity identity;

	if (sym_elf_identify(fd, &identity, search->budget)) {
		bool own = build_id_known(&identity.build_id) && build_id_known(wanted) &&
			!build_id_contradicts(&identity.build_id, wanted);
		const char *why = identity.lines ? "it is of another build" : identity.damage;

		if (own && identity.lines)
			return fd;
		if (why)
			tell_unused(path, why, search->remark, search->remark_size);
	}
	close(fd);
	return -1;
}

int debug_file_try(const char *path, const struct build_id *build_id, struct budget *budget,
	char *remark, size_t size)
{
	const struct debug_object object = { .fd = -1, .build_id = *build_id };
	struct search search = {
		.object = &object, .budget = budget, .remark = remark, .remark_size = size,
	};
	int fd = util_file_read(AT_FDCWD, path, 0, NULL);

	return fd < 0 ? -1 : check(&search, fd, path);
}

static bool is_found(const struct search *search)
{
	return search->fd >= 0;
}

static void try(struct search *search, const char *path)
{
	int fd = util_file_read(AT_FDCWD, path, 0, NULL);

	search->fd = fd < 0 ? -1 : check(search, fd, path);
}

/* ---- places ---- */

/* May a text from the guest be a part of a path? It must not lead elsewhere. */
static bool is_part(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
		strcmp(name, "..") != 0 && strlen(name) < 256;
}

/* ".build-id/ab/cdef.debug", in fresh memory. */
static char *build_id_path(const struct build_id *id)
{
	char digits[2 * sizeof(id->bytes) + 1] = "";

	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	return util_format(".build-id/%.2s/%s.debug", digits, digits + 2);
}

/* Tries `part` (fresh memory, freed here) in each folder. */
static void try_below(struct search *search, char *part)
{
	const struct debug_folders *folders = search->folders;
	const char *const roots[] = { folders->own, folders->system };
	char *path;

	for (size_t i = 0; i < 2 && !is_found(search); i++) {
		if (!roots[i])
			continue;
		path = util_format("%s/%s", roots[i], part);
		try(search, path);
		free(path);
	}
	if (!is_found(search) && folders->sysroot) {
		char *inside = util_format("%s/%s", DEBUG_SYSTEM, part);
		int fd = sysroot_open(folders->sysroot, inside, strlen(inside), &path);

		search->fd = fd < 0 ? -1 : check(search, fd, path);
		free(path);
		free(inside);
	}
	free(part);
}

/*
 * Follows .gnu_debuglink of the object's own file: beside that file, in its .debug, and at its place in the
 * folders.
 */
static void try_link(struct search *search)
{
	const struct debug_object *object = search->object;
	struct elf_identity identity;
	char *folder, *path;
	const char *end = object->path ? strrchr(object->path, '/') : NULL;

	if (object->fd < 0 || !object->path ||
			!sym_elf_identify(object->fd, &identity, search->budget) ||
			!is_part(identity.link))
		return;
	folder = end ? util_copy(object->path, (size_t)(end - object->path)) : util_copy(".", 1);
	path = util_format("%s/%s", folder, identity.link);
	try(search, path);
	free(path);
	path = util_format("%s/.debug/%s", folder, identity.link);
	if (!is_found(search))
		try(search, path);
	free(path);
	if (!is_found(search) && folder[0] == '/')
		try_below(search, util_format("%s/%s", folder + 1, identity.link));
	free(folder);
}

/* ---- the kernel's and its modules' ---- */

static void try_kernel(struct search *search)
{
	const char *version = search->object->version;

	try_below(search, util_copy("vmlinux", 7));
	if (!is_part(version))
		return;
	if (!is_found(search))
		try_below(search, util_format("boot/vmlinux-%s", version));
	if (!is_found(search))
		try_below(search, util_format("lib/modules/%s/vmlinux", version));
}

/* True for "snd-timer.ko" and "snd-timer.ko.debug" of the module snd_timer. */
static bool is_of_module(const char *file, const char *module)
{
	for (; *module; file++, module++)
		if (*file != *module && !(*file == '-' && *module == '_'))
			return false;
	return strcmp(file, ".ko") == 0 || strcmp(file, ".ko.debug") == 0;
}

static void walk(struct search *search, const char *root)
{
	char *path = util_format("%s/lib/modules/%s", root, search->object->version);
	FTS *tree = fts_open((char *const[]) { path, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	for (int i = 0; tree && i < WALK_MAX && !is_found(search); i++) {
		entry = fts_read(tree);
		if (!entry)
			break;
		if (entry->fts_info == FTS_F &&
			is_of_module(entry->fts_name, search->object->name))
			try(search, entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	free(path);
}

static void try_module(struct search *search)
{
	const struct debug_object *object = search->object;

	if (!is_part(object->name))
		return;
	try_below(search, util_format("%s.ko", object->name));
	if (!is_part(object->version))
		return;
	if (!is_found(search) && search->folders->own)
		walk(search, search->folders->own);
	if (!is_found(search) && search->folders->system)
		walk(search, search->folders->system);
}

int debug_file_open(const struct debug_folders *folders, const struct debug_object *object,
	struct budget *budget, char *remark, size_t size)
{
	struct search search = {
		.folders = folders, .object = object, .budget = budget,
		.remark = remark, .remark_size = size, .fd = -1,
	};

	if (!build_id_known(&object->build_id))
		return -1;
	try_below(&search, build_id_path(&object->build_id));
	if (!is_found(&search))
		try_link(&search);
	if (!is_found(&search) && object->kind == DEBUG_KERNEL)
		try_kernel(&search);
	if (!is_found(&search) && object->kind == DEBUG_MODULE)
		try_module(&search);
	if (!is_found(&search) && object->kind == DEBUG_PROGRAM && is_part(object->name))
		try_below(&search, util_format("%s.debug", object->name));
	return search.fd;
}

/*
 * The name is a path of the guest's system. Only the part from ".dwz/" on counts, which lies below the
 * debug folder.
 */
int debug_file_open_shared(const struct debug_folders *folders, const char *name,
	const struct build_id *build_id, struct budget *budget)
{
	const struct debug_object object = { .fd = -1, .build_id = *build_id };
	const char *below = strstr(name, "/.dwz/");
	char remark[1];
	struct search search = {
		.folders = folders, .object = &object, .budget = budget,
		.remark = remark, .remark_size = sizeof(remark), .fd = -1,
	};

	if (!build_id_known(build_id))
		return -1;
	try_below(&search, build_id_path(build_id));
	if (!is_found(&search) && below && !strstr(below, ".."))
		try_below(&search, util_copy(below + 1, strlen(below + 1)));
	return search.fd;
}
