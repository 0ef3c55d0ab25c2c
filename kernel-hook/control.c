/* SPDX-License-Identifier: MIT */
/* The commands of control lines. One table has them all: it parses the words, and makes usage and help. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "events.h"
#include "hook.h"
#include "ktop.h"
#include "sampler.h"
#include "trace.h"
#include "transport.h"

enum {
	WORDS = 32,			/* in one line */
	BYTES = 4096,			/* of input in one call */
	READ_MOST = 16,			/* pages that one line may ask for */
};

/* A row of the table. */
struct command {
	const char *name, *arguments, *help;
	uint32_t least, most;		/* how many words may follow the name */
	/* Runs the command, and writes a reply to meta.reply. False: the words make no sense, and nothing was done. */
	bool (*run)(struct ktop *ktop, char **words, uint32_t count);
};

/* ---- commands ---- */

/* Begins the reply with this text. */
static struct ktop_str *answer(struct ktop *ktop, const char *text)
{
	ktop_str_set(&ktop->meta.reply, text);
	return &ktop->meta.reply;
}

/* Refuses what this word names, in place of the usage: returns true. */
static bool no_such(struct ktop *ktop, const char *what, const char *word)
{
	ktop_str_add(answer(ktop, what), word);
	ktop->meta.reply_ok = false;
	return true;
}

static bool run_start(struct ktop *ktop, char **words, uint32_t count)
{
	(void)words, (void)count;
	ktop_sampler_run(ktop, true);
	answer(ktop, "started");
	return true;
}

static bool run_stop(struct ktop *ktop, char **words, uint32_t count)
{
	(void)words, (void)count;
	ktop_sampler_run(ktop, false);
	answer(ktop, "stopped");
	return true;
}

static bool run_rate(struct ktop *ktop, char **words, uint32_t count)
{
	uint32_t rate;

	(void)count;
	if (!ktop_str_parse(words[0], &rate) || rate < 1 || rate > KTOP_RATE_MAX)
		return false;
	if (rate != ktop->control.rate) {
		ktop->control.rate = rate;
		ktop_sampler_begin(ktop);
	}
	ktop_meta_beat(ktop);
	ktop_str_number(answer(ktop, "rate "), rate);
	return true;
}

static bool run_sampler(struct ktop *ktop, char **words, uint32_t count)
{
	uint32_t sampler = ktop_str_same(words[0], "timer") ? KTOP_TIMER :
		ktop_str_same(words[0], "nmi") ? KTOP_NMI : KTOP_NONE;
	const char *why = NULL;

	(void)count;
	if (sampler == KTOP_NONE && !ktop_str_same(words[0], "none"))
		return no_such(ktop, "no sampler ", words[0]);
	if (sampler == KTOP_NMI)
		why = ktop_sampler_refusal(ktop);
	if (sampler == KTOP_NONE && ktop->meta.outside)
		why = "none: a hook outside the guest finds its kernel by samples";
	ktop->meta.reply_ok = why == NULL;
	if (why) {
		answer(ktop, why);		/* the sampler and its note stay as they are */
	} else {
		ktop_str_set(&ktop->meta.note, "");
		ktop->control.sampler = sampler;
		ktop_str_add(answer(ktop, "sampler "), words[0]);
	}
	ktop_sampler_renew(ktop);
	return true;
}

/* False: the word is neither `on` nor `off`. */
static bool on_or_off(const char *word, bool *on)
{
	*on = ktop_str_same(word, "on");
	return *on || ktop_str_same(word, "off");
}

static void no_such_cpu(struct ktop *ktop, uint32_t cpu)
{
	struct ktop_str *text = answer(ktop, "cpu ");

	ktop_str_number(text, cpu);
	ktop_str_add(text, " is not there: the last one is ");
	ktop_str_number(text, ktop->cpus - 1);
	ktop->meta.reply_ok = false;
}

