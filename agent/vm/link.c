/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/job.h"
#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

/*
 * The link makes what is missing in this order, one stage at a time. Each stage ends by itself:
 *
 *	OPENING		QMP sends its greeting, accepts, tells the state	as long as it takes
 *	DISCOVERING	QEMU is asked what machine it is		10 s, and again if it has not answered
 *	SEEKING		who holds the socket: for an error, or before the port is connected
 *	STUB		QEMU is asked for its gdb stub			5 s
 *	LEAVING_STUB	the process at the stub lets the machine go on	5 s, or as link_leave is told; this includes
 *	RETURNING_STUB	QEMU takes its stub away
 *	LENT		another thread reads all of a dead machine's memory	as long as it takes
 *	READING		a page of the guest's memory is read	5 s
 *	PLUGGING	a port is plugged in, if there is none		10 s
 *	PLUGGING_BACK	what was plugged in in vain is taken out	1 s
 *	UNPLUGGING	at the end: the port is taken out	as link_leave is told
 *
 * A failure is told, and retried half a second later. Meanwhile the link also looks for the cause of a silence.
 * link_step drives it all and never waits: the caller's loop waits for link_fd, until link_due.
 */

enum {
	OPENING_MS = 3000,		/* what lasts longer is told; and who holds the socket is looked for */
	LONG_MS = 1 << 30,
	DISCOVER_MS = 10000,
	PAUSED_MS = 200,		/* most for taking out: a VM that does not run releases no controller */
	JOB_MS = 10,			/* between two checks whether a job is done */
	UNSURE_MS = 3000,		/* a QEMU that ends closes QMP, and is gone, so soon after the port */
	CLEANING_MS = 30000,		/* what has started it may clean up so long */
};

void link_enter(struct link *link, enum link_stage stage)
{
	link->stage = stage;
	link->news++;
}

/* Ends the try. What is missing is tried again later. */
void link_rest(struct link *link, uint64_t now)
{
	link_enter(link, STAGE_NOTHING);
	link->retry_at = now + (uint64_t)LINK_RETRY_MS * NS_PER_MS;
}

/* Takes over the text. Drops it if the port was connected before: other remarks tell of later failures. */
void link_fail(struct link *link, char *why, uint64_t now)
{
	free(link->why);
	link->why = link->was_connected ? NULL : why;
	if (link->was_connected)
		free(why);
	link->crowded = false;
	link->crowded_since = 0;
	link_rest(link, now);
}

void link_seek(struct link *link, const char *path, int own_fd)
{
	link->wanted = path;
	link->seek = peer_search(path, own_fd, -1);
	link_enter(link, STAGE_SEEKING);
}

/* ---- QMP ---- */

static void open_qmp(struct link *link, uint64_t now)
{
	char *error = NULL;
	bool taken;

	link->opening = qmp_connect(link->qmp_path, LONG_MS, &taken, &error);
	link->slow = false;
	link->opening_by = now + (uint64_t)OPENING_MS * NS_PER_MS;
	if (link->opening) {
		link_enter(link, STAGE_OPENING);
	} else if (taken && !link->was_connected) {
		free(error);
		link_seek(link, link->qmp_path, -1);
	} else {
		link_fail(link, error, now);
	}
}

static void take_holder_of_qmp(struct link *link, const char *client, uint64_t now)
{
	if (link->opening && !client) {
		link_enter(link, STAGE_OPENING);
		return;
	}
	if (link->opening)
		link_fail(link, util_format("QMP socket %s: no greeting in %d ms: QEMU "
			"serves one client at a time, and %s has it; end that one, or give QEMU a second -qmp "
			"socket", link->qmp_path, OPENING_MS, client), now);
	else
		link_fail(link, util_format("QMP socket %s: taken by %s, and others wait; end them, or "
			"give QEMU a second -qmp socket", link->qmp_path,
			client ? client : "another client"), now);
	qmp_free(link->opening);
	link->opening = NULL;
}

