/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/export/save_format.h"
#include "agent/fleet/fleet.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/session/session.h"
#include "agent/vm/console/console.h"
#include "agent/vm/state_words.h"
#include "tui/frame/tab_row.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "screen.h"
#include "tabs.h"

/* ---- machine ---- */

/*
 * One of the machines that a ktop shows. Its session has two readers: the machine's own screen, and the screen over
 * all. A reader asks its own questions while its screen is shown. If neither is shown, only the mark of the machine's
 * tab is asked for. Words of a filter about machines are for the screens: a session gets none of them. The screen's
 * thread makes all calls.
 */

enum reader { READER_OWN, READER_ALL, READERS };	/* its own screen; the screen over all */

struct machine_question {		/* one question of a reader */
	struct subscription *subscription;	/* NULL: not shown, or nothing was asked yet */
	struct request *request;	/* the last one; NULL: nothing is asked */
	struct answer *answer;		/* not taken yet; NULL: none */
	bool awaited;			/* no answer to the last request has come yet */
};

struct machine {
	struct session *session;	/* borrowed */
	struct wakeup *wakeup;		/* borrowed; wakes the screen's thread */
	const char *label;		/* borrowed; its name while the VM's is not known; NULL: none */
	char name[48];			/* "1 web": its number, and the VM's name or the label */
	unsigned number;

	/* from its newest vitals */
	bool known, running;
	enum kept_wish kept;
	enum link_state link;
	enum vm_state vm;
	uint64_t lost;

	enum kept_wish asked;		/* what the user asked of the profiler, until the outcome is told */
	struct machine_question readers[READERS][FEED_QUESTIONS];
	struct subscription *marks;	/* vitals for the tab's mark */
	bool marks_asked;		/* they are asked for: no reader asks for the vitals */
};

enum { MARKS_MS = 500 };		/* the pause between two answers for a tab's mark alone */

static void name_it(struct machine *machine, const char *name)
{
	util_print(machine->name, sizeof(machine->name), "%u %s", machine->number,
		name[0] || !machine->label ? name : machine->label);
}

/* ---- questions ---- */

static bool asks_vitals(const struct machine *machine)
{
	bool asks = false;

	for (int i = 0; i < READERS; i++)
		asks = asks || machine->readers[i][FEED_VITALS].request;
	return asks;
}

/* The marks need vitals of their own only while no reader asks for the vitals. */
static void ask_marks(struct machine *machine)
{
	struct vitals_request request;

	if (machine->marks_asked == !asks_vitals(machine))
		return;
	machine->marks_asked = !machine->marks_asked;
	memset(&request, 0, sizeof(request));
	request.request.kind = &vitals_kind;
	request.request.pause_ms = MARKS_MS;
	subscription_ask(machine->marks, machine->marks_asked ? &request.request : NULL);
}

/*
 * `number`: of its tab, from 1. The wakeup is sent when an answer waits. Session, label and wakeup must outlive the
 * machine.
 */
static void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label, struct wakeup *wakeup)
{
	*machine = (struct machine) { .session = session, .number = number, .label = label, .wakeup = wakeup };
	machine->marks = session_subscribe(session, wakeup, NULL);
	name_it(machine, "");
	ask_marks(machine);
}

static bool machine_is_asked(const struct machine_question *question, const struct request *request)
{
	const struct request *before = question->request;

	if (!before || !request)
		return before == request;
	return before->kind == request->kind &&
		memcmp(before, request, request->kind->request_size) == 0;
}

/* The request as this machine is asked it, in fresh memory. */
static struct request *own_request(const struct machine *machine, const struct request *request)
{
	size_t size = request->kind->request_size;
	struct request *own = memcpy(util_alloc(size), request, size);

	filter_at_machine(&own->excerpt.filter, machine->number, machine->name);
	return own;
}

/* NULL: asks nothing, for now. */
static void machine_ask(struct machine *machine, enum reader reader, enum feed_question of,
	const struct request *request)
{
	struct machine_question *question = &machine->readers[reader][of];
	struct request *own = request ? own_request(machine, request) : NULL;

	if (machine_is_asked(question, own)) {
		free(own);
		return;
	}
	free(question->request);
	question->request = own;
	question->awaited = own;
	if (!question->subscription)
		question->subscription = session_subscribe(machine->session, machine->wakeup, NULL);
	subscription_ask(question->subscription, own);
	ask_marks(machine);
}

