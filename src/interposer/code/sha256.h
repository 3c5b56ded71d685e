/* SHA-256 (FIPS 180-4). */
#ifndef SELVAGE_SHA256_H
#define SELVAGE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct sha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
/* Writes 64 digits in lower case and a NUL. */
void sha256_end(struct sha256 *hash, char digits[65]);

#pragma GCC visibility pop

#endif