static bool run_cpu(struct ktop *ktop, char **words, uint32_t count)
{
	bool all = ktop_str_same(words[0], "all"), changed = false, on;
	uint32_t cpu = 0;

	(void)count;
	if (!on_or_off(words[1], &on))
		return false;
	if (!all && !ktop_str_parse(words[0], &cpu))
		return false;
	if (cpu >= ktop->cpus) {
		no_such_cpu(ktop, cpu);
		return true;
	}
	for (uint32_t i = all ? 0 : cpu; i < (all ? ktop->cpus : cpu + 1); i++) {
		if (ktop->cpu[i].enabled == on)
			continue;
		changed = true;
		ktop->cpu[i].enabled = on;
		__atomic_store_n(&ktop->cpu[i].changes, ktop->cpu[i].changes + 1, __ATOMIC_RELAXED);
	}
	if (changed)
		ktop_sampler_begin(ktop);
	ktop_meta_beat(ktop);
	ktop_str_add(answer(ktop, "cpu "), words[0]);
	ktop_str_add(&ktop->meta.reply, on ? " on" : " off");
	return true;
}

/* Cuts the text off at the next byte of this kind, and returns what follows; NULL: nothing. */
static char *cut(char *text, char at)
{
	while (*text && *text != at)
		text++;
	if (*text == 0)
		return NULL;
	*text = 0;
	return text + 1;
}

/* The events 32 to 63 that this word names. */
static uint32_t named_by(const struct ktop *ktop, const char *word)
{
	uint32_t named[KTOP_TRACE_WORDS] = { 0 };

	ktop_events_choose(ktop, word, named, true);
	return named[KTOP_TRACE_FIRST / 32];
}

/* Takes an option of these events, as in `+lock:stack=8` or `+syscall:min=1ms`. False: it makes no sense for any. */
static bool take_option(const struct ktop *ktop, char *option, uint32_t events, struct ktop_choice *choice, bool *stack)
{
	char *value = cut(option, '=');
	bool taken = false;

	if (ktop_str_same(option, "stack")) {
		*stack = !value || (ktop_str_parse(value, &choice->frames) && choice->frames >= 1 &&
			choice->frames <= KTOP_EVENT_FRAMES_MAX);
		return *stack;
	}
	for (uint32_t i = 0; value && i < KTOP_FILTERS; i++) {
		struct ktop_filter filter = choice->filters[i];

		if (!(events & ktop_filter_events(i)) || !ktop_filter_parse(ktop, i, option, value, &filter))
			continue;
		choice->filters[i] = filter;
		choice->timed |= filter.least ? 1u << i : 0;
		taken = true;
	}
	return taken;
}

/*
 * Takes `+NAME:OPTION,...` or `-NAME`. What it names has no stack but one that stands here. A group has no other filter
 * any more if an option stands here, if all of it is named, or if none of it is on. False: it makes no sense.
 */
static bool take_event(struct ktop *ktop, char *word, struct ktop_choice *choice)
{
	bool on = word[0] == '+', stack = false;
	char *next = cut(word, ':'), *option;
	uint32_t events = named_by(ktop, word + 1);

	if ((!on && (word[0] != '-' || next)) || !word[1])
		return false;
	if (!ktop_events_choose(ktop, word + 1, choice->events, on))
		return no_such(ktop, "no event ", word + 1);
	for (uint32_t i = 0; i < KTOP_FILTERS; i++)
		if (events & ktop_filter_events(i) && (next || (on ? !(~events & ktop_filter_events(i)) :
				!(choice->events[KTOP_TRACE_FIRST / 32] & ktop_filter_events(i))))) {
			choice->filters[i] = (struct ktop_filter) { .least = 0 };
			choice->timed &= ~(1u << i);
		}
	while ((option = next)) {
		next = cut(option, ',');
		if (!take_option(ktop, option, events, choice, &stack))
			return *option && !ktop_filter_known(option) && no_such(ktop, "no filter ", option);
	}
	ktop_events_choose(ktop, word + 1, choice->stacks, stack);
	return true;
}

