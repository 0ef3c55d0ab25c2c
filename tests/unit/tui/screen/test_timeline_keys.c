/* SPDX-License-Identifier: MIT */
/*
 * What keys and the mouse do in Timeline, and what T in other views asks it for. The answers are real: they come from
 * an epoch whose switches, wakes and locks are known to the ns.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/answers/timeline.h"
#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/trace_give.h"
#include "tui/screen/screen.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "stage.h"

enum { CPUS = 2, ROUNDS = 3, STEPS_MOST = 64, CELLS_UP = 8 };
enum { MAIN = 1, WRITER, READER, LEFT, RIGHT, THREADS };	/* numbers of threads */
enum { INODE = 7, PORT = 8, STARBOARD = 9, IRQ = 4 };

#define BEGAN (10 * NS_PER_SECOND)
#define AT(ms) (BEGAN + NS_PER_MS * (ms))
#define NOW AT(1000)

struct world {
	struct stage stage;
	struct trace_kinds *kinds;
	struct epoch *epoch;
	struct decode *decode;
	struct meter meter;
};

/* ---- the guest ---- */

static void run(struct world *world, uint32_t cpu, uint64_t ms, uint32_t from, uint32_t to, uint8_t leaves)
{
	TRACE_GIVE(world, cpu, AT(ms), sched_switch, .from = from ? from : EVENT_NONE, .to = to ? to : EVENT_NONE,
		.leaves = leaves);
}

static struct text text_of(const char *text)
{
	return (struct text) { text, strlen(text) };
}

static void tell(struct world *world)
{
	static const char *const names[THREADS] = {
		[MAIN] = "main", [WRITER] = "writer", [READER] = "reader", [LEFT] = "left", [RIGHT] = "right",
	};
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = { .cpus = CPUS,
		.clock_hz = NS_PER_SECOND, .kernel = text_of("known"), .arch = text_of("x86_64") } };
	const struct event status = { .kind = EVENT_STATUS, .time = 1, .status = {
		.running = true, .rate = 100, .sampler_cpu = EVENT_NONE } };

	epoch_events(world->epoch, &guest, 1);
	epoch_events(world->epoch, &status, 1);
	for (uint32_t i = MAIN; i < THREADS; i++)
		epoch_events(world->epoch, &(struct event) { .kind = EVENT_THREAD, .time = 1,
			.thread = { i, EVENT_KERNEL, text_of(names[i]) } }, 1);
	for (uint32_t i = 0; i < 2 * CPUS; i++)
		epoch_events(world->epoch, &(struct event) { .kind = EVENT_CPU_STATUS, .time = 1, .cpu_status = {
			.cpu = i / 2, .stream = i % 2 ? STREAM_TRACE : STREAM_SAMPLES, .enabled = true,
			.size = 4096 } }, 1);
}

/* Both CPUs are sampled from long before on. */
static void take_samples(struct world *world)
{
	for (uint64_t time = BEGAN / 2; time < NOW; time += 10 * NS_PER_MS)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			epoch_events(world->epoch, &(struct event) { .kind = EVENT_SAMPLE, .cpu = cpu, .time = time,
				.sample = { .process = EVENT_KERNEL, .thread = cpu ? MAIN : WRITER,
				.mode = MODE_KERNEL, .weight = 1 } }, 1);
}

/* "main" waits for a lock of "writer"; then "reader", woken by an interrupt, wakes it. */
static void wait_and_wake(struct world *world)
{
	run(world, 0, 0, 0, WRITER, 0);
	run(world, 1, 0, 0, MAIN, 0);
	TRACE_GIVE(world, 0, AT(10), lock_acquired, INODE, WRITER);
	TRACE_GIVE(world, 1, AT(20), lock_wait, INODE, MAIN, WRITER);
	run(world, 1, 21, MAIN, 0, LEAVES_BLOCKED);
	TRACE_GIVE(world, 0, AT(60), lock_released, INODE, WRITER);
	TRACE_GIVE(world, 0, AT(60), lock_acquired, INODE, MAIN);
	TRACE_GIVE(world, 0, AT(60), sched_wake, MAIN, WRITER);
	run(world, 1, 61, 0, MAIN, 0);
	TRACE_GIVE(world, 1, AT(80), lock_released, INODE, MAIN);
	run(world, 1, 100, MAIN, READER, LEAVES_ASLEEP);
	run(world, 1, 110, READER, 0, LEAVES_ASLEEP);
	TRACE_GIVE(world, 0, AT(130), irq_enter, IRQ);
	TRACE_GIVE(world, 0, AT(130), sched_wake, READER, EVENT_NONE);
	TRACE_GIVE(world, 0, AT(131), irq_exit, IRQ);
	run(world, 1, 132, 0, READER, 0);
	TRACE_GIVE(world, 1, AT(140), sched_wake, MAIN, READER);
	run(world, 1, 150, READER, MAIN, LEAVES_ASLEEP);
	run(world, 0, 160, WRITER, 0, LEAVES_ASLEEP);
}

