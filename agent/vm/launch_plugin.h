/* SPDX-License-Identifier: MIT */
/* ktop's plugin for the QEMU that is to be launched: where it is, and whether this machine is to have it. */
#ifndef LAUNCH_PLUGIN_H
#define LAUNCH_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "link.h"

/*
 * The path of the plugin's file, in fresh memory. NULL: no plugin is to be loaded; `error` is set if the user wants it
 * and its file is missing. LINK_AUTO: the plugin is loaded unless the machine's kernel or initrd has the hook. Whether
 * KVM runs the guest, which then shows a plugin nothing, is known once QEMU runs (struct qmp_facts).
 */
char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error);

/* True if the machine's kernel or initrd has the hook. A compressed file does not tell. */
bool launch_has_hook(char *const *words, size_t count);

#endif
