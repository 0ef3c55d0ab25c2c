/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/names/files/sysroot.h"
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/objects/object_names.h"
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

static void build(const char *name, const char *options)
{
	char *command = util_format(
		"gcc -O0 -g -nostdlib -ffreestanding -static %s -o %s %s.c", options, name, name);
	char *file = util_format("%s.c", name);

	scratch_text(file, program_source);
	scratch_run(command);
	free(command);
	free(file);
}

static uint64_t nm_address(const char *program, const char *name)
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

static struct symbols *with_kernel(const char *text)
{
	struct symbols *symbols = symbols_new(NULL);
	char *error = NULL;

	if (!symbols_load_kernel(symbols, scratch_text("System.map", text), &error))
		fail_msg("%s", error);
	return symbols;
}

static uint32_t id_at(struct symbols *symbols, uint32_t process, uint64_t address)
{
	return symbols_function(symbols, symbols_space(symbols, process), address);
}

static const struct function *at(struct symbols *symbols, uint32_t process, uint64_t address)
{
	return symbols_get(symbols, id_at(symbols, process, address));
}

static void check(struct symbols *symbols, uint32_t process, uint64_t address, const char *name,
	const char *object)
{
	const struct function *function = at(symbols, process, address);

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, object);
	assert_int_equal(function->kernel, process == EVENT_KERNEL);
	assert_int_equal(function->known, strcmp(name, "[unknown]") != 0);
}

static struct object object_of(uint32_t process, const char *name, uint64_t start, uint64_t bias)
{
	return (struct object) {
		.process = process,
		.start = start,
		.end = start + 0x100000,
		.bias = bias,
		.name = { .bytes = name, .size = strlen(name) },
	};
}

static void map(struct symbols *symbols, const struct object *object)
{
	const char *const folders[] = { "/nonexistent", scratch_path("."), NULL };

	symbols_map(symbols, object, folders);
	settle(symbols);
}

static void test_kernel(void **state)
{
	struct symbols *symbols = with_kernel(map_text);

	(void)state;
	check(symbols, EVENT_KERNEL, 0xffffffff81000010, "startup_64", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81001fff, "do_work", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81002000, "vm::Cache::find", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81003000, "evil?[2Jname", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffffc0000010, "probe", "virtio_net");
	check(symbols, EVENT_KERNEL, 0x1000, "[unknown]", "kernel");
	check(symbols, 7, 0xffffffff81001000, "[unknown]", "");
	assert_int_equal(
		at(symbols, EVENT_KERNEL, 0xffffffff81001fff)->address, 0xffffffff81001000);
	assert_ptr_equal(at(symbols, EVENT_KERNEL, 1), at(symbols, EVENT_KERNEL, 2));
	assert_ptr_not_equal(at(symbols, 7, 1), at(symbols, EVENT_KERNEL, 1));
	assert_string_equal(
		symbols_line(symbols, symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000)),
		"");
	symbols_free(symbols);
	symbols_free(NULL);
}

/* The table may come before or after the anchor; earlier answers change with either. */
static void test_slide(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	const char *path = scratch_text("System.map", map_text);
	uint64_t generation = symbols_generation(symbols);

	(void)state;
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "[unknown]", "kernel");
	assert_false(symbols_set_anchor(symbols, "_text", 0xffffffff9e000000));
	assert_true(symbols_load_kernel(symbols, path, NULL));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "do_work", "kernel");
	generation = symbols_generation(symbols);
	assert_true(symbols_set_anchor(symbols, "_text", 0xffffffff9e000000));
	assert_int_equal(symbols_generation(symbols), generation);
	assert_true(symbols_set_anchor(symbols, "do_work", 0x1000));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, 0x2000, "vm::Cache::find", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "[unknown]", "kernel");
	assert_false(symbols_set_anchor(symbols, "no such", 0x1000));
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
	symbols_free(symbols);
}

static void test_kernel_object_gives_bias(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	struct object object = object_of(EVENT_KERNEL, "kernel", 0xffffffff9e000000, 0x1d000000);

	(void)state;
	map(symbols, &object);
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "do_work", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff9e0ff000, "last", "kernel");
	symbols_free(symbols);
}

