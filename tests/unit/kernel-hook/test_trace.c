/* SPDX-License-Identifier: MIT */
/* Trace points: what they write into the rings, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/sampler.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/write_sample.h"
#include "tests/unit/fakes/fake_port.h"

enum { CPUS = 4 };

/* The rows that a kernel has in a header of its own. */
#define DISK_EVENTS(KTOP_EVENT) \
	KTOP_EVENT(disk_read, (u32, disk), (u64, block)) \
	KTOP_EVENT(disk_done, (u8, disk), (s16, error)) \
	KTOP_EVENT(disk_eight, (u8, a), (u16, b), (u32, c), (u64, d), (s8, e), (s16, f), (s32, g), (s64, h))
KTOP_EVENTS(100, DISK_EVENTS)

static struct ktop *ktop;

static int set_up(void **state)
{
	struct ktop_facts facts = { .cpus = CPUS };
	struct ktop_settings settings = { .start = true };
	size_t size = ktop_memory_size(CPUS, &settings);

	(void)state;
	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	return 0;
}

static const uint32_t all[] = {
	KTOP_EVENT_sched_switch, KTOP_EVENT_sched_wake, KTOP_EVENT_irq_enter, KTOP_EVENT_irq_exit,
	KTOP_EVENT_syscall_enter, KTOP_EVENT_syscall_exit, KTOP_EVENT_softirq_enter, KTOP_EVENT_softirq_exit,
	KTOP_EVENT_lock_wait, KTOP_EVENT_lock_waited, KTOP_EVENT_lock_acquired, KTOP_EVENT_lock_released,
	KTOP_EVENT_fault, KTOP_EVENT_memory_alloc, KTOP_EVENT_memory_free, KTOP_EVENT_block_begin,
	KTOP_EVENT_block_end, KTOP_EVENT_net_send, KTOP_EVENT_net_receive, KTOP_EVENT_sched_migrate,
	KTOP_EVENT_task_begin, KTOP_EVENT_task_end, KTOP_EVENT_task_exec, KTOP_EVENT_signal_send,
	KTOP_EVENT_mark, KTOP_EVENT_task_name, KTOP_EVENT_sched_priority,
	KTOP_EVENT_irqsoff_begin, KTOP_EVENT_irqsoff_end,
};
enum { ALL = sizeof(all) / sizeof(all[0]) };

static void trace_all(void)
{
	ktop_trace_sched_switch(ktop, 1, 2, KTOP_LEAVES_READY);
	ktop_trace_sched_wake(ktop, 1, KTOP_NO_THREAD);
	ktop_trace_irq_enter(ktop, 3);
	ktop_trace_irq_exit(ktop, 4);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, UINT64_MAX, 6);
	ktop_trace_syscall_exit(ktop, 7, 8, 9);
	ktop_trace_softirq_enter(ktop, 3);
	ktop_trace_softirq_exit(ktop, 3);
	ktop_trace_lock_wait(ktop, UINT64_MAX - 1, 5, 6);
	ktop_trace_lock_waited(ktop, UINT64_MAX - 1, 5, 1);
	ktop_trace_lock_acquired(ktop, 7, 5);
	ktop_trace_lock_released(ktop, 7, 5);
	ktop_trace_fault(ktop, 5, UINT64_MAX, 9, 1);
	ktop_trace_memory_alloc(ktop, 5, 1, UINT64_MAX - 4095, 4096);
	ktop_trace_memory_free(ktop, KTOP_NO_THREAD, 1, UINT64_MAX - 4095);
	ktop_trace_block_begin(ktop, UINT64_MAX - 1, 5, 1, 0xfd0001, 1ull << 40, 4096);
	ktop_trace_block_end(ktop, UINT64_MAX - 1, -5);
	ktop_trace_net_send(ktop, 2, 1500);
	ktop_trace_net_receive(ktop, 2, 60);
	ktop_trace_sched_migrate(ktop, 5, 3);
	ktop_trace_task_begin(ktop, 6, 7, 5);
	ktop_trace_task_end(ktop, 6);
	ktop_trace_task_exec(ktop, 6, 7);
	ktop_trace_signal_send(ktop, 6, 10, 5);
	ktop_trace_mark(ktop, 5, 2);
	ktop_trace_task_name(ktop, 5);
	ktop_trace_sched_priority(ktop, 5, -20);
	ktop_trace_irqsoff_begin(ktop, 2, 5);
	ktop_trace_irqsoff_end(ktop, 2);
}

