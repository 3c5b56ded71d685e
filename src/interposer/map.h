/* A map from handles and addresses to pointers: open addressing. It has no lock of its own. */
#ifndef SELVAGE_MAP_H
#define SELVAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct map_entry {
  uint64_t key;
  void *value; /* NULL: the place is free, or was (`removed`) */
  bool removed;
};

struct map {
  struct map_entry *entries;
  size_t capacity, count, used; /* a power of two; with a value; with one now or before */
};

/* The value of a key, or NULL. */
void *map_get(const struct map *map, uint64_t key);
/* Sets the value of a key and gives the former one, or NULL. Where there is no memory left, gives the new value back. */
void *map_put(struct map *map, uint64_t key, void *value);
/* Takes a key out and gives its value, or NULL. */
void *map_remove(struct map *map, uint64_t key);

#pragma GCC visibility pop

#endif
