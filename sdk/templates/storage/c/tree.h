/* An ordered index of items. Its nodes are members of the items, so an item enters and leaves an
 * index without memory being asked for: neither can fail. It is a treap: a search tree by the order
 * of the items that is a heap by numbers drawn at random, which keeps it shallow. */
#pragma once
#include <stdint.h>

typedef struct tree_node {
  struct tree_node *left, *right;
  uint64_t priority;
  void* item;
} tree_node;

typedef struct tree {
  tree_node* root;
  int (*compare)(const void* a, const void* b); /* the order of two items */
  uint64_t drawn;                               /* the last random number */
} tree;

/* No item that is equal may be in the tree. What `compare` looks at stays as it is until the item
 * is removed. */
void tree_insert(tree* in, tree_node* node, void* item);
void tree_remove(tree* from, tree_node* node);
/* The item that is equal to `like`; NULL: there is none. */
void* tree_find(const tree* in, const void* like);
/* The first item above `like`; NULL: there is none. */
void* tree_above(const tree* in, const void* like);
