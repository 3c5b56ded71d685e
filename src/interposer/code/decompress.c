/* The compressions of fat binaries: LZ4 blocks up to CUDA 12.7, Zstandard frames since. */
#include <dlfcn.h>
#include <string.h>

#include "image.h"

/* A length of LZ4: 15 in the token means that bytes follow, up to one that is not 255. */
static bool read_length(const unsigned char **from, const unsigned char *end, size_t *length) {
  if (*length != 15) return true;
  for (;;) {
    if (*from == end) return false;
    unsigned char more = *(*from)++;
    *length += more;
    if (more != 255) return true;
  }
}

bool decompress_lz4(const unsigned char *from, size_t bytes, unsigned char *to, size_t size) {
  const unsigned char *end = from + bytes;
  size_t done = 0;
  while (from < end) {
    unsigned token = *from++;
    size_t literals = token >> 4, match = token & 15;
    if (!read_length(&from, end, &literals)) return false;
    if (literals > (size_t)(end - from) || literals > size - done) return false;
    memcpy(to + done, from, literals);
    from += literals, done += literals;
    /* The last sequence has no match. */
    if (from == end || done == size) break;
    if (end - from < 2) return false;
    size_t distance = from[0] | (size_t)from[1] << 8;
    from += 2;
    if (!read_length(&from, end, &match)) return false;
    match += 4;
    if (distance == 0 || distance > done || match > size - done) return false;
    for (size_t i = 0; i < match; i++, done++) to[done] = to[done - distance];
  }
  return done == size;
}

bool decompress_zstd(const unsigned char *from, size_t bytes, unsigned char *to, size_t size) {
  typedef size_t decompress(void *to, size_t capacity, const void *from, size_t bytes);
  typedef size_t frame_size(const void *from, size_t bytes);
  /* The library is wanted here only, so it is looked for when it is needed. Its absence makes code unknown. */
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  decompress *function = (decompress *)dlsym(library, "ZSTD_decompress");
  frame_size *frame = (frame_size *)dlsym(library, "ZSTD_findFrameCompressedSize");
  /* The payload is padded with zeros, which are no frame. */
  size_t used = frame ? frame(from, bytes) : bytes + 1;
  bool whole = function && used <= bytes && function(to, size, from, used) == size;
  dlclose(library);
  return whole;
}
