/* SPDX-License-Identifier: MIT */
/* A page of the guest's memory by QMP: from a fair QEMU, and from one that says anything at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_memory.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/qmp_loop.h"

enum { PATIENCE_MS = 3000, SHORT_MS = 100, WORDS = QMP_PAGE / 8, TEXT = 64 << 10 };

#define ADDRESS 0xffffffff81042000
#define MAP "\"return\": \"FlatView #0\\r\\n AS \\\"memory\\\", root: system\\r\\n Root memory region: system\\r\\n" \
	"  0000000000000000-00000000000bffff (prio 0, ram): pc.ram\\r\\n" \
	"  00000000000c0000-00000000000fffff (prio 0, rom): pc.rom\\r\\n" \
	"  0000000000100000-000000000fffffff (prio 0, ram): pc.ram\\r\\n" \
	"  00000000fd000000-00000000fdffffff (prio 1, ram): vga.vram\\r\\n\"}"

struct machine {
	const char *place;		/* the answer to gva2gpa */
	unsigned cpu;			/* the only CPU that has the page */
	const char *bytes;		/* the answer to xp */
	unsigned maps, reads;		/* how often these were asked for */
};

static const char *answer(void *context, const char *line)
{
	struct machine *machine = context;
	char cpu[32];

	snprintf(cpu, sizeof(cpu), "\"cpu-index\":%u", machine->cpu);
	if (strstr(line, "qmp_capabilities"))
		return "\"return\": {}}";
	if (strstr(line, "query-status"))
		return "\"return\": {\"status\": \"running\"}}";
	if (strstr(line, "info mtree -f")) {
		machine->maps++;
		return MAP;
	}
	if (strstr(line, "gva2gpa 0xffffffff81042000"))
		return strstr(line, cpu) ? machine->place : "\"return\": \"Unmapped\\r\\n\"}";
	if (!strstr(line, "xp /512xg 0x"))
		return "\"error\": {\"desc\": \"what?\"}}";
	machine->reads++;
	return machine->bytes;
}

/* What QEMU prints of a page, in which word i is i * 0x0101010101010101: so many words of it. */
static char *page_text(size_t words)
{
	char *text = util_alloc(TEXT), *at = text;

	at += sprintf(at, "\"return\": \"");
	for (size_t i = 0; i < words; i++)
		at += sprintf(at, "%s 0x%016llx%s", i % 2 ? "" : "0000000001042000:",
			(unsigned long long)i * 0x0101010101010101u, i % 2 ? "\\r\\n" : "");
	strcpy(at, "\"}");
	return text;
}

struct vm {
	struct fake_qmp *fake;
	struct qmp *qmp;
	struct qmp_memory memory;
};

static void begin(struct vm *vm, struct machine *machine)
{
	char *error = NULL;

	*vm = (struct vm) { .fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .machine = answer, .context = machine }) };
	vm->qmp = loop_open(qmp_from_fd(fake_qmp_fd(vm->fake), "fake", PATIENCE_MS), &error);
	if (!vm->qmp)
		fail_msg("%s", error);
}

static void end(struct vm *vm)
{
	qmp_free(vm->qmp);
	fake_qmp_free(vm->fake);
}

/* True: QEMU has answered. */
static bool read_page(struct vm *vm, uint32_t cpus, int timeout_ms)
{
	bool good;

	memory_begin(&vm->memory, vm->qmp, cpus, ADDRESS, util_now(), timeout_ms);
	good = loop_talk(&vm->memory.talk);
	memory_clear(&vm->memory);
	return good;
}

static uint64_t word(const struct qmp_memory *memory, uint64_t index)
{
	uint64_t word;

	memcpy(&word, memory->bytes + index * sizeof(word), sizeof(word));
	return word;
}

static void test_pages(void **state)
{
	char *text = page_text(WORDS);
	struct machine machine = { .place = "\"return\": \"gpa: 0x1042000\\r\\n\"}", .cpu = 1, .bytes = text };
	struct vm vm;

	(void)state;
	begin(&vm, &machine);
	for (int k = 0; k < 2; k++) {
		assert_true(read_page(&vm, 2, PATIENCE_MS));
		assert_true(vm.memory.there);
		for (uint64_t i = 0; i < WORDS; i++)
			assert_int_equal(word(&vm.memory, i), i * 0x0101010101010101u);
	}
	assert_int_equal(machine.maps, 1);
	assert_int_equal(machine.reads, 2);
	assert_true(read_page(&vm, 1, PATIENCE_MS));	/* the CPU that has it is not there */
	assert_false(vm.memory.there);
	assert_int_equal(machine.reads, 2);
	end(&vm);
	free(text);
}

/* Devices, memory of cards, ROM, what lies below 1 MiB, and what is no page. */
static void test_only_ram_is_read(void **state)
{
	static const char *const places[] = {
		"\"return\": \"gpa: 0xfee00000\\r\\n\"}", "\"return\": \"gpa: 0xfd000000\\r\\n\"}",
		"\"return\": \"gpa: 0xc0000\\r\\n\"}", "\"return\": \"gpa: 0x1000\\r\\n\"}",
		"\"return\": \"gpa: 0x1042800\\r\\n\"}", "\"return\": \"gpa: 0xffffffffffffffffff\\r\\n\"}",
		"\"return\": \"gpa: \"}", "\"return\": \"\"}", "\"return\": 5}", "\"return\": {}}",
		"\"error\": {\"desc\": \"no\"}}", "\"gpa\": 1}",
	};
	struct vm vm;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct machine machine = { .place = places[i], .bytes = "\"return\": \"\"}" };

		begin(&vm, &machine);
		assert_true(read_page(&vm, 1, PATIENCE_MS));
		assert_false(vm.memory.there);
		assert_int_equal(machine.reads, 0);
		end(&vm);
	}
}

static void test_bytes_that_are_no_page(void **state)
{
	char *texts[] = { page_text(WORDS - 1), page_text(WORDS + 1), page_text(0), page_text(900) };
	static const char *const odd[] = {
		"\"return\": \"x: y z\\r\\n: 0x\\r\\n::::\"}", "\"return\": 512}", "\"error\": 1}",
	};
	struct machine machine = { .place = "\"return\": \"gpa: 0x1042000\\r\\n\"}" };
	struct vm vm;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		machine.bytes = i < 4 ? texts[i] : odd[i - 4];
		begin(&vm, &machine);
		assert_true(read_page(&vm, 1, PATIENCE_MS));
		assert_false(vm.memory.there);
		end(&vm);
	}
	for (size_t i = 0; i < 4; i++)
		free(texts[i]);
}

static void test_qemu_that_says_nothing(void **state)
{
	struct machine machine = { .place = NULL };
	struct vm vm;

	(void)state;
	begin(&vm, &machine);
	fake_qmp_mute(vm.fake, true);
	assert_false(read_page(&vm, 1, SHORT_MS));
	assert_false(vm.memory.there);
	end(&vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_only_ram_is_read),
		cmocka_unit_test(test_bytes_that_are_no_page),
		cmocka_unit_test(test_qemu_that_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
