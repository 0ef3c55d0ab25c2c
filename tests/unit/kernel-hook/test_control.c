/* SPDX-License-Identifier: MIT */
/* Control lines and keys: the reply to each, and what it changes in the hook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "control_lines.h"

static void start_and_stop_are_idempotent(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		done("start\n", "started");
		assert_int_equal(status().running, 1);
		assert_int_equal(ktop->sampler, KTOP_TIMER);
		for (int cpu = 0; cpu < CPUS; cpu++)
			assert_int_equal(fake_port.kicks[cpu], 1);
	}
	for (int i = 0; i < 2; i++) {
		done("stop\n", "stopped");
		assert_int_equal(status().running, 0);
		assert_int_equal(ktop->sampler, KTOP_NONE);
	}
}

static void rates(void **state)
{
	const char *bad = "usage: rate N: samples per second on each CPU, 1 to 20000";

	(void)state;
	assert_int_equal(ktop->control.rate, 997);
	done("rate 20000\n", "rate 20000");
	assert_int_equal(status().rate, 20000);
	assert_int_equal(ktop->period, HZ / 20000);
	done("rate 1\n", "rate 1");
	refused("rate 0\n", bad);
	refused("rate 20001\n", bad);
	refused("rate -1\n", bad);
	refused("rate 9x\n", bad);
	refused("rate 4294967297\n", bad);
	refused("rate 99999999999999999999999999\n", bad);
	refused("rate\n", bad);
	refused("rate 1 2\n", bad);
	assert_int_equal(ktop->control.rate, 1);
}

static void cpus(void **state)
{
	const char *bad = "usage: cpu all|N on|off: the CPUs to sample and to trace";

	(void)state;
	done("start\n", "started");
	done("cpu 2 off\n", "cpu 2 off");
	assert_int_equal(ktop->cpu[2].generation, 0);
	assert_int_not_equal(ktop->cpu[1].generation, 0);
	done("cpu all off\n", "cpu all off");
	assert_int_equal(ktop->cpu[1].generation, 0);
	done("cpu 2 on\n", "cpu 2 on");
	assert_int_equal(ktop->cpu[1].generation, 0);
	assert_int_not_equal(ktop->cpu[2].generation, 0);
	done("cpu all on\n", "cpu all on");
	refused("cpu 4 on\n", "cpu 4 is not there: the last one is 3");
	refused("cpu 1\n", bad);
	refused("cpu one on\n", bad);
	refused("cpu 1 maybe\n", bad);
}

static void events(void **state)
{
#define OFF " -softirq_enter -softirq_exit -lock_wait -lock_waited -lock_acquired -lock_released" LATER
#define LATER " -fault -memory_alloc -memory_free -block_begin -block_end -net_send -net_receive -sched_migrate" \
		" -task_begin -task_end -task_exec -signal_send -mark -task_name -sched_priority" \
		" -irqsoff_begin -irqsoff_end"
#define NONE "events -sched_switch -sched_wake -irq_enter -irq_exit -syscall_enter -syscall_exit" OFF
	enum { WAKE = 32 | 64, CALLS = 128 | 16 };	/* bits of sched_switch and sched_wake; of calls */
	const char *bad = "usage: events [+-]NAME ...: what to trace: an event, a group such as irq, or all; "
		"+NAME:stack[=FRAMES]; +syscall:min=1ms,process=7,number=0-5: calls that took as long, unless more is "
		"traced in them, of that process, of these numbers or names; likewise thread";

	(void)state;
	done("events +sched_switch +sched_wake +syscall\n",
		"events +sched_switch +sched_wake -irq_enter -irq_exit +syscall_enter +syscall_exit" OFF);
	assert_int_equal(status().trace_mask, WAKE | CALLS);
	done("events +sched_wake:stack +irq:stack=5\n", "events +sched_switch +sched_wake:stack=5 "
		"+irq_enter:stack=5 +irq_exit:stack=5 +syscall_enter +syscall_exit" OFF);
	done("events +sched_switch +sched_wake -irq\n",
		"events +sched_switch +sched_wake -irq_enter -irq_exit +syscall_enter +syscall_exit" OFF);
	done("events +irq_enter:stack -irq_exit\n", "events +sched_switch +sched_wake "
		"+irq_enter:stack=16 -irq_exit +syscall_enter +syscall_exit" OFF);
	done("events -irq\n",
		"events +sched_switch +sched_wake -irq_enter -irq_exit +syscall_enter +syscall_exit" OFF);
	refused("events +sched:stac\n", "no filter stac");
	refused("events +sched:stacks=4,thread=3\n", "no filter stacks");
	refused("events +sched:stack=\n", bad);
	refused("events +sched:stack=0\n", bad);
	refused("events +sched:stack=31\n", bad);
	refused("events -sched:stack\n", bad);
	refused("events +:stack\n", bad);
	assert_int_equal(ktop->trace[1], 0);		/* profiling is off, so nothing is traced */
	done("start\n", "started");
	assert_int_equal(ktop->trace[1], WAKE | CALLS);
	done("events -sched +irq\n",
		"events -sched_switch -sched_wake +irq_enter +irq_exit +syscall_enter +syscall_exit" OFF);
	assert_int_equal(ktop->trace[1], 2 | 4 | CALLS | 1u << KTOP_EVENT_sched_switch % 32);
	assert_int_equal(ktop->switches_untold, 1);	/* they are on for the calls' sake */
	done("events -all\n", NONE);
	done("events +irq_exit\n",
		"events -sched_switch -sched_wake -irq_enter +irq_exit -syscall_enter -syscall_exit" OFF);
	done("events -irq\n", NONE);
	done("events\n", NONE);
	refused("events sched\n", bad);
	refused("events +sched +bogus\n", "no event bogus");
	refused("events -bogus sched\n", "no event bogus");
	refused("events +bogus:stack\n", "no event bogus");
	assert_int_equal(ktop->trace[1], 0);		/* a line with a mistake changes nothing */
	refused("events +\n", bad);
	refused("events +irq_\n", "no event irq_");
	refused("events +syscal\n", "no event syscal");
