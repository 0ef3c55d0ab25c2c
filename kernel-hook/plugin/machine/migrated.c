/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "migrated.h"

enum { FIELDS_MOST = 256, NAME_MOST = 32, CPU_MOST = 1 << 20 };

struct qemu_field {			/* VMStateField */
	const char *name, *hint;
	size_t offset, size, start;
	int count;
	size_t count_offset, size_offset;
	const void *info;
	int flags;
	const void *description;
	int version, struct_version;
	void (*exists)(void);
};

struct qemu_description {
	const char *name;
	int unmigratable, version, minimum_version, priority;
	void (*hooks[6])(void);
	const struct qemu_field *fields;	/* up to one without a name */
};

/* In another QEMU these may be other things: reading them must not end it. */
static bool peek(const void *from, void *to, size_t size)
{
	struct iovec there = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };
	struct iovec here = { .iov_base = to, .iov_len = size };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool is_named(const char *name, const char *wanted)
{
	char text[NAME_MOST];
	size_t size = strlen(wanted) + 1;

	return name && size <= sizeof(text) && peek(name, text, size) && memcmp(text, wanted, size) == 0;
}

const struct qemu_description *migrated_find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

bool migrated_place(const struct qemu_description *description, const char *field, size_t size, size_t *place)
{
	struct qemu_description copy;
	struct qemu_field one;

	if (description == NULL || !peek(description, &copy, sizeof(copy)) || !is_named(copy.name, "cpu"))
		return false;
	for (int i = 0; i < FIELDS_MOST && peek(copy.fields + i, &one, sizeof(one)) && one.name; i++)
		if (is_named(one.name, field)) {
			*place = one.offset;
			return one.size == size && one.offset % size == 0 && one.offset < CPU_MOST;
		}
	return false;
}
