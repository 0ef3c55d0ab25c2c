/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/arch_id.h"
#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/code/listings.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/query.h"
#include "agent/query/tree/tree.h"
#include "agent/wire/event.h"
#include "annotation.h"

/* Where the kernel's function runs, if it was not sampled. False: it is not the kernel's own. */
static bool place_of(const struct symbols *symbols, uint32_t function, struct address_sum *place)
{
	const struct function *facts = symbols_get(symbols, function);

	*place = (struct address_sum) {
		.address = facts->address + symbols_kernel_slide(symbols), .space = EVENT_KERNEL, .function = function,
	};
	return facts->kernel && strcmp(facts->object, "kernel") == 0;
}

/* Of several functions, the heaviest one's. */
static void have_listing(struct annotation *annotation, const struct address_sums *sums)
{
	struct epoch *epoch = annotation->answer.epoch;
	const struct memory_reader memory = guest_memory_virtual(epoch->memory);
	struct listing_answer answer;
	struct address_sum place;

	if (sums->count)
		place = sums->sums[0];
	else if (annotation->function == FUNCTION_NONE ||
			!place_of(epoch->inputs.symbols, annotation->function, &place))
		return;
	annotation->function = place.function;
	answer = listings_get(epoch->listings, place.space, place.address, arch_id_named(epoch->arch), &memory);
	annotation->listing = answer.listing;
	annotation->called = annotation->answer.symbols;
	annotation->bias = answer.bias;
	annotation->lacks = answer.lacks;
	annotation->answer.partial = annotation->answer.partial || answer.more;
}

/* Other spaces may have the function at another bias. Then its place in the page of memory is that of the listing. */
static uint32_t instruction_of(const struct annotation *annotation, const struct address_sum *sum)
{
	struct symbol_code code;
	uint64_t bias = annotation->bias;

	if (sum->function != annotation->function)
		return LISTING_NONE;
	if (listing_find(annotation->listing, sum->address - bias) == LISTING_NONE &&
			symbols_code(annotation->answer.epoch->inputs.symbols, sum->space, sum->address, &code))
		bias = code.bias;
	return listing_find(annotation->listing, sum->address - bias);
}

/* The heat of each instruction, in fresh memory. `elsewhere` gets what is at none of them. */
static struct annotation_heat *heat_of(const struct annotation *annotation, const struct address_sums *sums,
	struct annotation_heat *elsewhere)
{
	struct annotation_heat *all = util_alloc((annotation->listing ? annotation->listing->count : 0) * sizeof(*all));

	elsewhere->weight = sums->left_out;
	for (size_t i = 0; i < sums->count; i++) {
		const struct address_sum *sum = &sums->sums[i];
		uint32_t at = annotation->listing ? instruction_of(annotation, sum) : LISTING_NONE;
		struct annotation_heat *heat = at == LISTING_NONE ? elsewhere : &all[at];

		heat->weight += sum->weight;
		heat->samples += sum->samples;
	}
	return all;
}

static void tell_whole(struct annotation *annotation, const struct address_sums *sums)
{
	annotation->self = (struct annotation_heat) { sums->self, sums->self_samples };
	annotation->weight = sums->weight;
	annotation->samples = sums->samples;
	annotation->time = sums->time;
	annotation->from = sums->from;
	annotation->to = sums->to;
	memcpy(annotation->mode, sums->mode, sizeof(annotation->mode));
}

static struct address_sums sums_of(struct annotation *annotation, struct question question, uint32_t reader,
	const struct named_functions *named)
{
	struct address_sums sums;

	question.by = GROUP_FUNCTION;
	question.reader = reader;
	sums = query_addresses(annotation->answer.epoch->query, &question, named->functions, named->count);
	if (query_awaits_files(annotation->answer.epoch->query, &question))
		annotation->answer.partial = true;
	return sums;
}

