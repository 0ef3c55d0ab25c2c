/* SPDX-License-Identifier: MIT */
/* Symbols of a kernel and of programs that the test builds and maps. */
#ifndef MAPPED_H
#define MAPPED_H

#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/objects/objects.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/settle.h"

static const char map_text[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81001000 T do_work\n"
	"ffffffff81002000 t _ZN2vm5Cache4findEPKcm\n"
	"ffffffff81003000 T evil\x1b[2Jname\n"
	"ffffffff81004000 T last\n"
	"ffffffff81005000 D data\n"
	"ffffffffc0000000 t probe\t[virtio_net]\n";

static const char program_source[] =
	"int spin(int x)\n{\n\treturn x + 1;\n}\n"
	"void _start(void)\n{\n\tspin(1);\n\tfor (;;)\n\t\t;\n}\n";

static inline void build(const char *name, const char *options)
{
	char *command = util_format(
		"gcc -O0 -g -nostdlib -ffreestanding -static %s -o %s %s.c", options, name, name);
	char *file = util_format("%s.c", name);

	scratch_text(file, program_source);
	scratch_run(command);
	free(command);
	free(file);
}

static inline uint64_t nm_address(const char *program, const char *name)
{
	char *command = util_format("nm %s | grep ' %s$' > address", program, name), *text;
	uint64_t address;
	size_t size;

	scratch_run(command);
	text = scratch_read(scratch_path("address"), &size);
	address = strtoull(text, NULL, 16);
	free(text);
	free(command);
	return address;
}

static inline struct symbols *with_kernel(const char *text)
{
	struct symbols *symbols = symbols_new(NULL);
	char *error = NULL;

	if (!symbols_load_kernel(symbols, scratch_text("System.map", text), &error))
		fail_msg("%s", error);
	return symbols;
}

static inline uint32_t id_at(struct symbols *symbols, uint32_t process, uint64_t address)
{
	return symbols_function(symbols, symbols_space(symbols, process), address);
}

static const struct function *at(struct symbols *symbols, uint32_t process, uint64_t address)
{
	return symbols_get(symbols, id_at(symbols, process, address));
}

static inline void check(struct symbols *symbols, uint32_t process, uint64_t address, const char *name,
	const char *object)
{
	const struct function *function = at(symbols, process, address);

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, object);
	assert_int_equal(function->kernel, process == EVENT_KERNEL);
	assert_int_equal(function->known, strcmp(name, "[unknown]") != 0);
}

static inline struct object object_of(uint32_t process, const char *name, uint64_t start, uint64_t bias)
{
	return (struct object) {
		.process = process,
		.start = start,
		.end = start + 0x100000,
		.bias = bias,
		.name = { .bytes = name, .size = strlen(name) },
	};
}

static inline void map(struct symbols *symbols, const struct object *object)
{
	const char *const folders[] = { "/nonexistent", scratch_path("."), NULL };

	symbols_map(symbols, object, folders);
	settle(symbols);
}

#endif
