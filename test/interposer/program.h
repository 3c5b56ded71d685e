/* What the parts of the test program have in common. */
#ifndef SELVAGE_TEST_PROGRAM_H
#define SELVAGE_TEST_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include "selvage-idempotency.h"
#include "stub-driver.h"

/* Launches of `count` kernels from `threads` threads on all ways to the driver. Returns how many checks failed. */
int launch_many(const char *ptx, unsigned long count, unsigned threads);

/* One check of each rule. Prints a line for each, and returns how many failed. */
int run_cases(const char *ptx);

/* Loads each file as an image that ends where memory ends, and prints the verdict of a launch of its code. */
int judge_images(char **files, int count);

#endif
