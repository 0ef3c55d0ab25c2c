/* SPDX-License-Identifier: MIT */
/* Debug files: where they are looked for, and that a file of another build is never used. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/names/files/debug_file.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "tests/unit/fakes/scratch.h"

static char remark[256];

static const char source[] = "int twice(int x)\n{\n\treturn x + x;\n}\nvoid _start(void)\n{\n}\n";

/* Builds `name`, stripped, and `name.debug` with its DWARF; `name` links to that. Each seed gives another build. */
static struct debug_object build(const char *name, const char *seed)
{
	struct debug_object object = { .fd = -1 };
	struct elf_identity identity;
	char *command = util_format("gcc -O0 -g -nostdlib -ffreestanding -static -Wl,--build-id=0x%s "
		"-Wl,-Ttext=0x401000 -o %s twice.c && objcopy --only-keep-debug %s %s.debug && "
		"strip %s && objcopy --add-gnu-debuglink=%s.debug %s && rm -rf places && "
		"mkdir -p places", seed, name, name, name, name, name, name);

	scratch_text("twice.c", source);
	scratch_run(command);
	object.path = util_copy(scratch_path(name), strlen(scratch_path(name)));
	object.fd = open(object.path, O_RDONLY);
	assert_true(object.fd >= 0);
	assert_true(sym_elf_identify(object.fd, &identity, NULL));
	assert_false(identity.lines);
	object.build_id = identity.build_id;
	assert_true(build_id_known(&object.build_id));
	free(command);
	return object;
}

static void drop(struct debug_object *object)
{
	close(object->fd);
	free((char *)object->path);
}

static int find(const struct debug_object *object)
{
	char *own = util_copy(scratch_path("places"), strlen(scratch_path("places")));
	const struct debug_folders folders = { .own = own, .sysroot = scratch_path("root") };
	int fd;

	remark[0] = '\0';
	fd = debug_file_open(&folders, object, NULL, remark, sizeof(remark));
	free(own);
	return fd;
}

static void expect_line(int fd, const char *expected)
{
	bool full;
	struct sym_dwarf *dwarf;
	char *line;

	assert_true(fd >= 0);
	dwarf = sym_dwarf_new(fd, NULL, NULL, &full);
	assert_non_null(dwarf);
	line = sym_dwarf_line(dwarf, 0x401000, &full);
	assert_string_equal(line, expected);
	free(line);
	sym_dwarf_free(dwarf);
	close(fd);
}

static void place(const char *file, const char *path)
{
	char *command = util_format("mkdir -p $(dirname %s) && cp %s %s", path, file, path);

	scratch_run(command);
	free(command);
}

static void test_by_build_id(void **state)
{
	struct debug_object object = build("program", "121122334455667788990011");

	(void)state;
	scratch_run("mv program.debug moved");
	assert_int_equal(find(&object), -1);
	place("moved", "places/.build-id/12/1122334455667788990011.debug");
	expect_line(find(&object), "twice.c:2");
	scratch_run("rm -rf places root; mkdir places root");
	place("moved", "root/usr/lib/debug/.build-id/12/1122334455667788990011.debug");
	expect_line(find(&object), "twice.c:2");
	assert_string_equal(remark, "");
	drop(&object);
}

static void test_by_link(void **state)
{
	struct debug_object object = build("linked", "aa112233");

	(void)state;
	expect_line(find(&object), "twice.c:2");
	scratch_run("mkdir -p .debug && mv linked.debug .debug/");
	expect_line(find(&object), "twice.c:2");
	scratch_run("mv .debug/linked.debug away");
	assert_int_equal(find(&object), -1);
	drop(&object);
}

/*
 * In each place, a file of another build is not used, and a remark says so. A file without a build-id is
 * not used, either.
 */
static void test_another_build(void **state)
{
	struct debug_object object = build("mine", "bb112233");
	struct debug_object other = build("other", "cc112233");
	const char *places[] = { "places/.build-id/bb/112233.debug", "mine.debug",
		".debug/mine.debug", "root/usr/lib/debug/.build-id/bb/112233.debug" };

	(void)state;
	scratch_run("rm mine.debug");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *command = util_format("rm %s", places[i]);

		place("other.debug", places[i]);
		assert_int_equal(find(&object), -1);
		assert_non_null(strstr(remark, "another build"));
		scratch_run("objcopy --remove-section .note.gnu.build-id other.debug none");
		place("none", places[i]);
		assert_int_equal(find(&object), -1);
		scratch_run(command);
		free(command);
	}
	assert_int_equal(find(&object), -1);
	assert_string_equal(remark, "");
	drop(&object);
	drop(&other);
}

/* If the build is unknown, nothing is looked for. */
static void test_unknown_build(void **state)
{
	struct debug_object object = build("unknown", "dd112233");

	(void)state;
	object.build_id.size = 0;
	assert_int_equal(find(&object), -1);
	drop(&object);
}

