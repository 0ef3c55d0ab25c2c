/* SPDX-License-Identifier: MIT */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/arch_id.h"
#include "agent/base/util.h"
#include "disassembler.h"

/* The library capstone: the code of x86-64, i386 and aarch64. One owner. */

struct capstone;
struct instruction;

/*
 * The library LLVM: the code of riscv64. It is large, and few need it, so it is loaded when such code is first shown,
 * and ktop does without it where it is not installed. One owner; several threads may have one each.
 */

struct llvm;

/*
 * What the bits of a RISC-V instruction tell: its length, and where it jumps. From The RISC-V Instruction Set Manual,
 * volume I: 1.5, 2.4.2, 2.5 and "RVC Instruction Set Listings". It needs no library, so code that is shown as words has
 * its jumps and calls, too.
 */

/*
 * A call far away is a pair: auipc puts the upper part of an address into a register, and jalr, right behind it, jumps
 * to that register plus a number.
 */
struct riscv64 {
	unsigned into;			/* the register of the last auipc; 0: there was none yet */
	uint64_t upper;			/* what it holds */
	uint64_t next;			/* the address behind that auipc */
};

/* ---- one instruction ---- */

enum { MNEMONIC = 7 };			/* columns, as in objdump */

/* As in objdump: no blanks between operands. */
static void copy_operands(char operands[INSTRUCTION_TEXT], const char *from)
{
	size_t used = 0;

	for (const char *c = from; *c && used + 1 < INSTRUCTION_TEXT; c++)
		if (*c != ' ' || used == 0 || operands[used - 1] != ',')
			operands[used++] = *c;
	operands[used] = '\0';
}

/* The last operand if it is a number, such as -8, #0x10 or 0x10; it is none if a register follows, as in -8(ra). */
static char *last_number(char *operands)
{
	char *comma = strrchr(operands, ','), *last = comma ? comma + 1 : operands;

	return *last && strchr("#-0123456789", *last) && !strchr(last, '(') ? last : NULL;
}

/* As in objdump: an address has no prefix. */
static void put_target(char operands[INSTRUCTION_TEXT], uint64_t target)
{
	char *number = last_number(operands), *at = number ? number : operands + strlen(operands);

	snprintf(at, (size_t)(operands + INSTRUCTION_TEXT - at), "%s%" PRIx64, number ? "" : " # ", target);
}

/*
 * Writes the text. `operands` is what a library has written, "" if there are none. A target is written as an address:
 * in place of the last operand if that is a number, else behind all.
 */
static void instruction_write(struct instruction *instruction, const char *mnemonic, const char *operands)
{
	char shown[INSTRUCTION_TEXT];

	copy_operands(shown, operands);
	if (instruction->kind != INSTRUCTION_PLAIN)
		put_target(shown, instruction->target);
	util_print(instruction->text, INSTRUCTION_TEXT, "%-*s%s%s", *shown ? MNEMONIC - 1 : 0, mnemonic,
		*shown ? " " : "", shown);
}

/* Sets size and text of what is no instruction: the bytes as a number of two or four bytes, or one byte by itself. */
static void instruction_write_bytes(struct instruction *instruction, const uint8_t *bytes, size_t size)
{
	uint32_t word = 0;

	instruction->size = (uint8_t)size;
	for (size_t i = 0; i < size; i++)
		word |= (uint32_t)bytes[i] << 8 * i;
	if (size == 1)
		snprintf(instruction->text, INSTRUCTION_TEXT, "(bad)  %02" PRIx32, word);
	else
		snprintf(instruction->text, INSTRUCTION_TEXT, "%-*s 0x%0*" PRIx32, MNEMONIC - 1,
			size == 2 ? ".2byte" : ".4byte", 2 * (int)size, word);
}

/* ---- by capstone ---- */

struct capstone {
	enum arch_id arch;
	csh handle;
	cs_insn *scratch;
};

static const struct {
	cs_arch arch;
	cs_mode mode;
	bool known;
} modes[ARCHS] = {
	[ARCH_X86_64] = { CS_ARCH_X86, CS_MODE_64, true },
	[ARCH_I386] = { CS_ARCH_X86, CS_MODE_32, true },
	[ARCH_AARCH64] = { CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, true },
};

static bool capstone_knows(enum arch_id arch)
{
	return modes[arch].known;
}

