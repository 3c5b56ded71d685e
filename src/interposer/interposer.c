/* Begins and ends with the process; how it is told what to do is in docs/idempotency.md. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "judge.h"

static char *log_path;

__attribute__((constructor)) static void begin(void) {
  const char *validators = getenv("SELVAGE_IDEMPOTENCY_VALIDATORS");
  const char *folder = getenv("SELVAGE_IDEMPOTENCY_RECORD");
  const char *log = getenv("SELVAGE_IDEMPOTENCY_LOG");
  const char *extents = getenv("SELVAGE_IDEMPOTENCY_EXTENTS");
  if (validators) load_validators(validators);
  /* The environment may change until the end. */
  if (folder && *folder) record_code_in(strdup(folder));
  if (log && *log) log_path = strdup(log);
  give_extents(!extents || strcmp(extents, "off") != 0);
}

__attribute__((destructor)) static void end(void) {
  if (log_path) write_log(log_path);
  free(log_path);
  log_path = NULL;
}

/*
 * What the driver calls in the library that CUDA_INJECTION64_PATH names. By then the CUDA runtime has its functions: we
 * cannot stand in for them, and say so instead of seeing nothing.
 */
__attribute__((visibility("default"))) int InitializeInjection(void) {
  static const char name[] = "selvage-idempotency";
  const char *preload = getenv("LD_PRELOAD");
  if (preload && strstr(preload, name)) return 1;
  fprintf(stderr, "%s: loaded by CUDA_INJECTION64_PATH, too late to see launches; use LD_PRELOAD\n", name);
  return 1;
}