#undef NONE
}

#define TOY_EVENTS(KTOP_EVENT) KTOP_EVENT(toy_put, (u32, box)) KTOP_EVENT(toy_take, (u32, box))
KTOP_EVENTS(1000, TOY_EVENTS)

static struct ktop_wire_tracing tracing(uint32_t *mask, uint16_t *words)
{
	const uint8_t *payload = fake_host_last(host, KTOP_EVENT_tracing)->payload;
	struct ktop_wire_tracing tracing;

	memcpy(&tracing, payload, sizeof(tracing));
	memcpy(words, payload + sizeof(tracing), sizeof(*words));
	memcpy(mask, payload + sizeof(tracing) + sizeof(*words), *words * sizeof(*mask));
	return tracing;
}

/* Of calls, interrupts and softirqs; naming them anew, or having them carry a stack, takes it away. */
static void a_least_duration_is_of_what_has_one(void **state)
{
	const char *bad = "usage: events [+-]NAME ...: what to trace: an event, a group such as irq, or all; "
		"+NAME:stack[=FRAMES]; +syscall:min=1ms,process=7,number=0-5: calls that took as long, unless more is "
		"traced in them, of that process, of these numbers or names; likewise thread";
	bool ok;

	(void)state;
	assert_non_null(strstr(say("events +syscall:min=1ms +irq:min=20us +softirq:min=1500ns\n", &ok),
		" only syscall:min=1000us irq:min=20us softirq:min=2us"));
	assert_true(ktop->filters[0].least == 1000 && ktop->filters[1].least == 20 && ktop->filters[2].least == 2);
	assert_non_null(strstr(say("events +syscall_exit:min=2s\n", &ok), " only syscall:min=2000000us"));
	assert_non_null(strstr(say("events +irq_exit:stack=4\n", &ok), "+irq_enter +irq_exit:stack=4 "));
	assert_non_null(strstr(say("events +syscall\n", &ok), "-irqsoff_end only softirq:min=2us"));
	say("events -softirq\n", &ok);
	assert_true(ktop->filters[0].least == 0 && ktop->filters[1].least == 0 && ktop->filters[2].least == 0);
	refused("events -syscall +syscall_exit:min=1ms\n", bad);
	refused("events +syscall_exit:stack +syscall_enter:min=1ms\n", bad);
	refused("events +sched:min=1ms\n", bad);
	refused("events -syscall:min=1ms\n", bad);
	refused("events +syscall:min\n", bad);
	refused("events +syscall:min=\n", bad);
	refused("events +syscall:min=ms\n", bad);
	refused("events +syscall:min=1\n", bad);
	refused("events +syscall:min=1m\n", bad);
	refused("events +syscall:min=1000000001ns\n", bad);
	refused("events +syscall:min=1ms,stack\n", bad);
	refused("events +syscall:\n", bad);
	refused("events +syscall:min=1ms,\n", bad);
	assert_int_equal(ktop->filters[0].least, 0);
	say("events -all\n", &ok);
}

