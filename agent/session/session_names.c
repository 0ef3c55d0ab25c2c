/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "agent/source/source.h"
#include "session_state.h"
#include "subscription.h"

enum { BEYOND_S = 10 };		/* in this time of a guest, two looks at its memory begin and end (kernel_watch.h) */

/*
 * A file that the user gave is read before the session connects, so that its errors are told first. With a recording,
 * the kernel's names are always read first: a recording cannot be asked to send its meta events again. It is played
 * without them if they cannot be read: nobody will mend the file meanwhile.
 */
bool session_awaits_names(const struct session *session)
{
	bool recording = session_play_state(session).there;

	if (session->given && !session->named)
		return !recording || !kernel_names_error(session->names);
	return recording && session->names && kernel_names_reading(session->names);
}

/* Without a file from the user, the names are those of the kernel that the source tells of. */
static void follow_names(struct session *session)
{
	const char *path = session->source->table->facts(session->source).kernel;

	if (session->given || !path || (session->names &&
			strcmp(kernel_names_path(session->names), path) == 0))
		return;
	kernel_names_free(session->names);
	session->names = kernel_names_new(path, false, session->budget);
}

/* Gives the names to the present epoch. False: there are none, or not yet; the epoch's remark says why. */
bool session_give_names(struct session *session)
{
	struct epoch *epoch = session->epoch;
	bool given;

	follow_names(session);
	given = session->names && !kernel_names_error(session->names) &&
		kernel_names_give(session->names, epoch->inputs.symbols);
	if (given) {
		epoch->remark[0] = epoch->refused[0] = '\0';
	} else if (session->names && kernel_names_error(session->names)) {
		symbols_drop_kernel(epoch->inputs.symbols);	/* the names of the file before */
		util_print(epoch->remark, sizeof(epoch->remark), "no names: %s",
			kernel_names_error(session->names));
	} else if (session->names) {
		util_print(epoch->remark, sizeof(epoch->remark),
			"the kernel's names are being read from %s", kernel_names_path(session->names));
	}
	epoch->starved = epoch->starved || (session->names && kernel_names_starved(session->names));
	return given;
}

/* Names that were read after the guest told its facts need these facts once more, so the guest is asked for them. */
void session_step_names(struct session *session)
{
	struct epoch *epoch = session->epoch;

	follow_names(session);
	if (epoch && symbols_step(epoch->inputs.symbols, &epoch->starved))
		session->changed = true;
	subscriptions_step(session->subscriptions, epoch);
	if (!session->names || !kernel_names_step(session->names))
		return;
	session->named = session->named || !kernel_names_error(session->names);
	session->changed = true;
	if (!epoch || !session_give_names(session))
		return;
	session_introduce(session);
	session_greet(session);
}

static void answered(void *context, bool ok, const char *text)
{
	struct session *session = context;

	(void)text;
	if (!ok && session->epoch)
		guest_memory_refused(session->epoch->memory);
}

static void told(void *context, bool ok, const char *text)
{
	struct session *session = context;

	(void)ok;
	(void)text;
	if (session->epoch)
		kernel_watch_answered(session->epoch->watch);
}

/* Samples come, of a kernel that is sampled from outside. A recording's may have come before. */
static bool is_sampled(const struct epoch *epoch, bool live)
{
	return epoch->status_known && (!live || epoch->status.running) &&
		(epoch->status.sampler == SAMPLER_OUTSIDE || epoch->status.sampler == SAMPLER_STUB);
}

/* Where there is no file with the kernel's names, they are read out of its memory. */
static void read_kernel(struct session *session, bool live)
{
	struct epoch *epoch = session->epoch;
	char text[sizeof(epoch->remark)];

	if (session->names && !kernel_names_error(session->names)) {
		kernel_reading_stop(epoch->reading);
		return;
	}
	if (!is_sampled(epoch, live) && !kernel_reading_searches(epoch->reading) &&
			!kernel_reading_is_paused(epoch->reading))
		return;
	if (kernel_reading_step(epoch->reading, live, util_now())) {
		epoch->remark[0] = '\0';
		session->changed = true;
	}
	/* A recording may lack pages. If a file was refused, the remark says why, until there are names. */
	if (live && !session->names && kernel_reading_remark(epoch->reading, text, sizeof(text))[0])
		util_print(epoch->remark, sizeof(epoch->remark), "%s", text);
}

