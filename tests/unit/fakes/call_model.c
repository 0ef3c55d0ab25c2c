/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/names/linux/orc.h"
#include "call_model.h"

/* DWARF's numbers of x86-64 registers. */
enum { RBP = 6, RSP = 7 };

/* The functions from here on are entry code, which runs on a pt_regs. The first of them is the root. */
enum { ENTRY_CODE = CALL_MODEL_FUNCTIONS - 4 };

/* What a function does with the frame pointer if it is not used for frames. */
enum shape { LEAVES_IT, SAVES_IT, FRAMES_BY_IT, SHAPES };

static uint64_t get(const struct call_model *model, unsigned number)
{
	return model->registers.values[number];
}

static void set(struct call_model *model, unsigned number, uint64_t value)
{
	registers_set(&model->registers, number, value);
}

static void store(struct call_model *model, uint64_t address, uint64_t word)
{
	memcpy(model->bytes + (address - model->stack), &word, model->arch->word);
}

static void push(struct call_model *model, uint64_t word)
{
	set(model, model->arch->sp, get(model, model->arch->sp) - model->arch->word);
	store(model, get(model, model->arch->sp), word);
}

static bool is_x86(const struct call_model *model)
{
	return model->arch->link == ARCH_NO_REGISTER;
}

/* Puts a frame in front of those that are expected already. */
static void expect(struct call_model *model, uint64_t pc, bool exact)
{
	struct unwound_frames *frames = &model->expected;

	memmove(frames->frames + 1, frames->frames, frames->count * sizeof(*frames->frames));
	frames->frames[0] = pc;
	frames->exact = frames->exact << 1 | exact;
	frames->count++;
}

/* A random place in a function, behind the code that makes its frame and before its end. */
static uint64_t place_in(struct call_model *model, uint64_t function)
{
	return model->text + function * CALL_MODEL_FUNCTION_SIZE + 32 + random_below(&model->random, 48) * 4;
}

static uint64_t another_function(struct call_model *model)
{
	uint64_t own = (get(model, model->arch->pc) - model->text) / CALL_MODEL_FUNCTION_SIZE;
	uint64_t other = 1 + random_below(&model->random, ENTRY_CODE - 2);

	return own < ENTRY_CODE && other >= own ? other + 1 : other;
}

static enum shape shape_of(uint64_t function)
{
	return (enum shape)(function % SHAPES);
}

static uint64_t locals_of(uint64_t function)
{
	return function % 7 * 8;
}

/* Only the table tells how to undo what this does to the registers. */
static void lay_orc_frame(struct call_model *model, uint64_t function)
{
	if (shape_of(function) != LEAVES_IT)
		push(model, get(model, RBP));
	if (shape_of(function) == FRAMES_BY_IT)
		set(model, RBP, get(model, RSP));
	else if (shape_of(function) == SAVES_IT)
		set(model, RBP, random_next(&model->random));
	set(model, RSP, get(model, RSP) - locals_of(function));
}

static bool find_orc(void *context, uint64_t pc, struct orc_entry *entry)
{
	const struct call_model *model = context;
	uint64_t function = (pc - model->text) / CALL_MODEL_FUNCTION_SIZE;
	bool entered = (pc - model->text) % CALL_MODEL_FUNCTION_SIZE < 16;
	enum shape shape = shape_of(function);

	*entry = (struct orc_entry) { .sp = ORC_SP, .sp_offset = 8, .type = ORC_TYPE_CALL };
	if (function >= CALL_MODEL_FUNCTIONS)
		return false;
	if (function >= ENTRY_CODE)
		*entry = (struct orc_entry) { .sp = ORC_SP, .type = ORC_TYPE_REGS, .signal = true };
	else if (function == 0)
		entry->type = ORC_TYPE_END;
	else if (!entered && shape == FRAMES_BY_IT)
		*entry = (struct orc_entry) {
			.sp = ORC_BP, .sp_offset = 16, .bp = ORC_PREV_SP, .bp_offset = -16, .type = ORC_TYPE_CALL,
		};
	else if (!entered)
		entry->sp_offset = (int16_t)(8 + locals_of(function) + (shape == SAVES_IT ? 8 : 0));
	if (!entered && function && function < ENTRY_CODE && shape == SAVES_IT) {
		entry->bp = ORC_PREV_SP;
		entry->bp_offset = -16;
	}
	return true;
}

static void lay_frame(struct call_model *model, uint64_t function)
{
	const struct arch *arch = model->arch;
	uint64_t locals = random_below(&model->random, 8) * 16, sp;

	if (model->orc) {
		lay_orc_frame(model, function);
		return;
	}
	if (is_x86(model)) {
		push(model, get(model, arch->fp));
		set(model, arch->fp, get(model, arch->sp));
		set(model, arch->sp, get(model, arch->sp) - locals);
		return;
	}
	sp = get(model, arch->sp) - 16 - locals;
	if (arch == arch_get(ARCH_RISCV64)) {
		store(model, sp + locals, get(model, arch->fp));
		store(model, sp + locals + 8, get(model, arch->link));
		set(model, arch->fp, sp + locals + 16);
	} else {
		store(model, sp, get(model, arch->fp));
		store(model, sp + 8, get(model, arch->link));
		set(model, arch->fp, sp);
	}
	set(model, arch->sp, sp);
}