static bool one_name(uint32_t index, struct ktop_number *number)
{
	*number = (struct ktop_number) { .event = KTOP_EVENT_syscall_enter, .number = 8 + index, .name = "read" };
	return index == 0;
}

/* The last text of the filters that the host was told. */
static void told_filters(const char *text)
{
	const uint8_t *payload = fake_host_last(host, KTOP_EVENT_filters)->payload;
	uint16_t size;

	memcpy(&size, payload, sizeof(size));
	assert_int_equal(size, strlen(text));
	assert_memory_equal(payload + sizeof(size), text, size);
}

static void filters_are_of_groups_of_events(void **state)
{
	const char *refusals[] = {
		"irq:process=7", "sched:process=7", "lock:process=7", "net:thread=7", "irq:thread=7", "task:number=1",
		"fault:number=1", "lock:number=1", "syscall:process=", "syscall:process", "syscall:process=x",
		"syscall:thread=4294967296", "syscall:number=512", "syscall:number=5-4", "syscall:number=5-",
		"syscall:number=0-512", "syscall:number=-5", "syscall:number=write", "irq:number=read",
		"syscall:name=5", "syscall:process=7,", "syscall:number=1-2-3", "net:process=1",
		"syscall:process=7,process=8", "lock:thread=1,thread=1",
	};
	const char *filters = "syscall:min=1000us,process=7,thread=9,number=0-5,number=8 irq:number=1 lock:thread=3 "
		"memory:process=7";
	const uint32_t locks = 15u << KTOP_EVENT_lock_wait % 32;
	char line[64];
	bool ok;

	(void)state;
	ktop->meta.numbers = one_name;
	assert_non_null(strstr(say("events +syscall:min=1ms,process=7,number=0-5,number=read,thread=9 +irq:number=1 "
		"+lock_wait:thread=3 +memory:stack=3,process=7\n", &ok), filters));
	told_filters(filters);
	assert_true((ktop->filtered & locks) == locks && !(ktop->filtered & 1u << KTOP_EVENT_fault % 32));
	assert_int_equal(ktop->careful[1], ktop->filtered);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		snprintf(line, sizeof(line), "events -irq +%s\n", refusals[i]);
		say(line, &ok);
		assert_false(ok);
	}
	assert_non_null(strstr(say("events\n", &ok), filters));	/* a line with a mistake changes nothing */
	say("events -irq -lock_waited +lock_wait +syscall:number=2,stack=4\n", &ok);
	told_filters("syscall:number=2 lock:thread=3 memory:process=7");	/* some of its events are on */
	say("events +lock\n", &ok);
	told_filters("syscall:number=2 memory:process=7");
	assert_non_null(strstr(say("events +all:process=8\n", &ok), "+irqsoff_end only syscall:process=8 "
		"fault:process=8 memory:process=8 block:process=8 task:process=8 signal:process=8"));
	assert_non_null(strstr(say("events +all +sched:thread=5 +net:number=2-3 +block:number=3\n", &ok),
		" only sched:thread=5 block:number=3 net:number=2-3"));
	say("events -all\n", &ok);
	told_filters("");
	assert_int_equal(ktop->filtered | ktop->careful[1], 0);
}

