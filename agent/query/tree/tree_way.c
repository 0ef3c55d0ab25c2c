/* SPDX-License-Identifier: MIT */
#include "agent/names/symbols.h"
#include "places.h"
#include "tree_way.h"

static enum tree_order order_of(const struct tree_question *wanted)
{
	return wanted->orders & 1 << TREE_DOWN ? TREE_DOWN : TREE_UP;
}

static enum tree_order other_than(enum tree_order order)
{
	return order == TREE_DOWN ? TREE_UP : TREE_DOWN;
}

bool tree_way_question(const struct tree_question *wanted, struct tree_question *around)
{
	enum tree_order other = other_than(order_of(wanted));

	if (!wanted->find || wanted->of)
		return false;
	*around = (struct tree_question) {
		.orders = 1u << other, .recursion = wanted->recursion, .of = wanted->find,
		.hot = places_path(other, true, 0, wanted->find),
	};
	return true;
}

/* The heaviest child; TREE_TOP: the row has none, or most of its stacks end there. */
static uint32_t heaviest_below(const struct tree_list *list, uint32_t row)
{
	uint32_t heaviest = TREE_TOP;
	uint64_t most = list->rows[row].self;

	for (uint32_t i = row + 1; i < list->count; i++)
		if (list->rows[i].parent == row && list->rows[i].total > most) {
			heaviest = i;
			most = list->rows[i].total;
		}
	return heaviest;
}

/* The end of the hot path; TREE_TOP: there is no row. */
static uint32_t end_of(const struct tree_list *list)
{
	uint32_t end = TREE_TOP;

	for (uint32_t next = list->count ? 0 : TREE_TOP; next != TREE_TOP; next = heaviest_below(list, end))
		end = next;
	return end;
}

/* The row at the top is the function's own: its row has not to be unfolded. */
void tree_way_unfold(const struct tree *around, const struct symbols *symbols, const char *kernel,
	struct tree_question *wanted)
{
	enum tree_order order = order_of(wanted);
	const struct tree_list *list = &around->lists[other_than(order)];
	uint32_t row = end_of(list);
	uint64_t path = 0;

	for (; row != TREE_TOP && list->rows[row].parent != TREE_TOP; row = list->rows[row].parent) {
		path = places_path(order, false, path,
			tree_name(symbols_get(symbols, list->rows[row].function), kernel));
		if (wanted->unfolded_count < TREE_UNFOLDED)
			wanted->unfolded[wanted->unfolded_count++] = path;
	}
}