static bool open_handle(struct capstone *capstone)
{
	cs_arch arch = modes[capstone->arch].arch;

	if (cs_open(arch, modes[capstone->arch].mode, &capstone->handle) != CS_ERR_OK)
		return false;
	cs_option(capstone->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(capstone->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	capstone->scratch = cs_malloc(capstone->handle);
	if (!capstone->scratch)
		cs_close(&capstone->handle);
	return capstone->scratch;
}

/* One that it knows; NULL: there is no memory for it. */
static struct capstone *capstone_new(enum arch_id arch)
{
	struct capstone *capstone = util_alloc(sizeof(*capstone));

	capstone->arch = arch;
	if (open_handle(capstone))
		return capstone;
	free(capstone);
	return NULL;
}

/* NULL is allowed. */
static void capstone_free(struct capstone *capstone)
{
	if (!capstone)
		return;
	cs_free(capstone->scratch, 1);
	cs_close(&capstone->handle);
	free(capstone);
}

/* The last operand, if it is a number. False: the target is in a register or in memory. */
static bool target_of(const struct capstone *capstone, const cs_insn *code, uint64_t *target)
{
	const cs_x86 *x86 = &code->detail->x86;
	const cs_arm64 *arm = &code->detail->arm64;

	if (capstone->arch == ARCH_AARCH64) {
		if (!arm->op_count || arm->operands[arm->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*target = (uint64_t)arm->operands[arm->op_count - 1].imm;
		return true;
	}
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	if (capstone->arch == ARCH_I386)
		*target &= UINT32_MAX;
	return true;
}

static bool is_call(const struct capstone *capstone, const cs_insn *code)
{
	return cs_insn_group(capstone->handle, code, CS_GRP_CALL) ||
		(capstone->arch == ARCH_AARCH64 && code->id == ARM64_INS_BL);
}

static enum instruction_kind kind_of(const struct capstone *capstone, const cs_insn *code, uint64_t *target)
{
	bool call = is_call(capstone, code);

	if (!call && !cs_insn_group(capstone->handle, code, CS_GRP_JUMP))
		return INSTRUCTION_PLAIN;
	if (!target_of(capstone, code, target))
		return INSTRUCTION_PLAIN;
	return call ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
}

/* The instruction at the first of `size` bytes. False: it is none; nothing is written. */
static bool capstone_next(struct capstone *capstone, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	cs_insn *code = capstone->scratch;
	const uint8_t *at = bytes;
	uint64_t next = address;
	size_t left = size;

	if (!cs_disasm_iter(capstone->handle, &at, &left, &next, code) || !code->size || code->size > size)
		return false;
	instruction->size = (uint8_t)code->size;
	instruction->known = true;
	instruction->kind = kind_of(capstone, code, &instruction->target);
	instruction_write(instruction, code->mnemonic, code->op_str);
	return true;
}

/* ---- by LLVM ---- */

enum { ROOM = 8 << 20 };		/* bytes: more than LLVM takes; it aborts if one of its allocations fails */

/*
 * Extensions that are known from that version on. LLVM complains on standard error about names that it does not know.
 */
#define SINCE_14 "+m,+a,+f,+d,+c,+v,+zfh,+zba,+zbb,+zbc,+zbs"
#define SINCE_19 SINCE_14 ",+svinval,+zawrs,+zcb,+zfa,+zicbom,+zicbop,+zicboz,+zicond"

static const struct {
	const char *name, *features;
} libraries[] = {			/* the newest first */
	{ "libLLVM.so.21.1", SINCE_19 }, { "libLLVM.so.20.1", SINCE_19 }, { "libLLVM.so.19.1", SINCE_19 },
	{ "libLLVM.so.18.1", SINCE_14 }, { "libLLVM-17.so.1", SINCE_14 }, { "libLLVM-16.so.1", SINCE_14 },
	{ "libLLVM-15.so.1", SINCE_14 }, { "libLLVM-14.so.1", SINCE_14 },
};

struct llvm {
	void *context;			/* LLVM's own */
	void (*dispose)(void *context);
	size_t (*next)(void *context, uint8_t *bytes, uint64_t size, uint64_t address, char *text, size_t room);
};

/* Guards LLVM's list of architectures, of which a process has one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* These may be called again. */
static bool add_riscv(void *library)
{
	static const char *const names[] = {
		"LLVMInitializeRISCVTargetInfo", "LLVMInitializeRISCVTargetMC", "LLVMInitializeRISCVDisassembler",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void (*initialize)(void);

		*(void **)&initialize = dlsym(library, names[i]);
		if (!initialize)
			return false;
		initialize();
	}
	return true;
}

/*
 * The functions are those of llvm-c/Disassembler.h. The library stays loaded: what its constructors have made lives as
 * long as the process.
 */
static void *context_of(struct llvm *llvm, const char *name, const char *features)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *(*make)(const char *triple, const char *cpu, const char *features, void *info, int tag, void *operands,
		void *symbols);

	if (!library || !add_riscv(library))
		return NULL;
	*(void **)&make = dlsym(library, "LLVMCreateDisasmCPUFeatures");
	*(void **)&llvm->next = dlsym(library, "LLVMDisasmInstruction");
	*(void **)&llvm->dispose = dlsym(library, "LLVMDisasmDispose");
	return make && llvm->next && llvm->dispose ? make("riscv64", "", features, NULL, 0, NULL, NULL) : NULL;
}

static bool has_memory(void)
{
	void *volatile room = malloc(ROOM);
	bool has = room;

	free(room);
	return has;
}

/* It may wait for a disk. NULL: LLVM is not installed, or there is no memory for it. */
static struct llvm *llvm_new(void)
{
	struct llvm *llvm = util_alloc(sizeof(*llvm));

	pthread_mutex_lock(&lock);
	for (size_t i = 0; has_memory() && !llvm->context && i < sizeof(libraries) / sizeof(*libraries); i++)
		llvm->context = context_of(llvm, libraries[i].name, libraries[i].features);
	pthread_mutex_unlock(&lock);
	if (llvm->context)
		return llvm;
	free(llvm);
	return NULL;
}

/* NULL is allowed. */
static void llvm_free(struct llvm *llvm)
{
	if (llvm)
		llvm->dispose(llvm->context);
	free(llvm);
}

/*
 * The instruction at the first of `size` bytes; its kind and its target are set already. False: LLVM knows none;
 * nothing is written.
 */
static bool llvm_next(struct llvm *llvm, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	char text[INSTRUCTION_TEXT], *mnemonic = text, *operands;
	size_t used = llvm->next(llvm->context, (uint8_t *)bytes, size, address, text, sizeof(text));

	if (!used || used > size)
		return false;
	mnemonic += strspn(mnemonic, "\t ");		/* "\tmnemonic\toperands" */
	operands = mnemonic + strcspn(mnemonic, "\t");
	if (*operands)
		*operands++ = '\0';
	instruction->size = (uint8_t)used;
	instruction->known = true;
	instruction_write(instruction, mnemonic, operands);
	return true;
}

/* ---- riscv64's text ---- */

enum { AUIPC = 0x17, BRANCH = 0x63, JALR = 0x67, JAL = 0x6f };	/* opcodes: the low seven bits */

/* 2 or 4, as the first of the bytes tells, at least one. */
static size_t riscv64_length(const uint8_t *bytes)
{
	return (bytes[0] & 3) == 3 ? 4 : 2;
}

/* `count` bits of the word from bit `from` on, moved to bit `to`. */
static uint64_t bits(uint32_t word, unsigned from, unsigned count, unsigned to)
{
	return (uint64_t)(word >> from & ((1u << count) - 1)) << to;
}

/* The number whose highest bit is `sign`. */
static uint64_t extended(uint64_t number, unsigned sign)
{
	return (number ^ UINT64_C(1) << sign) - (UINT64_C(1) << sign);
}

static uint64_t offset_of_jal(uint32_t word)
{
	return extended(bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) | bits(word, 21, 10, 1),
		20);
}

static uint64_t offset_of_branch(uint32_t word)
{
	return extended(bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1), 12);
}

static uint64_t offset_of_small_jump(uint32_t word)
{
	return extended(bits(word, 12, 1, 11) | bits(word, 8, 1, 10) | bits(word, 9, 2, 8) | bits(word, 6, 1, 7) |
		bits(word, 7, 1, 6) | bits(word, 2, 1, 5) | bits(word, 11, 1, 4) | bits(word, 3, 3, 1), 11);
}

static uint64_t offset_of_small_branch(uint32_t word)
{
	return extended(bits(word, 12, 1, 8) | bits(word, 5, 2, 6) | bits(word, 2, 1, 5) | bits(word, 10, 2, 3) |
		bits(word, 3, 2, 1), 8);
}

static void set(struct instruction *instruction, enum instruction_kind kind, uint64_t target)
{
	instruction->kind = kind;
	instruction->target = target;
}

/* c.j, c.beqz and c.bnez. */
static void follow_small(uint32_t word, uint64_t address, struct instruction *instruction)
{
	uint64_t function = bits(word, 13, 3, 0);

	if ((word & 3) != 1)
		return;
	if (function == 5)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_small_jump(word));
	else if (function >= 6)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_small_branch(word));
}