static void test_kernel(void **state)
{
	struct debug_object own = build("vmlinux", "ee112233"), kernel = own;
	const char *places[] = { "places/vmlinux", "places/boot/vmlinux-6.1.0-test",
		"places/lib/modules/6.1.0-test/vmlinux" };

	(void)state;
	kernel.kind = DEBUG_KERNEL;
	kernel.fd = -1;
	kernel.version = "6.1.0-test";
	scratch_run("mv vmlinux.debug kept; rm -rf root; mkdir -p root");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place("kept", places[i]);
		expect_line(find(&kernel), "twice.c:2");
		scratch_run("rm -r places && mkdir places");
		assert_int_equal(find(&kernel), -1);
	}
	place("kept", "outside/boot/vmlinux-x");
	kernel.version = "../../outside/boot/x";
	assert_int_equal(find(&kernel), -1);
	drop(&own);
}

static void test_module(void **state)
{
	struct debug_object own = build("some", "ff112233"), module = own;
	const char *places[] = { "places/snd_timer.ko",
		"places/lib/modules/6.1.0-test/kernel/sound/core/snd-timer.ko",
		"places/lib/modules/6.1.0-test/extra/snd_timer.ko.debug" };

	(void)state;
	module.kind = DEBUG_MODULE;
	module.fd = -1;
	module.name = "snd_timer";
	module.version = "6.1.0-test";
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		place("some.debug", places[i]);
		expect_line(find(&module), "twice.c:2");
		scratch_run("rm -r places && mkdir places");
	}
	place("some.debug", "places/lib/modules/6.1.0-test/kernel/snd-timer.ko.other");
	assert_int_equal(find(&module), -1);
	drop(&own);
}

/* Symbolic links below the sysroot are the guest's: they never lead out of it. */
static void test_sysroot_links(void **state)
{
	struct debug_object object = build("inside", "0a112233");

	(void)state;
	scratch_run("mv inside.debug kept; rm -rf root; mkdir -p root/usr/lib/debug/.build-id/0a");
	scratch_run("ln -s $(pwd)/kept root/usr/lib/debug/.build-id/0a/112233.debug");
	assert_int_equal(find(&object), -1);
	scratch_run("mkdir -p root/$(pwd) && cp kept root/$(pwd)/kept");
	expect_line(find(&object), "twice.c:2");
	drop(&object);
}

/* A file that is not regular, or not ELF, is skipped. */
static void test_no_files(void **state)
{
	struct debug_object object = build("odd", "0b112233");

	(void)state;
	scratch_run("rm odd.debug; mkdir -p places/.build-id/0b");
	scratch_run("mkfifo places/.build-id/0b/112233.debug");
	assert_int_equal(find(&object), -1);
	scratch_run("rm places/.build-id/0b/112233.debug; mkdir places/.build-id/0b/112233.debug");
	assert_int_equal(find(&object), -1);
	scratch_run("rmdir places/.build-id/0b/*; echo no > places/.build-id/0b/112233.debug");
	assert_int_equal(find(&object), -1);
	drop(&object);
}

/* Two programs with the same types: dwz(1) moves these into a shared file. */
static const char make_shared[] =
	"rm -rf debug && mkdir -p debug/.dwz && { for i in $(seq 60); do "
	"echo \"struct shared_structure_$i { long first_member_$i, second_member_$i; };\"; done; "
	"echo 'static inline int inner(volatile int *x) { return *x; }'; } > shared.h && "
	"for name in one two; do { echo '#include \"shared.h\"'; "
	"for i in $(seq 60); do echo \"struct shared_structure_$i value_$i;\"; done; "
	"echo \"int outer_$name(volatile int *x) { return inner(x); }\"; "
	"echo 'void _start(void) {}'; } > $name.c; "
	"gcc -O2 -g -nostdlib -ffreestanding -static -Wl,--build-id -Wl,-Ttext=0x401000 -o $name "
	"$name.c || exit 1; done; dwz -m debug/.dwz/common one two && "
	"readelf -S one | grep -q gnu_debugaltlink";

static struct sym_dwarf *open_shared(int fd, const char *folder)
{
	const struct debug_folders folders = { .own = folder };
	bool full;

	return sym_dwarf_new(fd, &folders, NULL, &full);
}

/* The names are in the shared file. Without it, or with a wrong one, there are none. */
static void test_shared(void **state)
{
	char *folder = util_copy(scratch_path("debug"), strlen(scratch_path("debug")));
	struct elf_identity identity;
	struct sym_dwarf *dwarf;
	bool full;
	char *names;
	int fd;

	(void)state;
	scratch_run(make_shared);
	fd = open(scratch_path("one"), O_RDONLY);
	assert_true(fd >= 0);
	dwarf = open_shared(fd, folder);
	assert_non_null(dwarf);
	names = sym_dwarf_inlined(dwarf, 0x401000, &full);
	assert_string_equal(names, "inner\n");
	free(names);
	sym_dwarf_free(dwarf);
	assert_null(open_shared(fd, NULL));
	assert_true(sym_elf_identify(fd, &identity, NULL));
	assert_non_null(strstr(sym_elf_lost_lines(&identity), "that its debug sections share with others is not in"));
	scratch_run("mkdir -p debug/moved && mv debug/.dwz/common debug/moved/");
	assert_null(open_shared(fd, folder));
	scratch_run("cp two debug/.dwz/common");
	assert_null(open_shared(fd, folder));
	close(fd);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),
		cmocka_unit_test(test_by_link),
		cmocka_unit_test(test_another_build),
		cmocka_unit_test(test_unknown_build),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_sysroot_links),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
