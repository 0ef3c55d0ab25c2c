/* SPDX-License-Identifier: MIT */
/* A program that is over before anybody can look at it: for tests/e2e/linux_brief. */
enum { ROUNDS = 200000 };

static volatile unsigned sum;

static __attribute__((noinline)) void run_briefly(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		sum += i * i;
}

int main(void)
{
	run_briefly();
	return 0;
}
