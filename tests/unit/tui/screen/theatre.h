/* SPDX-License-Identifier: MIT */
/* Tabs on a terminal, with a stage for each machine. */
#ifndef THEATRE_H
#define THEATRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"

enum { MACHINES = 3 };

/* Three machines in tabs. Answers over all are due when the clock has moved. */
struct theatre {
	struct session sessions[MACHINES];
	struct symbols *symbols[MACHINES];
	uint32_t functions[MACHINES][HAND_FUNCTIONS];
	struct config config;
	struct tabs *tabs;
	struct canvas *canvas;
	uint64_t now;
};

static inline void draw(struct theatre *theatre)
{
	theatre->now += NS_PER_SECOND;
	tabs_step(theatre->tabs, theatre->now);
	tabs_draw(theatre->tabs, theatre->canvas);
}

static inline void resize(struct theatre *theatre, int rows, int columns, bool unicode)
{
	canvas_free(theatre->canvas);
	theatre->canvas = canvas_new(rows, columns, unicode);
	tabs_draw(theatre->tabs, theatre->canvas);
}

static inline void open_theatre(struct theatre *theatre, size_t count)
{
	static const char *const labels[MACHINES] = { "web", "db", "mail" };
	struct tabs_machine machines[MACHINES];

	*theatre = (struct theatre) { .now = util_now() };
	config_init(&theatre->config);
	theatre->config.keys.tabs = count > 1;
	for (size_t i = 0; i < count; i++) {
		theatre->symbols[i] = hand_symbols(theatre->functions[i]);
		machines[i] = (struct tabs_machine) { .session = &theatre->sessions[i], .label = labels[i] };
	}
	theatre->tabs = tabs_new(machines, count, NULL, &theatre->config);
	resize(theatre, 24, 80, true);
}

static inline void close_theatre(struct theatre *theatre)
{
	tabs_free(theatre->tabs);
	canvas_free(theatre->canvas);
	for (int i = 0; i < MACHINES; i++) {
		answers_free(theatre->sessions[i].next);
		symbols_free(theatre->symbols[i]);
	}
}

/* What this machine's session answers next, to the reader that asks. */
static inline struct answers *give(struct theatre *theatre, int machine)
{
	struct session *session = &theatre->sessions[machine];
	struct answers *answers =
		hand_answers(theatre->symbols[machine], theatre->functions[machine]);

	answers->vitals->now += (uint64_t)machine * 1000 * NS_PER_SECOND;
	snprintf(answers->vitals->kernel, sizeof(answers->vitals->kernel), "kernel-%d", machine);
	strcpy(answers->functions->kernel, answers->vitals->kernel);
	answers_free(session->next);
	session->next = answers;
	return answers;
}

static inline void give_all(struct theatre *theatre)
{
	for (int i = 0; i < MACHINES; i++)
		give(theatre, i);
	draw(theatre);
}

static inline void press(struct theatre *theatre, uint32_t code)
{
	struct input input = { .kind = INPUT_KEY, .code = code };

	assert_int_equal(tabs_input(theatre->tabs, &input, theatre->now), SCREEN_NOTHING);
	draw(theatre);
}

static inline void holds(struct theatre *theatre, const char *wanted, bool there)
{
	char *text;

	tabs_draw(theatre->tabs, theatre->canvas);
	text = canvas_dump(theatre->canvas);
	if (!strstr(text, wanted) == there)
		fail_msg("\"%s\" is %s in\n%s", wanted, there ? "not" : "there", text);
	free(text);
}

#endif
