#include "run.h"
#include "a-header-that-is-missing.h"

void other(float* a) { runScale(a, threadsOf(a)); }
