/* SPDX-License-Identifier: MIT */
/* For tests of stacks: a program of a guest, built without frame pointers, that is nearly always in deep_leaf(). */
#define KEPT __attribute__((noinline, noclone))

static KEPT unsigned deep_leaf(unsigned value)
{
	volatile unsigned rest = value;

	for (unsigned i = 0; i < 1000000; i++)
		rest = rest * 31 + i;
	return rest;
}

static KEPT unsigned deep_inner(unsigned value)
{
	volatile unsigned room[12] = { value };

	return deep_leaf(room[0]) + room[1];
}

static KEPT unsigned deep_middle(unsigned value)
{
	return deep_inner(value + 1) * 3;
}

static KEPT unsigned deep_outer(unsigned value)
{
	return deep_middle(value + 1) * 5;
}

int main(void)
{
	for (volatile unsigned value = 0;;)
		value = deep_outer(value);
}