/* "left" and "right" wait for a lock of each other, until "left" gives up. Later they wake each other, three times. */
static void go_around(struct world *world)
{
	run(world, 0, 200, 0, LEFT, 0);
	run(world, 1, 200, MAIN, RIGHT, LEAVES_ASLEEP);
	TRACE_GIVE(world, 0, AT(205), lock_acquired, PORT, LEFT);
	TRACE_GIVE(world, 1, AT(205), lock_acquired, STARBOARD, RIGHT);
	TRACE_GIVE(world, 0, AT(210), lock_wait, STARBOARD, LEFT, RIGHT);
	TRACE_GIVE(world, 1, AT(210), lock_wait, PORT, RIGHT, LEFT);
	TRACE_GIVE(world, 0, AT(300), lock_waited, STARBOARD, LEFT, 0);
	TRACE_GIVE(world, 0, AT(302), lock_released, PORT, LEFT);
	TRACE_GIVE(world, 1, AT(302), lock_acquired, PORT, RIGHT);
	TRACE_GIVE(world, 1, AT(310), lock_released, PORT, RIGHT);
	TRACE_GIVE(world, 1, AT(310), lock_released, STARBOARD, RIGHT);
	run(world, 0, 320, LEFT, 0, LEAVES_ASLEEP);
	TRACE_GIVE(world, 1, AT(325), sched_wake, LEFT, RIGHT);
	run(world, 0, 326, 0, LEFT, 0);
	run(world, 1, 330, RIGHT, 0, LEAVES_ASLEEP);
	TRACE_GIVE(world, 0, AT(335), sched_wake, RIGHT, LEFT);
	run(world, 1, 336, 0, RIGHT, 0);
	run(world, 0, 340, LEFT, 0, LEAVES_ASLEEP);
	TRACE_GIVE(world, 1, AT(345), sched_wake, LEFT, RIGHT);
	run(world, 0, 346, 0, LEFT, 0);
	run(world, 0, 400, LEFT, 0, LEAVES_ASLEEP);
	run(world, 1, 400, RIGHT, 0, LEAVES_ASLEEP);
}

/* ---- the screen ---- */

static void answer(struct world *world)
{
	const struct moment moment = { .epoch = world->epoch, .decode = world->decode, .meter = &world->meter,
		.link = LINK_UP, .vm = VM_RUNNING, .trouble = "" };

	for (int i = 0; i < ROUNDS; i++) {
		fake_give(&world->stage.session, &moment);
		screen_step(world->stage.screen, world->stage.now);
		screen_draw(world->stage.screen, world->stage.canvas);
	}
}

static void press(struct world *world, uint32_t code)
{
	stage_press(&world->stage, code);
	answer(world);
}

static void type(struct world *world, const char *keys)
{
	for (; *keys; keys++)
		press(world, *keys == '\n' ? KEYS_ENTER : (unsigned char)*keys);
}

static void begin(struct world *world)
{
	static const struct decode_sink sink = { .context = NULL };
	const uint8_t id[16] = { 1 };

	*world = (struct world) { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL),
		.decode = decode_new(&sink) };
	world->epoch->number = 1;
	tell(world);
	take_samples(world);
	wait_and_wake(world);
	go_around(world);
	for (uint32_t i = 0; i <= CPUS; i++)
		epoch_packet(world->epoch, &(struct packet) {
			.stream = STREAM_TRACE, .cpu = i % CPUS, .begin = NOW, .end = NOW });
	epoch_ticks(world->epoch, NOW);
	stage_raise(&world->stage, NULL);
	stage_resize(&world->stage, 40, 200, true);
	answer(world);
}

static void end(struct world *world)
{
	stage_strike(&world->stage);
	decode_free(world->decode);
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
}

static void holds(struct world *world, const char *wanted)
{
	stage_holds(&world->stage, wanted, true);
}