/* A text has one number, which is told with it, and each mark is an event. */
static void marks_are_events_with_a_text(void **state)
{
	struct ktop_wire_number told;
	struct ktop_wire_mark mark;
	char line[32];
	bool ok;

	(void)state;
	refused("mark begin\n", "mark: not traced: `events +mark` and `start` have it traced");
	say("events +mark\n", &ok);
	done("start\n", "started");
	done("mark begin  here\n", "mark begin  here");
	memcpy(&told, fake_host_last(host, KTOP_EVENT_number)->payload, sizeof(told));
	assert_true(told.event == KTOP_EVENT_mark && told.number == KTOP_MARKS_ASKED);
	assert_memory_equal(fake_host_last(host, KTOP_EVENT_number)->payload + sizeof(told), "\x0b\0begin  here", 13);
	memcpy(&mark, fake_host_last(host, KTOP_EVENT_mark)->payload, sizeof(mark));
	assert_true(mark.thread == KTOP_NO_THREAD && mark.number == KTOP_MARKS_ASKED);
	for (int i = 1; i < 32; i++) {
		snprintf(line, sizeof(line), "mark %d\n", i);
		say(line, &ok);
		assert_true(ok);
	}
	done("mark begin  here\n", "mark begin  here");
	refused("mark one more\n", "mark: too many texts: use one of before");
	refused("mark\n", "usage: mark TEXT: an event `mark` with this text, now");
}

/* Each CPU's count is told with the status, once there is one. */
static void what_was_left_out_is_told(void **state)
{
	struct ktop_wire_left_out told;
	bool ok;

	(void)state;
	say("status\n", &ok);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_left_out), 0);
	ktop->cpu[2].left_out = 77;
	say("status\n", &ok);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_left_out), 1);
	memcpy(&told, fake_host_last(host, KTOP_EVENT_left_out)->payload, sizeof(told));
	assert_true(told.cpu == 2 && told.pairs == 77);
}

static void a_kernels_own_events_are_switched_by_name(void **state)
{
	uint32_t mask[KTOP_TRACE_WORDS];
	uint16_t words;
	bool ok;

	(void)state;
	assert_true(KTOP_TELL(ktop, TOY_EVENTS));
	done("start\n", "started");
	assert_non_null(strstr(say("events +toy\n", &ok), "-irqsoff_end +toy_put +toy_take"));
	assert_int_equal(ktop->trace[31], 3u << 8);
	assert_int_equal(tracing(mask, &words).ids, KTOP_TRACE_IDS);
	assert_int_equal(words, 32);
	assert_int_equal(mask[31], 3u << 8);
	assert_non_null(strstr(say("events -toy_put +sched\n", &ok), "-toy_put +toy_take"));
	assert_int_equal(ktop->trace[31], 2u << 8);
	done("stop\n", "stopped");
	assert_int_equal(ktop->trace[31] | ktop->trace[1], 0);
	done("status\n", "off, sampler timer, rate 997, events 5 of 31, keys none, cpus 4, taken 0, lost 0");
	say("events -all\n", &ok);
	tracing(mask, &words);
	assert_int_equal(words, 0);
}

/* A kernel may lack some of the hook's own trace points. */
static void events_that_the_kernel_has_not_cannot_be_chosen(void **state)
{
	(void)state;
	boot_with(&(struct ktop_facts) { .cpus = CPUS, .boot_id = { 0xb0 }, .clock_hz = HZ,
		.untraced = ~0u << (KTOP_EVENT_softirq_enter - KTOP_TRACE_FIRST) |
			KTOP_UNTRACED(sched_switch) | KTOP_UNTRACED(sched_wake) | KTOP_UNTRACED(irq_exit) });
	done("events +all\n", "events +irq_enter +syscall_enter +syscall_exit");
	done("status\n", "off, sampler timer, rate 997, events 3 of 3, keys none, cpus 4, taken 0, lost 0");
	refused("events +sched\n", "no event sched");
}

static void more_names_than_an_answer_holds_end_in_dots(void **state)
{
	const char *answer;
	char name[32];
	bool ok;

	(void)state;
	for (int i = 0; i < KTOP_USER_EVENTS; i++) {
		snprintf(name, sizeof(name), "a_rather_long_name_%d", i);
		assert_int_not_equal(ktop_event_new(ktop, name, "u8 a;"), 0);
	}
	answer = say("events +all\n", &ok);
	assert_true(ok && strlen(answer) <= KTOP_TEXT_MAX);
	assert_string_equal(answer + strlen(answer) - 4, " ...");
}