static void clear(struct machine_question *question)
{
	subscription_leave(question->subscription);
	answer_free(question->answer);
	free(question->request);
	*question = (struct machine_question) { .request = NULL };
}

/* Its screen is no longer shown. */
static void machine_look_away(struct machine *machine, enum reader reader)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		clear(&machine->readers[reader][i]);
	ask_marks(machine);
}

/* Ends its subscriptions, and frees what it holds. */
static void machine_clear(struct machine *machine)
{
	for (int i = 0; i < READERS; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++)
			clear(&machine->readers[i][k]);
	subscription_leave(machine->marks);
}

/* ---- answers ---- */

/* Takes the machine's state from its vitals. True: the mark of its tab has changed. */
static bool take_marks(struct machine *machine, const struct vitals *vitals)
{
	struct machine before = *machine;

	machine->known = true;
	machine->running = vitals->running;
	machine->kept = vitals->kept;
	machine->link = vitals->link;
	machine->vm = vitals->vm;
	machine->lost = vitals->lost_guest + vitals->lost_host;
	name_it(machine, vitals->name);
	return !before.known || before.running != machine->running ||
		before.link != machine->link || before.vm != machine->vm ||
		before.lost != machine->lost || strcmp(before.name, machine->name) != 0;
}

static bool take(struct machine *machine, struct machine_question *question)
{
	struct answer *answer = question->subscription ? subscription_take(question->subscription) : NULL;

	if (!answer)
		return false;
	if (answer->kind == &vitals_kind) {
		struct vitals *vitals = (struct vitals *)answer;

		take_marks(machine, vitals);
		util_print(vitals->tab, sizeof(vitals->tab), "%s", machine->name);
	}
	answer_free(question->answer);
	question->answer = answer;
	question->awaited = false;
	return true;
}

/* Takes the session's answers. True: a mark has changed, or a reader has a new answer. */
static bool machine_step(struct machine *machine)
{
	struct answer *marks;
	bool changed = false;

	session_clear_message_fd(machine->session);
	for (int i = 0; i < READERS; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++)
			changed = take(machine, &machine->readers[i][k]) || changed;
	marks = subscription_take(machine->marks);
	if (marks)
		changed = take_marks(machine, (const struct vitals *)marks) || changed;
	answer_free(marks);
	return changed;
}

/* The newest answer, owned by the caller; NULL: none since the last call. */
static struct answer *machine_answer(struct machine *machine, enum reader reader, enum feed_question question)
{
	struct answer *answer = machine->readers[reader][question].answer;

	machine->readers[reader][question].answer = NULL;
	return answer;
}

/* ---- orders ---- */

/* As session_snapshot. */
static void machine_snapshot(struct machine *machine, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice)
{
	struct excerpt own = *excerpt;

	filter_at_machine(&own.filter, machine->number, machine->name);
	session_snapshot(machine->session, path, &own, choice);
}

static void machine_run_profiler(struct machine *machine, bool on)
{
	machine->asked = on ? KEPT_ON : KEPT_OFF;
	session_run_profiler(machine->session, on);
}

/*
 * The profiler: as last asked for, else as is known. Two presses in a row mean on and then off, although no answer has
 * shown the first one's outcome yet.
 */
static bool machine_runs(const struct machine *machine)
{
	enum kept_wish wish = machine->asked ? machine->asked : machine->kept;

	return wish ? wish == KEPT_ON : machine->running;
}

/* The next; false: none. */
static bool machine_message(struct machine *machine, struct session_message *message)
{
	if (!session_message(machine->session, message))
		return false;
	if (message->profiler && !message->kept) {
		if (!message->failed)
			machine->running = machine_runs(machine);
		machine->asked = machine->kept = KEPT_NONE;
	}
	return true;
}

/* ---- the name of a snapshot ---- */

/* Copies the characters that are safe in a file's name. No name begins with a '.'. */
static void clean(const char *kernel, char *name, size_t size)
{
	size_t used = 0;

	for (; *kernel != '\0' && used + 1 < size; kernel++) {
		unsigned char c = (unsigned char)*kernel;

		if (c < 128 && (isalnum(c) || c == '_' || c == '-' || (c == '.' && used != 0)))
			name[used++] = (char)c;
	}
	name[used] = '\0';
}

