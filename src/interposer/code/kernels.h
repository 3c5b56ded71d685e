/* Kernels by their code and name, their validators, and how their launches were judged. */
#ifndef SELVAGE_KERNELS_H
#define SELVAGE_KERNELS_H

#include <stdatomic.h>

#include "../selvage-idempotency.h"

#pragma GCC visibility push(hidden)

/* Where the parameters of a kernel lie. */
struct layout {
  size_t bytes; /* where the last one ends */
  size_t count;
  const struct selvage_parameter *parameters;
};

/* A kernel. It lives until the process ends: launches use it while its module is unloaded. */
struct kernel {
  struct kernel *next;
  const struct selvage_validator *validator; /* NULL: none */
  /* NULL: not asked for yet. Its `parameters` are NULL where they are not known or do not fit. */
  _Atomic(const struct layout *) layout;
  _Atomic uint64_t counts[SELVAGE_REASON_COUNT];
  char code_hash[65]; /* empty: the code is not known */
  char name[];
};

/* The kernel of this code and name, the same at each call; `code_hash` is empty where it is not known. NULL: no memory. */
struct kernel *kernel_named(const char *code_hash, const char *name);

/* The kernel that stands for handles of which nothing is known. */
struct kernel *kernel_unknown(void);

/* Loads the shared objects that a list names, separated by colons. Says on standard error what cannot be used. */
void load_validators(const char *paths);

/* Whether a validator is there for any kernel of this code. */
bool has_validators(const char *code_hash);

void count_launch(struct kernel *kernel, enum selvage_reason reason);
enum selvage_verdict verdict_of(enum selvage_reason reason);

/* Writes a line of JSON for each kernel that was launched, and one for all, to the end of a file. */
void write_log(const char *path);

#pragma GCC visibility pop

#endif
