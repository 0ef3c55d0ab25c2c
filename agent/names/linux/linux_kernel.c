/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "call_sites.h"
#include "kallsyms.h"
#include "kernel_layout.h"
#include "linux_kernel.h"
#include "orc.h"

enum {
	NOTE_BUILD_ID = 3,		/* NT_GNU_BUILD_ID */
	RELATIVE_ARM64 = 0x403, RELATIVE_RISCV64 = 3,	/* R_AARCH64_RELATIVE, R_RISCV_RELATIVE */
	RELOCATION = 24,		/* bytes: offset, kind, addend */
	PAGE = 4096, BASE_MOST = 2 << 20,	/* the most that the first symbol lies above the start */
};

static const struct {
	const char *name;
	enum landmark landmark;
} names[] = {
	{ "_text", LANDMARK_TEXT },
	{ "_stext", LANDMARK_CODE },
	{ "_etext", LANDMARK_CODE_END },
	{ "asm_exc_divide_error", LANDMARK_DIVIDE_ERROR },
	{ "divide_error", LANDMARK_DIVIDE_ERROR },	/* before 5.8 */
	{ "__x86_indirect_thunk_array", LANDMARK_THUNKS },
	{ "vectors", LANDMARK_VECTORS },
	{ "handle_exception", LANDMARK_ENTRY },
	{ "linux_banner", LANDMARK_BANNER },
	{ "modules", LANDMARK_MODULES },
	{ "bpf_kallsyms", LANDMARK_BPF },
	{ "ftrace_ops_trampoline_list", LANDMARK_TRAMPOLINES },
	{ "init_task", LANDMARK_INIT_TASK },
	{ "current_task", LANDMARK_CURRENT_TASK },
	{ "pcpu_hot", LANDMARK_PCPU_HOT },
	{ "__preempt_count", LANDMARK_PREEMPT_COUNT },
	{ "__per_cpu_offset", LANDMARK_PER_CPU_OFFSET },
	{ "page_offset_base", LANDMARK_PAGE_OFFSET },
	{ "vmemmap_base", LANDMARK_PAGES },
	{ "tk_core", LANDMARK_CLOCK },
	{ "timekeeper_data", LANDMARK_CLOCK },	/* since 6.17: an array, with this one first */
	{ "__start_notes", LANDMARK_NOTES },
	{ "__stop_notes", LANDMARK_NOTES_END },
	{ "__start_orc_unwind_ip", LANDMARK_ORC_IP },
	{ "__stop_orc_unwind_ip", LANDMARK_ORC_IP_END },
	{ "__start_orc_unwind", LANDMARK_ORC },
	{ "__stop_orc_unwind", LANDMARK_ORC_END },
	{ "__stop_BTF", LANDMARK_BTF_END },
};

struct shared {				/* a kernel, and how many hold it */
	struct linux_kernel kernel;
	atomic_uint holders;
};

/* ---- where an Image was linked ---- */

/* Is this the relocation that writes the base? If so, it also tells where the Image starts. */
static bool is_of_base(const struct kernel_bytes *bytes, const uint8_t *relocation, size_t base_at, uint64_t *start)
{
	uint64_t kind = bytes->arch == ARCH_AARCH64 ? RELATIVE_ARM64 : RELATIVE_RISCV64;
	uint64_t base = bytes_64(relocation + 16);

	*start = bytes_64(relocation) - base_at;
	return bytes_64(relocation + 8) == kind && *start % PAGE == 0 && base % PAGE == 0 &&
		base - *start < BASE_MOST && *start >> 63;
}

static bool find_relocation(const struct kernel_bytes *bytes, struct kallsyms *kallsyms, uint64_t *start)
{
	for (size_t at = 0; at + RELOCATION <= bytes->size; at += 8) {
		if (is_of_base(bytes, bytes->bytes + at, kallsyms->base_at, start)) {
			kallsyms->base = bytes_64(bytes->bytes + at + 16);
			return true;
		}
	}
	return false;
}