bool session_reads_memory(const struct session *session)
{
	return session->epoch && (kernel_reading_is_paused(session->epoch->reading) ||
		kernel_watch_is_walking(session->epoch->watch));
}

static void ask_for_memory(struct session *session)
{
	const struct command_sink sink = { .context = session, .answered = answered };
	struct epoch *epoch = session->epoch;
	struct source *source = session->source;
	char line[COMMANDS_LINE_MAX + 1];

	if (kernel_watch_line(epoch->watch, line))
		source->table->ask(source, line, &(struct command_sink) { .context = session, .answered = told });
	while (guest_memory_ask(epoch->memory, kernel_watch_looks(epoch->watch).samples, line))
		source->table->ask(source, line, &sink);
}

/*
 * A hook reads no memory. Then QEMU does: code that is in no file, for Annotate. Where other names are told, other code
 * may lie at the same place. By QEMU only x86-64 is read, where the hook is.
 */
static void read_by_vm(struct session *session)
{
	const struct source_table *table = session->source->table;
	struct epoch *epoch = session->epoch;
	struct memory_bytes bytes;
	uint64_t address;

	if (!table->can_read)
		return;
	if (table->take_page(session->source, &bytes))
		guest_memory_take(epoch->memory, &bytes);
	if (epoch->memory_names != symbols_generation(epoch->inputs.symbols))
		guest_memory_renew(epoch->memory);
	epoch->memory_names = symbols_generation(epoch->inputs.symbols);
	if (table->can_read(session->source) && guest_memory_next(epoch->memory, util_now(), &address))
		table->read_page(session->source, address, util_now());
}

/* `now`: of the clock that it always gets, in ns. */
static void watch(struct session *session, bool live, uint64_t now)
{
	struct epoch *epoch = session->epoch;

	if (((is_sampled(epoch, live) && !kernel_reading_comes(epoch->reading)) ||
			kernel_watch_is_walking(epoch->watch)) && kernel_watch_step(epoch->watch, live, now))
		session->changed = true;
}

/* `all`: nothing more comes for those that wait. */
static void walk_held(struct session *session, bool all)
{
	raw_samples_file_comes(session->epoch->held, session->names && kernel_names_reading(session->names));
	if (epoch_walk_held(session->epoch, all))
		session->changed = true;
}

/*
 * A recording is over: its clock goes on, until what came last has been looked at twice. The first look may tell to
 * which process samples belong, the second one what that has mapped.
 */
static void look_on(struct session *session)
{
	while (session->beyond < BEYOND_S * NS_PER_SECOND && epoch_awaits(session->epoch, UINT64_MAX)) {
		session->beyond += session_reads_memory(session) ? 0 : NS_PER_SECOND;
		watch(session, false, epoch_now(session->epoch) + session->beyond);
		walk_held(session, false);
	}
}

/*
 * A kernel that is sampled from outside tells nothing of itself, but its memory does. Pages of that memory are asked
 * for only while samples come, since they are read when a sample is taken. What goes on through pages that have come
 * needs no samples, and somebody may wait for it.
 */
void session_watch_kernel(struct session *session)
{
	struct epoch *epoch = session->epoch;
	bool live = !session_play_state(session).there, sampled = epoch && is_sampled(epoch, live), over;

	if (!epoch)
		return;
	read_kernel(session, live);
	session->beyond = session_over(session) ? session->beyond : 0;
	watch(session, live, live ? util_now() : epoch_now(epoch) + session->beyond);
	over = !live && session_over(session) && !session_reads_memory(session) && !session_reads_names(session) &&
		!symbols_reading(epoch->inputs.symbols);
	if (over) {
		look_on(session);
		epoch_over(epoch);
	}
	walk_held(session, live ? !sampled : over && !symbols_reading(epoch->inputs.symbols));
	if (live && sampled)
		ask_for_memory(session);
	else if (live && session_link(session) == LINK_UP && strcmp(epoch->arch, "x86_64") == 0)
		read_by_vm(session);
}

/*
 * A recording's pages show the guest as it was at that moment: its modules and programs come and go. So they are read
 * as often as live, by the guest's time, however fast it is played.
 */
void session_watch_played(struct session *session)
{
	if (!session->epoch || !session_play_state(session).there)
		return;
	read_kernel(session, false);
	watch(session, false, epoch_now(session->epoch));
	walk_held(session, false);
}
