/* SPDX-License-Identifier: MIT */
/* Any bytes as a boot image: what is packed in it, in bounded memory. */
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/names/linux/boot_image.h"
#include "fuzz.h"

static void read_image(int fd)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	struct unpacked kernel;
	char *error = NULL;

	if (boot_image_read(fd, "a file", budget, &kernel, &error)) {
		require(kernel.size <= kernel.room && kernel.room <= UNPACK_MOST);
		unpack_free(&kernel, budget);
	} else {
		require(error);
	}
	require(budget_left(budget) == left);
	budget_release(budget);
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	require(write(fd, bytes, size) == (ssize_t)size);
	if (boot_image_is(fd))
		read_image(fd);
	close(fd);
	return 0;
}