const char *snapshot_name(const char *kernel, time_t when, const char *ending,
	char name[SNAPSHOT_NAME])
{
	char cleaned[64], stamp[32] = "";
	struct tm local;

	clean(kernel, cleaned, sizeof(cleaned));
	if (localtime_r(&when, &local))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	snprintf(name, SNAPSHOT_NAME, "ktop-%s-%s%s", cleaned[0] ? cleaned : "kernel", stamp, ending);
	return name;
}

/* ---- tabs ---- */

enum { ROWS_LEAST = 8 };		/* with fewer rows there is no tab row */
enum { SAYINGS = 64 };			/* messages that are kept to be shown together */
enum { ALL = 0, MOST = FLEET_MOST + 1 };	/* the page over all; pages at most */

static const uint64_t pause_ns = 100 * NS_PER_MS;	/* between two answers over all */
static const uint64_t soon_ns = 50 * NS_PER_MS;	/* after a new question: most machines have answered it by then */
static const uint64_t all_ns = 500 * NS_PER_MS;	/* for the others: a person waits this long without a thought */

struct saying {
	size_t machine;
	struct session_message message;
};

struct overview {			/* all machines as one */
	struct machine *machines;
	size_t count;
	const char **names;
	struct fleet *fleet;
	const struct answer_kind *asks[FEED_QUESTIONS];	/* what the screen asks for; NULL: nothing */
	uint64_t next[FEED_QUESTIONS];	/* when the next answer is due */
	bool changed[FEED_QUESTIONS];	/* a machine has answered since the last one */
	uint64_t whole_until;		/* until then the view's answer waits for each machine that is up */
	struct saying *sayings;		/* the machines' messages since the last order */
	size_t saying_count;
};

struct page {				/* what a tab shows */
	struct tabs *tabs;
	struct machine *machine;	/* NULL: all machines */
	struct screen *screen;
};

struct tabs {
	struct wakeup *wakeup;		/* wakes the screen: answers wait, of any machine */
	struct machine *machines;
	size_t machine_count;
	struct console *console;	/* of the only machine; NULL: there is none */
	struct overview *overview;	/* NULL: there is only one machine */
	const struct keys *keys;
	struct page pages[MOST];	/* the page over all, then one for each machine; or the only machine's */
	size_t count, current;
	size_t format;			/* of snapshots, in the list of save_format.h */
	uint64_t now;			/* the time of the last call */
	char all_state[48];
	struct place row;		/* where the tab row was drawn last; width 0: nowhere */
	bool unicode;			/* of the canvas that was drawn on last */
};

/* ---- all machines as one: asks each machine, and makes one answer of theirs ---- */

static struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget)
{
	struct overview *overview = util_alloc(sizeof(*overview));

	overview->machines = machines;
	overview->count = count;
	overview->names = util_alloc(count * sizeof(*overview->names));
	for (size_t i = 0; i < count; i++)
		overview->names[i] = machines[i].name;
	overview->fleet = fleet_new(overview->names, count, budget);
	for (int i = 0; i < FEED_QUESTIONS; i++)
		overview->changed[i] = true;
	return overview;
}

static void overview_free(struct overview *overview)
{
	if (!overview)
		return;
	fleet_free(overview->fleet);
	free(overview->names);
	free(overview->sayings);
	free(overview);
}

/*
 * Asks each machine in its own times and function ids. These change with the machine's answers, too: it meets new
 * functions, or boots anew. So the machines are asked again after each answer.
 */
static void ask_all(struct overview *overview, enum feed_question question)
{
	const struct answer_kind *kind = overview->asks[question];

	for (size_t i = 0; i < overview->count; i++) {
		union fleet_request request;

		if (kind)
			request = fleet_own_request(overview->fleet, i, kind);
		machine_ask(&overview->machines[i], READER_ALL, question, kind ? &request.request : NULL);
	}
}

/*
 * Takes the machines' answers. Any of them may change any answer of the fleet: a machine's table tells the
 * period by which the weights of its CPUs become time, for example.
 */
static void overview_take(struct overview *overview, uint64_t now)
{
	for (size_t i = 0; i < overview->count; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++) {
			struct answer *answer = machine_answer(&overview->machines[i], READER_ALL,
				(enum feed_question)k);

			if (!answer)
				continue;
			fleet_take(overview->fleet, i, answer, now);
			for (int question = 0; question < FEED_QUESTIONS; question++)
				overview->changed[question] = true;
		}
}

