/* SPDX-License-Identifier: MIT */
/* ORC tables of each format, as objtool packs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/linux/orc.h"

#define PLACE UINT64_C(0xffffffff82c5f474)	/* the table's address */
#define CODE UINT64_C(0xffffffff81000000)

enum { ROWS_MAX = 16 };

/* The bits after the registers, for each format; from orc_types.h of Linux 6.1, 6.3 and 6.12. */
enum { CALL_5_X = 0, REGS_5_X = 1, PARTIAL_5_X = 2, END_5_X = 4 };
enum { CALL_6_3 = 0, REGS_6_3 = 1, SIGNAL_6_3 = 4, END_6_3 = 8 };
enum { UNDEFINED_6_4 = 0, END_6_4 = 1, CALL_6_4 = 2, REGS_6_4 = 3, PARTIAL_6_4 = 4, SIGNAL_6_4 = 8 };

struct model {
	uint8_t ips[4 * ROWS_MAX], entries[6 * ROWS_MAX];
	size_t count;
};

static void add(struct model *model, uint64_t code, int sp, int offset, unsigned kind)
{
	uint32_t distance = (uint32_t)(code - (PLACE + 4 * model->count));
	uint8_t *entry = model->entries + 6 * model->count;
	int16_t bp_offset = -16;

	for (int i = 0; i < 4; i++)
		model->ips[4 * model->count + (size_t)i] = (uint8_t)(distance >> (8 * i));
	entry[0] = (uint8_t)offset;
	entry[1] = (uint8_t)(offset >> 8);
	entry[2] = (uint8_t)bp_offset;
	entry[3] = (uint8_t)(bp_offset >> 8);
	entry[4] = (uint8_t)(sp | ORC_PREV_SP << 4);
	entry[5] = (uint8_t)kind;
	model->count++;
}

/* In memory of the exact size, so that reading on is caught. */
static struct orc_tables tables_of(const struct model *model)
{
	uint8_t *ips = malloc(4 * model->count + 1), *entries = malloc(6 * model->count + 1);

	assert_true(ips && entries);
	memcpy(ips, model->ips, 4 * model->count);
	memcpy(entries, model->entries, 6 * model->count);
	return (struct orc_tables) {
		.ips = ips, .ips_size = 4 * model->count,
		.entries = entries, .entries_size = 6 * model->count,
		.address = PLACE,
	};
}

static void drop(struct orc_tables *tables)
{
	free((uint8_t *)tables->ips);
	free((uint8_t *)tables->entries);
}

static struct orc *orc_of(const struct model *model)
{
	struct orc_tables tables = tables_of(model);
	struct orc *orc = orc_new(&tables, orc_format_of(&tables), NULL);

	drop(&tables);
	assert_non_null(orc);
	return orc;
}

static void check(const struct orc *orc, uint64_t address, struct orc_entry wanted)
{
	struct orc_entry entry;

	assert_true(orc_find(orc, address, &entry));
	assert_int_equal(entry.sp, wanted.sp);
	assert_int_equal(entry.sp_offset, wanted.sp_offset);
	assert_int_equal(entry.bp, ORC_PREV_SP);
	assert_int_equal(entry.bp_offset, -16);
	assert_int_equal(entry.type, wanted.type);
	assert_int_equal(entry.signal, wanted.signal);
}

static void the_format_of_5_x(void **state)
{
	struct model model = { .count = 0 };
	struct orc_entry entry;
	struct orc *orc;

	(void)state;
	add(&model, CODE, ORC_SP, 8, CALL_5_X);
	add(&model, CODE + 1, ORC_SP, 16, CALL_5_X);
	add(&model, CODE + 0x20, ORC_UNDEFINED, 0, CALL_5_X);
	add(&model, CODE + 0x30, ORC_SP, -8, REGS_5_X);
	add(&model, CODE + 0x40, ORC_SP_INDIRECT, 0, PARTIAL_5_X);
	add(&model, CODE + 0x50, ORC_UNDEFINED, 0, CALL_5_X | END_5_X);
	orc = orc_of(&model);
	assert_int_equal(orc_format(orc), ORC_5_X);
	assert_false(orc_find(orc, CODE - 1, &entry));
	check(orc, CODE, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 8, .type = ORC_TYPE_CALL });
	check(orc, CODE + 1, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 16, .type = ORC_TYPE_CALL });
	check(orc, CODE + 0x1f, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 16, .type = ORC_TYPE_CALL });
	check(orc, CODE + 0x20, (struct orc_entry) { .type = ORC_TYPE_UNDEFINED });
	check(orc, CODE + 0x30, (struct orc_entry) {
		.sp = ORC_SP, .sp_offset = -8, .type = ORC_TYPE_REGS, .signal = true,
	});
	check(orc, CODE + 0x40, (struct orc_entry) {
		.sp = ORC_SP_INDIRECT, .type = ORC_TYPE_REGS_PARTIAL, .signal = true,
	});
	check(orc, UINT64_MAX, (struct orc_entry) { .type = ORC_TYPE_END });
	orc_free(orc);
}

static void the_format_of_6_3(void **state)
{
	struct model model = { .count = 0 };
	struct orc *orc;

	(void)state;
	add(&model, CODE, ORC_SP, 8, CALL_6_3);
	add(&model, CODE + 0x10, ORC_SP, 0, REGS_6_3 | SIGNAL_6_3);
	add(&model, CODE + 0x20, ORC_UNDEFINED, 0, END_6_3);
	add(&model, CODE + 0x30, ORC_BP, 16, CALL_6_3);
	orc = orc_of(&model);
	assert_int_equal(orc_format(orc), ORC_6_3);
	check(orc, CODE + 0x10, (struct orc_entry) { .sp = ORC_SP, .type = ORC_TYPE_REGS, .signal = true });
	check(orc, CODE + 0x20, (struct orc_entry) { .type = ORC_TYPE_END });
	check(orc, CODE + 0x30, (struct orc_entry) { .sp = ORC_BP, .sp_offset = 16, .type = ORC_TYPE_CALL });
	orc_free(orc);
}