static void begin_discovery(struct link *link, struct qmp *qmp, uint64_t now)
{
	discover_begin(&link->discovery, qmp, now, DISCOVER_MS);
	link_enter(link, STAGE_DISCOVERING);
}

static void step_opening(struct link *link, uint64_t now)
{
	enum qmp_phase before = qmp_phase(link->opening), phase;

	qmp_step(link->opening, now);
	phase = qmp_phase(link->opening);
	if (phase != before) {
		link->opening_by = now + (uint64_t)OPENING_MS * NS_PER_MS;
		link->slow = false;
		link->news++;
	}
	if (phase == QMP_READY) {
		begin_discovery(link, link->opening, now);
	} else if (phase == QMP_FAILED) {
		link_fail(link, util_format("%s", qmp_error(link->opening)), now);
		qmp_free(link->opening);
		link->opening = NULL;
	} else if (now >= link->opening_by) {
		link->opening_by = now + (uint64_t)OPENING_MS * NS_PER_MS;
		link->slow = true;
		link->news++;
		free(link->why);		/* of an earlier try */
		link->why = NULL;
		if (phase == QMP_GREETING && !link->was_connected)
			link_seek(link, link->qmp_path, qmp_fd(link->opening));
	}
}

static void end_discovery(struct link *link, uint64_t now)
{
	struct qmp_discovery *discovery = &link->discovery;
	bool good = !discovery->talk.error;

	if (discovery->talk.silent && link->opening && qmp_state(link->opening) != VM_GONE) {
		discover_clear(discovery);
		link->slow = true;
		begin_discovery(link, link->opening, now);
		return;
	}
	link->slow = false;
	if (good) {
		qmp_facts_clear(&link->facts);
		link->facts = discovery->facts;
		discovery->facts = (struct qmp_facts) { 0 };
		if (!link->facts.port_plugged)
			link->plugged = (struct qmp_plugged) { 0 };
	}
	if (good && link->opening) {
		link->qmp = link->opening;
		link->opening = NULL;
		link->plug_refused = link->reading.mapped = false;
		if (!link->socket)
			choice_begin(link);
	}
	if (!good)
		link_fail(link, util_format("%s", discovery->talk.error), now);
	else if (link->socket || port_awaits_vm(link))
		link_rest(link, now);
	else
		port_begin(link, now);
	qmp_free(link->opening);
	link->opening = NULL;
	discover_clear(discovery);
}

/* ---- the whole ---- */

/* Begins the next stage. Until the port is connected for the first time, each try asks QMP for it again. */
static void begin(struct link *link, uint64_t now)
{
	if (now < link->retry_at || link->left)
		return;
	if (link->qmp_path && !link->qmp)
		open_qmp(link, now);
	else if (link->socket || port_awaits_vm(link) || port_awaits_search(link))
		return;
	else if (link->qmp && !link->was_connected)
		begin_discovery(link, link->qmp, now);
	else
		port_begin(link, now);
}

static void step_seeking(struct link *link, uint64_t now)
{
	struct peer_found found;

	if (!peer_found(link->seek, &found))
		return;
	link->seek = NULL;
	if (link->wanted == link->qmp_path)
		take_holder_of_qmp(link, found.client, now);
	else
		port_take_holder(link, found.client, now);
	free(found.client);
}

static struct qmp_talk *talk_of(struct link *link)
{
	if (link->stage == STAGE_STUB || link->stage == STAGE_RETURNING_STUB)
		return &link->gdbserver.talk;
	if (link->stage == STAGE_READING)
		return &link->reading.talk;
	return link->stage == STAGE_DISCOVERING ? &link->discovery.talk :
		link->stage >= STAGE_PLUGGING ? &link->plugging.talk : NULL;
}