static bool is_up(const struct machine *machine)
{
	return machine->known && machine->link == LINK_UP;
}

/* A machine that is up has not answered the view's question yet: without it, the sums would be those of the others. */
static bool lacks_one(const struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) && overview->machines[i].readers[READER_ALL][FEED_VIEW].awaited)
			return true;
	return false;
}

/* As in screen.h, over all machines. Answers come at most ten times a second. Times are those of util_now. */
static struct answer *overview_answer(struct overview *overview, enum feed_question question, uint64_t now)
{
	overview_take(overview, now);
	if (!overview->asks[question] || !overview->changed[question] || now < overview->next[question])
		return NULL;
	if (question == FEED_VIEW && now < overview->whole_until && lacks_one(overview))
		return NULL;
	for (int i = 0; i < FEED_QUESTIONS; i++)
		ask_all(overview, (enum feed_question)i);
	overview->changed[question] = false;
	overview->next[question] = now + pause_ns;
	return fleet_answer(overview->fleet, overview->asks[question], now);
}

static void overview_ask(struct overview *overview, enum feed_question question, const struct request *request,
	uint64_t now)
{
	const struct answer_kind *kind = request ? request->kind : NULL;
	bool same = kind == overview->asks[question] && (!kind || fleet_is_asked(overview->fleet, request));

	overview->asks[question] = kind;
	if (!same && request)
		fleet_request(overview->fleet, request);
	ask_all(overview, question);
	if (same)
		return;
	overview->next[question] = now + soon_ns;
	if (question == FEED_VIEW && now >= overview->whole_until)	/* keys that are held do not prolong it */
		overview->whole_until = now + all_ns;
}

/* Its screen is no longer shown: nothing is asked for it. */
static void overview_look_away(struct overview *overview)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		overview->asks[i] = NULL;
	for (size_t i = 0; i < overview->count; i++)
		machine_look_away(&overview->machines[i], READER_ALL);
}

/* Messages from now on tell how the new order went. */
static void begin_order(struct overview *overview)
{
	overview->saying_count = 0;
}

static size_t count_up(const struct overview *overview)
{
	size_t up = 0;

	for (size_t i = 0; i < overview->count; i++)
		up += is_up(&overview->machines[i]);
	return up;
}

/* All machines whose link is up are profiled. */
static bool overview_running(const struct overview *overview)
{
	size_t running = 0;

	for (size_t i = 0; i < overview->count; i++)
		running += is_up(&overview->machines[i]) && machine_runs(&overview->machines[i]);
	return running != 0 && running == count_up(overview);
}

/* This and the next go to the machines whose link is up; to all if none is. */
static void overview_run_profiler(struct overview *overview, bool on)
{
	bool any = count_up(overview) != 0;

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) || !any)
			machine_run_profiler(&overview->machines[i], on);
}

static void overview_mark(struct overview *overview, const char *text)
{
	bool any = count_up(overview) != 0;

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) || !any)
			session_mark(overview->machines[i].session, text);
}

/* The name, in fresh memory, that stands for a machine in the names of its files. */
static char *name_for_files(const struct machine *machine)
{
	return util_format("all-%u-%s", machine->number, machine->name + strcspn(machine->name, " "));
}

/* A folder for each machine. */
static void overview_keep(struct overview *overview)
{
	time_t now = time(NULL);

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++) {
		char *machine = name_for_files(&overview->machines[i]), name[SNAPSHOT_NAME];

		session_keep(overview->machines[i].session, snapshot_name(machine, now, "", name));
		free(machine);
	}
}

/* A file for each machine. `format`: its number in the list of save_format.h. */
static void overview_snapshot(struct overview *overview, const struct excerpt *shown, size_t format)
{
	time_t now = time(NULL);

	fleet_look(overview->fleet, shown);
	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++) {
		struct machine *machine = &overview->machines[i];
		const struct export_choice choice = save_format_choice(format, machine->name);
		char *kernel = name_for_files(machine);
		struct excerpt excerpt = fleet_excerpt(overview->fleet, i);
		char name[SNAPSHOT_NAME];

		machine_snapshot(machine,
			snapshot_name(kernel, now, save_format_at(format).ending, name), &excerpt, &choice);
		free(kernel);
	}
}

