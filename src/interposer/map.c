#include "map.h"

#include <stdlib.h>

static size_t place_of(const struct map *map, uint64_t key) {
  return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (map->capacity - 1);
}

static struct map_entry *find(const struct map *map, uint64_t key) {
  if (map->capacity == 0) return NULL;
  for (size_t i = place_of(map, key);; i = (i + 1) & (map->capacity - 1)) {
    struct map_entry *entry = &map->entries[i];
    if (entry->value && entry->key == key) return entry;
    if (!entry->value && !entry->removed) return NULL;
  }
}

/* Makes room for one more; places that were left are free again. */
static bool grow(struct map *map) {
  struct map larger = {.capacity = 16};
  while (larger.capacity < 4 * (map->count + 1)) larger.capacity *= 2;
  larger.entries = calloc(larger.capacity, sizeof *larger.entries);
  if (!larger.entries) return false;
  for (size_t i = 0; i < map->capacity; i++) {
    if (map->entries[i].value) map_put(&larger, map->entries[i].key, map->entries[i].value);
  }
  free(map->entries);
  *map = larger;
  return true;
}

void *map_get(const struct map *map, uint64_t key) {
  struct map_entry *entry = find(map, key);
  return entry ? entry->value : NULL;
}

void *map_put(struct map *map, uint64_t key, void *value) {
  struct map_entry *entry = find(map, key);
  if (entry) {
    void *former = entry->value;
    entry->value = value;
    return former;
  }
  if (2 * (map->used + 1) > map->capacity && !grow(map)) return value;
  size_t i = place_of(map, key);
  while (map->entries[i].value || map->entries[i].removed) i = (i + 1) & (map->capacity - 1);
  map->entries[i] = (struct map_entry){.key = key, .value = value};
  map->count++, map->used++;
  return NULL;
}

void *map_remove(struct map *map, uint64_t key) {
  struct map_entry *entry = find(map, key);
  if (!entry) return NULL;
  void *former = entry->value;
  entry->value = NULL;
  entry->removed = true;
  map->count--;
  return former;
}
