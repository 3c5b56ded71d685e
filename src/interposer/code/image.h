/* Images of code, as they are handed to the driver, and the hash that validators know them by. */
#ifndef SELVAGE_IMAGE_H
#define SELVAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* What an image holds of the code that the driver runs. */
struct image_code {
  bool known;
  char hash[65];
  /* The PTX text that was hashed, without a NUL, or the cubin; owned by the caller. */
  unsigned char *text;
  size_t bytes;
  bool is_ptx;
};

/*
 * Copies what is readable of `bytes` bytes, page by page: memory that is not there is no error.
 * Returns how many bytes were copied.
 */
size_t read_memory(const void *from, void *to, size_t bytes);

/*
 * Finds the code of an image: PTX text, a cubin or a fat binary, at most `limit` bytes (SIZE_MAX: not known). Of a fat
 * binary it is the PTX that was made into what runs on every device that is there. `known` is false for any other image,
 * damaged ones among them. Free `text` afterwards.
 */
struct image_code read_image(const void *image, size_t limit);

/* The same of a file. */
struct image_code read_image_file(const char *path);

/* Hash of PTX without comments and needless blanks (code-hash.ts); false: the text is no PTX. */
bool hash_ptx(const unsigned char *text, size_t bytes, char digits[65]);

/* Undoes the compression of an entry of a fat binary. False: damaged, or not to be undone. */
bool decompress_lz4(const unsigned char *from, size_t bytes, unsigned char *to, size_t size);
bool decompress_zstd(const unsigned char *from, size_t bytes, unsigned char *to, size_t size);

#pragma GCC visibility pop

#endif
