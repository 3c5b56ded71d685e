/*
 * What validators, the interposer and the programs that use it have in common. A validator says of one launch of one
 * kernel whether it may be run again from any point at which it stopped. `selvage idempotency --emit` writes validators;
 * compiled into a shared object they are loaded by the interposer.
 */
#ifndef SELVAGE_IDEMPOTENCY_H
#define SELVAGE_IDEMPOTENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Validators ---- */

/* Which layout of `struct selvage_validator` a shared object has. The interposer refuses any other. */
#define SELVAGE_VALIDATORS_VERSION 1

/* One launch, as a validator sees it. */
struct selvage_launch {
  /* The parameters as the kernel sees them: each at its offset of the PTX parameter layout, `argument_bytes` in all. */
  const void *arguments;
  size_t argument_bytes;
  /* Blocks of the grid, and threads of a block, along x, y and z. */
  uint32_t grid[3], block[3];
  /* Bytes of dynamic shared memory. */
  uint32_t dynamic_shared;
  /* First byte and number of bytes of the allocation that holds an address. 0: not known. May be NULL. */
  int (*allocation)(void *context, uint64_t address, uint64_t *start, uint64_t *bytes);
  /* Address of a `__device__` variable of the kernel's module, by its name in PTX. 0: not known. May be NULL. */
  int (*symbol)(void *context, const char *name, uint64_t *address);
  void *context;
};

/* Bytes of device memory. */
struct selvage_range {
  uint64_t start, bytes;
};

/* Where a parameter lies among the arguments. */
struct selvage_parameter {
  uint32_t offset, bytes;
};

/* A validator and the kernel that it is of. The fields after `is_idempotent` may be zero. */
struct selvage_validator {
  /* Name of the entry in PTX. */
  const char *kernel;
  /* SHA-256 of the PTX text without comments and needless blanks (code-hash.ts): 64 digits in lower case. */
  const char *code_hash;
  /* Where the last parameter ends. */
  size_t argument_bytes;
  /* Whether the launch may be run again. False also where it is not known. */
  bool (*is_idempotent)(const struct selvage_launch *launch);

  /* Parameters in order. Where they are missing, the driver is asked (cuFuncGetParamInfo, CUDA 12.4). */
  const struct selvage_parameter *parameters;
  size_t parameter_count;
  /* Offsets of the arguments that the kernel uses as addresses. NULL: any eight bytes may be one. */
  const uint32_t *pointers;
  size_t pointer_count;
  /*
   * Writes the ranges of global memory that the launch may write to `ranges`, as far as `capacity` reaches, and
   * gives their number; SIZE_MAX where they are not known. NULL: not known of any launch.
   */
  size_t (*written)(const struct selvage_launch *launch, struct selvage_range *ranges, size_t capacity);
};

/* What a shared object of validators defines. The table ends with an entry whose `kernel` is NULL. */
extern const uint32_t selvage_validators_version;
extern const struct selvage_validator selvage_validators[];

/* ---- The interposer, for schedulers and checkpoints ---- */

enum selvage_verdict {
  SELVAGE_IDEMPOTENT = 0,
  /* A validator was asked and did not show that the launch may be run again, or memory is shared. */
  SELVAGE_NOT_IDEMPOTENT = 1,
  /* No validator could be asked. To be treated like the former. */
  SELVAGE_UNDECIDED = 2
};

enum selvage_reason {
  SELVAGE_REASON_NONE = 0,
  /* Not idempotent: */
  SELVAGE_REASON_VALIDATOR = 1,    /* The validator does not show it. */
  SELVAGE_REASON_MAPPED_TWICE = 2, /* An argument leads to memory with several addresses, or that the host shares. */
  SELVAGE_REASON_CONCURRENT = 3,   /* Other work that is not known to be ordered uses the same allocation. */
  /* Undecided: */
  SELVAGE_REASON_NO_VALIDATOR = 4,     /* None for this code and name. */
  SELVAGE_REASON_UNKNOWN_KERNEL = 5,   /* The handle was never seen. */
  SELVAGE_REASON_UNKNOWN_CODE = 6,     /* The image is damaged, compressed in an unknown way, or not known to run. */
  SELVAGE_REASON_ARGUMENT_SIZES = 7,   /* The sizes of the arguments do not fit the validator, or are not known. */
  SELVAGE_REASON_ARGUMENTS = 8,        /* The arguments are missing. */
  SELVAGE_REASON_DIMENSIONS = 9,       /* A dimension is 0. */
  SELVAGE_REASON_UNKNOWN_MEMORY = 10,  /* A pointer leads into no allocation that was seen. */
  SELVAGE_REASON_LAUNCH_ATTRIBUTE = 11, /* An attribute lets the launch overlap others, or is not known. */
  SELVAGE_REASON_CAPTURED = 12,        /* The launch becomes a node of a graph and does not run now. */
  SELVAGE_REASON_GRAPH = 13            /* The graph holds, or was updated to, what cannot be listed. */
};
#define SELVAGE_REASON_COUNT 14

/* A launch and what was found. Lives as long as the callback runs. */
struct selvage_launch_report {
  uint64_t id; /* 1, 2, 3, … in the order of the reports */
  enum selvage_verdict verdict;
  enum selvage_reason reason;
  const char *kernel;    /* NULL: not known */
  const char *code_hash; /* NULL: not known */
  const struct selvage_launch *launch; /* `arguments` is NULL where they are not known. */
  void *stream;       /* CUstream */
  void *graph_exec;   /* CUgraphExec of which the launch is a node, or NULL */
  void *graph_node;   /* CUgraphNode, or NULL */
};

enum selvage_coverage {
  /* The ranges hold all that the launch may write. */
  SELVAGE_COVERAGE_WRITTEN = 0,
  /* What it writes is not known: the ranges are all allocations that were seen. Variables of modules come on top. */
  SELVAGE_COVERAGE_EVERYTHING = 1
};

/* Called before each launch goes to the driver, in the thread that launches, without a lock held. */
typedef void selvage_on_launch(void *context, const struct selvage_launch_report *report);
/* Called after the former for launches that are not idempotent: what has to be saved to run them again. */
typedef void selvage_on_checkpoint(void *context, const struct selvage_launch_report *report,
                                   enum selvage_coverage coverage, const struct selvage_range *ranges, size_t count);
/*
 * Called before a launch that may run beside earlier ones of `stream` and uses the same allocation: what was said of
 * those up to `last_id` holds no longer until they are complete. A launch with an attribute that lets it begin early does
 * that to its own stream, and to all memory.
 */
typedef void selvage_on_overlap(void *context, void *stream, uint64_t last_id, struct selvage_range allocation);

/* NULL takes a callback away. To be called before the launches that it is for. */
void selvage_set_on_launch(selvage_on_launch *callback, void *context);
void selvage_set_on_checkpoint(selvage_on_checkpoint *callback, void *context);
void selvage_set_on_overlap(selvage_on_overlap *callback, void *context);

/* How often launches had this verdict and reason since the process began. */
uint64_t selvage_launch_count(enum selvage_verdict verdict, enum selvage_reason reason);

#ifdef __cplusplus
}
#endif

#endif