static void step_talk(struct link *link, uint64_t now)
{
	struct qmp_talk *talk = talk_of(link);

	if (link->opening)
		qmp_step(link->opening, now);
	if (!talk_step(talk, now))
		return;
	if (link->stage == STAGE_DISCOVERING)
		end_discovery(link, now);
	else if (link->stage == STAGE_STUB)
		gdb_end_talk(link, now);
	else if (link->stage == STAGE_RETURNING_STUB)
		link_gave_back(link, now);
	else if (link->stage == STAGE_READING)
		link_end_reading(link);
	else if (link->stage == STAGE_PLUGGING)
		port_end_plug(link, now);
	else
		port_end_unplug(link, now);
}

static void step_stage(struct link *link, uint64_t now)
{
	switch (link->stage) {
	case STAGE_NOTHING:
		begin(link, now);
		break;
	case STAGE_OPENING:
		step_opening(link, now);
		break;
	case STAGE_SEEKING:
		step_seeking(link, now);
		break;
	case STAGE_LEAVING_STUB:
		gdb_step_leaving(link, now);
		break;
	case STAGE_LENT:
		break;
	default:
		step_talk(link, now);
		break;
	}
}

/* A QMP connection that is gone is kept while a dialogue uses it. The dialogue ends with its next step. */
static void step_qmp(struct link *link, uint64_t now)
{
	if (!link->qmp)
		return;
	if (qmp_step(link->qmp, now)) {
		link->last = qmp_state(link->qmp);
	} else if (!talk_of(link)) {
		qmp_free(link->qmp);
		link->qmp = NULL;
	}
}

static uint64_t cleaned_by(const struct link *link)
{
	return link->lost_at + (uint64_t)CLEANING_MS * NS_PER_MS;
}

/*
 * A guest that has panicked ends QEMU with status 0, too. A wrapper that goes on for long hides QEMU's status; then
 * only an end that QMP has told is known to be the guest's.
 */
static void learn_end(struct link *link, uint64_t now)
{
	char *how = link->ended(link->ended_context, &link->ended_well);
	const char *instead = NULL;

	if (!how && now < cleaned_by(link))
		return;
	if (link->last == VM_PANICKED)
		instead = "the guest's kernel has panicked";
	else if (!how)
		instead = link->last == VM_SHUTDOWN ? "the machine was shut down" :
			"QEMU is gone, and what has started it goes on";
	if (instead) {
		free(how);
		how = util_format("%s", instead);
		link->ended_well = link->last == VM_SHUTDOWN;
	}
	link->how_ended = how;
	link->news++;
}

bool link_step(struct link *link, uint64_t now)
{
	struct port_socket *before;

	step_qmp(link, now);
	if (link->ended && !link->how_ended && link_vm(link) == VM_GONE)
		learn_end(link, now);
	gdb_watch(link, now);
	gdb_watch_process(link, now);
	silence_watch(link, now);
	choice_watch(link, now);
	if (silence_wants_new_port(link) || silence_is_of_lost_port(link)) {
		link_lost_port(link);
		link->retry_at = 0;
	}
	before = link->socket;
	step_stage(link, now);
	return link->socket && link->socket != before;
}

int link_fd(const struct link *link)
{
	return link->qmp ? qmp_fd(link->qmp) : link->opening ? qmp_fd(link->opening) : -1;
}

uint64_t link_due(struct link *link, uint64_t now)
{
	struct qmp_talk *talk = talk_of(link);
	uint64_t change = choice_due(link, now), due;

	if (link->seek || link->look || link->hook_search || link->stage == STAGE_LEAVING_STUB)
		return now + (uint64_t)JOB_MS * NS_PER_MS;
	due = talk ? talk_due(talk) : UINT64_MAX;
	return due < change ? due : change;
}

uint64_t link_news(const struct link *link)
{
	return link->news;
}

bool link_settled(const struct link *link)
{
	return link->was_connected || (link->why && !link->crowded) ||
		(link->qmp && link->stage == STAGE_NOTHING && port_awaits_vm(link));
}