/* Places an Image by its base, if that is written already: _text is there, or nearby. */
static bool place(struct kernel_bytes *bytes, struct kallsyms *kallsyms)
{
	uint64_t start = kallsyms->base / BASE_MOST * BASE_MOST;

	if (bytes->count)
		return true;
	if (!kallsyms->base_at || (!kallsyms->base && !find_relocation(bytes, kallsyms, &start)))
		return false;
	kernel_bytes_place(bytes, start);
	return true;
}

/* ---- what is found ---- */

static void take_landmarks(struct linux_kernel *kernel, const struct kallsyms *kallsyms)
{
	struct kallsyms_cursor cursor = { .index = 0 };

	while (kallsyms_next(kallsyms, &cursor)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			enum landmark landmark = names[i].landmark;

			if (strcmp(cursor.name, names[i].name) != 0 || kernel->known >> landmark & 1)
				continue;
			kernel->landmarks[landmark] = cursor.address;
			kernel->known |= 1u << landmark;
		}
	}
}

/* What was read from memory may begin behind the kernel's code; an Image of riscv64 begins before it, with _start. */
static void take_bounds(struct linux_kernel *kernel, const struct kernel_bytes *bytes)
{
	static const enum landmark ends[] = { LANDMARK_NOTES_END, LANDMARK_ORC_IP_END, LANDMARK_ORC_END,
		LANDMARK_BTF_END };

	kernel->start = bytes->parts[0].address;
	if (!bytes->elf && kernel->known >> LANDMARK_TEXT & 1 && kernel->landmarks[LANDMARK_TEXT] < kernel->start)
		kernel->start = kernel->landmarks[LANDMARK_TEXT];
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (kernel->known >> ends[i] & 1 && kernel->landmarks[ends[i]] > kernel->end)
			kernel->end = kernel->landmarks[ends[i]];
}

bool linux_kernel_landmark(const struct linux_kernel *kernel, enum landmark landmark, uint64_t *address)
{
	*address = kernel->landmarks[landmark];
	return kernel->known >> landmark & 1;
}

bool linux_kernel_orc(const struct linux_kernel *kernel, uint64_t address, struct orc_entry *entry)
{
	uint64_t thunks;

	if (kernel->arch == ARCH_X86_64 && linux_kernel_landmark(kernel, LANDMARK_THUNKS, &thunks) &&
			orc_of_thunk(address - thunks, entry))
		return true;
	return kernel->orc && orc_find(kernel->orc, address, entry);
}

/* The bytes between two landmarks; if these are not known, the bytes of a section. */
static bool find_part(const struct linux_kernel *kernel, const struct kernel_bytes *bytes, enum landmark first,
	const char *section, struct kernel_part *part)
{
	uint64_t from, to;
	const uint8_t *at;

	if (!linux_kernel_landmark(kernel, first, &from) || !linux_kernel_landmark(kernel, first + 1, &to))
		return kernel_bytes_section(bytes, section, part);
	at = to > from ? kernel_bytes_at(bytes, from, to - from) : NULL;
	if (!at)
		return kernel_bytes_section(bytes, section, part);
	*part = (struct kernel_part) { .address = from, .offset = (size_t)(at - bytes->bytes), .size = to - from };
	return true;
}

static void take_orc(struct linux_kernel *kernel, const struct kernel_bytes *bytes, struct budget *budget)
{
	struct kernel_part ips, entries;
	struct orc_tables tables;

	if (!find_part(kernel, bytes, LANDMARK_ORC_IP, ".orc_unwind_ip", &ips) ||
			!find_part(kernel, bytes, LANDMARK_ORC, ".orc_unwind", &entries))
		return;
	tables = (struct orc_tables) {
		.ips = bytes->bytes + ips.offset, .ips_size = ips.size, .address = ips.address,
		.entries = bytes->bytes + entries.offset, .entries_size = entries.size,
	};
	kernel->orc = orc_new(&tables, orc_format_of(&tables), budget);
}