static void compare(struct annotation *annotation, const struct request *request, const struct moment *moment,
	const struct named_functions *named)
{
	struct question question = excerpt_base_question(annotation->answer.epoch, &request->excerpt);
	struct annotation_heat elsewhere = { 0 };
	struct address_sums sums;

	sums = sums_of(annotation, question, moment->readers[0], named);
	annotation->base = (struct annotation_base) {
		.there = true, .heat = heat_of(annotation, &sums, &elsewhere),
		.self = { sums.self, sums.self_samples }, .weight = sums.weight, .samples = sums.samples,
	};
	address_sums_clear(&sums);
}

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct annotation_request *request = (const struct annotation_request *)asked;
	const struct excerpt *excerpt = &asked->excerpt;
	struct annotation *annotation = util_alloc(sizeof(*annotation));
	const struct named_functions *named;
	struct address_sums sums;
	struct question question;

	annotation->answer = answer_begin(&annotation_kind, moment);
	annotation->filter = excerpt->filter;
	annotation->of = request->function;
	annotation->function = FUNCTION_NONE;
	annotation->lacks = "";
	if (!annotation->answer.epoch)
		return &annotation->answer;
	util_print(annotation->kernel, sizeof(annotation->kernel), "%s", annotation->answer.epoch->kernel);
	named = listings_functions(annotation->answer.epoch->listings, request->function, annotation->kernel);
	question = excerpt_question(annotation->answer.epoch, excerpt);
	sums = sums_of(annotation, question, moment->readers[0], named);
	tell_whole(annotation, &sums);
	if (named->count)
		annotation->function = named->functions[0];
	have_listing(annotation, &sums);
	annotation->heat = heat_of(annotation, &sums, &annotation->elsewhere);
	if (excerpt->base.until_ns)
		compare(annotation, &request->request, moment, named);
	annotation->answer.begun = sums.samples;
	address_sums_clear(&sums);
	return &annotation->answer;
}

static void free_answer(struct answer *answer)
{
	struct annotation *annotation = (struct annotation *)answer;

	listing_release(annotation->listing);
	free(annotation->heat);
	free(annotation->base.heat);
}

uint64_t annotation_callee(const struct annotation *annotation, uint32_t instruction)
{
	const struct listing_instruction *from = &annotation->listing->instructions[instruction];

	return from->callee ? tree_name(symbols_get(annotation->called, from->called), annotation->kernel) : 0;
}

uint32_t annotation_hottest(const struct annotation *annotation)
{
	size_t count = annotation->listing ? annotation->listing->count : 0;
	uint32_t hottest = LISTING_NONE;
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (annotation->heat[i].weight > most) {
			most = annotation->heat[i].weight;
			hottest = (uint32_t)i;
		}
	return hottest;
}

/* `heat`: that of the listing's instructions, now or in the baseline. */
static struct annotation_heat line_sum(const struct listing *listing, const struct annotation_heat *heat, uint32_t line)
{
	size_t count = listing ? listing->count : 0;
	struct annotation_heat sum = { 0 };

	for (size_t i = 0; i < count; i++)
		if (listing->instructions[i].line == line) {
			sum.weight += heat[i].weight;
			sum.samples += heat[i].samples;
		}
	return sum;
}

static struct annotation_heat row_sum(const struct listing *listing, const struct annotation_heat *heat,
	const struct listing_row *row)
{
	struct annotation_heat sum = { 0 };

	if (row->whole)
		return line_sum(listing, heat, row->line);
	for (uint32_t i = row->first; i < row->end; i++) {
		sum.weight += heat[i].weight;
		sum.samples += heat[i].samples;
	}
	return sum;
}

struct annotation_heat annotation_line(const struct annotation *annotation, uint32_t line)
{
	return line_sum(annotation->listing, annotation->heat, line);
}

struct annotation_heat annotation_row(const struct annotation *annotation, const struct listing_row *row)
{
	return row_sum(annotation->listing, annotation->heat, row);
}

static struct portion portion(struct annotation_heat part, struct annotation_heat whole)
{
	return (struct portion) { part.weight, whole.weight, part.samples, whole.samples };
}

struct change annotation_row_change(const struct annotation *annotation, const struct listing_row *row)
{
	const struct annotation_base *base = &annotation->base;

	return change_of(portion(annotation_row(annotation, row), annotation->self),
		portion(row_sum(annotation->listing, base->heat, row), base->self));
}

struct change annotation_self_change(const struct annotation *annotation)
{
	const struct annotation_base *base = &annotation->base;
	struct annotation_heat all = { annotation->weight, annotation->samples };
	struct annotation_heat base_all = { base->weight, base->samples };

	return change_of(portion(annotation->self, all), portion(base->self, base_all));
}

const struct answer_kind annotation_kind = {
	.name = "annotation", .request_size = sizeof(struct annotation_request), .questions = 1,
	.make = make, .free = free_answer,
};
