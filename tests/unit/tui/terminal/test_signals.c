/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/terminal/tty.h"

/* True: by default, this signal ends a program. */
static bool ends_a_program(int number)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct sigaction standard = { .sa_handler = SIG_DFL };
		struct rlimit none = { 0, 0 };
		sigset_t all;

		setrlimit(RLIMIT_CORE, &none);
		sigaction(number, &standard, NULL);
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		raise(number);
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		return false;
	}
	return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

/* SIGKILL cannot be caught; SIGPIPE and SIGXFSZ are told as errors of a write. */
static bool has_another_way(int number)
{
	return number == SIGKILL || number == SIGPIPE || number == SIGXFSZ;
}

static void test_all_that_end_a_program(void **state)
{
	sigset_t ending, faults;
	int found = 0;

	(void)state;
	signals_ending(&ending);
	signals_faults(&faults);
	for (int number = 1; number <= SIGRTMAX; number++) {
		bool known = sigismember(&ending, number) > 0 || sigismember(&faults, number) > 0;

		if ((number >= NSIG / 2 && number < SIGRTMIN) || has_another_way(number))
			continue;		/* signals below SIGRTMIN belong to the C library */
		if (known != ends_a_program(number))
			fail_msg("signal %d: %s", number, known ? "ends nothing" : "not known");
		found += known;
	}
	assert_true(found > 40);
}

static void test_none_is_both(void **state)
{
	sigset_t ending, faults, both;

	(void)state;
	signals_ending(&ending);
	signals_faults(&faults);
	sigandset(&both, &ending, &faults);
	assert_true(sigisemptyset(&both));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_end_a_program),
		cmocka_unit_test(test_none_is_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
