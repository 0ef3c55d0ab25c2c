/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdint.h>

#include "sym_cfi_check.h"

enum { REGISTERS_MAX = 256, REMEMBERED_MAX = 64 };

struct program {			/* the instructions of one entry that are not read yet */
	const uint8_t *at, *end;
	unsigned remembered;		/* states that libdw keeps a copy of */
};

/* Reads a number in LEB128: DWARF 5, section 7.6. */
static bool take_number(struct program *program, uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; program->at < program->end; shift += 7) {
		uint8_t byte = *program->at++;

		if (shift < 64)
			*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_register(struct program *program)
{
	uint64_t number;

	return take_number(program, &number) && number < REGISTERS_MAX;
}

static bool skip_number(struct program *program)
{
	uint64_t number;

	return take_number(program, &number);
}

static bool skip_bytes(struct program *program, uint64_t count)
{
	if (count > (uint64_t)(program->end - program->at))
		return false;
	program->at += count;
	return true;
}

static bool skip_block(struct program *program)
{
	uint64_t size;

	return take_number(program, &size) && skip_bytes(program, size);
}

/* DWARF 5, section 7.24, and GNU's own as in binutils. No compiler writes DW_CFA_set_loc, so it is refused. */
static bool check_instruction(struct program *program)
{
	uint8_t opcode = *program->at++;

	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc: case DW_CFA_restore:
		return true;
	case DW_CFA_offset:
		return skip_number(program);
	}
	switch (opcode) {
	case DW_CFA_nop: case DW_CFA_restore_state: case DW_CFA_GNU_window_save:
		return true;
	case DW_CFA_remember_state:
		return ++program->remembered <= REMEMBERED_MAX;
	case DW_CFA_advance_loc1:
		return skip_bytes(program, 1);
	case DW_CFA_advance_loc2:
		return skip_bytes(program, 2);
	case DW_CFA_advance_loc4:
		return skip_bytes(program, 4);
	case DW_CFA_restore_extended: case DW_CFA_undefined: case DW_CFA_same_value: case DW_CFA_def_cfa_register:
		return take_register(program);
	case DW_CFA_register:
		return take_register(program) && take_register(program);
	case DW_CFA_offset_extended: case DW_CFA_offset_extended_sf: case DW_CFA_def_cfa: case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset: case DW_CFA_val_offset_sf: case DW_CFA_GNU_negative_offset_extended:
		return take_register(program) && skip_number(program);
	case DW_CFA_def_cfa_offset: case DW_CFA_def_cfa_offset_sf: case DW_CFA_GNU_args_size:
		return skip_number(program);
	case DW_CFA_def_cfa_expression:
		return skip_block(program);
	case DW_CFA_expression: case DW_CFA_val_expression:
		return take_register(program) && skip_block(program);
	default:
		return false;
	}
}

static bool check_program(const uint8_t *begin, const uint8_t *end)
{
	struct program program = { .at = begin, .end = end };

	while (program.at < program.end)
		if (!check_instruction(&program))
			return false;
	return true;
}

/* Skips a pointer in one of .eh_frame's encodings (Linux Standard Base 5.0, Core, section 10.5). */
static bool skip_pointer(struct program *program, uint8_t encoding, unsigned word)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return skip_bytes(program, word);
	case DW_EH_PE_uleb128: case DW_EH_PE_sleb128:
		return skip_number(program);
	case DW_EH_PE_udata2: case DW_EH_PE_sdata2:
		return skip_bytes(program, 2);
	case DW_EH_PE_udata4: case DW_EH_PE_sdata4:
		return skip_bytes(program, 4);
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		return skip_bytes(program, 8);
	default:
		return false;
	}
}

/* Finds how an entry's addresses are encoded, from its CIE. False: the CIE has an unknown augmentation. */
static bool find_encoding(const Dwarf_CIE *cie, unsigned word, uint8_t *encoding)
{
	struct program data = { .at = cie->augmentation_data };
	const char *letter = cie->augmentation;
	uint8_t byte;

	*encoding = DW_EH_PE_absptr;
	if (!*letter)
		return true;
	if (*letter++ != 'z')
		return false;
	data.end = data.at ? data.at + cie->augmentation_data_size : data.at;
	for (; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (data.at == data.end)
			return false;
		byte = *data.at++;
		if (*letter == 'R')
			*encoding = byte;
		else if (*letter != 'L' && !(*letter == 'P' && skip_pointer(&data, byte, word)))
			return false;
	}
	return true;
}

struct section {
	const unsigned char *ident;
	Elf_Data *data;
	bool eh_frame;
	unsigned word;			/* bytes of an address */
};

static bool check_code(const struct section *section, const Dwarf_FDE *fde)
{
	struct program program = { .at = fde->start, .end = fde->end };
	Dwarf_CFI_Entry cie;
	Dwarf_Off next;
	uint8_t encoding;

	if (dwarf_next_cfi(section->ident, section->data, section->eh_frame, fde->CIE_pointer, &next, &cie) != 0 ||
			!dwarf_cfi_cie_p(&cie) || !find_encoding(&cie.cie, section->word, &encoding))
		return false;
	return skip_pointer(&program, encoding, section->word) && skip_pointer(&program, encoding, section->word) &&
		(!*cie.cie.augmentation || skip_block(&program)) && check_program(program.at, program.end);
}

static bool check_entry(const struct section *section, const Dwarf_CFI_Entry *entry)
{
	if (!dwarf_cfi_cie_p((Dwarf_CFI_Entry *)entry))
		return check_code(section, &entry->fde);
	return entry->cie.return_address_register < REGISTERS_MAX &&
		check_program(entry->cie.initial_instructions, entry->cie.initial_instructions_end);
}

/* An entry that libdw calls bad is skipped here, too, since libdw will skip it. */
bool sym_cfi_check(const unsigned char *e_ident, Elf_Data *section, bool eh_frame)
{
	const struct section known = {
		.ident = e_ident, .data = section, .eh_frame = eh_frame,
		.word = e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
	};
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	int result;

	while ((result = dwarf_next_cfi(e_ident, section, eh_frame, offset, &next, &entry)) <= 0) {
		if (result == 0 && !check_entry(&known, &entry))
			return false;
		if (next <= offset)
			return result == 0;
		offset = next;
	}
	return true;
}