/* What Timeline asks for. */
static const struct timeline_request *asked(const struct world *world)
{
	assert_true(world->stage.session.viewed == &timeline_kind);
	return &world->stage.session.timeline;
}

static uint64_t end_of(const struct excerpt *excerpt)
{
	return (uint64_t)((int64_t)excerpt->until_ns - excerpt->back_ns);
}

static uint64_t begin_of(const struct world *world)
{
	const struct excerpt *excerpt = &asked(world)->request.excerpt;

	return end_of(excerpt) - excerpt->window_ns;
}

static void check_window(const struct world *world, uint64_t from, uint64_t to)
{
	const struct excerpt *excerpt = &asked(world)->request.excerpt;

	assert_int_equal(end_of(excerpt), to);
	assert_int_equal(excerpt->window_ns, to - from);
}

static void check_cursor(const struct world *world, uint32_t thread, uint64_t at)
{
	assert_int_equal(asked(world)->of_cpu, 0);
	assert_int_equal(asked(world)->of, thread);
	assert_int_equal(asked(world)->at, at);
}

/* Timeline at the longest wait of this lock, or the like: half of that before and behind it. */
static void go_to_longest(struct world *world, const char *row)
{
	char mark[64];

	type(world, "7/");
	type(world, row);
	press(world, KEYS_ENTER);
	holds(world, util_print(mark, sizeof(mark), "\n> %s ", row));
	type(world, "T");
}

/* Timeline at the end of all, of this thread. */
static void go_to_thread(struct world *world, const char *row)
{
	char mark[64];

	type(world, "5/");
	type(world, row);
	press(world, KEYS_ENTER);
	type(world, "T");
	holds(world, util_print(mark, sizeof(mark), "> %s", row));
}

/* ---- T ---- */

static void test_t_of_an_event(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	check_window(&world, AT(0), AT(80) + 1);
	check_cursor(&world, MAIN, AT(20));
	assert_int_equal(asked(&world)->focus, MAIN);
	holds(&world, "> main/1");
	holds(&world, "main/1 runs on cpu1 from 00:00:10.000000 for 21.0ms; waits for lock 7 for 40.0ms, held by "
		"writer/2");
	end(&world);
}

/* The cell that Heat's line below tells of is the window; the cursor is at its beginning, on the first row. */
static void test_t_of_a_cell(void **state)
{
	const struct excerpt *excerpt;
	struct world world;

	(void)state;
	begin(&world);
	type(&world, "4");
	for (int i = 0; i < CELLS_UP; i++)
		press(&world, KEYS_UP);
	holds(&world, "\n 0.04s at 00:00:10.68: busy CPUs");
	type(&world, "T");
	excerpt = &asked(&world)->request.excerpt;
	assert_true(excerpt->moved);
	check_window(&world, AT(680), AT(720));
	assert_int_equal(asked(&world)->at, AT(680));
	assert_int_equal(asked(&world)->focus, EVENT_NONE);
	holds(&world, "\n> cpu0");
	end(&world);
}

/* The window stays as it is, also one that is live. */
static void test_t_of_a_thread(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_thread(&world, "writer/2");
	assert_int_equal(asked(&world)->request.excerpt.until_ns, 0);
	assert_int_equal(asked(&world)->focus, WRITER);
	assert_int_equal(asked(&world)->of, WRITER);
	holds(&world, "writer/2 sleeps from 00:00:10.160000 for 840ms so far");
	end(&world);
}

/* The slowest of a row have moments of their own. */
static void test_t_of_the_slowest(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	type(&world, "7/irq 4\n\n");
	holds(&world, "the slowest of irq 4");
	type(&world, "T");
	check_window(&world, AT(130) - NS_PER_MS / 2, AT(131) + NS_PER_MS / 2 + 1);
	assert_int_equal(asked(&world)->at, AT(130));
	holds(&world, "\n> cpu0");
	end(&world);
}

/* Where the cursor is on nothing that has a time or a thread, T says so. */
static void test_t_of_nothing(void **state)
{
	static const char *const places[] = { "7\\cpu:5\n", "5B", "5\\cpu:5\n" };
	struct world world;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		begin(&world);
		type(&world, places[i]);
		type(&world, "T");
		holds(&world, "not shown: nothing is under the cursor of which Timeline could tell; 8 shows all");
		end(&world);
	}
}

/* ---- n, N ---- */

