/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "state_words.h"

/* In `trouble`, "it" is the guest. */
static const struct state_words links[] = {
	[LINK_NO_PORT] = { .name = "no port", .brief = "no port",
		.why = "The VM has no port org.ktop.0.",
		.what_to_do = "Use `ktop run`, or add a virtserialport.",
		.trouble = "the VM has no port org.ktop.0; give --source hook, or start QEMU with one" },
	[LINK_CONNECTING] = { .name = "connecting", .brief = "connecting",
		.why = "Not connected to the port's socket yet.",
		.what_to_do = "Perhaps another program holds it.",
		.trouble = "its port is not connected; does another program hold the socket?" },
	[LINK_TAKEN] = { .name = "port taken", .brief = "taken",
		.why = "Another program is connected to the port.",
		.what_to_do = "QEMU serves only one: end it.",
		.trouble = "its port is taken by another program; end that one" },
	[LINK_NOT_OPENED] = { .name = "waiting for guest", .brief = "waiting",
		.why = "The guest has not opened the port.",
		.what_to_do = "Linux: insmod ktop.ko; else call ktop_init.",
		.trouble = "it has not opened the port; Linux: is ktop.ko loaded? Others: is ktop_init called?" },
	[LINK_NO_HELLO] = { .name = "waiting for guest", .brief = "waiting",
		.why = "The guest sends, but has not said who it is.",
		.what_to_do = "Does it call ktop_drain?",
		.trouble = "it sends data, but has not said who it is; does its kernel call ktop_drain?" },
	[LINK_UP] = { .name = "off", .brief = "off",
		.trouble = "it was reset, and has not come up again; is it still booting?" },
	[LINK_SILENT] = { .name = "silent", .brief = "silent",
		.why = "Nothing comes from the guest any more.",
		.what_to_do = "If this lasts: does its kernel hang?",
		.trouble = "nothing comes from it any more; does its kernel hang?" },
	[LINK_LOST] = { .name = "link lost", .brief = "lost",
		.why = "The connection to the guest is lost.",
		.what_to_do = "ktop connects again by itself.",
		.trouble = "its port was closed; is QEMU still there?" },
};

/* While something outside the guest samples it, or is about to; a state that is not here has the words above. */
static const struct state_words outside[][LINK_LOST + 1] = {
	[BY_PLUGIN] = {
		[LINK_CONNECTING] = { .why = "Not connected to the plugin in QEMU yet.",
			.what_to_do = "Perhaps another program is.",
			.trouble = "the plugin in QEMU is not connected; is another program connected to it?" },
		[LINK_NOT_OPENED] = { .why = "The plugin in QEMU has not answered.",
			.what_to_do = "If this lasts: is QEMU's host busy?",
			.trouble = "the plugin in QEMU has not answered; is its host busy?" },
		[LINK_NO_HELLO] = { .why = "The plugin has not said what machine it is.",
			.what_to_do = "This takes a moment.",
			.trouble = "the plugin in QEMU has not said what machine it is; is its host busy?" },
		[LINK_UP] = { .why = "Profiling is off.",
			.what_to_do = "{profile} starts the plugin; a hook adds events, allows KVM.",
			.trouble = "it was reset, and has not come up again; is it still booting?" },
		[LINK_SILENT] = { .why = "Nothing comes from the plugin any more.",
			.what_to_do = "If this lasts: is QEMU's host busy?",
			.trouble = "nothing comes from the plugin in QEMU any more; is its host busy?" },
	},
	[BY_STUB] = {
		[LINK_NO_PORT] = { .why = "No hook is known.",
			.what_to_do = "The gdb stub samples; a hook adds events, stops nothing.",
			.trouble = "no hook is known in it; QEMU's gdb stub is about to sample it" },
		[LINK_CONNECTING] = { .why = "QEMU is asked for its gdb stub.",
			.what_to_do = "A hook adds events, stops nothing.",
			.trouble = "QEMU's gdb stub is not there yet; does QEMU answer?" },
		[LINK_NOT_OPENED] = { .why = "No hook so far.",
			.what_to_do = "Soon the gdb stub samples; a hook adds events, stops nothing.",
			.trouble = "no hook has spoken in it; soon QEMU's gdb stub samples it" },
		[LINK_NO_HELLO] = { .why = "The gdb stub has not said what machine it is.",
			.what_to_do = "This takes a moment.",
			.trouble = "QEMU's gdb stub has not said what machine it is; is its host busy?" },
		[LINK_UP] = { .why = "Profiling is off.",
			.what_to_do = "{profile} starts the stub; a hook adds events, stops nothing.",
			.trouble = "it was reset, and has not come up again; is it still booting?" },
		[LINK_SILENT] = { .why = "Nothing comes from the gdb stub any more.",
			.what_to_do = "If this lasts: is QEMU's host busy?",
			.trouble = "nothing comes from QEMU's gdb stub any more; is its host busy?" },
	},
};

static const struct state_words vms[] = {
	[VM_UNKNOWN] = { .name = "VM ?", .brief = "?" },
	[VM_RUNNING] = { .name = "VM running", .brief = "running" },
	[VM_PAUSED] = { .name = "VM paused", .brief = "paused",
		.why = "The VM is paused.",
		.what_to_do = "`cont` in QEMU's monitor lets it run again.",
		.trouble = "the VM is paused; let it run first" },
	[VM_SHUTDOWN] = { .name = "VM shut down", .brief = "shut down",
		.why = "The guest has shut down.",
		.what_to_do = "{quit} leaves ktop." },
	[VM_PANICKED] = { .name = "VM panicked", .brief = "panic",
		.why = "The guest's kernel has panicked.",
		.what_to_do = "A reset starts it again; {quit} leaves ktop." },
	[VM_HANGS] = { .name = "VM hangs", .brief = "hangs",
		.why = "QEMU does not answer.",
		.what_to_do = "It is stopped, or its host is busy; ktop waits for it." },
	[VM_GONE] = { .name = "VM gone", .brief = "gone",
		.why = "QEMU is gone.",
		.what_to_do = "What came is kept; {quit} leaves ktop.",
		.trouble = "the VM is gone; start it again" },
};

const struct state_words *state_words_of_link(enum link_state state, enum link_by by)
{
	return outside[by][state].why ? &outside[by][state] : &links[state];
}

const struct state_words *state_words_of_vm(enum vm_state state)
{
	return &vms[state];
}
