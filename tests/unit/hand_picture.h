/* A picture made by hand, always the same: 4 CPUs, eight functions, 10 s of samples. */
#ifndef HAND_PICTURE_H
#define HAND_PICTURE_H

#include <stddef.h>
#include <stdint.h>

struct picture;
struct symbols;

enum { HAND_FUNCTIONS = 8 };

struct symbols *hand_symbols(uint32_t functions[HAND_FUNCTIONS]);
struct picture *hand_picture(struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS]);

/* Another number of CPUs, all of them busy in their own way. */
void hand_cpus(struct picture *picture, uint32_t count);

#endif
