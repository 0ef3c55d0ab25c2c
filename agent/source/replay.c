/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "replay.h"
#include "source.h"

#define STEP_NS (NS_PER_SECOND / 10)

struct replay {
	struct source source;
	struct recording *recording;
	struct reader *reader;		/* of the present boot's packets (recording_reader.h) */
	size_t boot;			/* number of the present boot, from 0 */
	bool at_once;			/* see replay_options */

	bool playing, ended;		/* ended: it stopped because the last boot has ended */
	int speed;			/* 2 to this power times the guest's speed */
	uint64_t at, since;		/* guest ns `at` was reached at host ns `since` */
	uint64_t begin, end;		/* guest ns, of the present boot */

	char *failure;			/* see source_facts; NULL: all packets could be reached so far */
	bool anew;			/* reading restarted, and the session has not been told yet */
	bool jumping;			/* see play_state, as is the next one */
	uint32_t taken;
	uint64_t news;			/* see source_facts */
};

static struct replay *replay_of(struct source *source)
{
	return (struct replay *)source;
}

static const struct replay *replay_in(const struct source *source)
{
	return (const struct replay *)source;
}

static const struct recording_boot *boot_of(const struct replay *replay)
{
	return &replay->recording->boots[replay->boot];
}

static bool is_last_boot(const struct replay *replay)
{
	return replay->at_once || replay->boot + 1 == replay->recording->boot_count;
}

/* Reads a boot from its beginning. The session will forget all that came before: see SOURCE_ANEW. */
static void rewind_to(struct replay *replay, size_t boot)
{
	const struct recording_boot *present;

	reader_free(replay->reader);
	replay->boot = boot;
	present = boot_of(replay);
	replay->reader = reader_new(replay->recording, boot);
	replay->begin = recording_ns(present, present->begin);
	replay->end = recording_ns(present, present->end);
	replay->anew = true;
}

static void free_replay(struct source *source)
{
	struct replay *replay = replay_of(source);

	reader_free(replay->reader);
	recording_free(replay->recording);
	free(replay->failure);
	free(replay);
}

/* ---- the clock ---- */

/* The next packet's time in guest ns, or UINT64_MAX if the boot has no more packets. */
static uint64_t next_at(struct replay *replay)
{
	uint64_t end;
	bool there = reader_peek(replay->reader, &end);

	if (!replay->failure)
		replay->failure = reader_failure(replay->reader);
	return there ? recording_ns(boot_of(replay), end) : UINT64_MAX;
}

/* True: a packet whose time has come is still to be read. */
static bool is_behind(struct replay *replay)
{
	return next_at(replay) <= replay->at;
}

/* `ns` multiplied by 2 to this power; UINT64_MAX if that is too large. */
static uint64_t scaled(uint64_t ns, int power)
{
	return power < 0 ? ns >> -power : ns > UINT64_MAX >> power ? UINT64_MAX : ns << power;
}

/* The host time at which more than `ns` have passed since `since`. */
static uint64_t later(uint64_t since, uint64_t ns)
{
	return ns < UINT64_MAX - since ? since + ns + 1 : UINT64_MAX;
}

static bool is_over(struct replay *replay)
{
	return replay->at >= replay->end && !is_behind(replay);
}

/* The guest's time stands still while packets whose time has come are still to be read. */
static void advance(struct replay *replay, uint64_t now)
{
	uint64_t past = scaled(now - replay->since, replay->speed), left = replay->end - replay->at;

	if (replay->playing && replay->at < replay->end && !is_behind(replay))
		replay->at += past < left ? past : left;
	replay->since = now;
}

/* Starts at `ns`, or at the first packet if that is later, so that there is something to see at once. */
static void begin_at(struct replay *replay, uint64_t ns)
{
	uint64_t first = next_at(replay);

	replay->at = first != UINT64_MAX && first > ns ? first : ns;
	replay->playing = replay->playing || replay->ended;
	replay->ended = false;
}

