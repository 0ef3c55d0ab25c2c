/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/names/symbols.h"
#include "agent/wire/decode.h"
#include "vitals.h"

_Static_assert(sizeof(struct cpu_vitals) <= EPOCH_ANSWER_CPU &&
	sizeof(struct cpu_trend) <= EPOCH_ANSWER_TREND &&
	(int)VITALS_OWN_TRENDS == (int)EPOCH_TRENDS, "an answer fits in the memory that the epoch takes for it");

bool vitals_are_dead(const struct vitals *vitals)
{
	bool stands = vitals->vm == VM_PANICKED || vitals->vm == VM_SHUTDOWN;
	bool hangs = vitals->vm == VM_RUNNING && vitals->link == LINK_SILENT && vitals->by == BY_HOOK;

	return (stands || hangs) && vitals->by != BY_PLUGIN && !vitals->read_dead && !vitals->play.there &&
		!vitals->machines;
}

bool vitals_record(bool running, enum link_state link, enum vm_state vm)
{
	return running && link == LINK_UP && (vm == VM_RUNNING || vm == VM_UNKNOWN);
}

static void tell_guest(struct vitals *vitals, const struct epoch *epoch)
{
	util_print(vitals->kernel, sizeof(vitals->kernel), "%s", epoch_kernel(epoch));
	util_print(vitals->version, sizeof(vitals->version), "%s", epoch_version(epoch));
	memcpy(vitals->arch, epoch->arch, sizeof(vitals->arch));
	vitals->cpu_count = epoch->cpu_count;
	vitals->now = epoch_now(epoch);
	vitals->up = epoch_uptime(epoch);
	vitals->oldest = epoch_kept_from(epoch);
	if (vitals->oldest > vitals->now)
		vitals->oldest = vitals->now;
	vitals->boot = epoch_boot(epoch);
}

struct vitals_cost vitals_cost(const struct epoch *epoch, enum stream stream)
{
	uint64_t cost = 0, span = 0, taken = 0;

	for (uint32_t i = 0; i < epoch->cpus_seen; i++) {
		const struct cpu_status *told = &epoch->cpus[i].told[stream];

		cost += told->cost;
		span += told->span;
		taken += told->taken;
	}
	return (struct vitals_cost) {
		.ns = taken ? (double)epoch_ns(epoch, cost) / (double)taken : 0,
		.share = span ? (double)cost / (double)span : 0,
	};
}

static void tell_cost(struct vitals *vitals, const struct epoch *epoch)
{
	struct vitals_cost cost = vitals_cost(epoch, STREAM_SAMPLES);
	uint64_t lost = 0;

	for (uint32_t i = 0; i < epoch->cpus_seen; i++) {
		const struct cpu_status *told = &epoch->cpus[i].told[STREAM_SAMPLES];
		double fill = told->size ? (double)told->used / told->size : 0;

		if (told->lost > epoch->cpus[i].lost_before[STREAM_SAMPLES])
			lost += told->lost - epoch->cpus[i].lost_before[STREAM_SAMPLES];
		if (fill > vitals->ring_fill)
			vitals->ring_fill = fill < 1 ? fill : 1;
	}
	vitals->lost_guest = lost;
	vitals->cost_ns = cost.ns;
	vitals->cost_share = cost.share;
}

static void tell_profiler(struct vitals *vitals, const struct moment *moment, uint64_t window_ns)
{
	const struct epoch *epoch = moment->epoch;
	struct books books;

	/* When a recording ends, the guest may have its own sampler back, by which it was not recorded. */
	vitals->sampler = moment->play.there && !epoch->status.running && epoch->sampled.running ?
		epoch->sampled.sampler : epoch->status.sampler;
	vitals->rate = epoch->status.rate;
	tell_cost(vitals, epoch);
	if (moment->past)
		return;
	books = decode_books_all(moment->decode, STREAM_SAMPLES);
	vitals->running = (moment->link == LINK_UP || moment->link == LINK_SILENT) &&
		epoch->status_known && epoch->status.running;
	/* A status may be ahead of the books. What is told of guest and host adds up to the books' losses. */
	if (vitals->lost_guest > books.lost)
		vitals->lost_guest = books.lost;
	vitals->lost_host = books.lost - vitals->lost_guest;
	if (vitals->running)
		vitals->achieved = meter_rate(moment->meter, window_ns);
	vitals->events.on = vitals->running && epoch->tracing;
	if (vitals->events.on)
		vitals->events.rate = meter_traced(moment->meter, window_ns);
	vitals->events.cost_share = vitals_cost(epoch, STREAM_TRACE).share;
	vitals->events.lost = decode_books_all(moment->decode, STREAM_TRACE).lost;
	vitals->lost_before = books.earlier_lost + (epoch->played ? 0 : epoch->leftovers);
	vitals->unsampled = books.received == 0;
}

