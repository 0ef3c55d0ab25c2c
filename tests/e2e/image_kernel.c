/* SPDX-License-Identifier: MIT */
/* image_kernel FILE: writes the kernel in a Linux boot image, as ktop unpacks it, to its output. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

#include "agent/names/linux/boot_image.h"

int main(int count, char **arguments)
{
	struct unpacked image;
	char *error = NULL;
	int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
	bool whole;

	if (fd < 0 || !boot_image_read(fd, arguments[1], NULL, &image, &error)) {
		fprintf(stderr, "%s\n", error ? error : "image_kernel FILE");
		return 1;
	}
	whole = fwrite(image.bytes, 1, image.size, stdout) == image.size && fflush(stdout) == 0;
	unpack_free(&image, NULL);
	return !whole;
}
