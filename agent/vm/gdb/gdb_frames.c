/* SPDX-License-Identifier: MIT */
/*
 * Where the guest's virtual memory is. All memory is read by physical addresses, and of RAM alone: a debugger's read of
 * a device may crash QEMU. Each page is translated anew in each sample, while the machine stands: the guest may have
 * put a device there meanwhile. What the sample before has used is asked for with the registers, so mostly the answers
 * are there in time.
 *
 * QEMU translates, and reads the guest's page tables for it. On aarch64 it crashes if one of them is on a device, an
 * interrupt controller. So there the tables are walked here, in RAM alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/vm/ram/page_tables.h"
#include "gdb_stub_state.h"
#include "kernel-hook/wire.h"

enum { PAGE = GDB_PAGE };

#define NOWHERE UINT64_MAX

/* ---- the monitor ---- */

/* QEMU runs a command of its monitor for us. What it prints comes in packets before the answer. */
void gdb_ask_monitor(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *line)
{
	char digits[2 * GDB_COMMAND + 1], *at = digits;

	for (; *line && at < digits + 2 * GDB_COMMAND; line++)
		at += sprintf(at, "%02x", (unsigned char)*line);
	gdb_ask(stub, question, cpu, "qRcmd,%s", digits);
}

void gdb_take_print(struct gdb_stub *stub, const char *digits, size_t size)
{
	uint8_t text[GDB_BODY_MAX / 2];
	size_t count = gdb_bytes(digits, size, text, sizeof(text)), room = sizeof(stub->print) - 1 - stub->print_size;

	if (stub->asked_first < stub->asked_count && stub->asked[stub->asked_first].question == GDB_ASK_MAP) {
		ram_map_take(&stub->map, (const char *)text, count);
		return;
	}
	count = count < room ? count : room;
	memcpy(stub->print + stub->print_size, text, count);
	stub->print_size += count;
	stub->print[stub->print_size] = '\0';
}

/* The monitor has a CPU of its own, which a number chooses: one less than the last part of the stub's name of it. */
static void choose(struct gdb_stub *stub, uint32_t index)
{
	const char *dot = strrchr(stub->cpus[index].id, '.');
	uint64_t number = 0;
	char line[GDB_COMMAND];

	if (stub->monitor_cpu == index)
		return;
	stub->monitor_cpu = index;
	sscanf(dot ? dot + 1 : stub->cpus[index].id, "%" SCNx64, &number);
	snprintf(line, sizeof(line), "cpu %" PRIu64, number - 1);
	gdb_ask_monitor(stub, GDB_ASK_COMMAND, index, line);
}

/* It prints only if there is no such CPU. */
void gdb_take_command(struct gdb_stub *stub, uint32_t index)
{
	stub->told_cpu = stub->print_size ? GDB_CPUS : index;
	stub->print_size = 0;
}

/* ---- frames ---- */

static void ask(struct gdb_stub *stub, uint32_t index, uint32_t number)
{
	char line[GDB_COMMAND];

	choose(stub, index);
	snprintf(line, sizeof(line), "gva2gpa 0x%" PRIx64, stub->cpus[index].frames[number].page);
	gdb_ask_monitor(stub, GDB_ASK_FRAME, index * GDB_FRAMES + number, line);
}

void gdb_take_frame(struct gdb_stub *stub, uint32_t asked, bool good)
{
	uint32_t index = asked / GDB_FRAMES;
	struct gdb_frame *frame = &stub->cpus[index].frames[asked % GDB_FRAMES];
	uint64_t physical;

	frame->known = true;
	frame->physical = NOWHERE;
	if (good && stub->told_cpu == index && stub->print_size &&
			sscanf(stub->print, "gpa: %" SCNx64, &physical) == 1)
		frame->physical = physical / PAGE * PAGE;
	stub->print_size = 0;
}

void gdb_keep_frames(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cpu->frame_count; i++)
		if (cpu->frames[i].used && !gdb_stub_is_direct(stub))
			cpu->frames[kept++] = (struct gdb_frame) {
				.page = cpu->frames[i].page, .physical = cpu->frames[i].physical,
			};
	cpu->frame_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		ask(stub, index, i);
}

/* NULL: it is asked for just now; or there are too many. */
static struct gdb_frame *find(struct gdb_stub *stub, uint32_t index, uint64_t page)
{
	struct gdb_cpu *cpu = &stub->cpus[index];