static void test_replaced(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	uint32_t before = symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000), after;

	(void)state;
	assert_true(symbols_load_kernel(
		symbols, scratch_text("other.map", "ffffffff81001000 T other\n"), NULL));
	after = symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000);
	assert_int_not_equal(before, after);
	assert_string_equal(symbols_get(symbols, before)->name, "do_work");
	assert_string_equal(symbols_get(symbols, after)->name, "other");
	symbols_drop_kernel(symbols);
	symbols_drop_kernel(symbols);
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "[unknown]", "kernel");
	assert_string_equal(symbols_get(symbols, after)->name, "other");
	symbols_free(symbols);
}

static void check_refused(struct symbols *symbols, const char *path, const char *why)
{
	char *error = NULL;

	assert_false(symbols_load_kernel(symbols, path, &error));
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, why));
	assert_non_null(strstr(error, "; "));
	free(error);
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
}

static void test_refused(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	char image[0x300] = { 0 };

	(void)state;
	memcpy(image + 0x202, "HdrS", 4);	/* of a boot protocol that is too old */
	check_refused(symbols, "/nonexistent/kernel", "No such file");
	check_refused(symbols, "/tmp", "Is a directory");
	/* Opening a pipe waits for its writer; only spool.h does that, and with a bound. */
	assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
	check_refused(symbols, scratch_path("pipe"), "not a regular file");
	check_refused(symbols, scratch_write("bzImage", image, sizeof(image)), "older than Linux 2.6.26");
	check_refused(symbols, scratch_text("prose", "Hello.\n"), "neither ELF nor a list");
	check_refused(symbols, scratch_write("broken", "\177ELF\2\1\1", 7), "not an ELF file");
	build("program", "");
	scratch_run("strip -R .eh_frame -o bare program");
	check_refused(symbols, scratch_path("bare"), "stripped");
	symbols_free(symbols);
}

static const char *await_line(struct symbols *symbols, uint32_t function)
{
	uint64_t deadline = util_now() + 60000000000u;
	const char *line;

	while (!(line = symbols_line(symbols, function))) {
		if (util_now() > deadline)
			fail_msg("no line in a minute");
		usleep(1000);
	}
	return line;
}

static void test_elf_kernel_with_lines(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint64_t spin;
	uint32_t function;
	char *error = NULL;

	(void)state;
	build("image",
		"-mcmodel=kernel -fno-pic -no-pie -Wl,-Ttext=0xffffffff81000000 "
		"-Wl,--build-id=0x0123456789abcdef");
	spin = nm_address("image", "spin");
	if (!symbols_load_kernel(symbols, scratch_path("image"), &error))
		fail_msg("%s", error);
	assert_true(
		symbols_set_anchor(symbols, "_start", nm_address("image", "_start") + 0x200000));
	function = symbols_function(symbols, EVENT_KERNEL, spin + 0x200000 + 3);
	assert_string_equal(symbols_get(symbols, function)->name, "spin");
	assert_int_equal(symbols_get(symbols, function)->address, spin);
	assert_string_equal(await_line(symbols, function), "image.c:2");
	assert_string_equal(symbols_line(symbols, symbols_special(symbols, "[idle]")), "");
	assert_false(symbols_wrong_build(symbols, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8));
	assert_true(symbols_wrong_build(symbols, "\x01\x23\x45\x67\x89\xab\xcd\xee", 8));
	assert_false(symbols_wrong_build(symbols, "", 0));
	symbols_free(symbols);
}

/* A program in two processes gives one function; the same name in two programs gives two. */
static void test_programs(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object first = object_of(1, "/bin/one", 0x400000, 0);
	struct object moved = object_of(2, "one", 0x7f0000000000, 0);
	struct object other = object_of(3, "./two", 0x400000, 0);
	uint64_t spin, far;
	uint32_t one;

	(void)state;
	build("one", "-no-pie -Wl,--build-id=sha1");
	build("two", "-no-pie");
	spin = nm_address("one", "spin");
	moved.bias = 0x7f0000000000 - 0x400000;
	far = spin + moved.bias;
	map(symbols, &first);
	map(symbols, &moved);
	map(symbols, &other);
	one = id_at(symbols, 1, spin);
	check(symbols, 1, spin, "spin", "one");
	assert_int_equal(id_at(symbols, 2, far), one);
	check(symbols, 3, spin, "spin", "two");
	assert_int_not_equal(id_at(symbols, 3, spin), one);
	check(symbols, 4, spin, "[unknown]", "");
	check(symbols, 1, 0x4ff000, "[unknown]", "one");
	check(symbols, 1, 0x500000, "[unknown]", "");
	assert_string_equal(await_line(symbols, one), "one.c:2");
	assert_string_equal(note_of(symbols), "");
	symbols_free(symbols);
}

