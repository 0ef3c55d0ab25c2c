/* SPDX-License-Identifier: MIT */
/*
 * A walk over the screen: keys, clicks, resizes, pastes and what a guest, its link and its VM may do,
 * by chance. Beside it goes a model of what the screen's state should be; after each step what the
 * screen says and asks for is held against that, and now and then its numbers against
 * `report --json` of the same question. The pictures are real ones, of an epoch that is fed here.
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
#include <cjson/cJSON.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/meter.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/filter_words.h"
#include "agent/report/report.h"
#include "agent/session/picture.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/list.h"
#include "tui/frame/prompt.h"
#include "tui/frame/scope.h"
#include "tui/screen/screen.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"

enum { LINE = 40 };			/* what is typed is seldom longer */
enum { STEPS = 100000, CPUS = 2, FUNCTIONS = 12, NUMBERS_EVERY = 25, TEXT = 1024 };
enum { TALL = 26, WIDE = 100 };		/* where all that the header may say has its place */

#define SECOND UINT64_C(1000000000)
#define BASE UINT64_C(0xffffffff80100000)

static const char *const names[FUNCTIONS] = { "alpha_spin", "beta_copy", "gamma_alloc", "delta_free",
	"epsilon_read", "zeta_write", "eta_fault", "theta_hash", "iota_sort", "kappa_tick",
	"lambda_idle", "mu_entry" };

/* What the screen's state should be. */
struct model {
	bool help;
	enum { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER } open;
	char text[128];			/* in the prompt */
	char filter[160], before[160];	/* as typed; as it was when the prompt was opened */
	char match[128];		/* what is searched and marked; "": nothing */
	unsigned window;		/* seconds; 0: all */
	uint64_t zero, until;
	bool no_idle;
	const char *failed;		/* part of a message that stays until a key; NULL: none */
	int runs, snapshots;		/* ordered, and not heard of */
	bool run_on;			/* what was ordered last */
};

struct walk {
	struct random random;
	struct config config;
	struct screen *screen;
	struct canvas *canvas;
	struct model model;
	uint64_t now;			/* of the host */
	long step;

	/* the guest, and what is known of it */
	struct epoch *epoch;
	struct decode *decode;
	struct meter meter;
	char *symbols;
	uint64_t clock, boots;
	enum link_state link;
	enum vm_state vm;
	enum kept_wish kept;

	/* between the two */
	struct session_wish wish;
	const struct picture *shown;	/* the screen's; NULL: none yet */
	struct picture *next;
	struct session_message message;
	bool snapped;
	struct session_wish snapped_wish;
};

/* ---- in the place of a session: no books ---- */

const struct decode *session_decode(const struct session *session)
{
	(void)session;
	return NULL;
}

bool report_has_books(const struct report *report)
{
	(void)report;
	return false;
}

/* ---- the feed ---- */

static struct picture *feed_picture(void *self)
{
	struct walk *walk = self;
	struct picture *picture = walk->next;

	walk->next = NULL;
	if (picture)
		walk->shown = picture;
	return picture;
}

static bool feed_message(void *self, struct session_message *message)
{
	struct walk *walk = self;

	*message = walk->message;
	walk->message.text[0] = '\0';
	return message->text[0] != '\0';
}

static void feed_wish(void *self, const struct session_wish *wish)
{
	((struct walk *)self)->wish = *wish;
}

static bool feed_running(void *self)
{
	const struct walk *walk = self;

	return walk->shown && (walk->shown->kept ? walk->shown->kept == KEPT_ON : walk->shown->running);
}

static void feed_run(void *self, bool on)
{
	struct walk *walk = self;

	walk->model.runs--;
	assert_int_equal(on, walk->model.run_on);
}

static void feed_snapshot(void *self, const char *kernel)
{
	struct walk *walk = self;

	(void)kernel;
	walk->model.snapshots--;
	walk->snapped = true;
	walk->snapped_wish = walk->wish;
}

