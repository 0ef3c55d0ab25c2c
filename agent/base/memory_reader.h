/* SPDX-License-Identifier: MIT */
/* Memory that is somebody else's, read by address: a guest's, or a copy of it. */
#ifndef MEMORY_READER_H
#define MEMORY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All of the bytes or none: false when one of them cannot be read. Never waits for long. Who reads
 * bounds how often, since each call may cost the guest time.
 */
struct memory_reader {
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};

#endif