static void trace_points_write_what_they_were_given(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[2], KTOP_TRACE);
	const struct ktop_record *record;
	struct ktop_wire_syscall_enter enter;
	struct ktop_wire_syscall_exit exit;
	struct ktop_wire_lock_wait wait;
	struct ktop_wire_block_begin block;
	struct ktop_wire_sched_priority priority;
	uint32_t ids[ALL], count = 0;

	(void)state;
	fake_cpu = 2;
	ktop->trace[1] = ~0u;
	trace_all();
	assert_int_equal(fake_port.masked, 0);
	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		assert_true(count < ALL);
		ids[count++] = record->id;
		if (record->id == KTOP_EVENT_syscall_enter)
			memcpy(&enter, record->payload, sizeof(enter));
		if (record->id == KTOP_EVENT_syscall_exit)
			memcpy(&exit, record->payload, sizeof(exit));
		if (record->id == KTOP_EVENT_lock_wait)
			memcpy(&wait, record->payload, sizeof(wait));
		if (record->id == KTOP_EVENT_block_begin)
			memcpy(&block, record->payload, sizeof(block));
		if (record->id == KTOP_EVENT_sched_priority)
			memcpy(&priority, record->payload, sizeof(priority));
		ktop_ring_drop(ring, record);
	}
	assert_int_equal(count, ALL);
	for (uint32_t i = 0; i < ALL; i++)
		assert_int_equal(ids[i], all[i]);
	assert_true(enter.thread == 5 && enter.number == 6 && enter.arg0 == 1 && enter.arg1 == 2 && enter.arg2 == 3);
	assert_true(enter.arg3 == 4 && enter.arg4 == UINT64_MAX && enter.arg5 == 6);
	assert_true(exit.thread == 7 && exit.number == 8 && exit.result == 9);
	assert_true(wait.lock == UINT64_MAX - 1 && wait.thread == 5 && wait.holder == 6);
	assert_true(block.request == UINT64_MAX - 1 && block.thread == 5 && block.number == 1);
	assert_true(priority.thread == 5 && priority.priority == -20);
	assert_true(block.device == 0xfd0001 && block.sector == 1ull << 40 && block.bytes == 4096);
	assert_int_equal(ktop_ring(&ktop->cpu[2], KTOP_SAMPLES)->committed, 0);
}

static void trace_points_obey_the_mask(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);

	(void)state;
	for (uint32_t bit = 0; bit < ALL; bit++) {
		ktop->trace[1] = 1u << (all[bit] - 32);
		trace_all();
		assert_int_equal(ring->committed, bit + 1);
	}
	ktop->cpu[0].generation = 0;
	ktop_trace_syscall_exit(ktop, 7, 8, 9);
	assert_int_equal(ring->committed, ALL);
}

static void stop_inside(void)
{
	ktop_sampler_run(ktop, false);
}

static void an_event_overtaken_by_a_stop_is_discarded(void **state)
{
	const struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);

	(void)state;
	ktop->trace[1] = 0x1f;
	ktop->control.event_words = 2;
	fake_port.at_clock = stop_inside;
	ktop_trace_irq_enter(ktop, 3);
	assert_int_equal(ktop->trace[1], 0);
	assert_int_equal(ring->committed + ktop_ring_lost(ring), 0);
	assert_false(ktop_ring_busy(ring));
}

static void traced(uint32_t id)
{
	ktop->trace[id / 32] |= 1u << id % 32;
}

/* The payload of the only event in the ring of this CPU. */
static const uint8_t *only_event(uint32_t id, uint32_t size)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);
	const struct ktop_record *record = ktop_ring_first(ring, ktop_ring_head(ring));

	assert_non_null(record);
	assert_int_equal(record->id, id);
	assert_int_equal(record->size, size);
	ktop_ring_drop(ring, record);
	assert_null(ktop_ring_first(ring, ktop_ring_head(ring)));
	return record->payload;
}

static void a_kernels_own_events_are_typed_and_have_ids_of_their_own(void **state)
{
	static const uint8_t done[] = { 7, 0xfb, 0xff };

	(void)state;
	assert_true(KTOP_EVENT_disk_read == 100 && KTOP_EVENT_disk_done == 101);
	ktop_trace_disk_done(ktop, 7, -5);
	assert_int_equal(ktop_ring(&ktop->cpu[0], KTOP_TRACE)->committed, 0);
	traced(KTOP_EVENT_disk_done);
	ktop_trace_disk_read(ktop, 1, 2);
	ktop_trace_disk_done(ktop, 7, -5);
	assert_memory_equal(only_event(101, sizeof(done)), done, sizeof(done));
}

static void eight_fields_lie_one_behind_the_other(void **state)
{
	struct ktop_wire_disk_eight event;

	(void)state;
	traced(KTOP_EVENT_disk_eight);
	ktop_trace_disk_eight(ktop, 1, 2, 3, 1ull << 40, -1, -2, -3, INT64_MIN);
	assert_int_equal(sizeof(event), 30);
	memcpy(&event, only_event(102, 30), sizeof(event));
	assert_true(event.a == 1 && event.b == 2 && event.c == 3 && event.d == 1ull << 40);
	assert_true(event.e == -1 && event.f == -2 && event.g == -3 && event.h == INT64_MIN);
}

/* The kernel uses all ids that the hook has: the last one is switched like the first. */
static void an_event_of_run_time_has_any_id(void **state)
{
	const char text[] = { 3, 0, 'a', 'b', 'c' };
	uint16_t id = ktop_event_new(ktop, "opened", "char[] path;");

	(void)state;
	assert_int_equal(id, KTOP_TRACE_IDS - 1);
	assert_int_equal(ktop_event_new(ktop, "opened", "char[] path;"), id);
	assert_int_equal(ktop_event_new(ktop, "opened", "char[] path;u8 mode;"), id - 1);
	ktop_trace(ktop, id, text, sizeof(text));
	assert_int_equal(ktop_ring(&ktop->cpu[0], KTOP_TRACE)->committed, 0);
	traced(id);
	ktop_trace(ktop, id, text, sizeof(text));
	assert_memory_equal(only_event(id, sizeof(text)), text, sizeof(text));
	ktop_trace(ktop, KTOP_TRACE_IDS, text, sizeof(text));
	ktop_trace(ktop, id, text, KTOP_TRACE_MAX + 1);
	assert_int_equal(ktop_ring(&ktop->cpu[0], KTOP_TRACE)->committed, 1);
}

