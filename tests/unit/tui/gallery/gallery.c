/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/names/symbols.h"
#include "agent/wire/decode.h"
#include "agent/wire/trace_kinds.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "gallery.h"

#define BASE UINT64_C(0xffffffff80100000)

enum { SIZE = 0x40, ROUNDS = 6 };	/* bytes of a function */

const char *const gallery_names[FUNCTIONS] = { "entry_point", "do_work", "copy_page", "take_lock", "alloc_page" };
const char *const gallery_threads[GALLERY_THREADS] = { "init", "worker", "flusher" };
const uint64_t gallery_pcs[4] = { 0, 1, 3, 5 };

/* push %rbp; pause; test %eax,%eax; jne to pause; pop %rbp; ret; what follows is nop */
static const uint8_t code[] = { 0x55, 0xf3, 0x90, 0x85, 0xc0, 0x75, 0xfa, 0x5d, 0xc3 };

uint64_t gallery_address(int function)
{
	return BASE + (uint64_t)function * SIZE;
}

/* ---- guests ---- */

static void event(struct gallery *gallery, struct gallery_guest *guest, struct event event)
{
	event.time = gallery->clock;
	epoch_events(guest->epoch, &event, 1);
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static void load_names(struct symbols *symbols)
{
	char *text = NULL;
	size_t size;
	FILE *to = util_text_open(&text, &size);

	for (int i = 0; i < FUNCTIONS; i++)
		fprintf(to, "%llx T %s\n", (unsigned long long)gallery_address(i), gallery_names[i]);
	fprintf(to, "%llx T the_end\n", (unsigned long long)gallery_address(FUNCTIONS));
	text = util_text_close(to, &text);
	assert_true(symbols_load_kernel(symbols, scratch_text("gallery.map", text), NULL));
	free(text);
}

/* The page with the kernel's code, as a guest sends it when it is asked. */
static void give_code(struct gallery_guest *guest)
{
	static uint8_t page[4096];

	memset(page, 0x90, sizeof(page));
	memcpy(page + LOCK * SIZE, code, sizeof(code));
	guest_memory_take(guest->epoch->memory, &(struct memory_bytes) { .address = BASE,
		.bytes = { .bytes = (const char *)page, .size = sizeof(page) } });
}

static void boot(struct gallery *gallery, struct gallery_guest *guest)
{
	static const struct decode_sink sink = { .context = NULL };
	const uint8_t id[16] = { (uint8_t)(guest - gallery->guests) + 1 };

	guest->decode = decode_new(&sink);
	guest->kinds = trace_kinds_new();
	guest->epoch = epoch_new(id, NULL, NULL);
	guest->epoch->number = 1;
	load_names(guest->epoch->inputs.symbols);
	event(gallery, guest, (struct event) { .kind = EVENT_GUEST, .guest = {
		.cpus = GALLERY_CPUS, .clock_hz = NS_PER_SECOND, .kernel = text_of("gallery"), .version = text_of("1"),
		.arch = text_of("x86_64") } });
	for (uint32_t i = 0; i < GALLERY_THREADS; i++)
		event(gallery, guest, (struct event) { .kind = EVENT_THREAD,
			.thread = { i + 1, EVENT_KERNEL, text_of(gallery_threads[i]) } });
	for (uint32_t cpu = 0; cpu < GALLERY_CPUS; cpu++)
		event(gallery, guest, (struct event) { .kind = EVENT_CPU_STATUS, .cpu_status = {
			.cpu = cpu, .stream = STREAM_SAMPLES, .enabled = true, .size = 4096 } });
	event(gallery, guest, (struct event) { .kind = EVENT_STATUS, .status = {
		.running = true, .rate = 1000, .sampler_cpu = EVENT_NONE } });
}

static struct gallery_sample draw_sample(struct gallery *gallery, uint32_t cpu)
{
	static const int stacks[][GALLERY_DEPTH + 1] = {	/* depth, then the functions */
		{ 2, WORK, ENTRY }, { 3, COPY, WORK, ENTRY }, { 4, LOCK, COPY, WORK, ENTRY }, { 3, LOCK, ALLOC, ENTRY },
		{ 2, ALLOC, ENTRY }, { 1, ENTRY }, { 4, LOCK, COPY, WORK, ENTRY },
	};
	struct random *random = &gallery->random;
	const int *stack = stacks[random_below(random, sizeof(stacks) / sizeof(*stacks))];
	bool idle = random_below(random, 4) == 0;
	struct gallery_sample sample = { .cpu = cpu, .mode = idle ? MODE_IDLE : MODE_KERNEL,
		.thread = (uint32_t)random_below(random, GALLERY_THREADS + cpu) % GALLERY_THREADS,
		.depth = idle ? 0 : (uint32_t)*stack };

	memcpy(sample.stack, stack + 1, sizeof(sample.stack));
	if (!idle && sample.stack[0] == LOCK)
		sample.pc = gallery_pcs[random_below(random, 3) + random_below(random, 2)];
	return sample;
}

static void take(struct gallery *gallery, struct gallery_guest *guest, uint32_t cpu)
{
	struct gallery_sample sample = draw_sample(gallery, cpu);
	uint64_t frames[GALLERY_DEPTH];

	sample.time = gallery->clock;
	if (guest->count == guest->room) {
		guest->room = guest->room ? 2 * guest->room : 4096;
		guest->samples = util_grow(guest->samples, guest->room, sizeof(*guest->samples));
	}
	guest->samples[guest->count++] = sample;
	for (uint32_t i = 0; i < sample.depth; i++)
		frames[i] = gallery_address(sample.stack[i]) + (i == 0 ? sample.pc : 8);
	event(gallery, guest, (struct event) { .kind = EVENT_SAMPLE, .cpu = cpu, .sample = {
		.process = EVENT_KERNEL, .thread = sample.thread + 1, .mode = sample.mode, .weight = GALLERY_WEIGHT,
		.kernel_count = sample.depth, .kernel = frames } });
}

static void trace(struct gallery_guest *guest, uint32_t cpu, uint16_t id, uint64_t time, const void *fields,
	size_t size)
{
	const struct event event = { .kind = EVENT_TRACE, .id = id, .cpu = cpu, .time = time, .trace = {
		.kind = trace_kinds_find(guest->kinds, id), .fields = fields, .size = size } };

	epoch_events(guest->epoch, &event, 1);
}

/* The call has come to its end, and then comes an interrupt. Each takes some time that is never the same. */
static void trace_tick(struct gallery *gallery, struct gallery_guest *guest, uint32_t cpu)
{
	const uint64_t now = gallery->clock, us = NS_PER_MS / 1000;
	const uint64_t call = 100 + now / NS_PER_MS % 700, irq = 2 + now % 9;
	const struct ktop_wire_syscall_enter enter = { .thread = cpu + 1, .number = GALLERY_CALL };
	const struct ktop_wire_syscall_exit exit = { .thread = cpu + 1, .number = GALLERY_CALL };
	const struct ktop_wire_irq_enter of_irq = { .irq = GALLERY_IRQ };

	epoch_packet(guest->epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = cpu, .begin = now - call * us,
		.end = now + (1 + irq) * us });
	trace(guest, cpu, KTOP_EVENT_syscall_enter, now - call * us, &enter, sizeof(enter));
	trace(guest, cpu, KTOP_EVENT_syscall_exit, now, &exit, sizeof(exit));
	trace(guest, cpu, KTOP_EVENT_irq_enter, now + us, &of_irq, sizeof(of_irq));
	trace(guest, cpu, KTOP_EVENT_irq_exit, now + (1 + irq) * us, &of_irq, sizeof(of_irq));
}

