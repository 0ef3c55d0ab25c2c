/* SPDX-License-Identifier: MIT */
/* What is put into a set of the code at an address: its functions and their lines, as the DWARF has them. */
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/samples/sample_set.h"
#include "agent/store/stacks.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"

static const char header[] =
	"static inline int innermost(volatile int *x)\n{\n"
	"\tasm volatile(\".globl deep\\ndeep: nop\");\n\treturn *x;\n}\n\n"
	"static inline int inner(volatile int *x)\n{\n\treturn innermost(x) + 1;\n}\n";
static const char source[] =
	"#include \"inner.h\"\n\n"
	"int outer(volatile int *x)\n{\n\tif (*x)\n\t\treturn inner(x) + 1;\n"
	"\tasm volatile(\".globl plain\\nplain: nop\");\n\treturn 0;\n}\n\n"
	"int other(volatile int *x)\n{\n\tint sum = *x;\n\n#include \"body.h\"\n\treturn sum;\n}\n\n"
	"void _start(void)\n{\n}\n";
static const char body[] =
	"sum += *x * ({ asm volatile(\".globl included\\nincluded: nop\"); 2; });\n";

static uint64_t address_of(const char *name)
{
	char *command = util_format("nm kernel | awk '$3 == \"%s\" {print $1}' > address", name), *text;
	uint64_t address;
	size_t size;

	scratch_run(command);
	text = scratch_read(scratch_path("address"), &size);
	address = strtoull(text, NULL, 16);
	assert_true(address != 0);
	free(text);
	free(command);
	return address;
}

/* The labels inside of functions are left out: they would be functions, too. */
static struct symbols *load(void)
{
	struct symbols *symbols = symbols_new(NULL);

	scratch_text("inner.h", header);
	scratch_text("body.h", body);
	scratch_text("kernel.c", source);
	scratch_run("gcc -O2 -g -nostdlib -ffreestanding -static -mcmodel=kernel -fno-pic -no-pie "
		"-Wl,-Ttext=0xffffffff81000000 -o kernel kernel.c");
	scratch_run("objcopy -N deep -N plain -N included kernel given");
	assert_true(symbols_load_kernel(symbols, scratch_path("given"), NULL));
	assert_true(symbols_set_anchor(symbols, "outer", address_of("outer")));
	return symbols;
}

/* Asks until all has been read. */
static void await(struct symbols *symbols, const struct node *node)
{
	uint64_t deadline = util_now() + 60 * NS_PER_SECOND;
	struct inlined inlined;

	while (!symbols_line(symbols, symbols_function(symbols, node->space, node->address)) ||
			!symbols_lines_at(symbols, node->space, node->address) ||
			!symbols_inlined(symbols, node->space, node->address, &inlined)) {
		if (util_now() > deadline)
			fail_msg("nothing read in a minute");
		usleep(1000);
		symbols_lines_read(symbols);
	}
}

/* `expected`: "name file:line" of each function at an address, the innermost first, each with a space. */
static void check_code(struct set_code *code, const char *name, const char *expected)
{
	const struct node node = { .space = EVENT_KERNEL, .address = address_of(name) };
	uint32_t function = symbols_function(code->symbols, node.space, node.address), count;
	struct set_line lines[SET_CODE_LINES];
	char text[256] = "";
	size_t size = 0;

	await(code->symbols, &node);
	count = set_code_lines(code, &node, function, lines);
	for (uint32_t i = 0; i < count; i++) {
		const struct set_function *at = &code->set->functions[lines[i].function];

		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s %s:%u ", at->name, at->file,
			lines[i].line);
	}
	assert_string_equal(text, expected);
}

static void a_function_with_inlined_code_has_the_line_of_its_call(void **state)
{
	struct symbols *symbols = load();
	struct set_code code = { .set = sample_set_new(NULL), .symbols = symbols, .lines = true };

	(void)state;
	check_code(&code, "deep", "innermost inner.h:3 inner inner.h:9 outer kernel.c:6 ");
	check_code(&code, "plain", "outer kernel.c:7 ");
	sample_set_free(code.set);
	symbols_free(symbols);
}

static void a_line_of_another_file_is_none(void **state)
{
	struct symbols *symbols = load();
	struct set_code code = { .set = sample_set_new(NULL), .symbols = symbols, .lines = true };

	(void)state;
	check_code(&code, "included", "other kernel.c:0 ");
	sample_set_free(code.set);
	symbols_free(symbols);
}

static void without_lines_there_is_the_function_alone(void **state)
{
	struct symbols *symbols = load();
	struct set_code code = { .set = sample_set_new(NULL), .symbols = symbols };

	(void)state;
	check_code(&code, "deep", "outer kernel.c:0 ");
	sample_set_free(code.set);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_with_inlined_code_has_the_line_of_its_call),
		cmocka_unit_test(a_line_of_another_file_is_none),
		cmocka_unit_test(without_lines_there_is_the_function_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
