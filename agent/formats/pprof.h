/* SPDX-License-Identifier: MIT */
/*
 * The profiles of pprof: a message of profile.proto, packed by gzip. Lists of the set become lists of the profile, in
 * their order; an id is an index plus 1. Texts have no list of their own in a set, so each thing has as many texts as
 * its kind needs, and the number of a text is known before it is written. What is written twice costs little, since it
 * is packed.
 */
#ifndef PPROF_H
#define PPROF_H

#include "set_format.h"

extern const struct set_format format_pprof;

#endif