/* A packet is complete when the next one comes. */
static void trace_whole(struct gallery *gallery, struct gallery_guest *guest)
{
	for (uint32_t cpu = 0; cpu <= GALLERY_CPUS; cpu++)
		epoch_packet(guest->epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = cpu % GALLERY_CPUS,
			.begin = gallery->clock, .end = gallery->clock });
}

/* Each sample is in the middle of its tick, so no range of whole ticks cuts one. */
void gallery_run(struct gallery *gallery, uint32_t seconds)
{
	const uint64_t half = GALLERY_TICK_MS * NS_PER_MS / 2, end = gallery->clock + seconds * NS_PER_SECOND;

	for (size_t i = 0; i < gallery->machines; i++)
		trace_whole(gallery, &gallery->guests[i]);	/* each CPU has begun, so it is waited for */
	while (gallery->clock < end) {
		gallery->clock += half;
		for (size_t i = 0; i < gallery->machines; i++)
			for (uint32_t cpu = 0; cpu < GALLERY_CPUS; cpu++)
				take(gallery, &gallery->guests[i], cpu);
		for (size_t i = 0; gallery->clock / (2 * half) % GALLERY_TRACED == 0 && i < gallery->machines; i++)
			for (uint32_t cpu = 0; cpu < GALLERY_CPUS; cpu++)
				trace_tick(gallery, &gallery->guests[i], cpu);
		gallery->clock += half;
	}
	for (size_t i = 0; i < gallery->machines; i++) {
		epoch_ticks(gallery->guests[i].epoch, gallery->clock);
		trace_whole(gallery, &gallery->guests[i]);
	}
}

