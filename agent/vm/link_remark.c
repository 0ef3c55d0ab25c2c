/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"

/* The link's remarks, each in one line: what was plugged in, what could not be taken out, what is wrong. */

const char *link_plugged(const struct link *link, char *text, size_t size)
{
	const char *bus = link->plugged.bus;

	util_print(text, size, "%s%s%s",
		bus[0] ? "the port org.ktop.0 is plugged in, " : "",
		link->plugged.controller ? "with a virtio-serial controller on bus " :
			bus[0] ? "on bus " : "", bus);
	return text;
}

const char *link_stays(const struct link *link)
{
	static const char *const texts[] = {
		[STAYS_NOTHING] = NULL,
		[STAYS_CONTROLLER] = "the virtio-serial controller that ktop plugged in stays "
			"until the guest releases it or is reset",
		[STAYS_UNKNOWN] = "QEMU did not answer: the port that ktop plugged in may still "
			"be there; the next ktop takes it out",
	};

	return texts[link->stays];
}

static char *opening_remark(const struct link *link)
{
	const char *slow = qmp_phase(link->opening) == QMP_GREETING ?
		": QEMU hangs, its host is busy, another client has it, or it is no QMP socket" :
		": QEMU hangs, or its host is busy";

	return util_format("waits for %s on the QMP socket %s%s", qmp_awaits(link->opening), link->qmp_path,
		link->slow ? slow : "");
}

/* What is under way, and how long it may take; NULL: nothing to tell. */
static char *stage_remark(const struct link *link)
{
	const struct qmp_plug *plug = &link->plugging;

	switch (link->stage) {
	case STAGE_OPENING:
		return opening_remark(link);
	case STAGE_DISCOVERING:
		return util_format("asks QEMU what machine it is: waits for the answer to `%s`%s",
			link->discovery.talk.question, link->slow ? ": QEMU hangs, or its host is busy" : "");
	case STAGE_SEEKING:
		return link->opening ? opening_remark(link) :
			util_format("looks for the program that holds the socket %s", link->wanted);
	case STAGE_STUB:
		return util_format("asks QEMU for its gdb stub: waits for the answer to `%s`, 5 s at most",
			link->gdbserver.talk.question);
	case STAGE_PLUGGING:
		return util_format("plugs the port in: waits for the answer to `%s`, 10 s at "
			"most", plug->talk.question);
	default:
		return NULL;
	}
}

static char *vm_remark(const struct link *link)
{
	enum vm_state vm = link_vm(link);

	if (vm == VM_HANGS && link->stopped)
		return util_format("QEMU is stopped: `kill -CONT %d` lets it run on",
			(int)link->stopped);
	if (vm == VM_GONE && link->ended)
		return util_format("%s: what came is kept; q leaves", link->how_ended ? link->how_ended :
			"QEMU is ending, or is gone and what has started it cleans up");
	if (vm == VM_GONE)
		return util_format("QEMU %s: what came is kept; ktop goes on when it is back, on the "
			"same sockets", link->last == VM_SHUTDOWN ? "has ended (its machine was shut down)" :
			link->last == VM_PANICKED ? "has ended (its guest's kernel panicked)" :
			"is gone (killed, or crashed)");
	return vm == VM_HANGS ? util_format("QEMU does not answer: it hangs, or its host is busy; "
		"ktop waits for it") :
		vm == VM_PANICKED ? util_format("the guest's kernel has panicked: what came "
			"before is kept; a reset starts it again") :
		vm == VM_SHUTDOWN ? util_format("the machine was shut down: what came is kept") : NULL;
}

static unsigned silent_for(const struct link *link)
{
	uint64_t now = util_now();

	return now > link->heard_at ? (unsigned)((now - link->heard_at) / NS_PER_SECOND) : 0;
}

static char *port_remark(const struct link *link, enum link_state state)
{
	if (state == LINK_LOST)
		return util_format("the port was closed: ktop connects again when it is back");
	if (state == LINK_TAKEN)
		return util_format("the port is taken by %s: QEMU serves one client at a time; "
			"end that one", link->holder);
	if (state == LINK_NOT_OPENED && link->stub_why)
		return util_format("%s", link->stub_why);
	if (state == LINK_NOT_OPENED && link->silent && link->plugged.controller)
		return util_format("the guest has not found the controller that was just plugged "
			"in: its kernel may look for one only while it boots; reset it if this lasts");
	if (state == LINK_NOT_OPENED && link->mute_at)
		return util_format("no hook has spoken so far; soon QEMU's gdb stub samples the guest. A hook need "
			"not stop it, samples more often, and adds events");
	if (state == LINK_SILENT && link->closed)
		return util_format("the guest closed the port (rebooted, or ktop.ko unloaded?); last "
			"data %u s ago; ktop goes on when it is open again", silent_for(link));
	if (state == LINK_SILENT && choice_is_plugin(link))
		return util_format("nothing comes from the plugin in QEMU: is its host busy? Last data %u s ago",
			silent_for(link));
	if (state == LINK_SILENT)
		return util_format("nothing comes from the guest: does its kernel hang, or no "
			"longer call ktop_drain? Last data %u s ago", silent_for(link));
	return link->qmp_path && !link->qmp ? util_format("QMP was closed: until ktop is "
		"connected again, the VM's state is unknown and keys cannot be pressed") : NULL;
}

const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size)
{
	char *remark = link->was_connected ? NULL :
		link->why ? util_format("%s", link->why) : stage_remark(link);

	if (!remark)
		remark = vm_remark(link);

	if (!remark)
		remark = port_remark(link, state);
	util_print(text, size, "%s", remark ? remark : "");
	free(remark);
	return text;
}