static void what_is_no_event_is_refused_and_counted(void **state)
{
	static const struct ktop_event_row other = { 100, "disk_write", "u32 disk;" },
		low = { KTOP_TRACE_USER - 1, "low", "u8 a;" }, high = { KTOP_TRACE_IDS, "high", "u8 a;" },
		nameless = { 110, "", "u8 a;" };
	char name[KTOP_TRACE_TEXT];

	(void)state;
	assert_true(KTOP_TELL(ktop, DISK_EVENTS));
	assert_true(KTOP_TELL(ktop, DISK_EVENTS));
	assert_int_equal(ktop_table_fill(&ktop->meta.events).used, 3);
	assert_false(ktop_events(ktop, &other, 1));
	assert_false(ktop_events(ktop, &low, 1));
	assert_false(ktop_events(ktop, &high, 1));
	assert_false(ktop_events(ktop, &nameless, 1));
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	assert_int_equal(ktop_event_new(ktop, name, "u8 a;"), 0);
	assert_int_equal(ktop_table_fill(&ktop->meta.events).lost, 5);
	assert_int_equal(ktop_table_fill(&ktop->meta.events).used, 3);
	name[sizeof(name) - 1 - strlen("u8 a;")] = 0;
	assert_int_not_equal(ktop_event_new(ktop, name, "u8 a;"), 0);
}

static void a_full_table_of_events_refuses_more(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < KTOP_USER_EVENTS; i++) {
		snprintf(name, sizeof(name), "event%d", i);
		assert_int_equal(ktop_event_new(ktop, name, "u8 a;"), KTOP_TRACE_IDS - 1 - i);
	}
	assert_int_equal(ktop_event_new(ktop, "more", "u8 a;"), 0);
	assert_false(KTOP_TELL(ktop, DISK_EVENTS));
	assert_int_equal(ktop_table_fill(&ktop->meta.events).lost, 1 + 3);
	assert_int_not_equal(ktop_event_new(ktop, "event3", "u8 a;"), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* ---- stacks ---- */

enum { WORDS_OF_STACK = 4096 };		/* above this frame, which the walk may read */

/* The stack of this thread, as a kernel whose text is all code, from this frame up. */
static void stand_on(const void *frame)
{
	fake_port.current[0].stack_low = (uintptr_t)frame - 8 * WORDS_OF_STACK;
	fake_port.current[0].stack_high = (uintptr_t)frame + 512;
	fake_port.texts[0] = (struct fake_text) { 0, UINT64_MAX, KTOP_TEXT };
}

static struct ktop_record *next_record(struct ktop_ring *ring)
{
	return (struct ktop_record *)ktop_ring_first(ring, ktop_ring_head(ring));
}

static __attribute__((__noinline__)) void *trace_from_here(void)
{
	ktop_trace_lock_wait(ktop, 7, 5, 6);
	ktop_trace_lock_acquired(ktop, 7, 5);
	return __builtin_return_address(0);
}

/* The event follows its stack, at the same time. The first frame is the one with the trace point; a limit holds. */
static void events_carry_stacks(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);
	const struct ktop_record *record;
	struct ktop_wire_stack stack;
	uint64_t frames[3] = { 0 };
	uint16_t count;
	void *caller;

	(void)state;
	ktop->trace[1] = ~0u;
	ktop->stacks[1] = ktop->careful[1] = 1u << (KTOP_EVENT_lock_wait - 32);
	ktop->stack_frames = 3;
	stand_on(__builtin_frame_address(0));
	caller = trace_from_here();
	record = next_record(ring);
	assert_int_equal(record->id, KTOP_EVENT_stack);
	memcpy(&stack, record->payload, sizeof(stack));
	memcpy(&count, record->payload + sizeof(stack), sizeof(count));
	assert_in_range(count, 2, 3);
	assert_int_equal(record->size, sizeof(stack) + 2 + 8 * count);
	memcpy(frames, record->payload + sizeof(stack) + 2, 8 * count);
	assert_int_equal(stack.event, KTOP_EVENT_lock_wait);
	assert_in_range(frames[0], (uintptr_t)trace_from_here, (uintptr_t)trace_from_here + 400);
	assert_int_equal(frames[1], (uintptr_t)caller);
	fake_port.clock = record->time;
	ktop_ring_drop(ring, record);
	record = next_record(ring);
	assert_int_equal(record->id, KTOP_EVENT_lock_wait);
	assert_int_equal(record->time, fake_port.clock);
	ktop_ring_drop(ring, record);
	assert_int_equal(next_record(ring)->id, KTOP_EVENT_lock_acquired);	/* that one carries none */
}

/* A stack pointer that is not of the thread's stack: nothing is read, and the event is there without callers. */
static void a_strange_stack_is_not_walked(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);
	struct ktop_wire_stack stack;
	uint16_t count;

	(void)state;
	ktop->trace[1] = ktop->stacks[1] = ktop->careful[1] = ~0u;
	ktop->stack_frames = KTOP_EVENT_FRAMES_MAX;
	fake_port.current[0].stack_low = 0x5000;
	fake_port.current[0].stack_high = 0x6000;
	trace_from_here();
	memcpy(&count, next_record(ring)->payload + sizeof(stack), sizeof(count));
	assert_int_equal(count, 0);
	assert_int_equal(ring->committed, 4);
	assert_int_equal(fake_port.masked, 0);
}

