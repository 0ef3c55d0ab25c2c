/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/names/linux/orc.h"
#include "agent/base/util.h"
#include "fake_btf.h"
#include "fake_modules.h"

enum { SYMBOL = 24 };

bool fake_modules_read(void *context, uint64_t address, void *to, size_t size)
{
	struct fake_modules *guest = context;

	guest->reads++;
	if (address < FAKE_MODULES || address - FAKE_MODULES > FAKE_MODULES_SIZE ||
			size > FAKE_MODULES_SIZE - (address - FAKE_MODULES))
		return false;
	memcpy(to, guest->bytes + (address - FAKE_MODULES), size);
	return true;
}

void fake_modules_set(struct fake_modules *guest, uint64_t address, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		guest->bytes[address - FAKE_MODULES + i] = (uint8_t)(value >> (8 * i));
}

static uint64_t take(struct fake_modules *guest, size_t size)
{
	uint64_t at = FAKE_MODULES + guest->used;

	guest->used += (size + 15) / 16 * 16;
	if (guest->used >= FAKE_MODULES_SIZE)
		abort();
	return at;
}

/* Symbols "f0", "f1" ... of it, every second one of data, and one of code that it does not have. */
static void add_symbols(struct fake_modules *guest, uint64_t module, uint64_t code, uint32_t count)
{
	uint64_t kallsyms = take(guest, FAKE_MOD_KALLSYMS_SIZE), rows = take(guest, (count + 2) * SYMBOL);
	uint64_t letters = take(guest, count + 2), names = take(guest, 8 * (count + 2));

	fake_modules_set(guest, module + FAKE_KALLSYMS, kallsyms, 8);
	fake_modules_set(guest, kallsyms + FAKE_SYMBOLS, rows, 8);
	fake_modules_set(guest, kallsyms + FAKE_SYMBOLS_COUNT, count + 2, 4);
	fake_modules_set(guest, kallsyms + FAKE_TEXTS, names, 8);
	fake_modules_set(guest, kallsyms + FAKE_TYPES, letters, 8);
	for (uint32_t i = 1; i < count + 2; i++) {
		uint64_t row = rows + i * SYMBOL;

		fake_modules_set(guest, row, 8 * i, 4);
		fake_modules_set(guest, row + 8, i > count ? 0x1000 : code + 16 * (i - 1), 8);
		fake_modules_set(guest, row + 16, 16, 8);
		guest->bytes[letters + i - FAKE_MODULES] = i % 2 ? 't' : 'd';
		snprintf((char *)guest->bytes + (names + 8 * i - FAKE_MODULES), 8, "f%u", (i - 1) % 1000000);
	}
}

static void add_orc(struct fake_modules *guest, uint64_t module, uint64_t code)
{
	uint64_t ips = take(guest, 8), entries = take(guest, 12);

	fake_modules_set(guest, module + FAKE_ORC_COUNT, 2, 4);
	fake_modules_set(guest, module + FAKE_ORC_IPS, ips, 8);
	fake_modules_set(guest, module + FAKE_ORC_ENTRIES, entries, 8);
	fake_modules_set(guest, ips, code - ips, 4);
	fake_modules_set(guest, ips + 4, code + 0x20 - (ips + 4), 4);
	fake_modules_set(guest, entries, 8, 2);
	fake_modules_set(guest, entries + 4, ORC_SP | ORC_PREV_SP << 4, 1);
	fake_modules_set(guest, entries + 6, 24, 2);
	fake_modules_set(guest, entries + 10, ORC_SP | ORC_PREV_SP << 4, 1);
}

/* Behind `after`, the list's head or another module; returns it. */
static uint64_t add_module(struct fake_modules *guest, bool old, uint64_t after, const char *name)
{
	uint64_t module = take(guest, FAKE_MODULE_SIZE), code = take(guest, 0x200), data = take(guest, 0x100);
	uint64_t link = module + FAKE_MODULE_LIST, next = 0;

	memcpy(&next, guest->bytes + (after - FAKE_MODULES), 8);
	fake_modules_set(guest, after, link, 8);
	fake_modules_set(guest, link, next, 8);
	snprintf((char *)guest->bytes + (module + FAKE_MODULE_NAME - FAKE_MODULES), FAKE_MODULE_NAME_SIZE, "%s", name);
	fake_modules_set(guest, module + FAKE_MODULE_PARTS, code, 8);
	fake_modules_set(guest, module + FAKE_MODULE_PARTS + FAKE_PART_SIZE, 0x200, 4);
	if (!old) {
		fake_modules_set(guest, module + FAKE_MODULE_PARTS + 2 * FAKE_NEW_PART, data, 8);
		fake_modules_set(guest, module + FAKE_MODULE_PARTS + 2 * FAKE_NEW_PART + FAKE_PART_SIZE, 0x100, 4);
	}
	add_symbols(guest, module, code, 8);
	add_orc(guest, module, code);
	return link;
}

struct fake_modules *fake_modules_new(bool old, unsigned modules)
{
	struct fake_modules *guest = util_alloc(sizeof(*guest));
	uint64_t at = FAKE_MODULES_HEAD;

	guest->used = 0x200;
	fake_modules_set(guest, at, at, 8);
	for (unsigned i = 0; i < modules; i++) {
		char name[24];

		snprintf(name, sizeof(name), "module_%u", i);
		at = add_module(guest, old, at, name);
	}
	return guest;
}
