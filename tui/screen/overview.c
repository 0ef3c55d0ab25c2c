/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/util.h"
#include "agent/export/export_folded.h"
#include "agent/fleet/fleet.h"
#include "machine.h"
#include "overview.h"
#include "snapshot.h"

static const uint64_t pause_ns = 100000000u;	/* between two pictures */
static const uint64_t soon_ns = 50000000u;	/* by then all have answered a wish, as a rule */

struct overview {
	struct machine *machines;
	size_t count;
	const char **names;
	struct fleet *fleet;
	uint64_t next;			/* when a picture is due */
	bool changed;			/* since the last one */
	struct session_message said;	/* since they were asked */
};

struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget)
{
	struct overview *overview = util_alloc(sizeof *overview);

	overview->machines = machines;
	overview->count = count;
	overview->names = util_alloc(count * sizeof *overview->names);
	for (size_t i = 0; i < count; i++)
		overview->names[i] = machines[i].name;
	overview->fleet = fleet_new(overview->names, count, budget);
	overview->changed = true;
	return overview;
}

void overview_free(struct overview *overview)
{
	if (!overview)
		return;
	fleet_free(overview->fleet);
	free(overview->names);
	free(overview);
}

/* A machine's terms change with its pictures, too: functions that come, a boot that ends. */
static void ask(struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++) {
		struct session_wish wish = fleet_ask(overview->fleet, i);

		machine_wish(&overview->machines[i], READER_ALL, &wish);
	}
}

struct picture *overview_picture(struct overview *overview, uint64_t now)
{
	for (size_t i = 0; i < overview->count; i++) {
		struct picture *picture = machine_picture(&overview->machines[i], READER_ALL);

		if (!picture)
			continue;
		fleet_take(overview->fleet, i, picture);
		overview->changed = true;
	}
	if (!overview->changed || now < overview->next)
		return NULL;
	ask(overview);
	overview->changed = false;
	overview->next = now + pause_ns;
	return fleet_picture(overview->fleet, now);
}

void overview_wish(struct overview *overview, const struct session_wish *wish, uint64_t now)
{
	fleet_wish(overview->fleet, wish);
	ask(overview);
	overview->next = now + soon_ns;
}

static void begin_order(struct overview *overview)
{
	overview->said = (struct session_message) { .text = "" };
}

static bool is_up(const struct machine *machine)
{
	return machine->known && machine->link == LINK_UP;
}

static size_t are_up(const struct overview *overview)
{
	size_t up = 0;

	for (size_t i = 0; i < overview->count; i++)
		up += is_up(&overview->machines[i]);
	return up;
}

bool overview_running(const struct overview *overview)
{
	size_t running = 0;

	for (size_t i = 0; i < overview->count; i++)
		running += is_up(&overview->machines[i]) && machine_runs(&overview->machines[i]);
	return running != 0 && running == are_up(overview);
}

void overview_run_profiler(struct overview *overview, bool on)
{
	bool any = are_up(overview) != 0;

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) || !any)
			machine_run_profiler(&overview->machines[i], on);
}

void overview_snapshot(struct overview *overview)
{
	time_t now = time(NULL);

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++) {
		const struct machine *machine = &overview->machines[i];
		struct folded_options options = { .kernel_mark = true };
		struct export_choice choice;
		char *kernel = util_format("all-%u-%s", machine->number,
			machine->name + strcspn(machine->name, " "));
		char name[SNAPSHOT_NAME];

		snprintf(options.root, sizeof options.root, "%s", machine->name);
		choice = folded_choice(options);
		session_snapshot(machine->session,
			snapshot_name(kernel, now, choice.format->ending, name), &choice);
		free(kernel);
	}
}

void overview_gather(struct overview *overview, size_t machine, struct session_message *message)
{
	struct session_message *said = &overview->said;
	size_t used = strlen(said->text);

	util_print(said->text + used, sizeof said->text - used, "%s%s: %s", used ? "; " : "",
		overview->machines[machine].name, message->text);
	said->failed = said->failed || message->failed;
	*message = *said;
}
