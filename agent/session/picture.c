/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/meter.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/decode.h"
#include "picture.h"
#include "wish.h"

_Static_assert(sizeof(struct picture_cpu) <= EPOCH_PICTURE_CPU &&
	sizeof(struct cpu_trend) <= EPOCH_PICTURE_TREND &&
	(int)PICTURE_TRENDS == (int)EPOCH_TRENDS, "the epoch has paid for it");

bool picture_records(bool running, enum link_state link, enum vm_state vm)
{
	return running && link == LINK_UP && (vm == VM_RUNNING || vm == VM_UNKNOWN);
}

struct question picture_question(const struct epoch *epoch, const struct session_wish *wish)
{
	uint64_t now = epoch_now(epoch);
	uint64_t end = wish->until_ns && wish->until_ns < now ? wish->until_ns : now;
	struct question question = {
		.to = wish->until_ns ? end : UINT64_MAX,
		.filter = wish->filter,
		.callers = wish->selected == FUNCTION_NONE ? CALLERS_NONE : CALLERS_ONE,
		.callee = wish->selected,
	};

	if (wish->window_ns && wish->window_ns < end)
		question.from = end - wish->window_ns;
	/* A zero that lies ahead is of an earlier boot. */
	if (wish->zero_ns > question.from && wish->zero_ns <= end)
		question.from = wish->zero_ns;
	return question;
}

static void tell_guest(struct picture *picture, const struct epoch *epoch)
{
	memcpy(picture->kernel, epoch->kernel, sizeof(picture->kernel));
	memcpy(picture->version, epoch->version, sizeof(picture->version));
	memcpy(picture->arch, epoch->arch, sizeof(picture->arch));
	picture->cpu_count = epoch->cpu_count;
	picture->now = epoch_now(epoch);
}

static void tell_cost(struct picture *picture, const struct epoch *epoch)
{
	uint64_t cost = 0, span = 0, taken = 0, lost = 0;

	for (uint32_t i = 0; i < epoch->cpus_seen; i++) {
		const struct cpu_status *told = &epoch->cpus[i].told[STREAM_SAMPLES];
		double fill = told->size ? (double)told->used / told->size : 0;

		cost += told->cost;
		span += told->span;
		taken += told->taken;
		if (told->lost > epoch->cpus[i].lost_before[STREAM_SAMPLES])
			lost += told->lost - epoch->cpus[i].lost_before[STREAM_SAMPLES];
		if (fill > picture->ring_fill)
			picture->ring_fill = fill < 1 ? fill : 1;
	}
	picture->lost_guest = lost;
	picture->cost_ns = taken ? (double)epoch_ns(epoch, cost) / (double)taken : 0;
	picture->cost_share = span ? (double)cost / (double)span : 0;
}

static void tell_profiler(struct picture *picture, const struct picture_inputs *inputs)
{
	const struct epoch *epoch = inputs->epoch;
	struct books books = decode_books_all(inputs->decode, STREAM_SAMPLES);

	picture->running = (inputs->link == LINK_UP || inputs->link == LINK_SILENT) && epoch->status_known && epoch->status.running;
	picture->sampler = epoch->status.sampler;
	picture->rate = epoch->status.rate;
	tell_cost(picture, epoch);
	if (picture->lost_guest > books.lost)
		picture->lost_guest = books.lost;
	picture->lost_host = books.lost - picture->lost_guest;
	if (picture->running)
		picture->achieved = meter_rate(inputs->meter, inputs->wish->window_ns);
	picture->lost_before = books.earlier_lost;
}