/* The file lies below the folder at the guest's path, and no path leads out of the folder. */
static void test_sysroot(void **state)
{
	static const char *const elsewhere[] = {
		"/bin/../rooted", "/..", "bin/rooted", "/bin/none", "/", "/out", "/up", "/loop",
	};
	enum { ELSEWHERE = sizeof(elsewhere) / sizeof(elsewhere[0]) };
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "/bin/rooted", 0x400000, 0);
	struct object linked = object_of(2, "/link", 0x400000, 0);
	uint64_t spin;

	(void)state;
	build("rooted", "-no-pie");
	spin = nm_address("rooted", "spin");
	scratch_run("mkdir -p root/bin && mv rooted root/bin/rooted && cp root/bin/rooted root/rooted && "
		"ln root/bin/rooted outside && ln -s $PWD/outside root/out && ln -s ../outside root/up && "
		"ln -s loop root/loop && ln -s /bin/rooted root/link");
	symbols_set_files(symbols, scratch_path("root"), NULL, false);
	for (uint32_t i = 0; i < ELSEWHERE; i++) {
		struct object other = object_of(10 + i, elsewhere[i], 0x400000, 0);

		symbols_map(symbols, &other, NULL);
		settle(symbols);
		assert_false(at(symbols, 10 + i, spin)->known);
	}
	symbols_map(symbols, &object, NULL);
	settle(symbols);
	check(symbols, 1, spin, "spin", "rooted");
	symbols_map(symbols, &linked, NULL);
	settle(symbols);
	check(symbols, 2, spin, "spin", "rooted");
	symbols_free(symbols);
}

/* The file that was checked is the one that is read, even if another one takes its place meanwhile. */
static void test_sysroot_gives_the_file_itself(void **state)
{
	const char *path = "/bin/held";
	struct stat before, held;
	char *found;
	int fd;

	(void)state;
	scratch_run("mkdir -p root/bin && rm -f root/bin/held && echo mine > root/bin/held");
	assert_int_equal(stat(scratch_path("root/bin/held"), &before), 0);
	fd = sysroot_open(scratch_path("root"), path, strlen(path), &found);
	assert_true(fd >= 0);
	scratch_run("echo other > out && rm root/bin/held && ln -s $PWD/out root/bin/held");
	assert_int_equal(fstat(fd, &held), 0);
	assert_int_equal(held.st_ino, before.st_ino);
	assert_non_null(strstr(found, "/root/bin/held"));
	close(fd);
	free(found);
	assert_int_equal(sysroot_open(scratch_path("root"), path, strlen(path), &found), -1);
	assert_null(found);
	scratch_run("rm root/bin/held && mkfifo root/bin/held");
	assert_int_equal(sysroot_open(scratch_path("root"), path, strlen(path), &found), -1);
	assert_null(found);
}

/* A path that the guest has chosen is made harmless before it reaches a terminal. */
static void test_notes_are_harmless(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "/evil\x1b]0;title\x07", 0x400000, 0);

	(void)state;
	build("evil", "-no-pie -Wl,--build-id=0x01234567");
	scratch_run("mkdir -p root && mv evil \"root/$(printf 'evil\\033]0;title\\007')\"");
	symbols_set_files(symbols, scratch_path("root"), NULL, false);
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	symbols_map(symbols, &object, NULL);
	settle(symbols);
	assert_non_null(strstr(note_of(symbols), "/evil?]0;title?"));
	assert_null(strchr(note_of(symbols), '\x1b'));
	symbols_free(symbols);
}

static void test_program_of_another_build(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "built", 0x400000, 0);
	uint64_t spin;

	(void)state;
	build("built", "-no-pie -Wl,--build-id=0x01234567");
	spin = nm_address("built", "spin");
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	map(symbols, &object);
	check(symbols, 1, spin, "[unknown]", "built");
	assert_non_null(strstr(note_of(symbols), "built"));
	object.build_id.bytes = "\x01\x23\x45\x67";
	map(symbols, &object);
	check(symbols, 1, spin, "spin", "built");
	symbols_free(symbols);
}

