/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "machine.h"

static void name_it(struct machine *machine, const char *name)
{
	util_print(machine->name, sizeof machine->name, "%u %s", machine->number,
		name[0] || !machine->label ? name : machine->label);
}

/* Nobody's wish is the last reader's, in short: a snapshot that it asked for is what it saw. */
static void send_wish(struct machine *machine, enum reader of)
{
	struct session_wish wish = machine->wishes[of];

	wish.reader = machine->reader;
	wish.brief = machine->reader == READER_NONE;
	session_wish(machine->session, &wish);
}

void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label)
{
	*machine = (struct machine) { .session = session, .number = number, .label = label };
	machine->wishes[READER_NONE].filter.cpu = EVENT_NONE;
	machine->wishes[READER_NONE].selected = FUNCTION_NONE;
	name_it(machine, "");
	send_wish(machine, READER_NONE);
}

void machine_clear(struct machine *machine)
{
	for (int i = 0; i < READERS; i++)
		picture_free(machine->pictures[i]);
}

void machine_look(struct machine *machine, enum reader reader)
{
	enum reader before = machine->reader;

	if (reader == before)
		return;
	machine->reader = reader;
	if (reader == READER_NONE)
		send_wish(machine, before);
	else if (machine->wished[reader])
		send_wish(machine, reader);
}

static bool take_marks(struct machine *machine, const struct picture *picture)
{
	struct machine before = *machine;

	machine->known = true;
	machine->running = picture->running;
	machine->kept = picture->kept;
	machine->link = picture->link;
	machine->vm = picture->vm;
	machine->lost = picture->lost_guest + picture->lost_host;
	name_it(machine, picture->name);
	return !before.known || before.running != machine->running ||
		before.link != machine->link || before.vm != machine->vm ||
		before.lost != machine->lost || strcmp(before.name, machine->name) != 0;
}

bool machine_step(struct machine *machine)
{
	struct picture *picture = session_picture(machine->session), **place;
	bool changed;

	if (!picture)
		return false;
	changed = take_marks(machine, picture);
	if (picture->reader != machine->reader || machine->reader == READER_NONE) {
		picture_free(picture);
		return changed;
	}
	place = &machine->pictures[machine->reader];
	picture_free(*place);
	*place = picture;
	return true;
}

struct picture *machine_picture(struct machine *machine, enum reader reader)
{
	struct picture *picture = machine->pictures[reader];

	machine->pictures[reader] = NULL;
	return picture;
}

void machine_wish(struct machine *machine, enum reader reader, const struct session_wish *wish)
{
	if (machine->wished[reader] &&
			memcmp(&machine->wishes[reader], wish, sizeof *wish) == 0)
		return;
	machine->wishes[reader] = *wish;
	machine->wished[reader] = true;
	if (machine->reader == reader)
		send_wish(machine, reader);
}

void machine_run_profiler(struct machine *machine, bool on)
{
	machine->asked = on ? KEPT_ON : KEPT_OFF;
	session_run_profiler(machine->session, on);
}

/* Who asks twice in a row wants the contrary the second time, though no picture shows the first. */
bool machine_runs(const struct machine *machine)
{
	enum kept_wish wish = machine->asked ? machine->asked : machine->kept;

	return wish ? wish == KEPT_ON : machine->running;
}

bool machine_message(struct machine *machine, struct session_message *message)
{
	if (!session_message(machine->session, message))
		return false;
	if (message->profiler && !message->kept) {
		if (!message->failed)
			machine->running = machine_runs(machine);
		machine->asked = machine->kept = KEPT_NONE;
	}
	return true;
}