/* If the kernel does not pass keys on to the hook, a key that the host presses would be typed into a shell. */
static void keys_that_nobody_hears_are_not_told(void **state)
{
	const struct fake_event *event;

	(void)state;
	settle();
	event = fake_host_last(host, KTOP_EVENT_keys);
	assert_string_equal(fake_text(event, 0, 0), "");
	assert_string_equal(fake_text(event, 0, 1), "");
	done("status\n", "off, sampler timer, rate 997, events 0 of 29, keys none, "
		"cpus 4, taken 0, lost 0");
	refused("keys plain\n", "keys: this kernel gives the hook none");
	refused("keys loud\n", "usage: keys chord|plain: Ctrl+Alt+A and B, or A and B alone");
}

static void keys(void **state)
{
	const struct fake_event *event;

	(void)state;
	settle();
	ktop_keys_heard(ktop);
	settle();
	event = fake_host_last(host, KTOP_EVENT_keys);
	assert_string_equal(fake_text(event, 0, 0), "\x1d\x38\x1e");
	assert_string_equal(fake_text(event, 0, 1), "\x1d\x38\x30");
	done("keys plain\n", "keys plain");
	event = fake_host_last(host, KTOP_EVENT_keys);
	assert_string_equal(fake_text(event, 0, 0), "\x1e");
	assert_string_equal(fake_text(event, 0, 1), "\x30");
	done("keys chord\n", "keys chord");
	refused("keys loud\n", "usage: keys chord|plain: Ctrl+Alt+A and B, or A and B alone");
}

static void status_says_what_is_so(void **state)
{
	(void)state;
	ktop_keys_heard(ktop);
	done("status\n", "off, sampler timer, rate 997, events 0 of 29, keys chord, "
		"cpus 4, taken 0, lost 0");
}

static const char *usage(void)
{
	static char text[KTOP_TEXT_MAX + 1];
	bool ok;

	strcpy(text, say("bogus\n", &ok));
	assert_false(ok);
	assert_memory_equal(text, "usage: start | stop | rate N | ", 31);
	assert_non_null(strstr(text, " | help"));
	return text;
}

static void garbage_is_answered_with_the_usage(void **state)
{
	const char *all = usage();
	char line[300];

	(void)state;
	refused("\x1b[2J\x80\xff\n", all);
	refused("START\n", all);
	refused("a b c d e f g h i j k l\n", all);
	refused("start now\n", "usage: start: sample, and trace the events chosen");
	memset(line, 'x', sizeof(line));
	strcpy(line + sizeof(line) - 2, "\n");
	refused(line, all);
	memcpy(line, "start", 5);			/* the beginning of a line that is too long is not run */
	refused(line, all);
	line[5] = ' ';
	memset(line + 6, ' ', sizeof(line) - 8);
	refused(line, all);
	assert_false(ktop_running(ktop));
	done("  start\t\r\n", "started");
}

static void the_longest_line_is_not_cut(void **state)
{
	char line[258];

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, "start", 5);
	strcpy(line + 255, "\n");
	done(line, "started");
	memset(line, ' ', sizeof(line));
	memcpy(line, "stop", 4);
	strcpy(line + 256, "\n");
	refused(line, usage());
	assert_true(ktop_running(ktop));
}

static struct { bool physical, refuses; uint64_t address; uint32_t count; } asked;

static bool ask_memory(bool physical, uint64_t address, uint32_t count)
{
	asked.physical = physical;
	asked.address = address;
	asked.count = count;
	return !asked.refuses;
}

/* Each page has no bytes here. */
static uint32_t next_memory(uint8_t *to)
{
	const struct ktop_wire_memory fixed = { .physical = asked.physical, .address = asked.address };

	if (!asked.count || asked.refuses)
		return 0;
	asked.count--;
	memcpy(to, &fixed, sizeof(fixed));
	memset(to + sizeof(fixed), 0, 2);
	return sizeof(fixed) + 2;
}