/* Events that are not held have no duration in the guest. False: one was asked for nevertheless. */
static bool fit_durations(const struct ktop *ktop, struct ktop_choice *choice)
{
	uint32_t holds = ktop_trace_held(ktop, choice->events[KTOP_TRACE_FIRST / 32],
		choice->stacks[KTOP_TRACE_FIRST / 32]);

	for (uint32_t i = 0; i < KTOP_PAIRS; i++)
		if (!(holds & ktop_filter_events(i))) {
			if (choice->timed & 1u << i)
				return false;
			choice->filters[i].least = 0;
		}
	return true;
}

/* First what decides how events are written, then which: ktop_sampler_renew(). */
static void apply(struct ktop *ktop, const struct ktop_choice *choice)
{
	uint32_t event_words = ktop_events_words(choice->events), filtered = 0;

	__builtin_memcpy(ktop->control.events, choice->events, sizeof(choice->events));
	if (ktop_filter_set(ktop, choice->filters))
		ktop_trace_gap(ktop);
	ktop_str_set(&ktop->meta.filters, "");
	ktop_filter_all(ktop, &ktop->meta.filters);
	for (uint32_t i = 0; i < KTOP_FILTERS; i++)
		filtered |= choice->filters[i].by ? ktop_filter_events(i) : 0;
	__atomic_store_n(&ktop->filtered, filtered, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->stack_frames, ktop_events_words(choice->stacks) ? choice->frames : 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < KTOP_TRACE_WORDS; i++) {
		const uint32_t careful = choice->stacks[i] | (i == KTOP_TRACE_FIRST / 32 ? filtered : 0);

		__atomic_store_n(&ktop->stacks[i], choice->stacks[i], __ATOMIC_RELAXED);
		__atomic_store_n(&ktop->careful[i], careful, __ATOMIC_RELAXED);
	}
	if (event_words > ktop->control.event_words)
		ktop->control.event_words = event_words;
	ktop_meta_tracing(ktop);
	ktop_sampler_renew(ktop);
}

static bool run_events(struct ktop *ktop, char **words, uint32_t count)
{
	struct ktop_choice *choice = &ktop->control.choice;

	choice->frames = ktop->stack_frames ? ktop->stack_frames : KTOP_STACK_FRAMES;
	choice->timed = 0;
	__builtin_memcpy(choice->events, ktop->control.events, sizeof(choice->events));
	__builtin_memcpy(choice->stacks, ktop->stacks, sizeof(choice->stacks));
	__builtin_memcpy(choice->filters, ktop->filters, sizeof(choice->filters));
	for (uint32_t i = 0; i < count; i++)
		if (!take_event(ktop, words[i], choice))
			return false;
		else if (!ktop->meta.reply_ok)
			return true;
	if (!fit_durations(ktop, choice))
		return false;
	apply(ktop, choice);
	ktop_events_list(ktop, choice->events, answer(ktop, "events"));
	return true;
}

/* The words as one text. It is an event of this CPU, by no thread. */
static bool run_mark(struct ktop *ktop, char **words, uint32_t count)
{
	struct ktop_str *text = answer(ktop, "mark");
	uint32_t number;

	for (char *at = words[0]; at < words[count - 1]; at++)
		*at = *at ? *at : ' ';
	ktop->meta.reply_ok = false;
	if (!ktop_tracing(ktop, KTOP_EVENT_mark)) {
		ktop_str_add(text, ": not traced: `events +mark` and `start` have it traced");
		return true;
	}
	number = ktop_meta_mark(ktop, words[0]);
	if (number == 0) {
		ktop_str_add(text, ": too many texts: use one of before");
		return true;
	}
	ktop->meta.reply_ok = true;
	ktop_trace_mark(ktop, KTOP_NO_THREAD, number);
	ktop_str_add(text, " ");
	ktop_str_add(text, words[0]);
	return true;
}

static bool run_keys(struct ktop *ktop, char **words, uint32_t count)
{
	bool plain = ktop_str_same(words[0], "plain");

	(void)count;
	if (!plain && !ktop_str_same(words[0], "chord"))
		return false;
	if (!ktop->keys.told) {
		answer(ktop, "keys: this kernel gives the hook none");
		ktop->meta.reply_ok = false;
		return true;
	}
	__atomic_store_n(&ktop->keys.plain, plain, __ATOMIC_RELAXED);
	ktop_meta_keys(ktop);
	answer(ktop, plain ? "keys plain" : "keys chord");
	return true;
}

