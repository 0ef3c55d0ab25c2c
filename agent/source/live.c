/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/profiler.h"
#include "agent/vm/link.h"
#include "agent/vm/port_socket.h"
#include "live.h"
#include "source.h"

enum {
	ANSWER_MS = 10,			/* between two checks whether the guest has started or stopped */
	HASTE_MS = 1000,		/* so long the bytes of a new boot are read at once: for a first table soon */
};

struct live {
	struct source source;
	struct link *link;
	struct commands *commands;
	struct profiler_drive profiler;
	uint64_t resets;		/* of the VM, those that a step has already reported */
	bool lost;			/* the port was lost, and whoever waits for an answer is still to be told */

	/* of the newest boot, as hook or plugin tells it */
	uint8_t boot_id[16];
	uint64_t begun;			/* when it was first seen, by util_now */
	bool known, running;		/* it has told whether it is profiled; it is */
	bool goes_on;			/* the sampler changes, or begins again: profile the next boot, too */
};

static struct live *live_of(struct source *source)
{
	return (struct live *)source;
}

static const struct live *live_in(const struct source *source)
{
	return (const struct live *)source;
}

static void free_live(struct source *source)
{
	struct live *live = live_of(source);

	link_free(live->link);
	commands_free(live->commands);
	profiler_drive_clear(&live->profiler);
	free(live);
}

/* ---- waiting ---- */

/*
 * Somebody waits for the next bytes: for an answer of the guest, or for the first samples of a boot. The process at the
 * gdb stub sends after each sample: what is done with it at once does not fall into the next sample, in which the guest
 * stands and QEMU needs a core.
 */
static bool is_hasty(const struct live *live, uint64_t now)
{
	return !live->known || link_by_gdb(live->link) || now < live->begun + (uint64_t)HASTE_MS * NS_PER_MS ||
		commands_hope(live->commands, now) || profiler_drive_waits(&live->profiler);
}

static void await(struct source *source, bool reads, uint64_t now, struct source_wait *wait)
{
	struct live *live = live_of(source);
	struct port_socket *socket = link_socket(live->link);
	bool hasty = is_hasty(live, now);
	int wakeup = socket && reads ? port_socket_wakeup(socket, hasty ? 0 : wait->at) : -1;
	bool reads_itself = socket && reads && (wakeup < 0 || hasty);
	short wanted = (short)((reads_itself ? POLLIN : 0) |
		(socket && port_socket_wants_write(socket) ? POLLOUT : 0));
	uint64_t answer = now + (uint64_t)ANSWER_MS * NS_PER_MS;

	wait->fds[0] = (struct pollfd) { .fd = wanted ? port_socket_fd(socket) : -1, .events = wanted };
	wait->fds[1] = (struct pollfd) { .fd = wakeup, .events = POLLIN };
	wait->fds[2] = (struct pollfd) { .fd = link_fd(live->link), .events = POLLIN };
	wait->count = 3;
	wait->due = link_due(live->link, now);
	if (profiler_drive_waits(&live->profiler) && answer < wait->due)
		wait->due = answer;
}

/* ---- the connections ---- */

/*
 * The guest has opened or closed its port, so the hook takes the place of the plugin or gdb stub, or one of these takes
 * the place of the hook. The new sampler's packets have a boot id of their own. A plugin that nobody listens to any
 * more is told to stop; a hook that closed its port has stopped.
 */
static void change(struct live *live, uint64_t now)
{
	static const char stop[] = "stop\n";

	if (link_socket(live->link) && link_by_plugin(live->link))
		port_socket_send(link_socket(live->link), stop, strlen(stop));
	live->goes_on = live->running;
	commands_drop(live->commands, "no answer: the guest has opened or closed its port; ask again");
	link_change(live->link, now);
}

/* The gdb stub does not tell of a reset, so the process that samples through it is begun anew. */
static void begin_anew(struct live *live)
{
	live->goes_on = live->running;
	commands_drop(live->commands, "no answer: the guest was reset, or put back by loadvm; ask again");
	link_lost_port(live->link);
}