/* A caller without frame pointers may leave anything there. */
static void a_frame_pointer_to_nowhere_is_not_read(void **state)
{
	struct ktop_wire_sample sample = { .flags = 0 };
	uint8_t frames[64];

	(void)state;
	fake_port.current[0].stack_low = 0x5000;
	fake_port.current[0].stack_high = 0x6000;
	for (uint64_t fp = 0xdeadbeef; fp; fp <<= 4)
		assert_int_equal(ktop_walk_here(fp, &sample, frames, 8), 0);
	assert_int_equal(ktop_walk_here(0, &sample, frames, 8), 0);
}

/* While there is room for the event alone, its stack is what is lost. */
static void a_full_ring_counts_stacks_too(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);

	(void)state;
	ktop->trace[1] = ktop->stacks[1] = ktop->careful[1] = ~0u;
	ktop->stack_frames = KTOP_EVENT_FRAMES_MAX;
	stand_on(__builtin_frame_address(0));
	while (ktop_ring_lost(ring) < 100)
		trace_from_here();
	assert_true(ring->full >= 100 && ring->nested == 0);
	assert_int_equal(ring->busy, 0);
}

/* ---- two events in one ---- */

/* Chooses events as a control line does, all of them but these. */
static void trace_all_but(uint32_t without)
{
	ktop->trace[1] = ktop_trace_choose(ktop, ~without);
	ktop->cpu[0].switches = true;
}

static uint32_t bit_of(uint32_t id)
{
	return 1u << id % 32;
}

/* The next record, which is dropped: its id and time. Its payload begins with these words. */
struct told {
	uint32_t id, size;
	uint64_t time, words[9];
};

static struct told next_told(void)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);
	const struct ktop_record *record = next_record(ring);
	struct told told = { .id = 0 };

	if (record) {
		told = (struct told) { .id = record->id, .size = record->size, .time = record->time };
		memcpy(told.words, record->payload, record->size < sizeof(told.words) ? record->size : 72);
		ktop_ring_drop(ring, record);
	}
	return told;
}

static void a_call_and_its_end_are_one_event(void **state)
{
	struct ktop_wire_syscall_whole whole;
	struct told told;

	(void)state;
	trace_all_but(0);
	fake_port.clock = 5000;
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, UINT64_MAX, 6);
	assert_int_equal(next_told().id, 0);
	fake_port.clock = 5700;
	ktop_trace_syscall_exit(ktop, 5, 6, (uint64_t)-4);
	told = next_told();
	assert_int_equal(told.id, KTOP_EVENT_syscall_whole);
	assert_int_equal(told.size, sizeof(whole));
	assert_int_equal(told.time, 5700);
	memcpy(&whole, told.words, sizeof(whole));
	assert_true(whole.took == 700 && whole.thread == 5 && whole.number == 6 && whole.result == (uint64_t)-4);
	assert_true(whole.arg0 == 1 && whole.arg3 == 4 && whole.arg4 == UINT64_MAX && whole.arg5 == 6);
	assert_int_equal(next_told().id, 0);
	assert_int_equal(ktop_taken(ktop, 0, KTOP_TRACE), 1);
}

/* The events of another interrupt, another thread and another call in between: each beginning stands before them. */
static void a_beginning_is_told_before_any_other_event(void **state)
{
	struct told told;

	(void)state;
	trace_all_but(0);
	fake_port.clock = 100;
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	fake_port.clock = 130;
	ktop_trace_irq_enter(ktop, 9);
	told = next_told();
	assert_true(told.id == KTOP_EVENT_syscall_began && told.time == 130 && told.words[0] == 30);
	assert_true(told.size == sizeof(struct ktop_wire_syscall_began) && told.words[1] == (6ull << 32 | 5));
	fake_port.clock = 135;
	ktop_trace_irq_exit(ktop, 9);
	told = next_told();
	assert_true(told.id == KTOP_EVENT_irq_whole && told.time == 135 && told.words[0] == 5);
	assert_true(told.size == sizeof(struct ktop_wire_irq_whole) && told.words[1] == 9);
	ktop_trace_syscall_exit(ktop, 5, 6, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_exit);

	ktop_trace_softirq_enter(ktop, 1);
	ktop_trace_softirq_exit(ktop, 2);		/* of another one */
	assert_int_equal(next_told().id, KTOP_EVENT_softirq_began);
	assert_int_equal(next_told().id, KTOP_EVENT_softirq_exit);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	ktop_trace_syscall_exit(ktop, 7, 6, 0);		/* of another thread */
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_began);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_exit);
	assert_int_equal(next_told().id, 0);
}

/* Where only calls are chosen, a switch ends what is held, and is not told. */
static void a_switch_that_nobody_asked_for_tells_the_call_alone(void **state)
{
	(void)state;
	trace_all_but(bit_of(KTOP_EVENT_sched_switch));
	assert_true(ktop->trace[1] & bit_of(KTOP_EVENT_sched_switch));
	ktop_trace_sched_switch(ktop, 5, 4, KTOP_LEAVES_READY);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	ktop_trace_sched_switch(ktop, 5, 4, KTOP_LEAVES_ASLEEP);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_began);
	assert_int_equal(next_told().id, 0);
	assert_false(ktop_ring_busy(ktop_ring(&ktop->cpu[0], KTOP_TRACE)));
	assert_int_equal(ktop_taken(ktop, 0, KTOP_TRACE), 1);
}

