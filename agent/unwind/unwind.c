/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/linux/orc.h"
#include "unwind.h"

/*
 * One step of a walk: from the registers of a frame to those of its caller. Each way of making it has a
 * file: frame pointers, ORC, call frame information. A step that fails changes nothing.
 */

struct frame_rules;
struct orc_entry;
struct stack_memory;

enum step {
	STEP_CALLER,		/* the registers are now the caller's; its pc is a return address */
	STEP_INTERRUPTED,	/* they are now those of interrupted code; its pc is exact */
	STEP_ROOT,		/* there is no caller: the stack begins with this frame */
	STEP_LOST,		/* something that is needed is not known */
};

/* ---- the stack's memory ---- */

/* The wire is little-endian, and so is each guest; so words are read as the host's own. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a stack's words are little-endian");

static const uint8_t *find(const struct stack_memory *memory, uint64_t address, size_t size)
{
	for (size_t i = 0; i < memory->count && i < STACK_MEMORY_PIECES; i++) {
		const struct stack_piece *piece = &memory->pieces[i];
		uint64_t offset = address - piece->address;

		if (address >= piece->address && offset <= piece->size && piece->size - offset >= size)
			return piece->bytes + offset;
	}
	return NULL;
}

/* Reads a word of `size` bytes, 4 or 8, at any address. False: the walk cannot read it. */
static bool stack_memory_word(struct stack_memory *memory, uint64_t address, size_t size, uint64_t *word)
{
	const uint8_t *bytes = find(memory, address, size);

	*word = 0;
	if (bytes) {
		memcpy(word, bytes, size);
		return true;
	}
	if (!memory->elsewhere || memory->reads >= STACK_MEMORY_READS)
		return false;
	memory->reads++;
	return memory->elsewhere->read(memory->elsewhere->context, address, word, size);
}

/* ---- by pt_regs ---- */

enum { WORDS = 21 };			/* of x86-64's pt_regs */

/*
 * The order of the registers in Linux's struct pt_regs, word by word, as DWARF's numbers
 * (arch/x86/include/asm/ptrace.h of Linux). NONE: no walk needs the word.
 */
enum { NONE = ARCH_NO_REGISTER };

static const uint8_t x86_64_order[WORDS] = {
	15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, NONE, 16, NONE, NONE, 7, NONE,
};

/* On i386, ip is followed by cs and flags; then by sp and ss, but only if a program was interrupted. */
static const uint8_t i386_order[] = {
	3, 1, 2, 6, 7, 5, 0, NONE, NONE, NONE, NONE, NONE, 8, NONE, NONE, 4, NONE,
};

