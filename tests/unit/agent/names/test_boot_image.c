/* SPDX-License-Identifier: MIT */
/* Boot images of each kind and format, and the names that come out of them. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/scratch.h"

#define START UINT64_C(0xffffffff81000000)
#define SLIDE UINT64_C(0x1c000000)

static const struct fake_symbol symbols[] = {
	{ 0x1f00, 'A', "current_task" }, { START, 't', "__startup_64" }, { START, 'T', "_text" },
	{ START + 0x40, 't', "do_work_0123456789" }, { START + 0x40, 'T', "an_alias" },
	{ START + 0x80, 'T', "asm_exc_divide_error" },
	{ START + 0x100, 'D', "linux_banner" }, { START + 0x180, 'T', "last_code" },
};

static const struct fake_linux model = {
	.shape = FAKE_ELF64, .order = FAKE_6_4, .kind = KALLSYMS_OFFSETS_PERCPU, .start = START,
	.symbols = symbols, .count = sizeof(symbols) / sizeof(*symbols),
};

static int file_of(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return fd;
}

/* The model's kernel must be in this image. Frees the image. */
static void check_holds(uint8_t *image, size_t size, enum fake_shape shape)
{
	struct fake_linux fake = model;
	struct unpacked kernel;
	char *error = NULL;
	size_t wanted_size;
	uint8_t *wanted;
	int fd = file_of(image, size);

	fake.shape = shape;
	wanted = fake_linux(&fake, &wanted_size);
	assert_true(boot_image_is(fd));
	if (!boot_image_read(fd, "image", NULL, &kernel, &error))
		fail_msg("%s", error);
	assert_int_equal(kernel.size, wanted_size);
	assert_memory_equal(kernel.bytes, wanted, wanted_size);
	unpack_free(&kernel, NULL);
	free(wanted);
	free(image);
	close(fd);
}

static void check_refused(const uint8_t *image, size_t size, const char *why)
{
	struct unpacked kernel;
	char *error = NULL;
	int fd = file_of(image, size);

	assert_false(boot_image_read(fd, "image", NULL, &kernel, &error));
	assert_non_null(strstr(error, why));
	assert_non_null(strstr(error, "; give vmlinux"));
	free(error);
	close(fd);
}

static uint8_t *packed_model(size_t *size, enum fake_packer packer, enum fake_shape shape)
{
	struct fake_linux fake = model;

	fake.shape = shape;
	return fake_pack(fake_linux(&fake, size), size, packer);
}

static void each_kind_is_unpacked(void **state)
{
	size_t size;
	uint8_t *image;

	(void)state;
	for (int packer = FAKE_GZIP; packer <= FAKE_LZ4; packer++) {
		image = packed_model(&size, (enum fake_packer)packer, FAKE_ELF64);
		image = fake_bzimage(image, &size);
		check_holds(image, size, FAKE_ELF64);
		image = packed_model(&size, (enum fake_packer)packer, FAKE_IMAGE);
		check_holds(image, size, FAKE_IMAGE);
	}
	image = packed_model(&size, FAKE_PLAIN, FAKE_IMAGE);
	check_holds(image, size, FAKE_IMAGE);
	image = fake_bzimage(packed_model(&size, FAKE_ZSTD, FAKE_ELF64), &size);
	image = fake_pack(image, &size, FAKE_GZIP);
	check_holds(image, size, FAKE_ELF64);
}