static void follow_register(const struct riscv64 *riscv64, uint32_t word, uint64_t address,
	enum instruction_kind kind, struct instruction *instruction)
{
	bool paired = riscv64->into && riscv64->into == bits(word, 15, 5, 0) && riscv64->next == address;

	if (paired && bits(word, 12, 3, 0) == 0)
		set(instruction, kind, (riscv64->upper + extended(bits(word, 20, 12, 0), 11)) & ~UINT64_C(1));
}

/* Sets kind and target of the instruction. It is given in order, whole, and its bytes may be no instruction at all. */
static void riscv64_follow(struct riscv64 *riscv64, const uint8_t *bytes, uint64_t address,
	struct instruction *instruction)
{
	size_t length = riscv64_length(bytes);
	uint32_t word = 0;
	unsigned into;
	enum instruction_kind kind;

	for (size_t i = 0; i < length; i++)
		word |= (uint32_t)bytes[i] << 8 * i;
	if (length == 2) {
		follow_small(word, address, instruction);
		return;
	}
	into = (unsigned)bits(word, 7, 5, 0);
	kind = into ? INSTRUCTION_CALL : INSTRUCTION_JUMP;	/* a call keeps the address to return to */
	if ((word & 0x7f) == JAL)
		set(instruction, kind, address + offset_of_jal(word));
	else if ((word & 0x7f) == BRANCH && (bits(word, 12, 3, 0) & 6) != 2)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_branch(word));
	else if ((word & 0x7f) == JALR)
		follow_register(riscv64, word, address, kind, instruction);
	else if ((word & 0x7f) == AUIPC)
		*riscv64 = (struct riscv64) {
			.into = into, .upper = address + extended(word & 0xfffff000, 31), .next = address + 4,
		};
}

