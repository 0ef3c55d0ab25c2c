/* SPDX-License-Identifier: MIT */
/* The readers of each architecture. */
#ifndef FLOW_PARTS_H
#define FLOW_PARTS_H

#include "flow.h"

flow_reader flow_x86_64, flow_i386, flow_aarch64, flow_riscv64;

#endif
