/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/base/wakeup.h"
#include "agent/code/listings.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/objects/programs.h"
#include "agent/names/running_kernel.h"
#include "agent/names/running_programs.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/source/source.h"
#include "agent/trace/trace.h"
#include "agent/vm/state_words.h"
#include "agent/wire/decode.h"
#include "flight.h"
#include "post_mortem.h"
#include "saver.h"
#include "session_state.h"
#include "subscription.h"

enum {
	READ_BYTES = 262144,
	READS_PER_STEP = 8,		/* at most; then others have their turn */
	NAMES_MS = 10,			/* between two checks whether the kernel's names are read, or two turns */
	FILES_MS = 50,			/* likewise for the files of what is mapped */
	SOON_MS = 20,			/* longest wait of a step in session_leave */
	NEWS_MS = 250,			/* a few bytes wait for so long, unless an answer can be made of them */
};

struct source_facts session_source(const struct session *session)
{
	return session->source->table->facts(session->source);
}

void session_greet(struct session *session)
{
	session->source->table->greet(session->source, NULL);
}

/* Gives the epoch the facts that the source knows beforehand. */
static void session_introduce(struct session *session)
{
	const struct source_facts facts = session_source(session);
	struct epoch *epoch = session->epoch;

	if (!facts.guest || memcmp(facts.boot_id, epoch->boot_id, sizeof(epoch->boot_id)) != 0)
		return;
	epoch_introduce(epoch, facts.guest, &facts.beginning);
	epoch->before = facts.before;
	for (size_t i = 0; i < facts.descriptor_count; i++) {
		decode_learn(session->decode, &facts.descriptors[i]);
		guest_events_describe(epoch->events, &facts.descriptors[i]);
	}
}

/* ---- the kernel's names ---- */

enum { BEYOND_S = 10 };		/* in this time of a guest, two looks at its memory begin and end (kernel_watch.h) */

/*
 * A file that the user gave is read before the session connects, so that its errors are told first. With a recording,
 * the kernel's names are always read first: a recording cannot be asked to send its meta events again. It is played
 * without them if they cannot be read: nobody will mend the file meanwhile.
 */
static bool session_awaits_names(const struct session *session)
{
	bool recording = session_source(session).play.there;

	if (session->given && !session->named)
		return !recording || !kernel_names_error(session->names);
	return recording && session->names && kernel_names_reading(session->names);
}

/* Without a file from the user, the names are those of the kernel that the source tells of. */
static void follow_names(struct session *session)
{
	const char *path = session_source(session).kernel;

	if (session->given || !path || (session->names &&
			strcmp(kernel_names_path(session->names), path) == 0))
		return;
	kernel_names_free(session->names);
	session->names = kernel_names_new(path, false, session->budget);
}

/* Gives the names to the present epoch. False: there are none, or not yet; the epoch's remark says why. */
static bool session_give_names(struct session *session)
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
static void session_step_names(struct session *session)
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

	if (session->epoch)
		kernel_watch_answered(session->epoch->watch, ok, text);
}