static void memory_is_read_from_outside_alone(void **state)
{
	static const struct ktop_memory memory = { .ask = ask_memory, .next = next_memory };
	const char *bad = "usage: read virtual|physical ADDRESS PAGES: "
		"send so many pages of 4 KiB of the guest's memory";
	struct ktop_wire_memory fixed;

	(void)state;
	refused("read virtual 1000 1\n", "read: a hook inside the guest reads none of its memory for the host");
	ktop->meta.memory = &memory;
	done("read virtual ffffffff81234567 16\n", "read");
	assert_int_equal(fake_host_count(host, KTOP_EVENT_memory), 16);
	memcpy(&fixed, fake_host_last(host, KTOP_EVENT_memory)->payload, sizeof(fixed));
	assert_int_equal(fixed.physical, 0);
	assert_int_equal(fixed.address, 0xffffffff81234567);
	done("read physical 0 1\n", "read");
	assert_true(asked.physical);
	refused("read virtual 1000 17\n", bad);
	refused("read virtual 1000 0\n", bad);
	refused("read virtual 0x1000 1\n", bad);
	refused("read virtual 11112222333344445 1\n", bad);
	refused("read virtual 1000\n", bad);
	refused("read user 1000 1\n", bad);
	asked.refuses = true;
	refused("read virtual 1000 1\n", "read: too many pages are under way");
}

static struct ktop_task_places followed;

static void follow_tasks(const struct ktop_task_places *places)
{
	followed = *places;
}

static void threads_are_followed_from_outside_alone(void **state)
{
	static const struct ktop_memory memory = { .ask = ask_memory, .next = next_memory, .follow = follow_tasks };
	const char *bad = "usage: task self|CURRENT PROCESS THREAD NAME MEMORY [STATE QUEUED CONTEXT]: "
		"where the thread is told";

	(void)state;
	asked.count = 0;
	refused("task 1fbc0 974 970 ba0 8c0\n", "task: a hook inside the guest knows its threads itself");
	ktop->meta.memory = &memory;
	done("task 1fbc0 974 970 ba0 8c0\n", "task");
	assert_true(followed.known && !followed.itself);
	assert_int_equal(followed.pointer, 0x1fbc0);
	assert_int_equal(followed.process, 0x974);
	assert_int_equal(followed.thread, 0x970);
	assert_int_equal(followed.name, 0xba0);
	assert_int_equal(followed.memory, 0x8c0);
	done("task self 1 2 3 4\n", "task");
	assert_true(followed.known && followed.itself && !followed.states);
	done("task 1fbc0 974 970 ba0 8c0 18 68 1fb40\n", "task");
	assert_true(followed.known && followed.states);
	assert_true(followed.state == 0x18 && followed.queued == 0x68 && followed.context == 0x1fb40);
	refused("task 1fbc0 974 970 ba0 8c0 18 68\n", bad);
	refused("task 1fbc0 974 970 ba0 8c0 18 68 x\n", bad);
	refused("task mine 1 2 3 4\n", bad);
	refused("task self 1 2 3\n", bad);
	refused("task self 1 2 x 4\n", bad);
}

static struct {
	struct ktop_function function;
	char name[KTOP_NAME_MAX + 1];
	uint64_t dropped;
	bool refuses, all_dropped, in_force;
} traced;

static const char *choose_function(const struct ktop_function *function, uint32_t *index)
{
	traced.function = *function;
	snprintf(traced.name, sizeof(traced.name), "%s", function->name);
	*index = 0;
	return traced.refuses ? "no more have room" : NULL;
}

static bool drop_function(uint64_t start)
{
	traced.dropped = start;
	return !traced.refuses;
}

static void drop_functions(void)
{
	traced.all_dropped = true;
}

static bool functions_in_force(void)
{
	return traced.in_force;
}

static bool function_number(uint32_t index, struct ktop_number *number)
{
	*number = (struct ktop_number) { .event = KTOP_TRACE_USER, .number = 7, .name = traced.name };
	return index == 0;
}

static struct {
	struct ktop_function function;
	char role[32];
	uint64_t value;
	bool refuses;
} told_place;

