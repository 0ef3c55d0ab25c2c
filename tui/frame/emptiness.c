/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "agent/answers/vitals.h"
#include "agent/query/question/filter.h"
#include "agent/vm/state_words.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "emptiness.h"
#include "scope.h"

enum { MACHINES = 16 };			/* at most: FLEET_MOST, which this room does not know */

static const char reads_dead[] = "{sort-time} reads its last moments from memory.";

static struct emptiness of_words(const struct state_words *words)
{
	return (struct emptiness) { words->why, words->what_to_do };
}

/* While ktop is connecting or opens a recording, a remark tells the cause better than the state of the link. */
static struct emptiness of_link(const struct vitals *vitals)
{
	struct emptiness empty = of_words(state_words_of_link(vitals->link, vitals->by));

	if (vitals->link == LINK_NO_HELLO && vitals->play.there)
		empty = (struct emptiness) { "The recording is being opened.", "This takes a moment." };
	if (vitals_are_dead(vitals))
		empty.what_to_do = reads_dead;
	if ((vitals->link == LINK_CONNECTING || vitals->play.there) && vitals->note[0])
		empty.what_to_do = "The remark above tells more.";
	return empty;
}

static struct emptiness of_off(const struct vitals *vitals)
{
	if (vitals->sampler == SAMPLER_STUB && !vitals->machines)
		return of_words(state_words_of_link(LINK_UP, BY_STUB));
	if (vitals->sampler == SAMPLER_OUTSIDE && !vitals->machines)
		return of_words(state_words_of_link(LINK_UP, BY_PLUGIN));
	return (struct emptiness) { "Profiling is off in the guest.", "{profile} starts it." };
}

static const struct emptiness not_profiled = { "The guest was not profiled at this time.",
	"{time} goes to another." };

struct emptiness emptiness_of_function(const struct scope *scope, bool itself)
{
	if (scope->filter_text[0] != '\0')
		return (struct emptiness) { itself ? "No sample that passes the filter is in this function itself." :
			"Nothing that passes the filter has run this function.",
			"{filter} changes the filter, an empty one shows all." };
	return (struct emptiness) { itself ? "No sample is in this function itself." :
		"Nothing has run this function in the window.",
		"{window} chooses a longer window; {functions} shows what was sampled." };
}

static struct emptiness of_vm(const struct vitals *vitals)
{
	struct emptiness empty = of_words(state_words_of_vm(vitals->vm));

	if (vitals_are_dead(vitals))
		empty.what_to_do = reads_dead;
	return empty;
}

struct emptiness emptiness_of_news(const struct vitals *vitals)
{
	const struct emptiness vm = of_vm(vitals);

	if (vm.why)
		return vm;
	if (vitals->link != LINK_UP)
		return of_link(vitals);
	if (!vitals->running && vitals->play.there)
		return not_profiled;
	if (!vitals->running && vitals->machines)
		return (struct emptiness) { "Profiling is not on in all guests.",
			"{profile} starts it." };
	if (!vitals->running)
		return of_off(vitals);
	return (struct emptiness) { NULL, NULL };
}

const char *emptiness_stray(const struct vitals *vitals, const struct filter *filter)
{
	const char *names[MACHINES];
	size_t count = vitals->machine_count < MACHINES ? vitals->machine_count : MACHINES;

	for (size_t i = 0; i < count; i++)
		names[i] = vitals->machines[i].name;
	return count ? filter_stray_machine(filter, names, count, true) : NULL;
}

/* True: there are samples in the window; the vitals ignore the filter. */
static bool any_time(const struct vitals *vitals)
{
	for (uint32_t i = 0; vitals->cpus && i < vitals->cpu_count; i++)
		for (int mode = 0; mode < MODES; mode++)
			if (vitals->cpus[i].series.mode[mode])
				return true;
	return false;
}

static bool any_cpu_passes(const struct vitals *vitals, const struct filter *filter)
{
	for (uint32_t i = 0; i < vitals->cpu_count; i++)
		if (filter_passes_cpu(filter, i))
			return true;
	return false;
}

/* A word of the filter is not about this machine. */
static bool leaves_out(const struct vitals *vitals, const struct filter *filter)
{
	struct filter own = *filter;

	if (vitals->machines || !*vitals->tab || filter_lacks(filter, FILTER_MACHINE))
		return false;
	filter_at_machine(&own, (unsigned)strtoul(vitals->tab, NULL, 10), vitals->tab);
	return !any_cpu_passes(vitals, &own);
}

/* The filter lets nothing through: says which of its words is the cause, as far as that is known. */
static struct emptiness of_filter(const struct vitals *vitals, const struct table *table,
	const struct scope *scope)
{
	const struct filter *filter = &scope->filter;

	if (table && table->samples)
		return (struct emptiness) { "No function in this window has the filter's name.",
			"{filter} changes the filter, an empty one shows all." };
	if (filter_off_cpu(filter))
		return (struct emptiness) { "No wait in this window passes the filter.",
			"`ktop ctl events +sched:stack` has threads tell where they sleep; "
			"{filter} changes the filter." };
	if (leaves_out(vitals, filter))
		return (struct emptiness) { "The filter leaves this machine out.",
			"{filter} changes the filter, an empty one shows all." };
	if (emptiness_stray(vitals, filter))
		return (struct emptiness) { "No machine has the filter's name.",
			"{filter} changes the filter; the lines at the top have the machines' names." };
	if (!vitals->machines && !any_cpu_passes(vitals, filter))
		return (struct emptiness) { "The guest has no such CPU as the filter's.",
			"{filter} changes the filter; the first CPU is cpu:0." };
	return (struct emptiness) { "No sample in this window passes the filter.",
		"{filter} changes the filter, an empty one shows all." };
}