/* As the tools write them: with their size in front, of several frames, or as a stream that tells no size. */
static void whole_files_are_unpacked(void **state)
{
	size_t size, half, first, second;
	uint8_t *image = packed_model(&size, FAKE_ZSTD, FAKE_IMAGE);	/* with four bytes behind */
	ZSTD_outBuffer out;
	ZSTD_inBuffer in;
	ZSTD_CStream *stream;

	(void)state;
	check_holds(image, size - 4, FAKE_IMAGE);
	image = packed_model(&size, FAKE_LZ4, FAKE_IMAGE);
	check_holds(image, size - 4, FAKE_IMAGE);
	for (int kind = 0; kind < 2; kind++) {
		uint8_t *plain = packed_model(&size, FAKE_PLAIN, FAKE_IMAGE);

		half = size / 2;
		image = util_alloc(2 * size + 4096);
		if (kind == 0) {
			first = ZSTD_compress(image, size + 4096, plain, half, 1);
			second = ZSTD_compress(image + first, size, plain + half, size - half, 1);
			assert_true(!ZSTD_isError(first) && !ZSTD_isError(second));
			first += second;
		} else {
			stream = ZSTD_createCStream();
			out = (ZSTD_outBuffer) { .dst = image, .size = 2 * size + 4096 };
			in = (ZSTD_inBuffer) { .src = plain, .size = size };
			assert_false(ZSTD_isError(ZSTD_compressStream(stream, &out, &in)));
			assert_int_equal(ZSTD_endStream(stream, &out), 0);
			ZSTD_freeCStream(stream);
			first = out.pos;
			assert_true(ZSTD_getFrameContentSize(image, first) == ZSTD_CONTENTSIZE_UNKNOWN);
		}
		free(plain);
		check_holds(image, first, FAKE_IMAGE);
	}
}

static void other_files_are_none(void **state)
{
	size_t size;
	uint8_t *elf = packed_model(&size, FAKE_PLAIN, FAKE_ELF64);
	int fd = file_of(elf, size), empty = file_of(elf, 0);

	(void)state;
	assert_false(boot_image_is(fd));
	assert_false(boot_image_is(empty));
	close(fd);
	close(empty);
	free(elf);
}

static void what_lies_is_refused(void **state)
{
	size_t size;
	uint8_t *image;

	(void)state;
	for (int packer = FAKE_GZIP; packer <= FAKE_LZ4; packer++) {
		image = packed_model(&size, (enum fake_packer)packer, FAKE_ELF64);
		memset(image + size - 4, 0xff, 4);	/* it claims 4 GB */
		check_refused(image, size, "larger than any kernel");
		memset(image + size - 4, 0, 4);
		check_refused(image, size, "or empty");
		image[size - 3] = 2;			/* fewer bytes than there are */
		check_refused(image, size, "damaged");
		free(image);
		image = packed_model(&size, (enum fake_packer)packer, FAKE_ELF64);
		memmove(image + size - 104, image + size - 4, 4);
		check_refused(image, size - 100, "damaged");
		free(image);
	}
	image = fake_bzimage(packed_model(&size, FAKE_XZ, FAKE_ELF64), &size);
	check_refused(image, size - 200, "beyond its end");
	image[0x248 + 3] = 0xff;
	check_refused(image, size, "beyond its end");
	image[0x248 + 3] = 0;
	image[0x248]++;
	check_refused(image, size, "a way that ktop does not know");
	free(image);
}

/* As Memtest86+: it has the header of a boot image, so that boot loaders take it. */
static void what_boots_as_linux_does_is_none(void **state)
{
	size_t size;
	uint8_t *image = fake_bzimage(packed_model(&size, FAKE_PLAIN, FAKE_ELF64), &size);
	struct unpacked kernel;
	char *error = NULL;
	int fd;

	(void)state;
	memset(image + 0x248, 0, 8);
	fd = file_of(image, size);
	assert_false(boot_image_read(fd, "image", NULL, &kernel, &error));
	assert_non_null(strstr(error, "is none: nothing is packed in it; give its ELF file"));
	free(error);
	free(image);
	close(fd);
}

/* The budget has 64 MB, and the program itself takes some of them. */
static void memory_is_asked_for(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t size, left = budget_left(budget);
	uint8_t *image = packed_model(&size, FAKE_XZ, FAKE_ELF64);
	struct unpacked kernel;
	char *error = NULL;
	int fd;

	(void)state;
	image[size - 1] = 4;				/* 64 MB */
	fd = file_of(image, size);
	assert_false(boot_image_read(fd, "image", budget, &kernel, &error));
	assert_non_null(strstr(error, "--memory gives more"));
	assert_int_equal(budget_left(budget), left);
	assert_int_equal(budget_refused(budget), 0);	/* so that nobody tries again and again */
	free(error);
	free(image);
	close(fd);
	budget_release(budget);
}

