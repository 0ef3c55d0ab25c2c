#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "peer.h"
#include "qmp_plug.h"
#include "source.h"
#include "util.h"

enum {
	GREETING_MS = 3000,
	DISCOVER_MS = 10000,
	GREETING_AGAIN_MS = 100,	/* while the guest's bytes must not wait */
	DISCOVER_AGAIN_MS = 3000,
	PLUG_MS = 10000,
	UNPLUG_MS = 2000,
	UNPLUG_PAUSED_MS = 200,		/* nobody lets a controller go then */
	LOOK_MS = 1000,			/* into a silence */
	HANGS_MS = 2000,		/* without an answer */
	NS_PER_MS = 1000000,
};

#define PORT_OPTIONS "-device virtio-serial-pci " \
	"-chardev socket,id=ktop,path=ktop.sock,server=on,wait=off " \
	"-device virtserialport,chardev=ktop,name=org.ktop.0"

struct link {
	char *qmp_path, *port_path;	/* as the user gave them; NULL: not given */
	struct qmp *qmp;
	struct qmp_facts facts;		/* of the last VM that told */
	struct source *source;
	bool was_connected;		/* the port, at some time */
	bool heard;			/* bytes came since it was connected */
	uint64_t retry_at;
	enum vm_state last;		/* of a QMP that was closed */

	bool plug;			/* a port that is not there may be plugged in */
	bool plug_refused;		/* it was, by this QEMU */
	struct qmp_plugged plugged;
	bool stays;			/* it was to be taken out, and did not go */

	/* silence: the VM should run, and nothing comes */
	uint64_t heard_at;		/* or connected, or let run */
	uint64_t look_at;
	bool silent, hangs;		/* the port; QEMU */
	bool tried_again;		/* connected anew because of it, in vain so far */
	char *holder;			/* who is served instead of us; NULL: nobody is known */
	pid_t stopped;			/* QEMU, when it is; 0: it is not */
	char *why;			/* what is tried again failed last; NULL: it did not */
};

static bool discover(struct link *link, struct qmp *qmp, int timeout_ms, char **error)
{
	struct qmp_facts facts;

	if (!qmp_discover(qmp, timeout_ms, &facts, error))
		return false;
	qmp_facts_clear(&link->facts);
	link->facts = facts;
	if (!facts.port_plugged)
		link->plugged = (struct qmp_plugged){ 0 };
	return true;
}

static bool connect_qmp(struct link *link, int greeting_ms, int discover_ms, char **error)
{
	struct qmp *qmp = qmp_connect(link->qmp_path, greeting_ms, error);

	if (!qmp)
		return false;
	if (discover(link, qmp, discover_ms, error))
		link->qmp = qmp;
	else
		qmp_free(qmp);
	link->plug_refused = link->plug_refused && !link->qmp;
	return link->qmp;
}

/* Before our own first connection: has the port a client? */
static bool refuse_taken(const struct link *link, const char *path, char **error)
{
	char *client = link->was_connected ? NULL : peer_client(path, -1);
	bool taken = client || (!link->was_connected && !link->port_path && link->facts.port_taken);

	if (taken)
		util_fail(error,
			"port %s: taken by %s: QEMU serves one client at a time; end that one, "
			"or name the VM by --qmp when it is a ktop",
			path, client ? client : "another program");
	free(client);
	return taken;
}

static const char *port_path(const struct link *link)
{
	return link->port_path ? link->port_path : link->facts.port;
}

/* With QMP alone, and once for each: who refuses now refuses later, too. */
static bool plug_port(struct link *link, char **error)
{
	int fd;

	if (!link->plug)
		return util_fail(error,
			"port org.ktop.0: %s has none; start QEMU with " PORT_OPTIONS,
			link->facts.name ? link->facts.name : "this VM");
	if (link->plug_refused)
		return false;
	fd = qmp_plug(link->qmp, PLUG_MS, &link->plugged, error);
	link->plug_refused = fd < 0;
	if (fd >= 0) {
		link->source = source_from_fd(fd);
		link->facts.port_present = link->facts.port_plugged = true;
	}
	return fd >= 0;
}

static bool open_port(struct link *link, char **error)
{
	const char *path = port_path(link);

	if (!path && (!link->facts.port_present || link->facts.port_plugged))
		return plug_port(link, error);
	if (!path)
		return util_fail(error,
			"port org.ktop.0: its chardev is not a listening unix socket; "
			"give QEMU -chardev socket,id=...,path=...,server=on,wait=off");
	if (refuse_taken(link, path, error))
		return false;
	link->source = source_connect(path, error);
	return link->source;
}

