/* SPDX-License-Identifier: MIT */
/* Of many machines, the code is that of the one which has the most of the function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/annotation.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/hand_answers.h"

enum { NAME = 7 };

/* A machine that was in the function for so many ms, of a second in all. */
static struct answer *part(uint64_t function, uint64_t ms)
{
	struct annotation *annotation = util_alloc(sizeof(*annotation));

	annotation->answer = (struct answer) { .kind = &annotation_kind };
	annotation->of = function;
	annotation->self = (struct annotation_heat) { ms, ms };
	annotation->weight = annotation->samples = 1000;
	annotation->time = NS_PER_SECOND;
	annotation->lacks = "";
	return &annotation->answer;
}

static void shows(struct fleet *fleet, const char *machine, uint64_t ms)
{
	struct annotation *annotation = fleet_annotation(fleet, util_now());

	assert_string_equal(annotation->machine, machine);
	assert_int_equal(annotation->self.weight, ms);
	assert_int_equal(annotation->of, NAME);
	answer_free((struct answer *)annotation);
}

static void test_the_heaviest_machine(void **state)
{
	const char *names[] = { "a", "b" };
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct annotation_request request;

	(void)state;
	memset(&request, 0, sizeof(request));
	request.request.kind = &annotation_kind;
	request.function = NAME;
	fleet_request(fleet, &request.request);
	assert_true(fleet_is_asked(fleet, &request.request));
	assert_int_equal(fleet_own_request(fleet, 1, &annotation_kind).annotation.function, NAME);
	shows(fleet, "a", 0);
	fleet_take(fleet, 0, part(NAME, 100), util_now());
	fleet_take(fleet, 1, part(NAME, 300), util_now());
	shows(fleet, "b", 300);
	fleet_take(fleet, 0, part(NAME, 320), util_now());		/* not much more: the code stands still */
	shows(fleet, "b", 300);
	fleet_take(fleet, 0, part(NAME, 600), util_now());
	shows(fleet, "a", 600);
	fleet_take(fleet, 0, part(NAME + 1, 900), util_now());	/* an answer about another function does not count */
	shows(fleet, "b", 300);
	fleet_free(fleet);
}

/* What is shown beside the code is called as in the other views: its object is the kernel's name. */
static void test_the_function_is_one_of_the_fleet(void **state)
{
	const char *names[] = { "a", "b" };
	struct fleet *fleet = fleet_new(names, 2, NULL);
	struct annotation_request request;
	struct annotation *own, *annotation;
	const struct function *function;
	uint32_t functions[HAND_FUNCTIONS];
	struct symbols *symbols = hand_symbols(functions);

	(void)state;
	memset(&request, 0, sizeof(request));
	request.request.kind = &annotation_kind;
	request.function = NAME;
	fleet_request(fleet, &request.request);
	own = (struct annotation *)part(NAME, 100);
	own->answer.symbols = symbols;
	own->function = functions[0];
	util_print(own->kernel, sizeof(own->kernel), "%s", "demo-kernel");
	fleet_take(fleet, 1, &own->answer, util_now());
	annotation = fleet_annotation(fleet, util_now());
	function = symbols_get(annotation->answer.symbols, annotation->function);
	assert_string_equal(function->name, symbols_get(symbols, functions[0])->name);
	assert_string_equal(symbols_get(symbols, functions[0])->object, "kernel");
	assert_string_equal(function->object, "demo-kernel");
	answer_free((struct answer *)annotation);
	fleet_free(fleet);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_heaviest_machine),
		cmocka_unit_test(test_the_function_is_one_of_the_fleet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