/* A machine's newer message about its profiler replaces the one that said that the wish is kept. Failures stay. */
static void drop_older(struct overview *overview, size_t machine)
{
	size_t left = 0;

	for (size_t i = 0; i < overview->saying_count; i++) {
		const struct saying *saying = &overview->sayings[i];

		if (saying->machine != machine || !saying->message.kept)
			overview->sayings[left++] = *saying;
	}
	overview->saying_count = left;
}

/* Puts one message that has all machines' messages since the last order in place of a machine's new message. */
static void overview_gather(struct overview *overview, size_t machine, struct session_message *message)
{
	struct session_message said = { .text = "" };

	if (message->profiler)
		drop_older(overview, machine);
	if (overview->saying_count == SAYINGS)		/* the status line has no room for so many: begin anew */
		overview->saying_count = 0;
	overview->sayings = util_grow(overview->sayings, overview->saying_count + 1,
		sizeof(*overview->sayings));
	overview->sayings[overview->saying_count++] = (struct saying) { machine, *message };
	for (size_t i = 0; i < overview->saying_count; i++) {
		const struct saying *saying = &overview->sayings[i];
		size_t used = strlen(said.text);

		util_print(said.text + used, sizeof(said.text) - used, "%s%s: %s", used ? "; " : "",
			overview->machines[saying->machine].name, saying->message.text);
		said.failed = said.failed || saying->message.failed;
	}
	*message = said;
}

/* ---- the feed of a page's screen ---- */

static struct answer *page_answer(void *self, enum feed_question question)
{
	struct page *page = self;

	return page->machine ? machine_answer(page->machine, READER_OWN, question) :
		overview_answer(page->tabs->overview, question, page->tabs->now);
}

static void page_ask(void *self, enum feed_question question, const struct request *request)
{
	struct page *page = self;

	if (page->machine)
		machine_ask(page->machine, READER_OWN, question, request);
	else
		overview_ask(page->tabs->overview, question, request, page->tabs->now);
}

static bool page_running(void *self)
{
	const struct page *page = self;

	return page->machine ? machine_runs(page->machine) : overview_running(page->tabs->overview);
}

static void page_run_profiler(void *self, bool on)
{
	struct page *page = self;

	if (page->machine)
		machine_run_profiler(page->machine, on);
	else
		overview_run_profiler(page->tabs->overview, on);
}

static void page_mark(void *self, const char *text)
{
	struct page *page = self;

	if (page->machine)
		session_mark(page->machine->session, text);
	else
		overview_mark(page->tabs->overview, text);
}

static void page_trace_function(void *self, const char *name, uint64_t address)
{
	struct page *page = self;

	if (page->machine)
		session_trace_function(page->machine->session, name, address);
}

static void page_keep(void *self, const char *kernel)
{
	struct page *page = self;
	char name[SNAPSHOT_NAME];

	if (page->machine)
		session_keep(page->machine->session, snapshot_name(kernel, time(NULL), "", name));
	else
		overview_keep(page->tabs->overview);
}

static void page_read_dead(void *self, const char *kernel)
{
	const struct page *page = self;
	char name[SNAPSHOT_NAME];

	session_read_dead(page->machine->session, snapshot_name(kernel, time(NULL), "-dead", name));
}

static void page_play(void *self, const struct play *play)
{
	struct page *page = self;

	if (page->machine)
		session_play(page->machine->session, *play);
}

static void page_snapshot(void *self, const struct excerpt *excerpt, const char *kernel)
{
	struct page *page = self;
	size_t format = page->tabs->format;
	const struct export_choice choice = save_format_choice(format, "");
	char name[SNAPSHOT_NAME];

	if (page->machine)
		machine_snapshot(page->machine,
			snapshot_name(kernel, time(NULL), save_format_at(format).ending, name), excerpt, &choice);
	else
		overview_snapshot(page->tabs->overview, excerpt, format);
}

static size_t page_format(void *self)
{
	const struct page *page = self;

	return page->tabs->format;
}

static void page_set_format(void *self, size_t format)
{
	const struct page *page = self;

	page->tabs->format = format;
}

/* The page that is shown gives the messages of all machines. Those of other machines begin with their names. */
static bool page_message(void *self, struct session_message *message)
{
	const struct page *page = self;
	struct tabs *tabs = page->tabs;

	for (size_t i = 0; i < tabs->machine_count; i++) {
		struct machine *machine = &tabs->machines[i];
		struct session_message said;

		if (!machine_message(machine, message))
			continue;
		said = *message;
		if (!page->machine)
			overview_gather(tabs->overview, i, message);
		else if (page->machine != machine)
			util_print(message->text, sizeof(message->text), "%s: %s", machine->name,
				said.text);
		return true;
	}
	return false;
}

