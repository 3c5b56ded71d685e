/*
 * With the interposer, runs every launch twice that its validator calls idempotent: a program that tests its own results
 * then tests the verdicts. It is built into a copy of the interposer whose functions ask `selvage_again` (README.md).
 * SELVAGE_TWICE=all runs every launch twice, which programs with launches that are not idempotent notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selvage-idempotency.h"

static _Thread_local bool again;
static bool always;
static _Atomic unsigned long doubled;

static void tell(void *context, const struct selvage_launch_report *report) {
  (void)context;
  again = always || report->verdict == SELVAGE_IDEMPOTENT;
}

bool selvage_again(void) {
  bool answer = again;
  again = false;
  doubled += answer;
  return answer;
}

__attribute__((constructor)) static void begin(void) {
  const char *which = getenv("SELVAGE_TWICE");
  always = which && strcmp(which, "all") == 0;
  selvage_set_on_launch(tell, NULL);
}

__attribute__((destructor)) static void finish(void) { fprintf(stderr, "%lu launches were run twice\n", doubled); }