/* The end of one of these is not traced, and the other carries a stack. */
static void what_cannot_be_one_event_is_two(void **state)
{
	(void)state;
	ktop->stacks[1] = bit_of(KTOP_EVENT_irq_exit);
	trace_all_but(bit_of(KTOP_EVENT_softirq_exit));
	ktop_trace_softirq_enter(ktop, 1);
	assert_int_equal(next_told().id, KTOP_EVENT_softirq_enter);
	ktop_trace_irq_enter(ktop, 1);
	assert_int_equal(next_told().id, KTOP_EVENT_irq_enter);
	ktop->untraced = KTOP_UNTRACED(sched_switch);	/* this kernel tells no switch */
	trace_all_but(bit_of(KTOP_EVENT_sched_switch));
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_enter);
}

/* A kernel that has not told of a switch might never do so: its threads would leave their CPUs untold. */
static void calls_wait_for_the_first_switch(void **state)
{
	(void)state;
	trace_all_but(bit_of(KTOP_EVENT_sched_switch));
	ktop->cpu[0].switches = false;
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_enter);
	ktop_trace_sched_switch(ktop, 5, 4, KTOP_LEAVES_READY);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	assert_int_equal(next_told().id, 0);
}

/* Only what matters for it is asked whether it was switched. An end is told, also if what it ends is not. */
static void what_is_held_outlives_the_switching_of_others(void **state)
{
	(void)state;
	trace_all_but(0);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	trace_all_but(bit_of(KTOP_EVENT_lock_wait));
	ktop_trace_syscall_exit(ktop, 5, 6, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_whole);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	trace_all_but(bit_of(KTOP_EVENT_syscall_enter));
	ktop_trace_syscall_exit(ktop, 5, 6, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_exit);
	trace_all_but(0);
	ktop_trace_irq_enter(ktop, 5);
	ktop_trace_gap(ktop);
	ktop_trace_irq_exit(ktop, 5);
	assert_int_equal(next_told().id, KTOP_EVENT_irq_exit);
	assert_int_equal(next_told().id, 0);
}

/* Where there is no room, a switch that nobody asked for is not lost. */
static void no_loss_is_of_a_switch_that_nobody_asked_for(void **state)
{
	uint64_t lost;

	(void)state;
	trace_all_but(bit_of(KTOP_EVENT_sched_switch));
	while (ktop_lost(ktop, 0, KTOP_TRACE) < 10)
		ktop_trace_fault(ktop, 5, 6, 7, 0);
	lost = ktop_lost(ktop, 0, KTOP_TRACE);
	for (int i = 0; i < 100; i++)
		ktop_trace_sched_switch(ktop, 5, 4, KTOP_LEAVES_READY);
	assert_int_equal(ktop_lost(ktop, 0, KTOP_TRACE), lost);
}

/* Its end may have come while the CPU was off. */
static void a_beginning_from_before_the_cpu_was_off_is_not_told(void **state)
{
	(void)state;
	trace_all_but(0);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	ktop_trace_gap(ktop);
	ktop_trace_syscall_exit(ktop, 5, 6, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_exit);
	ktop_trace_irq_enter(ktop, 5);
	ktop_trace_gap(ktop);
	ktop_trace_irq_enter(ktop, 5);
	ktop_trace_irq_exit(ktop, 5);
	assert_int_equal(next_told().id, KTOP_EVENT_irq_whole);
	assert_int_equal(next_told().id, 0);
	assert_int_equal(ktop_lost(ktop, 0, KTOP_TRACE), 0);
}

static void what_is_too_short_is_left_out_and_counted(void **state)
{
	(void)state;
	trace_all_but(0);
	ktop->filters[0].least = 100;
	for (uint64_t took = 98; took < 102; took++) {
		fake_port.clock = 1000;
		ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
		fake_port.clock = 1000 + took;
		ktop_trace_syscall_exit(ktop, 5, 6, 0);
		assert_int_equal(next_told().id, took < 100 ? 0 : KTOP_EVENT_syscall_whole);
	}
	assert_int_equal(ktop->cpu[0].left_out, 2);
	ktop_trace_irq_enter(ktop, 1);
	ktop_trace_irq_exit(ktop, 1);			/* no least duration of these */
	assert_int_equal(next_told().id, KTOP_EVENT_irq_whole);
	ktop_trace_syscall_enter(ktop, 5, 6, 1, 2, 3, 4, 5, 6);
	ktop_trace_sched_switch(ktop, 5, 4, KTOP_LEAVES_ASLEEP);
	ktop_trace_syscall_exit(ktop, 5, 6, 0);		/* it has left its CPU: all of it is told */
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_began);
	assert_int_equal(next_told().id, KTOP_EVENT_sched_switch);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_exit);
	assert_int_equal(ktop->cpu[0].left_out, 2);
}

