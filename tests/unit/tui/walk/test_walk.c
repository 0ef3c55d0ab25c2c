/* SPDX-License-Identifier: MIT */
/* 100,000 random steps, with one machine and with several. walk.h says what is compared with what. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/report/report.h"
#include "agent/report/report_parts.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "walk.h"

enum { STEPS = 100000, NUMBERS_EVERY = 80 };

/* Their addresses begin at BASE of walk_guest.c. */
static const char *const names[WALK_FUNCTIONS] = { "alpha_spin", "beta_copy", "gamma_alloc",
	"delta_free", "epsilon_read", "zeta_write", "eta_fault", "theta_hash", "iota_sort",
	"kappa_tick", "lambda_idle", "mu_entry" };

/* ---- in place of a session: there are no books, nobody gives up, and no report waits ---- */

const atomic_bool *session_given_up(const struct session *session)
{
	(void)session;
	return NULL;
}

bool report_is_late(const struct report *report)
{
	(void)report;
	return false;
}

void report_note(struct report *report, const char *what, const char *why)
{
	(void)report;
	(void)what;
	(void)why;
}

/* ---- the walk ---- */

static struct tally all;		/* of all walks */

static char *write_symbols(void)
{
	char *text = util_copy("", 0), *path;

	for (unsigned i = 0; i < WALK_FUNCTIONS; i++) {
		char *more = util_format("%sffffffff80100%x00 T %s\n", text, i, names[i]);

		free(text);
		text = more;
	}
	path = util_format("%s", scratch_text("walk.map", text));
	free(text);
	return path;
}

static void guest_init(struct walk *walk, size_t i)
{
	static const struct decode_sink sink = { .context = NULL };
	struct walk_guest *guest = &walk->guests[i];

	snprintf(guest->name, sizeof(guest->name), "guest%u", (unsigned)i + 1);
	guest->decode = decode_new(&sink);
	guest->link = LINK_UP;
	guest->vm = VM_RUNNING;
	guest_boot(walk, guest);
}

static struct walk *walk_new(uint64_t seed, size_t machines)
{
	struct walk *walk = util_alloc(sizeof(*walk));
	struct tabs_machine sessions[WALK_MACHINES];

	walk->random.state = seed;
	walk->piece = "";
	walk->symbols = write_symbols();
	walk->machines = machines;
	walk->pages = machines > 1 ? machines + 1 : 1;
	config_init(&walk->config);
	walk->config.keys.tabs = machines > 1;
	for (size_t i = 0; i < machines; i++) {
		guest_init(walk, i);
		sessions[i] = (struct tabs_machine) {
			.session = &walk->guests[i].session, .label = walk->guests[i].name,
		};
	}
	for (size_t i = 0; i < walk->pages; i++)
		walk->models[i] = (struct model) { .place.window_ns = 10 * NS_PER_SECOND,
			.table.sort = walk->config.sort,
			.tables[WALK_THREADS].by = GROUP_THREAD };
	walk->tabs = tabs_new(sessions, machines, NULL, &walk->config);
	walk->now = util_now();			/* not before that of the tabs, however long all this took */
	walk->canvas = canvas_new(WALK_TALL, WALK_WIDE, true);
	return walk;
}

static void walk_free(struct walk *walk)
{
	tabs_free(walk->tabs);
	canvas_free(walk->canvas);
	for (size_t i = 0; i < walk->machines; i++)
		guest_clear(&walk->guests[i]);
	free(walk->symbols);
	free(walk);
}

/* Draws and checks after two steps in three. If the cursor's place is not known, it is looked up at once. */
static void look(struct walk *walk)
{
	model_follow(walk_model(walk));
	if (!walk_model(walk)->table.cursor.lost && random_below(&walk->random, 3) == 0)
		return;
	walk_draw(walk);
	walk_check(walk);
	walk_check_orders(walk);
}

static long all_steps(void)
{
	if (getenv("STEPS"))
		return strtol(getenv("STEPS"), NULL, 10);
	return (int)quick_part(STEPS, 10);
}

/* SEED=N takes another walk than the usual one; STEPS=N sets its length. `make unit-quick` sets QUICK: a tenth. */
static void go(size_t machines, long share)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 1;
	long steps = all_steps() * share / 100;
	struct walk *walk = walk_new(seed ? seed : 1, machines);

	walk_draw(walk);
	for (walk->step = 0; walk->step < steps; walk->step++) {
		walk->now += NS_PER_SECOND / 50;
		walk_do_something(walk);
		look(walk);
		if (walk->step % NUMBERS_EVERY == 0)
			walk_check_numbers(walk);
	}
	tally_add(&all, &walk->tally);
	walk_free(walk);
}

static void test_one_machine(void **state)
{
	(void)state;
	go(1, 50);
}

static void test_two_machines(void **state)
{
	(void)state;
	go(2, 25);
}

static void test_three_machines(void **state)
{
	(void)state;
	go(3, 25);
}

/* A short walk does not come by everything. */
static void test_all_was_seen(void **state)
{
	(void)state;
	if (all_steps() >= STEPS)
		tally_check(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine),
		cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_three_machines),
		cmocka_unit_test(test_all_was_seen),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