/* ---- the tabs ---- */

/* Shows another page. The one before asks nothing any more; the new one asks when it is drawn. */
static void look(struct tabs *tabs, size_t page)
{
	struct page *before = &tabs->pages[tabs->current];

	if (page == tabs->current)
		return;
	if (before->machine)
		machine_look_away(before->machine, READER_OWN);
	else
		overview_look_away(tabs->overview);
	screen_look_away(before->screen);
	tabs->current = page;
}

static void add_page(struct tabs *tabs, struct machine *machine, const struct config *config)
{
	struct page *page = &tabs->pages[tabs->count++];
	struct feed feed = {
		.self = page, .console = machine ? tabs->console : NULL,
		.ask = page_ask, .answer = page_answer, .message = page_message,
		.running = page_running, .run_profiler = page_run_profiler, .mark = page_mark, .keep = page_keep,
		.read_dead = page_read_dead, .trace_function = page_trace_function,
		.play = page_play, .snapshot = page_snapshot, .format = page_format, .set_format = page_set_format,
	};

	page->tabs = tabs;
	page->machine = machine;
	page->screen = screen_new(feed, config);
}

struct tabs *tabs_new(const struct tabs_machine *machines, size_t count, struct budget *budget,
	const struct config *config)
{
	struct tabs *tabs = util_alloc(sizeof(*tabs));

	tabs->wakeup = wakeup_new();
	tabs->machine_count = count;
	tabs->keys = &config->keys;
	tabs->format = config->format;
	tabs->console = machines[0].console;
	if (tabs->console)
		console_listen(tabs->console, tabs->wakeup);
	tabs->machines = util_alloc(count * sizeof(*tabs->machines));
	for (size_t i = 0; i < count; i++)
		machine_init(&tabs->machines[i], machines[i].session, (unsigned)i + 1,
			machines[i].label, tabs->wakeup);
	if (count > 1) {
		tabs->overview = overview_new(tabs->machines, count, budget);
		add_page(tabs, NULL, config);
	}
	for (size_t i = 0; i < count; i++)
		add_page(tabs, &tabs->machines[i], config);
	tabs->now = util_now();
	return tabs;
}

void tabs_free(struct tabs *tabs)
{
	if (!tabs)
		return;
	if (tabs->console)
		console_listen(tabs->console, NULL);
	for (size_t i = 0; i < tabs->count; i++)
		screen_free(tabs->pages[i].screen);
	overview_free(tabs->overview);
	for (size_t i = 0; i < tabs->machine_count; i++)
		machine_clear(&tabs->machines[i]);
	free(tabs->machines);
	wakeup_free(tabs->wakeup);
	free(tabs);
}

static struct screen *shown(const struct tabs *tabs)
{
	return tabs->pages[tabs->current].screen;
}

bool tabs_step(struct tabs *tabs, uint64_t now)
{
	bool changed = false;

	tabs->now = now;
	wakeup_clear(tabs->wakeup);
	for (size_t i = 0; i < tabs->machine_count; i++)
		if (machine_step(&tabs->machines[i]) && tabs->overview)
			changed = true;
	return screen_step(shown(tabs), now) || changed;
}

bool tabs_has_table(const struct tabs *tabs)
{
	return screen_has_table(shown(tabs));
}

size_t tabs_format(const struct tabs *tabs)
{
	return tabs->format;
}

int tabs_fds(const struct tabs *tabs, struct pollfd *fds)
{
	for (size_t i = 0; i < tabs->machine_count; i++)
		fds[i] = (struct pollfd) {
			.fd = session_message_fd(tabs->machines[i].session), .events = POLLIN,
		};
	fds[tabs->machine_count] = (struct pollfd) { .fd = wakeup_fd(tabs->wakeup), .events = POLLIN };
	return (int)tabs->machine_count + 1;
}

/* ---- the row ---- */

static struct tab tab_of(const struct machine *machine)
{
	const struct state_words *vm = state_words_of_vm(machine->vm);
	const struct state_words *link = state_words_of_link(machine->link, BY_HOOK);
	struct tab tab = { .name = machine->name, .mark = GLYPH_OFF, .style = STYLE_WARN,
		.lost = machine->lost };