const char *link_failure(const struct link *link)
{
	return link->was_connected ? NULL : link->why;
}

struct link *link_new(const char *qmp, const char *port, bool plug, enum link_choice choice)
{
	struct link *link = util_alloc(sizeof(*link));

	link->qmp_path = qmp ? util_copy(qmp, strlen(qmp)) : NULL;
	link->port_path = port ? util_copy(port, strlen(port)) : NULL;
	link->plug = plug;
	link->choice = choice;
	link->folder.lock = -1;
	return link;
}

void link_set_kernel(struct link *link, const char *path)
{
	free(link->kernel_path);
	link->kernel_path = path ? util_copy(path, strlen(path)) : NULL;
}

void link_set_own(struct link *link, char *(*ended)(void *context, bool *well), void *context)
{
	link->ended = ended;
	link->ended_context = context;
}

const char *link_ended(const struct link *link, bool *well)
{
	*well = link->ended_well;
	return link->how_ended;
}

/* QEMU may still do the last request of a dialogue that is dropped here. */
static void drop_stage(struct link *link)
{
	job_leave(link->seek);
	link->seek = NULL;
	if (link->stage == STAGE_DISCOVERING)
		discover_clear(&link->discovery);
	else if (link->stage == STAGE_STUB || link->stage == STAGE_RETURNING_STUB)
		gdbserver_clear(&link->gdbserver);
	else if (link->stage == STAGE_READING)
		memory_clear(&link->reading);
	else if (link->stage >= STAGE_PLUGGING)
		plug_clear(&link->plugging);
	qmp_free(link->opening);
	link->opening = NULL;
	link_enter(link, STAGE_NOTHING);
}

static void begin_unplug(struct link *link, uint64_t now)
{
	int left = now < link->leave_by ? (int)((link->leave_by - now) / NS_PER_MS) : 0;

	if (!link->unplug || !link->qmp || qmp_state(link->qmp) == VM_GONE)
		return;
	if (!left) {			/* a busy host: the time was over before QEMU could be asked */
		link->stays = STAYS_UNKNOWN;
		return;
	}
	unplug_begin(&link->plugging, link->qmp, now,
		link_vm(link) == VM_RUNNING || left < PAUSED_MS ? left : PAUSED_MS);
	link_enter(link, STAGE_UNPLUGGING);
}

void link_gave_back(struct link *link, uint64_t now)
{
	link_enter(link, STAGE_NOTHING);
	if (link->left)
		begin_unplug(link, now);
}

void link_leave(struct link *link, uint64_t now, int timeout_ms)
{
	link->unplug = link->plugged.bus[0] || (link->stage >= STAGE_PLUGGING && link->plugging.given) ||
		link->stage > STAGE_PLUGGING;
	link->leave_by = now + (uint64_t)timeout_ms * NS_PER_MS;
	if (link->unplug && link->stage == STAGE_LENT)
		link->stays = STAYS_UNKNOWN;
	drop_stage(link);
	link->left = true;
	if (!(link->process.pid || link->stub_is_ours) || !gdb_leave(link, now, timeout_ms))
		begin_unplug(link, now);
}

bool link_leaving(const struct link *link)
{
	return link->stage == STAGE_UNPLUGGING || link->stage == STAGE_LEAVING_STUB ||
		link->stage == STAGE_RETURNING_STUB;
}

void link_free(struct link *link)
{
	if (!link)
		return;
	drop_stage(link);
	silence_clear(link);
	qmp_free(link->qmp);
	port_socket_free(link->socket);
	gdb_clear(link);
	choice_clear(link);
	qmp_facts_clear(&link->facts);
	free(link->why);
	free(link->qmp_path);
	free(link->port_path);
	free(link->how_ended);
	free(link->kernel_path);
	free(link);
}

