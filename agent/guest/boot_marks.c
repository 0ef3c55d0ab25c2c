/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/objects/objects.h"
#include "agent/names/symbols.h"
#include "boot_marks.h"

enum { PLACE_BITS = 16 };

const char *const boot_phase_words[PHASES] = {
	[PHASE_FIRMWARE] = "firmware", [PHASE_LOADER] = "loader", [PHASE_KERNEL] = "kernel", [PHASE_USER] = "user",
};

static bool is_kept(const struct boot_marks *marks, uint64_t address)
{
	for (uint32_t i = 0; i < marks->count; i++)
		if (marks->places[i].address >> PLACE_BITS == address >> PLACE_BITS)
			return true;
	return false;
}

void boot_marks_saw(struct boot_marks *marks, const struct sample *sample, uint64_t ticks)
{
	uint64_t address;

	if (!marks->any)
		marks->first = ticks;
	marks->any = true;
	if (marks->user_known)
		return;
	if (sample->mode == MODE_USER) {
		marks->user_known = true;
		marks->user = ticks;
	}
	if (sample->kernel_count == 0 || marks->count == BOOT_PLACES)
		return;
	address = sample_frame(sample->kernel, 0);
	if (!is_kept(marks, address)) {
		marks->places[marks->count].address = address;
		marks->places[marks->count++].ticks = ticks;
	}
}

/* PHASES: it is not known what runs there. */
static enum boot_phase phase_of(struct symbols *symbols, uint64_t address)
{
	const struct region *region = symbols_region(symbols, address);
	uint64_t start;

	if (region)
		return strcmp(region->object, REGION_FIRMWARE) == 0 ? PHASE_FIRMWARE : PHASE_LOADER;
	return address >> 63 || symbols_kernel_function(symbols, address, &start) ? PHASE_KERNEL : PHASES;
}

void boot_marks_tell_early(struct boot_marks *marks, const struct sample *sample, struct symbols *symbols)
{
	enum boot_phase phase;
	uint64_t address;

	if (marks->kernel || sample->mode == MODE_USER || sample->kernel_count == 0)
		return;
	address = sample_frame(sample->kernel, 0);
	phase = phase_of(symbols, address);
	marks->kernel = phase == PHASE_KERNEL;
	marks->firmware = marks->firmware || phase < PHASE_KERNEL;
	if (marks->kernel && marks->firmware)
		symbols_early_ends(symbols);
	else if (phase == PHASES)
		symbols_early(symbols, address);
}

static void note(struct boot_times *times, enum boot_phase phase, uint64_t at)
{
	if (!times->known[phase] || at < times->at[phase])
		times->at[phase] = at;
	times->known[phase] = true;
}

/* A phase that seems to begin after a later one is none: Linux, too, starts other CPUs by code below 1 MiB. */
static void keep_order(struct boot_times *times)
{
	uint64_t next = UINT64_MAX;

	for (int phase = PHASES - 1; phase >= 0; phase--) {
		if (times->at[phase] >= next)
			times->known[phase] = false;
		if (times->known[phase])
			next = times->at[phase];
	}
}

struct boot_times boot_marks_tell(const struct boot_marks *marks, struct symbols *symbols)
{
	struct boot_times times = { .known = { false } };

	for (uint32_t i = 0; i < marks->count; i++) {
		enum boot_phase phase = phase_of(symbols, marks->places[i].address);

		if (phase < PHASES)
			note(&times, phase, marks->places[i].ticks);
	}
	if (!times.known[PHASE_FIRMWARE] || !times.known[PHASE_KERNEL])
		return (struct boot_times) { .known = { false } };
	times.at[PHASE_FIRMWARE] = marks->first;
	if (marks->user_known)
		note(&times, PHASE_USER, marks->user);
	keep_order(&times);
	return times;
}

const char *boot_times_text(const struct boot_times *times, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int phase = 0; phase < PHASES; phase++) {
		if (times->known[phase])
			util_print(text + used, size - used, "%s%s %.2f s", used ? ", " : "", boot_phase_words[phase],
				(double)times->at[phase] / (double)NS_PER_SECOND);
		used += strlen(text + used);
	}
	return text;
}
