/* SPDX-License-Identifier: MIT */
/*
 * Profiles of pprof, ktop's and others'. A sample's weight is its value of the kind "periods", which ktop writes; if
 * there is none, that of the default kind. The number of samples is the value of the last kind up to this one that
 * counts; if there is none, it is the weight. The labels cpu, mode, thread, thread_id, process and process_id say who
 * ran it. A mapping is an object, known by the name of its file. In texts, what ktop has written as \xHH is taken
 * back.
 */
#ifndef PPROF_IMPORT_H
#define PPROF_IMPORT_H

#include "set_import.h"

extern const struct set_import import_pprof;

#endif
