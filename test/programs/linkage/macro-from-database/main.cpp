#include "run.h"

void run(float* a) {
  runScale(a, THREADS);
#ifdef TWICE
  runCount(a, 2 * THREADS);
#else
  runCount(a, THREADS);
#endif
}
