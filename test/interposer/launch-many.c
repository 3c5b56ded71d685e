/* Launches without end: every way to the driver, every form of arguments, several threads, modules that come and go. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

typedef R launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);
typedef R lookup_function(const char *, void **, int, uint64_t, int *);

enum { WAYS = 3, KINDS = 6 };

static launch_function *ways[WAYS];
static const char *text;
static unsigned long launches_each;
static _Atomic unsigned long wrong;
static _Atomic uint64_t told[3];

static void tell(void *context, const struct selvage_launch_report *report) {
  (void)context;
  atomic_fetch_add(&told[report->verdict], 1);
  if (report->launch->arguments == NULL && report->reason != SELVAGE_REASON_ARGUMENTS) wrong++;
}

/* What the launches of a round should be: kind by kind. */
static const enum selvage_reason expected[KINDS] = {
    SELVAGE_REASON_NONE,         /* vectorAdd into memory of its own */
    SELVAGE_REASON_VALIDATOR,    /* vectorAdd into its input */
    SELVAGE_REASON_VALIDATOR,    /* vectorAdd, one byte of overlap */
    SELVAGE_REASON_VALIDATOR,    /* vectorInc */
    SELVAGE_REASON_NO_VALIDATOR, /* a kernel that nobody judges */
    SELVAGE_REASON_DIMENSIONS,   /* no blocks */
};

static void *launch_from_thread(void *unused) {
  void *stream, *module, *functions[3];
  uint64_t memory[3];
  int n = 256;
  cuStreamCreate(&stream, 1);
  for (int i = 0; i < 3; i++) cuMemAlloc_v2(&memory[i], 1024);
  cuModuleLoadData(&module, text);
  const char *const names[] = {"vectorAdd", "vectorInc", "unjudged"};
  for (int i = 0; i < 3; i++) cuModuleGetFunction(&functions[i], module, names[i]);
  for (unsigned long i = 0; i < launches_each; i++) {
    unsigned kind = i % KINDS;
    uint64_t a = memory[0], b = memory[1], c = memory[2];
    if (kind == 1) c = a;
    if (kind == 2) b = c + 1023;
    void *of_add[] = {&a, &b, &c, &n}, *of_one[] = {&a, &n};
    bool adds = kind < 3 || kind == 5;
    void *function = functions[adds ? 0 : kind - 2], **parameters = adds ? of_add : of_one, **extra = NULL;
    /* Every fourth launch hands over its arguments in one buffer. */
    struct {
      uint64_t a, b, c;
      int n;
    } packed = {a, b, c, n};
    size_t bytes = sizeof packed;
    void *options[] = {(void *)1, &packed, (void *)2, &bytes, NULL};
    if (adds && i % 4 == 3) parameters = NULL, extra = options;
    R result = ways[i % WAYS](function, kind == 5 ? 0 : 2, 1, 1, 128, 1, 1, 16, stream, parameters, extra);
    const struct stub_call *call = stub_last_call();
    /* The driver got what the program gave, and the program what the driver answered. */
    if (result != (kind == 5) || call->function != function || call->parameters != parameters || call->extra != extra ||
        call->stream != stream || call->shared != 16 || call->block[0] != 128) {
      wrong++;
    }
    if (i % 512 == 511) {
      /* Memory and code come and go. */
      void *other, *f;
      cuModuleLoadData(&other, text);
      cuModuleGetFunction(&f, other, "vectorAdd");
      cuModuleUnload(other);
      cuMemFree_v2(memory[1]);
      cuMemAlloc_v2(&memory[1], 1024);
      cuStreamSynchronize(stream);
    }
  }
  for (int i = 0; i < 3; i++) cuMemFree_v2(memory[i]);
  cuModuleUnload(module);
  cuStreamSynchronize(stream);
  cuStreamDestroy_v2(stream);
  return unused;
}

int launch_many(const char *ptx, unsigned long count, unsigned threads) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  lookup_function *lookup = (lookup_function *)dlsym(driver, "cuGetProcAddress_v2");
  int status;
  text = ptx;
  ways[0] = (launch_function *)dlsym(driver, "cuLaunchKernel");
  if (!lookup || lookup("cuLaunchKernel", (void **)&ways[1], 12000, 0, &status) != 0) return 1;
  ways[2] = cuLaunchKernel;
  selvage_set_on_launch(tell, NULL);
  launches_each = count / threads;
  pthread_t ids[64];
  if (threads > 64) return 1;
  for (unsigned i = 0; i < threads; i++) pthread_create(&ids[i], NULL, launch_from_thread, NULL);
  for (unsigned i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  dlclose(driver);

  uint64_t wanted[SELVAGE_REASON_COUNT] = {0}, verdicts[3] = {0};
  for (unsigned long i = 0; i < launches_each; i++) wanted[expected[i % KINDS]] += threads;
  int failed = wrong != 0;
  for (int verdict = 0; verdict < 3; verdict++) {
    for (int reason = 0; reason < SELVAGE_REASON_COUNT; reason++) {
      uint64_t got = selvage_launch_count((enum selvage_verdict)verdict, (enum selvage_reason)reason);
      verdicts[verdict] += got;
      if (got > 0) wanted[reason] -= got;
    }
    failed += told[verdict] != verdicts[verdict];
  }
  for (int reason = 0; reason < SELVAGE_REASON_COUNT; reason++) failed += wanted[reason] != 0;
  failed += stub_launches() != launches_each * threads;
  printf("%lu launches from %u threads: %lu idempotent, %lu not, %lu undecided; %lu wrong, %d sums differ\n",
         (unsigned long)stub_launches(), threads, (unsigned long)verdicts[0], (unsigned long)verdicts[1],
         (unsigned long)verdicts[2], (unsigned long)wrong, failed);
  return failed;
}