/* ---- disassembler ---- */

struct disassembler {
	enum arch_id arch;
	struct capstone *capstone;	/* NULL: it does not know the architecture */
	struct llvm *llvm;		/* NULL: it is not here, or not needed */
	struct riscv64 riscv64;
};

struct disassembler *disassembler_new(enum arch_id arch)
{
	struct disassembler *disassembler = util_alloc(sizeof(*disassembler));

	disassembler->arch = arch;
	if (arch == ARCH_RISCV64)
		disassembler->llvm = llvm_new();
	if (!capstone_knows(arch))
		return disassembler;
	disassembler->capstone = capstone_new(arch);
	if (disassembler->capstone)
		return disassembler;
	free(disassembler);
	return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	capstone_free(disassembler->capstone);
	llvm_free(disassembler->llvm);
	free(disassembler);
}

const char *disassembler_lacks(const struct disassembler *disassembler)
{
	if (disassembler->capstone || disassembler->llvm)
		return NULL;
	if (disassembler->arch == ARCH_RISCV64)
		return "its instructions are numbers: LLVM is not here; install libllvm14";
	return "its instructions are numbers: ktop knows no library for this CPU";
}

static void next_riscv64(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	size_t length = riscv64_length(bytes);

	if (length > size) {
		instruction_write_bytes(instruction, bytes, 1);
		return;
	}
	riscv64_follow(&disassembler->riscv64, bytes, address, instruction);
	if (!disassembler->llvm || !llvm_next(disassembler->llvm, bytes, length, address, instruction))
		instruction_write_bytes(instruction, bytes, length);
}

void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	*instruction = (struct instruction) { .kind = INSTRUCTION_PLAIN };
	if (disassembler->arch == ARCH_RISCV64)
		next_riscv64(disassembler, bytes, size, address, instruction);
	else if (!disassembler->capstone ||
			!capstone_next(disassembler->capstone, bytes, size, address, instruction))
		instruction_write_bytes(instruction, bytes, disassembler->arch == ARCH_AARCH64 && size >= 4 ? 4 : 1);
}
