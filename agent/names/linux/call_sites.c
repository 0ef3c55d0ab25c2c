/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/bare/flow.h"
#include "call_sites.h"
#include "kernel_bytes.h"

enum {
	CODE_MAX = 64 << 20,		/* bytes */
	LEAST = 16,			/* return addresses that have to be call sites */
	SURE = 10,			/* by the right slide, at most 1 in 10 is no call site */
	DOUBTFUL = 2,			/* by any other slide, not even 1 in 2 is one */
};

struct call_sites {
	struct budget *budget;
	uint64_t start, size;		/* of the code */
	uint8_t *bits;			/* one for each byte of code: a call returns there */
};

static size_t bits_size(uint64_t size)
{
	return (size_t)(size / 8 + 1);
}

static void mark(struct call_sites *sites, uint64_t at)
{
	sites->bits[at / 8] |= (uint8_t)(1 << at % 8);
}

static bool is_marked(const struct call_sites *sites, uint64_t at)
{
	return at < sites->size && sites->bits[at / 8] >> at % 8 & 1;
}

static void mark_calls(struct call_sites *sites, flow_reader *read, const uint8_t *code)
{
	struct flow flow;

	for (uint64_t at = 0; at < sites->size; at += flow.size) {
		read(code + at, (size_t)(sites->size - at), sites->start + at, &flow);
		if (flow.kind == FLOW_CALL || flow.kind == FLOW_CALL_REGISTER)
			mark(sites, at + flow.size);
	}
}

struct call_sites *call_sites_new(const struct kernel_bytes *kernel, uint64_t start, uint64_t end,
	struct budget *budget)
{
	uint64_t size = end - start;
	const uint8_t *code = end > start && size <= CODE_MAX ? kernel_bytes_at(kernel, start, (size_t)size) : NULL;
	flow_reader *read = flow_reader_of(kernel->arch);
	struct call_sites *sites;

	if (!code || !read)
		return NULL;
	sites = util_alloc(sizeof(*sites));
	*sites = (struct call_sites) { .budget = budget, .start = start, .size = size };
	sites->bits = budget_resize(budget, NULL, 0, bits_size(size));
	if (!sites->bits) {
		free(sites);
		return NULL;
	}
	for (size_t i = 0; i < bits_size(size); i++)
		sites->bits[i] = 0;
	mark_calls(sites, read, code);
	return sites;
}

void call_sites_free(struct call_sites *sites)
{
	if (!sites)
		return;
	budget_free(sites->budget, sites->bits, bits_size(sites->size));
	free(sites);
}

struct score {
	size_t inside, right;		/* addresses that this slide puts into the code; call sites among them */
};

static struct score score_of(const struct call_sites *sites, const uint64_t *returns, size_t count, uint64_t slide)
{
	struct score score = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint64_t at = returns[i] - slide - sites->start;

		score.inside += at < sites->size;
		score.right += is_marked(sites, at);
	}
	return score;
}

/* Tries each slide that puts this address into the code. */
static bool try_slides(const struct call_sites *sites, const uint64_t *returns, size_t count, uint64_t step,
	uint64_t address, uint64_t *slide)
{
	uint64_t first = (address - sites->start) / step * step;
	bool found = false;

	if (address < sites->start)
		return false;
	for (uint64_t below = 0; below <= first && below < sites->size + step; below += step) {
		struct score score = score_of(sites, returns, count, first - below);

		if (score.right >= LEAST && SURE * (score.inside - score.right) <= score.inside) {
			if (found && *slide != first - below)
				return false;
			*slide = first - below;
			found = true;
		} else if (score.inside >= LEAST && DOUBTFUL * score.right > score.inside) {
			return false;
		}
	}
	return found;
}

bool call_sites_slide(const struct call_sites *sites, const uint64_t *returns, size_t count, uint64_t step,
	uint64_t *slide)
{
	for (size_t i = 0; i < count && i < LEAST; i++) {
		if (try_slides(sites, returns, count, step, returns[i], slide))
			return true;
	}
	return false;
}
