/* SPDX-License-Identifier: MIT */
/* The guests of a walk: what their hooks would send, and the answers that their sessions would make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/wire/decode.h"
#include "walk.h"

#define BASE UINT64_C(0xffffffff80100000)	/* the functions are listed in test_walk.c */

static void event(struct walk_guest *guest, struct event event)
{
	event.time = guest->clock;
	epoch_events(guest->epoch, &event, 1);
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

void guest_status(struct walk_guest *guest, bool running)
{
	event(guest, (struct event) { .kind = EVENT_STATUS, .status = {
		.running = running, .rate = 1000, .sampler_cpu = EVENT_NONE } });
}

static void enable(struct walk_guest *guest, uint32_t cpu)
{
	event(guest, (struct event) { .kind = EVENT_CPU_STATUS, .cpu_status = {
		.cpu = cpu, .stream = STREAM_SAMPLES, .enabled = true, .size = 4096 } });
}

void guest_boot(struct walk *walk, struct walk_guest *guest)
{
	const uint8_t id[16] = { (uint8_t)++guest->boots, (uint8_t)(guest - walk->guests) };

	epoch_release(guest->epoch);
	guest->epoch = epoch_new(id, NULL, NULL);
	guest->epoch->number = (uint64_t)guest->boots;
	symbols_load_kernel(guest->epoch->inputs.symbols, walk->symbols, NULL);
	guest->clock = NS_PER_SECOND;
	if (random_below(&walk->random, 4) == 0)
		return;				/* it has not told of itself yet */
	event(guest, (struct event) { .kind = EVENT_GUEST, .guest = {
		.cpus = WALK_CPUS, .clock_hz = NS_PER_SECOND, .kernel = text_of("walker"),
		.version = text_of(guest->name), .arch = text_of("x86_64") } });
	event(guest, (struct event) { .kind = EVENT_THREAD,
		.thread = { 1, EVENT_KERNEL, text_of("init") } });
	event(guest, (struct event) { .kind = EVENT_THREAD,
		.thread = { 2, EVENT_KERNEL, text_of("worker") } });
	for (uint32_t cpu = 0; cpu < WALK_CPUS; cpu++)
		enable(guest, cpu);
	guest_status(guest, true);
}

static void sample(struct walk *walk, struct walk_guest *guest)
{
	struct random *random = &walk->random;
	uint64_t frames[3];
	uint32_t depth = 1 + (uint32_t)random_below(random, 3);
	enum mode mode = random_below(random, 3) ? MODE_KERNEL : MODE_IDLE;

	for (uint32_t i = 0; i < depth; i++)
		frames[i] = BASE + random_below(random, WALK_FUNCTIONS) * 0x100 + 8;
	event(guest, (struct event) { .kind = EVENT_SAMPLE,
		.cpu = (uint32_t)random_below(random, WALK_CPUS),
		.sample = { .process = EVENT_KERNEL, .thread = 1 + (uint32_t)random_below(random, 2),
			.mode = mode, .weight = 1 + (uint32_t)random_below(random, 4),
			.kernel_count = depth, .kernel = frames } });
}

void guest_goes_on(struct walk *walk, struct walk_guest *guest)
{
	if (!guest->epoch->known)
		return;
	for (uint64_t i = random_below(&walk->random, 8); i > 0; i--) {
		guest->clock += 10000000;
		sample(walk, guest);
	}
	guest->clock += random_below(&walk->random, 100000000);
	epoch_ticks(guest->epoch, guest->clock);
}

/* The function's row of the table, all zero if there is none. */
static struct row row_of(const struct walk_guest *guest, const struct moment *moment)
{
	struct function_request request = answers_function_request();
	struct row row = { .function = 0 };
	struct function_table *functions;

	request.request.excerpt = guest->session.page.request.excerpt;
	functions = (struct function_table *)function_table_kind.make(&request.request, moment);
	for (size_t i = 0; functions->table && i < functions->table->count; i++)
		if (tree_name(symbols_get(functions->answer.symbols, functions->table->rows[i].function),
				functions->kernel) == guest->session.page.tree.of)
			row = functions->table->rows[i];
	answer_free((struct answer *)functions);
	return row;
}

static uint64_t self_sum(const struct function_table *functions)
{
	uint64_t sum = 0;

	for (size_t i = 0; functions->table && i < functions->table->count; i++)
		sum += functions->table->rows[i].self;
	return sum;
}

/* Threads, CPUs and modes share out the time in which the function is in the stack; lines that in which it runs. */
static void check_page(const struct walk_guest *guest, const struct moment *moment)
{
	const struct function_page *page = guest->session.next->page;
	const struct tree_list *list = page && page->tree->tree ? &page->tree->tree->lists[TREE_DOWN] : NULL;
	struct row row;

	if (!list || page->tree->answer.partial || !filter_lacks(&page->tree->filter, FILTER_FUNCTION))
		return;
	row = row_of(guest, moment);
	assert_int_equal(list->count ? list->rows[0].total : 0, row.total);
	assert_int_equal(self_sum(page->tables[PAGE_THREADS]), row.total);
	assert_int_equal(self_sum(page->tables[PAGE_CPUS]), row.total);
	assert_int_equal(self_sum(page->tables[PAGE_MODES]), row.total);
	assert_int_equal(self_sum(page->tables[PAGE_LINES]), row.self);
	assert_int_equal(page->tables[PAGE_LINES]->table->weight, row.self);
}

void guest_give(struct walk *walk, struct walk_guest *guest)
{
	const struct moment moment = {
		.epoch = guest->epoch, .decode = guest->decode, .meter = &guest->meter,
		.link = guest->link, .vm = guest->vm, .kept = guest->kept,
		.trouble = "",
	};

	(void)walk;
	fake_give(&guest->session, &moment);
	check_page(guest, &moment);
}

/* The vitals tell the guest's state, whichever reader they were made for. */
void guest_told(struct walk_guest *guest)
{
	const struct vitals *vitals = guest->session.next ? guest->session.next->vitals : NULL;

	if (!vitals || !guest->session.asking_vitals)
		return;
	guest->known = true;
	guest->running = vitals->running;
	guest->kept_told = vitals->kept;
	guest->link_told = vitals->link;
	guest->vm_told = vitals->vm;
}

void guest_clear(struct walk_guest *guest)
{
	answers_free(guest->session.next);
	decode_free(guest->decode);
	epoch_release(guest->epoch);
}