static bool connect_port(struct link *link, char **error)
{
	bool connected = open_port(link, error);

	link->heard = false;
	link->heard_at = util_now();
	link->was_connected |= connected;
	return connected;
}

/* A machine that does not run, or is yet to come by migration, must not be changed. */
static bool awaits_vm(const struct link *link)
{
	return link->plug && !port_path(link) && link_vm(link) != VM_RUNNING &&
		(!link->facts.port_present || link->facts.port_plugged);
}

struct link *link_wait(const char *qmp, const char *port, bool plug)
{
	struct link *link = util_alloc(sizeof(*link));

	link->qmp_path = qmp ? util_copy(qmp, strlen(qmp)) : NULL;
	link->port_path = port ? util_copy(port, strlen(port)) : NULL;
	link->plug = plug;
	return link;
}

struct link *link_new(const char *qmp, const char *port, bool plug, char **error)
{
	struct link *link = link_wait(qmp, port, plug);

	if ((!qmp || connect_qmp(link, GREETING_MS, DISCOVER_MS, error)) &&
			(awaits_vm(link) || connect_port(link, error)))
		return link;
	link_free(link);
	return NULL;
}

void link_free(struct link *link)
{
	if (!link)
		return;
	link_unplug(link);
	qmp_free(link->qmp);
	source_free(link->source);
	qmp_facts_clear(&link->facts);
	free(link->holder);
	free(link->why);
	free(link->qmp_path);
	free(link->port_path);
	free(link);
}

const char *link_plugged(const struct link *link, char *text, size_t size)
{
	const char *bus = link->plugged.bus;

	snprintf(text, size, "%s%s%s",
		bus[0] ? "the port org.ktop.0 is plugged in, " : "",
		link->plugged.controller ? "with a virtio-serial controller on bus " :
			bus[0] ? "on bus " : "", bus);
	return text;
}

bool link_unplug(struct link *link)
{
	int wait = link_vm(link) == VM_RUNNING ? UNPLUG_MS : UNPLUG_PAUSED_MS;

	if (link->plugged.bus[0] && link->qmp)
		link->stays = !qmp_unplug(link->qmp, wait);
	link->plugged = (struct qmp_plugged){ 0 };
	return !link->stays;
}

static void step_qmp(struct link *link)
{
	enum vm_state before = link->qmp ? qmp_state(link->qmp) : VM_UNKNOWN;

	if (!link->qmp || qmp_step(link->qmp))
		return;
	link->last = before;
	qmp_free(link->qmp);
	link->qmp = NULL;
}

/* Is it QEMU that says nothing, or does it serve somebody else, or is it the guest? */
static void look_into_silence(struct link *link, uint64_t now)
{
	const char *path = port_path(link);
	int fd = source_fd(link->source);

	free(link->holder);
	link->holder = link->heard || !path ? NULL : peer_client(path, fd);
	link->stopped = path ? peer_stopped(fd) : link->qmp ? peer_stopped(qmp_fd(link->qmp)) : 0;
	if (link->qmp)
		qmp_ask(link->qmp);
	link->look_at = now + (uint64_t)LOOK_MS * NS_PER_MS;
}

static void end_silence(struct link *link)
{
	free(link->holder);
	link->holder = NULL;
	link->stopped = 0;
	link->silent = link->hangs = false;
	link->look_at = 0;
}

static void watch_silence(struct link *link, uint64_t now)
{
	enum vm_state vm = link_vm(link);
	uint64_t asked = link->qmp ? qmp_asked(link->qmp) : 0;

	if (!link->source || vm == VM_PAUSED || vm == VM_SHUTDOWN)
		link->heard_at = now;
	if (now < link->heard_at + (uint64_t)LINK_SILENT_MS * NS_PER_MS) {
		end_silence(link);
		return;
	}
	link->silent = true;
	if (now >= link->look_at)
		look_into_silence(link, now);
	link->hangs = link->stopped || (asked && now > asked + (uint64_t)HANGS_MS * NS_PER_MS);
}

/*
 * QEMU that was about to throttle a port when its client went may keep it throttled for the next
 * one: only when that goes is it free again.
 */
static void try_again(struct link *link)
{
	if (!link->silent || link->heard || link->holder || link->hangs || link->tried_again ||
			!port_path(link))
		return;
	link->tried_again = true;
	link_lost_port(link);
	link->retry_at = 0;
}

/* What is not connected; true: the port is now. Before it was once, QMP is asked again for it. */
static bool connect_all(struct link *link, char **why)
{
	if (link->qmp_path && !link->qmp)
		connect_qmp(link, GREETING_AGAIN_MS, DISCOVER_AGAIN_MS, why);
	else if (link->qmp && !link->was_connected && !awaits_vm(link))
		discover(link, link->qmp, DISCOVER_AGAIN_MS, why);
	link->retry_at = util_now() + (uint64_t)LINK_RETRY_MS * NS_PER_MS;
	if (link->source || (link->qmp_path && !link->qmp) || awaits_vm(link))
		return false;
	return connect_port(link, why && *why ? NULL : why);
}

