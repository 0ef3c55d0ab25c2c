/* SPDX-License-Identifier: MIT */
/* image_symbols FILE: prints a Linux boot image's symbols as ktop finds them, in the form of /proc/kallsyms. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/linux_kernel.h"

int main(int count, char **arguments)
{
	struct kallsyms_cursor cursor = { .index = 0 };
	struct linux_kernel *known = NULL;
	struct kernel_bytes kernel;
	struct kallsyms kallsyms;
	struct unpacked image;
	char *error = NULL;
	int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;

	if (fd < 0 || !boot_image_read(fd, arguments[1], NULL, &image, &error)) {
		fprintf(stderr, "%s\n", error ? error : "image_symbols FILE");
		return 1;
	}
	if (kernel_bytes_set(&kernel, image.bytes, image.size) && kallsyms_find(&kernel, &kallsyms))
		known = linux_kernel_new(&kernel, &kallsyms, NULL);
	while (known && kallsyms_next(&kallsyms, &cursor))
		printf("%016llx %c %s%s\n", (unsigned long long)cursor.address, cursor.type, cursor.name,
			cursor.absolute ? " absolute" : "");
	linux_kernel_free(known);
	unpack_free(&image, NULL);
	return !known;
}