/* A note is a head of three words, a name and a description; both are padded to words. */
static void take_build_id(struct linux_kernel *kernel, const struct kernel_bytes *bytes)
{
	struct kernel_part notes;
	const uint8_t *note;
	size_t left;

	if (!find_part(kernel, bytes, LANDMARK_NOTES, ".notes", &notes))
		return;
	note = bytes->bytes + notes.offset;
	for (left = notes.size; left >= 16;) {
		uint64_t name = bytes_32(note), size = bytes_32(note + 4);
		uint64_t text = 12 + (name + 3) / 4 * 4, whole = text + (size + 3) / 4 * 4;

		if (text + size > left)
			return;
		if (bytes_32(note + 8) == NOTE_BUILD_ID && name == 4 && memcmp(note + 12, "GNU", 4) == 0 &&
				size && size <= sizeof(kernel->build_id)) {
			memcpy(kernel->build_id, note + text, size);
			kernel->build_id_size = size;
			return;
		}
		if (whole > left)
			return;
		note += whole;
		left -= whole;
	}
}

/* The word behind "Linux version ". */
static void take_version(struct linux_kernel *kernel, const char *word)
{
	char *version = util_printable(word, strcspn(word, " \n"));

	util_print(kernel->version, sizeof(kernel->version), "%s", version);
	free(version);
}

/* If no symbol leads to it, the banner is the first text with such a beginning and a number in it. */
static void take_banner(struct linux_kernel *kernel, const struct kernel_bytes *bytes)
{
	static const char begin[] = "Linux version ";
	const uint8_t *at = bytes->bytes, *end = at + bytes->size, *hit;
	uint64_t address;

	for (; (hit = memmem(at, (size_t)(end - at), begin, strlen(begin))); at = hit + 1) {
		size_t left = (size_t)(end - hit), size = left < LINUX_BANNER_MAX ? left : LINUX_BANNER_MAX;

		if (size <= strlen(begin) || hit[strlen(begin)] < '0' || hit[strlen(begin)] > '9' ||
				!kernel_bytes_address(bytes, (size_t)(hit - bytes->bytes), &address))
			continue;
		memcpy(kernel->banner, hit, size);
		kernel->banner[size] = '\0';
		take_version(kernel, kernel->banner + strlen(begin));
		kernel->landmarks[LANDMARK_BANNER] = address;
		kernel->known |= 1u << LANDMARK_BANNER;
		return;
	}
}

static void take_calls(struct linux_kernel *kernel, const struct kernel_bytes *bytes, struct budget *budget)
{
	uint64_t start, end;

	if (linux_kernel_landmark(kernel, LANDMARK_CODE, &start) &&
			linux_kernel_landmark(kernel, LANDMARK_CODE_END, &end))
		kernel->calls = call_sites_new(bytes, start, end, budget);
}

static void take_layout(struct linux_kernel *kernel, const struct kernel_bytes *bytes, struct budget *budget)
{
	struct btf *btf = btf_new(bytes->bytes, bytes->size, kernel_bytes_word(bytes), budget);

	if (btf)
		kernel_layout_set(&kernel->layout, btf, kernel_bytes_word(bytes));
	btf_free(btf);
}

struct linux_kernel *linux_kernel_new(struct kernel_bytes *bytes, struct kallsyms *kallsyms,
	struct budget *budget)
{
	struct shared *shared;
	struct linux_kernel *kernel;

	if (!place(bytes, kallsyms))
		return NULL;
	shared = util_alloc(sizeof(*shared));
	atomic_init(&shared->holders, 1);
	kernel = &shared->kernel;
	kernel->arch = bytes->arch;
	kernel->base = kallsyms->base;
	if (!kallsyms->base_at || !kernel_bytes_address(bytes, kallsyms->base_at, &kernel->base_place))
		kernel->base_place = 0;
	take_landmarks(kernel, kallsyms);
	take_bounds(kernel, bytes);
	take_orc(kernel, bytes, budget);
	take_build_id(kernel, bytes);
	take_banner(kernel, bytes);
	take_layout(kernel, bytes, budget);
	take_calls(kernel, bytes, budget);
	return kernel;
}

struct linux_kernel *linux_kernel_hold(struct linux_kernel *kernel)
{
	if (kernel)
		atomic_fetch_add_explicit(&((struct shared *)kernel)->holders, 1, memory_order_relaxed);
	return kernel;
}