/* ---- the terminal ---- */

struct gallery *gallery_new(size_t machines, bool replay)
{
	static const char *const labels[GALLERY_MACHINES] = { "web", "db" };
	struct gallery *gallery = util_alloc(sizeof(*gallery));
	struct tabs_machine sessions[GALLERY_MACHINES];

	gallery->random.state = 7;
	gallery->machines = machines;
	gallery->replay = replay;
	gallery->clock = NS_PER_SECOND;
	config_init(&gallery->config);
	gallery->config.keys.tabs = machines > 1;
	gallery->config.keys.replay = replay;
	for (size_t i = 0; i < machines; i++) {
		boot(gallery, &gallery->guests[i]);
		sessions[i] = (struct tabs_machine) { .session = &gallery->guests[i].session, .label = labels[i] };
	}
	gallery->tabs = tabs_new(sessions, machines, NULL, &gallery->config);
	gallery->now = gallery->begun = util_now();
	gallery->canvas = canvas_new(60, 200, true);
	tabs_draw(gallery->tabs, gallery->canvas);
	return gallery;
}

void gallery_free(struct gallery *gallery)
{
	tabs_free(gallery->tabs);
	canvas_free(gallery->canvas);
	for (size_t i = 0; i < gallery->machines; i++) {
		struct gallery_guest *guest = &gallery->guests[i];

		answers_free(guest->session.next);
		decode_free(guest->decode);
		trace_kinds_free(guest->kinds);
		epoch_release(guest->epoch);
		free(guest->samples);
	}
	free(gallery);
}

static void give(struct gallery *gallery, struct gallery_guest *guest)
{
	const struct moment moment = {
		.epoch = guest->epoch, .decode = guest->decode, .meter = &guest->meter, .link = LINK_UP,
		.vm = gallery->replay ? VM_UNKNOWN : VM_RUNNING, .trouble = "",
		.play = { .there = gallery->replay, .playing = gallery->replay, .speed = 1, .at = 20 * NS_PER_SECOND,
			.end = 60 * NS_PER_SECOND, .boot = 1, .boots = 1 },
	};

	fake_give(&guest->session, &moment);
	give_code(guest);
}

/* True: code is still being disassembled, on a thread of its own. */
static bool is_awaited(const struct gallery *gallery)
{
	bool awaited = false;

	for (size_t i = 0; i < gallery->machines; i++) {
		const struct answers *next = gallery->guests[i].session.next;

		awaited = awaited || (next && next->annotation && next->annotation->answer.partial);
	}
	return awaited;
}

/* True: code is still being disassembled, so the clock stands nearly still. Else it moves on by more than any pause. */
static bool answer(struct gallery *gallery)
{
	bool awaited;

	for (size_t i = 0; i < gallery->machines; i++)
		give(gallery, &gallery->guests[i]);
	awaited = is_awaited(gallery);
	gallery->now += awaited ? NS_PER_MS / 1000 : NS_PER_SECOND / 8;
	tabs_step(gallery->tabs, gallery->now);
	return awaited;
}

void gallery_answer(struct gallery *gallery)
{
	answer(gallery);
}

void gallery_settle(struct gallery *gallery)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (answer(gallery))
			i = 0;
		tabs_draw(gallery->tabs, gallery->canvas);
	}
}

void gallery_press(struct gallery *gallery, uint32_t code_pressed)
{
	struct input input = { .kind = INPUT_KEY, .code = code_pressed };

	assert_int_equal(tabs_input(gallery->tabs, &input, gallery->now), SCREEN_NOTHING);
	tabs_draw(gallery->tabs, gallery->canvas);
}

void gallery_type(struct gallery *gallery, const char *keys)
{
	for (; *keys; keys++)
		if (*keys == '|')
			gallery_settle(gallery);
		else
			gallery_press(gallery, *keys == '\b' ? KEYS_F(8) : (unsigned char)*keys);
	gallery_settle(gallery);
}

void gallery_draw(struct gallery *gallery, struct canvas *canvas)
{
	tabs_draw(gallery->tabs, canvas);
}