	for (uint32_t i = 0; i < cpu->frame_count; i++)
		if (cpu->frames[i].page == page)
			return &cpu->frames[i];
	if (stub->seeks && cpu->frame_count < GDB_FRAMES) {
		cpu->frames[cpu->frame_count] = (struct gdb_frame) { .page = page };
		ask(stub, index, cpu->frame_count++);
	}
	return NULL;
}

/* ---- page tables ---- */

static void ask_for_word(struct gdb_stub *stub, uint32_t number)
{
	gdb_begin_memory(stub);
	gdb_ask(stub, GDB_ASK_WORD, number, "m%" PRIx64 ",%zx", stub->words[number].at, sizeof(uint64_t));
}

void gdb_take_word(struct gdb_stub *stub, uint32_t number, const char *digits, size_t size)
{
	struct gdb_word *word = &stub->words[number];

	word->known = gdb_bytes(digits, size, (uint8_t *)&word->value, sizeof(word->value)) == sizeof(word->value);
}

void gdb_keep_words(struct gdb_stub *stub)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < stub->word_count; i++)
		if (stub->words[i].used && stub->map.count && !gdb_stub_is_direct(stub))
			stub->words[kept++] = (struct gdb_word) { .at = stub->words[i].at };
	stub->word_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		ask_for_word(stub, i);
}

/* An entry that is not known yet is asked for, if it is sought. */
static bool read_word(void *context, uint64_t physical, void *to, size_t size)
{
	struct gdb_stub *stub = context;

	stub->outside = size != sizeof(uint64_t) || !ram_map_has(&stub->map, physical, size);
	if (stub->outside)
		return false;
	for (uint32_t i = 0; i < stub->word_count; i++) {
		if (stub->words[i].at != physical)
			continue;
		stub->words[i].used = true;
		memcpy(to, &stub->words[i].value, size);
		return stub->words[i].known;
	}
	if (stub->seeks && stub->word_count < GDB_WORDS) {
		stub->words[stub->word_count] = (struct gdb_word) { .at = physical };
		ask_for_word(stub, stub->word_count++);
	}
	return false;
}

bool gdb_stub_walks(const struct gdb_stub *stub)
{
	return strcmp(gdb_stub_arch(stub), "aarch64") == 0;
}

static bool walk(struct gdb_stub *stub, const struct gdb_cpu *cpu, uint64_t address, uint64_t *physical)
{
	struct page_tables tables;

	stub->outside = address >> 63 == 0;		/* other tables than these */
	return cpu->known && cpu->state.mode == KTOP_MODE_KERNEL &&
		page_tables_aarch64(&tables, cpu->named[GDB_TTBR1_EL1], cpu->named[GDB_TCR_EL1]) &&
		page_tables_find(&tables, read_word, stub, address, physical);
}

/* ---- the whole ---- */

/* `early`: the answer is on its way, and the one of the sample before may do. */
static bool translate(struct gdb_stub *stub, uint32_t index, uint64_t address, bool early, bool keep,
	uint64_t *physical)
{
	struct gdb_frame *frame;

	if (gdb_stub_walks(stub))
		return walk(stub, &stub->cpus[index], address, physical);
	frame = find(stub, index, address / PAGE * PAGE);
	if (frame)
		frame->used |= keep;
	if (!frame || (!frame->known && !early) || frame->physical == NOWHERE)
		return false;
	*physical = frame->physical + address % PAGE;
	return true;
}

/* Both ends are looked at: what is asked for may begin in one page, and end in the next. */
bool gdb_is_ram(struct gdb_stub *stub, enum gdb_question question, uint32_t index, uint64_t address, uint32_t size,
	uint64_t *physical)
{
	bool early = question == GDB_ASK_POINTER && stub->state == GDB_REGISTERS && !stub->seeks;
	bool keep = question != GDB_ASK_PAGE && question != GDB_ASK_PLACE;
	uint64_t last;
	bool first = translate(stub, index, address, early, keep, physical);
	bool both = translate(stub, index, address + size - 1, early, keep, &last) && first &&
		last - *physical == size - 1;

	if (both && ram_map_has(&stub->map, *physical, size))
		return true;
	stub->refused |= question == GDB_ASK_STACK && !stub->seeks &&
		(both || (gdb_stub_walks(stub) && stub->outside));
	return false;
}

bool gdb_seek(struct gdb_stub *stub, void (*ask_all)(struct gdb_stub *))
{
	if (!stub->map.count)
		return false;
	stub->seeks = true;
	ask_all(stub);
	stub->seeks = false;
	gdb_end_memory(stub);
	return stub->asked_count;
}
