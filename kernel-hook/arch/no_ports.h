/* SPDX-License-Identifier: MIT */
/* I/O ports for CPUs that have none: reads return all ones, as if no device were there. Any context. */
#ifndef KTOP_ARCH_NO_PORTS_H
#define KTOP_ARCH_NO_PORTS_H

#include <stdint.h>

#define KTOP_HAS_PORTS false

/* clang-format off */
static inline uint8_t ktop_in8(uint16_t port) { (void)port; return UINT8_MAX; }
static inline uint16_t ktop_in16(uint16_t port) { (void)port; return UINT16_MAX; }
static inline uint32_t ktop_in32(uint16_t port) { (void)port; return UINT32_MAX; }
static inline void ktop_out8(uint16_t port, uint8_t value) { (void)port, (void)value; }
static inline void ktop_out16(uint16_t port, uint16_t value) { (void)port, (void)value; }
static inline void ktop_out32(uint16_t port, uint32_t value) { (void)port, (void)value; }
/* clang-format on */

#endif