void linux_kernel_free(struct linux_kernel *kernel)
{
	struct shared *shared = (struct shared *)kernel;

	/* Released by each holder, acquired by the last one, who frees what all of them have read. */
	if (!shared || atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) != 1)
		return;
	orc_free(kernel->orc);
	call_sites_free(kernel->calls);
	free(shared);
}

/* ---- the slide ---- */

/* linux/Documentation/arch/x86/x86_64/mm.rst: the area of each CPU's entry code begins with the IDT. */
#define IDT UINT64_C(0xfffffe0000000000)

enum {
	GATE_SIZE = 16, GATE_PRESENT = 0x80,	/* in its byte 5 */
	X86_RANGE = 1 << 30, I386_RANGE = 512 << 20,	/* how far KASLR moves the kernel up */
	KERNEL_MOST = 128 << 20,		/* from the start of a kernel to any of its code */
	BANNER_LEAST = 24,			/* bytes that tell one kernel from another */
};

static bool read_word(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t address,
	uint64_t *word)
{
	uint8_t bytes[8] = { 0 };

	if (!memory->read(memory->context, address, bytes, kernel->arch == ARCH_I386 ? 4 : 8))
		return false;
	*word = bytes_64(bytes);
	return true;
}

bool slide_read_gate(const struct memory_reader *memory, uint64_t *handler)
{
	uint8_t gate[GATE_SIZE];

	if (!memory->read(memory->context, IDT, gate, sizeof(gate)) || !(gate[5] & GATE_PRESENT))
		return false;
	*handler = bytes_16(gate) | (uint64_t)bytes_16(gate + 6) << 16 | (uint64_t)bytes_32(gate + 8) << 32;
	return true;
}

bool slide_by_gate(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide)
{
	uint64_t link, run;

	if (kernel->arch != ARCH_X86_64 || !linux_kernel_landmark(kernel, LANDMARK_DIVIDE_ERROR, &link) ||
			!slide_read_gate(memory, &run))
		return false;
	if ((run - link) % SLIDE_STEP || run - link >= X86_RANGE)
		return false;
	*slide = run - link;
	return true;
}

/*
 * Physical memory may hold anything at that place. The word there is taken for `base` plus the slide only if it is
 * `base` moved by whole pages, and still in the same half of the address space: the kernel's.
 */
bool slide_by_physical_base(const struct linux_kernel *kernel, const struct memory_reader *physical,
	uint64_t start, uint64_t *slide)
{
	uint64_t base;

	if (!kernel->base_place || !read_word(kernel, physical, start + (kernel->base_place - kernel->start), &base) ||
			(base - kernel->base) % PAGE || base >> 63 != kernel->base >> 63)
		return false;
	*slide = base - kernel->base;
	return true;
}

bool slide_by_base(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t code,
	uint64_t *slide)
{
	uint64_t below = (code - kernel->start) % SLIDE_STEP;

	for (; kernel->base_place && below < KERNEL_MOST; below += SLIDE_STEP) {
		uint64_t candidate = code - below - kernel->start, base;

		if (read_word(kernel, memory, kernel->base_place + candidate, &base) &&
				base == kernel->base + candidate) {
			*slide = candidate;
			return true;
		}
	}
	return false;
}

bool slide_by_banner(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide)
{
	uint64_t link, range = kernel->arch == ARCH_X86_64 ? X86_RANGE :
		kernel->arch == ARCH_I386 ? I386_RANGE : 0;
	size_t size = strnlen(kernel->banner, LINUX_BANNER_MAX);

	if (!linux_kernel_landmark(kernel, LANDMARK_BANNER, &link) || size < BANNER_LEAST)
		return false;
	for (uint64_t candidate = 0; candidate < range; candidate += SLIDE_STEP) {
		char text[LINUX_BANNER_MAX];

		if (memory->read(memory->context, link + candidate, text, size) &&
				memcmp(text, kernel->banner, size) == 0) {
			*slide = candidate;
			return true;
		}
	}
	return false;
}