/* One event of a history, by a number. */
static void trace_one(uint32_t what)
{
	switch (what % 8) {
	case 0: ktop_trace_syscall_enter(ktop, what / 8 % 2, 6, what, 2, 3, 4, 5, what); break;
	case 1: ktop_trace_syscall_exit(ktop, what / 8 % 2, 6, what); break;
	case 2: ktop_trace_irq_enter(ktop, what / 8 % 3); break;
	case 3: ktop_trace_irq_exit(ktop, what / 8 % 3); break;
	case 4: ktop_trace_softirq_enter(ktop, what / 8 % 2); break;
	case 5: ktop_trace_softirq_exit(ktop, what / 8 % 2); break;
	case 6: ktop_trace_sched_switch(ktop, what, 4, KTOP_LEAVES_ASLEEP); break;
	case 7: ktop_trace_sched_wake(ktop, what, 4); break;
	}
}

enum { HISTORY = 400 };

/* Lays out what was told as the single events that it stands for. Returns how many there are. */
static uint32_t unfold(struct told list[2 * HISTORY])
{
	uint32_t count = 0;

	for (struct told told; (told = next_told()).id;) {
		const bool call = told.id == KTOP_EVENT_syscall_began || told.id == KTOP_EVENT_syscall_whole;
		const bool irq = told.id == KTOP_EVENT_irq_began || told.id == KTOP_EVENT_irq_whole;
		struct told *begin = &list[count], *end = begin + 1;

		if (told.id < KTOP_EVENT_syscall_began || told.id > KTOP_EVENT_softirq_whole) {
			list[count++] = told;
			continue;
		}
		*begin = (struct told) {
			.id = call ? KTOP_EVENT_syscall_enter : irq ? KTOP_EVENT_irq_enter : KTOP_EVENT_softirq_enter,
			.size = call ? 56 : 4, .time = told.time - told.words[0],
		};
		memcpy(begin->words, told.words + 1, begin->size);
		count++;
		if (told.id % 2)
			continue;			/* it began */
		*end = (struct told) {
			.id = call ? KTOP_EVENT_syscall_exit : irq ? KTOP_EVENT_irq_exit : KTOP_EVENT_softirq_exit,
			.size = call ? 16 : 4, .time = told.time, .words = { told.words[1], call ? told.words[8] : 0 },
		};
		count++;
	}
	return count;
}

/* The same histories with and without held beginnings tell the same, to the byte, but for the last beginning. */
static void random_histories_are_told_alike(void **state)
{
	static struct told plain[2 * HISTORY], held[2 * HISTORY];
	uint32_t random = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		const uint32_t seed = random;
		uint32_t counts[2], full[2];

		for (int holds = 0; holds < 2; holds++) {
			random = seed;
			fake_port.clock = 1000000 * (uint64_t)(round + 1);
			trace_all_but(0);
			ktop->holds = holds ? ktop->holds : 0;
			for (int i = 0; i < HISTORY; i++) {
				random = random * 1664525 + 1013904223;
				fake_port.clock += random >> 20 & 255;
				trace_one(random >> 8);
			}
			counts[holds] = unfold(holds ? held : plain);
			full[holds] = (uint32_t)ktop_lost(ktop, 0, KTOP_TRACE);
			ktop->cpu[0].held.id = 0;
		}
		assert_int_equal(full[1], 0);
		assert_in_range(counts[1], counts[0] - 1, counts[0]);
		assert_memory_equal(plain, held, counts[1] * sizeof(held[0]));
	}
}

/* Has the event the thread, or the number, that a filter asks for? */
static bool passes(const struct told *told)
{
	const bool call = told->id == KTOP_EVENT_syscall_enter || told->id == KTOP_EVENT_syscall_exit;

	return call ? (uint32_t)told->words[0] == 1 :
		told->id != KTOP_EVENT_irq_enter && told->id != KTOP_EVENT_irq_exit ? true : told->words[0] % 3 != 1;
}

static bool is_end(const struct told *told)
{
	return told->id == KTOP_EVENT_syscall_exit || told->id == KTOP_EVENT_irq_exit;
}

/* The same histories with and without filters tell the same of what passes; of the rest, pairs are counted once. */
static void filters_leave_out_all_else(void **state)
{
	static struct told plain[2 * HISTORY], filtered[2 * HISTORY];
	uint32_t random = 5;

	(void)state;
	for (int round = 0; round < 100; round++) {
		const uint32_t seed = random;
		uint32_t counts[2], kept = 0, left_out = 0;

		for (int filter = 0; filter < 2; filter++) {
			random = seed;
			fake_port.clock = 1000000 * (uint64_t)(round + 1);
			trace_all_but(0);
			ktop->filters[0] = (struct ktop_filter) { .by = filter ? KTOP_BY_THREAD : 0, .thread = 1 };
			ktop->filters[1] = (struct ktop_filter) { .by = filter ? KTOP_BY_NUMBER : 0, .numbers = { 5 } };
			ktop->filtered = filter ? ktop_filter_events(0) | ktop_filter_events(1) : 0;
			ktop->careful[1] = ktop->filtered;
			ktop->cpu[0].left_out = 0;
			for (int i = 0; i < HISTORY; i++) {
				random = random * 1664525 + 1013904223;
				fake_port.clock += random >> 20 & 255;
				trace_one(random >> 8);
			}
			ktop_trace_sched_wake(ktop, 1, 2);	/* the last beginning is told, too */
			counts[filter] = unfold(filter ? filtered : plain);
		}
		for (uint32_t i = 0; i < counts[0]; i++)
			if (passes(&plain[i]))
				plain[kept++] = plain[i];
			else
				left_out += !is_end(&plain[i]);
		assert_int_equal(counts[1], kept);
		assert_memory_equal(plain, filtered, kept * sizeof(plain[0]));
		assert_int_equal(ktop->cpu[0].left_out, left_out);
	}
}

