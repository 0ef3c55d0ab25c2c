/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/base/budget.h"
#include "places.h"
#include "tree_rows.h"

#define NOTHING 0xffffffffu		/* no place */

/* Places in lists: the first of a place's children, and the next of its siblings. */
struct node {
	uint64_t total, samples;
	uint32_t child, next;		/* of all that have a weight */
	uint32_t row_child, row_last, row_next;	/* of those that get a row: heaviest first */
	uint32_t row;
	bool hot, below, unfolded;
};

struct entry {				/* of the heap; equal weights are in the order of their paths, in each answer */
	uint64_t total, path;
	uint32_t place;
};

struct making {
	struct tree *tree;
	struct places *places;
	const struct tree_question *question;
	const struct tree_weights *weights;
	struct node *nodes;		/* by place */
	uint32_t top, row_top, row_last;	/* the first at the top, of both kinds; the last of these rows */
	struct entry *heap;		/* places with a weight that have no row yet, the heaviest first */
	uint32_t heap_size;
	bool opened;
};

/* ---- totals ---- */

/* A parent is before its children. */
static void sum_totals(struct making *making)
{
	const struct tree_weights *weights = making->weights;

	for (uint32_t i = 0; i < making->places->count; i++)
		making->nodes[i] = (struct node) {
			.total = weights->own[i].weight + weights->inner[i].weight,
			.samples = weights->own[i].samples + weights->inner[i].samples,
			.child = NOTHING, .row_child = NOTHING, .row_last = NOTHING, .row_next = NOTHING,
		};
	for (uint32_t i = making->places->count; i-- > 0;) {
		uint32_t parent = making->places->list[i].parent;
		uint32_t *first = parent == TREE_TOP ? &making->top : &making->nodes[parent].child;
		struct node *node = &making->nodes[i];

		if (!node->total)
			continue;
		node->next = *first;
		*first = i;
		if (parent == TREE_TOP)
			continue;
		making->nodes[parent].total += node->total;
		making->nodes[parent].samples += node->samples;
	}
}

/* ---- the heap: a place is never heavier than its parent, so places come out in order of weight ---- */

static bool is_heavier(const struct entry *a, const struct entry *b)
{
	return a->total != b->total ? a->total > b->total : a->path < b->path;
}

static struct entry entry_of(const struct making *making, uint32_t place)
{
	return (struct entry) { making->nodes[place].total, making->places->list[place].path, place };
}

static void push(struct making *making, struct entry entry)
{
	uint32_t at = making->heap_size++, above = (at - 1) / 2;

	for (; at > 0 && is_heavier(&entry, &making->heap[above]); above = (at - 1) / 2) {
		making->heap[at] = making->heap[above];
		at = above;
	}
	making->heap[at] = entry;
}