static void go_to(struct replay *replay, uint64_t ns)
{
	uint64_t to = ns > replay->end ? replay->end : ns;

	if (to < replay->at) {
		rewind_to(replay, replay->boot);
		begin_at(replay, to);
	} else {
		replay->at = to;
	}
}

static void enter_boot(struct replay *replay, size_t boot)
{
	rewind_to(replay, boot);
	begin_at(replay, replay->begin);
}

/* ---- as a source ---- */

/* The session is to wake when the next packet's time comes, or the boot's end. There are no descriptors to poll. */
static void await(struct source *source, bool reads, uint64_t now, struct source_wait *wait)
{
	struct replay *replay = replay_of(source);
	uint64_t next = next_at(replay);

	wait->count = 0;
	wait->due = UINT64_MAX;
	if (replay->anew)
		wait->due = now;
	if (next == UINT64_MAX)
		next = replay->end;
	if (!reads)
		return;
	if (next <= replay->at && !is_over(replay))
		wait->due = now;
	else if (replay->playing && next > replay->at)
		wait->due = later(replay->since, scaled(next - replay->at, -replay->speed));
	else if (replay->playing)
		wait->due = now;		/* the boot is over: the step begins the next one, or ends */
}

static unsigned step(struct source *source, uint64_t now)
{
	struct replay *replay = replay_of(source);
	bool playing = replay->playing, anew;

	advance(replay, now);
	if (replay->playing && is_over(replay) && !is_last_boot(replay)) {
		enter_boot(replay, replay->boot + 1);
	} else if (replay->playing && is_over(replay)) {
		replay->playing = false;
		replay->ended = true;
	}
	anew = replay->anew;
	replay->anew = false;
	replay->news += playing != replay->playing || anew;
	return anew ? SOURCE_BEGUN | SOURCE_ANEW : 0;
}

static ssize_t read_packets(struct source *source, void *to, size_t size)
{
	struct replay *replay = replay_of(source);
	size_t done = 0, got = 1;

	while (got && !replay->anew && is_behind(replay))
		done += got = reader_read(replay->reader, (char *)to + done, size - done);
	if (replay->jumping && !replay->anew && !is_behind(replay)) {
		replay->jumping = false;
		replay->news++;
	}
	return (ssize_t)done;
}

static unsigned serve(struct source *source, const struct source_guest *guest, uint64_t now)
{
	(void)source;
	(void)guest;
	(void)now;
	return 0;
}

static struct source_facts facts(const struct source *source)
{
	const struct replay *replay = replay_in(source);
	const struct recording_boot *boot = boot_of(replay);

	return (struct source_facts) {
		.machine = boot->machine,
		.kernel = boot->kernel,
		.guest = &boot->guest.guest,
		.boot_id = boot->boot_id,
		.descriptors = boot->descriptors,
		.descriptor_count = boot->descriptor_count,
		.beginning = boot->beginning,
		.before = replay->boot ? boot[-1].end : 0,
		.state = LINK_NO_HELLO,
		.vm = VM_UNKNOWN,
		.recording = replay->recording->folder,
		.news = replay->news,
		.settled = true,
		.failure = replay->failure,
		.play = {
			.there = true,
			.playing = replay->playing,
			.over = replay->ended,
			.jumping = replay->jumping,
			.taken = replay->taken,
			.speed = replay->speed,
			.at = replay->at,
			.begin = replay->begin,
			.end = replay->end,
			.boot = (uint32_t)replay->boot + 1,
			.boots = (uint32_t)replay->recording->boot_count,
		},
	};
}

static const char *remark(const struct source *source, enum link_state state, char *text, size_t size)
{
	const struct replay *replay = replay_in(source);
	uint64_t missing = reader_missing(replay->reader);
	size_t used;

	(void)state;
	used = strlen(recording_remark(replay->recording, replay->boot, text, size));
	if (missing)
		util_print(text + used, size - used, "%s%" PRIu64 " packet%s of the recording cannot be read any more",
			used ? "; " : "", missing, util_plural(missing));
	used = strlen(text);
	if (replay->failure)
		util_print(text + used, size - used, "%s%s", used ? "; " : "", replay->failure);
	return text;
}

/* ---- orders ---- */