/* The process is that of the thread that runs; an event of no thread, or of another one, is not its. */
static void a_process_is_known_by_the_thread_that_runs(void **state)
{
	(void)state;
	trace_all_but(0);
	ktop->filters[4] = (struct ktop_filter) { .by = KTOP_BY_PROCESS, .process = 7 };
	ktop->filtered = ktop->careful[1] = ktop_filter_events(4);
	fake_port.current[0] = (struct ktop_current) { .process = 7, .thread = 5 };
	ktop_trace_fault(ktop, 5, 1, 2, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_fault);
	ktop_trace_fault(ktop, 6, 1, 2, 0);
	ktop_trace_fault(ktop, KTOP_NO_THREAD, 1, 2, 0);
	fake_port.current[0].process = 8;
	ktop_trace_fault(ktop, 5, 1, 2, 0);
	assert_int_equal(next_told().id, 0);
	assert_int_equal(ktop->cpu[0].left_out, 3);
}

static void leave_out_all_but(uint32_t id, struct ktop_filter filter)
{
	for (uint32_t i = 0; i < KTOP_FILTERS; i++)
		if (ktop_filter_events(i) & bit_of(id)) {
			ktop->filters[i] = filter;
			ktop->filtered = ktop->careful[1] = ktop_filter_events(i);
		}
	ktop->cpu[0].left_out = 0;
}