const char *link_port_path(const struct link *link)
{
	if (choice_is_gdb(link))
		return NULL;
	return link->port_path ? link->port_path : choice_is_plugin(link) ? link->facts.plugin : link->facts.port;
}

struct qmp *link_qmp(const struct link *link)
{
	return link->qmp;
}

struct port_socket *link_socket(const struct link *link)
{
	return link->socket;
}

struct qmp *link_lend(struct link *link)
{
	struct qmp *qmp = link->stage == STAGE_NOTHING && !link->left && !choice_is_gdb(link) ? link->qmp : NULL;

	if (qmp) {
		link->qmp = NULL;
		link_enter(link, STAGE_LENT);
	}
	return qmp;
}

void link_take_back(struct link *link, struct qmp *qmp)
{
	if (link->stage == STAGE_LENT) {
		link->qmp = qmp;
		link_enter(link, STAGE_NOTHING);
	} else {			/* the link was left meanwhile */
		qmp_free(qmp);
	}
}

const struct qmp_facts *link_facts(const struct link *link)
{
	return &link->facts;
}

enum vm_state link_vm(const struct link *link)
{
	if (link->hangs)
		return VM_HANGS;
	if (link->stage == STAGE_LENT)
		return link->last;
	if (link->qmp)
		return link->sampled ? VM_RUNNING : qmp_state(link->qmp);
	return link->qmp_path && !link->socket && link->was_connected ? VM_GONE : VM_UNKNOWN;
}

bool link_is_unsure(const struct link *link, uint64_t now)
{
	bool ends = link->ended && !link->how_ended && link_vm(link) == VM_GONE;

	if (ends)
		return !link->socket && now < cleaned_by(link);
	return link->qmp && !link->socket && now < link->lost_at + (uint64_t)UNSURE_MS * NS_PER_MS;
}

enum link_state link_port_state(const struct link *link)
{
	if (link->socket && link->heard)
		return LINK_NO_HELLO;
	if (link->socket)
		return link->holder ? LINK_TAKEN : LINK_NOT_OPENED;
	if (link->qmp && !link->facts.port_present && !link->port_path && !choice_is_plugin(link) &&
			!choice_is_gdb(link))
		return LINK_NO_PORT;
	return link->was_connected ? LINK_LOST : LINK_CONNECTING;
}

bool link_silent(const struct link *link)
{
	return link->silent;
}

bool link_closed(const struct link *link)
{
	return link->closed;
}

void link_heard(struct link *link)
{
	link->heard = true;
	link->heard_at = util_now();
	link->tried_again = false;
}

void link_lost_port(struct link *link)
{
	link->lost_at = util_now();
	port_socket_free(link->socket);
	link->socket = NULL;
}

/* ---- the port ---- */

/* The port: connecting it, plugging it in if the VM has none, taking it out. */

enum {
	PLUG_MS = 10000,
	BACK_MS = 1000,
	CROWDED_MS = 3000,		/* dialogues of other programs, such as `ktop ctl`, end sooner */
};

#define PORT_OPTIONS "-device virtio-serial-pci " \
	"-chardev socket,id=ktop,path=ktop.sock,server=on,wait=off " \
	"-device virtserialport,chardev=ktop,name=org.ktop.0"

static bool has_foreign_port(const struct link *link)
{
	return link->facts.port_present && !link->facts.port_plugged;
}

/* A VM that does not run must not be changed: it may be about to come by migration. */
bool port_awaits_vm(const struct link *link)
{
	if (choice_is_gdb(link))
		return link_vm(link) != VM_RUNNING;
	return link->plug && !link_port_path(link) && link_vm(link) != VM_RUNNING &&
		!has_foreign_port(link) && !choice_is_plugin(link);
}

bool port_awaits_search(const struct link *link)
{
	return link->hook_search && link->plug && !link->plug_refused && !link_port_path(link) &&
		!has_foreign_port(link) && !choice_is_plugin(link) && !choice_is_gdb(link);
}