static const char *name_at(struct symbols *all, uint64_t address)
{
	return symbols_get(all, symbols_function(all, EVENT_KERNEL, address))->name;
}

/* Packed files that are no boot image are called what they are. */
static void what_another_packed_file_is_is_said(void **state)
{
	static const char *const files[][2] = {
		{ "module.ko.xz", "it is packed by xz: unpack it" },
		{ "small.bz2", "it is packed by bzip2: unpack it" }, { "small.lz4", "it is packed by lz4: unpack it" },
		{ "small.lzma", "it is packed by lzma: unpack it" },
		{ "large.bz2", "it is packed by bzip2: unpack it" },
		{ "kernel.elf.gz", "it is a packed ELF file of no Linux kernel; unpack it" },
		{ "notes.gz", "what is packed in it is no Linux kernel" },
	};
	struct symbols *all = symbols_new(NULL);

	(void)state;
	scratch_run("cp /bin/true module.ko && xz module.ko && cp /bin/true kernel.elf && gzip kernel.elf && "
		"seq 1000 >notes && gzip notes && printf 'BZh91AY&SY' >small.bz2 && "
		"printf '\\004\\042M\\030d@' >small.lz4 && "
		"printf '\\135\\0\\0\\200\\0\\377' >small.lzma && "
		"cat small.bz2 module.ko.xz >large.bz2");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *error = NULL;

		assert_false(symbols_load_kernel(all, scratch_path(files[i][0]), &error));
		if (!strstr(error, files[i][1]))
			fail_msg("%s", error);
		free(error);
	}
	symbols_free(all);
}

static void names_come_once_it_is_placed(void **state)
{
	uint64_t offset;
	size_t size;
	uint8_t *image = fake_bzimage(packed_model(&size, FAKE_XZ, FAKE_ELF64), &size);
	struct symbols *all = symbols_new(NULL);
	char *error = NULL;

	(void)state;
	if (!symbols_load_kernel(all, scratch_write("vmlinuz", image, size), &error))
		fail_msg("%s", error);
	free(image);
	assert_string_equal(name_at(all, START + 0x44), "[unknown]");
	assert_null(symbols_kernel_variable(all, START + 0x108, &offset));
	assert_true(symbols_set_anchor(all, "asm_exc_divide_error", START + SLIDE + 0x80));
	assert_string_equal(name_at(all, START + 0x44), "[unknown]");
	assert_string_equal(symbols_kernel_variable(all, START + SLIDE + 0x108, &offset), "linux_banner");
	assert_int_equal(offset, 8);
	assert_null(symbols_kernel_variable(all, START + SLIDE + 0x44, &offset));
	assert_null(symbols_kernel_variable(all, START + SLIDE + 0x180, &offset));
	assert_string_equal(name_at(all, START + SLIDE), "__startup_64");
	assert_string_equal(name_at(all, START + SLIDE + 0x44), "do_work_0123456789");
	assert_string_equal(name_at(all, START + SLIDE + 0xff), "asm_exc_divide_error");
	assert_string_equal(name_at(all, START + SLIDE + 0x100), "[unknown]");
	assert_string_equal(name_at(all, START + SLIDE + 0x181), "last_code");
	assert_true(symbols_set_anchor(all, "_text", START));
	assert_string_equal(name_at(all, START + 0x44), "do_work_0123456789");
	assert_false(symbols_wrong_build(all, "", 0));
	assert_true(symbols_wrong_build(all, "another one", 11));
	symbols_free(all);
}

