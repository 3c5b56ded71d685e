/* Judges a launch, tells those who want to know, and counts it. */
#ifndef SELVAGE_JUDGE_H
#define SELVAGE_JUDGE_H

#include "code/code.h"
#include "order.h"

#pragma GCC visibility push(hidden)

/* More bytes of arguments than any kernel takes. */
enum { MOST_ARGUMENTS = 32764 };

/* A launch as the driver gets it. */
struct launch_request {
  void *function; /* CUfunction or CUkernel */
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  bool per_thread; /* whether stream 0 is the default stream of the thread */
  /* The arguments in one of three forms: pointers to each, a list of options, or packed with `packed_bytes` bytes. */
  void **parameters, **extra;
  const unsigned char *packed;
  size_t packed_bytes;
  void *graph_exec, *graph_node;
  /* What the caller knows: SELVAGE_REASON_NONE, or why the launch is not idempotent. */
  enum selvage_reason reason;
};

/* Judges a launch before it goes to the driver. */
void judge_launch(const struct launch_request *request);

/* The allocations that the arguments of a launch lead to; `too_many` where they are not known. */
void touch_launch(const struct launch_request *request, struct touched *touched);

/*
 * Packs the arguments of a launch as the kernel sees them. Returns their bytes, and SIZE_MAX with a reason where they are
 * missing or do not fit.
 */
size_t pack_arguments(const struct launch_request *request, const struct function_info *function,
                      unsigned char packed[MOST_ARGUMENTS], enum selvage_reason *reason);

/* Whether validators are told extents of allocations. Not for allocators that cut their own pieces from them. */
void give_extents(bool give);

#pragma GCC visibility pop

#endif
