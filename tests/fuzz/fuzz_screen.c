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
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"
#include "fuzz.h"

enum { FUNCTIONS = 40, CPUS = 4096 / 16 };

static void take_text(struct fuzz_input *input, char *to, size_t size)
{
	const uint8_t *bytes;
	size_t length;

	if (input_piece(input, &bytes, &length))
		snprintf(to, size, "%.*s", (int)length, (const char *)bytes);
}

static void take_state(struct fuzz_input *input, struct answers *answers)
{
	uint64_t number = (uint64_t)input_byte(input) << (input_byte(input) % 48);

	answers->vitals->vm = (enum vm_state)(input_byte(input) % (VM_GONE + 1));
	answers->vitals->link = (enum link_state)(input_byte(input) % (LINK_LOST + 1));
	answers->vitals->running = input_byte(input) & 1;
	answers->vitals->sampler = (enum sampler)(input_byte(input) % 4);
	answers->vitals->rate = (uint32_t)number;
	answers->vitals->achieved = answers->vitals->cost_ns = (double)number;
	answers->vitals->lost_guest = answers->vitals->skipped_bytes = number;
	answers->vitals->now = 10 * NS_PER_SECOND + number;
	answers->vitals->cpu_count = (uint32_t)input_byte(input) * CPUS / 16;
	answers->vitals->cpus = util_alloc(answers->vitals->cpu_count * sizeof(*answers->vitals->cpus));
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++)
		answers->vitals->cpus[i].series.mode[i % MODES] = answers->vitals->cpus[i].series.missed = number;
}

static void take_functions(struct fuzz_input *input, struct answers *answers, struct symbols *symbols)
{
	struct table *table = table_new(NULL, FUNCTIONS, 16);
	char name[1024] = "";

	table->from = answers->vitals->now - 10 * NS_PER_SECOND;
	table->to = answers->vitals->now;
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
	answers->functions->table = table;
}

/* All functions have the same source line. */
static void show_lines(struct answers *answers, const char *line)
{
	answers->functions->visible = util_alloc((answers->functions->table->count + 1) *
		sizeof(*answers->functions->visible));
	for (size_t i = 0; i < answers->functions->table->count; i++)
		answers->functions->visible[answers->functions->visible_count++] = (struct function_row) {
			.function = answers->functions->table->rows[i].function, .trend = { i, 2 * i }, .line = line,
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

		tabs_input(tabs, &input, NS_PER_SECOND);
		tabs_step(tabs, NS_PER_SECOND);
		draw(tabs, rows, columns, input.code & 1);
	}
}

static struct answers *new_answers(const struct symbols *symbols)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));
	struct function_table *functions = util_alloc(sizeof(*functions));

	vitals->answer = (struct answer) { .kind = &vitals_kind, .symbols = symbols };
	functions->answer = (struct answer) { .kind = &function_table_kind, .symbols = symbols };
	return answers_new(&vitals->answer, &functions->answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct symbols *symbols = symbols_new(NULL);
	struct answers *answers = new_answers(symbols);
	struct session session = { .next = answers }, other = { .next = NULL };
	const struct tabs_machine machines[] = { { &session, "one", NULL }, { &other, "other", NULL } };
	bool many = size & 1;
	char keys[32] = "", line[256] = "";
	struct config config;
	struct tabs *tabs;
	int rows = input_byte(&input) % 70, columns = input_byte(&input);

	require_memory(setlocale(LC_CTYPE, "C.UTF-8"));
	config_init(&config);
	config.keys.tabs = many;
	take_state(&input, answers);
	take_text(&input, answers->vitals->kernel, sizeof(answers->vitals->kernel));
	take_text(&input, answers->vitals->version, sizeof(answers->vitals->version));
	take_text(&input, answers->vitals->arch, sizeof(answers->vitals->arch));
	take_text(&input, answers->vitals->note, sizeof(answers->vitals->note));
	take_text(&input, session.message.text, sizeof(session.message.text));
	take_text(&input, keys, sizeof(keys));
	take_text(&input, line, sizeof(line));
	take_functions(&input, answers, symbols);
	show_lines(answers, line);
	memcpy(answers->vitals->name, answers->vitals->kernel, sizeof(answers->vitals->name));
	memcpy(answers->functions->kernel, answers->vitals->kernel, sizeof(answers->functions->kernel));
	session.next = NULL;
	tabs = tabs_new(machines, many ? 2 : 1, NULL, &config);
	draw(tabs, 24, 80, true);			/* a first drawing, so that the screen asks for what it shows */
	session.next = answers;
	tabs_step(tabs, NS_PER_SECOND);
	draw(tabs, rows, columns, true);
	draw(tabs, rows, columns, false);
	press(tabs, keys, rows, columns);
	tabs_free(tabs);
	answers_free(session.next);
	symbols_free(symbols);
	return 0;
}
