/* SPDX-License-Identifier: MIT */
/* The thread that reads DWARF for others, and the answers that it keeps. */
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/dwarf/line_worker.h"
#include "tests/unit/fakes/scratch.h"

static int build(void)
{
	scratch_text("twice.c", "int twice(int x)\n{\n\treturn x + x;\n}\nvoid _start(void)\n{\n}\n");
	scratch_run("gcc -O0 -g -nostdlib -ffreestanding -static -Wl,-Ttext=0x401000 "
		"-o twice twice.c");
	return open(scratch_path("twice"), O_RDONLY);
}

static struct line_answer await_answer(struct line_worker *worker)
{
	uint64_t deadline = util_now() + 60 * NS_PER_SECOND;
	struct line_answer answer;

	while (!line_worker_take(worker, &answer)) {
		if (util_now() > deadline)
			fail_msg("no answer in a minute");
		usleep(1000);
	}
	return answer;
}

static void test_answers_in_order(void **state)
{
	const struct debug_object object = { .fd = build() };
	const struct debug_object none = { .fd = open("/dev/null", O_RDONLY) };
	struct line_question question = { .address = 0x401000 };
	struct line_worker *worker = line_worker_new(NULL);

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		question.ticket = i;
		question.object = i % 3 ? &object : &none;
		assert_true(line_worker_ask(worker, &question));
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct line_answer answer = await_answer(worker);

		assert_int_equal(answer.ticket, i);
		assert_false(answer.later);
		if (i % 3)
			assert_string_equal(answer.text, "twice.c:2");
		else
			assert_null(answer.text);
		free(answer.text);
	}
	line_worker_free(worker);
	close(object.fd);
	close(none.fd);
}

static void test_what_cannot_be_read_is_noted(void **state)
{
	const struct debug_object object = { .fd = build(), .path = "twice" };
	struct line_worker *worker = line_worker_new(NULL);
	char note[256];

	(void)state;
	scratch_run("objcopy --compress-debug-sections=zstd twice && "
		"LC_ALL=C sed -i 's/\\x28\\xb5\\x2f\\xfd/wxyz/' twice");
	assert_int_equal(dup2(open(scratch_path("twice"), O_RDONLY), object.fd), object.fd);
	assert_true(line_worker_ask(worker, &(struct line_question) { .object = &object, .address = 0x401000 }));
	assert_null(await_answer(worker).text);
	assert_non_null(strstr(line_worker_note(worker, note, sizeof(note)), "no source lines of twice: its debug"));
	line_worker_free(worker);
	close(object.fd);
}

/* What stands at an offset of a file is damaged: what the worker says of it. */
static void check_note(const char *bytes, size_t size, const char *expected)
{
	struct debug_object object = { .path = "twice" };
	struct line_worker *worker = line_worker_new(NULL);
	struct line_answer answer;
	char note[256];

	object.fd = open(scratch_write("odd", bytes, size), O_RDONLY);
	assert_true(line_worker_ask(worker, &(struct line_question) { .object = &object, .address = 0x401000 }));
	answer = await_answer(worker);
	line_answer_clear(&answer);
	assert_string_equal(line_worker_note(worker, note, sizeof(note)), expected);
	line_worker_free(worker);
	close(object.fd);
}

/* A file whose sections cannot be found by their names; and one whose last unit is cut. */
static void test_damaged_parts_are_noted(void **state)
{
	size_t size;
	char *bytes;
	Elf64_Ehdr *head;

	(void)state;
	close(build());
	scratch_run("objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc twice info && "
		"cat info info | head -c $(($(stat -c %s info) + 20)) >longer && "
		"objcopy --update-section .debug_info=longer twice cut");
	bytes = scratch_read(scratch_path("cut"), &size);
	check_note(bytes, size, "source lines of twice are missing: a part of its debug sections is damaged; "
		"give the file as it was linked");
	free(bytes);
	bytes = scratch_read(scratch_path("twice"), &size);
	check_note(bytes, size, "");
	head = (Elf64_Ehdr *)bytes;
	head->e_shstrndx = 0xfffe;
	check_note(bytes, size, "no source lines of twice: the names of its sections are damaged; "
		"give the file as it was linked");
	free(bytes);
}

static void test_queue_is_bounded(void **state)
{
	const struct debug_object object = { .fd = open("/dev/null", O_RDONLY) };
	struct line_worker *worker = line_worker_new(NULL);
	struct line_question question = { .object = &object };

	(void)state;
	for (int i = 0; i < LINE_QUEUE; i++)
		assert_true(line_worker_ask(worker, &question));
	assert_false(line_worker_ask(worker, &question));
	free(await_answer(worker).text);
	assert_true(line_worker_ask(worker, &question));
	line_worker_free(worker);
	close(object.fd);
}

static void test_ends_early(void **state)
{
	const struct debug_object object = { .fd = open("/proc/self/exe", O_RDONLY) };
	struct line_worker *worker = line_worker_new(NULL);
	struct line_question question = { .object = &object, .address = 0x1000 };

	(void)state;
	line_worker_free(worker);
	worker = line_worker_new(NULL);
	for (int i = 0; i < LINE_QUEUE; i++)
		assert_true(line_worker_ask(worker, &question));
	line_worker_free(worker);
	line_worker_free(NULL);
	close(object.fd);
}

/* More files than are open at a time: each answer still comes from the right file. */
static void test_many_files(void **state)
{
	struct line_worker *worker = line_worker_new(NULL);
	struct debug_object objects[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		objects[i] = (struct debug_object) { .fd = i % 2 ? build() : -1 };
	for (uint32_t i = 0; i < 100; i++)
		assert_true(line_worker_ask(worker, &(struct line_question) {
			.object = &objects[i % 20], .address = 0x401000, .ticket = i }));
	for (uint32_t i = 0; i < 100; i++) {
		struct line_answer answer = await_answer(worker);

		if (answer.ticket % 2)
			assert_string_equal(answer.text, "twice.c:2");
		else
			assert_null(answer.text);
		free(answer.text);
	}
	line_worker_free(worker);
	for (int i = 1; i < 20; i += 2)
		close(objects[i].fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_in_order),
		cmocka_unit_test(test_what_cannot_be_read_is_noted),
		cmocka_unit_test(test_damaged_parts_are_noted),
		cmocka_unit_test(test_queue_is_bounded),
		cmocka_unit_test(test_ends_early),
		cmocka_unit_test(test_many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