/* The remark shows while its moment lies in the range, and again after it was told again. */
static void test_notes_of_files_age(void **state)
{
	static const uint8_t boot[16];
	struct epoch *epoch = epoch_new(boot, NULL, NULL);
	struct symbols *symbols = epoch->inputs.symbols;
	struct object object = object_of(1, "aged", 0x400000, 0);
	char text[REMARKS_SIZE];

	(void)state;
	build("aged", "-no-pie -Wl,--build-id=0x01234567");
	object.build_id = (struct text) { .bytes = "\x01\x23\x45\x66", .size = 4 };
	epoch->known = epoch->told = true;
	epoch_ticks(epoch, 20000000000);
	map(symbols, &object);
	assert_non_null(strstr(remarks_text(epoch, 10000000000, "; ", text, sizeof(text)), "another build"));
	epoch_ticks(epoch, 40000000000);
	assert_string_equal(remarks_text(epoch, 30000000000, "; ", text, sizeof(text)), "");
	assert_non_null(strstr(remarks_text(epoch, 0, "; ", text, sizeof(text)), "another build"));
	object.build_id.bytes = "\x01\x23\x45\x65";
	map(symbols, &object);
	assert_non_null(strstr(remarks_text(epoch, 30000000000, "; ", text, sizeof(text)), "another build"));
	epoch_release(epoch);
}

/* A process is sampled, or shares its space, before its file is told or exists. */
static void test_late(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object object = object_of(1, "late", 0x400000, 0);
	uint64_t spin, generation;
	uint32_t early = symbols_space(symbols, 1);

	(void)state;
	build("late", "-no-pie");
	spin = nm_address("late", "spin");
	check(symbols, 1, spin, "[unknown]", "");
	scratch_run("mv late gone");
	map(symbols, &object);
	check(symbols, 1, spin, "[unknown]", "late");
	generation = symbols_generation(symbols);
	scratch_run("mv gone late");
	object.process = 2;
	map(symbols, &object);
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, 1, spin, "spin", "late");
	check(symbols, 2, spin, "spin", "late");
	assert_string_equal(
		symbols_get(symbols, symbols_function(symbols, early, spin))->name, "spin");
	symbols_free(symbols);
}

/* exec: another program in place of the first one. Telling the same mapping again changes nothing. */
static void test_mapped_again(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct object one = object_of(1, "one", 0x400000, 0);
	struct object two = object_of(1, "missing", 0x480000, 0);
	uint64_t spin, generation;
	uint32_t before;

	(void)state;
	build("one", "-no-pie");
	spin = nm_address("one", "spin");
	map(symbols, &one);
	check(symbols, 1, spin, "spin", "one");
	generation = symbols_generation(symbols);
	map(symbols, &one);
	assert_int_equal(symbols_generation(symbols), generation);
	before = symbols_space(symbols, 1);
	map(symbols, &two);
	check(symbols, 1, spin, "[unknown]", "");
	check(symbols, 1, 0x480000, "[unknown]", "missing");
	assert_string_equal(
		symbols_get(symbols, symbols_function(symbols, before, spin))->name, "spin");
	generation = symbols_generation(symbols);
	map(symbols, &two);
	assert_int_equal(symbols_generation(symbols), generation);
	symbols_free(symbols);
}

static void test_kernel_module(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	struct object module =
		object_of(EVENT_KERNEL, "one", 0xffffffffc1000000, 0xffffffffc1000000 - 0x400000);
	uint64_t spin;

	(void)state;
	build("one", "-no-pie");
	spin = nm_address("one", "spin");
	map(symbols, &module);
	check(symbols, EVENT_KERNEL, spin + module.bias, "spin", "one");
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
	symbols_free(symbols);
}

static void test_specials(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint32_t idle = symbols_special(symbols, "[idle]");
	uint32_t missed = symbols_special(symbols, "[missed]");

	(void)state;
	assert_int_not_equal(idle, missed);
	assert_int_equal(symbols_special(symbols, "[idle]"), idle);
	assert_string_equal(symbols_get(symbols, idle)->name, "[idle]");
	assert_string_equal(symbols_get(symbols, idle)->object, "");
	assert_false(symbols_get(symbols, idle)->known);
	assert_int_equal(symbols_functions(symbols), 2);
	symbols_free(symbols);
}