void port_connected(struct link *link, struct port_socket *socket, uint64_t now)
{
	free(link->why);
	link->why = NULL;
	link->socket = socket;
	link->was_connected = true;
	link->crowded = false;
	link->crowded_since = 0;
	link_rest(link, now);
}

/* The port has other clients. That is told at once, but is a failure only once they have stayed. */
static void port_is_crowded(struct link *link, char *why, uint64_t now)
{
	uint64_t since = link->crowded_since ? link->crowded_since : now;

	link_fail(link, why, now);
	link->crowded_since = since;
	link->crowded = now - since < (uint64_t)CROWDED_MS * NS_PER_MS;
}

/* A port that has waited (`waiting`) is connected already. */
static void take_port(struct link *link, uint64_t now)
{
	char *error = NULL;
	bool taken = false;
	struct port_socket *socket =
		link->waiting ? link->waiting : port_socket_connect(link_port_path(link), &taken, &error);

	link->waiting = NULL;
	link->heard = false;
	link->heard_at = now;
	if (socket)
		port_connected(link, socket, now);
	else if (taken)
		port_is_crowded(link, error, now);
	else
		link_fail(link, error, now);
}

static void begin_plug(struct link *link, uint64_t now)
{
	plug_begin(&link->plugging, link->qmp, link->choice == LINK_HOOK || link->has_hook, now, PLUG_MS);
	link_enter(link, STAGE_PLUGGING);
}

/* Before the first connection, the link looks whether the port has another client. */
void port_begin(struct link *link, uint64_t now)
{
	const char *path = link_port_path(link);
	bool none = !link->plug || link->plug_refused;

	if (port_awaits_search(link))
		link_enter(link, STAGE_NOTHING);
	else if (choice_is_gdb(link))
		gdb_begin(link, now);
	else if (link->waiting || (path && link->was_connected))
		take_port(link, now);
	else if (path)
		link_seek(link, path, -1);
	else if (choice_is_plugin(link))
		link_fail(link, link->facts.kvm ? util_format("plugin: KVM runs %s, and QEMU's plugins see TCG alone; "
			"use --source gdb, or the hook in the guest", link->facts.name ? link->facts.name : "this VM") :
			util_format("plugin: %s has not loaded it; start QEMU with -plugin ktop-plugin.so,socket=PATH, "
			"or use --source gdb", link->facts.name ? link->facts.name : "this VM"), now);
	else if (has_foreign_port(link))
		link_fail(link, util_format("port org.ktop.0: its chardev is not a listening unix "
			"socket; give QEMU -chardev socket,id=...,path=...,server=on,wait=off"), now);
	else if (none && choice_allows_stub(link, now))
		gdb_begin(link, now);
	else if (none && link->stub_why)
		link_fail(link, util_format("%s", link->stub_why), now);
	else if (!link->plug)
		link_fail(link, util_format("port org.ktop.0: %s has none; start QEMU with "
			PORT_OPTIONS, link->facts.name ? link->facts.name : "this VM"), now);
	else if (link->plug_refused)
		link_rest(link, now);
	else
		begin_plug(link, now);
}

void port_take_holder(struct link *link, const char *client, uint64_t now)
{
	if (client || (!link->port_path && !choice_is_plugin(link) && link->facts.port_taken))
		port_is_crowded(link, util_format("port %s: taken by %s: QEMU serves one client at a "
			"time; end that one, or, if it is a ktop, name the VM by --qmp", link_port_path(link),
			client ? client : "another program"), now);
	else
		take_port(link, now);
}

