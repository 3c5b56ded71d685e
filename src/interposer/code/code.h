/* What handles of modules, libraries and functions stand for. */
#ifndef SELVAGE_CODE_H
#define SELVAGE_CODE_H

#include "kernels.h"

#pragma GCC visibility push(hidden)

/* A function that can be launched. */
struct function_info {
  struct kernel *kernel;
  void *home; /* the module or library that it is of, or NULL */
  bool in_library;
  bool of_context; /* a CUfunction, which ends with its context; a CUkernel does not */
};

/* What is known of a CUfunction or CUkernel. The kernel is `kernel_unknown` where that is nothing. */
struct function_info find_function(void *handle);

/* Where images of unknown code are written to; NULL: nowhere. */
void record_code_in(const char *folder);

#pragma GCC visibility pop

#endif
