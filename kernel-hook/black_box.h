/* SPDX-License-Identifier: MIT */
/*
 * What a reader needs who finds the hook in the memory of a machine that answers no more: struct ktop_wire_black_box,
 * at the beginning of a page, and behind it the physical address of each page of the hook's memory.
 */
#ifndef KTOP_BLACK_BOX_H
#define KTOP_BLACK_BOX_H

#include <stdint.h>

struct ktop;
struct ktop_facts;
struct ktop_settings;

/* Bytes, so that the box begins at a page wherever it is put. `rest`: of all other memory of the hook. */
uint64_t ktop_black_box_memory(uint64_t rest);

/*
 * Thread, in ktop_init(), which has laid out all else. `box`: that many bytes; `rings`: the first of them; the settings
 * are complete. Without facts.physical there is no box.
 */
void ktop_black_box_init(struct ktop *ktop, const struct ktop_facts *facts, const struct ktop_settings *settings,
	void *box, const uint8_t *rings, uint64_t size);

#endif
