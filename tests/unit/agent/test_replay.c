/* SPDX-License-Identifier: MIT */
/*
 * The clock of a replay. The test moves the host's clock. The replay plays at the guest's speed, exact to a tick,
 * faster, slower, paused, by steps, and from boot to boot. A jump reads only what comes before its time. Then a session
 * on a replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/guest/remarks.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/source/source.h"
#include "agent/store/store.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/sums.h"

#define MS NS_PER_MS
#define HZ UINT64_C(250000000)		/* ticks of the guest's clock per second */

enum {
	TICK_NS = 4,
	FIRST_MS = 1000, APART_MS = 10, PACKETS = 100, MOST_MS = FIRST_MS + (PACKETS - 1) * APART_MS,
	TURNS = 1000,			/* the most turns of the loop below: more mean that it is busy */
	LATE_SECONDS = 60,		/* catches a hang: no loaded host is that late */
};

static uint64_t ticks(uint64_t ms)
{
	return ms * (HZ / 1000);
}

/* A recording with a packet every APART_MS in each boot, the first at FIRST_MS. */
static struct recording *make(const char *name, int boots)
{
	struct packets *packets = packets_new(1);
	struct recording *recording;
	char *error = NULL;

	for (int boot = 1; boot <= boots; boot++) {
		packets_boot(packets, (uint8_t)boot);
		recordings_guest(packets, ticks(FIRST_MS), HZ);
		for (uint64_t i = 1; i < PACKETS; i++)
			recordings_missed(packets, i % 2, ticks(FIRST_MS + i * APART_MS) - 1, 1);
	}
	recordings_write(scratch_path(name), packets);
	packets_free(packets);
	recording = recording_new(scratch_path(name), &error);
	assert_non_null(recording);
	assert_int_equal(recording->boot_count, boots);
	return recording;
}

/* ---- the loop of a session, in which only waiting takes time ---- */

struct player {
	struct source *source;
	uint64_t now;			/* host ns */
	uint64_t read;			/* packets that were read since reading last restarted */
	unsigned anew;			/* how often reading restarted */
};

static struct play_state state_of(const struct player *player)
{
	return player->source->table->facts(player->source).play;
}

