/* SPDX-License-Identifier: MIT */
/*
 * This very program is unwound by its own call frame information. The C library's unwinder must find the
 * same frames.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "agent/names/dwarf/sym_cfi.h"
#include "agent/unwind/unwind.h"

enum { DEPTH = 12, STACK = 64 << 10 };

struct self {
	struct sym_cfi *cfi;
	uint64_t bias, end;		/* of the program's own code */
};

static int find_self(struct dl_phdr_info *info, size_t size, void *context)
{
	struct self *self = context;

	(void)size;
	self->bias = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			self->end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;			/* the first one is the program */
}

static bool is_own(const struct self *self, const void *address)
{
	return (uint64_t)address >= self->bias && (uint64_t)address < self->end;
}

static bool find_rules(void *context, uint64_t pc, struct frame_rules *rules)
{
	struct self *self = context;

	return is_own(self, (const void *)pc) && sym_cfi_find(self->cfi, pc - self->bias, rules);
}

struct seen {
	int count;			/* of the frames that the C library finds */
	void *frames[UNWIND_FRAMES];
	struct unwound unwound;
};

static void take_registers(struct registers *registers, const ucontext_t *context)
{
	static const int order[] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10,
		REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	registers->arch = arch_get(ARCH_X86_64);
	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		registers_set(registers, i, (uint64_t)context->uc_mcontext.gregs[order[i]]);
}

/* Reads the stack in place: it is this function's own, and stays valid until it returns. */
static __attribute__((noinline, no_sanitize("address"))) void look(struct self *self, struct seen *seen)
{
	struct registers registers = { .known = 0 };
	struct stack_memory memory = { .count = 1 };
	struct unwind_code code = { .context = self, .rules = find_rules };
	ucontext_t context;

	getcontext(&context);
	take_registers(&registers, &context);
	memory.pieces[0] = (struct stack_piece) {
		.address = registers.values[7], .bytes = (const uint8_t *)registers.values[7], .size = STACK,
	};
	seen->count = backtrace(seen->frames, UNWIND_FRAMES);
	unwind(&registers, &code, &memory, &seen->unwound);
}

/* Frames of different forms. A frame whose size is known only at run time needs the frame pointer. */
static __attribute__((noinline)) int descend(struct self *self, struct seen *seen, int depth)
{
	char *room = __builtin_alloca((size_t)depth * 16 + 1);

	room[depth] = 1;
	if (depth == 0)
		look(self, seen);
	else
		room[0] = (char)descend(self, seen, depth - 1);
	return room[depth];
}

static void a_program_is_unwound_like_its_own_unwinder_does(void **state)
{
	struct self self = { .cfi = sym_cfi_open(open("/proc/self/exe", O_RDONLY)) };
	struct seen seen;
	uint32_t own = 0;
	int look_at = 0;

	(void)state;
	assert_non_null(self.cfi);
	dl_iterate_phdr(find_self, &self);
	descend(&self, &seen, DEPTH);
	sym_cfi_close(self.cfi);
	assert_int_equal(seen.unwound.kernel.count, 0);
	/* A sanitizer's frame may come before look()'s, since the two unwinders were called at different places. */
	while (look_at < seen.count && !is_own(&self, seen.frames[look_at]))
		look_at++;
	for (int i = 1; look_at + i < seen.count && i < (int)seen.unwound.user.count; i++) {
		assert_int_equal(seen.unwound.user.frames[i], (uint64_t)seen.frames[look_at + i]);
		own += is_own(&self, seen.frames[look_at + i]);
	}
	assert_in_range(own, DEPTH + 2, UNWIND_FRAMES);
	assert_int_equal(seen.unwound.user.exact, 1);
}

static void a_file_without_frames_has_no_rules(void **state)
{
	(void)state;
	assert_null(sym_cfi_open(open("/proc/self/status", O_RDONLY)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_unwound_like_its_own_unwinder_does),
		cmocka_unit_test(a_file_without_frames_has_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