/* From event to event, until there is none; the window comes along, as wide as it was. N leads back over the same. */
static void test_next_and_previous(void **state)
{
	static const uint64_t first[] = { 21, 60, 61 };
	uint64_t seen[STEPS_MOST];
	struct world world;
	int count = 0;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	for (seen[count] = asked(&world)->at; count + 1 < STEPS_MOST; count++) {
		type(&world, "n");
		seen[count + 1] = asked(&world)->at;
		assert_int_equal(asked(&world)->request.excerpt.window_ns, 80 * NS_PER_MS + 1);
		assert_in_range(asked(&world)->at, begin_of(&world), end_of(&asked(&world)->request.excerpt) - 1);
		if (seen[count + 1] == seen[count])
			break;
		assert_true(seen[count + 1] > seen[count]);
	}
	holds(&world, "\n no later event of this row is known");
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		assert_int_equal(seen[1 + i], AT(first[i]));
	assert_int_equal(seen[count], AT(200));
	for (int i = count; i > 0; i--) {
		assert_int_equal(asked(&world)->at, seen[i]);
		type(&world, "N");
	}
	check_cursor(&world, MAIN, AT(20));
	for (int i = 0; i < STEPS_MOST; i++)
		type(&world, "N");
	assert_int_equal(asked(&world)->at, AT(0));
	holds(&world, "\n no earlier event of this row is kept");
	end(&world);
}

/* ---- W ---- */

static void test_to_who_holds_the_lock(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	type(&world, "W");
	check_cursor(&world, WRITER, AT(20));
	assert_int_equal(asked(&world)->focus, WRITER);
	holds(&world, "> writer/2");
	holds(&world, "\n writer/2 runs on cpu0 from 00:00:10.000000 for 160ms; holds lock 7 for 50.0ms");
	type(&world, "W");
	holds(&world, "\n who woke this thread is not known: no wake of it is kept");
	check_cursor(&world, WRITER, AT(20));
	end(&world);
}

/* To who woke it, at that time, and on; an interrupt leads to its CPU, and no further. */
static void test_to_the_waker(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_thread(&world, "main/1");
	holds(&world, "; woken by reader/3 at 00:00:10.140000");
	type(&world, "W");
	check_cursor(&world, READER, AT(140));
	holds(&world, "\n reader/3 runs on cpu1 from 00:00:10.132000 for 18.0ms; woken by irq 4 on cpu0 at "
		"00:00:10.130000");
	type(&world, "W");
	assert_int_equal(asked(&world)->of_cpu, 1);
	assert_int_equal(asked(&world)->of, 0);
	assert_int_equal(asked(&world)->at, AT(130));
	holds(&world, "> cpu0");
	holds(&world, "\n cpu0 runs writer/2 from 00:00:10.000000 for 160ms; in irq 4 for 1.00ms");
	type(&world, "W");
	holds(&world, "\n the cursor is on a CPU; put it on a thread to see who woke that");
	end(&world);
}

/* Keys that are pressed before the answer about the cursor has come act with it, unless another one is pressed. */
static void test_keys_wait_for_the_answer(void **state)
{
	static const char waits[] = "the answer about this is still to come";
	struct world world;

	(void)state;
	begin(&world);
	go_to_thread(&world, "left/4");
	for (const char *key = "WW"; *key; key++)
		stage_press(&world.stage, (unsigned char)*key);
	holds(&world, waits);
	answer(&world);
	check_cursor(&world, LEFT, AT(335));
	stage_holds(&world.stage, waits, false);
	stage_press(&world.stage, 'n');
	stage_press(&world.stage, 'n');
	stage_press(&world.stage, 'N');
	answer(&world);
	check_cursor(&world, LEFT, AT(326));
	stage_press(&world.stage, 'W');
	stage_press(&world.stage, 'W');
	press(&world, KEYS_LEFT);
	stage_holds(&world.stage, waits, false);
	assert_int_equal(asked(&world)->of, RIGHT);
	/* The window comes along, also where its key has waited. */
	go_to_longest(&world, "lock 7");
	for (int i = 0; i < STEPS_MOST && asked(&world)->at < AT(200); i++) {
		stage_press(&world.stage, 'n');
		stage_press(&world.stage, 'n');
		answer(&world);
		assert_in_range(asked(&world)->at, begin_of(&world), end_of(&asked(&world)->request.excerpt) - 1);
	}
	assert_int_equal(asked(&world)->at, AT(200));
	end(&world);
}