	if (!machine->known)
		tab.state = state_words_of_link(LINK_CONNECTING, BY_HOOK)->brief;
	else if (vm->why)
		tab.state = vm->brief;
	else if (vitals_record(machine->running, machine->link, machine->vm))
		tab = (struct tab) { .name = machine->name, .mark = GLYPH_ON, .state = "REC",
			.style = STYLE_GOOD, .lost = machine->lost };
	else
		tab.state = link->brief;
	if (machine->vm == VM_PAUSED)
		tab.mark = GLYPH_PAUSED;
	return tab;
}

/* Fills the row with the tabs of all pages; the first is the page over all. */
static void fill(struct tabs *tabs, struct tab row[MOST])
{
	size_t running = 0;
	uint64_t lost = 0;

	for (size_t i = 0; i < tabs->machine_count; i++) {
		row[i + 1] = tab_of(&tabs->machines[i]);
		running += row[i + 1].mark == GLYPH_ON;
		lost += row[i + 1].lost;
	}
	snprintf(tabs->all_state, sizeof(tabs->all_state), "%zu/%zu REC", running,
		tabs->machine_count);
	row[ALL] = (struct tab) {
		.name = "All", .lost = lost,
		.mark = running ? GLYPH_ON : GLYPH_OFF,
		.style = running == tabs->machine_count ? STYLE_GOOD : STYLE_WARN,
		.state = running == tabs->machine_count ? "REC" : running ? tabs->all_state : "off",
	};
}

/* The canvas below the tab row. */
static struct canvas below(const struct canvas *canvas)
{
	return (struct canvas) {
		.rows = canvas->rows - 1, .columns = canvas->columns, .unicode = canvas->unicode,
		.cells = canvas->cells + canvas->columns,
	};
}

/* Draws the key for the next tab at the right, if there is room. */
static void draw_hint(const struct tabs *tabs, struct canvas *canvas, int used)
{
	char text[KEYS_TEXT];
	int left = tabs->row.width - used - 1;

	keys_text(tabs->keys, "{next-tab} next", text);
	if (canvas_width(canvas, text) < left)
		canvas_right(canvas, (struct place) { 0, used, left }, STYLE_DIM, text);
}

void tabs_draw(struct tabs *tabs, struct canvas *canvas)
{
	struct tab row[MOST];
	struct canvas rest;

	tabs->unicode = canvas->unicode;
	tabs->row = (struct place) { .width = 0 };
	if (!tabs->overview || canvas->rows < ROWS_LEAST) {
		screen_draw(shown(tabs), canvas);
		return;
	}
	tabs->row.width = canvas->columns;
	fill(tabs, row);
	rest = below(canvas);
	screen_draw(shown(tabs), &rest);
	draw_hint(tabs, canvas,
		tab_row_draw(canvas, tabs->row, row, tabs->count, tabs->current));
}

static enum screen_act click(struct tabs *tabs, const struct input *input)
{
	const struct canvas like = { .unicode = tabs->unicode };
	struct tab row[MOST];
	size_t page;

	fill(tabs, row);
	page = tab_row_at(&like, tabs->row, row, tabs->count, tabs->current, input->column);
	if (page < tabs->count)
		look(tabs, page);
	return SCREEN_NOTHING;
}

bool tabs_awaits(struct tabs *tabs, const struct input *input, uint64_t now)
{
	return screen_awaits(shown(tabs), input, now);
}

bool tabs_is_urgent(const struct tabs *tabs, const struct input *input)
{
	return screen_is_urgent(shown(tabs), input);
}

enum screen_act tabs_input(struct tabs *tabs, const struct input *input, uint64_t now)
{
	struct input moved = *input;
	enum screen_act act;

	tabs->now = now;
	if (input->kind == INPUT_CLICK && tabs->row.width && input->row == 0)
		return click(tabs, input);
	if (tabs->row.width)
		moved.row--;
	act = screen_input(shown(tabs), &moved, now);
	if (act == SCREEN_NEXT_TAB)
		look(tabs, (tabs->current + 1) % tabs->count);
	else if (act == SCREEN_PREVIOUS_TAB)
		look(tabs, (tabs->current + tabs->count - 1) % tabs->count);
	else
		return act;
	return SCREEN_NOTHING;
}
