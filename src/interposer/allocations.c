#define _GNU_SOURCE
#include "allocations.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by address, without overlaps. Looked up at each launch, changed seldom. */
static struct allocation **table;
static size_t table_count, table_capacity;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static uint64_t end_of(const struct allocation *allocation) { return allocation->start + allocation->bytes; }

/* Index of the first allocation that ends after an address. */
static size_t first_after(uint64_t address) {
  size_t low = 0, high = table_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (end_of(table[middle]) > address) high = middle;
    else low = middle + 1;
  }
  return low;
}

static struct allocation *at_address(uint64_t address) {
  size_t index = first_after(address);
  return index < table_count && table[index]->start <= address ? table[index] : NULL;
}

static void remove_at(size_t from, size_t to) {
  for (size_t i = from; i < to; i++) free(table[i]);
  memmove(table + from, table + to, (table_count - to) * sizeof *table);
  table_count -= to - from;
}

static void remove_range(uint64_t start, uint64_t bytes) {
  size_t from = first_after(start), to = from;
  while (to < table_count && table[to]->start < start + bytes) to++;
  if (to > from) remove_at(from, to);
}

static void share_where(uint64_t object) {
  for (size_t i = 0; i < table_count; i++) {
    if (table[i]->object == object) table[i]->mapped_twice = true;
  }
}

static void add(struct allocation with) {
  if (with.start == 0 || with.bytes == 0 || with.start > UINT64_MAX - with.bytes) return;
  struct allocation *allocation = malloc(sizeof *allocation);
  if (!allocation) return;
  *allocation = with;
  pthread_rwlock_wrlock(&lock);
  remove_range(with.start, with.bytes);
  if (table_count == table_capacity) {
    size_t capacity = table_capacity ? 2 * table_capacity : 64;
    struct allocation **larger = realloc(table, capacity * sizeof *table);
    if (!larger) {
      pthread_rwlock_unlock(&lock);
      free(allocation);
      return;
    }
    table = larger;
    table_capacity = capacity;
  }
  if (with.object) {
    /* Two mappings of parts of an object that do not overlap are still one memory for who knows the object. */
    for (size_t i = 0; i < table_count; i++) {
      struct allocation *other = table[i];
      if (other->object != with.object) continue;
      bool apart = other->offset + other->bytes <= with.offset || with.offset + with.bytes <= other->offset;
      if (!apart) allocation->mapped_twice = other->mapped_twice = true;
    }
  }
  size_t index = first_after(with.start);
  memmove(table + index + 1, table + index, (table_count - index) * sizeof *table);
  table[index] = allocation;
  table_count++;
  pthread_rwlock_unlock(&lock);
}

void add_allocation(uint64_t start, uint64_t bytes, bool mapped_twice) {
  add((struct allocation){.start = start, .bytes = bytes, .mapped_twice = mapped_twice});
}

void add_foreign_allocation(uint64_t start) {
  pthread_rwlock_rdlock(&lock);
  size_t index = first_after(start);
  if (index < table_count && table[index]->start <= start) index++;
  uint64_t next = index < table_count ? table[index]->start : UINT64_MAX;
  pthread_rwlock_unlock(&lock);
  add((struct allocation){.start = start, .bytes = next - start - (next == UINT64_MAX), .mapped_twice = true});
}

void add_variable(uint64_t start, uint64_t bytes, const void *owner) {
  struct selvage_range known;
  if (find_allocation(start, &known) && known.start == start && known.bytes == bytes) return;
  add((struct allocation){.start = start, .bytes = bytes, .owner = owner});
}

void add_mapping(uint64_t start, uint64_t bytes, uint64_t object, uint64_t offset, bool mapped_twice) {
  add((struct allocation){
      .start = start, .bytes = bytes, .mapped_twice = mapped_twice, .object = object, .offset = offset});
}