/* Each is searched in all names, so only the first ones are. */
static void few_functions_are_tried_as_the_anchor(void **state)
{
	const struct text anchor = { .bytes = "asm_exc_divide_error", .size = 20 };
	const struct text other = { .bytes = "other", .size = 5 };

	(void)state;
	for (unsigned many = 10; many <= 100; many += 90) {
		size_t size;
		uint8_t *image = fake_bzimage(packed_model(&size, FAKE_XZ, FAKE_ELF64), &size);
		struct symbols *all = symbols_new(NULL);
		char *error = NULL;

		if (!symbols_load_kernel(all, scratch_write("vmlinuz", image, size), &error))
			fail_msg("%s", error);
		free(image);
		for (unsigned i = 0; i < many; i++)
			symbols_tell(all, 0x1000 + 16 * i, 16, other);
		symbols_tell(all, START + SLIDE + 0x80, 16, anchor);
		assert_int_equal(symbols_kernel_is_placed(all), many == 10);
		symbols_free(all);
	}
}

/* It has no ELF symbols: its own table has the names. What follows its segments is not read. */
static void a_stripped_vmlinux_has_its_own_names(void **state)
{
	size_t size;
	uint8_t *elf = packed_model(&size, FAKE_PLAIN, FAKE_ELF64);
	struct symbols *all = symbols_new(NULL);
	char *error = NULL;

	(void)state;
	elf = util_grow(elf, size + 4096, 1);
	memset(elf + size, 0xff, 4096);
	if (!symbols_load_kernel(all, scratch_write("vmlinux", elf, size + 4096), &error))
		fail_msg("%s", error);
	assert_non_null(symbols_linux_kernel(all));
	assert_string_equal(name_at(all, START + 0x44), "[unknown]");
	assert_true(symbols_set_anchor(all, "asm_exc_divide_error", START + SLIDE + 0x80));
	assert_string_equal(name_at(all, START + SLIDE + 0x44), "do_work_0123456789");
	assert_false(symbols_load_kernel(all, scratch_write("cut", elf, size / 2), &error));
	assert_non_null(error);
	free(error);
	free(elf);
	symbols_free(all);
}

static void tell(struct symbols *all, uint64_t address, const char *name)
{
	symbols_tell(all, address, 1, (struct text) { .bytes = name, .size = strlen(name) });
}

/* Out of the file of another kernel no name is given. */
static void a_told_function_places_the_image(void **state)
{
	size_t size;
	uint8_t *image = fake_bzimage(packed_model(&size, FAKE_XZ, FAKE_ELF64), &size);
	struct symbols *all = symbols_new(NULL);
	char *error = NULL;

	(void)state;
	if (!symbols_load_kernel(all, scratch_write("vmlinuz", image, size), &error))
		fail_msg("%s", error);
	free(image);
	tell(all, START + SLIDE + 0x1080, "asm_exc_divide_error");
	tell(all, START + SLIDE, "no_such_function");
	assert_string_equal(name_at(all, START + SLIDE + 0x44), "[unknown]");
	assert_false(symbols_kernel_is_placed(all));
	tell(all, START + SLIDE + 0x80, "asm_exc_divide_error");
	assert_string_equal(name_at(all, START + SLIDE + 0x44), "do_work_0123456789");
	assert_true(symbols_kernel_slide(all) == SLIDE);
	symbols_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_unpacked),
		cmocka_unit_test(whole_files_are_unpacked),
		cmocka_unit_test(other_files_are_none),
		cmocka_unit_test(what_lies_is_refused),
		cmocka_unit_test(what_boots_as_linux_does_is_none),
		cmocka_unit_test(memory_is_asked_for),
		cmocka_unit_test(what_another_packed_file_is_is_said),
		cmocka_unit_test(names_come_once_it_is_placed),
		cmocka_unit_test(few_functions_are_tried_as_the_anchor),
		cmocka_unit_test(a_stripped_vmlinux_has_its_own_names),
		cmocka_unit_test(a_told_function_places_the_image),
	};

	return cmocka_run_group_tests_name("boot_image", tests, NULL, NULL);
}