/* `why`: unless the port was lost before. */
static void drop(struct live *live, const char *why)
{
	commands_drop(live->commands, !live->lost ? why : link_vm(live->link) == VM_GONE ?
		"no answer: the VM is gone; start it again" :
		"no answer: the connection to the guest's port was lost; ask again when it is back");
	live->lost = false;
}

static unsigned step(struct source *source, uint64_t now)
{
	struct live *live = live_of(source);
	bool begun = link_step(live->link, now);
	const struct qmp *qmp = link_qmp(live->link);
	uint64_t resets = qmp ? qmp_resets(qmp) : live->resets;
	/*
	 * A guest closes its port when it reboots or unloads its hook. Both stop the sampling. The plugin does not
	 * stop: it begins a boot by itself.
	 */
	bool anew = link_by_gdb(live->link) && resets > live->resets;
	bool stopped = !link_by_plugin(live->link) && !anew && (resets > live->resets || link_closed(live->link));

	live->resets = resets;
	if (link_wants_change(live->link))
		change(live, now);
	if (anew)
		begin_anew(live);
	if (begun)
		drop(live, "no answer: the guest's port was silent, and is connected anew; ask again");
	return (begun ? SOURCE_BEGUN : 0) | (stopped ? SOURCE_STOPPED : 0);
}

/* Whoever waits for an answer is told once it is known whether the VM is gone. */
static void lose_port(struct live *live)
{
	live->lost = true;
	link_lost_port(live->link);
}

static ssize_t read_port(struct source *source, void *to, size_t size)
{
	struct live *live = live_of(source);
	struct port_socket *socket = link_socket(live->link);
	ssize_t got = socket ? port_socket_read(socket, to, size) : 0;

	if (got > 0)
		link_heard(live->link);
	if (got < 0)
		lose_port(live);
	return got;
}

/* If this boot is the first after a change of the sampler, starts its profiler if the last one was on. */
static void note_boot(struct live *live, const struct epoch *epoch, uint64_t now)
{
	bool other = memcmp(live->boot_id, epoch->boot_id, sizeof(live->boot_id)) != 0;

	if (other && live->goes_on)
		profiler_drive_want(&live->profiler, true, true, &(struct command_sink) { 0 });
	if (other) {
		live->goes_on = false;
		live->begun = now;
	}
	memcpy(live->boot_id, epoch->boot_id, sizeof(live->boot_id));
	live->known = epoch->status_known;
	live->running = epoch->status_known && epoch->status.running;
}

static unsigned serve(struct source *source, const struct source_guest *guest, uint64_t now)
{
	struct live *live = live_of(source);
	struct port_socket *socket = link_socket(live->link);
	bool lost = socket && !port_socket_flush(socket);
	const struct profiler_guest profiled = {
		.epoch = guest->epoch,
		.link = live->link,
		.commands = live->commands,
		.state = guest->state,
	};

	if (guest->epoch)
		note_boot(live, guest->epoch, now);
	if (lost)
		lose_port(live);
	if (!link_is_unsure(live->link, now)) {
		if (live->lost)
			drop(live, "");
		profiler_drive_step(&live->profiler, &profiled);
	}
	commands_expire(live->commands, now);
	return lost ? SOURCE_LOST : 0;
}

static struct source_facts facts(const struct source *source)
{
	const struct live *live = live_in(source);
	const struct qmp_facts *told = link_facts(live->link);
	bool well;
	const char *ended = link_ended(live->link, &well);

	return (struct source_facts) {
		.ended = ended,
		.ended_well = well,
		.machine = told->name,
		.kernel = told->kernel,
		.state = link_port_state(live->link),
		.by = link_by(live->link),
		.vm = link_vm(live->link),
		.resets = live->resets,
		.unsure = link_is_unsure(live->link, util_now()),
		.silent = link_silent(live->link),
		.own = link_by_gdb(live->link),
		.news = link_news(live->link),
		.kept = profiler_drive_kept(&live->profiler),
		.settled = link_settled(live->link),
		.failure = link_failure(live->link),
	};
}