static void test_a_circle_is_said(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 8");
	check_cursor(&world, RIGHT, AT(210));
	type(&world, "W");
	check_cursor(&world, LEFT, AT(210));
	holds(&world, "\n left/4 ");
	type(&world, "W");
	check_cursor(&world, RIGHT, AT(210));
	holds(&world, "\n a circle: each of them waits for a lock that the next one holds");
	end(&world);
	begin(&world);
	go_to_thread(&world, "left/4");
	type(&world, "W");
	check_cursor(&world, RIGHT, AT(345));
	type(&world, "W");
	check_cursor(&world, LEFT, AT(335));
	holds(&world, "\n a circle: this thread was in the chain of wakers before; W goes on around it");
	type(&world, "W");
	check_cursor(&world, RIGHT, AT(325));
	type(&world, "n");				/* another key ends the chain */
	type(&world, "NW");
	assert_true(asked(&world)->at <= AT(325));
	stage_holds(&world.stage, "a circle", false);
	end(&world);
}

/* ---- the window ---- */

/* Half or twice as wide around the cursor, down to a microsecond; from 250 ms on, the widths are the screen's. */
static void test_zoom(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	type(&world, "}");
	assert_int_equal(asked(&world)->request.excerpt.window_ns, 40 * NS_PER_MS);
	assert_in_range(begin_of(&world), AT(10) - 1, AT(10) + 1);	/* the cursor is after a quarter of it */
	type(&world, "{");
	assert_int_equal(asked(&world)->request.excerpt.window_ns, 80 * NS_PER_MS);
	assert_in_range(begin_of(&world), AT(0) - 2, AT(0) + 2);
	for (int i = 0; i < STEPS_MOST; i++) {
		type(&world, "}");
		check_cursor(&world, MAIN, AT(20));
		assert_in_range(AT(20), begin_of(&world), end_of(&asked(&world)->request.excerpt) - 1);
	}
	assert_int_equal(asked(&world)->request.excerpt.window_ns, NS_PER_MS / 1000);
	holds(&world, "main/1 runs on cpu1");
	for (int i = 0; i < STEPS_MOST; i++)
		type(&world, "{");
	assert_int_equal(asked(&world)->request.excerpt.window_ns, 0);
	end(&world);
}

/* By half its width. It becomes live where nothing is behind it. */
static void test_pan(void **state)
{
	uint64_t width = 80 * NS_PER_MS + 1, half = width / 2;
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	type(&world, "]");
	check_window(&world, AT(0) + half, AT(0) + half + width);
	type(&world, "[[");
	check_window(&world, AT(0) - half, AT(0) - half + width);
	for (int i = 0; i < STEPS_MOST && asked(&world)->request.excerpt.until_ns; i++)
		type(&world, "]");
	assert_int_equal(asked(&world)->request.excerpt.until_ns, 0);
	assert_int_equal(asked(&world)->request.excerpt.window_ns, 10 * NS_PER_SECOND);
	end(&world);
}

/* The columns of time in Timeline's answers have this many ns. */
static uint64_t each_of(const struct world *world)
{
	const struct timeline_request *request = asked(world);

	return (request->request.excerpt.window_ns + request->columns - 1) / request->columns;
}

/* What is asked for in this view. */
static void check_other(struct world *world, const char *key, const struct excerpt *range)
{
	const struct fake_wanted *wanted = &world->stage.session.wanted;

	type(world, key);
	assert_int_equal(wanted->window_ns, range->window_ns);
	assert_int_equal(wanted->until_ns, range->until_ns);
	assert_int_equal(wanted->back_ns, range->back_ns);
	assert_true(wanted->moved);
}

/* Enter begins it and Enter ends it, and the cursor's keys lie between; it is every view's. A dot is live again. */
static void test_a_range(void **state)
{
	struct excerpt range;
	struct world world;
	uint64_t each;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	each = each_of(&world);
	press(&world, KEYS_ENTER);
	check_window(&world, AT(0), AT(80) + 1);
	for (int i = 0; i < 10; i++)
		press(&world, KEYS_RIGHT);
	check_window(&world, AT(0), AT(80) + 1);
	press(&world, KEYS_ENTER);
	check_window(&world, AT(20), AT(0) + (20 * NS_PER_MS / each + 11) * each);
	range = asked(&world)->request.excerpt;
	for (const char *key = "12357"; *key; key++)
		check_other(&world, (const char[]) { *key, '\0' }, &range);
	type(&world, "8.");
	assert_int_equal(asked(&world)->request.excerpt.until_ns, 0);
	assert_int_equal(asked(&world)->request.excerpt.window_ns, 10 * NS_PER_SECOND);
	end(&world);
}