/* The sum of a count over all CPUs and both classes. */
static uint64_t total(const struct ktop *ktop,
	uint64_t (*count)(const struct ktop *ktop, uint32_t cpu, uint32_t stream))
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ktop->cpus; i++)
		sum += count(ktop, i, KTOP_SAMPLES) + count(ktop, i, KTOP_TRACE);
	return sum;
}

static bool run_status(struct ktop *ktop, char **words, uint32_t count)
{
	struct ktop_str *text = answer(ktop, ktop_running(ktop) ? "on" : "off");

	(void)words, (void)count;
	ktop_str_add(text, ktop->control.sampler == KTOP_NMI ? ", sampler nmi" :
		ktop->control.sampler == KTOP_NONE ? ", sampler none" :
		ktop->meta.outside == KTOP_STUB ? ", sampler gdb" :
		ktop->meta.outside ? ", sampler plugin" : ", sampler timer");
	ktop_str_add(text, ", rate ");
	ktop_str_number(text, ktop->control.rate);
	ktop_str_add(text, ", events ");
	ktop_events_count(ktop, ktop->control.events, text);
	ktop_str_add(text, !ktop->keys.told ? ", keys none" :
		ktop->keys.plain ? ", keys plain" : ", keys chord");
	ktop_str_add(text, ", cpus ");
	ktop_str_number(text, ktop->cpus);
	ktop_str_add(text, ", taken ");
	ktop_str_number(text, total(ktop, ktop_taken));
	ktop_str_add(text, ", lost ");
	ktop_str_number(text, total(ktop, ktop_lost));
	ktop_meta_beat(ktop);
	return true;
}

static bool run_hello(struct ktop *ktop, char **words, uint32_t count)
{
	(void)words, (void)count;
	ktop_meta_hello(ktop);
	answer(ktop, "hello");
	return true;
}

/* A host that follows another one finds by its own word where the replies to its own lines begin. */
static bool run_echo(struct ktop *ktop, char **words, uint32_t count)
{
	(void)count;
	ktop_str_add(answer(ktop, "echo "), words[0]);
	return true;
}

/* The bytes come later, as events (wire.h: memory). */
static bool run_read(struct ktop *ktop, char **words, uint32_t count)
{
	const struct ktop_memory *memory = ktop->meta.memory;
	bool physical = ktop_str_same(words[0], "physical");
	uint64_t address;
	uint32_t pages;

	(void)count;
	if ((!physical && !ktop_str_same(words[0], "virtual")) || !ktop_str_parse_hex(words[1], &address) ||
			!ktop_str_parse(words[2], &pages) || pages < 1 || pages > READ_MOST)
		return false;
	ktop->meta.reply_ok = memory && memory->ask(physical, address, pages);
	answer(ktop, ktop->meta.reply_ok ? "read" : memory ? "read: too many pages are under way" :
		"read: a hook inside the guest reads none of its memory for the host");
	return true;
}

/* The offsets are hexadecimal. `self`: the base is the thread's structure itself. */
static bool run_task(struct ktop *ktop, char **words, uint32_t count)
{
	const struct ktop_memory *memory = ktop->meta.memory;
	struct ktop_task_places places = {
		.known = true, .itself = ktop_str_same(words[0], "self"), .states = count == 8,
	};

	if ((count != 5 && count != 8) || (!places.itself && !ktop_str_parse_hex(words[0], &places.pointer)) ||
			!ktop_str_parse_hex(words[1], &places.process) ||
			!ktop_str_parse_hex(words[2], &places.thread) ||
			!ktop_str_parse_hex(words[3], &places.name) || !ktop_str_parse_hex(words[4], &places.memory) ||
			(places.states && (!ktop_str_parse_hex(words[5], &places.state) ||
			!ktop_str_parse_hex(words[6], &places.queued) ||
			!ktop_str_parse_hex(words[7], &places.context))))
		return false;
	ktop->meta.reply_ok = memory;
	if (memory)
		memory->follow(&places);
	answer(ktop, memory ? "task" : "task: a hook inside the guest knows its threads itself");
	return true;
}