/* Takes out a port that was plugged in and could not be used, if QEMU still answers. */
void port_end_plug(struct link *link, uint64_t now)
{
	struct qmp_plug *plug = &link->plugging;
	bool back = plug->talk.error && plug->given && qmp_state(link->qmp) != VM_GONE;

	if (!plug->talk.error) {
		link->plugged = plug->plugged;
		link->deletions = qmp_deletions(link->qmp);
		link->facts.port_present = link->facts.port_plugged = true;
		link->heard = false;
		link->heard_at = now;
		port_connected(link, port_socket_from_fd(plug->fd), now);
		plug->fd = -1;
	} else {
		link->plug_refused = plug->refused;
		if (plug->refused && !plug->may_add)	/* no hook is known of: the gdb stub is tried at once */
			link_rest(link, 0);
		else
			link_fail(link, util_format("%s", plug->talk.error), now);
	}
	plug_clear(plug);
	if (back) {
		unplug_begin(plug, link->qmp, now, BACK_MS);
		link_enter(link, STAGE_PLUGGING_BACK);
	}
}

void port_end_unplug(struct link *link, uint64_t now)
{
	struct qmp_plug *plug = &link->plugging;

	link->stays = plug->kept ? STAYS_CONTROLLER : plug->talk.error ? STAYS_UNKNOWN : STAYS_NOTHING;
	link->plugged = (struct qmp_plugged) { 0 };
	plug_clear(plug);
	link_rest(link, now);
}

/* ---- guest memory ---- */

/* Reading the guest's memory by QMP, a page at a time, where the guest's hook is the source: a hook reads none. */

enum { READING_MS = 5000 };

static bool is_guest_hook(const struct link *link)
{
	return link->socket && link->heard && !choice_is_plugin(link) && !choice_is_gdb(link);
}

bool link_can_read(const struct link *link)
{
	return link->qmp && link->stage == STAGE_NOTHING && is_guest_hook(link) && !link->left && !link->page_come &&
		!link->silent;
}

void link_read(struct link *link, uint64_t address, uint64_t now)
{
	memory_begin(&link->reading, link->qmp, link->facts.cpus, address, now, READING_MS);
	link->stage = STAGE_READING;	/* no news: nobody is told of it */
}

void link_end_reading(struct link *link)
{
	memory_clear(&link->reading);
	link->stage = STAGE_NOTHING;
	link->page_come = true;
}

bool link_take_page(struct link *link, struct link_page *page)
{
	if (!link->page_come)
		return false;
	link->page_come = false;
	*page = (struct link_page) {
		.address = link->reading.address, .bytes = link->reading.there ? link->reading.bytes : NULL,
	};
	return true;
}

/* ---- the gdb stub ---- */

/* QEMU's gdb stub in place of a port: finding or starting it, the process that samples by it, giving it back. */

enum {
	STUB_MS = 5000,
	AGAIN_MS = 3000,		/* until LINK_AUTO tries a stub again that a debugger uses */
	/*
	 * A machine that ran this shortly ago is stopped for a sample, not paused. A host may be so busy that a sample
	 * takes long. But when the process is gone, the machine goes on only if it is sure that nobody has paused it.
	 */
	SAMPLE_MS = 2000, STEADY_MS = 300,
};

/* ---- is it stopped for a sample, or by somebody? ---- */

static bool ran_within(const struct link *link, int ms, uint64_t now)
{
	return link->ran_at && now < link->ran_at + (uint64_t)ms * NS_PER_MS;
}

/*
 * The process greets the stub, and has said nothing yet. It began while the machine ran, and the machine stands until
 * the greeting is over, however long each of its answers takes.
 */
static bool is_greeted(const struct link *link)
{
	return choice_is_gdb(link) && link->socket && !link->heard;
}

void gdb_watch(struct link *link, uint64_t now)
{
	enum vm_state state = link->qmp ? qmp_state(link->qmp) : VM_UNKNOWN;
	uint64_t resumes = link->qmp ? qmp_resumes(link->qmp) : 0;

	if (state == VM_RUNNING || resumes != link->resumes)
		link->ran_at = now;
	link->resumes = resumes;
	link->steady = state == VM_PAUSED && ran_within(link, STEADY_MS, now);
	link->sampled = state == VM_PAUSED && link->process.pid &&
		(is_greeted(link) || ran_within(link, SAMPLE_MS, now));
}