static void tell_cpus(struct picture *picture, const struct picture_inputs *inputs,
	const struct question *question)
{
	const struct epoch *epoch = inputs->epoch;
	struct cpu_series *series = util_alloc(picture->cpu_count * sizeof(*series));
	uint32_t own = picture->cpu_count < PICTURE_TRENDS ? picture->cpu_count : PICTURE_TRENDS;

	picture->trends = util_alloc((own + 1) * sizeof(*picture->trends));
	for (uint32_t i = 0; i < picture->cpu_count; i++)
		series[i].trend = picture->trends[i < own ? i : own].mode;
	query_cpus(epoch->query, question, series, picture->cpu_count);
	picture->cpus = util_alloc(picture->cpu_count * sizeof(*picture->cpus));
	for (uint32_t i = 0; i < picture->cpu_count; i++)
		picture->cpus[i] = (struct picture_cpu){
			.sampler = epoch->sampler == i,
			.enabled = epoch->cpus[i].told[STREAM_SAMPLES].enabled,
			.series = series[i],
			.lost = decode_books(inputs->decode, STREAM_SAMPLES, i).lost,
		};
	free(series);
}

static void tell_rows(struct picture *picture, const struct picture_inputs *inputs,
	const struct question *question)
{
	const struct session_wish *wish = inputs->wish;
	struct epoch *epoch = inputs->epoch;
	struct symbols *symbols = epoch->inputs.symbols;

	picture->visible = util_alloc(wish->visible_count * sizeof(*picture->visible));
	for (size_t i = 0; i < wish->visible_count; i++) {
		struct picture_row *row = &picture->visible[picture->visible_count];

		if (wish->visible[i] >= symbols_functions(symbols))
			continue;
		row->function = wish->visible[i];
		row->line = symbols_line(symbols, row->function);
		query_trend(epoch->query, question, row->function, row->trend);
		picture->visible_count++;
	}
	picture->selected = FUNCTION_NONE;
	if (wish->selected >= symbols_functions(symbols))
		return;
	picture->selected = wish->selected;
	picture->caller_count = query_callers(epoch->query, question, wish->selected,
		picture->callers, sizeof(picture->callers) / sizeof(picture->callers[0]));
	picture->inlined_count = query_inlined(epoch->query, question, wish->selected,
		picture->inlined, sizeof(picture->inlined) / sizeof(picture->inlined[0]),
		&picture->inlined_of);
}

static void tell_note(struct picture *picture, const struct picture_inputs *inputs)
{
	char remarks[REMARKS_SIZE] = "";

	if (picture->epoch)
		remarks_text(picture->epoch, picture->from, PICTURE_NOTES, remarks, sizeof(remarks));
	util_print(picture->note, sizeof(picture->note), "%s%s%s", inputs->trouble,
		inputs->trouble[0] && remarks[0] ? PICTURE_NOTES : "", remarks);
}

struct picture *picture_new(const struct picture_inputs *inputs)
{
	struct picture *picture = util_alloc(sizeof(*picture));
	struct question question;

	picture->reader = inputs->wish->reader;
	picture->brief = inputs->wish->brief;
	picture->link = inputs->link;
	picture->vm = inputs->vm;
	picture->kept = inputs->kept;
	picture->play = inputs->play;
	picture->boot = inputs->boot;
	picture->filter = inputs->wish->filter;
	util_print(picture->name, sizeof(picture->name), "%s", inputs->name ? inputs->name : "");
	picture->generation = inputs->generation;
	picture->skipped_bytes = decode_counts(inputs->decode).skipped_bytes;
	picture->selected = FUNCTION_NONE;
	if (inputs->epoch && inputs->epoch->known)
		picture->epoch = epoch_hold(inputs->epoch);
	if (picture->epoch) {
		question = picture_question(picture->epoch, inputs->wish);
		picture->from = question.from;
	}
	tell_note(picture, inputs);
	if (!picture->epoch)
		return picture;

	picture->symbols = inputs->epoch->inputs.symbols;
	tell_guest(picture, inputs->epoch);
	tell_profiler(picture, inputs);
	if (picture->brief)
		return picture;
	picture->table = query_table(inputs->epoch->query, &question);
	tell_cpus(picture, inputs, &question);
	tell_rows(picture, inputs, &question);
	return picture;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	for (size_t i = 0; i < picture->machine_count; i++)
		epoch_release(picture->machines[i].epoch);
	table_free(picture->table);
	free(picture->machines);
	free(picture->cpus);
	free(picture->trends);
	free(picture->visible);
	epoch_release(picture->epoch);
	free(picture);
}
