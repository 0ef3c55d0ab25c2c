/* SPDX-License-Identifier: MIT */
/* Counts the primes below the argument, by sieve and by trial. */
#include <stdbool.h>
#include <stdint.h>

#include "program.h"

static void strike(uint8_t *sieve, uint64_t prime, uint64_t limit)
{
	for (uint64_t at = prime * prime; at < limit; at += prime)
		sieve[at] = 1;
}

static uint64_t count_by_sieve(uint64_t limit)
{
	uint8_t *sieve = program_map(limit);
	uint64_t count = 0;

	for (uint64_t i = 2; i < limit; i++) {
		if (sieve[i])
			continue;
		count++;
		strike(sieve, i, limit);
	}
	return count;
}

static bool is_prime(uint64_t number)
{
	for (uint64_t divisor = 2; divisor * divisor <= number; divisor++) {
		if (number % divisor == 0)
			return false;
	}
	return true;
}

static uint64_t count_by_trial(uint64_t limit)
{
	uint64_t count = 0;

	for (uint64_t i = 2; i < limit; i++)
		count += is_prime(i);
	return count;
}

int64_t main(uint64_t argument)
{
	return count_by_sieve(argument) != count_by_trial(argument);
}