static void test_hostile_objects(void **state)
{
	static const char *const names[] = { "", "/", ".", "..", "../../etc/passwd", "a\nb\x1b[1m",
		"\xff\xfe", "./" };
	struct symbols *symbols = symbols_new(NULL);
	char long_name[1024];
	struct object object;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		object = object_of((uint32_t)i, names[i], 0x1000, 0);
		map(symbols, &object);
		assert_false(at(symbols, (uint32_t)i, 0x1000)->known);
	}
	assert_string_equal(at(symbols, 5, 0x1000)->object, "a?b?[1m");
	memset(long_name, 'n', sizeof(long_name));
	object = object_of(20, "", 0x1000, 0);
	object.name = (struct text) { .bytes = long_name, .size = sizeof(long_name) };
	map(symbols, &object);
	assert_true(strlen(at(symbols, 20, 0x1000)->object) < 100);
	object = object_of(21, "one\0two", 0x1000, 0);
	object.name.size = 7;
	map(symbols, &object);
	object.end = object.start;
	object.process = 22;
	map(symbols, &object);
	check(symbols, 22, 0x1000, "[unknown]", "");
	object = object_of(23, "top", 0xfffffffffffff000, 0);
	object.end = UINT64_MAX;
	map(symbols, &object);
	check(symbols, 23, 0xfffffffffffffff0, "[unknown]", "top");
	mkfifo(scratch_path("fifo"), 0600);
	object = object_of(24, "fifo", 0x1000, 0);
	map(symbols, &object);
	check(symbols, 24, 0x1000, "[unknown]", "fifo");
	symbols_free(symbols);
}

static void test_limits(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < OBJECTS_MAX + 100; i++) {
		struct object object;

		snprintf(name, sizeof(name), "object%u", i % (OBJECT_NAMES_MAX + 10));
		object = object_of(i, name, i, 0);
		symbols_map(symbols, &object, NULL);
	}
	check(symbols, 100, 0x10000, "[unknown]", "object100");
	check(symbols, OBJECT_NAMES_MAX + 5, 0x10000, "[unknown]", "");
	check(symbols, OBJECT_NAMES_MAX + 15, 0x10000, "[unknown]", "object5");
	check(symbols, OBJECTS_MAX - 1, 0x10000, "[unknown]", "object3945");
	check(symbols, OBJECTS_MAX, 0x10000, "[unknown]", "");
	assert_non_null(strstr(note_of(symbols), "mapped files"));
	symbols_free(symbols);
}

static char *many_functions(size_t count)
{
	char *text = util_alloc(count * 40), *end = text;

	for (size_t i = 0; i < count; i++)
		end += sprintf(end, "%016lx T function_%zu\n", 0xffffffff81000000 + 64 * i, i);
	return text;
}

/* More addresses than the cache holds: answers stay right, and no function is made twice. */
static void test_many_addresses(void **state)
{
	enum { FUNCTIONS = 20000 };
	char *text = many_functions(FUNCTIONS);
	struct symbols *symbols = with_kernel(text);
	const struct function *first = at(symbols, EVENT_KERNEL, 0xffffffff81000000);

	(void)state;
	for (uint64_t offset = 0; offset < 64 * FUNCTIONS; offset++) {
		uint32_t function =
			symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000000 + offset);

		if (symbols_get(symbols, function)->address !=
				0xffffffff81000000 + offset / 64 * 64)
			fail_msg("wrong at %lx", (unsigned long)offset);
	}
	assert_int_equal(symbols_functions(symbols), FUNCTIONS);
	assert_ptr_equal(at(symbols, EVENT_KERNEL, 0xffffffff81000000), first);
	assert_string_equal(first->name, "function_0");
	symbols_free(symbols);
	free(text);
}

/* Another thread reads the functions that exist, while the owner makes more. */
static void *read_functions(void *context)
{
	const struct symbols *symbols = context;
	size_t count = 0, sum = 0;

	while (count < 5000) {
		count = symbols_functions(symbols);
		for (size_t i = 0; i < count; i++)
			sum += strlen(symbols_get(symbols, (uint32_t)i)->name);
	}
	return (void *)(uintptr_t)(sum > 0);
}

static void test_two_threads(void **state)
{
	char *text = many_functions(5000);
	struct symbols *symbols = with_kernel(text);
	pthread_t reader;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&reader, NULL, read_functions, symbols), 0);
	for (uint64_t i = 0; i < 5000; i++)
		symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000000 + 64 * i);
	assert_int_equal(pthread_join(reader, &result), 0);
	assert_non_null(result);
	symbols_free(symbols);
	free(text);
}

