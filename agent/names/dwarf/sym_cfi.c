/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "sym_cfi.h"

enum {
	REGISTERS_MAX = 256, REMEMBERED_MAX = 64,
	TABLES = 2,
	DEBUG_MAX = 64 << 20,		/* bytes: a larger file's .debug_frame is not read */
	FRAMES_MAX = 1 << 30,		/* bytes of an .eh_frame that is counted: a larger one is no section's */
	COST = 4,			/* bytes of memory for one of .eh_frame: its copy, and libdw's entries */
};

struct instructions {			/* those of one entry that are not read yet */
	const uint8_t *at, *end;
	unsigned remembered;		/* states that libdw keeps a copy of */
};

struct frame_section {
	const unsigned char *ident;
	Elf_Data *data;
	bool eh_frame;
	unsigned word;			/* bytes of an address */
};

struct sym_cfi {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *tables[TABLES];	/* .eh_frame, .debug_frame; NULL: the file has none */
	struct budget *budget;
	size_t paid;			/* bytes that are charged to it */
};

/* ---- is a section safe for libdw? ---- */

/* Reads a number in LEB128: DWARF 5, section 7.6. */
static bool take_number(struct instructions *program, uint64_t *number)
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

static bool take_register(struct instructions *program)
{
	uint64_t number;

	return take_number(program, &number) && number < REGISTERS_MAX;
}

static bool skip_number(struct instructions *program)
{
	uint64_t number;

	return take_number(program, &number);
}

static bool skip_bytes(struct instructions *program, uint64_t count)
{
	if (count > (uint64_t)(program->end - program->at))
		return false;
	program->at += count;
	return true;
}

static bool skip_block(struct instructions *program)
{
	uint64_t size;

	return take_number(program, &size) && skip_bytes(program, size);
}

/* DWARF 5, section 7.24, and GNU's own as in binutils. No compiler writes DW_CFA_set_loc, so it is refused. */
static bool check_instruction(struct instructions *program)
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
	struct instructions program = { .at = begin, .end = end };

	while (program.at < program.end)
		if (!check_instruction(&program))
			return false;
	return true;
}

/* Skips a pointer in one of .eh_frame's encodings (Linux Standard Base 5.0, Core, section 10.5). */
static bool skip_pointer(struct instructions *program, uint8_t encoding, unsigned word)
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
	struct instructions data = { .at = cie->augmentation_data };
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

static bool check_code(const struct frame_section *section, const Dwarf_FDE *fde)
{
	struct instructions program = { .at = fde->start, .end = fde->end };
	Dwarf_CFI_Entry cie;
	Dwarf_Off next;
	uint8_t encoding;

	if (dwarf_next_cfi(section->ident, section->data, section->eh_frame, fde->CIE_pointer, &next, &cie) != 0 ||
			!dwarf_cfi_cie_p(&cie) || !find_encoding(&cie.cie, section->word, &encoding))
		return false;
	return skip_pointer(&program, encoding, section->word) && skip_pointer(&program, encoding, section->word) &&
		(!*cie.cie.augmentation || skip_block(&program)) && check_program(program.at, program.end);
}

static bool check_entry(const struct frame_section *section, const Dwarf_CFI_Entry *entry)
{
	if (!dwarf_cfi_cie_p((Dwarf_CFI_Entry *)entry))
		return check_code(section, &entry->fde);
	return entry->cie.return_address_register < REGISTERS_MAX &&
		check_program(entry->cie.initial_instructions, entry->cie.initial_instructions_end);
}

/*
 * libdw makes room for each register number that a file names, up to gigabytes. So a file with a register that no CPU
 * has is refused before: false. An entry that libdw calls bad is skipped here, too, since libdw will skip it.
 * `section`: the bytes of .eh_frame, or of .debug_frame. The time is linear in their number.
 */
static bool check_section(const unsigned char *e_ident, Elf_Data *section, bool eh_frame)
{
	const struct frame_section known = {
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

/* ---- the tables ---- */

/* dwarf_end also frees the information of .debug_frame. That of .eh_frame must be freed here. */
void sym_cfi_close(struct sym_cfi *cfi)
{
	if (!cfi)
		return;
	if (cfi->tables[0])
		dwarf_cfi_end(cfi->tables[0]);
	dwarf_end(cfi->dwarf);
	elf_end(cfi->elf);
	close(cfi->fd);
	budget_give(cfi->budget, cfi->paid);
	free(cfi);
}

/* The bytes that libdw would read for .debug_frame: all sections that are not loaded. */
static uint64_t debug_size(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t size = 0;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS || header.sh_flags & SHF_ALLOC)
			continue;
		if (header.sh_flags & SHF_COMPRESSED || header.sh_size > DEBUG_MAX)
			return UINT64_MAX;
		size += header.sh_size;
	}
	return size;
}

/* True if there is a section of that name, and each of them is safe for libdw. */
static bool is_fit(Elf *elf, const char *name, bool eh_frame)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	GElf_Shdr header;
	size_t names;

	if (!ident || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *own = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		Elf_Data *data;

		if (!own || strcmp(own, name) != 0)
			continue;
		data = header.sh_flags & SHF_COMPRESSED ? NULL : elf_rawdata(section, NULL);
		if (!data || !data->d_buf || !check_section(ident, data, eh_frame))
			return false;
		found = true;
	}
	return found;
}

struct sym_cfi *sym_cfi_open(int fd)
{
	struct sym_cfi *cfi = util_alloc(sizeof(*cfi));