static void turn(struct player *player)
{
	static uint8_t bytes[3 * KTOP_PACKET_MAX];
	unsigned news = player->source->table->step(player->source, player->now);
	ssize_t got;

	if (news & SOURCE_ANEW) {
		player->anew++;
		player->read = 0;
	}
	while ((got = player->source->table->read(player->source, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < got; player->read++) {
			struct ktop_wire_packet wire;

			memcpy(&wire, bytes + at, sizeof(wire));
			at += (ssize_t)wire.packet_size / 8;
		}
	assert_int_equal(got, 0);
}

static void pass(struct player *player, uint64_t ns)
{
	uint64_t until = player->now + ns;
	struct source_wait wait = { 0 };

	for (int i = 0; i < TURNS; i++) {
		turn(player);
		player->source->table->await(player->source, true, player->now, &wait);
		if (wait.due > player->now && player->now == until)
			return;
		player->now = wait.due > until ? until : wait.due > player->now ? wait.due : player->now;
	}
	fail_msg("it does not wait");
}

static struct player begin(const char *name, int boots)
{
	struct player player = { .now = util_now(),
		.source = replay_new(make(name, boots), &(struct replay_options) { .at_once = false }) };

	player.now = util_now();
	pass(&player, 0);
	return player;
}

static void end(struct player *player)
{
	player->source->table->free(player->source);
}

static void play(struct player *player, enum play_kind kind, int64_t ns)
{
	player->source->table->play(player->source, &(struct play) { .kind = kind, .ns = ns }, player->now);
	pass(player, 0);
}

/* Checks that the guest's time is `ns`, exact to a tick, and that the packets up to then were read, and no others. */
static void is_at(const struct player *player, uint64_t ns)
{
	uint64_t at = state_of(player).at, packets = (at / MS - FIRST_MS) / APART_MS + 1;

	assert_in_range(at, ns - TICK_NS, ns + TICK_NS);
	assert_int_equal(player->read, packets);
}

/* ---- the clock ---- */

static void it_begins_at_the_first_packet(void **state)
{
	struct player player = begin("first", 1);
	struct play_state is = state_of(&player);

	(void)state;
	assert_true(is.there && is.playing && !is.over);
	assert_int_equal(is.speed, 0);
	assert_int_equal(is.begin, FIRST_MS * MS);
	assert_int_equal(is.end, MOST_MS * MS);
	assert_int_equal(is.boot, 1);
	assert_int_equal(is.boots, 1);
	is_at(&player, FIRST_MS * MS);
	assert_int_equal(player.anew, 1);
	end(&player);
}

static void it_plays_at_the_guests_speed(void **state)
{
	struct player player = begin("speed", 1);
	uint64_t passed = 0;

	(void)state;
	for (uint64_t step = 1; passed + step < 900 * MS; step = step * 3 + 7) {
		pass(&player, step);
		passed += step;
		is_at(&player, FIRST_MS * MS + passed);
	}
	assert_true(passed > 300 * MS);
	end(&player);
}

/* What is known of the guest is of another time until then. */
static void a_jump_lasts_until_all_before_it_is_read(void **state)
{
	static const int64_t times[] = { 700 * MS, 0, 300 * MS };
	struct player player = begin("lasts", 1);

	(void)state;
	assert_int_equal(state_of(&player).taken, 0);
	for (uint32_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		player.source->table->play(player.source, &(struct play) { .kind = PLAY_TO, .ns = times[i] },
			player.now);
		assert_true(state_of(&player).jumping);
		pass(&player, 0);
		assert_false(state_of(&player).jumping);
		play(&player, PLAY_FASTER, 0);
		assert_int_equal(state_of(&player).taken, 2 * i + 2);
	}
	player.source->table->play(player.source, &(struct play) { .kind = PLAY_BY, .ns = 1 }, player.now);
	assert_false(state_of(&player).jumping);		/* nothing lies there */
	end(&player);
}

static void it_plays_faster_and_slower(void **state)
{
	struct player player = begin("faster", 1);
	uint64_t at = FIRST_MS * MS;

	(void)state;
	play(&player, PLAY_FASTER, 0);
	play(&player, PLAY_FASTER, 0);
	assert_int_equal(state_of(&player).speed, 2);
	pass(&player, 50 * MS);
	is_at(&player, at += 200 * MS);
	for (int i = 0; i < 20; i++)
		play(&player, PLAY_SLOWER, 0);
	assert_int_equal(state_of(&player).speed, PLAY_SLOWEST);
	pass(&player, 6400 * MS);
	is_at(&player, at += 100 * MS);
	for (int i = 0; i < 40; i++)
		play(&player, PLAY_FASTER, 0);
	assert_int_equal(state_of(&player).speed, PLAY_FASTEST);
	pass(&player, MS / 16);
	is_at(&player, at + 64 * MS);
	end(&player);
}

static void it_pauses_and_steps(void **state)
{
	struct player player = begin("pause", 1);

	(void)state;
	pass(&player, 105 * MS);
	play(&player, PLAY_PAUSE, 0);
	assert_false(state_of(&player).playing);
	pass(&player, 5000 * MS);
	is_at(&player, (FIRST_MS + 105) * MS);
	play(&player, PLAY_STEP, 0);
	is_at(&player, (FIRST_MS + 205) * MS);
	pass(&player, 5000 * MS);
	is_at(&player, (FIRST_MS + 205) * MS);
	play(&player, PLAY_PAUSE, 0);
	assert_true(state_of(&player).playing);
	pass(&player, 20 * MS);
	is_at(&player, (FIRST_MS + 225) * MS);
	play(&player, PLAY_STEP, 0);
	assert_false(state_of(&player).playing);
	is_at(&player, (FIRST_MS + 325) * MS);
	assert_int_equal(player.anew, 1);
	end(&player);
}

static void it_jumps(void **state)
{
	struct player player = begin("jump", 1);

	(void)state;
	play(&player, PLAY_TO, (FIRST_MS + 500) * (int64_t)MS);
	is_at(&player, (FIRST_MS + 500) * MS);
	assert_int_equal(player.anew, 1);
	play(&player, PLAY_BY, 100 * (int64_t)MS);
	is_at(&player, (FIRST_MS + 600) * MS);
	assert_int_equal(player.anew, 1);
	play(&player, PLAY_TO, (FIRST_MS + 45) * (int64_t)MS);
	is_at(&player, (FIRST_MS + 45) * MS);
	assert_int_equal(player.anew, 2);
	pass(&player, 100 * MS);
	is_at(&player, (FIRST_MS + 145) * MS);
	play(&player, PLAY_BY, -100 * (int64_t)MS);
	is_at(&player, (FIRST_MS + 45) * MS);
	assert_int_equal(player.anew, 3);
	play(&player, PLAY_BY, INT64_MIN / 2);
	is_at(&player, FIRST_MS * MS);
	play(&player, PLAY_PAUSE, 0);
	play(&player, PLAY_TO, (FIRST_MS + 300) * (int64_t)MS);
	play(&player, PLAY_BY, -100 * (int64_t)MS);
	assert_false(state_of(&player).playing);
	pass(&player, 100 * MS);
	is_at(&player, (FIRST_MS + 200) * MS);
	end(&player);
}

static void it_ends_and_begins_again(void **state)
{
	struct player player = begin("end", 1);

	(void)state;
	pass(&player, 5000 * MS);
	assert_true(state_of(&player).over && !state_of(&player).playing);
	is_at(&player, MOST_MS * MS);
	play(&player, PLAY_BY, INT64_MAX / 2);
	is_at(&player, MOST_MS * MS);
	assert_true(state_of(&player).over);
	play(&player, PLAY_BY, -100 * (int64_t)MS);
	assert_true(state_of(&player).playing && !state_of(&player).over);
	is_at(&player, (MOST_MS - 100) * MS);
	pass(&player, 5000 * MS);
	assert_true(state_of(&player).over);
	play(&player, PLAY_PAUSE, 0);
	assert_true(state_of(&player).playing && !state_of(&player).over);
	is_at(&player, FIRST_MS * MS);
	end(&player);
}

static void it_goes_from_boot_to_boot(void **state)
{
	struct player player = begin("boots", 3);

	(void)state;
	pass(&player, (MOST_MS - FIRST_MS + 50) * MS);
	assert_int_equal(state_of(&player).boot, 2);
	assert_false(state_of(&player).over);
	is_at(&player, (FIRST_MS + 50) * MS);
	play(&player, PLAY_NEXT_BOOT, 0);
	assert_int_equal(state_of(&player).boot, 3);
	assert_int_equal(state_of(&player).boots, 3);
	is_at(&player, FIRST_MS * MS);
	pass(&player, 30 * MS);
	play(&player, PLAY_NEXT_BOOT, 0);
	is_at(&player, (FIRST_MS + 30) * MS);
	play(&player, PLAY_PREVIOUS_BOOT, 0);
	assert_int_equal(state_of(&player).boot, 2);
	is_at(&player, FIRST_MS * MS);
	play(&player, PLAY_PREVIOUS_BOOT, 0);
	play(&player, PLAY_PREVIOUS_BOOT, 0);
	assert_int_equal(state_of(&player).boot, 1);
	play(&player, PLAY_NEXT_BOOT, 0);
	play(&player, PLAY_NEXT_BOOT, 0);
	pass(&player, 5000 * MS);
	assert_true(state_of(&player).over);
	play(&player, PLAY_PAUSE, 0);
	assert_int_equal(state_of(&player).boot, 1);
	end(&player);
}

static void all_at_once(void **state)
{
	struct player player = { .now = util_now() };

	(void)state;
	player.source = replay_new(make("once", 2), &(struct replay_options) { .at_once = true });
	pass(&player, 0);
	assert_true(state_of(&player).over);
	is_at(&player, MOST_MS * MS);
	end(&player);
	player.source = replay_new(make("some", 1),
		&(struct replay_options) { .at_once = true, .most_ns = 200 * MS });
	player.read = 0;
	pass(&player, 0);
	is_at(&player, (FIRST_MS + 200) * MS);
	end(&player);
}

/* With each number of descriptors, all packets are read or it is said why not. A reader that has too few reads on. */
static void packets_that_cannot_be_reached_are_a_failure(void **state)
{
	struct rlimit before, few;
	const char *failure;
	char text[RECORDING_REMARK];
	int first = dup(0), told = 0;

	(void)state;
	close(first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	for (few.rlim_cur = (rlim_t)first;; few.rlim_cur++) {
		struct recording *recording = make(util_print(text, sizeof(text), "few%u", (unsigned)few.rlim_cur), 1);
		struct player player = { .now = util_now() };

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		player.source = replay_new(recording, &(struct replay_options) { .at_once = true });
		pass(&player, 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		failure = player.source->table->facts(player.source).failure;
		assert_int_equal(!failure, player.read == recording->parts[0].packets);
		if (failure) {
			assert_string_equal(failure, "the recording was not read to its end: Too many open files; let "
				"ktop have more files (ulimit -n)");
			player.source->table->remark(player.source, LINK_NO_HELLO, text, sizeof(text));
			assert_non_null(strstr(text, failure));
			told++;
		}
		end(&player);
		if (!failure)
			break;
	}
	assert_true(told >= 2);		/* without the folder, and without a file */
}

/* Without its metadata a recording does not say where the kernel's file is. It need not, if the asker does. */
static void a_given_kernel_makes_up_for_missing_metadata(void **state)
{
	char text[RECORDING_REMARK];

	(void)state;
	for (int given = 0; given < 2; given++) {
		struct recording *recording = make(given ? "given" : "bare", 1);
		struct source *source;

		recording->parts[0].undescribed = true;
		source = replay_new(recording, &(struct replay_options) { .at_once = true, .kernel_given = given });
		source->table->remark(source, LINK_NO_HELLO, text, sizeof(text));
		assert_int_equal(!strstr(text, "without metadata"), given);
		source->table->free(source);
	}
}

/* ---- a session on it ---- */

/* Steps a session until it has read all of a recording. */
static struct session *read_by(const char *folder, const char *kernel)
{
	const struct replay_options how = { .at_once = true, .kernel_given = kernel };
	const struct session_options options = { .kernel = kernel };
	uint64_t late = util_now() + LATE_SECONDS * NS_PER_SECOND;
	char *error = NULL;
	struct recording *recording = recording_new(folder, &error);
	struct session *session;

	assert_non_null(recording);
	session = session_new(replay_new(recording, &how), &options, &error);
	assert_non_null(session);
	while (!session_over(session) && util_now() < late)	/* a thread looks for the kernel's file first */
		session_step(session, 1);
	assert_true(session_over(session));
	return session;
}

static struct session *read_all(const char *folder)
{
	return read_by(folder, NULL);
}

/* The kernel's own events are known before their descriptors come, as in a part of a recording that is read alone. */
static void a_session_knows_events_before_they_are_described(void **state)
{
	struct packets *packets = packets_new(1);
	const struct guest_event *own;
	struct session *session;

	(void)state;
	recordings_own_event(packets, ticks(1));
	recordings_guest(packets, ticks(2), HZ);
	recordings_own_event(packets, ticks(3));
	recordings_descriptor(packets, ticks(4));
	recordings_own_event(packets, ticks(5));
	recordings_write(scratch_path("own"), packets);
	session = read_all(scratch_path("own"));
	assert_true(session_epoch(session)->known);
	own = guest_events_from(session_epoch(session)->events, RECORDINGS_OWN);
	assert_non_null(own);
	assert_string_equal(own->name, "mail_put");
	assert_int_equal(events_sum(session_epoch(session)->events, RECORDINGS_OWN, 1), 3);
	session_free(session);
	packets_free(packets);
}

static void check_own(struct session *session, const char *name, uint64_t count)
{
	const struct guest_event *own = guest_events_from(session_epoch(session)->events, RECORDINGS_OWN);

	assert_int_equal(own != NULL, count > 0);
	if (own)
		assert_string_equal(own->name, name);
	if (own)
		assert_int_equal(events_sum(session_epoch(session)->events, RECORDINGS_OWN, 1), count);
}

/* Power has failed: the meta stream is empty, then the metadata, too. Samples are read all the same, in their time. */
static void a_session_reads_what_power_has_left(void **state)
{
	struct packets *packets = packets_new(1);
	struct session *session;
	char *part, *meta, *metadata;

	(void)state;
	recordings_guest(packets, ticks(1), HZ);
	recordings_descriptor(packets, ticks(2));
	recordings_own_event(packets, ticks(3));
	recordings_missed(packets, 1, ticks(4), 7);
	recordings_write(scratch_path("power"), packets);
	part = scratch_only(scratch_path("power"));
	meta = util_format("%s/meta_0", part);
	metadata = util_format("%s/metadata", part);

	assert_int_equal(truncate(meta, 0), 0);
	session = read_all(scratch_path("power"));
	assert_string_equal(session_epoch(session)->kernel, "demo");
	assert_int_equal(session_epoch(session)->clock_hz, HZ);
	assert_int_equal(session_epoch(session)->untimed, 0);
	assert_int_equal(decode_books(session_decode(session), STREAM_SAMPLES, 1).received, 7);
	check_own(session, "mail_put", 1);
	session_free(session);

	assert_int_equal(truncate(metadata, 0), 0);
	session = read_all(scratch_path("power"));
	assert_string_equal(session_epoch(session)->kernel, "");
	assert_int_equal(session_epoch(session)->cpu_count, 2);
	assert_int_equal(session_epoch(session)->untimed, 0);
	assert_int_equal(decode_books(session_decode(session), STREAM_SAMPLES, 1).received, 7);
	check_own(session, "", 0);
	session_free(session);
	free(metadata);
	free(meta);
	free(part);
	packets_free(packets);
}

/*
 * Two gaps and an event lie in the guest's rings when the recorder comes, `age_ms` later, at `at_ms`; the profiler is
 * on or off then. From 100 ms later on there are more.
 */
static struct session *read_leftovers(const char *name, uint64_t at_ms, uint64_t age_ms, bool running)
{
	struct packets *packets = packets_new(1);
	struct session *session;

	recordings_guest(packets, ticks(at_ms), HZ);
	recordings_status(packets, ticks(at_ms), running);
	recordings_descriptor(packets, ticks(at_ms));
	recordings_missed(packets, 1, ticks(at_ms - age_ms), 2);
	recordings_own_event(packets, ticks(at_ms - age_ms));
	recordings_status(packets, ticks(at_ms + 100), true);
	recordings_missed(packets, 1, ticks(at_ms + 100), 5);
	recordings_own_event(packets, ticks(at_ms + 100));
	recordings_missed(packets, 0, ticks(at_ms + 9000), 5);
	recordings_write(scratch_path(name), packets);
	session = read_all(scratch_path(name));
	packets_free(packets);
	return session;
}

/* A recording begins when somebody listens. What was sampled before is not in its range, and is told. */
static void leftovers_are_of_nobody(void **state)
{
	static const struct { const char *name; uint64_t at, age, begin; bool running, left; } cases[] = {
		{ "stopped", 150000, 140000, 150000, false, true },
		{ "stopped-just-now", 150000, 30, 150000, false, true },
		{ "stopped-young", 3000, 2900, 3000, false, true },
		{ "forgotten", 150000, 140000, 149000, true, true },
		{ "goes-on", 150000, 80, 149920, true, false },
		{ "booted", 6000, 5900, 100, true, false },
	};
	char remarks[REMARKS_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct session *session = read_leftovers(cases[i].name, cases[i].at, cases[i].age, cases[i].running);
		struct epoch *epoch = session_epoch(session);
		struct play_state play = session_source(session).play;
		uint64_t first = (cases[i].left ? cases[i].at + 100 : cases[i].at - cases[i].age) * MS;

		assert_int_equal(play.begin, cases[i].begin * MS);
		assert_int_equal(epoch->leftovers, cases[i].left ? 3 : 0);
		assert_int_equal(decode_books(session_decode(session), STREAM_SAMPLES, 1).received, 7);
		assert_in_range(store_oldest(epoch->inputs.store), first > 250 * MS ? first - 250 * MS : 0, first);
		remarks_text(epoch, play.begin, "", "\n", remarks, sizeof(remarks));
		assert_int_equal(strstr(remarks, "3 samples and events of the guest are left out") != NULL,
			cases[i].left);
		session_free(session);
	}
}

#define CODE UINT64_C(0xffffffff81200000)	/* of the kernel */

/* Makes such a kernel, in fresh memory: as a file, or as the memory of one that runs. */
static uint8_t *make_kernel(uint8_t *shape(const struct fake_linux *fake, size_t *size), size_t *size)
{
	const struct fake_symbol symbols[] = {
		{ CODE, 'T', "_text" }, { CODE + 0x400, 'T', "do_work" }, { CODE + 0x800, 'T', "_etext" },
		{ CODE + 0x600000, 'D', "init_task" },
	};
	size_t btf_size;
	uint8_t *btf = fake_btf(true, 0, &btf_size);
	const struct fake_part parts[] = { { 0x2000, "", 1 }, { 0x2010, "", 1 }, { 0x300000, btf, btf_size } };
	uint8_t *bytes = shape(&(struct fake_linux) {
		.shape = FAKE_ELF64, .order = FAKE_6_2, .kind = KALLSYMS_OFFSETS_PERCPU, .start = CODE,
		.symbols = symbols, .count = 4, .parts = parts, .parts_count = 3,
	}, size);

	free(btf);
	return bytes;
}

/* What a recording's last samples lack is looked for once more, although no time passes behind its end. */
static void what_came_last_is_looked_at(void **state)
{
	const uint64_t registers[17] = { [16] = 0x401000 };
	const struct event event = {
		.kind = EVENT_RAW_SAMPLE, .time = ticks(MOST_MS),
		.raw = {
			.process = 71, .thread = 71, .name = { .bytes = "last", .size = 4 }, .weight = 1,
			.mode = MODE_USER, .arch = ARCH_X86_64, .valid = 1 << 16,
			.register_count = 17, .registers = registers,
		},
	};
	size_t size;
	uint8_t *bytes = make_kernel(fake_linux_memory, &size);
	struct kernel_bytes kernel = { .bytes = bytes, .size = size, .arch = ARCH_X86_64 };
	struct session *session;
	struct epoch *epoch;

	(void)state;
	recording_free(make("last", 1));
	session = read_all(scratch_path("last"));
	epoch = session_epoch(session);
	kernel_bytes_place(&kernel, CODE);
	assert_true(symbols_read_kernel(epoch->inputs.symbols, &kernel));
	symbols_set_slide(epoch->inputs.symbols, 0);
	epoch->status.sampler = SAMPLER_OUTSIDE;
	epoch->status_known = true;
	epoch_events(epoch, &event, 1);
	assert_true(epoch_awaits(epoch, UINT64_MAX));
	session_step(session, 1);
	assert_false(epoch_awaits(epoch, UINT64_MAX));
	assert_true(kernel_watch_looks(epoch->watch).ended > 0);
	assert_int_equal(raw_samples_lost(epoch->held, RAW_HURRIED).ticks, 0);
	session_free(session);
	free(bytes);
}

/* A packet of one event: the fixed part of its payload, and lists or texts, all empty but the first with this word. */
static void put(struct packets *packets, uint32_t stream, uint64_t time, uint16_t id, const struct body *fixed,
	const uint64_t *word, int lists)
{
	struct body body = *fixed;

	packets_begin(packets, stream, 0, time);
	for (int i = 0; i < lists; i++)
		body_list(&body, word, i == 0 && word, sizeof(*word));
	packets_event(packets, time, id, &body);
	packets_end(packets, time);
}

/*
 * Programs come and go, and a recording has their pages of that moment. So they are looked for in the guest's time,
 * from the first second on, although all of the recording is read in one turn.
 */
static void a_guest_is_looked_at_while_it_is_read(void **state)
{
	struct packets *packets = packets_new(1);
	struct body guest = { .size = 0 }, status = { .size = 0 }, sample = { .size = 0 };
	size_t size;
	uint8_t *packed = fake_pack(make_kernel(fake_linux, &size), &size, FAKE_GZIP);
	uint8_t *bytes = fake_bzimage(packed, &size);
	char *kernel = util_format("%s", scratch_write("kernel", bytes, size));
	struct session *session;

	(void)state;
	body_fixed(&guest, &(struct ktop_wire_guest) { .cpus = 1, .clock = HZ }, sizeof(struct ktop_wire_guest));
	body_fixed(&status, &(struct ktop_wire_status) { .running = 1, .rate = 10, .sampler = KTOP_OUTSIDE },
		sizeof(struct ktop_wire_status));
	body_fixed(&sample, &(struct ktop_wire_walked_sample) {
		.process = KTOP_KERNEL, .thread = KTOP_KERNEL, .mode = MODE_KERNEL, .arch = KTOP_X86_64, .weight = 1,
		.exact = 1,
	}, sizeof(struct ktop_wire_walked_sample));
	put(packets, KTOP_META, ticks(FIRST_MS), KTOP_EVENT_guest, &guest, NULL, 5);
	put(packets, KTOP_META, ticks(FIRST_MS), KTOP_EVENT_status, &status, NULL, 1);
	for (uint64_t at = FIRST_MS; at <= FIRST_MS + 10000; at += 100)
		put(packets, KTOP_SAMPLES, ticks(at), KTOP_EVENT_walked_sample, &sample,
			&(uint64_t) { CODE + 0x400 }, 3);
	recordings_write(scratch_path("long"), packets);
	session = read_by(scratch_path("long"), kernel);
	/* One takes a second where pages lack, and after two seconds there is another one. */
	assert_in_range(kernel_watch_looks(session_epoch(session)->watch).ended, 3, 4);
	session_free(session);
	packets_free(packets);
	free(kernel);
	free(bytes);
}

/* The user's file of names cannot be read: a report fails by that, a screen plays without names. */
static void names_that_cannot_be_read(void **state)
{
	const struct session_options cases[] = {
		{ .kernel = "/nonexistent" }, { .kernel = "/" }, { .symbols = "/dev/zero" },
		{ .symbols = scratch_text("none", "this is no kernel\n") },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const struct replay_options how = { .at_once = i % 2, .kernel_given = cases[i / 2].kernel };
		struct source *source = replay_new(make(i % 2 ? "report" : "screen", 1), &how);
		struct session *session = session_new(source, &cases[i / 2], NULL);
		struct report *report = report_new(session, &report_default);

		while (!session_failure(session))
			session_step(session, 1);
		assert_int_equal(report_step(report), REPORT_FAILED);
		assert_string_equal(report->error, session_failure(session));
		while (!session_epoch(session))
			session_step(session, 1);
		report_free(report);
		session_free(session);
		scratch_run("rm -rf report screen");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_last_is_looked_at),
		cmocka_unit_test(it_begins_at_the_first_packet),
		cmocka_unit_test(it_plays_at_the_guests_speed),
		cmocka_unit_test(a_jump_lasts_until_all_before_it_is_read),
		cmocka_unit_test(it_plays_faster_and_slower),
		cmocka_unit_test(it_pauses_and_steps),
		cmocka_unit_test(it_jumps),
		cmocka_unit_test(it_ends_and_begins_again),
		cmocka_unit_test(it_goes_from_boot_to_boot),
		cmocka_unit_test(all_at_once), cmocka_unit_test(names_that_cannot_be_read),
		cmocka_unit_test(packets_that_cannot_be_reached_are_a_failure),
		cmocka_unit_test(a_given_kernel_makes_up_for_missing_metadata),
		cmocka_unit_test(a_session_knows_events_before_they_are_described),
		cmocka_unit_test(a_session_reads_what_power_has_left),
		cmocka_unit_test(leftovers_are_of_nobody), cmocka_unit_test(a_guest_is_looked_at_while_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