/* Builds `many` with one symbol, and `many.debug` with all: too many for a small budget. */
static void build_many(void)
{
	scratch_text("many.S", ".altmacro\n.macro one i\n.globl a_function_of_many_\\i\n"
		".type a_function_of_many_\\i, @function\na_function_of_many_\\i: ret\n"
		".size a_function_of_many_\\i, 1\n.endm\n.globl _start\n_start: jmp _start\n"
		".set i, 0\n.rept 40000\none %i\n.set i, i + 1\n.endr\n");
	scratch_run("gcc -g -nostdlib -static -no-pie -Wl,--build-id -o many many.S && "
		"objcopy --only-keep-debug many many.debug && nm many >many.names");
}

static bool settle_starved(struct symbols *symbols)
{
	uint64_t late = util_now() + 60000000000u;
	bool starved = false;

	for (symbols_step(symbols, &starved); symbols_reading(symbols); symbols_step(symbols, &starved)) {
		assert_true(util_now() < late);
		poll(NULL, 0, 1);
	}
	return starved;
}

/* Without memory, a stripped program has only its own few names. A remark says so, until memory is back. */
static void test_debug_file_when_memory_is_back(void **state)
{
	char *here = util_format("%s", scratch_path("."));
	const char *const folders[] = { here, NULL };
	struct object object = object_of(1, "many", 0x400000, 0);
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbols *symbols = symbols_new(budget);
	uint64_t start, last, told;
	size_t left;

	(void)state;
	build_many();
	start = nm_address("many", "_start");
	last = nm_address("many", "a_function_of_many_39999");
	scratch_run("strip -K _start many && objcopy --add-gnu-debuglink=many.debug many");
	left = budget_left(budget) - (512 << 10);
	assert_true(budget_take(budget, left));
	symbols_map(symbols, &object, folders);
	assert_true(settle_starved(symbols));
	check(symbols, 1, start, "_start", "many");
	assert_string_not_equal(at(symbols, 1, last)->name, "a_function_of_many_39999");
	assert_non_null(strstr(symbols_note(symbols, &told), "the functions of 1 program have no names"));
	assert_non_null(strstr(symbols_note(symbols, &told), "its debug file is not read: memory is full"));
	budget_give(budget, left);
	symbols_told_again(symbols);
	symbols_map(symbols, &object, folders);
	assert_false(settle_starved(symbols));
	check(symbols, 1, last, "a_function_of_many_39999", "many");
	check(symbols, 1, start, "_start", "many");
	assert_string_equal(symbols_note(symbols, &told), "");
	symbols_free(symbols);
	budget_release(budget);
	free(here);
}

/* A refusal is not final: an address without a function gets it once there is memory. */
static void test_functions_when_memory_is_back(void **state)
{
	static const uint64_t known[] = { 0xffffffff81001010, 0xffffffff81004010 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbols *symbols = symbols_new(budget);
	const char *path = scratch_text("System.map", map_text);
	uint64_t generation;
	size_t left;

	(void)state;
	assert_true(symbols_load_kernel(symbols, path, NULL));
	assert_false(symbols_retry(symbols));
	left = budget_left(budget);
	assert_true(budget_take(budget, left));
	for (int i = 0; i < 2; i++)
		assert_string_equal(at(symbols, EVENT_KERNEL, known[i])->name, "[unknown]");
	assert_string_equal(at(symbols, EVENT_KERNEL, 0x10)->object, "");
	assert_int_equal(symbols_refused(symbols), 3);
	generation = symbols_generation(symbols);
	budget_give(budget, left);

	check(symbols, EVENT_KERNEL, 0xffffffff81003010, "evil?[2Jname", "kernel");
	assert_true(symbols_retry(symbols));
	assert_false(symbols_retry(symbols));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, known[0], "do_work", "kernel");
	check(symbols, EVENT_KERNEL, known[1], "last", "kernel");
	check(symbols, EVENT_KERNEL, 0x10, "[unknown]", "kernel");
	assert_int_equal(symbols_refused(symbols), 0);
	symbols_free(symbols);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_slide),
		cmocka_unit_test(test_kernel_object_gives_bias),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_elf_kernel_with_lines),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_sysroot_gives_the_file_itself),
		cmocka_unit_test(test_notes_are_harmless),
		cmocka_unit_test(test_program_of_another_build),
		cmocka_unit_test(test_notes_of_files_age),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_mapped_again),
		cmocka_unit_test(test_kernel_module),
		cmocka_unit_test(test_specials),
		cmocka_unit_test(test_hostile_objects),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_debug_file_when_memory_is_back),
		cmocka_unit_test(test_functions_when_memory_is_back),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
