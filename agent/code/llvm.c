/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "instruction.h"
#include "llvm.h"

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

struct llvm *llvm_new(void)
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

void llvm_free(struct llvm *llvm)
{
	if (llvm)
		llvm->dispose(llvm->context);
	free(llvm);
}

bool llvm_next(struct llvm *llvm, const uint8_t *bytes, size_t size, uint64_t address, struct instruction *instruction)
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