/* Numbers from this index on are told, or told once more. */
static void tell_numbers(struct ktop *ktop, uint32_t index)
{
	if (index < ktop->meta.numbers_told.count)
		ktop->meta.numbers_told.count = index;
}

static bool choose_function(struct ktop *ktop, char **words, uint32_t count)
{
	struct ktop_function function = { .cold = 0 };
	struct ktop_str *text = answer(ktop, "function ");
	const char *why;
	uint32_t index;

	if ((count != 3 && count != 5) || !ktop_str_parse_hex(words[0] + 1, &function.start) ||
			!ktop_str_parse_hex(words[1], &function.end) || function.end <= function.start ||
			(count == 5 && (!ktop_str_parse_hex(words[3], &function.cold) ||
			!ktop_str_parse_hex(words[4], &function.cold_end) || function.cold_end <= function.cold)))
		return false;
	function.name = words[2];
	ktop_str_add(text, words[2]);
	why = ktop->meta.functions->choose(&function, &index);
	ktop->meta.reply_ok = !why;
	ktop_str_add(text, why ? ": " : "");
	ktop_str_add(text, why ? why : "");
	if (!why)
		tell_numbers(ktop, index);
	return true;
}

/* The addresses are hexadecimal. Without any: is all that was chosen traced by now? */
static bool run_function(struct ktop *ktop, char **words, uint32_t count)
{
	const struct ktop_functions *functions = ktop->meta.functions;
	bool none = count && ktop_str_same(words[0], "none");
	uint64_t start;

	if (count && !none && words[0][0] != '+' && (words[0][0] != '-' || !ktop_str_parse_hex(words[0] + 1, &start)))
		return false;
	ktop->meta.reply_ok = functions;
	if (!functions) {
		answer(ktop, "function: only ktop's plugin in QEMU traces functions of a kernel, where TCG runs it");
		return true;
	}
	if (count == 0) {
		ktop->meta.reply_ok = functions->in_force();
		answer(ktop, ktop->meta.reply_ok ? "function" : "function: QEMU has still to translate anew");
		return true;
	}
	if (words[0][0] == '+')
		return choose_function(ktop, words, count);
	if (none)
		functions->drop_all();
	else
		ktop->meta.reply_ok = functions->drop(start);
	answer(ktop, ktop->meta.reply_ok ? "function" : "function: none that begins there is traced");
	return true;
}

/* All but the role is hexadecimal. */
static bool run_place(struct ktop *ktop, char **words, uint32_t count)
{
	const struct ktop_functions *functions = ktop->meta.functions;
	struct ktop_function function = { .name = words[0] };
	const char *why = "only ktop's plugin in QEMU traces events of a kernel, where TCG runs it";
	struct ktop_placed placed;
	uint64_t value;

	(void)count;
	if (!ktop_str_parse_hex(words[1], &function.start) || !ktop_str_parse_hex(words[2], &function.end) ||
			function.end <= function.start || !ktop_str_parse_hex(words[3], &value))
		return false;
	ktop_str_add(answer(ktop, "place "), words[0]);
	if (functions)
		why = functions->place(&function, value, &placed);
	ktop->meta.reply_ok = !why;
	ktop_str_add(&ktop->meta.reply, why ? ": " : "");
	ktop_str_add(&ktop->meta.reply, why ? why : "");
	if (why)
		return true;
	ktop->untraced &= ~placed.events;
	tell_numbers(ktop, placed.index);
	return true;
}

static bool run_help(struct ktop *ktop, char **words, uint32_t count);