/* ---- taking it ---- */

/* Takes over the text. With LINK_AUTO, the next step goes on without the stub. */
static void refuse(struct link *link, char *why, uint64_t now)
{
	if (link->choice != LINK_AUTO) {
		link_fail(link, why, now);
		return;
	}
	choice_lost_stub(link, why, now + (uint64_t)AGAIN_MS * NS_PER_MS);
	link_rest(link, now);
	link->retry_at = now;
}

void gdb_begin(struct link *link, uint64_t now)
{
	char *error = NULL, *path;

	if (link_vm(link) != VM_RUNNING || link->process.pid) {
		link_rest(link, now);
		return;
	}
	if (!link->folder.path && !launch_folder_make(&link->folder, peer_user(qmp_fd(link->qmp)), &error)) {
		refuse(link, error, now);
		return;
	}
	path = util_format("%s/" LAUNCH_GDB, link->folder.path);
	gdbserver_begin(&link->gdbserver, link->qmp, path, now, STUB_MS);
	link_enter(link, STAGE_STUB);
	free(path);
}

void gdb_end_talk(struct link *link, uint64_t now)
{
	struct qmp_gdbserver *gdbserver = &link->gdbserver;
	char *error = NULL;
	int port = -1;

	link->stub_is_ours |= gdbserver->ours;
	if (gdbserver->talk.error)
		error = util_format("%s", gdbserver->talk.error);
	else
		port = gdb_process_start(&link->process, gdbserver->stub, &error);
	gdbserver_clear(gdbserver);
	if (port < 0) {
		refuse(link, error, now);
		return;
	}
	if (link->choice == LINK_AUTO)
		choice_took_stub(link);
	link->heard = false;
	link->heard_at = now;
	port_connected(link, port_socket_from_fd(port), now);
}

/* ---- the process ---- */

/* A process that was killed may have left the machine stopped. A machine that somebody has paused is not steady. */
void gdb_watch_process(struct link *link, uint64_t now)
{
	bool killed;
	char *why;

	if (!link->process.pid || !gdb_process_ended(&link->process, &killed, &why))
		return;
	if (killed && link->qmp && link->steady)
		qmp_send(link->qmp, "cont", NULL);
	if (link->socket && choice_is_gdb(link))
		link_lost_port(link);
	if (why && !link->heard && !link->left && choice_is_gdb(link)) {
		char *error = util_format("gdb stub: %s; use another source", why);

		if (link->choice == LINK_AUTO)
			choice_lost_stub(link, util_format("%s", error), UINT64_MAX);
		link_fail(link, error, now);
	}
	free(why);
}

/* ---- giving it back ---- */

bool gdb_leave(struct link *link, uint64_t now, int timeout_ms)
{
	link_lost_port(link);
	link->return_by = now + (uint64_t)timeout_ms * NS_PER_MS;
	if (!link->process.pid && !link->stub_is_ours)
		return false;
	link_enter(link, STAGE_LEAVING_STUB);
	return true;
}

/* The stub must not end before the process: the process may still have to let the machine go on. */
void gdb_step_leaving(struct link *link, uint64_t now)
{
	if (now >= link->return_by) {
		link_gave_back(link, now);
	} else if (!link->process.pid && link->stub_is_ours && link->qmp) {
		link->stub_is_ours = false;
		gdbserver_end(&link->gdbserver, link->qmp, now, (int)((link->return_by - now) / NS_PER_MS));
		link_enter(link, STAGE_RETURNING_STUB);
	} else if (!link->process.pid) {
		link_gave_back(link, now);
	}
}

void gdb_clear(struct link *link)
{
	gdb_process_leave(&link->process);
	if (link->folder.path)
		launch_folder_remove(&link->folder);
}