static void tell_cpus(struct vitals *vitals, const struct moment *moment,
	const struct question *question, bool trends)
{
	const struct epoch *epoch = moment->epoch;
	struct cpu_series *series = util_alloc(vitals->cpu_count * sizeof(*series));
	uint32_t own = vitals->cpu_count < VITALS_OWN_TRENDS ? vitals->cpu_count : VITALS_OWN_TRENDS;

	if (trends)
		vitals->trends = util_alloc((own + 1) * sizeof(*vitals->trends));
	for (uint32_t i = 0; trends && i < vitals->cpu_count; i++)
		series[i].trend = vitals->trends[i < own ? i : own].mode;
	query_cpus(epoch->query, question, series, vitals->cpu_count);
	vitals->cpus = util_alloc(vitals->cpu_count * sizeof(*vitals->cpus));
	for (uint32_t i = 0; i < vitals->cpu_count; i++)
		vitals->cpus[i] = (struct cpu_vitals) {
			.sampler = epoch->sampler == i,
			.enabled = epoch->cpus[i].told[STREAM_SAMPLES].enabled,
			.series = series[i],
			.lost = moment->past ? 0 : decode_books(moment->decode, STREAM_SAMPLES, i).lost,
		};
	free(series);
}

static void add_remark(struct vitals *vitals, const char *remark)
{
	size_t used = strlen(vitals->note);

	if (*remark)
		util_print(vitals->note + used, sizeof(vitals->note) - used, "%s%s",
			used ? VITALS_NOTES : "", remark);
}

static void tell_note(struct vitals *vitals, const struct moment *moment, uint64_t from)
{
	char remarks[REMARKS_SIZE] = "", outside[SYMBOLS_OUTSIDE];
	struct epoch *epoch = vitals->answer.epoch;

	if (epoch)
		remarks_text(epoch, from, symbols_outside_note(epoch->inputs.symbols, NULL, 0, outside), VITALS_NOTES,
			remarks, sizeof(remarks));
	add_remark(vitals, moment->trouble);
	add_remark(vitals, moment->remark ? moment->remark : "");
	add_remark(vitals, remarks);
}

/* True once any CPU has samples, or if none are taken. Until then the next answer comes soon. */
static bool is_begun(const struct vitals *vitals)
{
	if (vitals->sampler == SAMPLER_NONE)
		return true;
	for (uint32_t i = 0; vitals->cpus && i < vitals->cpu_count; i++)
		for (int mode = 0; mode < MODES; mode++)
			if (vitals->cpus[i].series.mode[mode])
				return true;
	return false;
}

/* A window that was moved is rounded already. */
static void tell_place(struct vitals *vitals, const struct question *question, bool moved)
{
	struct question place = *question;

	if (!moved)
		query_cover(vitals->answer.epoch->query, &place);
	vitals->from = place.from;
	vitals->to = place.to;
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	enum vitals_cpus cpus = ((const struct vitals_request *)request)->cpus;
	struct vitals *vitals = util_alloc(sizeof(*vitals));
	struct question question = { .from = 0 };

	vitals->answer = answer_begin(&vitals_kind, moment);
	vitals->link = moment->link;
	vitals->by = moment->by;
	vitals->vm = moment->vm;
	vitals->read_dead = moment->read_dead;
	vitals->kept = moment->kept;
	vitals->play = moment->play;
	util_print(vitals->name, sizeof(vitals->name), "%s", moment->name ? moment->name : "");
	vitals->skipped_bytes = decode_counts(moment->decode).skipped_bytes;
	if (vitals->answer.epoch)
		question = excerpt_question(vitals->answer.epoch, &request->excerpt);
	tell_note(vitals, moment, question.from);
	if (vitals->answer.epoch && request->excerpt.until_ns)
		tell_place(vitals, &question, request->excerpt.moved);
	if (vitals->answer.epoch) {
		tell_guest(vitals, moment->epoch);
		tell_profiler(vitals, moment, request->excerpt.window_ns);
	}
	if (vitals->answer.epoch && cpus != VITALS_NO_CPUS)
		tell_cpus(vitals, moment, &question, cpus == VITALS_TRENDS);
	vitals->answer.begun = cpus == VITALS_NO_CPUS || is_begun(vitals);
	return &vitals->answer;
}

static void free_answer(struct answer *answer)
{
	struct vitals *vitals = (struct vitals *)answer;

	free(vitals->machines);
	free(vitals->cpus);
	free(vitals->trends);
}

const struct answer_kind vitals_kind = {
	.name = "vitals", .request_size = sizeof(struct vitals_request), .make = make, .free = free_answer,
};