static void the_format_of_6_4(void **state)
{
	struct model model = { .count = 0 };
	struct orc *orc;

	(void)state;
	add(&model, CODE, ORC_SP, 8, CALL_6_4);
	add(&model, CODE + 0x10, ORC_UNDEFINED, 0, UNDEFINED_6_4);
	add(&model, CODE + 0x20, ORC_UNDEFINED, 0, END_6_4);
	add(&model, CODE + 0x30, ORC_SP, 0, REGS_6_4 | SIGNAL_6_4);
	add(&model, CODE + 0x40, ORC_R10, 0, PARTIAL_6_4);
	add(&model, CODE + 0x50, ORC_BP_INDIRECT, -8, CALL_6_4);
	add(&model, CODE + 0x60, ORC_SP, 24, CALL_6_4);
	add(&model, CODE + 0x70, ORC_SP, 0, 7);
	orc = orc_of(&model);
	assert_int_equal(orc_format(orc), ORC_6_4);
	check(orc, CODE, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 8, .type = ORC_TYPE_CALL });
	check(orc, CODE + 0x10, (struct orc_entry) { .type = ORC_TYPE_UNDEFINED });
	check(orc, CODE + 0x20, (struct orc_entry) { .type = ORC_TYPE_END });
	check(orc, CODE + 0x30, (struct orc_entry) { .sp = ORC_SP, .type = ORC_TYPE_REGS, .signal = true });
	check(orc, CODE + 0x40, (struct orc_entry) { .sp = ORC_R10, .type = ORC_TYPE_REGS_PARTIAL });
	check(orc, CODE + 0x50, (struct orc_entry) {
		.sp = ORC_BP_INDIRECT, .sp_offset = -8, .type = ORC_TYPE_CALL,
	});
	check(orc, CODE + 0x70, (struct orc_entry) { .sp = ORC_SP, .type = ORC_TYPE_UNDEFINED });
	orc_free(orc);
}

/* A module's table is sorted only when it is loaded. Of two entries at one address, the later one counts. */
static void tables_need_no_order(void **state)
{
	struct model model = { .count = 0 };
	struct orc *orc;

	(void)state;
	add(&model, CODE + 0x20, ORC_SP, 24, CALL_5_X);
	add(&model, CODE + 0x10, ORC_UNDEFINED, 0, CALL_5_X);
	add(&model, CODE + 0x10, ORC_SP, 16, CALL_5_X);
	add(&model, CODE, ORC_SP, 8, CALL_5_X);
	orc = orc_of(&model);
	check(orc, CODE + 0xf, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 8, .type = ORC_TYPE_CALL });
	check(orc, CODE + 0x10, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 16, .type = ORC_TYPE_CALL });
	check(orc, CODE + 0x2f, (struct orc_entry) { .sp = ORC_SP, .sp_offset = 24, .type = ORC_TYPE_CALL });
	orc_free(orc);
}

static void what_is_no_table_is_refused(void **state)
{
	struct model model = { .count = 0 };
	struct orc_tables tables = tables_of(&model);

	(void)state;
	assert_null(orc_new(&tables, ORC_5_X, NULL));
	drop(&tables);
	add(&model, CODE, ORC_SP, 8, CALL_5_X);
	add(&model, CODE + 0x20, ORC_SP, 8, CALL_5_X);
	tables = tables_of(&model);
	tables.ips_size -= 4;
	assert_null(orc_new(&tables, ORC_5_X, NULL));
	tables.ips_size += 4;
	drop(&tables);
	orc_free(NULL);
}

static void who_wraps_around_is_no_kernel(void **state)
{
	struct model model = { .count = 0 };
	struct orc_tables tables;

	(void)state;
	add(&model, PLACE - 0x2000, ORC_SP, 8, CALL_5_X);
	add(&model, PLACE + 0x2000, ORC_SP, 8, CALL_5_X);
	tables = tables_of(&model);
	tables.address = 0x1000;
	assert_null(orc_new(&tables, ORC_5_X, NULL));
	drop(&tables);
}

static void a_thunk_has_its_caller_on_the_stack(void **state)
{
	struct orc_entry entry;

	(void)state;
	for (uint64_t thunk = 0; thunk < 16; thunk++) {
		assert_true(orc_of_thunk(32 * thunk, &entry));
		assert_int_equal(entry.type, ORC_TYPE_CALL);
		assert_int_equal(entry.sp_offset, 8);
		assert_true(orc_of_thunk(32 * thunk + 6, &entry));
		assert_int_equal(entry.sp, ORC_SP);
		assert_int_equal(entry.sp_offset, 16);
		assert_false(orc_of_thunk(32 * thunk + 5, &entry));
	}
	assert_false(orc_of_thunk(32 * 16, &entry));
	assert_false(orc_of_thunk((uint64_t)-32, &entry));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_of_5_x),
		cmocka_unit_test(the_format_of_6_3),
		cmocka_unit_test(the_format_of_6_4),
		cmocka_unit_test(tables_need_no_order),
		cmocka_unit_test(what_is_no_table_is_refused),
		cmocka_unit_test(who_wraps_around_is_no_kernel),
		cmocka_unit_test(a_thunk_has_its_caller_on_the_stack),
	};

	return cmocka_run_group_tests_name("orc", tests, NULL, NULL);
}