	cfi->fd = fd;
	elf_version(EV_CURRENT);
	cfi->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (cfi->elf && elf_kind(cfi->elf) == ELF_K_ELF) {
		if (is_fit(cfi->elf, ".eh_frame", true))
			cfi->tables[0] = dwarf_getcfi_elf(cfi->elf);
		if (debug_size(cfi->elf) <= DEBUG_MAX && is_fit(cfi->elf, ".debug_frame", false))
			cfi->dwarf = dwarf_begin_elf(cfi->elf, DWARF_C_READ, NULL);
		cfi->tables[1] = cfi->dwarf ? dwarf_getcfi(cfi->dwarf) : NULL;
	}
	if (cfi->tables[0] || cfi->tables[1])
		return cfi;
	sym_cfi_close(cfi);
	return NULL;
}

/* The bytes of memory that sym_cfi_open takes for the file, rounded up. */
static uint64_t cost_of(int fd)
{
	uint64_t cost = 0, debug;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && strcmp(name, ".eh_frame") == 0 && header.sh_size < FRAMES_MAX)
			cost += header.sh_size * COST;
		else if (name && strcmp(name, ".debug_frame") == 0 && (debug = debug_size(elf)) <= DEBUG_MAX)
			cost += debug;
	}
	elf_end(elf);
	return cost;
}

struct sym_cfi *sym_cfi_open_paid(int fd, struct budget *budget)
{
	uint64_t cost = cost_of(fd);
	struct sym_cfi *cfi;

	if (!budget_take(budget, cost)) {
		close(fd);
		return NULL;
	}
	cfi = sym_cfi_open(fd);
	if (cfi) {
		cfi->budget = budget;
		cfi->paid = cost;
	} else {
		budget_give(budget, cost);
	}
	return cfi;
}

/* ---- rules ---- */

static bool is_register(Dwarf_Word number)
{
	return number < FRAME_RULES_REGISTERS;
}

/*
 * Reads the frame's address: DW_OP_bregN or DW_OP_bregx, then perhaps DW_OP_plus_uconst, then perhaps
 * DW_OP_deref. False: another form.
 */
static bool read_base(const Dwarf_Op *ops, size_t count, struct frame_rules *rules)
{
	Dwarf_Word number;

	if (count == 0)
		return false;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		number = ops[0].atom - DW_OP_breg0;
		rules->base_offset = (int64_t)ops[0].number;
	} else if (ops[0].atom == DW_OP_bregx) {
		number = ops[0].number;
		rules->base_offset = (int64_t)ops[0].number2;
	} else {
		return false;
	}
	ops++, count--;
	if (count && ops[0].atom == DW_OP_plus_uconst) {
		rules->base_offset = (int64_t)((uint64_t)rules->base_offset + ops[0].number);
		ops++, count--;
	}
	rules->indirect = count == 1 && ops[0].atom == DW_OP_deref;
	rules->base = (uint8_t)number;
	return is_register(number) && (count == 0 || rules->indirect);
}

/* Reads a constant, in any form in which libdw writes an offset. */
static bool read_constant(const Dwarf_Op *op, int64_t *constant)
{
	switch (op->atom) {
	case DW_OP_consts: case DW_OP_constu: case DW_OP_const1s: case DW_OP_const2s: case DW_OP_const4s:
	case DW_OP_const8s:
		*constant = (int64_t)op->number;
		return true;
	default:
		return false;
	}
}

/* Reads DW_OP_call_frame_cfa, and perhaps an offset. DW_OP_stack_value at the end: the sum itself is the value. */
static enum frame_rule read_offset(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
	enum frame_rule rule = FRAME_SAVED;

	*offset = 0;
	if (count == 0 || ops[0].atom != DW_OP_call_frame_cfa)
		return FRAME_UNKNOWN;
	if (count > 1 && ops[count - 1].atom == DW_OP_stack_value) {
		rule = FRAME_VALUE;
		count--;
	}
	if (count == 1)
		return rule;
	if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
		*offset = (int64_t)ops[1].number;
		return rule;
	}
	if (count == 3 && ops[2].atom == DW_OP_plus && read_constant(&ops[1], offset))
		return rule;
	return FRAME_UNKNOWN;
}

static void read_register(Dwarf_Frame *frame, unsigned number, struct frame_rules *rules)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	enum frame_rule *rule = &rules->registers[number].rule;
	int64_t *offset = &rules->registers[number].offset;

	*rule = FRAME_UNKNOWN;
	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
		return;
	if (count == 0)
		*rule = ops ? FRAME_UNKNOWN : FRAME_SAME;
	else if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		*rule = FRAME_REGISTER, *offset = ops[0].atom - DW_OP_reg0;
	else if (count == 1 && ops[0].atom == DW_OP_regx && is_register(ops[0].number))
		*rule = FRAME_REGISTER, *offset = (int64_t)ops[0].number;
	else
		*rule = read_offset(ops, count, offset);
}

static bool read_frame(Dwarf_Frame *frame, struct frame_rules *rules)
{
	Dwarf_Op *ops;
	size_t count;
	bool signal;
	int number = dwarf_frame_info(frame, NULL, NULL, &signal);

	*rules = (struct frame_rules) { .signal = signal };
	if (number < 0 || !is_register((Dwarf_Word)number) || dwarf_frame_cfa(frame, &ops, &count) != 0 ||
			!read_base(ops, count, rules))
		return false;
	rules->return_address = (uint8_t)number;
	for (unsigned i = 0; i < FRAME_RULES_REGISTERS; i++)
		read_register(frame, i, rules);
	return true;
}

bool sym_cfi_find(struct sym_cfi *cfi, uint64_t address, struct frame_rules *rules)
{
	for (size_t i = 0; i < TABLES; i++) {
		Dwarf_Frame *frame;
		bool found;

		if (!cfi->tables[i] || dwarf_cfi_addrframe(cfi->tables[i], address, &frame) != 0)
			continue;
		found = read_frame(frame, rules);
		free(frame);
		if (found)
			return true;
	}
	return false;
}
