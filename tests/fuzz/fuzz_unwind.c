/* SPDX-License-Identifier: MIT */
/* Any registers, any stack, any ORC table, in which any addresses are code: the walk ends, inside its bounds. */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/linux/orc.h"
#include "agent/unwind/unwind.h"
#include "fuzz.h"

enum { ENTRIES = 8, STACKS = 3, FUNCTION_SIZE = 64 };

struct guest {
	struct fuzz_input *input;
	struct orc_entry entries[ENTRIES];
	uint64_t kernel;		/* what is at or above this is its code */
	unsigned reads;
};

static uint64_t take_word(struct fuzz_input *input)
{
	const uint8_t *bytes;
	uint64_t word = 0;
	size_t size = input_bytes(input, &bytes, sizeof(word));

	memcpy(&word, bytes, size);
	return word;
}

static void take_entry(struct fuzz_input *input, struct orc_entry *entry)
{
	entry->sp = (enum orc_register)(input_byte(input) & 15);
	entry->bp = (enum orc_register)(input_byte(input) & 15);
	entry->sp_offset = (int8_t)input_byte(input);
	entry->bp_offset = (int8_t)input_byte(input);
	entry->type = (enum orc_type)(input_byte(input) % (ORC_TYPE_REGS_PARTIAL + 1));
	entry->signal = false;
}

static bool is_kernel(void *context, uint64_t pc)
{
	return pc >= ((struct guest *)context)->kernel;
}

static bool function_at(void *context, uint64_t pc, uint64_t *start)
{
	*start = pc - pc % FUNCTION_SIZE;
	return is_kernel(context, pc);
}

static bool find_orc(void *context, uint64_t pc, struct orc_entry *entry)
{
	*entry = ((struct guest *)context)->entries[pc / FUNCTION_SIZE % ENTRIES];
	return pc / FUNCTION_SIZE % 2;
}

static bool find_rules(void *context, uint64_t pc, struct frame_rules *rules)
{
	struct fuzz_input *input = ((struct guest *)context)->input;

	*rules = (struct frame_rules) { .base = input_byte(input), .indirect = input_byte(input) & 1 };
	rules->base_offset = (int8_t)input_byte(input);
	rules->return_address = input_byte(input);
	for (unsigned i = 0; i < FRAME_RULES_REGISTERS; i++) {
		rules->registers[i].rule = (enum frame_rule)(input_byte(input) % (FRAME_REGISTER + 1));
		rules->registers[i].offset = (int8_t)input_byte(input);
	}
	return pc % 2;
}

static bool read_more(void *context, uint64_t address, void *bytes, size_t size)
{
	struct guest *guest = context;

	(void)address;
	require(++guest->reads <= STACK_MEMORY_READS);
	memset(bytes, input_byte(guest->input), size);
	return input_byte(guest->input) & 1;
}

static void check_frames(const struct unwound_frames *frames)
{
	require(frames->count <= UNWIND_FRAMES);
	require(frames->count == UNWIND_FRAMES || frames->exact >> frames->count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct guest guest = { .input = &input };
	struct memory_reader reader = { .read = read_more, .context = &guest };
	unsigned choice = input_byte(&input);
	struct registers registers = { .arch = arch_get(1 + choice % (ARCHS - 1)) };
	struct stack_memory memory = { .count = STACKS, .elsewhere = choice & 4 ? &reader : NULL };
	struct unwind_code code = { .context = &guest, .is_kernel = is_kernel };
	struct unwound result;

	if (choice & 8)
		code.function = function_at;
	if (choice & 32)
		code.rules = find_rules;
	if (choice & 16)
		code.orc = find_orc;
	guest.kernel = take_word(&input);
	registers.known = take_word(&input);
	for (unsigned i = 0; i < registers.arch->registers; i++)
		registers.values[i] = take_word(&input);
	for (unsigned i = 0; i < ENTRIES; i++)
		take_entry(&input, &guest.entries[i]);
	for (unsigned i = 0; i < STACKS; i++) {
		memory.pieces[i].address = take_word(&input);
		memory.pieces[i].size = input_bytes(&input, &memory.pieces[i].bytes, input_byte(&input) * 8u);
	}
	unwind(&registers, &code, &memory, &result);
	check_frames(&result.kernel);
	check_frames(&result.user);
	return 0;
}
