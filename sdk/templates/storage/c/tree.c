#include "tree.h"

#include <stddef.h>

/* SplitMix64: it need not be secret, only scattered. */
static uint64_t draw(tree* in) {
  uint64_t out = in->drawn += UINT64_C(0x9e3779b97f4a7c15);
  out = (out ^ (out >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  out = (out ^ (out >> 27)) * UINT64_C(0x94d049bb133111eb);
  return out ^ (out >> 31);
}

void tree_insert(tree* in, tree_node* node, void* item) {
  node->item = item;
  node->priority = draw(in);
  tree_node** at = &in->root;
  while (*at != NULL && (*at)->priority >= node->priority)
    at = in->compare(item, (*at)->item) < 0 ? &(*at)->left : &(*at)->right;
  /* The node takes this place. What was here is divided into what is below it and above it. */
  tree_node* rest = *at;
  *at = node;
  tree_node **below = &node->left, **above = &node->right;
  while (rest != NULL) {
    if (in->compare(item, rest->item) < 0) {
      *above = rest;
      above = &rest->left;
      rest = rest->left;
    } else {
      *below = rest;
      below = &rest->right;
      rest = rest->right;
    }
  }
  *below = *above = NULL;
}

void tree_remove(tree* from, tree_node* node) {
  tree_node** at = &from->root;
  while (*at != node)
    at = from->compare(node->item, (*at)->item) < 0 ? &(*at)->left : &(*at)->right;
  /* Its two halves become one tree again, in its place. */
  tree_node *below = node->left, *above = node->right;
  while (below != NULL && above != NULL) {
    if (below->priority >= above->priority) {
      *at = below;
      at = &below->right;
      below = below->right;
    } else {
      *at = above;
      at = &above->left;
      above = above->left;
    }
  }
  *at = below != NULL ? below : above;
}

void* tree_find(const tree* in, const void* like) {
  const tree_node* at = in->root;
  while (at != NULL) {
    const int order = in->compare(like, at->item);
    if (order == 0) return at->item;
    at = order < 0 ? at->left : at->right;
  }
  return NULL;
}

void* tree_above(const tree* in, const void* like) {
  void* found = NULL;
  const tree_node* at = in->root;
  while (at != NULL) {
    const int below = in->compare(like, at->item) < 0;
    if (below) found = at->item;
    at = below ? at->left : at->right;
  }
  return found;
}