/* Samples come, of a kernel that is sampled from outside. A recording's may have come before. */
static bool is_sampled(const struct epoch *epoch, bool live)
{
	return epoch->status_known && (!live || epoch->status.running) && sampler_is_outside(epoch->status.sampler);
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

/* It has paused in that, and will go on soon. */
static bool session_reads_memory(const struct session *session)
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

	while (kernel_watch_line(epoch->watch, line))	/* without another line between: half of a pair is none */
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
static void session_watch_kernel(struct session *session)
{
	struct epoch *epoch = session->epoch;
	bool live = !session_source(session).play.there, sampled = epoch && is_sampled(epoch, live), over;

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
static void session_watch_played(struct session *session)
{
	if (!session->epoch || !session_source(session).play.there)
		return;
	read_kernel(session, false);
	watch(session, false, epoch_now(session->epoch));
	walk_held(session, false);
}

/* ---- the decoder's sink ---- */

static void count_boot(struct session *session)
{
	const uint64_t now = util_now(), each = TURN_BOOT_MS * NS_PER_MS, saved = TURN_BOOTS * each;

	if (session->boots + saved < now)
		session->boots = now - saved;
	session->boots += each;
}

/* For how many ns nothing may be decoded: 0, unless the guest boots too fast. */
static uint64_t pause_of_boots(const struct session *session, uint64_t now)
{
	return session->boots > now ? session->boots - now : 0;
}

/* Greets the guest: one that was put back by loadvm does not know that it has to tell of itself again. */
static void begin_epoch(void *context, const uint8_t *boot_id)
{
	struct session *session = context;
	struct source *source = session->source;
	const struct source_facts facts = source->table->facts(source);
	const char *image = session->image ? session->image : facts.kernel;
	uint64_t before = session->epoch && facts.resets > session->resets ? session->epoch->ticks : 0;

	count_boot(session);
	if (session->epoch) {
		source->table->greet(source, "no answer: the guest was reset, or put back by "
			"loadvm; ask again");
		if (memcmp(session->epoch->boot_id, boot_id, sizeof(session->epoch->boot_id)) != 0)
			lease_forget(&session->lease);
	}
	if (session->epoch)
		epoch_walk_held(session->epoch, true);
	session->epochs++;
	subscriptions_forget(session->subscriptions);
	epoch_release(session->epoch);
	session->epoch = epoch_new(boot_id, image, session->budget);
	session->epoch->number = session->epochs;
	session->epoch->before = before;
	session->resets = facts.resets;
	if (session->log)
		epoch_log_begin(session->epoch);
	trace_watch(session->epoch->trace, session->calls);
	symbols_set_programs(session->epoch->inputs.symbols, session->programs);
	symbols_set_files(session->epoch->inputs.symbols, session->sysroot, session->debug,
		session->debuginfod);
	listings_set_map(session->epoch->listings, session->source_map);
	given_objects_map(session->objects, session->epoch->inputs.symbols);
	if (session->names)
		kernel_names_check(session->names);
	session_give_names(session);
	session_introduce(session);
	meter_clear(&session->meter);
}

/*
 * Measures the real rate while the profiler is on. When it is turned off, the meter begins anew. To be called between
 * packets: so the rate is that of the guest, however many packets the session reads at a time.
 */
static void measure(struct session *session)
{
	const struct epoch *epoch = session->epoch;

	if (epoch->known && epoch->status.running)
		meter_add(&session->meter, &(struct meter_point) {
			.time = epoch_now(epoch), .taken = epoch->taken,
			.span = epoch_ns(epoch, epoch->span), .traced = epoch->traced, .counted = epoch->counted });
	else
		meter_clear(&session->meter);
}

/* For whoever records what comes. What is read out of a dead machine's memory has a recording of its own. */
static void pass_packet(struct session *session, const struct packet *packet)
{
	for (struct packet_tap *tap = session->taps; tap; tap = tap->next)
		tap->packet(tap->context, packet);
	/* Of a kernel that is sampled from outside, pages of its memory tell: these are not asked for again. */
	if (session->flight && flight_packet(session->flight, packet, epoch_ns(session->epoch, packet->end),
			session->epochs) && !sampler_is_outside(session->epoch->status.sampler))
		session_greet(session);
}

static void take_packet(void *context, const struct packet *packet)
{
	struct session *session = context;

	measure(session);
	session->read_dead = session->read_dead && packet->ahead;
	if (!packet->ahead)
		pass_packet(session, packet);
	epoch_packet(session->epoch, packet);
	epoch_ticks(session->epoch, packet->end);
	query_spare(session->epoch->query);
	session_watch_played(session);
	session->changed = true;
}

static void take_events(void *context, const struct event *events, size_t count)
{
	struct session *session = context;

	epoch_events(session->epoch, events, count);
	for (size_t i = 0; i < count && session->flight; i++)
		if (events[i].kind == EVENT_GUEST)
			flight_told(session->flight);
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == EVENT_REPLY)
			session->source->table->answered(session->source, events[i].reply.ok,
				events[i].reply.text.bytes, events[i].reply.text.size);
}

/* A recording goes on once the names that were in its pages are found: without them, samples would pile up. */
static bool searches_played(const struct session *session)
{
	return session->epoch && session_source(session).play.there &&
		kernel_reading_searches(session->epoch->reading);
}

static bool want_more(void *context)
{
	const struct session *session = context;
	uint64_t now = util_now();

	return now < session->turn_end && !pause_of_boots(session, now) && !searches_played(session);
}

/* ---- the source ---- */

/* The guest's last status is out of date. The guest will send another. */
static void forget_status(struct session *session)
{
	if (session->epoch)
		session->epoch->status_known = session->epoch->status.running = false;
}

static void cut_source(struct session *session)
{
	forget_status(session);
	decode_cut(session->decode);
	session->got = session->fed = 0;
}

static void tell_plugged(struct session *session)
{
	char text[SESSION_TROUBLE];

	if (session_plugged(session, text, sizeof(text))[0])
		session_say(session, false, text);
}

/* `news`: the flags of enum source_news. */
static void heed(struct session *session, unsigned news)
{
	if (news & (SOURCE_BEGUN | SOURCE_LOST))
		cut_source(session);
	if (news & SOURCE_ANEW)
		decode_forget(session->decode);
	if (news & SOURCE_BEGUN) {
		tell_plugged(session);
		session_greet(session);
	}
	if (news & SOURCE_STOPPED)
		forget_status(session);
}

/* Decodes what was read. False: the turn ended before all of it was decoded. */
static bool feed(struct session *session)
{
	session->fed += decode_feed(session->decode, session->buffer + session->fed,
		session->got - session->fed);
	return !decode_held(session->decode);
}

/* What a dead machine has in its memory comes before what it still sends. */
static ssize_t session_read(struct session *session)
{
	size_t got = 0;

	if (!session->dead || !post_mortem_reads(session->dead))
		return session->source->table->read(session->source, session->buffer, READ_BYTES);
	got = post_mortem_read(session->dead, session->buffer, READ_BYTES);
	if (!got && session->epoch) {
		epoch_over(session->epoch);
		session->changed = true;
	}
	return (ssize_t)got;
}

/* Decodes for one turn. Reads more only once all that was read is decoded. */
static void take_bytes(struct session *session)
{
	session->turn_end = util_now() + (uint64_t)TURN_MS * NS_PER_MS;
	if (pause_of_boots(session, util_now()))
		return;
	for (int i = 0; i < READS_PER_STEP && feed(session); i++) {
		ssize_t got = session_read(session);

		session->fed = 0;
		session->got = got > 0 ? (size_t)got : 0;
		if (got < 0)
			heed(session, SOURCE_LOST);
		if (got <= 0)
			return;
	}
}

enum link_state session_link(const struct session *session)
{
	enum link_state state = session_source(session).state;

	return state == LINK_NO_HELLO && session->epoch && session->epoch->known ? LINK_UP : state;
}

/* The link's state as a screen shows it: a link that is up may be silent. */
static enum link_state shown_link_of(const struct session *session)
{
	enum link_state state = session_link(session);

	return state == LINK_UP && session_source(session).silent ?
		LINK_SILENT : state;
}

const struct state_words *session_words(const struct session *session)
{
	return state_words_of_link(session_link(session), session_source(session).by);
}

const char *session_trouble(const struct session *session, char *text, size_t size)
{
	if (!session_awaits_names(session))
		return session->source->table->remark(session->source, shown_link_of(session), text,
			size);
	if (kernel_names_error(session->names))
		util_print(text, size, "%s", kernel_names_error(session->names));
	else
		util_print(text, size, "reads the kernel's names from %s; if it is a pipe, its writer "
			"has 30 s", kernel_names_path(session->names));
	return text;
}

const char *session_plugged(const struct session *session, char *text, size_t size)
{
	return session->source->table->plugged(session->source, text, size);
}

void session_give_up(struct session *session)
{
	atomic_store(&session->given_up, true);
	wakeup_send(mailbox_orders(session->mailbox));
}

const atomic_bool *session_given_up(const struct session *session)
{
	return &session->given_up;
}

static int ms_until(uint64_t late)
{
	uint64_t now = util_now();

	return now < late ? (int)((late - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* A step that waits until `late` at most. */
static void step_until(struct session *session, uint64_t late)
{
	int left = ms_until(late);

	session_step(session, left < SOON_MS ? left : SOON_MS);
}

/* True: the guest's profiler is on, and ktop's end alone does not end it. */
static bool runs_on(const struct session *session)
{
	return !session->source->table->play && !session_source(session).own && session_link(session) == LINK_UP &&
		session->epoch->status.running;
}

void session_leave(struct session *session, uint64_t late)
{
	struct source *source = session->source;
	uint64_t now = util_now(), heard = now < late ? now + (late - now) * 2 / 3 : 0;
	char text[SESSION_TROUBLE];

	if (session->left)
		return;
	session->left = true;
	session_finish_orders(session);
	if (session->started && runs_on(session))
		session_stop_owed(session);
	while (session->started && runs_on(session) && util_now() < heard)
		step_until(session, heard);
	/* The guest has to get the last lines, above all "stop", before the port is taken out: for 2/3 of the time. */
	while (session_plugged(session, text, sizeof(text))[0] && source->table->waits(source) &&
			util_now() < heard)
		step_until(session, heard);
	session->left_running = session->left_running || runs_on(session);
	source->table->leave(source, util_now(), ms_until(late));
	while (source->table->leaving(source))
		step_until(session, late);
}

const char *session_stays(const struct session *session)
{
	return session->source->table->stays(session->source);
}

bool session_settled(const struct session *session)
{
	if (session_awaits_names(session))
		return kernel_names_error(session->names);
	return session->patient || session_source(session).settled;
}

const char *session_failure(const struct session *session)
{
	if (session->given && !session->named)
		return kernel_names_error(session->names);
	return session->patient ? NULL : session_source(session).failure;
}

bool session_reads_names(const struct session *session)
{
	return (session->names && kernel_names_reading(session->names)) ||
		(session->epoch && kernel_reading_searches(session->epoch->reading));
}

bool session_copies_names(const struct session *session)
{
	return session->names && kernel_names_copying(session->names);
}

bool session_fetches(const struct session *session)
{
	return session->debuginfod;
}

struct lease *session_lease(struct session *session)
{
	return &session->lease;
}

static void serve(struct session *session)
{
	struct source *source = session->source;
	const struct source_guest guest = { .epoch = session->epoch, .state = session_link(session) };

	heed(session, source->table->serve(source, &guest, util_now()));
}

/* ---- answers ---- */

enum { SILENT_MS = 1000 };		/* between two answers while the guest is silent: they tell for how long */

static uint64_t silence_due(const struct session *session)
{
	return session->shown_link == LINK_SILENT ? session->noticed + (uint64_t)SILENT_MS * NS_PER_MS :
		UINT64_MAX;
}

/* Counts `news` up if an answer would tell anything that the last ones did not. */
static void notice(struct session *session)
{
	struct source_facts facts = session_source(session);
	enum link_state link = shown_link_of(session);
	uint64_t now = util_now();

	if (!session->changed && session->shown_link == link && session->shown_vm == facts.vm &&
			session->shown_news == facts.news && now < silence_due(session))
		return;
	session->changed = false;
	session->shown_link = link;
	session->shown_vm = facts.vm;
	session->shown_news = facts.news;
	session->noticed = now;
	session->news++;
}

static uint64_t answers_due(struct session *session)
{
	uint64_t answers, silence;

	if (session->left)
		return UINT64_MAX;		/* nobody reads any more */
	notice(session);
	answers = subscriptions_due(session->subscriptions, session->epoch, session->news);
	silence = silence_due(session);
	return answers < silence ? answers : silence;
}

static void make_answers(struct session *session)
{
	struct source_facts facts = session_source(session);
	char trouble[SESSION_TROUBLE];
	const struct moment moment = {
		.epoch = session->epoch,
		.decode = session->decode,
		.meter = &session->meter,
		.link = session->shown_link,
		.trouble = session_trouble(session, trouble, sizeof(trouble)),
		.remark = session->remark,
		.by = facts.by,
		.vm = facts.vm,
		.read_dead = session->read_dead,
		.kept = facts.kept,
		.play = facts.play,
		.name = facts.machine,
		.stop = &session->given_up,
	};

	subscriptions_answer(session->subscriptions, &moment, session->news);
}

/* ---- any thread ---- */

struct subscription *session_subscribe(struct session *session, struct wakeup *wakeup, struct epoch *boot)
{
	return subscription_new(session->subscriptions, wakeup, boot);
}

/* ---- the whole ---- */

static void wait_for_something(struct session *session, int timeout_ms)
{
	const struct source_table *table = session->source->table;
	uint64_t now = util_now(), due = answers_due(session), turn = subscriptions_turn(session->subscriptions);
	uint64_t late = now + (uint64_t)NEWS_MS * NS_PER_MS;
	uint64_t names = now + (uint64_t)NAMES_MS * NS_PER_MS, files = now + (uint64_t)FILES_MS * NS_PER_MS;
	bool saves = saver_step(session->saver);
	bool held = (session->fed < session->got || decode_held(session->decode)) && !searches_played(session);
	struct pollfd ready[2 + SOURCE_FDS] = {
		{ .fd = wakeup_fd(mailbox_orders(session->mailbox)), .events = POLLIN },
		{ .fd = session->awaited, .events = POLLIN },
	};
	struct source_wait source = { .fds = ready + 2, .at = turn < late ? turn : late };
	uint64_t wait;

	table->await(session->source, !held, now, &source);
	if (names < due && ((session->names && kernel_names_reading(session->names)) ||
			session_reads_memory(session) || searches_played(session) || saves ||
			session->dead))
		due = names;
	if (session->epoch && symbols_reading(session->epoch->inputs.symbols) && files < due)
		due = files;
	if (!session_awaits_names(session) && !searches_played(session) && source.due < due)
		due = source.due;
	wait = due <= now ? 0 : (due - now) / NS_PER_MS + 1;

	/* Bytes that the last turn left over are decoded at once, or after the pause of a guest that boots too fast. */
	if (held && wait > pause_of_boots(session, now) / NS_PER_MS + 1)
		wait = (pause_of_boots(session, now) + NS_PER_MS - 1) / NS_PER_MS;
	poll(ready, (nfds_t)(2 + source.count), wait < (uint64_t)timeout_ms ? (int)wait : timeout_ms);
}

/* Memory is free again: reads names again, and asks the guest for its meta events. */
static void retry(struct session *session)
{
	if (session->names && kernel_names_starved(session->names))
		kernel_names_again(session->names);
	session_greet(session);
}

void session_await(struct session *session, int fd)
{
	session->awaited = fd;
}

/* Reads a dead machine's memory, and says what was found. */
static void step_dead(struct session *session)
{
	char *said;
	bool failed;

	if (post_mortem_step(session->dead, &failed, &said)) {
		session_say(session, failed, said);
		free(said);
		session->dead_failed = failed;
	}
	if (!post_mortem_over(session->dead))
		return;
	session->read_dead = !session->dead_failed;
	session->changed = true;
	post_mortem_free(session->dead);
	session->dead = NULL;
}

void session_step(struct session *session, int timeout_ms)
{
	wait_for_something(session, timeout_ms);
	session_step_names(session);
	if (!session_awaits_names(session) && !searches_played(session)) {
		heed(session, session->source->table->step(session->source, util_now()));
		take_bytes(session);
	}
	if (session->dead)
		step_dead(session);
	for (struct packet_tap *tap = session->taps; tap; tap = tap->next)
		tap->step(tap->context);
	session_watch_kernel(session);
	session_take_orders(session);
	serve(session);
	if (session->epoch && epoch_retry(session->epoch, util_now()))
		retry(session);
	if (session->epoch && !session_source(session).play.there)
		epoch_measure_clock(session->epoch, util_now());
	if (answers_due(session) <= util_now())
		make_answers(session);
}

static bool open_files(struct session *session, const struct session_options *options, char **error)
{
	const char *names = options->symbols ? options->symbols : options->kernel;

	if (options->debuginfod && !debuginfod_possible(error))
		return false;
	session->given = names;
	if (names)
		session->names = kernel_names_new(names, true, session->budget);
	return true;
}

struct session *session_new(struct source *source, const struct session_options *options, char **error)
{
	struct session *session = util_alloc(sizeof(*session));
	const struct decode_sink sink = {
		.context = session,
		.boot = begin_epoch,
		.packet = take_packet,
		.events = take_events,
		.more = want_more,
	};

	session->awaited = -1;
	session->source = source;
	session->decode = decode_new(&sink);
	session->budget = options->budget ? budget_hold(options->budget) :
		budget_new(options->memory ? options->memory : BUDGET_MIB);
	session->programs = programs_new(session->budget);
	session->mailbox = mailbox_new();
	session->subscriptions = subscriptions_new(session->mailbox);
	session->saver = saver_new(session->mailbox);
	session->buffer = util_alloc(READ_BYTES);
	session->image = options->kernel ? util_file_absolute(options->kernel) : NULL;
	session->sysroot = options->sysroot ? util_format("%s", options->sysroot) : NULL;
	session->debug = options->debug ? util_format("%s", options->debug) : NULL;
	session->source_map = options->source_map ? util_format("%s", options->source_map) : NULL;
	session->debuginfod = options->debuginfod;
	session->changed = true;
	session->patient = options->patient;
	session->log = options->log;
	session->calls = options->calls;
	if (options->lead)
		session_flight(session, options->lead);
	session->objects = given_objects_new(options->objects, error);
	if (session->objects && util_file_is_folder("sysroot", options->sysroot, error) &&
			util_file_is_folder("debug-dir", options->debug, error) &&
			open_files(session, options, error))
		return session;
	session_free(session);
	return NULL;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	session_finish_orders(session);
	flight_free(session->flight);
	post_mortem_free(session->dead);
	session->source->table->free(session->source);
	decode_free(session->decode);
	saver_free(session->saver);
	subscriptions_free(session->subscriptions);
	mailbox_free(session->mailbox);
	epoch_release(session->epoch);
	kernel_names_free(session->names);
	programs_release(session->programs);
	budget_release(session->budget);
	given_objects_free(session->objects);
	free(session->sysroot);
	free(session->debug);
	free(session->source_map);
	free(session->image);
	free(session->remark);
	free(session->function);
	free(session->function_line);
	free(session->buffer);
	free(session);
}

bool session_over(const struct session *session)
{
	return session_source(session).play.over &&
		session->fed == session->got && !decode_held(session->decode);
}

bool session_left_running(const struct session *session)
{
	return session->left_running;
}

bool session_writes(struct session *session, char *text, size_t size)
{
	session_finish_orders(session);
	return (session->dead && post_mortem_writes(session->dead, text, size)) ||
		saver_writes(session->saver, text, size);
}

struct metadata_machine session_machine(const struct session *session)
{
	const struct source_facts facts = session_source(session);

	return (struct metadata_machine) {
		.name = facts.machine, .kernel = session->image ? session->image : facts.kernel,
	};
}

struct flight *session_flight(struct session *session, uint64_t lead)
{
	if (!session->flight)
		session->flight = flight_new(session->budget);
	flight_lead(session->flight, lead);
	return session->flight;
}

struct epoch *session_epoch(const struct session *session)
{
	return session->epoch;
}

const struct decode *session_decode(const struct session *session)
{
	return session->decode;
}
