/* Asks each validator about each launch that standard input holds, and prints a line of digits for each launch. */
#include "selvage-idempotency.h"

#include <stdio.h>
#include <string.h>

static int allocation(void *context, uint64_t address, uint64_t *start, uint64_t *bytes) {
  (void)context;
  *start = address & ~UINT64_C(0xffff);
  *bytes = 0x100;
  return (address & 0x8000) == 0;
}

static int symbol(void *context, const char *name, uint64_t *address) {
  (void)context;
  *address = 0x10080;
  return strcmp(name, "table") == 0;
}

int main(void) {
  unsigned char arguments[41];
  uint32_t numbers[7];
  if (selvage_validators_version != SELVAGE_VALIDATORS_VERSION) return 1;
  while (fread(arguments, sizeof arguments, 1, stdin) == 1 && fread(numbers, sizeof numbers, 1, stdin) == 1) {
    struct selvage_launch launch = {arguments, sizeof arguments, {numbers[0], numbers[1], numbers[2]},
                                    {numbers[3], numbers[4], numbers[5]}, numbers[6], allocation, symbol, 0};
    for (const struct selvage_validator *v = selvage_validators; v->kernel; v += 1)
      putchar(v->is_idempotent(&launch) ? '1' : '0');
    putchar('\n');
    launch.argument_bytes -= 1;
    for (const struct selvage_validator *v = selvage_validators; v->kernel; v += 1)
      if (v->is_idempotent(&launch)) return 2;
  }
  return 0;
}