static const char *tell_place(const struct ktop_function *function, uint64_t value, struct ktop_placed *placed)
{
	told_place.function = *function;
	snprintf(told_place.role, sizeof(told_place.role), "%s", function->name);
	told_place.value = value;
	*placed = (struct ktop_placed) { .events = KTOP_UNTRACED(syscall_enter), .index = 0 };
	return told_place.refuses ? "there is no such role" : NULL;
}

/* An event that the kernel has not is one from then on, and the names of its numbers are told. */
static void events_are_placed_from_outside_alone(void **state)
{
	static const struct ktop_functions functions = { .place = tell_place };
	const char *bad = "usage: place ROLE ADDRESS END VALUE: where events happen";

	(void)state;
	refused("place call 1000 1040 0\n", "place call: only ktop's plugin in QEMU traces events of a kernel, "
		"where TCG runs it");
	ktop->meta.functions = &functions;
	ktop->meta.numbers = function_number;
	ktop->meta.numbers_told.count = UINT32_MAX;
	ktop->untraced = ~0u;
	refused("events +syscall\n", "no event syscall");
	done("place call ffffffff81234560 ffffffff81234600 800000ec\n", "place call");
	assert_string_equal(told_place.role, "call");
	assert_true(told_place.function.start == 0xffffffff81234560 && told_place.function.end == 0xffffffff81234600);
	assert_int_equal(told_place.value, 0x800000ec);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_number), 1);
	done("events +syscall\n", "events +syscall_enter");
	refused("place call 1000 1000 0\n", bad);
	refused("place call 1000 x 0\n", bad);
	refused("place call 1000 1040\n", bad);
	refused("place call 1000 1040 y\n", bad);
	told_place.refuses = true;
	ktop->untraced = ~0u;
	refused("place dream 1000 1040 0\n", "place dream: there is no such role");
	assert_int_equal(ktop->untraced, ~0u);
}

static void functions_are_traced_from_outside_alone(void **state)
{
	static const struct ktop_functions functions = { .choose = choose_function, .drop = drop_function,
		.drop_all = drop_functions, .in_force = functions_in_force };
	const char *bad = "usage: function [+ADDRESS END NAME [COLD END]|-ADDRESS|none]: "
		"tell when it is entered and left";
	const char *inside = "function: only ktop's plugin in QEMU traces functions of a kernel, where TCG runs it";

	(void)state;
	refused("function +1000 1040 f\n", inside);
	refused("function\n", inside);
	ktop->meta.functions = &functions;
	ktop->meta.numbers = function_number;
	ktop->meta.numbers_told.count = UINT32_MAX;
	done("function +ffffffff81234560 ffffffff81234600 vfs_read\n", "function vfs_read");
	assert_true(traced.function.start == 0xffffffff81234560 && traced.function.end == 0xffffffff81234600);
	assert_true(traced.function.cold == 0 && strcmp(traced.name, "vfs_read") == 0);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_number), 1);	/* its name was told */
	done("function +1000 1040 f.isra.0 8000 8010\n", "function f.isra.0");
	assert_true(traced.function.cold == 0x8000 && traced.function.cold_end == 0x8010);
	refused("function\n", "function: QEMU has still to translate anew");
	traced.in_force = true;
	done("function\n", "function");
	done("function -1000\n", "function");
	assert_int_equal(traced.dropped, 0x1000);
	done("function none\n", "function");
	assert_true(traced.all_dropped);
	refused("function +1000 1000 f\n", bad);
	refused("function +1000 1040\n", bad);
	refused("function +1000 1040 f 8000\n", bad);
	refused("function +1000 1040 f 8000 8000\n", bad);
	refused("function +x 1040 f\n", bad);
	refused("function 1000 1040 f\n", bad);
	refused("function -\n", bad);
	traced.refuses = true;
	refused("function -1000\n", "function: none that begins there is traced");
	refused("function +1000 1040 f\n", "function f: no more have room");
}

static void empty_lines_are_nothing(void **state)
{
	(void)state;
	host->input = "\n\r\n   \n";
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_reply), 0);
	done("stop\n", "stopped");
}

