/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "alarm.h"

/*
 * 2^32 * timer / clock, rounded up, so that a shot is never too short. To do without a division of 128 bits, it takes
 * the whole units of a tick first, then the fraction bit by bit.
 */
static uint64_t ratio_of(uint64_t clock_hz, uint64_t timer_hz)
{
	uint64_t whole = timer_hz / clock_hz, rest = timer_hz % clock_hz;

	for (uint32_t bit = 0; bit < 32; bit++) {
		rest *= 2;
		whole = whole * 2 + (rest >= clock_hz);
		rest -= rest >= clock_hz ? clock_hz : 0;
	}
	return whole + (rest != 0);
}

void ktop_alarm_init(struct ktop_alarm *alarm, uint64_t clock_hz, uint32_t timer_hz, uint32_t most)
{
	uint64_t reach = most;

	/* most * clock_hz / timer_hz, in parts that fit in 64 bits */
	reach = reach / timer_hz * clock_hz + reach % timer_hz * (clock_hz / timer_hz) +
		reach % timer_hz * (clock_hz % timer_hz) / timer_hz;
	*alarm = (struct ktop_alarm) {
		.kernel = KTOP_NEVER, .sample = KTOP_NEVER,
		.ratio = ratio_of(clock_hz, timer_hz), .reach = reach, .most = most,
	};
}

uint32_t ktop_alarm_met(struct ktop_alarm *alarm, uint64_t now)
{
	uint32_t met = 0;

	if (alarm->kernel <= now) {
		alarm->kernel = KTOP_NEVER;
		met |= KTOP_ALARM_KERNEL;
	}
	if (alarm->sample <= now) {
		alarm->sample = KTOP_NEVER;
		met |= KTOP_ALARM_SAMPLE;
	}
	return met;
}

/* wait * ratio / 2^32, rounded up. `wait` is at most alarm.reach, so the sum fits in 64 bits. */
static uint64_t units_of(uint64_t wait, uint64_t ratio)
{
	uint64_t low = (wait & 0xffffffff) * (ratio & 0xffffffff);
	uint64_t middle = (wait >> 32) * (ratio & 0xffffffff) + (wait & 0xffffffff) * (ratio >> 32);
	uint64_t high = (wait >> 32) * (ratio >> 32) << 32;

	return high + middle + (low >> 32) + ((low & 0xffffffff) != 0);
}

uint32_t ktop_alarm_units(const struct ktop_alarm *alarm, uint64_t now)
{
	uint64_t due = alarm->sample < alarm->kernel ? alarm->sample : alarm->kernel, units;

	if (due <= now)
		return 1;
	if (due - now > alarm->reach)
		return alarm->most;
	units = units_of(due - now, alarm->ratio);
	return units < alarm->most ? (uint32_t)units : alarm->most;
}
