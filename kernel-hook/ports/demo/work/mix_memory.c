/* SPDX-License-Identifier: MIT */
/* The phase `memory`: a search tree of small objects is built and freed again and again, and so are blocks of pages. */
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/memory/page.h"
#include "ports/demo/memory/slab.h"

enum { KEYS = 400, BLOCKS = 24 };

/* A treap: a search tree by key, a heap by rank (Aragon and Seidel, 1989). */
struct node {
	struct node *left, *right;
	uint32_t key, rank;
	uint64_t payload[4];
};

static struct slab nodes = { .size = sizeof(struct node) };

static struct node *rotate_right(struct node *root)
{
	struct node *left = root->left;

	root->left = left->right;
	left->right = root;
	return left;
}

static struct node *rotate_left(struct node *root)
{
	struct node *right = root->right;

	root->right = right->left;
	right->left = root;
	return right;
}

static struct node *node_new(uint32_t key, uint32_t rank)
{
	struct node *node = slab_alloc(&nodes);

	if (node != NULL)
		*node = (struct node) { .key = key, .rank = rank };
	return node;
}

static struct node *tree_insert(struct node *root, uint32_t key, uint32_t rank)
{
	if (root == NULL)
		return node_new(key, rank);
	if (key < root->key) {
		root->left = tree_insert(root->left, key, rank);
		if (root->left != NULL && root->left->rank > root->rank)
			return rotate_right(root);
	} else if (key > root->key) {
		root->right = tree_insert(root->right, key, rank);
		if (root->right != NULL && root->right->rank > root->rank)
			return rotate_left(root);
	}
	return root;
}

static struct node *tree_find(struct node *root, uint32_t key)
{
	while (root != NULL && root->key != key)
		root = key < root->key ? root->left : root->right;
	return root;
}

static uint32_t tree_depth(const struct node *root)
{
	uint32_t left, right;

	if (root == NULL)
		return 0;
	left = tree_depth(root->left);
	right = tree_depth(root->right);
	return 1 + (left > right ? left : right);
}

static void tree_free(struct node *root)
{
	if (root == NULL)
		return;
	tree_free(root->left);
	tree_free(root->right);
	slab_free(&nodes, root);
}

static void tree_session(struct random *random)
{
	struct node *root = NULL;

	for (uint32_t i = 0; i < KEYS; i++)
		root = tree_insert(root, random_below(random, 1 << 20),
			(uint32_t)random_next(random));
	for (uint32_t i = 0; i < 4 * KEYS; i++) {
		struct node *node = tree_find(root, random_below(random, 1 << 20));

		if (node != NULL)
			node->payload[0]++;
	}
	tree_depth(root);
	tree_free(root);
}

static void pages_session(struct random *random)
{
	struct {
		void *at;
		uint32_t order;
	} blocks[BLOCKS];

	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks[i].order = random_below(random, 4);
		blocks[i].at = page_alloc(blocks[i].order);
		if (blocks[i].at != NULL)
			memset(blocks[i].at, 0xa5, (size_t)PAGE_SIZE << blocks[i].order);
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		if (blocks[i].at != NULL)
			page_free(blocks[i].at, blocks[i].order);
	}
}

void memory_work(uint32_t worker, uint32_t round)
{
	struct random random = random_seed((uint64_t)worker << 32 | round);

	tree_session(&random);
	pages_session(&random);
	if (round % 8 == 0)
		sched_sleep(NS_PER_MS);
}