void forget_allocation(uint64_t start) {
  pthread_rwlock_wrlock(&lock);
  size_t index = first_after(start);
  if (index < table_count && table[index]->start == start) remove_at(index, index + 1);
  pthread_rwlock_unlock(&lock);
}

void forget_range(uint64_t start, uint64_t bytes) {
  if (bytes == 0 || start > UINT64_MAX - bytes) return;
  pthread_rwlock_wrlock(&lock);
  remove_range(start, bytes);
  pthread_rwlock_unlock(&lock);
}

void forget_allocations_of(const void *owner) {
  if (!owner) return;
  pthread_rwlock_wrlock(&lock);
  for (size_t i = table_count; i-- > 0;) {
    if (table[i]->owner == owner) remove_at(i, i + 1);
  }
  pthread_rwlock_unlock(&lock);
}

void share_allocation(uint64_t address) {
  pthread_rwlock_wrlock(&lock);
  struct allocation *allocation = at_address(address);
  if (allocation) allocation->mapped_twice = true;
  pthread_rwlock_unlock(&lock);
}

void share_object(uint64_t object) {
  pthread_rwlock_wrlock(&lock);
  if (object) share_where(object);
  pthread_rwlock_unlock(&lock);
}

bool find_allocation(uint64_t address, struct selvage_range *range) {
  pthread_rwlock_rdlock(&lock);
  const struct allocation *allocation = at_address(address);
  if (allocation) *range = (struct selvage_range){allocation->start, allocation->bytes};
  pthread_rwlock_unlock(&lock);
  return allocation != NULL;
}

static void touch(struct touched *touched, const struct allocation *allocation) {
  touched->mapped_twice |= allocation->mapped_twice;
  for (size_t i = 0; i < touched->count; i++) {
    if (touched->starts[i] == allocation->start) return;
  }
  if (touched->count < TOUCHED) touched->starts[touched->count++] = allocation->start;
  else touched->too_many = true;
}

void touch_address(struct touched *touched, uint64_t address) {
  pthread_rwlock_rdlock(&lock);
  const struct allocation *allocation = at_address(address);
  if (allocation) touch(touched, allocation);
  else touched->unknown = true;
  pthread_rwlock_unlock(&lock);
}

void touch_arguments(struct touched *touched, const unsigned char *arguments, size_t bytes, const uint32_t *pointers,
                     size_t pointer_count) {
  uint64_t address;
  pthread_rwlock_rdlock(&lock);
  uint64_t lowest = table_count ? table[0]->start : UINT64_MAX;
  uint64_t end = table_count ? end_of(table[table_count - 1]) : 0;
  for (size_t i = 0; pointers ? i < pointer_count : i + sizeof address <= bytes; i++) {
    size_t offset = pointers ? pointers[i] : i;
    if (offset > bytes || sizeof address > bytes - offset) {
      touched->unknown = true;
      continue;
    }
    memcpy(&address, arguments + offset, sizeof address);
    const struct allocation *allocation = address < lowest || address >= end ? NULL : at_address(address);
    if (allocation) touch(touched, allocation);
    else if (pointers && address != 0) touched->unknown = true;
  }
  pthread_rwlock_unlock(&lock);
}

void visit_allocations(const struct touched *touched, void (*visit)(struct allocation *allocation, void *context),
                       void *context) {
  pthread_rwlock_rdlock(&lock);
  for (size_t i = 0; i < (touched ? touched->count : table_count); i++) {
    struct allocation *allocation = touched ? at_address(touched->starts[i]) : table[i];
    if (allocation) visit(allocation, context);
  }
  pthread_rwlock_unlock(&lock);
}

struct selvage_range *list_allocations(size_t *count) {
  pthread_rwlock_rdlock(&lock);
  struct selvage_range *list = malloc((table_count + 1) * sizeof *list);
  *count = list ? table_count : 0;
  for (size_t i = 0; i < *count; i++) list[i] = (struct selvage_range){table[i]->start, table[i]->bytes};
  pthread_rwlock_unlock(&lock);
  return list;
}