/* ---- the guest ---- */

static void event(struct walk *walk, struct event event)
{
	event.time = walk->clock;
	epoch_events(walk->epoch, &event, 1);
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static void status(struct walk *walk, bool running)
{
	event(walk, (struct event) { .kind = EVENT_STATUS, .status = {
		.running = running, .rate = 1000, .sampler_cpu = EVENT_NONE } });
}

static void enable(struct walk *walk, uint32_t cpu)
{
	event(walk, (struct event) { .kind = EVENT_CPU_STATUS, .cpu_status = {
		.cpu = cpu, .stream = STREAM_SAMPLES, .enabled = true, .size = 4096 } });
}

static void boot(struct walk *walk)
{
	const uint8_t id[16] = { (uint8_t)++walk->boots };

	epoch_release(walk->epoch);
	walk->epoch = epoch_new(id, NULL, NULL);
	symbols_load_kernel(walk->epoch->inputs.symbols, walk->symbols, NULL);
	walk->clock = SECOND;
	if (random_below(&walk->random, 4) == 0)
		return;				/* it has said nothing yet */
	event(walk, (struct event) { .kind = EVENT_GUEST, .guest = {
		.cpus = CPUS, .clock_hz = SECOND, .kernel = text_of("walker"),
		.version = text_of("1"), .arch = text_of("x86_64") } });
	event(walk, (struct event) { .kind = EVENT_THREAD,
		.thread = { 1, EVENT_KERNEL, text_of("init") } });
	event(walk, (struct event) { .kind = EVENT_THREAD,
		.thread = { 2, EVENT_KERNEL, text_of("worker") } });
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		enable(walk, cpu);
	status(walk, true);
}

static void sample(struct walk *walk)
{
	struct random *random = &walk->random;
	uint64_t frames[3];
	uint32_t depth = 1 + (uint32_t)random_below(random, 3);
	enum mode mode = random_below(random, 3) ? MODE_KERNEL : MODE_IDLE;

	for (uint32_t i = 0; i < depth; i++)
		frames[i] = BASE + random_below(random, FUNCTIONS) * 0x100 + 8;
	event(walk, (struct event) { .kind = EVENT_SAMPLE,
		.cpu = (uint32_t)random_below(random, CPUS),
		.sample = { .process = EVENT_KERNEL, .thread = 1 + (uint32_t)random_below(random, 2),
			.mode = mode, .weight = 1 + (uint32_t)random_below(random, 4),
			.kernel_count = depth, .kernel = frames } });
}

static void go_on(struct walk *walk)
{
	if (!walk->epoch->known)
		return;
	for (uint64_t i = random_below(&walk->random, 8); i > 0; i--) {
		walk->clock += 10000000;
		sample(walk);
	}
	walk->clock += random_below(&walk->random, 100000000);
	epoch_ticks(walk->epoch, walk->clock);
}

static struct picture *picture_of(struct walk *walk)
{
	const struct picture_inputs inputs = {
		.epoch = walk->epoch, .decode = walk->decode, .meter = &walk->meter,
		.wish = &walk->wish, .link = walk->link, .vm = walk->vm, .kept = walk->kept,
		.boot = walk->boots, .trouble = "", .generation = (uint64_t)walk->step + 1,
	};

	return picture_new(&inputs);
}

/* The screen takes a new picture: what it knew of times is over when they are of another boot. */
static void show(struct walk *walk)
{
	const struct picture *before = walk->shown;
	struct model *model = &walk->model;
	uint64_t boot_before = before ? before->boot : 0;
	bool ran = before && before->running;

	walk->next = picture_of(walk);
	screen_step(walk->screen, walk->now);
	if (model->failed && strcmp(model->failed, "not turned") == 0 && before &&
			ran != walk->shown->running)
		model->failed = NULL;
	if (walk->shown->now < model->zero || walk->shown->now < model->until ||
			(boot_before && boot_before != walk->shown->boot))
		model->zero = model->until = 0;
}

static void news(struct walk *walk)
{
	struct random *random = &walk->random;

	switch (random_below(random, 40)) {
	case 0:
		walk->link = (enum link_state)random_below(random, LINK_LOST + 1);
		break;
	case 1: case 2: case 3:
		walk->link = LINK_UP;
		break;
	case 4:
		walk->vm = (enum vm_state)random_below(random, VM_GONE + 1);
		break;
	case 5: case 6: case 7:
		walk->vm = VM_RUNNING;
		break;
	case 8:
		walk->kept = (enum kept_wish)random_below(random, KEPT_OFF + 1);
		break;
	case 9: case 10:
		walk->kept = KEPT_NONE;
		break;
	case 11: case 12:
		if (walk->epoch->known)
			status(walk, random_below(random, 2));
		break;
	case 13:
		if (random_below(random, 10) == 0)
			boot(walk);
		break;
	case 14:
		strcpy(walk->message.text, "it was done");
		walk->message.failed = walk->message.profiler = false;
		break;
	case 15:
		strcpy(walk->message.text, "profiling not turned on: no; try again");
		walk->message.failed = walk->message.profiler = true;
		break;
	default:
		go_on(walk);
	}
	if (walk->message.text[0]) {
		if (walk->message.failed)
			walk->model.failed = "not turned";
		screen_step(walk->screen, walk->now);
	}
}

/* ---- the model: what a key means ---- */

static bool is_known(const struct walk *walk)
{
	return walk->shown->table && walk->shown->now;
}

static bool is_there(const struct walk *walk)
{
	const struct table *table = walk->shown ? walk->shown->table : NULL;

	for (size_t i = 0; table && i < table->count; i++)
		if (list_match(symbols_get(walk->shown->symbols, table->rows[i].function)->name,
				walk->model.match))
			return true;
	return false;
}

/* Takes a filter when it is good; then it is as it was typed, but for blanks. */
static bool take_filter(struct model *model, const char *text)
{
	struct scope scope;
	bool good;

	scope_init(&scope);
	good = scope_filter(&scope, text, NULL);
	if (good)
		strcpy(model->filter, scope.filter_text);
	return good;
}

static void prompt_text(struct walk *walk, const char *text)
{
	struct model *model = &walk->model;

	if (text != model->text)
		strcpy(model->text, text);
	if (model->open == PROMPT_FILTER)
		take_filter(model, model->text);
	else
		strcpy(model->match, model->text);
}

static void prompt_end(struct walk *walk, bool kept)
{
	struct model *model = &walk->model;

	if (model->open == PROMPT_SEARCH && !kept)
		model->match[0] = '\0';
	if (model->open == PROMPT_FILTER && kept && !take_filter(model, model->text)) {
		model->failed = "the filter stays as it was";
		kept = false;
	}
	if (model->open == PROMPT_FILTER && !kept)
		strcpy(model->filter, model->before);
	model->open = PROMPT_NONE;
}

static void type(struct walk *walk, uint32_t code)
{
	struct model *model = &walk->model;
	size_t size = strlen(model->text);

	if (code == KEYS_ENTER || code == KEYS_ESCAPE || (code == KEYS_BACKSPACE && size == 0)) {
		prompt_end(walk, code == KEYS_ENTER);
	} else if (code == KEYS_CTRL('U')) {
		prompt_text(walk, "");
	} else if (code == KEYS_BACKSPACE) {
		model->text[size - 1] = '\0';
		prompt_text(walk, model->text);
	} else if (code >= ' ' && code < 127 && size + 1 < sizeof model->text) {
		model->text[size] = (char)code;
		model->text[size + 1] = '\0';
		prompt_text(walk, model->text);
	} else if (model->open == PROMPT_SEARCH && code == KEYS_F(3) && model->text[0]) {
		strcpy(model->match, model->text);
	}
}

static void open_prompt(struct walk *walk, bool filter)
{
	struct model *model = &walk->model;

	model->help = false;
	model->open = filter ? PROMPT_FILTER : PROMPT_SEARCH;
	strcpy(model->before, model->filter);
	strcpy(model->text, filter ? model->filter : "");
}

static void go_back(struct walk *walk)
{
	struct model *model = &walk->model;

	if (model->help)
		model->help = false;
	else if (model->match[0])
		model->match[0] = '\0';
	else if (model->filter[0])
		model->filter[0] = '\0';
	else
		model->zero = 0;
}

/* What wants a picture, and most of it a guest that has told its time. */
static void act_on_picture(struct walk *walk, enum action action)
{
	struct model *model = &walk->model;
	const struct picture *picture = walk->shown;

	if (!picture) {
		model->failed = "not yet";
	} else if (action == ACTION_RUN) {
		model->runs++;
		model->run_on = picture->kept ? picture->kept == KEPT_OFF : !picture->running;
	} else if (action == ACTION_SNAPSHOT) {
		model->snapshots++;
	} else if (action == ACTION_ZERO && is_known(walk)) {
		model->zero = picture->now;
		model->until = 0;
	} else if (action == ACTION_FREEZE && (model->until || is_known(walk))) {
		model->until = model->until ? 0 : picture->table->to;
	} else if (action == ACTION_ZERO || action == ACTION_FREEZE) {
		model->failed = action == ACTION_ZERO ? "nothing to zero" : "nothing to freeze";
	}
}

static void act(struct walk *walk, enum action action)
{
	struct model *model = &walk->model;

	switch (action) {
	case ACTION_HELP:
		model->help = !model->help;
		break;
	case ACTION_BACK:
		go_back(walk);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		open_prompt(walk, action == ACTION_FILTER);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		if (!model->help && !model->match[0])
			model->failed = "no name was given yet";
		else if (!model->help && !is_there(walk))
			model->failed = "no such name";
		break;
	case ACTION_WINDOW:
		model->window = model->window == 1 ? 10 : model->window == 10 ? 60 :
			model->window == 60 ? 0 : 1;
		break;
	case ACTION_IDLE:
		model->no_idle = !model->no_idle;
		break;
	case ACTION_RUN:
	case ACTION_SNAPSHOT:
	case ACTION_ZERO:
	case ACTION_FREEZE:
		act_on_picture(walk, action);
		break;
	default:
		break;
	}
}

/* ---- what a person does ---- */

static void input(struct walk *walk, struct input input, bool quits)
{
	bool quit = screen_input(walk->screen, &input, walk->now) == SCREEN_QUIT;

	assert_int_equal(quit, quits);
}

static void press(struct walk *walk, uint32_t code)
{
	enum action action = keys_action(&keys_standard, code);
	bool open = walk->model.open != PROMPT_NONE;
	bool quits = action == ACTION_QUIT && !(open && prompt_takes(code));

	walk->model.failed = NULL;
	if (open && !quits)
		type(walk, code);
	else if (!open)
		act(walk, action);
	input(walk, (struct input) { .kind = INPUT_KEY, .code = code }, quits);
}

static void paste(struct walk *walk, uint32_t code)
{
	walk->model.failed = NULL;
	if (walk->model.open)
		type(walk, code);
	input(walk, (struct input) { .kind = INPUT_PASTE, .code = code }, false);
}

/* A label of the key bar leaves a prompt, but for its own. */
static void click_bar(struct walk *walk, enum action action)
{
	struct model *model = &walk->model;

	if (action == ACTION_NONE || (model->open == PROMPT_FILTER && action == ACTION_FILTER))
		return;
	if (model->open == PROMPT_SEARCH && action == ACTION_SEARCH) {
		if (model->text[0])
			strcpy(model->match, model->text);
		return;
	}
	if (model->open)
		prompt_end(walk, false);
	act(walk, action);
}

static void click(struct walk *walk)
{
	struct random *random = &walk->random;
	const struct canvas *canvas = walk->canvas;
	bool bar = random_below(random, 2) && canvas->rows >= 10;
	struct input at = { .kind = INPUT_CLICK,
		.row = bar ? canvas->rows - 1 : (int)random_below(random, (uint64_t)canvas->rows + 4) - 2,
		.column = (int)random_below(random, (uint64_t)canvas->columns + 4) - 2 };
	enum action action = ACTION_NONE;

	if (at.row == canvas->rows - 1 && canvas->rows >= 10)
		action = key_bar_action(&keys_standard, canvas->columns, at.column);
	walk->model.failed = NULL;
	click_bar(walk, action);
	input(walk, at, action == ACTION_QUIT);
}

static void resize(struct walk *walk)
{
	static const struct { int rows, columns; } sizes[] = {
		{ TALL, WIDE }, { TALL, WIDE }, { TALL, WIDE }, { 24, 80 }, { 10, 40 },
		{ 5, 20 }, { 2, 10 }, { 16, 90 },
	};
	size_t i = random_below(&walk->random, sizeof sizes / sizeof *sizes);

	canvas_free(walk->canvas);
	walk->canvas = canvas_new(sizes[i].rows, sizes[i].columns, random_below(&walk->random, 4) != 0);
}

/* Keys of all actions, and what may be typed into a line. */
static uint32_t any_key(struct walk *walk)
{
	static const char *const pieces[] = { "cpu:1", "cpu:0 ", "cpu:7", "mode:kernel", "mode:idle ",
		"thread:init", "thread:", "pid:5", "alpha", "_", "spin", "zz", "no::such", " " };
	static const char *piece = "";
	struct random *random = &walk->random;

	if (walk->model.open && strlen(walk->model.text) > LINE)
		return KEYS_CTRL('U');			/* all of it is to be seen */
	if (walk->model.open && *piece)
		return (unsigned char)*piece++;
	piece = "";
	if (walk->model.open && random_below(random, 2)) {
		piece = pieces[random_below(random, sizeof pieces / sizeof *pieces)];
		return (unsigned char)*piece++;
	}
	if (walk->model.open && random_below(random, 6) == 0)
		return KEYS_CTRL('U');
	if (walk->model.open && random_below(random, 3) == 0)
		return random_below(random, 3) ? KEYS_ENTER : KEYS_ESCAPE;
	if (random_below(random, 30) == 0)
		return (uint32_t)random_below(random, 128);
	if (walk->model.help && random_below(random, 2))
		return KEYS_ESCAPE;
	return keys_standard.rows[random_below(random, KEYS_ROWS)].codes[random_below(random, 2)];
}

static void do_something(struct walk *walk)
{
	struct random *random = &walk->random;

	switch (random_below(random, 24)) {
	case 0:
		click(walk);
		break;
	case 1:
		input(walk, (struct input) { .kind = random_below(random, 2) ? INPUT_SCROLL_UP :
			INPUT_SCROLL_DOWN }, false);
		break;
	case 2:
		if (random_below(random, 8) == 0)
			resize(walk);
		break;
	case 3:
		paste(walk, 'a' + (uint32_t)random_below(random, 26));
		break;
	case 4: case 5: case 6: case 7: case 8:
		news(walk);
		break;
	case 9: case 10: case 11: case 12:
		show(walk);
		break;
	default:
		press(walk, any_key(walk));
	}
}

/* ---- what the screen says ---- */

static void row_text(const struct walk *walk, int row, char text[TEXT])
{
	char bytes[CELL_BYTES];
	size_t used = 0;

	for (int column = 0; column < walk->canvas->columns && used + CELL_BYTES < TEXT; column++) {
		const struct cell *cell = canvas_cell(walk->canvas, row, column);

		if (cell && cell->code - 1 < 127)
			text[used++] = (char)cell->code;
		else if (cell)
			for (const char *byte = canvas_utf8(cell, bytes); *byte; byte++)
				text[used++] = *byte;
	}
	text[used] = '\0';
}

static void fault(const struct walk *walk, const char *what, const char *wanted)
{
	char *text = canvas_dump(walk->canvas);

	fail_msg("step %ld: %s: \"%s\" in\n%s", walk->step, what, wanted, text);
}

static void header_has(const struct walk *walk, const char *header, const char *wanted, bool there)
{
	if (!strstr(header, wanted) == there)
		fault(walk, there ? "the header does not say" : "the header says", wanted);
}

static const char *state_of(const struct picture *picture)
{
	static const char *const links[] = {
		[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "connecting",
		[LINK_TAKEN] = "port taken", [LINK_NOT_OPENED] = "waiting for guest",
		[LINK_NO_HELLO] = "waiting for guest", [LINK_SILENT] = "silent",
		[LINK_LOST] = "link lost",
	};

	return picture->link != LINK_UP ? links[picture->link] :
		picture->vm == VM_PANICKED ? " panic" : picture->vm == VM_PAUSED ? " paused" :
		picture->running ? " REC " : " off ";
}

static void check_header(const struct walk *walk)
{
	const struct model *model = &walk->model;
	char header[TALL / 5 * TEXT], text[TEXT], time[SCOPE_TIME];
	size_t used = 0;

	for (int row = 0; row < TALL / 5; row++, used += strlen(header + used))
		row_text(walk, row, header + used);
	header_has(walk, header, state_of(walk->shown), true);
	snprintf(text, sizeof text, model->window ? "%us window" : "all window", model->window);
	header_has(walk, header, text, true);
	snprintf(text, sizeof text, "FROZEN at %s", scope_time(model->until, time));
	header_has(walk, header, model->until ? text : "FROZEN", model->until != 0);
	snprintf(text, sizeof text, "since %s", scope_time(model->zero, time));
	header_has(walk, header, model->zero ? text : "since ", model->zero != 0);
	snprintf(text, sizeof text, "filter: %s", model->filter);
	header_has(walk, header, text, model->filter[0] != '\0');
	header_has(walk, header, "idle hidden", model->no_idle);
}

/* The last but one row: a prompt, else a failure, until a key is pressed. */
static void check_bottom(const struct walk *walk)
{
	const struct model *model = &walk->model;
	char text[TEXT], wanted[TEXT];

	row_text(walk, walk->canvas->rows - 2, text);
	snprintf(wanted, sizeof wanted, "%s: %s", model->open == PROMPT_FILTER ? "Filter" : "Search",
		model->text);
	if (model->open && strncmp(text, wanted, strlen(wanted)) != 0)
		fault(walk, "the prompt is not", wanted);
	if (!model->open && (strstr(text, "Filter:") == text || strstr(text, "Search:") == text))
		fault(walk, "there is a prompt", "");
	for (int row = 3; row <= 4; row++)		/* a long text begins above */
		if (!model->open && model->failed && !strstr(text, model->failed))
			row_text(walk, walk->canvas->rows - row, text);
	if (!model->open && model->failed && !strstr(text, model->failed))
		fault(walk, "what failed is not said", model->failed);
}

static void check_wish(const struct walk *walk)
{
	const struct session_wish *wish = &walk->wish;
	const struct model *model = &walk->model;
	struct filter filter = { .cpu = EVENT_NONE };

	assert_true(filter_parse(model->filter, &filter, NULL));
	assert_int_equal(wish->window_ns, model->window * SECOND);
	assert_int_equal(wish->zero_ns, model->zero);
	assert_int_equal(wish->until_ns, model->until);
	assert_int_equal(wish->filter.cpu, filter.cpu);
	assert_int_equal(wish->filter.modes, filter.modes);
	assert_string_equal(wish->filter.thread, filter.thread);
	assert_string_equal(wish->filter.pattern, filter.pattern);
	assert_in_range(wish->visible_count, 0, FUNCTIONS + 2);
}

/* What was ordered by the step, and that a snapshot is of what is asked for now. */
static void check_orders(struct walk *walk)
{
	assert_int_equal(walk->model.runs, 0);
	assert_int_equal(walk->model.snapshots, 0);
	if (walk->snapped) {
		assert_int_equal(walk->snapped_wish.window_ns, walk->wish.window_ns);
		assert_int_equal(walk->snapped_wish.until_ns, walk->wish.until_ns);
		assert_int_equal(walk->snapped_wish.zero_ns, walk->wish.zero_ns);
		assert_memory_equal(&walk->snapped_wish.filter, &walk->wish.filter,
			sizeof walk->wish.filter);
	}
	walk->snapped = false;
}

static void check(struct walk *walk)
{
	struct canvas *canvas = walk->canvas;
	char text[TEXT];
	bool help = false;

	screen_draw(walk->screen, canvas);
	if (walk->step % NUMBERS_EVERY == 0 && safe_canvas(canvas))
		fault(walk, "the canvas is not harmless", safe_canvas(canvas));
	if (canvas->rows < SCREEN_LEAST_ROWS)
		return;
	check_wish(walk);
	if (canvas->rows != TALL)
		return;
	if (walk->shown)
		check_header(walk);
	check_bottom(walk);
	row_text(walk, TALL - 3, text);			/* the last one of the view */
	help = strstr(text, "more: ");
	if (help != walk->model.help)
		fault(walk, "the help is there, or not", "");
}

/* ---- numbers, as `report --json` has them ---- */

static cJSON *json_of(struct walk *walk)
{
	struct report report = { .request = report_default, .epoch = walk->epoch };
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	cJSON *json;

	report.question = picture_question(walk->epoch, &walk->wish);
	report.status = walk->epoch->status;
	report.table = query_table(walk->epoch->query, &report.question);
	assert_true(report_json(&report, to));
	fclose(to);
	json = cJSON_Parse(text);
	assert_non_null(json);
	table_free(report.table);
	free(text);
	return json;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItem(object, name);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

/* The row of the screen that has this function; its numbers are the first two in it. */
static void check_function(const struct walk *walk, const char *text, const cJSON *function)
{
	const char *at = text + strspn(text, "> ~");
	char *end;
	double self = strtod(at, &end), total = strtod(end + strspn(end, " ~"), NULL);
	double more = self - number(function, "self_percent");
	double other = total - number(function, "total_percent");

	if (more > 0.006 || more < -0.006 || other > 0.006 || other < -0.006)
		fault(walk, "another share than the report's", text);
}

static void check_rows(const struct walk *walk, const cJSON *json)
{
	const cJSON *functions = cJSON_GetObjectItem(json, "functions"), *function;
	int seen = 0, all = cJSON_GetArraySize(functions);
	bool idle = false;
	char text[TEXT];

	for (int row = 3; row < TALL - 3; row++) {
		row_text(walk, row, text);
		cJSON_ArrayForEach(function, functions) {
			const char *name = cJSON_GetObjectItem(function, "name")->valuestring;
			const char *at = strstr(text, name);

			if (!at || at[-1] != ' ' || at[strlen(name)] != ' ')
				continue;
			check_function(walk, text, function);
			seen++;
			idle = idle || strcmp(name, "[idle]") == 0;
		}
	}
	cJSON_ArrayForEach(function, functions)
		if (walk->model.no_idle && strcmp(cJSON_GetObjectItem(function, "name")->valuestring,
				"[idle]") == 0)
			all--;
	if (walk->model.no_idle && idle)
		fault(walk, "idle time is shown", "[idle]");
	if (seen != all)
		fault(walk, "not all functions of the report are shown", "");
}

/* "cpu0 k ... 62% u ... 21% i 17%" */
static void check_cpus(const struct walk *walk, const cJSON *json)
{
	static const char *const modes[] = { "kernel", "user", "idle" };
	const cJSON *cpu;
	char text[TEXT], label[16];

	cJSON_ArrayForEach(cpu, cJSON_GetObjectItem(json, "cpus")) {
		double sum = 0;
		const char *at = NULL;

		for (int mode = 0; mode < MODES; mode++)
			sum += number(cpu, modes[mode]);
		snprintf(label, sizeof label, " cpu%.0f ", number(cpu, "cpu"));
		for (int row = 0; row < TALL / 2 && !at; row++) {
			row_text(walk, row, text);
			at = strstr(text, label) == text ? text : NULL;
		}
		if (!at)
			fault(walk, "a CPU has no line", label);
		for (int mode = 0; sum > 0 && mode < MODES && (at = strchr(at + 1, '%')); mode++) {
			double share = 100 * number(cpu, modes[mode]) / sum, told;

			told = strtod(at - 3, NULL);
			if (told - share > 0.51 || share - told > 0.51)
				fault(walk, "another share of a CPU than the report's", text);
		}
	}
}

/* Of a picture that is of now, and of what is asked for now. */
static void check_numbers(struct walk *walk)
{
	cJSON *json;

	if (walk->canvas->rows != TALL || walk->model.help || !walk->epoch->known)
		return;
	show(walk);
	screen_draw(walk->screen, walk->canvas);	/* new times ask anew */
	show(walk);
	screen_draw(walk->screen, walk->canvas);
	json = json_of(walk);
	check_rows(walk, json);
	check_cpus(walk, json);
	cJSON_Delete(json);
}

/* ---- the walk ---- */

static struct walk *walk_new(uint64_t seed)
{
	static const struct decode_sink sink = { .context = NULL };
	struct walk *walk = util_alloc(sizeof *walk);
	char *text = util_copy("", 0);

	for (int i = 0; i < FUNCTIONS; i++) {
		char *more = util_format("%s%llx T %s\n", text,
			(unsigned long long)(BASE + (uint64_t)i * 0x100), names[i]);

		free(text);
		text = more;
	}
	walk->random.state = seed;
	walk->symbols = util_format("%s", scratch_text("walk.map", text));
	free(text);
	walk->decode = decode_new(&sink);
	walk->link = LINK_UP;
	walk->vm = VM_RUNNING;
	config_init(&walk->config);
	walk->model.window = 10;
	walk->screen = screen_new((struct feed) { .self = walk, .picture = feed_picture,
		.message = feed_message, .wish = feed_wish, .running = feed_running,
		.run_profiler = feed_run, .snapshot = feed_snapshot }, &walk->config);
	walk->canvas = canvas_new(TALL, WIDE, true);
	boot(walk);
	return walk;
}

static void walk_free(struct walk *walk)
{
	screen_free(walk->screen);
	canvas_free(walk->canvas);
	decode_free(walk->decode);
	epoch_release(walk->epoch);
	free(walk->symbols);
	free(walk);
}

/* SEED=N repeats another walk than the usual one; STEPS=N makes it as long. */
static void test_walk(void **state)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 1;
	long steps = getenv("STEPS") ? strtol(getenv("STEPS"), NULL, 10) : STEPS;
	struct walk *walk = walk_new(seed ? seed : 1);

	(void)state;
	screen_draw(walk->screen, walk->canvas);
	for (walk->step = 0; walk->step < steps; walk->step++) {
		walk->now += SECOND / 100;
		do_something(walk);
		check(walk);
		check_orders(walk);
		if (walk->step % NUMBERS_EVERY == 0)
			check_numbers(walk);
	}
	walk_free(walk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
