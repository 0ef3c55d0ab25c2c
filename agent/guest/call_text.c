/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "agent/trace/span.h"
#include "agent/wire/trace_kinds.h"
#include "call_text.h"
#include "epoch.h"
#include "guest_events.h"

enum { ERRNO_MOST = 4095 };		/* a result of -1 down to its negative is an error */
#define DECIMAL_MOST UINT64_C(0xffff)	/* a larger word without a sign is written in hexadecimal */
#define RESULT_MOST INT64_C(0xffffffff)	/* a larger result is an address */

__attribute__((format(printf, 2, 3))) static void add(char text[CALL_TEXT], const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, CALL_TEXT - used, format, list);
	va_end(list);
}

static void add_word(char text[CALL_TEXT], uint64_t word, enum field_type type)
{
	unsigned unused = 64 - 8 * (unsigned)field_size(type);

	if (type >= FIELD_S8 && type <= FIELD_S64)
		add(text, "%" PRId64, (int64_t)(word << unused) >> unused);
	else if (word << unused >> unused <= DECIMAL_MOST)
		add(text, "%" PRIu64, word << unused >> unused);
	else
		add(text, "0x%" PRIx64, word << unused >> unused);
}

const char *call_text_name(const struct epoch *epoch, uint64_t number, char text[CALL_TEXT])
{
	const char *name = guest_events_called(epoch->events, ROLE_CALL_BEGIN, number);

	return *name ? util_print(text, CALL_TEXT, "%s", name) :
		util_print(text, CALL_TEXT, "syscall_%" PRIu64, number);
}

/* `field`: NULL: it has no name. */
static void add_field(char text[CALL_TEXT], const struct field *field, uint64_t word, const char *before)
{
	add(text, "%s%s%s", before, field ? field->name : "", field ? "=" : "");
	add_word(text, word, field ? field->type : FIELD_U64);
}

/* Where the guest does not tell which arguments a call has, all words are shown. */
const char *call_text(const struct epoch *epoch, const struct trace_span *call, char text[CALL_TEXT])
{
	const struct field *fields;
	int count = guest_events_arguments(epoch->events, call->number, &fields);

	call_text_name(epoch, call->number, text);
	add(text, "(");
	for (int i = 0; i < (count < 0 ? CALL_ARGUMENTS : count) && call->arguments; i++)
		add_field(text, count < 0 ? NULL : &fields[i], call->arguments[i], i ? ", " : "");
	if (!call->arguments && count != 0)
		add(text, "...");
	return text;
}

struct told_fields {			/* of an event */
	int count;			/* those of which there are values; -1: which it has is not known */
	bool more;			/* it has others, too */
	struct field fields[FIELDS_MAX];
};

static void find_fields(const struct epoch *epoch, uint16_t event, struct told_fields *told)
{
	const struct guest_event *kind = guest_events_from(epoch->events, event);
	bool known = kind && kind->id == event && kind->described;
	int all = known ? fields_parse(kind->fields, told->fields) : -1;

	told->count = all < 0 ? -1 : 0;
	while (told->count < all && told->count < TRACE_VALUES && !told->fields[told->count].list)
		told->count++;
	told->more = told->count < all;
}

static bool has_field(const struct told_fields *told, const char *name)
{
	for (int i = 0; i < told->count; i++)
		if (strcmp(told->fields[i].name, name) == 0)
			return true;
	return false;
}

/* But for the thread, and what `other` has, too. `first`: what stands before the first one. */
static void add_told(char text[CALL_TEXT], const struct told_fields *told, const uint64_t *values,
	const struct told_fields *other, const char *first)
{
	int added = 0;

	for (int i = 0; i < told->count; i++) {
		const char *name = told->fields[i].name;

		if (strcmp(name, "thread") != 0 && (!other || !has_field(other, name)))
			add_field(text, &told->fields[i], values[i], added++ ? ", " : first);
	}
	if (told->more || told->count < 0)
		add(text, "%s...", added ? ", " : first);
}

const char *call_text_pair(const struct epoch *epoch, const struct trace_span *pair, char text[CALL_TEXT])
{
	const char *name = guest_events_called(epoch->events, ROLE_PAIR_BEGIN, SPAN_EVENT(pair->number));
	struct told_fields begun, ended;

	if (*name)
		util_print(text, CALL_TEXT, "%s(", name);
	else
		util_print(text, CALL_TEXT, "event_%u(", SPAN_EVENT(pair->number));
	if (!pair->arguments || !pair->results) {
		add(text, "...) = ?");
		return text;
	}
	find_fields(epoch, SPAN_EVENT(pair->number), &begun);
	find_fields(epoch, pair->ended_by, &ended);
	add_told(text, &begun, pair->arguments, NULL, "");
	add(text, ")");
	add_told(text, &ended, pair->results, &begun, " = ");
	return text;
}

bool call_is_error(uint64_t result)
{
	return result >= (uint64_t)-ERRNO_MOST;
}

/* NULL: it is no error, or what this number means is not known. Linux's own numbers are those of the host. */
static const char *error_name(const struct epoch *epoch, uint64_t result)
{
	bool known = strcmp(epoch->kernel, "Linux") == 0 && strcmp(epoch->arch, "x86_64") == 0;

	return known && call_is_error(result) ? strerrorname_np((int)-result) : NULL;
}

const char *call_text_result(const struct epoch *epoch, uint64_t result, char text[CALL_RESULT])
{
	int64_t is = (int64_t)result;
	const char *error = error_name(epoch, result);

	if (is > RESULT_MOST || is < -RESULT_MOST)
		return util_print(text, CALL_RESULT, "0x%" PRIx64, result);
	return util_print(text, CALL_RESULT, "%" PRId64 "%s%s", is, error ? " " : "", error ? error : "");
}

const char *call_text_stack(const struct epoch *epoch, uint32_t stack, unsigned most, char text[STACK_TEXT])
{
	struct symbols *symbols = epoch->inputs.symbols;
	uint32_t id = stack - 1;		/* 0: STACKS_NONE */
	bool ends = false;			/* its callers are missing */
	size_t used;

	text[0] = '\0';
	for (unsigned i = 0; i < most && id != STACKS_NONE; i++) {
		struct node node = stacks_node(epoch->inputs.stacks, id);
		const struct function *function = symbols_get(symbols,
			symbols_function(symbols, node.space, node.address));

		used = strlen(text);
		util_print(text + used, STACK_TEXT - used, "%s%s", i ? " < " : "", function->name);
		id = node.parent;
		ends = node.cut && id == STACKS_NONE;
	}
	used = strlen(text);
	if (id != STACKS_NONE || ends)
		util_print(text + used, STACK_TEXT - used, " < ...");
	return text;
}