static struct entry pop(struct making *making)
{
	struct entry *heap = making->heap, first = heap[0], last = heap[--making->heap_size];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < making->heap_size) {
		if (child + 1 < making->heap_size && is_heavier(&heap[child + 1], &heap[child]))
			child++;
		if (!is_heavier(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* ---- which rows there are ---- */

static bool is_wanted(const struct making *making, uint32_t at)
{
	const struct tree_question *question = making->question;
	const struct tree_place *place = &making->places->list[at];
	const struct node *node = &making->nodes[at];

	return node->hot || node->below || place->depth < question->deepest ||
		(question->least && (unsigned __int128)node->total * question->least >= making->weights->whole) ||
		tree_has_path(making->places->unfolded, making->places->unfolded_count, place->path);
}

/* Its children get rows, as far as there is room. */
static void unfold(struct making *making, uint32_t at)
{
	struct node *node = &making->nodes[at];
	struct entry hottest = { .place = NOTHING };

	node->unfolded = true;
	for (uint32_t i = node->child; i != NOTHING; i = making->nodes[i].next) {
		struct entry entry = entry_of(making, i);

		making->nodes[i].below = node->below;
		if (hottest.place == NOTHING || is_heavier(&entry, &hottest))
			hottest = entry;
		push(making, entry);
	}
	if (node->hot && hottest.place != NOTHING)
		making->nodes[hottest.place].hot = true;
}

static bool has_more(const struct making *making, uint32_t place)
{
	return making->nodes[place].child != NOTHING || making->weights->inner[place].weight;
}

/* Appends it to the rows of its parent. */
static void pick(struct making *making, uint32_t at)
{
	uint32_t parent = making->places->list[at].parent;
	uint32_t *first = parent == TREE_TOP ? &making->row_top : &making->nodes[parent].row_child;
	uint32_t *last = parent == TREE_TOP ? &making->row_last : &making->nodes[parent].row_last;

	if (*last == NOTHING)
		*first = at;
	else
		making->nodes[*last].row_next = at;
	*last = at;
}

static void pick_all(struct making *making)
{
	const struct tree_question *question = making->question;
	uint32_t picked = 0;

	for (uint32_t i = making->top; i != NOTHING; i = making->nodes[i].next)
		push(making, entry_of(making, i));
	for (; making->heap_size && picked < TREE_ROWS; picked++) {
		struct entry entry = pop(making);
		uint32_t at = entry.place;
		struct node *node = &making->nodes[at];

		pick(making, at);
		node->hot = node->hot || (question->hot && entry.path == question->hot);
		node->below = node->below || (question->below && entry.path == question->below);
		if (!has_more(making, at) || !is_wanted(making, at))
			continue;
		if (making->places->list[at].open) {
			unfold(making, at);
			continue;
		}
		places_open(making->places, at);
		making->opened = true;
	}
}

/* ---- the rows ---- */

static void add_row(struct making *making, uint32_t at)
{
	struct tree_row *row = tree_add(making->tree, making->places->order);
	const struct tree_place *place = &making->places->list[at];
	struct node *node = &making->nodes[at];

	node->row = (uint32_t)(making->tree->lists[making->places->order].count - 1);
	row->path = place->path;
	row->function = place->function;
	row->depth = place->depth;
	row->parent = place->parent == TREE_TOP ? TREE_TOP : making->nodes[place->parent].row;
	row->has_more = has_more(making, at);
	row->unfolded = node->unfolded;
	row->total = node->total;
	row->self = making->weights->own[at].weight;
	row->samples = node->samples;
}

/* Each parent before its children. */
static void add_rows(struct making *making)
{
	uint32_t at = making->row_top, up;

	while (at != NOTHING) {
		add_row(making, at);
		if (making->nodes[at].row_child != NOTHING) {
			at = making->nodes[at].row_child;
			continue;
		}
		while (making->nodes[at].row_next == NOTHING && (up = making->places->list[at].parent) != TREE_TOP)
			at = up;
		at = making->nodes[at].row_next;
	}
}

bool tree_rows_make(struct tree *tree, struct places *places, const struct tree_question *question,
	const struct tree_weights *weights)
{
	struct making making = {
		.tree = tree, .places = places, .question = question, .weights = weights,
		.top = NOTHING, .row_top = NOTHING, .row_last = NOTHING,
	};
	size_t nodes = places->count * sizeof(*making.nodes), heap = places->count * sizeof(*making.heap);

	tree->lists[places->order].count = 0;
	making.nodes = budget_resize(places->budget, NULL, 0, nodes);
	making.heap = budget_resize(places->budget, NULL, 0, heap);
	tree->scarce = tree->scarce || !making.nodes || !making.heap;
	if (making.nodes && making.heap) {
		sum_totals(&making);
		pick_all(&making);
		add_rows(&making);
		tree->lists[places->order].left_out = making.heap_size;
	}
	budget_free(places->budget, making.nodes, making.nodes ? nodes : 0);
	budget_free(places->budget, making.heap, making.heap ? heap : 0);
	return making.opened;
}
