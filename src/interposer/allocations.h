/* Device memory by address: extents, memory with several addresses, and which streams use it. */
#ifndef SELVAGE_ALLOCATIONS_H
#define SELVAGE_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "selvage-idempotency.h"

#pragma GCC visibility push(hidden)

enum { USERS = 4 };

/* The last launch of a stream that used something: place of the stream, and count of its operations (order.h). */
struct user {
  uint64_t count, launch_id;
  unsigned stream;
};

struct users {
  struct user list[USERS];
  unsigned count;
  bool crowded; /* more streams than the list holds */
};

struct allocation {
  uint64_t start, bytes;
  /* The same memory has another address, or another process or the host may use it. */
  bool mapped_twice;
  uint64_t object, offset; /* physical memory that is mapped here, and from which byte on; 0: an allocation of its own */
  const void *owner;       /* the module whose variable it is, or NULL */
  struct users users;      /* of order.c, under its lock */
};

/* Keeps an allocation; what was there before is gone. */
void add_allocation(uint64_t start, uint64_t bytes, bool mapped_twice);
/* Memory of others whose length is not known: it reaches to the next allocation. */
void add_foreign_allocation(uint64_t start);
/* The variable of a module. */
void add_variable(uint64_t start, uint64_t bytes, const void *owner);
/* Keeps that physical memory is mapped at an address. */
void add_mapping(uint64_t start, uint64_t bytes, uint64_t object, uint64_t offset, bool mapped_twice);
/* Forgets the allocation that starts at an address, or everything in a range. */
void forget_allocation(uint64_t start);
void forget_range(uint64_t start, uint64_t bytes);
void forget_allocations_of(const void *owner);
/* The memory at an address, or all that is mapped of an object, has another address too. */
void share_allocation(uint64_t address);
void share_object(uint64_t object);

/* The allocation that holds an address; false: none does. */
bool find_allocation(uint64_t address, struct selvage_range *range);

enum { TOUCHED = 128 };

/* The allocations that arguments lead to. */
struct touched {
  uint64_t starts[TOUCHED];
  size_t count;
  bool too_many;     /* they are not all listed */
  bool mapped_twice; /* one of them is */
  bool unknown;      /* a pointer leads into none */
};

/*
 * Adds the allocations that arguments lead to: by their pointers at the given offsets, or, where those are not known
 * (NULL), by any eight bytes. A pointer that is NULL leads nowhere.
 */
void touch_arguments(struct touched *touched, const unsigned char *arguments, size_t bytes, const uint32_t *pointers,
                     size_t pointer_count);
/* Adds the allocation that holds an address. */
void touch_address(struct touched *touched, uint64_t address);

/* Calls `visit` with each allocation of a list that is still there, or with all (NULL). The table does not change then. */
void visit_allocations(const struct touched *touched, void (*visit)(struct allocation *allocation, void *context),
                       void *context);

/* All allocations; free them. NULL: no memory, or none. */
struct selvage_range *list_allocations(size_t *count);

#pragma GCC visibility pop

#endif