/* Esc takes back what was begun, then the thread for which one came; then Esc is the screen's. */
static void test_back(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	press(&world, KEYS_ENTER);
	press(&world, KEYS_RIGHT);
	press(&world, KEYS_ESCAPE);
	check_window(&world, AT(0), AT(80) + 1);
	assert_int_equal(asked(&world)->focus, MAIN);
	press(&world, KEYS_ESCAPE);
	assert_int_equal(asked(&world)->focus, EVENT_NONE);
	press(&world, KEYS_ESCAPE);
	holds(&world, "nothing to take back");
	end(&world);
}

/* ---- the mouse ---- */

/* Where a text begins on the screen. All before it in its row is ASCII. */
static struct input place_of(struct world *world, const char *text)
{
	char *screen = canvas_dump(world->stage.canvas), *at = strstr(screen, text);
	struct input place = { .kind = INPUT_CLICK };

	assert_non_null(at);
	for (const char *from = screen; from < at; from++) {
		place.row += *from == '\n';
		place.column = *from == '\n' ? 0 : place.column + 1;
	}
	free(screen);
	return place;
}

static void mouse(struct world *world, int kind, struct input at, int column)
{
	at.kind = kind;
	at.column = column;
	screen_input(world->stage.screen, &at, world->stage.now);
	answer(world);
}

/* A click puts the cursor on a row and a time; a drag begins a range, which Enter makes the window. */
static void test_mouse(void **state)
{
	struct input row, grid;
	struct world world;
	uint64_t each;

	(void)state;
	begin(&world);
	go_to_longest(&world, "lock 7");
	each = each_of(&world);
	row = place_of(&world, "  writer/2 ");
	grid = place_of(&world, "00:00:10.000000");
	mouse(&world, INPUT_CLICK, row, grid.column + 5);
	mouse(&world, INPUT_RELEASE, row, grid.column + 5);
	check_cursor(&world, WRITER, AT(0) + 5 * each);
	check_window(&world, AT(0), AT(80) + 1);
	mouse(&world, INPUT_CLICK, row, 0);		/* on its name: the time stays */
	mouse(&world, INPUT_RELEASE, row, 0);
	check_cursor(&world, WRITER, AT(0) + 5 * each);
	mouse(&world, INPUT_CLICK, row, grid.column + 25);
	mouse(&world, INPUT_RELEASE, row, grid.column + 10);
	check_window(&world, AT(0), AT(80) + 1);
	press(&world, KEYS_ENTER);
	check_window(&world, AT(0) + 10 * each, AT(0) + 26 * each);
	end(&world);
}

/* A press on the time line, which takes another window, ends a key's wait as another key does. */
static void test_a_press_on_the_time_line_ends_a_wait(void **state)
{
	static const char waits[] = "the answer about this is still to come";
	struct input line;
	struct world world;

	(void)state;
	begin(&world);
	go_to_thread(&world, "left/4");
	line = place_of(&world, "  now\n");
	line.kind = INPUT_CLICK;
	line.column -= 8;
	stage_press(&world.stage, 'W');
	stage_press(&world.stage, 'W');
	holds(&world, waits);
	screen_input(world.stage.screen, &line, world.stage.now);
	stage_holds(&world.stage, waits, false);
	mouse(&world, INPUT_RELEASE, line, line.column);
	assert_int_equal(asked(&world)->of, RIGHT);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t_of_an_event),
		cmocka_unit_test(test_t_of_a_cell),
		cmocka_unit_test(test_t_of_a_thread),
		cmocka_unit_test(test_t_of_the_slowest),
		cmocka_unit_test(test_t_of_nothing),
		cmocka_unit_test(test_next_and_previous),
		cmocka_unit_test(test_to_who_holds_the_lock),
		cmocka_unit_test(test_to_the_waker),
		cmocka_unit_test(test_keys_wait_for_the_answer),
		cmocka_unit_test(test_a_circle_is_said),
		cmocka_unit_test(test_zoom),
		cmocka_unit_test(test_pan),
		cmocka_unit_test(test_a_range),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_a_press_on_the_time_line_ends_a_wait),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests_name("timeline keys", tests, NULL, NULL);
}