static const char *remark(const struct source *source, enum link_state state, char *text, size_t size)
{
	return link_remark(live_in(source)->link, state, text, size);
}

/* ---- the guest ---- */

static void run(struct source *source, bool on, bool keep, const struct command_sink *sink)
{
	profiler_drive_want(&live_of(source)->profiler, on, keep, sink);
}

static void ask(struct source *source, const char *line, const struct command_sink *sink)
{
	struct live *live = live_of(source);

	if (link_vm(live->link) != VM_GONE)
		commands_send(live->commands, link_socket(live->link), line, *sink, util_now());
	else if (sink->answered)
		sink->answered(sink->context, false, "not sent: the VM is gone; start it again");
}

static void answered(struct source *source, bool ok, const char *bytes, size_t size)
{
	commands_reply(live_of(source)->commands, ok, bytes, size);
}

static void greet(struct source *source, const char *why)
{
	if (why)
		commands_drop(live_of(source)->commands, why);
	ask(source, "hello", &(struct command_sink) { 0 });
}

/* ---- the guest's memory ---- */

static bool can_read(const struct source *source)
{
	return link_can_read(live_in(source)->link);
}

static void read_page(struct source *source, uint64_t address, uint64_t now)
{
	link_read(live_of(source)->link, address, now);
}

static bool take_page(struct source *source, struct memory_bytes *bytes)
{
	struct link_page page;

	if (!link_take_page(live_of(source)->link, &page))
		return false;
	*bytes = (struct memory_bytes) {
		.address = page.address,
		.bytes = { .bytes = (const char *)page.bytes, .size = page.bytes ? GUEST_MEMORY_PAGE : 0 },
	};
	return true;
}

static struct qmp *lend(struct source *source)
{
	return link_lend(live_of(source)->link);
}

static void take_back(struct source *source, struct qmp *qmp)
{
	link_take_back(live_of(source)->link, qmp);
}

/* ---- what is under way ---- */

static bool waits(const struct source *source)
{
	return commands_wait(live_in(source)->commands);
}

static void forget(struct source *source, const void *context)
{
	commands_forget(live_of(source)->commands, context);
	profiler_drive_forget(&live_of(source)->profiler, context);
}

/* ---- what was plugged in ---- */

static const char *plugged(const struct source *source, char *text, size_t size)
{
	return link_plugged(live_in(source)->link, text, size);
}

static void leave(struct source *source, uint64_t now, int timeout_ms)
{
	link_leave(live_of(source)->link, now, timeout_ms);
}

static bool leaving(const struct source *source)
{
	return link_leaving(live_in(source)->link);
}

static const char *stays(const struct source *source)
{
	return link_stays(live_in(source)->link);
}

struct source *live_new(const struct live_options *options)
{
	static const struct source_table table = {
		.free = free_live,
		.await = await,
		.step = step,
		.serve = serve,
		.read = read_port,
		.facts = facts,
		.remark = remark,
		.run = run,
		.ask = ask,
		.answered = answered,
		.greet = greet,
		.can_read = can_read,
		.read_page = read_page,
		.take_page = take_page,
		.lend = lend,
		.take_back = take_back,
		.waits = waits,
		.forget = forget,
		.plugged = plugged,
		.leave = leave,
		.leaving = leaving,
		.stays = stays,
	};
	struct live *live = util_alloc(sizeof(*live));

	live->source.table = &table;
	live->link = link_new(options->qmp, options->port, !options->no_plug,
		(enum link_choice)options->choice);
	link_set_kernel(live->link, options->kernel);
	link_set_own(live->link, options->ended, options->ended_context);
	live->commands = commands_new();
	return &live->source;
}