bool link_step(struct link *link, uint64_t now)
{
	bool connected;
	char *why = NULL;

	step_qmp(link);
	watch_silence(link, now);
	try_again(link);
	if ((link->source && (link->qmp || !link->qmp_path)) || now < link->retry_at)
		return false;
	connected = connect_all(link, link->was_connected ? NULL : &why);
	if (why || connected || !link->plug_refused) {
		free(link->why);
		link->why = why;
	}
	return connected;
}

struct qmp *link_qmp(const struct link *link)
{
	return link->qmp;
}

struct source *link_source(const struct link *link)
{
	return link->source;
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
		return qmp_state(link->qmp);
	return link->qmp_path && !link->source && link->was_connected ? VM_GONE : VM_UNKNOWN;
}

enum link_state link_port_state(const struct link *link)
{
	if (link->source && link->heard)
		return LINK_NO_HELLO;
	if (link->source)
		return link->holder ? LINK_TAKEN : LINK_NOT_OPENED;
	if (link->qmp && !link->facts.port_present && !link->port_path)
		return LINK_NO_PORT;
	return link->was_connected ? LINK_LOST : LINK_CONNECTING;
}

bool link_silent(const struct link *link)
{
	return link->silent;
}

/* ---- in words ---- */

static char *vm_remark(const struct link *link)
{
	enum vm_state vm = link_vm(link);

	if (vm == VM_HANGS && link->stopped)
		return util_format("QEMU is stopped: `kill -CONT %d` lets it run on",
			(int)link->stopped);
	if (vm == VM_GONE)
		return util_format("QEMU %s: what came is kept; ktop goes on when it is back, on the "
			"same sockets", link->last == VM_SHUTDOWN ? "has ended, its machine shut down" :
			link->last == VM_PANICKED ? "has ended, its guest's kernel panicked" :
			"is gone, killed or crashed");
	return vm == VM_HANGS ? util_format("QEMU does not answer: it hangs, or its host is busy") :
		vm == VM_PANICKED ? util_format("the guest's kernel has panicked: what came before "
			"is kept; a reset begins anew") :
		vm == VM_SHUTDOWN ? util_format("the machine was shut down: what came is kept") : NULL;
}

static char *port_remark(const struct link *link, enum link_state state)
{
	if (state == LINK_LOST)
		return util_format("the port was closed: ktop connects again when it is back");
	if (state == LINK_TAKEN)
		return util_format("the port is taken by %s: QEMU serves one client at a time; "
			"end that one", link->holder);
	if (state == LINK_NOT_OPENED && link->silent && link->plugged.controller)
		return util_format("its controller was plugged in just now: a kernel that looks for "
			"one only as it starts, as the hook's own driver does, finds it after a reset");
	if (state == LINK_SILENT)
		return util_format("nothing comes from the guest: does its kernel hang, or not drain "
			"its rings (ktop_drain)?");
	return link->qmp_path && !link->qmp ? util_format("QMP was closed: the VM's state is not "
		"known, nor are keys pressed, until ktop is connected again") : NULL;
}

const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size)
{
	char *remark = link->why && !link->was_connected ? util_format("%s", link->why) :
		vm_remark(link);

	if (!remark)
		remark = port_remark(link, state);
	snprintf(text, size, "%s", remark ? remark : "");
	free(remark);
	return text;
}

const char *link_trouble(enum link_state state)
{
	static const char *const texts[] = {
		[LINK_NO_PORT] = "the VM has no port org.ktop.0",
		[LINK_CONNECTING] = "its port is not connected; does another program hold the socket?",
		[LINK_TAKEN] = "its port is taken by another program; end that one",
		[LINK_NOT_OPENED] = "it has not opened the port; is the hook in its kernel, and does "
			"that reach ktop_init?",
		[LINK_NO_HELLO] = "it sends, but not who it is; does its hook drain its rings "
			"(ktop_drain)?",
		[LINK_UP] = "it was reset, and has not come up again; is it still booting?",
		[LINK_SILENT] = "nothing comes from it any more; does its kernel hang?",
		[LINK_LOST] = "its port was closed; is QEMU still there?",
	};

	return texts[state];
}

void link_heard(struct link *link)
{
	link->heard = true;
	link->heard_at = util_now();
	link->tried_again = false;
}

void link_lost_port(struct link *link)
{
	source_free(link->source);
	link->source = NULL;
}