static const struct command commands[] = {
	{ "start", "", "sample, and trace the events chosen", 0, 0, run_start },
	{ "stop", "", "do neither", 0, 0, run_stop },
	{ "rate", " N", "samples per second on each CPU, 1 to 20000", 1, 1, run_rate },
	{ "sampler", " timer|nmi|none", "each CPU's timer, or NMIs from the last CPU; none: trace alone", 1, 1,
		run_sampler },
	{ "cpu", " all|N on|off", "the CPUs to sample and to trace", 2, 2, run_cpu },
	{ "events", " [+-]NAME ...", "what to trace: an event, a group such as irq, or all; "
		"+NAME:stack[=FRAMES]; +syscall:min=1ms,process=7,number=0-5: calls that took as long, unless more is "
		"traced in them, of that process, of these numbers or names; likewise thread",
		0, WORDS - 1, run_events },
	{ "mark", " TEXT", "an event `mark` with this text, now", 1, WORDS - 1, run_mark },
	{ "keys", " chord|plain", "Ctrl+Alt+A and B, or A and B alone", 1, 1, run_keys },
	{ "read", " virtual|physical ADDRESS PAGES", "send so many pages of 4 KiB of the guest's memory",
		3, 3, run_read },
	{ "task", " self|CURRENT PROCESS THREAD NAME MEMORY [STATE QUEUED CONTEXT]", "where the "
		"thread is told", 5, 8, run_task },
	{ "function", " [+ADDRESS END NAME [COLD END]|-ADDRESS|none]", "tell when it is entered and left",
		0, 5, run_function },
	{ "place", " ROLE ADDRESS END VALUE", "where events happen", 4, 4,
		run_place },
	{ "status", "", "the state now", 0, 0, run_status },
	{ "hello", "", "send all names and facts again", 0, 0, run_hello },
	{ "echo", " WORD", "say that word", 1, 1, run_echo },
	{ "help", "", "these lines", 0, 0, run_help },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void add_form(struct ktop_str *text, const struct command *command)
{
	ktop_str_add(text, command->name);
	ktop_str_add(text, command->arguments);
}

static void add_help(struct ktop_str *text, const struct command *command)
{
	add_form(text, command);
	ktop_str_add(text, ": ");
	ktop_str_add(text, command->help);
}

static bool run_help(struct ktop *ktop, char **words, uint32_t count)
{
	struct ktop_str *text = answer(ktop, "");

	(void)words, (void)count;
	for (uint32_t i = 0; i < COMMANDS; i++) {
		ktop_str_add(text, i ? "\n" : "");
		add_help(text, &commands[i]);
	}
	return true;
}

/* The reply to a line that makes no sense: the form and help of this command; NULL: the forms of all. */
static void usage(struct ktop *ktop, const struct command *command)
{
	struct ktop_str *text = answer(ktop, "usage: ");

	ktop->meta.reply_ok = false;
	if (command)
		add_help(text, command);
	for (uint32_t i = 0; i < COMMANDS && !command; i++) {
		ktop_str_add(text, i ? " | " : "");
		add_form(text, &commands[i]);
	}
}

/* ---- lines ---- */

/* Cuts a line into words, in place, and returns how many. If there are more than WORDS, it returns WORDS + 1. */
static uint32_t split(char *line, char **words)
{
	uint32_t count = 0;

	while (*line) {
		while (*line == ' ' || *line == '\t')
			*line++ = 0;
		if (*line == 0)
			break;
		if (count == WORDS)
			return WORDS + 1;
		words[count++] = line;
		while (*line && *line != ' ' && *line != '\t')
			line++;
	}
	return count;
}

/* `mode` is an earlier name of `sampler`. ktop still sends it, since hooks of all versions take it. */
static bool is_named(const struct command *command, const char *word)
{
	return ktop_str_same(word, command->name) ||
		(command->run == run_sampler && ktop_str_same(word, "mode"));
}

/* Runs one line, which has its terminating zero. An empty one is ignored; each other one gets a reply. */
static void run_line(struct ktop *ktop, char *line)
{
	char *words[WORDS];
	uint32_t count = split(line, words), arguments = count - 1;
	const struct command *command = NULL;

	if (count == 0)
		return;
	for (uint32_t i = 0; i < COMMANDS && !command; i++)
		if (is_named(&commands[i], words[0]))
			command = &commands[i];
	ktop->meta.reply_ok = true;
	if (!command || arguments < command->least || arguments > command->most ||
			!command->run(ktop, words + 1, arguments))
		usage(ktop, command);
	ktop->meta.reply_full = true;
}

/* Adds a byte to the line, and runs the line at its end. A line that is too long gets the usage as its reply. */
static void take_byte(struct ktop *ktop, char byte)
{
	struct ktop_control *control = &ktop->control;

	if (byte == '\r')
		return;
	if (byte != '\n') {
		if (control->length < sizeof(control->line))
			control->line[control->length] = byte;
		if (control->length <= sizeof(control->line))
			control->length++;
		return;
	}
	if (control->length < sizeof(control->line)) {
		control->line[control->length] = 0;
		run_line(ktop, control->line);
	} else {
		usage(ktop, NULL);
		ktop->meta.reply_full = true;
	}
	control->length = 0;
}

/* False: no byte has come in. */
static bool next_byte(struct ktop *ktop, char *byte)
{
	struct ktop_control *control = &ktop->control;
	struct ktop_transport *transport = ktop->transport;

	if (control->input_at == control->input_size) {
		control->input_at = 0;
		control->input_size = transport->receive(transport, control->input,
			sizeof(control->input));
	}
	if (control->input_at == control->input_size)
		return false;
	*byte = (char)control->input[control->input_at++];
	return true;
}

/* There is place for one reply. While one waits to be sent, no line is taken: no reply is lost. */
static void take_lines(struct ktop *ktop)
{
	char byte;

	for (uint32_t i = 0; i < BYTES && !ktop->meta.reply_full && next_byte(ktop, &byte); i++)
		take_byte(ktop, byte);
}

static void take_keys(struct ktop *ktop)
{
	enum ktop_key_wish key = ktop_keys_take(&ktop->keys);

	if (ktop_keys_news(&ktop->keys))
		ktop_meta_keys(ktop);
	if (key != KTOP_KEY_NOTHING)
		ktop_sampler_run(ktop, key == KTOP_KEY_START);
}

void ktop_control(struct ktop *ktop, bool connected)
{
	take_keys(ktop);
	if (connected)
		take_lines(ktop);
	ktop_sampler_fall_back(ktop);
	ktop_sampler_settle(ktop);
	ktop_sampler_kick(ktop);
}

bool ktop_control_more(const struct ktop *ktop)
{
	return !ktop->meta.reply_full && ktop->control.input_at != ktop->control.input_size;
}

void ktop_control_reset(struct ktop *ktop)
{
	ktop->control.length = 0;
	ktop->control.input_at = ktop->control.input_size = 0;
	ktop->meta.reply_full = false;
}

/* As if a host had sent this line, before there is any. */
static bool run_events_text(struct ktop *ktop, const char *events)
{
	char *line = ktop->control.line, *words[WORDS];
	uint32_t size = ktop_str_fit(events, sizeof(ktop->control.line) - 1), count;

	__builtin_memcpy(line, events, size);
	line[size] = 0;
	count = split(line, words);
	ktop->meta.reply_ok = true;
	return events[size] == 0 && count <= WORDS && run_events(ktop, words, count) && ktop->meta.reply_ok;
}

bool ktop_control_init(struct ktop *ktop, const struct ktop_settings *settings)
{
	const char *why;

	ktop->control.rate = settings->rate;
	ktop->control.nmi_works = settings->nmi;	/* nothing is sent to try: the kernel says that it works */
	why = settings->nmi ? ktop_sampler_refusal(ktop) : "";
	ktop_str_set(&ktop->meta.note, why ? why : "");
	ktop->control.sampler = settings->no_sampler ? KTOP_NONE : why ? KTOP_TIMER : KTOP_NMI;
	ktop->sampler = KTOP_NONE;
	if (settings->trace && !run_events_text(ktop, settings->trace))
		return false;
	ktop_sampler_run(ktop, settings->start);
	for (uint32_t i = 0; i < ktop->cpus; i++)
		ktop->cpu[i].enabled = true;
	ktop_sampler_begin(ktop);
	ktop_sampler_settle(ktop);
	return true;
}
