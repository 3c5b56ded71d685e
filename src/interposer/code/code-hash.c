#include <string.h>

#include "image.h"
#include "sha256.h"

static bool is_blank(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* First byte after the comment that begins at `at`; `at` itself where none begins. */
static size_t after_comment(const unsigned char *text, size_t bytes, size_t at) {
  if (at + 1 >= bytes || text[at] != '/') return at;
  if (text[at + 1] == '/') {
    const unsigned char *end = memchr(text + at, '\n', bytes - at);
    return end ? (size_t)(end - text) : bytes;
  }
  if (text[at + 1] != '*') return at;
  for (size_t i = at + 2; i + 1 < bytes; i++) {
    if (text[i] == '*' && text[i + 1] == '/') return i + 2;
  }
  return bytes;
}

/* Collects what is hashed, so that the hash is not called for single bytes. */
struct writer {
  struct sha256 hash;
  unsigned char buffer[4096];
  size_t filled, written;
  char begin[9]; /* the first bytes */
};

static void write_byte(struct writer *writer, unsigned char c) {
  if (writer->written < 8) writer->begin[writer->written] = (char)c;
  writer->written++;
  writer->buffer[writer->filled++] = c;
  if (writer->filled == sizeof writer->buffer) {
    sha256_add(&writer->hash, writer->buffer, writer->filled);
    writer->filled = 0;
  }
}

bool hash_ptx(const unsigned char *text, size_t bytes, char digits[65]) {
  struct writer writer = {.filled = 0};
  sha256_begin(&writer.hash);
  bool blank = false;
  for (size_t i = 0; i < bytes;) {
    size_t after = is_blank(text[i]) ? i + 1 : after_comment(text, bytes, i);
    if (after > i) {
      blank = true;
      i = after;
      continue;
    }
    if (blank && writer.written > 0) write_byte(&writer, ' ');
    blank = false;
    bool quoted = text[i] == '"';
    write_byte(&writer, text[i++]);
    while (quoted && i < bytes && text[i] != '\n') {
      quoted = text[i] != '"';
      write_byte(&writer, text[i++]);
    }
  }
  sha256_add(&writer.hash, writer.buffer, writer.filled);
  sha256_end(&writer.hash, digits);
  return strcmp(writer.begin, ".version") == 0;
}
