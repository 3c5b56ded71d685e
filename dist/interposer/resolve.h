/* The driver's own functions for those of the interposer. */
#ifndef SELVAGE_RESOLVE_H
#define SELVAGE_RESOLVE_H

#include "driver.h"

#pragma GCC visibility push(hidden)

enum function {
#define STANDS_IN(name, base, since, until, thread) FUNCTION_##name,
#define CALLED(name) FUNCTION_##name,
#include "functions.def"
  FUNCTION_COUNT
};

/* The driver's function; one that returns CUDA_ERROR_NOT_FOUND where the driver has none. */
void *driver_function(enum function function);
#define REAL(name) ((__typeof__(&name))driver_function(FUNCTION_##name))

/* Whether the driver has a function. */
int driver_has(enum function function);

#pragma GCC visibility pop

#endif