/* The window reaches back to the boot, so that a longer one would show no more. */
static bool is_whole(const struct vitals *vitals, const struct scope *scope)
{
	return !vitals->machines && (!scope->window_ns || vitals->now <= scope->window_ns);
}

/* The guest only traces. */
static struct emptiness of_no_sampler(const struct vitals *vitals)
{
	if (vitals->play.there)
		return (struct emptiness) { "No samples were taken: the guest only traced.",
			"{events} and {timeline} show what happened." };
	if (!vitals->events.on)
		return (struct emptiness) { "No samples are taken, and no event is on.",
			"`ktop ctl sampler timer` takes samples; `ktop ctl events +irq +syscall +sched` traces." };
	return (struct emptiness) { "No samples are taken: the guest only traces.",
		"`ktop ctl sampler timer` takes samples; {events} and {timeline} show what is traced." };
}

static struct emptiness of_range(const struct vitals *vitals, const struct scope *scope)
{
	bool whole = is_whole(vitals, scope);

	if (vitals->sampler == SAMPLER_NONE && (vitals->unsampled || !scope->until_ns) && !vitals->machines &&
			(vitals->running || vitals->play.there))
		return of_no_sampler(vitals);
	if (!vitals->running && vitals->play.there)
		return not_profiled;
	if (!vitals->running && !scope->until_ns && (whole || vitals->unsampled) &&
			!scope->zero_ns)
		return of_off(vitals);
	if (!vitals->running && !scope->until_ns && scope->zero_ns)
		return (struct emptiness) { "Profiling is off in the guest.",
			"{profile} starts it; {back} counts all again." };
	if (!vitals->running && !scope->until_ns)
		return (struct emptiness) { "Profiling is off in the guest.",
			"{profile} starts it; {window} takes a longer window, with what came before." };
	if (scope->moved)
		return (struct emptiness) { "No sample in this window of the past.",
			"{live} goes back to now; {window-back} and {window-on} move it." };
	if (scope->until_ns)
		return (struct emptiness) { "No sample in the frozen window.",
			"{freeze} goes back to now." };
	if (scope->zero_ns)
		return (struct emptiness) { "No sample since the count was zeroed.",
			"{back} counts all again." };
	if (whole)
		return (struct emptiness) { "No sample since the guest booted.",
			"If this lasts: does `ktop ctl status` say that its CPUs are on?" };
	return (struct emptiness) { "No sample in this window yet.",
		"If this lasts, {window} takes a longer window." };
}

static bool idle_only(const struct table *table)
{
	return table->mode[MODE_IDLE] && !table->mode[MODE_KERNEL] && !table->mode[MODE_USER];
}

struct emptiness emptiness(const struct vitals *vitals, const struct table *table,
	const struct scope *scope)
{
	if (table && idle_only(table) && !filter_names_mode(&scope->filter, MODE_IDLE))
		return (struct emptiness) { "The CPUs were idle all the time.",
			"Give the guest something to do, or {window} takes a longer window." };
	if (table && table->count != 0)
		return (struct emptiness) { NULL, NULL };
	if (scope->filter_text[0] != '\0' && (any_time(vitals) ||
			(vitals->sampler == SAMPLER_NONE && filter_off_cpu(&scope->filter))))
		return of_filter(vitals, table, scope);
	if (of_vm(vitals).why)
		return of_vm(vitals);
	if (vitals->link != LINK_UP)
		return of_link(vitals);
	return of_range(vitals, scope);
}

void emptiness_draw(struct emptiness empty, struct canvas *canvas, struct area area, const struct keys *keys)
{
	char what_to_do[KEYS_TEXT];
	int used;

	if (!empty.why)
		return;
	used = canvas_wrap(canvas, area, STYLE_WARN, empty.why);
	area.row += used;
	area.rows -= used;
	canvas_wrap(canvas, area, STYLE_TEXT, keys_text(keys, empty.what_to_do, what_to_do));
}

struct emptiness emptiness_of_traces(const struct vitals *vitals)
{
	if (vitals->play.there)
		return (struct emptiness) { "In this recording, nothing was traced up to here.",
			"`ktop ctl events +irq +syscall +sched` traces; then record anew." };
	if (vitals->sampler == SAMPLER_STUB)
		return (struct emptiness) { "The gdb stub sees no trace events.",
			"ktop's plugin in QEMU does, and a hook in the guest." };
	return (struct emptiness) { "Nothing is traced: no system call, interrupt or wait.",
		"`ktop ctl events +irq +syscall +sched` switches it on." };
}