static void help_names_every_command(void **state)
{
	static const char *const words[] = { "start: ", "stop: ", "rate N: ", "sampler timer|nmi|none: ",
		"cpu all|N on|off: ", "events ", "keys chord|plain: ", "read virtual|physical ADDRESS PAGES: ",
		"task self|CURRENT PROCESS THREAD NAME MEMORY [STATE QUEUED CONTEXT]: ", "function [",
		"place ROLE ADDRESS END VALUE: ",
		"status: ", "hello: ",
		"echo WORD: ", "help: " };
	const char *text;
	bool ok;

	(void)state;
	text = say("help\n", &ok);
	assert_true(ok);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(text, words[i]));
	assert_true(strlen(text) < KTOP_TEXT_MAX);
}

static void every_line_has_its_reply(void **state)
{
	char lines[3000] = "";

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(lines, i % 2 ? "rate 100\n" : "what\n");
	for (uint32_t chunk = 1; chunk < 64; chunk += 7) {
		fake_host_forget(host);
		host->chunk = chunk;
		host->input = lines;
		for (int calls = 0; *host->input || ktop_control_more(ktop); calls++) {
			host->free = calls % 3;		/* at times no reply can be sent */
			ktop_drain(ktop);
			assert_true(calls < 10000);
		}
		host->free = UINT32_MAX;
		settle();
		assert_int_equal(fake_host_count(host, KTOP_EVENT_reply), 100);
		assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_reply), 1, 0),
			"rate 100");
	}
}

static void a_host_that_does_not_read_keeps_nobody_busy(void **state)
{
	(void)state;
	settle();
	host->free = 0;
	host->input = "status\nstatus\n";
	assert_false(ktop_drain(ktop));
	host->free = UINT32_MAX;
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_reply), 2);
}

static void a_new_host_does_not_finish_the_line_of_the_last(void **state)
{
	bool ok;

	(void)state;
	host->input = "sta";
	settle();
	host->connected = false;
	ktop_drain(ktop);
	fake_host_connect(host);
	say("rt\n", &ok);
	assert_false(ok);
	assert_false(ktop_running(ktop));
}

static void echo_says_the_word(void **state)
{
	bool ok;

	(void)state;
	done("echo 3735928559\n", "echo 3735928559");
	say("echo\n", &ok);
	assert_false(ok);
	say("echo a b\n", &ok);
	assert_false(ok);
}

static void hello_tells_all_again(void **state)
{
	uint32_t descriptors;

	(void)state;
	ktop_process(ktop, 5, "shell");
	settle();
	descriptors = fake_host_count(host, KTOP_EVENT_descriptor);
	assert_true(descriptors > 10);
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_descriptor), descriptors);
	done("hello\n", "hello");
	assert_int_equal(host->events[0].id, KTOP_EVENT_descriptor);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_descriptor), descriptors);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_guest), 1);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(start_and_stop_are_idempotent),
		TEST(rates),
		TEST(cpus),
		TEST(events),
		TEST(a_least_duration_is_of_what_has_one),
		TEST(filters_are_of_groups_of_events),
		TEST(marks_are_events_with_a_text),
		TEST(what_was_left_out_is_told),
		TEST(a_kernels_own_events_are_switched_by_name),
		TEST(events_that_the_kernel_has_not_cannot_be_chosen),
		TEST(more_names_than_an_answer_holds_end_in_dots),
		TEST(keys_that_nobody_hears_are_not_told),
		TEST(keys),
		TEST(status_says_what_is_so),
		TEST(garbage_is_answered_with_the_usage),
		TEST(the_longest_line_is_not_cut),
		TEST(memory_is_read_from_outside_alone),
		TEST(threads_are_followed_from_outside_alone),
		TEST(events_are_placed_from_outside_alone),
		TEST(functions_are_traced_from_outside_alone),
		TEST(empty_lines_are_nothing),
		TEST(help_names_every_command),
		TEST(every_line_has_its_reply),
		TEST(a_host_that_does_not_read_keeps_nobody_busy),
		TEST(a_new_host_does_not_finish_the_line_of_the_last),
		TEST(echo_says_the_word),
		TEST(hello_tells_all_again),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
