/* SPDX-License-Identifier: MIT */
/*
 * The link makes what is missing in this order, one stage at a time. Each stage ends by itself:
 *
 *	OPENING		QMP sends its greeting, accepts, tells the state	as long as it takes
 *	DISCOVERING	QEMU is asked what machine it is		10 s, and again if it has not answered
 *	SEEKING		who holds the socket: for an error, or before the port is connected
 *	STUB		QEMU is asked for its gdb stub			5 s
 *	LEAVING_STUB	the process at the stub lets the machine go on	5 s, or as link_leave is told; this includes
 *	RETURNING_STUB	QEMU takes its stub away
 *	READING		a page of the guest's memory is read	5 s
 *	PLUGGING	a port is plugged in, if there is none		10 s
 *	PLUGGING_BACK	what was plugged in in vain is taken out	1 s
 *	UNPLUGGING	at the end: the port is taken out	as link_leave is told
 *
 * A failure is told, and retried half a second later. Meanwhile the link also looks for the cause of a silence.
 * link_step drives it all and never waits: the caller's loop waits for link_fd, until link_due.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/base/job.h"
#include "agent/base/peer.h"
#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

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
	return link->was_connected || link->why ||
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

const struct qmp_facts *link_facts(const struct link *link)
{
	return &link->facts;
}

enum vm_state link_vm(const struct link *link)
{
	if (link->hangs)
		return VM_HANGS;
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
