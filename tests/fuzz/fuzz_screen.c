/* SPDX-License-Identifier: MIT */
/*
 * Puts texts on the screen that a guest, its files and QEMU could bring there, past all stages that make texts
 * harmless: the canvas alone must do it. The first bytes are the state and the size. Then come pieces that end before a
 * zero byte: the guest's kernel, version and architecture, a note, a message, keys that are pressed, a place in the
 * source, and names of functions. With an odd number of bytes there are two machines, and the screen is that over all.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "kernel-hook/hotkeys.h"
#include "tests/unit/fakes/fake_session.h"
#include "tests/unit/fakes/picture.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tui/screen/machine.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/views/config.h"
#include "fuzz.h"

#define SECOND UINT64_C(1000000000)

enum { FUNCTIONS = 40, CPUS = 4096 / 16 };

static void take_text(struct fuzz_input *input, char *to, size_t size)
{
	const uint8_t *bytes;
	size_t length;

	if (input_piece(input, &bytes, &length))
		snprintf(to, size, "%.*s", (int)length, (const char *)bytes);
}

static void take_state(struct fuzz_input *input, struct picture *picture)
{
	uint64_t number = (uint64_t)input_byte(input) << (input_byte(input) % 48);

	picture->vitals->vm = (enum vm_state)(input_byte(input) % (VM_GONE + 1));
	picture->vitals->link = (enum link_state)(input_byte(input) % (LINK_LOST + 1));
	picture->vitals->running = input_byte(input) & 1;
	picture->vitals->sampler = (enum sampler)(input_byte(input) % 4);
	picture->vitals->rate = (uint32_t)number;
	picture->vitals->achieved = picture->vitals->cost_ns = (double)number;
	picture->vitals->lost_guest = picture->vitals->skipped_bytes = number;
	picture->vitals->now = 10 * SECOND + number;
	picture->vitals->cpu_count = (uint32_t)input_byte(input) * CPUS / 16;
	picture->vitals->cpus = util_alloc(picture->vitals->cpu_count * sizeof(*picture->vitals->cpus));
	for (uint32_t i = 0; i < picture->vitals->cpu_count; i++)
		picture->vitals->cpus[i].series.mode[i % MODES] = picture->vitals->cpus[i].series.missed = number;
}

static void take_functions(struct fuzz_input *input, struct picture *picture, struct symbols *symbols)
{
	struct table *table = table_new(NULL, FUNCTIONS, 16);
	char name[1024] = "";

	table->from = picture->vitals->now - 10 * SECOND;
	table->to = picture->vitals->now;
	while (input->left > 0 && table->count < FUNCTIONS) {
		struct row *row;

		take_text(input, name, sizeof(name));
		row = table_add(table, symbols_special(symbols, name));
		row->self = row->total = row->samples = input->left;
		memcpy(row->cpus, name, table->words * sizeof(*row->cpus));
		table->weight += row->self;
		table->mode[MODE_KERNEL] = table->weight;
	}
	table->samples = table->weight;
	picture->functions->table = table;
}

/* All functions have the same source line. */
static void show_lines(struct picture *picture, const char *line)
{
	picture->functions->visible = util_alloc((picture->functions->table->count + 1) *
		sizeof(*picture->functions->visible));
	for (size_t i = 0; i < picture->functions->table->count; i++)
		picture->functions->visible[picture->functions->visible_count++] = (struct function_row) {
			.function = picture->functions->table->rows[i].function, .trend = { i, 2 * i }, .line = line,
		};
}

static void draw(struct tabs *tabs, int rows, int columns, bool unicode)
{
	struct canvas *canvas = canvas_new(rows, columns, unicode);

	tabs_draw(tabs, canvas);
	require(!safe_canvas(canvas));
	canvas_free(canvas);
}

/* Bytes above ASCII are keys without a character, and characters that combine. */
static uint32_t key_of(unsigned char byte)
{
	if (byte < 0x80)
		return byte;
	return byte < 0xc0 ? KEYS_UP + byte % 32u : 0x300u + byte % 64u;
}

static void press(struct tabs *tabs, const char *keys, int rows, int columns)
{
	for (; *keys != '\0'; keys++) {
		struct input input = { .kind = INPUT_KEY, .code = key_of((unsigned char)*keys) };

		tabs_input(tabs, &input, SECOND);
		tabs_step(tabs, SECOND);
		draw(tabs, rows, columns, input.code & 1);
	}
}

static struct picture *new_picture(const struct symbols *symbols)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));
	struct function_table *functions = util_alloc(sizeof(*functions));

	vitals->answer = (struct answer) { .kind = &vitals_kind, .symbols = symbols };
	functions->answer = (struct answer) { .kind = &function_table_kind, .symbols = symbols };
	return picture_new(&vitals->answer, &functions->answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct symbols *symbols = symbols_new(NULL);
	struct picture *picture = new_picture(symbols);
	struct session session = { .next = picture }, other = { .next = NULL };
	const struct tabs_machine machines[] = { { &session, "one" }, { &other, "other" } };
	bool many = size & 1;
	char keys[32] = "", line[256] = "";
	struct config config;
	struct tabs *tabs;
	int rows = input_byte(&input) % 70, columns = input_byte(&input);

	require_memory(setlocale(LC_CTYPE, "C.UTF-8"));
	config_init(&config);
	config.keys.tabs = many;
	take_state(&input, picture);
	take_text(&input, picture->vitals->kernel, sizeof(picture->vitals->kernel));
	take_text(&input, picture->vitals->version, sizeof(picture->vitals->version));
	take_text(&input, picture->vitals->arch, sizeof(picture->vitals->arch));
	take_text(&input, picture->vitals->note, sizeof(picture->vitals->note));
	take_text(&input, session.message.text, sizeof(session.message.text));
	take_text(&input, keys, sizeof(keys));
	take_text(&input, line, sizeof(line));
	take_functions(&input, picture, symbols);
	show_lines(picture, line);
	memcpy(picture->vitals->name, picture->vitals->kernel, sizeof(picture->vitals->name));
	memcpy(picture->functions->kernel, picture->vitals->kernel, sizeof(picture->functions->kernel));
	session.next = NULL;
	tabs = tabs_new(machines, many ? 2 : 1, NULL, &config);
	draw(tabs, 24, 80, true);			/* a first drawing, so that the screen asks for what it shows */
	session.next = picture;
	tabs_step(tabs, SECOND);
	draw(tabs, rows, columns, true);
	draw(tabs, rows, columns, false);
	press(tabs, keys, rows, columns);
	tabs_free(tabs);
	picture_free(session.next);
	symbols_free(symbols);
	return 0;
}
