/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "kernel_code.h"

enum { RETURNS = 64, RETURNS_STEP = 16 };	/* how many are kept; after so many new ones they are tried */
enum { KEPT = 512 };			/* rules that are kept, by address; a power of two */

struct kept_rules {
	const struct sym_cfi *cfi;	/* NULL: none are kept here */
	uint64_t address;		/* link address */
	bool found;
	struct frame_rules rules;
};

struct kernel_code {
	struct symbols *symbols;
	unsigned address_bits;
	bool user;			/* of the sample, as in kernel_code_now */
	uint32_t process;
	uint64_t generation;		/* of the symbols, when the fields below were made */
	int file;			/* descriptor of the kernel's file, from which `cfi` is; -1: none */
	struct sym_cfi *cfi;		/* call frame information; NULL: the file has none */
	char note[128];			/* see kernel_code_note */
	uint64_t returns[RETURNS];	/* distinct; while it is not known where the kernel runs */
	uint32_t returns_count;
	struct kept_rules *kept;	/* KEPT entries: libdw takes long to find rules */
};

struct kernel_code *kernel_code_new(struct symbols *symbols)
{
	struct kernel_code *code = util_alloc(sizeof(*code));

	*code = (struct kernel_code) {
		.symbols = symbols, .file = -1, .kept = util_alloc(KEPT * sizeof(*code->kept)),
	};
	return code;
}

static void forget(struct kernel_code *code)
{
	if (code->cfi)
		memset(code->kept, 0, KEPT * sizeof(*code->kept));
	sym_cfi_close(code->cfi);
	code->cfi = NULL;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	forget(code);
	free(code->kept);
	free(code);
}

/* Most kernels have the upper half of the addresses. Any other kernel is known by its symbols alone. */
static bool is_kernel(void *context, uint64_t pc)
{
	const struct kernel_code *code = context;
	uint64_t start;

	return pc >> (code->address_bits - 1) & 1 || symbols_kernel_function(code->symbols, pc, &start);
}

static bool function_at(void *context, uint64_t pc, uint64_t *start)
{
	return symbols_kernel_function(((struct kernel_code *)context)->symbols, pc, start);
}

static bool find_orc(void *context, uint64_t pc, struct orc_entry *entry)
{
	return symbols_kernel_orc(((struct kernel_code *)context)->symbols, pc, entry);
}

/* On riscv64, handle_exception() is entered from everywhere. */
static bool is_entry(void *context, uint64_t pc)
{
	const struct kernel_code *code = context;
	const struct linux_kernel *kernel = symbols_linux_kernel(code->symbols);
	uint64_t start, entry;

	return kernel && kernel->arch == ARCH_RISCV64 && linux_kernel_landmark(kernel, LANDMARK_ENTRY, &entry) &&
		symbols_kernel_function(code->symbols, pc, &start) &&
		start == entry + symbols_kernel_slide(code->symbols);
}

/* The kernel's own file, or that of the program that runs. */
static struct sym_cfi *find_file(struct kernel_code *code, uint64_t pc, uint64_t *link)
{
	if (!code->user && is_kernel(code, pc)) {
		*link = pc - symbols_kernel_slide(code->symbols);
		return code->cfi;
	}
	return code->process == EVENT_KERNEL ? NULL : symbols_frames_of(code->symbols, code->process, pc, link);
}

static bool find_rules(void *context, uint64_t pc, struct frame_rules *rules)
{
	struct kernel_code *code = context;
	struct kept_rules *kept;
	struct sym_cfi *cfi;
	uint64_t link;

	cfi = find_file(code, pc, &link);
	if (!cfi)
		return false;
	kept = &code->kept[link % KEPT];
	if (kept->cfi != cfi || kept->address != link) {
		kept->found = sym_cfi_find(cfi, link, &kept->rules);
		kept->cfi = cfi;
		kept->address = link;
	}
	*rules = kept->rules;
	return kept->found;
}

static uint32_t space_of(struct kernel_code *code, uint64_t pc)
{
	if (!code->user && is_kernel(code, pc))
		return EVENT_KERNEL;
	return code->process == EVENT_KERNEL ? LAYOUTS_UNKNOWN : symbols_space(code->symbols, code->process);
}

static enum calls_frame find_frame(void *context, uint64_t pc)
{
	struct kernel_code *code = context;

	return symbols_frame(code->symbols, space_of(code, pc), pc);
}

static bool find_call(void *context, uint64_t returns, uint64_t callee)
{
	struct kernel_code *code = context;

	return symbols_calls(code->symbols, space_of(code, callee), returns - 1, callee);
}

/* If the kernel's file is another one now, drops what was kept of the old one. */
static void renew(struct kernel_code *code)
{
	int file = symbols_kernel_descriptor(code->symbols);
	struct elf_identity is;

	code->generation = symbols_generation(code->symbols);
	if (file == code->file)
		return;
	forget(code);
	code->file = file;
	code->note[0] = '\0';
	if (file >= 0)
		code->cfi = sym_cfi_open(fcntl(file, F_DUPFD_CLOEXEC, 0));
	if (file >= 0 && !code->cfi && sym_elf_identify(file, &is, NULL) && is.frames)
		util_print(code->note, sizeof(code->note),
			"stacks that go through the kernel are short: %s; give the file as it was linked", is.frames);
}

const char *kernel_code_note(const struct kernel_code *code)
{
	return code->note;
}

struct unwind_code kernel_code_now(struct kernel_code *code, const struct arch *arch, bool user, uint32_t process)
{
	code->user = user;
	code->process = process;
	code->address_bits = arch->word * 8u;
	if (code->generation != symbols_generation(code->symbols) || code->file < 0)
		renew(code);
	return (struct unwind_code) {
		.context = code,
		.is_kernel = user ? NULL : is_kernel,
		.function = user ? NULL : function_at,
		.orc = user ? NULL : find_orc,
		.entry = user ? NULL : is_entry,
		.rules = find_rules,
		.frame = find_frame,
		.calls = find_call,
	};
}

static bool is_kept(const struct kernel_code *code, uint64_t address)
{
	for (uint32_t i = 0; i < code->returns_count; i++) {
		if (code->returns[i] == address)
			return true;
	}
	return false;
}

/*
 * Each time that RETURNS_STEP new addresses were gathered, tries whether they tell where the kernel runs. When there is
 * no more room and they do not tell, begins to gather anew.
 */
static void keep_return(struct kernel_code *code, uint64_t address)
{
	code->returns[code->returns_count++] = address;
	if (code->returns_count % RETURNS_STEP == 0)
		running_kernel_place_by_returns(code->symbols, code->returns, code->returns_count);
	if (code->returns_count == RETURNS)
		code->returns_count = 0;
}

void kernel_code_saw(struct kernel_code *code, const struct unwound_frames *frames)
{
	if (!symbols_linux_kernel(code->symbols) || symbols_kernel_is_placed(code->symbols))
		return;
	for (uint32_t i = 0; i < frames->count; i++) {
		if (!(frames->exact >> i & 1) && !is_kept(code, frames->frames[i]))
			keep_return(code, frames->frames[i]);
	}
}
