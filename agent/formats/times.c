/* SPDX-License-Identifier: MIT */
/*
 * What each CPU did, by time: the time line and the heat map as numbers. A slot is 20 ms of the guest's clock, or the
 * grain of the samples' times where that is coarser. Each CPU has a line in each slot, also without samples.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

#define SLOT_NS (20 * NS_PER_MS)

enum { GAP = 50 };		/* slots: of a longer time without samples only the first and the last are written */

struct cell {				/* of a slot: a CPU's */
	uint64_t samples, ns, mode[SET_MODES];	/* modes: weights */
};

struct times {
	const struct sample_set *set;
	FILE *to;
	struct cpu_list cpus;
	struct cell *cells;		/* of the slot that is read, by index in `cpus` */
	uint64_t width, slot;		/* ns; where the slot begins */
	bool any;			/* a row has been read */
	bool begun;			/* a line has been written */
	void (*put)(struct times *times, uint32_t cpu, const struct cell *cell);
};

static uint64_t width_of(const struct sample_set *set)
{
	return set->facts.grain > SLOT_NS ? set->facts.grain : SLOT_NS;
}

static void put_csv(struct times *times, uint32_t cpu, const struct cell *cell)
{
	fprintf(times->to, "%" PRIu64 ".%09" PRIu64 ",", times->slot / NS_PER_SECOND, times->slot % NS_PER_SECOND);
	if (cpu != SET_NONE)
		fprintf(times->to, "%" PRIu32, cpu);
	fprintf(times->to, ",%" PRIu64, cell->samples);
	for (uint8_t mode = 0; mode < SET_MODES; mode++)
		fprintf(times->to, ",%" PRIu64, cell->mode[mode]);
	fprintf(times->to, ",%" PRIu64 "\n", cell->ns);
}

static void put_json(struct times *times, uint32_t cpu, const struct cell *cell)
{
	fprintf(times->to, "%s{\"time_ns\":%" PRIu64 ",\"cpu\":", times->begun ? ",\n" : "\n", times->slot);
	if (cpu == SET_NONE)
		fputs("null", times->to);
	else
		fprintf(times->to, "%" PRIu32, cpu);
	fprintf(times->to, ",\"samples\":%" PRIu64, cell->samples);
	for (uint8_t mode = 0; mode < SET_MODES; mode++)
		fprintf(times->to, ",\"%s\":%" PRIu64, sample_set_mode(mode), cell->mode[mode]);
	fprintf(times->to, ",\"ns\":%" PRIu64 "}", cell->ns);
}

/* Writes the slot's lines, and empties it. A CPU without a sample has one, too, so that a plot has no line across. */
static void end_slot(struct times *times)
{
	for (uint32_t i = 0; i < times->cpus.count; i++)
		if (times->cells[i].samples || times->cpus.cpus[i] != SET_NONE) {
			times->put(times, times->cpus.cpus[i], &times->cells[i]);
			times->begun = true;
		}
	memset(times->cells, 0, times->cpus.count * sizeof(*times->cells));
}

/* Goes on to a later slot. Those between have no sample. */
static void go_to(struct times *times, uint64_t slot)
{
	end_slot(times);
	for (times->slot += times->width; times->slot < slot; times->slot += times->width) {
		end_slot(times);
		if (slot - times->slot > GAP * times->width)
			times->slot = slot - 2 * times->width;
	}
}

static void add_row(struct times *times, const struct set_row *row)
{
	const struct set_who *who = &times->set->sums[row->sum].who;
	struct cell *cell = &times->cells[cpu_list_index(&times->cpus, who->cpu)];
	uint64_t slot = row->time - row->time % times->width;

	if (!times->any)
		times->slot = slot;
	else if (slot > times->slot)
		go_to(times, slot);
	times->any = true;
	cell->samples += row->samples;
	cell->ns += row->ns;
	if (who->mode < SET_MODES)
		cell->mode[who->mode] += row->weight;
}

static bool put_rows(struct times *times, const struct set_writing *writing, char **error)
{
	struct row_reader reader = row_reader_open(times->set);
	struct set_row row;
	uint64_t count = 0;

	cpu_list_init(&times->cpus, times->set);
	times->cells = util_alloc((times->cpus.count + 1) * sizeof(*times->cells));
	times->width = width_of(times->set);
	while (row_reader_next(&reader, &row) && !set_writing_step(writing, count++, times->set->samples))
		add_row(times, &row);
	if (times->any)
		end_slot(times);
	free(times->cells);
	cpu_list_clear(&times->cpus);
	return row_reader_close(&reader, error);
}

static bool write_csv(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct times times = { .set = set, .to = writing->to, .put = put_csv };

	fputs("seconds,cpu,samples", writing->to);
	for (uint8_t mode = 0; mode < SET_MODES; mode++)
		fprintf(writing->to, ",%s", sample_set_mode(mode));
	fputs(",ns\n", writing->to);
	return put_rows(&times, writing, error);
}

static bool write_json(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct times times = { .set = set, .to = writing->to, .put = put_json };
	bool whole;

	fprintf(writing->to, "{\"slot_ns\":%" PRIu64 ",\"from_ns\":%" PRIu64, width_of(set), set->facts.from);
	fprintf(writing->to, ",\"to_ns\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"slots\":[", set->facts.to, set->facts.lost);
	whole = put_rows(&times, writing, error);
	fputs("\n]}\n", writing->to);
	return whole;
}

const struct set_format format_csv_times = {
	.name = "csv-times",
	.ending = ".times.csv",
	.about = "CSV of what each CPU did, in slots of time",
	.rows = true,
	.write = write_csv,
};

const struct set_format format_json_times = {
	.name = "json-times",
	.ending = ".times.json",
	.about = "JSON of what each CPU did, in slots of time",
	.rows = true,
	.write = write_json,
};
