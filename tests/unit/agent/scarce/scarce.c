/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "agent/base/budget.h"
#include "scarce.h"

enum { TOLD = 4096 };

static atomic_uint_fast64_t counted, refused = SCARCE_NONE;
static atomic_bool paused;

static _Thread_local bool exempt;

void __sanitizer_print_stack_trace(void);
const char *__lsan_default_suppressions(void);

/* Leaks of the C library itself when it is refused memory. */
const char *__lsan_default_suppressions(void)
{
	return "leak:_nl_normalize_codeset\n";
}

/* libdw does not survive a refusal: it follows NULL, or leaks. */
static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *found)
{
	Dl_info of;
	bool fragile = dladdr((void *)_Unwind_GetIP(frame), &of) && of.dli_fname &&
		strstr(of.dli_fname, "/libdw");

	*(bool *)found = fragile;
	return fragile ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool is_fragile(void)
{
	bool found = false;

	_Unwind_Backtrace(look, &found);
	return found;
}

static bool refuse(void)
{
	bool fragile;

	if (exempt || atomic_load(&paused) || atomic_fetch_add(&counted, 1) != atomic_load(&refused))
		return false;
	exempt = true;
	fragile = is_fragile();
	if (getenv("SCARCE_TRACE"))
		__sanitizer_print_stack_trace();
	exempt = false;
	return !fragile;
}

void scarce_refuse(uint64_t number)
{
	atomic_store(&counted, 0);
	atomic_store(&refused, number);
	atomic_store(&paused, false);
}

void scarce_pause(bool pause)
{
	atomic_store(&paused, pause);
}

uint64_t scarce_end(void)
{
	atomic_store(&paused, true);
	return atomic_load(&counted);
}

/* ---- in place of the C library's functions, in front of the sanitizer's ---- */

void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *memory, size_t size);
char *__interceptor_realpath(const char *path, char *resolved);

static void *none(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t size)
{
	return refuse() ? none() : __interceptor_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return refuse() ? none() : __interceptor_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return refuse() ? none() : __interceptor_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? none() : realloc(memory, bytes);
}

char *strdup(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

char *realpath(const char *path, char *resolved)
{
	return !resolved && refuse() ? none() : __interceptor_realpath(path, resolved);
}

/* The sanitizer calls this when a thread begins, and needs a result. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
	int (*real)(pthread_t, pthread_attr_t *);
	int result;

	exempt = true;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_getattr_np");
	result = real(thread, attributes);
	exempt = false;
	return result;
}

/* ---- in place of the budget's function, by the linker's --wrap ---- */

bool __real_budget_take(struct budget *budget, size_t bytes);
bool __wrap_budget_take(struct budget *budget, size_t bytes);

bool __wrap_budget_take(struct budget *budget, size_t bytes)
{
	bool refused_here = refuse();	/* counted even when the budget itself refuses */

	return __real_budget_take(budget, refused_here ? SIZE_MAX : bytes) && !refused_here;
}

/* ---- in turn ---- */

struct verdict {			/* shared with the process that runs the body */
	bool returned;
	uint64_t count;			/* allocations, once the body has returned */
};

static void run_here(const struct scarce_runs *runs, uint64_t number, struct verdict *verdict)
{
	setenv("CMOCKA_MESSAGE_OUTPUT", "STDOUT", 1);	/* as TAP, what fails would be told at a test's end */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	scarce_refuse(number);
	runs->body(runs->context);
	verdict->count = scarce_end();
	verdict->returned = true;
	exit(0);
}

static bool says(const char *told, const char *words)
{
	return strstr(told, words) != NULL;
}

/* The process ended early, and said that memory is out. */
static bool ended_clearly(int status, const char *told)
{
	return WIFEXITED(status) && (says(told, "no memory") || says(told, strerror(ENOMEM))) &&
		!says(told, "Sanitizer") && !says(told, "runtime error");
}

/* Shows the process's output when it ended badly, or when it is traced. */
static bool ended_well(int status, bool returned, int words)
{
	char told[TOLD] = "";
	off_t end = lseek(words, 0, SEEK_END);
	bool well;

	if (pread(words, told, sizeof(told) - 1, end > TOLD - 1 ? end - TOLD + 1 : 0) < 0)
		return false;
	well = status == 0 ? returned : ended_clearly(status, told);
	if (!well || getenv("SCARCE_TRACE"))
		fprintf(stderr, "status %x:\n%s\n", (unsigned)status, told);
	return well;
}

static bool run_one(const struct scarce_runs *runs, uint64_t number, struct verdict *verdict)
{
	struct verdict *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int words = memfd_create("words", MFD_CLOEXEC), status = 0;
	pid_t child;
	bool well;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(words, STDERR_FILENO);
		run_here(runs, number, shared);
	}
	well = child > 0 && waitpid(child, &status, 0) == child &&
		ended_well(status, shared->returned, words);
	*verdict = *shared;
	munmap(shared, sizeof(*shared));
	close(words);
	return well;
}

/*
 * A body with threads makes its allocations in another order each time. What a refused one breaks breaks again; what
 * happens once only is told, and is no verdict on the allocation.
 */
static bool run_twice(const struct scarce_runs *runs, uint64_t number, struct verdict *verdict)
{
	for (int again = 0; again < 2; again++) {
		if (run_one(runs, number, verdict))
			return true;
		fprintf(stderr, "allocation %llu was refused%s\n", (unsigned long long)number, again ? ", again" : "");
	}
	return false;
}

uint64_t scarce_count(void (*body)(void *context), void *context)
{
	struct verdict verdict;

	run_one(&(struct scarce_runs) { .body = body, .context = context }, SCARCE_NONE, &verdict);
	return verdict.returned ? verdict.count : 0;
}

uint64_t scarce_run(const struct scarce_runs *runs)
{
	uint64_t number = runs->from, count = 0;
	struct verdict verdict;

	do {
		if (!run_twice(runs, number, &verdict))
			return 0;
		count++;
		number += runs->step;
	} while (!verdict.returned || verdict.count > number - runs->step);
	return count;
}