/* arch/riscv/include/asm/ptrace.h: the program counter comes first, in place of x0. */
static const uint8_t riscv64_order[] = {
	32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

enum { X86_64_IRET = 16, I386_CS = 13, I386_SP = 15 };	/* words */

static enum step read_order(struct registers *registers, uint64_t address, const uint8_t *order, size_t from,
	size_t count, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	struct registers found = *registers;	/* registers that are not stored have not changed since */
	uint64_t word;

	for (size_t i = from; i < count; i++) {
		if (order[i] == NONE)
			continue;
		if (!stack_memory_word(memory, address + (i - from) * arch->word, arch->word, &word))
			return STEP_LOST;
		registers_set(&found, order[i], word);
	}
	*registers = found;
	return STEP_INTERRUPTED;
}

/* Without a change of privilege, an i386 does not store sp: the stack continues behind the stored words. */
static enum step read_i386(struct registers *registers, uint64_t address, struct stack_memory *memory)
{
	uint64_t cs;
	enum step step;

	if (!stack_memory_word(memory, address + I386_CS * 4, 4, &cs))
		return STEP_LOST;
	if (cs & 3)
		return read_order(registers, address, i386_order, 0, sizeof(i386_order), memory);
	step = read_order(registers, address, i386_order, 0, I386_CS, memory);
	if (step == STEP_INTERRUPTED)
		registers_set(registers, registers->arch->sp, address + I386_SP * 4);
	return step;
}

/* By Linux's struct pt_regs at an address. `partial`: only its last words, which the CPU writes, are there. */
static enum step step_pt_regs(struct registers *registers, uint64_t address, bool partial, struct stack_memory *memory)
{
	enum step step;

	if (registers->arch == arch_get(ARCH_I386))
		step = read_i386(registers, address, memory);
	else if (registers->arch == arch_get(ARCH_X86_64))
		step = read_order(registers, address, x86_64_order, partial ? X86_64_IRET : 0, WORDS, memory);
	else if (registers->arch == arch_get(ARCH_RISCV64))
		step = read_order(registers, address, riscv64_order, 0, sizeof(riscv64_order), memory);
	else
		return STEP_LOST;
	if (step == STEP_INTERRUPTED && registers->values[registers->arch->pc] == 0)
		return STEP_ROOT;
	return step;
}

/* ---- by frame pointers ---- */

/*
 * Where an interrupt came in, Linux on x86 with frame pointers leaves the address of a struct pt_regs in
 * the frame pointer. A bit distinguishes it: set on x86-64 (bit 0), clear on i386 (bit 31). See
 * ENCODE_FRAME_POINTER in arch/x86/include/asm/frame.h and arch/x86/entry/entry_32.S of Linux.
 */
static bool is_pt_regs(const struct arch *arch, uint64_t fp, uint64_t *address)
{
	const uint64_t top = UINT64_C(1) << 31;

	if (arch == arch_get(ARCH_X86_64) && (fp & 1)) {
		*address = fp & ~UINT64_C(1);
		return true;
	}
	if (arch == arch_get(ARCH_I386) && fp && !(fp & top)) {
		*address = fp | top;
		return true;
	}
	return false;
}

/*
 * The stack is the kernel's, but the frame pointer still lies in the program's half of the addresses: this
 * is the kernel's entry.
 */
static bool left_kernel(const struct registers *registers)
{
	const struct arch *arch = registers->arch;

	return arch->word == 8 && registers_has(registers, arch->sp) &&
		registers->values[arch->sp] >> 63 && !(registers->values[arch->fp] >> 63);
}

/*
 * By the frame that the frame pointer points to. If that pointer, or the pc stored there, is 0, the frame
 * is the root.
 */
static enum step step_frame_pointer(struct registers *registers, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	uint64_t fp, caller_fp, pc, pt_regs;

	if (!registers_has(registers, arch->fp))
		return STEP_LOST;
	fp = registers->values[arch->fp];
	if (!fp || left_kernel(registers))
		return STEP_ROOT;
	if (is_pt_regs(arch, fp, &pt_regs)) {
		enum step step = step_pt_regs(registers, pt_regs, false, memory);

		if (step != STEP_LOST)
			return step;
	}
	if (fp % arch->word || !stack_memory_word(memory, fp + (uint64_t)arch->saved_fp, arch->word, &caller_fp) ||
			!stack_memory_word(memory, fp + (uint64_t)arch->saved_pc, arch->word, &pc))
		return STEP_LOST;
	if (!pc)
		return STEP_ROOT;
	registers->known = 0;
	registers_set(registers, arch->fp, caller_fp);
	registers_set(registers, arch->sp, fp + arch->caller_sp);
	registers_set(registers, arch->pc, arch_code_address(arch, pc));
	return STEP_CALLER;
}

/* x86: a function that was just entered has its return address on top of the stack. */
static enum step step_entered(struct registers *registers, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	uint64_t sp, pc;

	if (arch->link != ARCH_NO_REGISTER || !registers_has(registers, arch->sp))
		return STEP_LOST;
	sp = registers->values[arch->sp];
	if (!stack_memory_word(memory, sp, arch->word, &pc))
		return STEP_LOST;
	if (!pc)
		return STEP_ROOT;
	registers_set(registers, arch->pc, pc);
	registers_set(registers, arch->sp, sp + arch->word);
	return STEP_CALLER;
}

/* ---- by ORC ---- */

/* DWARF's numbers of the x86-64 registers that a table may name. */
enum { DX = 1, DI = 5, BP = 6, SP = 7, R10 = 10, R13 = 13, PC = 16 };

static bool value_of(const struct registers *registers, unsigned number, uint64_t *value)
{
	*value = registers->values[number];
	return registers_has(registers, number);
}

/* Finds the caller's stack pointer, or the address of a pt_regs. */
static bool find_sp(const struct registers *registers, const struct orc_entry *entry, struct stack_memory *memory,
	uint64_t *sp)
{
	uint64_t offset = (uint64_t)(int64_t)entry->sp_offset, base;

	switch (entry->sp) {
	case ORC_SP:
		return value_of(registers, SP, &base) && (*sp = base + offset, true);
	case ORC_BP:
		return value_of(registers, BP, &base) && (*sp = base + offset, true);
	case ORC_BP_INDIRECT:
		return value_of(registers, BP, &base) && stack_memory_word(memory, base + offset, 8, sp);
	case ORC_SP_INDIRECT:
		if (!value_of(registers, SP, &base) || !stack_memory_word(memory, base, 8, sp))
			return false;
		*sp += offset;
		return true;
	case ORC_DX:
		return value_of(registers, DX, sp);
	case ORC_DI:
		return value_of(registers, DI, sp);
	case ORC_R10:
		return value_of(registers, R10, sp);
	case ORC_R13:
		return value_of(registers, R13, sp);
	default:
		return false;
	}
}

/* The caller's frame pointer is unchanged, or was saved. If it cannot be read, it is unknown from here on. */
static void find_bp(struct registers *caller, const struct orc_entry *entry, uint64_t sp, struct stack_memory *memory)
{
	uint64_t offset = (uint64_t)(int64_t)entry->bp_offset, base = sp, bp;

	if (entry->bp == ORC_UNDEFINED)
		return;
	if (entry->bp == ORC_BP && !value_of(caller, BP, &base))
		return;
	caller->known &= ~(UINT64_C(1) << BP);
	if ((entry->bp == ORC_PREV_SP || entry->bp == ORC_BP) && stack_memory_word(memory, base + offset, 8, &bp))
		registers_set(caller, BP, bp);
}

/* Registers that a function may change without saving them are not known in its caller. */
static void forget_scratch(struct registers *registers)
{
	/* rbx, rbp, r12 to r15 */
	const uint64_t kept = UINT64_C(1) << 3 | UINT64_C(1) << BP | UINT64_C(0xf) << 12;

	registers->known &= kept;
}

static enum step step_call(struct registers *registers, const struct orc_entry *entry, uint64_t sp,
	struct stack_memory *memory)
{
	uint64_t pc;

	if (!stack_memory_word(memory, sp - 8, 8, &pc))
		return STEP_LOST;
	find_bp(registers, entry, sp, memory);
	forget_scratch(registers);
	registers_set(registers, SP, sp);
	registers_set(registers, PC, pc);
	return STEP_CALLER;
}

/* By an entry of Linux's ORC table for the pc, on x86-64. */
static enum step step_orc(struct registers *registers, const struct orc_entry *entry, struct stack_memory *memory)
{
	struct registers caller = *registers;
	enum step step = STEP_LOST;
	uint64_t sp;

	if (entry->type == ORC_TYPE_END)
		return STEP_ROOT;
	if (entry->type == ORC_TYPE_UNDEFINED || !find_sp(registers, entry, memory, &sp))
		return STEP_LOST;
	if (entry->type == ORC_TYPE_CALL)
		step = step_call(&caller, entry, sp, memory);
	else
		step = step_pt_regs(&caller, sp, entry->type == ORC_TYPE_REGS_PARTIAL, memory);
	if (step != STEP_LOST)
		*registers = caller;
	return step;
}

/* ---- by rules of .eh_frame ---- */

struct frame {
	const struct registers *registers;
	const struct frame_rules *rules;
	struct stack_memory *memory;
	uint64_t address;		/* its CFA */
};

static bool find_address(struct frame *frame)
{
	const struct frame_rules *rules = frame->rules;

	if (!registers_has(frame->registers, rules->base))
		return false;
	frame->address = frame->registers->values[rules->base] + (uint64_t)rules->base_offset;
	return !rules->indirect ||
		stack_memory_word(frame->memory, frame->address, frame->registers->arch->word, &frame->address);
}

static bool caller_value(const struct frame *frame, unsigned number, uint64_t *value)
{
	uint64_t offset = (uint64_t)frame->rules->registers[number].offset;
	unsigned from = number;

	switch (frame->rules->registers[number].rule) {
	case FRAME_SAVED:
		return stack_memory_word(frame->memory, frame->address + offset, frame->registers->arch->word, value);
	case FRAME_VALUE:
		*value = frame->address + offset;
		return true;
	case FRAME_REGISTER:
		if (offset >= ARCH_REGISTERS)
			return false;
		from = (unsigned)offset;
		/* fall through */
	case FRAME_SAME:
		*value = frame->registers->values[from];
		return registers_has(frame->registers, from);
	default:
		return false;
	}
}

/* If the rule for the return address is "unknown", this is the first function of a thread. */
static enum step step_rules(struct registers *registers, const struct frame_rules *rules, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	struct frame frame = { .registers = registers, .rules = rules, .memory = memory };
	struct registers caller = { .arch = arch };
	uint64_t value;

	if (rules->return_address >= ARCH_REGISTERS || rules->registers[rules->return_address].rule == FRAME_UNKNOWN)
		return STEP_ROOT;
	if (!find_address(&frame) || !caller_value(&frame, rules->return_address, &value))
		return STEP_LOST;
	if (!value)
		return STEP_ROOT;
	registers_set(&caller, arch->pc, arch_code_address(arch, value));
	registers_set(&caller, arch->sp, frame.address);
	for (unsigned i = 0; i < arch->registers; i++)
		if (i != arch->pc && caller_value(&frame, i, &value) &&
				(i != arch->sp || rules->registers[i].rule != FRAME_SAME))
			registers_set(&caller, i, value);
	*registers = caller;
	return rules->signal ? STEP_INTERRUPTED : STEP_CALLER;
}

/* ---- unwind ---- */

enum { FRAMELESS = 8 };			/* words of a function without a frame, at most */

struct walk {
	const struct unwind_code *code;
	struct stack_memory *memory;
	struct registers *registers;
	bool exact;			/* the pc is interrupted code, not a return address */
	bool leaf;			/* the registers are those of interrupted code: the link register may count */
};

static uint64_t pc_of(const struct walk *walk)
{
	return walk->registers->values[walk->registers->arch->pc];
}

/* A return address may be the first address of the next function: the call stands before it. */
static uint64_t place_of(const struct walk *walk)
{
	return walk->exact ? pc_of(walk) : pc_of(walk) - 1;
}

static bool is_kernel(const struct walk *walk)
{
	return walk->code->is_kernel && walk->code->is_kernel(walk->code->context, place_of(walk));
}

static bool function_at(const struct walk *walk, uint64_t place, uint64_t *start)
{
	return walk->code->function && walk->code->function(walk->code->context, place, start);
}

static bool add(struct unwound_frames *frames, const struct walk *walk)
{
	if (frames->count == UNWIND_FRAMES) {
		frames->cut = true;
		return false;
	}
	if (walk->exact)
		frames->exact |= UINT64_C(1) << frames->count;
	frames->frames[frames->count++] = pc_of(walk);
	return true;
}

/*
 * For architectures whose calls leave the return address in a register, the link register. The link register counts
 * only if the interrupted function has not stored it yet; then the frame pointer is still the caller's. This returns
 * false in two cases: the address in it is in the same function, so a call that has returned left it there; or the
 * frame has the same address, so it was stored.
 */
static bool step_link(const struct walk *walk, struct registers *caller)
{
	const struct arch *arch = walk->registers->arch;
	struct registers framed = *walk->registers;
	enum step framed_step;
	uint64_t start, other, link;

	if (arch->link == ARCH_NO_REGISTER || !registers_has(walk->registers, arch->link) ||
			!function_at(walk, place_of(walk), &start))
		return false;
	link = arch_code_address(arch, walk->registers->values[arch->link]);
	if (link % arch->step || !function_at(walk, link - 1, &other) || other == start)
		return false;
	framed_step = step_frame_pointer(&framed, walk->memory);
	if (framed_step == STEP_CALLER && framed.values[arch->pc] == link)
		return false;
	*caller = *walk->registers;
	/*
	 * riscv64: a function that calls nothing stores only the caller's frame pointer, in the place where others
	 * store the return address. So if the word there is no address of code, it is that frame pointer.
	 */
	if (framed_step == STEP_CALLER && arch->saved_pc < 0 &&
			!function_at(walk, framed.values[arch->pc] - 1, &other)) {
		registers_set(caller, arch->fp, framed.values[arch->pc]);
		registers_set(caller, arch->sp, framed.values[arch->sp]);
	}
	registers_set(caller, arch->pc, link);
	caller->known &= ~(UINT64_C(1) << arch->link);
	return true;
}

/*
 * The interrupted function has no frame, so the frame pointer leads past its caller. On x86, one of the topmost words
 * is its return address: the first one behind a call that names it. Elsewhere its caller was in the link register,
 * and nobody knows now where that is stored.
 */
static enum step step_frameless(struct walk *walk)
{
	const struct arch *arch = walk->registers->arch;
	uint64_t sp = walk->registers->values[arch->sp], word;

	if (arch->link != ARCH_NO_REGISTER || !registers_has(walk->registers, arch->sp) || !walk->code->calls)
		return STEP_LOST;
	for (unsigned i = 0; i < FRAMELESS && stack_memory_word(walk->memory, sp, arch->word, &word); i++) {
		sp += arch->word;
		if (!walk->code->calls(walk->code->context, word, pc_of(walk)))
			continue;
		registers_set(walk->registers, arch->pc, word);
		registers_set(walk->registers, arch->sp, sp);
		return STEP_CALLER;
	}
	return STEP_LOST;
}

/* Takes the most reliable way that there is for this address. */
static enum step step(struct walk *walk)
{
	struct orc_entry entry;
	struct frame_rules rules;
	struct registers caller;
	enum calls_frame frame;
	uint64_t start;

	if (walk->code->orc && walk->code->orc(walk->code->context, place_of(walk), &entry))
		return step_orc(walk->registers, &entry, walk->memory);
	if (walk->code->rules && walk->code->rules(walk->code->context, place_of(walk), &rules))
		return step_rules(walk->registers, &rules, walk->memory);
	frame = walk->leaf && walk->code->frame ? walk->code->frame(walk->code->context, pc_of(walk)) :
		CALLS_FRAME_UNKNOWN;
	if (frame == CALLS_FRAME_LEFT || (walk->leaf && function_at(walk, pc_of(walk), &start) &&
			start == pc_of(walk) && walk->registers->arch->link == ARCH_NO_REGISTER))
		return step_entered(walk->registers, walk->memory);
	if (!walk->exact && walk->code->entry && walk->code->entry(walk->code->context, place_of(walk)) &&
			registers_has(walk->registers, walk->registers->arch->sp)) {
		uint64_t sp = walk->registers->values[walk->registers->arch->sp];

		return step_pt_regs(walk->registers, sp, false, walk->memory);
	}
	if (walk->leaf && step_link(walk, &caller)) {
		*walk->registers = caller;
		return STEP_CALLER;
	}
	return frame == CALLS_FRAME_NONE ? step_frameless(walk) : step_frame_pointer(walk->registers, walk->memory);
}

/* Adds the frame, and makes one step. False: the walk ends here. */
static bool go_on(struct walk *walk, struct unwound_frames *frames)
{
	if (!add(frames, walk))
		return false;
	switch (step(walk)) {
	case STEP_CALLER:
		walk->exact = walk->leaf = false;
		return true;
	case STEP_INTERRUPTED:
		walk->exact = walk->leaf = true;
		return true;
	case STEP_LOST:
		frames->cut = true;
		return false;
	case STEP_ROOT:
		break;
	}
	return false;
}

/* The kernel's frames end where the walk comes to a frame of a program, which is where the kernel was entered from. */
void unwind(struct registers *registers, const struct unwind_code *code, struct stack_memory *memory,
	struct unwound *result)
{
	struct walk walk = { .code = code, .memory = memory, .registers = registers, .exact = true, .leaf = true };

	memset(result, 0, sizeof(*result));
	if (!registers_has(registers, registers->arch->pc)) {
		result->kernel.cut = result->user.cut = true;
		return;
	}
	while (is_kernel(&walk))
		if (!go_on(&walk, &result->kernel))
			return;
	/* A return address led out of the kernel. Only an interrupted pc may do so: the last step was wrong. */
	if (result->kernel.count && !walk.exact) {
		result->kernel.cut = true;
		return;
	}
	while (go_on(&walk, &result->user))
		if (is_kernel(&walk)) {
			result->user.cut = true;
			return;
		}
}

/* ---- arch ---- */

/*
 * On x86, a frame is {fp, pc} at the frame pointer, just below the caller's stack. aarch64 has the same
 * pair anywhere in the frame (AAPCS64, section 6.4.6), so the frame's end is only an estimate. riscv64 has
 * the pair below the frame pointer, which is the caller's stack pointer.
 */
static const struct arch archs[ARCHS] = {
	[ARCH_X86_64] = {
		.id = ARCH_X86_64, .word = 8, .registers = 17, .pc = 16, .sp = 7, .fp = 6,
		.link = ARCH_NO_REGISTER, .saved_fp = 0, .saved_pc = 8, .caller_sp = 16, .step = 1,
	},
	[ARCH_I386] = {
		.id = ARCH_I386, .word = 4, .registers = 9, .pc = 8, .sp = 4, .fp = 5,
		.link = ARCH_NO_REGISTER, .saved_fp = 0, .saved_pc = 4, .caller_sp = 8, .step = 1,
	},
	[ARCH_RISCV64] = {
		.id = ARCH_RISCV64, .word = 8, .registers = 33, .pc = 32, .sp = 2, .fp = 8,
		.link = 1, .saved_fp = -16, .saved_pc = -8, .caller_sp = 0, .step = 2,
	},
	[ARCH_AARCH64] = {
		.id = ARCH_AARCH64, .word = 8, .registers = 33, .pc = 32, .sp = 31, .fp = 29,
		.link = 30, .saved_fp = 0, .saved_pc = 8, .caller_sp = 16, .step = 4,
	},
};

const struct arch *arch_get(enum arch_id id)
{
	return id != ARCH_OTHER && id < ARCHS ? &archs[id] : NULL;
}

/* The bits above the address are a signature. Bit 55 tells in which half the address lies (Arm ARM, D8.10). */
uint64_t arch_code_address(const struct arch *arch, uint64_t value)
{
	uint64_t top = UINT64_C(0xffff) << 48;

	if (arch->id != ARCH_AARCH64)
		return value;
	return value >> 55 & 1 ? value | top : value & ~top;
}