/* Of one thread's switches it is not told whom it follows, and who follows it; a held call has begun all the same. */
static void switches_and_wakes_of_one_thread(void **state)
{
	struct told told;

	(void)state;
	trace_all_but(0);
	leave_out_all_but(KTOP_EVENT_sched_switch, (struct ktop_filter) { .by = KTOP_BY_THREAD, .thread = 1 });
	ktop_trace_sched_switch(ktop, 2, 1, KTOP_LEAVES_ASLEEP);
	told = next_told();
	assert_int_equal(told.words[0], KTOP_OTHER_THREAD | UINT64_C(1) << 32);
	assert_int_equal(told.words[1] & 255, KTOP_LEAVES_ASLEEP);
	ktop_trace_sched_switch(ktop, 1, KTOP_NO_THREAD, KTOP_LEAVES_BLOCKED);
	told = next_told();
	assert_int_equal(told.words[0], 1 | (uint64_t)KTOP_OTHER_THREAD << 32);
	ktop_trace_syscall_enter(ktop, 2, 6, 1, 2, 3, 4, 5, 6);
	ktop_trace_sched_switch(ktop, 2, 3, KTOP_LEAVES_ASLEEP);
	assert_int_equal(next_told().id, KTOP_EVENT_syscall_began);
	ktop_trace_sched_wake(ktop, 3, 2);
	ktop_trace_sched_migrate(ktop, 3, 1);		/* to CPU 1 */
	ktop_trace_sched_priority(ktop, 3, 1);
	assert_int_equal(next_told().id, 0);
	assert_int_equal(ktop->cpu[0].left_out, 4);
	ktop_trace_sched_wake(ktop, 3, 1);
	ktop_trace_sched_wake(ktop, 1, KTOP_NO_THREAD);
	ktop_trace_sched_migrate(ktop, 1, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(next_told().id, i < 2 ? KTOP_EVENT_sched_wake : KTOP_EVENT_sched_migrate);
	assert_int_equal(ktop->cpu[0].left_out, 4);
}

/* The end of a request is told if its beginning was; of those that are left out, each counts once. */
static void requests_of_one_thread(void **state)
{
	(void)state;
	trace_all_but(0);
	leave_out_all_but(KTOP_EVENT_block_begin, (struct ktop_filter) { .by = KTOP_BY_THREAD, .thread = 1 });
	for (uint32_t thread = 1; thread < 4; thread++) {	/* each time the same request, then other ones */
		ktop_trace_block_begin(ktop, 0xffff888000001000, thread % 2 + 1, 0, 1, 2, 3);
		assert_int_equal(next_told().id, thread % 2 ? 0 : KTOP_EVENT_block_begin);
		ktop_trace_block_end(ktop, 0xffff888000001000, 0);
		assert_int_equal(next_told().id, thread % 2 ? 0 : KTOP_EVENT_block_end);
	}
	assert_int_equal(ktop->cpu[0].left_out, 2);
	ktop_trace_block_begin(ktop, 0xffff888000001000, 2, 0, 1, 2, 3);
	leave_out_all_but(KTOP_EVENT_block_begin, (struct ktop_filter) { .by = KTOP_BY_NUMBER, .numbers = { 1 << 3 } });
	ktop_trace_block_begin(ktop, 0xffff888000001000, 2, 3, 1, 2, 3);
	ktop_trace_block_end(ktop, 0xffff888000001000, 0);
	ktop_trace_block_end(ktop, 0xffff888000002000, 0);	/* it is not known of whom */
	ktop_trace_block_end(ktop, 0, 0);
	assert_int_equal(next_told().id, KTOP_EVENT_block_begin);
	for (int i = 0; i < 3; i++)
		assert_int_equal(next_told().id, KTOP_EVENT_block_end);
	assert_int_equal(ktop->cpu[0].left_out, 0);
}

static void net_tasks_and_signals(void **state)
{
	(void)state;
	trace_all_but(0);
	fake_port.current[0] = (struct ktop_current) { .process = 7, .thread = 5 };
	leave_out_all_but(KTOP_EVENT_task_begin, (struct ktop_filter) { .by = KTOP_BY_PROCESS, .process = 7 });
	ktop_trace_task_begin(ktop, 6, 7, 5);		/* by its maker, which runs */
	ktop_trace_task_exec(ktop, 5, 7);
	ktop_trace_task_end(ktop, 4);
	assert_int_equal(next_told().id, KTOP_EVENT_task_begin);
	assert_int_equal(next_told().id, KTOP_EVENT_task_exec);
	leave_out_all_but(KTOP_EVENT_signal_send, (struct ktop_filter) {
		.by = KTOP_BY_THREAD | KTOP_BY_NUMBER, .thread = 5, .numbers = { 1 << 10 } });
	ktop_trace_signal_send(ktop, 6, 10, 5);
	ktop_trace_signal_send(ktop, 5, 10, KTOP_NO_THREAD);
	ktop_trace_signal_send(ktop, 5, 11, KTOP_NO_THREAD);
	ktop_trace_signal_send(ktop, 6, 10, 4);
	assert_int_equal(next_told().id, KTOP_EVENT_signal_send);
	assert_int_equal(next_told().id, KTOP_EVENT_signal_send);
	assert_int_equal(ktop->cpu[0].left_out, 2);
	leave_out_all_but(KTOP_EVENT_net_send, (struct ktop_filter) { .by = KTOP_BY_NUMBER, .numbers = { 1 << 2 } });
	ktop_trace_net_send(ktop, 2, 1500);
	ktop_trace_net_receive(ktop, 1, 60);
	assert_int_equal(next_told().id, KTOP_EVENT_net_send);
	assert_int_equal(next_told().id, 0);
}

/* Where their beginnings are off, ends are counted for themselves. */
static void ends_alone_are_counted_too(void **state)
{
	(void)state;
	trace_all_but(bit_of(KTOP_EVENT_syscall_enter));
	ktop->filters[0] = (struct ktop_filter) { .by = KTOP_BY_THREAD, .thread = 1 };
	ktop->filtered = ktop->careful[1] = ktop_filter_events(0);
	ktop_trace_syscall_exit(ktop, 2, 6, 0);
	assert_int_equal(ktop->cpu[0].left_out, 1);
}

/* A small ring that is seldom read: what is told is whole, and the rest is counted. */
static void a_full_ring_tells_no_half_of_what_was_held(void **state)
{
	uint32_t told_ends = 0, random = 7;

	(void)state;
	trace_all_but(0);
	for (int i = 0; i < 100000; i++) {
		random = random * 1664525 + 1013904223;
		fake_port.clock += 10;
		trace_one(random >> 8);
		for (int j = 0; j < 3 && random >> 28 == 0; j++) {
			struct told told = next_told();

			if (told.id == KTOP_EVENT_syscall_whole) {
				assert_true(told.words[2] % 8 == 0 && told.words[7] == told.words[2]);
				assert_int_equal(told.words[8] % 8, 1);
				assert_true(told.words[0] % 10 == 0 && told.words[0] < 10 * 100000);
				told_ends++;
			}
		}
	}
	assert_true(told_ends > 100 && ktop_lost(ktop, 0, KTOP_TRACE) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trace_points_write_what_they_were_given),
		TEST(trace_points_obey_the_mask),
		TEST(an_event_overtaken_by_a_stop_is_discarded),
		TEST(a_kernels_own_events_are_typed_and_have_ids_of_their_own),
		TEST(eight_fields_lie_one_behind_the_other),
		TEST(an_event_of_run_time_has_any_id),
		TEST(what_is_no_event_is_refused_and_counted),
		TEST(a_full_table_of_events_refuses_more),
		TEST(events_carry_stacks),
		TEST(a_strange_stack_is_not_walked),
		TEST(a_frame_pointer_to_nowhere_is_not_read),
		TEST(a_full_ring_counts_stacks_too),
		TEST(a_call_and_its_end_are_one_event),
		TEST(a_beginning_is_told_before_any_other_event),
		TEST(a_switch_that_nobody_asked_for_tells_the_call_alone),
		TEST(what_cannot_be_one_event_is_two),
		TEST(calls_wait_for_the_first_switch),
		TEST(what_is_held_outlives_the_switching_of_others),
		TEST(no_loss_is_of_a_switch_that_nobody_asked_for),
		TEST(a_beginning_from_before_the_cpu_was_off_is_not_told),
		TEST(what_is_too_short_is_left_out_and_counted),
		TEST(random_histories_are_told_alike),
		TEST(filters_leave_out_all_else),
		TEST(switches_and_wakes_of_one_thread),
		TEST(requests_of_one_thread),
		TEST(net_tasks_and_signals),
		TEST(a_process_is_known_by_the_thread_that_runs),
		TEST(ends_alone_are_counted_too),
		TEST(a_full_ring_tells_no_half_of_what_was_held),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