static void answer(const struct command_sink *sink, bool ok, const char *text)
{
	if (sink->answered)
		sink->answered(sink->context, ok, text);
}

/* Turned on after the end, it plays again from the first boot. */
static void set_playing(struct replay *replay, bool on)
{
	if (on && replay->ended)
		enter_boot(replay, 0);
	replay->playing = on;
}

static void run(struct source *source, bool on, bool keep, const struct command_sink *sink)
{
	const char *text = on ? "playing" : "paused";

	(void)keep;
	set_playing(replay_of(source), on);
	answer(sink, true, text);
}

static void play(struct source *source, const struct play *wanted, uint64_t now)
{
	struct replay *replay = replay_of(source);
	int64_t by = wanted->ns;

	advance(replay, now);
	switch (wanted->kind) {
	case PLAY_PAUSE:
		set_playing(replay, !replay->playing);
		break;
	case PLAY_FASTER:
		replay->speed += replay->speed < PLAY_FASTEST;
		break;
	case PLAY_SLOWER:
		replay->speed -= replay->speed > PLAY_SLOWEST;
		break;
	case PLAY_STEP:
		replay->playing = false;
		go_to(replay, replay->at + STEP_NS);
		break;
	case PLAY_TO:
		go_to(replay, by < 0 ? 0 : (uint64_t)by);
		break;
	case PLAY_BY:
		go_to(replay, by < 0 && (uint64_t)-by > replay->at ? 0 : replay->at + (uint64_t)by);
		break;
	case PLAY_NEXT_BOOT:
		if (!is_last_boot(replay))
			enter_boot(replay, replay->boot + 1);
		break;
	case PLAY_PREVIOUS_BOOT:
		enter_boot(replay, replay->boot ? replay->boot - 1 : 0);
		break;
	}
	replay->jumping = (replay->jumping || wanted->kind >= PLAY_TO) && is_behind(replay);
	replay->taken++;
	replay->news++;
}

static void ask(struct source *source, const char *line, const struct command_sink *sink)
{
	(void)source;
	(void)line;
	answer(sink, false, "not sent: this is a recording; ask a live guest");
}

static void answered(struct source *source, bool ok, const char *bytes, size_t size)
{
	(void)source;
	(void)ok;
	(void)bytes;
	(void)size;
}

static void greet(struct source *source, const char *why)
{
	(void)source;
	(void)why;
}

/* A recording answers nothing, and has nothing plugged in. */
static bool never(const struct source *source)
{
	(void)source;
	return false;
}

static void forget(struct source *source, const void *context)
{
	(void)source;
	(void)context;
}

static const char *plugged(const struct source *source, char *text, size_t size)
{
	(void)source;
	return util_print(text, size, "%s", "");
}

static void leave(struct source *source, uint64_t now, int timeout_ms)
{
	(void)source;
	(void)now;
	(void)timeout_ms;
}

static const char *stays(const struct source *source)
{
	(void)source;
	return NULL;
}

struct source *replay_new(struct recording *recording, const struct replay_options *options)
{
	static const struct source_table table = {
		.free = free_replay,
		.await = await,
		.step = step,
		.serve = serve,
		.read = read_packets,
		.facts = facts,
		.remark = remark,
		.run = run,
		.play = play,
		.ask = ask,
		.answered = answered,
		.greet = greet,
		.waits = never,
		.forget = forget,
		.plugged = plugged,
		.leave = leave,
		.leaving = never,
		.stays = stays,
	};
	struct replay *replay = util_alloc(sizeof(*replay));

	for (size_t i = 0; options->kernel_given && i < recording->part_count; i++)
		recording->parts[i].undescribed = false;
	replay->source.table = &table;
	replay->recording = recording;
	replay->at_once = options->at_once;
	replay->playing = true;
	replay->since = util_now();
	enter_boot(replay, 0);
	if (options->at_once && options->most_ns && options->most_ns < replay->end - replay->begin)
		replay->end = replay->begin + options->most_ns;
	if (options->at_once)
		replay->at = replay->end;
	return &replay->source;
}