static void enter(struct call_model *model, uint64_t function, bool frame)
{
	if (frame)
		lay_frame(model, function);
	set(model, model->arch->pc, frame || !is_x86(model) ? place_in(model, function) :
		model->text + function * CALL_MODEL_FUNCTION_SIZE);
}

static bool is_kernel(void *context, uint64_t pc)
{
	const struct call_model *model = context;

	return pc - model->text < CALL_MODEL_FUNCTIONS * CALL_MODEL_FUNCTION_SIZE;
}

static bool function_at(void *context, uint64_t pc, uint64_t *start)
{
	const struct call_model *model = context;

	*start = pc - (pc - model->text) % CALL_MODEL_FUNCTION_SIZE;
	return is_kernel(context, pc);
}

static bool is_entry(void *context, uint64_t pc)
{
	const struct call_model *model = context;

	return (pc - model->text) / CALL_MODEL_FUNCTION_SIZE >= ENTRY_CODE;
}

void call_model_begin(struct call_model *model, enum arch_id arch, uint64_t seed)
{
	bool narrow = arch == ARCH_I386;

	*model = (struct call_model) { .arch = arch_get(arch), .random = { .state = seed } };
	model->text = narrow ? 0xc0100000 : UINT64_C(0xffffffff81000000);
	model->stack = narrow ? 0xc4000000 : UINT64_C(0xffffc90000010000);
	model->registers.arch = model->arch;
	for (unsigned i = 0; i < model->arch->registers; i++)
		set(model, i, 0);
	set(model, model->arch->sp, model->stack + CALL_MODEL_STACK);
	if (is_x86(model))
		push(model, 0);
	enter(model, 0, true);
	model->code = (struct unwind_code) { .context = model, .is_kernel = is_kernel, .function = function_at };
	if (arch == ARCH_RISCV64)
		model->code.entry = is_entry;
}

void call_model_begin_orc(struct call_model *model, uint64_t seed)
{
	call_model_begin(model, ARCH_X86_64, seed);
	model->orc = true;
	model->code.orc = find_orc;
	set(model, RBP, random_next(&model->random));
}

void call_model_call(struct call_model *model, bool frame)
{
	uint64_t back = get(model, model->arch->pc);
	uint64_t function = another_function(model);

	expect(model, back, false);
	if (is_x86(model))
		push(model, back);
	else
		set(model, model->arch->link, back);
	enter(model, function, frame);
}

void call_model_interrupt(struct call_model *model)
{
	static const uint8_t x86_64_order[] = { 15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5 };
	static const uint8_t i386_order[] = { 3, 1, 2, 6, 7, 5, 0 };
	const struct arch *arch = model->arch;
	uint64_t pc = get(model, arch->pc), sp = get(model, arch->sp);
	uint64_t function = ENTRY_CODE + random_below(&model->random, CALL_MODEL_FUNCTIONS - ENTRY_CODE);

	expect(model, pc, true);
	if (arch == arch_get(ARCH_RISCV64)) {
		set(model, arch->sp, (sp & ~UINT64_C(15)) - 36 * 8);
		store(model, get(model, arch->sp), pc);
		for (unsigned i = 1; i < 32; i++)
			store(model, get(model, arch->sp) + 8 * i, i == arch->sp ? sp : get(model, i));
	} else if (arch->word == 8) {
		set(model, arch->sp, sp & ~UINT64_C(15));
		push(model, 0x18);
		push(model, sp);
		push(model, 0x246);
		push(model, 0x10);
		push(model, pc);
		push(model, UINT64_MAX);
		for (size_t i = sizeof(x86_64_order); i-- > 0;)
			push(model, get(model, x86_64_order[i]));
		set(model, arch->fp, model->orc ? random_next(&model->random) : get(model, arch->sp) + 1);
	} else {
		push(model, 0x246);
		push(model, 0x60);
		push(model, pc);
		for (unsigned i = 0; i < 5; i++)
			push(model, 0);
		for (size_t i = sizeof(i386_order); i-- > 0;)
			push(model, get(model, i386_order[i]));
		set(model, arch->fp, get(model, arch->sp) & ~(UINT64_C(1) << 31));
	}
	/* The entry code's own frame, from which it calls the handler. */
	set(model, arch->pc, place_in(model, function));
	call_model_call(model, true);
}

void call_model_call_last(struct call_model *model)
{
	const struct arch *arch = model->arch;
	uint64_t sp;

	call_model_call(model, false);
	sp = get(model, arch->sp);
	store(model, sp - 8, get(model, arch->fp));
	store(model, sp - 16, random_next(&model->random));
	set(model, arch->fp, sp);
	set(model, arch->sp, sp - 16);
}

void call_model_sample(struct call_model *model)
{
	uint64_t sp = get(model, model->arch->sp);

	expect(model, get(model, model->arch->pc), true);
	model->memory = (struct stack_memory) { .count = 1 };
	model->memory.pieces[0] = (struct stack_piece) {
		.address = sp, .bytes = model->bytes + (sp - model->stack),
		.size = (size_t)(model->stack + CALL_MODEL_STACK - sp),
	};
}
