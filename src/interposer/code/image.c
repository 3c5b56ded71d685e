#define _GNU_SOURCE
#include "image.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../resolve.h"
#include "sha256.h"

/* More is not read: no program has that much code in one piece. */
#define MOST ((size_t)1 << 28)

enum { FAT_WRAPPER = 0x466243b1, FAT_BINARY = (int)0xba55ed50, ENTRIES = 256, DEVICES = 64 };
enum { KIND_PTX = 1, KIND_CUBIN = 2, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
/* Code for one architecture only (sm_90a), and for a family of them (sm_100f). */
enum { FLAG_SPECIFIC = 0x100000, FLAG_FAMILY = 0x200000 };

/* Header of an entry of a fat binary; the rest of it, up to `header_bytes`, is not needed. */
struct fat_entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes, options_offset;
  uint16_t minor, major;
  uint32_t architecture, name_offset, name_bytes;
  uint64_t flags, reserved, uncompressed_bytes;
};

struct fat_header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};

struct fat_wrapper {
  uint32_t magic, version;
  const void *data;
};

static bool read_whole(const void *from, size_t at, size_t limit, void *to, size_t bytes) {
  return at <= limit && bytes <= limit - at && read_memory((const char *)from + at, to, bytes) == bytes;
}

/* Copies bytes of an image to memory of our own; NULL: they are not all there. */
static unsigned char *copy_of(const void *from, size_t at, size_t limit, size_t bytes) {
  if (bytes > MOST) return NULL;
  unsigned char *copy = malloc(bytes + 1);
  if (copy && read_whole(from, at, limit, copy, bytes)) return copy;
  free(copy);
  return NULL;
}

/* Text ends before its first NUL: what follows is padding. */
static struct image_code code_of_ptx(unsigned char *text, size_t bytes) {
  struct image_code code = {.text = text, .is_ptx = true};
  const unsigned char *end = memchr(text, 0, bytes);
  code.bytes = end ? (size_t)(end - text) : bytes;
  code.known = hash_ptx(text, code.bytes, code.hash);
  return code;
}

static struct image_code code_of_cubin(unsigned char *cubin, size_t bytes) {
  struct image_code code = {.known = true, .text = cubin, .bytes = bytes};
  struct sha256 hash;
  sha256_begin(&hash);
  sha256_add(&hash, cubin, bytes);
  sha256_end(&hash, code.hash);
  return code;
}

/* Text whose length is not known reaches to a NUL. */
static struct image_code read_text(const void *image, size_t limit) {
  size_t capacity = 1 << 16, bytes = 0;
  unsigned char *text = malloc(capacity);
  while (text) {
    size_t wanted = capacity - bytes < limit - bytes ? capacity - bytes : limit - bytes;
    size_t got = read_memory((const char *)image + bytes, text + bytes, wanted);
    bool ends = memchr(text + bytes, 0, got) != NULL;
    bytes += got;
    if (ends || bytes == limit) return code_of_ptx(text, bytes);
    if (got < wanted || capacity >= MOST) break;
    unsigned char *larger = realloc(text, capacity *= 2);
    if (!larger) break;
    text = larger;
  }
  free(text);
  return (struct image_code){.known = false};
}

struct elf_header {
  unsigned char ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, program_offset, section_offset;
  uint32_t flags;
  uint16_t header_bytes, program_bytes, programs, section_bytes, sections, names;
};

struct elf_section {
  uint32_t name, type;
  uint64_t flags, address, offset, bytes;
  uint32_t link, info;
  uint64_t alignment, entry_bytes;
};

enum { SECTION_NONE = 0, SECTION_NOTE = 7, SECTION_WITHOUT_BYTES = 8 };

static bool read_elf_header(const void *image, size_t limit, struct elf_header *header) {
  return read_whole(image, 0, limit, header, sizeof *header) && header->ident[4] == 2 && header->ident[5] == 1 &&
         header->sections > 0 && header->section_bytes >= sizeof(struct elf_section) && header->section_offset < MOST &&
         header->program_offset < MOST;
}

static bool read_section(const void *image, size_t limit, const struct elf_header *header, unsigned index,
                         struct elf_section *section) {
  uint64_t at = header->section_offset + (uint64_t)index * header->section_bytes;
  return read_whole(image, at, limit, section, sizeof *section) && section->offset < MOST && section->bytes < MOST;
}

/* Length of a 64-bit ELF file as its headers say; 0: damaged. */
static size_t elf_bytes(const void *image, size_t limit) {
  struct elf_header header;
  if (!read_elf_header(image, limit, &header)) return 0;
  uint64_t end = header.section_offset + (uint64_t)header.sections * header.section_bytes;
  uint64_t programs = header.program_offset + (uint64_t)header.programs * header.program_bytes;
  if (programs > end) end = programs;
  for (unsigned i = 0; i < header.sections; i++) {
    struct elf_section section;
    if (!read_section(image, limit, &header, i, &section)) return 0;
    if (section.type == SECTION_NONE || section.type == SECTION_WITHOUT_BYTES) continue;
    if (section.offset + section.bytes > end) end = section.offset + section.bytes;
  }
  return end <= MOST && end <= limit ? (size_t)end : 0;
}

/*
 * The virtual architecture whose PTX a cubin was made from, as its note .note.nv.cuinfo says; before that there was one, the
 * flags of the file. -1: not known, or it is still to be linked.
 */
static int virtual_architecture(const unsigned char *cubin, size_t bytes) {
  struct elf_header header;
  if (!read_elf_header(cubin, bytes, &header) || header.type != 2 /* ET_EXEC */) return -1;
  for (unsigned i = 0; i < header.sections; i++) {
    struct elf_section section;
    struct {
      uint32_t name_bytes, bytes, type;
      char name[12];
      uint16_t version, architecture;
    } note;
    if (!read_section(cubin, bytes, &header, i, &section)) return -1;
    if (section.type != SECTION_NOTE || section.bytes < sizeof note) continue;
    if (!read_whole(cubin, section.offset, bytes, &note, sizeof note)) return -1;
    if (note.type == 1000 && note.name_bytes == sizeof note.name && note.bytes >= 4 &&
        memcmp(note.name, "NVIDIA Corp", sizeof note.name) == 0) {
      return note.architecture;
    }
  }
  return header.ident[8] < 8 ? (int)(header.flags >> 16 & 0xff) : -1;
}

/* Compute capabilities of the devices, as 10 * major + minor; returns how many there are, 0 where that is not known. */
static int device_architectures(int architectures[DEVICES]) {
  int count = 0, device, major, minor;
  if (REAL(cuDeviceGetCount)(&count) != DRIVER_SUCCESS || count > DEVICES) return 0;
  for (int i = 0; i < count; i++) {
    if (REAL(cuDeviceGet)(&device, i) != DRIVER_SUCCESS ||
        REAL(cuDeviceGetAttribute)(&major, DRIVER_CAPABILITY_MAJOR, device) != DRIVER_SUCCESS ||
        REAL(cuDeviceGetAttribute)(&minor, DRIVER_CAPABILITY_MINOR, device) != DRIVER_SUCCESS) {
      return 0;
    }
    architectures[i] = 10 * major + minor;
  }
  return count;
}

struct fat_index {
  struct fat_entry entries[ENTRIES];
  size_t offsets[ENTRIES]; /* of the payloads */
  int count;
};

static bool read_index(const void *image, size_t limit, struct fat_index *index) {
  struct fat_header header;
  if (!read_whole(image, 0, limit, &header, sizeof header) || header.header_bytes < sizeof header) return false;
  if (header.bytes > MOST * 8 || header.header_bytes + header.bytes > limit) return false;
  size_t end = header.header_bytes + header.bytes, at = header.header_bytes;
  index->count = 0;
  while (at < end) {
    struct fat_entry entry;
    if (index->count == ENTRIES || !read_whole(image, at, end, &entry, sizeof entry)) return false;
    if (entry.header_bytes < sizeof entry || entry.header_bytes > end - at) return false;
    at += entry.header_bytes;
    if (entry.payload_bytes > end - at) return false;
    index->entries[index->count] = entry;
    index->offsets[index->count++] = at;
    at += entry.payload_bytes;
  }
  return true;
}

static bool runs_on(const struct fat_entry *entry, int device) {
  int architecture = (int)entry->architecture;
  if (entry->architecture > 1000 || architecture > device) return false;
  if ((entry->flags & FLAG_SPECIFIC) != 0) return architecture == device;
  if (entry->kind == KIND_CUBIN || (entry->flags & FLAG_FAMILY) != 0) return architecture / 10 == device / 10;
  return true;
}

/* The entry of a kind with the highest architecture that runs on a device; -1: none, or more than one. */
static int best_entry(const struct fat_index *index, int kind, int device) {
  int best = -1;
  bool several = false;
  for (int i = 0; i < index->count; i++) {
    const struct fat_entry *entry = &index->entries[i];
    if (entry->kind != kind || !runs_on(entry, device)) continue;
    int architecture = (int)entry->architecture, known = best < 0 ? -1 : (int)index->entries[best].architecture;
    several = architecture == known || (several && architecture < known);
    if (architecture > known) best = i;
  }
  return several ? -1 : best;
}

static bool has_entry(const struct fat_index *index, int kind, int device) {
  for (int i = 0; i < index->count; i++) {
    if (index->entries[i].kind == kind && runs_on(&index->entries[i], device)) return true;
  }
  return false;
}

static struct image_code code_of_entry(const void *image, size_t limit, const struct fat_index *index, int at) {
  const struct fat_entry *entry = &index->entries[at];
  struct image_code none = {.known = false};
  unsigned char *payload = copy_of(image, index->offsets[at], limit, entry->payload_bytes);
  if (!payload) return none;
  size_t bytes = entry->payload_bytes;
  if (entry->uncompressed_bytes != 0 || (entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0) {
    size_t size = entry->uncompressed_bytes, compressed = entry->compressed_bytes;
    unsigned char *text = size > 0 && size <= MOST && compressed <= bytes ? malloc(size) : NULL;
    bool whole = text && ((entry->flags & FLAG_LZ4) != 0    ? decompress_lz4(payload, compressed, text, size)
                          : (entry->flags & FLAG_ZSTD) != 0 ? decompress_zstd(payload, compressed, text, size)
                                                            : false);
    free(payload);
    if (!whole) {
      free(text);
      return none;
    }
    payload = text;
    bytes = size;
  }
  return entry->kind == KIND_PTX ? code_of_ptx(payload, bytes) : code_of_cubin(payload, bytes);
}

/* The one PTX entry that a cubin was made from; -1: there is none, or it is not known which. */
static int ptx_of(const void *image, size_t limit, const struct fat_index *index, int cubin) {
  struct image_code code = code_of_entry(image, limit, index, cubin);
  int found = -1, architecture = code.known ? virtual_architecture(code.text, code.bytes) : -1;
  free(code.text);
  for (int i = 0; i < index->count; i++) {
    const struct fat_entry *entry = &index->entries[i];
    if (entry->kind != KIND_PTX || (int)entry->architecture != architecture) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

/*
 * The entry that stands for what runs on a device: the PTX that is compiled, or from which the cubin was made that runs; the
 * cubin where its PTX is not there. A cubin for the device itself runs. Of one for an older device and PTX, the driver or
 * an option decides which: they must be of one text. -1: not known.
 */
static int entry_for(const void *image, size_t limit, const struct fat_index *index, int device) {
  const char *force = getenv("CUDA_FORCE_PTX_JIT");
  bool only_ptx = force && *force && strcmp(force, "0") != 0;
  int text = best_entry(index, KIND_PTX, device), binary = best_entry(index, KIND_CUBIN, device);
  if (only_ptx || !has_entry(index, KIND_CUBIN, device)) return text;
  if (binary < 0) return -1;
  int made_from = ptx_of(image, limit, index, binary);
  bool is_exact = (int)index->entries[binary].architecture == device;
  if (!is_exact && has_entry(index, KIND_PTX, device) && (text < 0 || made_from != text)) return -1;
  return made_from >= 0 ? made_from : binary;
}

static struct image_code read_fat_binary(const void *image, size_t limit) {
  struct image_code none = {.known = false};
  struct fat_index *index = malloc(sizeof *index);
  int architectures[DEVICES], devices = device_architectures(architectures), chosen = -1;
  bool one = index && devices > 0 && read_index(image, limit, index);
  for (int i = 0; one && i < devices; i++) {
    if (i > 0 && architectures[i] == architectures[i - 1]) continue;
    int entry = entry_for(image, limit, index, architectures[i]);
    one = entry >= 0 && (chosen < 0 || chosen == entry);
    chosen = entry;
  }
  struct image_code code = one ? code_of_entry(image, limit, index, chosen) : none;
  free(index);
  return code;
}

struct image_code read_image(const void *image, size_t limit) {
  struct image_code none = {.known = false};
  uint32_t magic;
  if (!image || !read_whole(image, 0, limit, &magic, sizeof magic)) {
    /* A text may be shorter than that. No program is. */
    return none;
  }
  if (magic == FAT_WRAPPER) {
    struct fat_wrapper wrapper;
    if (!read_whole(image, 0, limit, &wrapper, sizeof wrapper) || !wrapper.data) return none;
    /* The second version leads to more code, which is linked with it. */
    if (wrapper.version != 1) return none;
    return read_fat_binary(wrapper.data, SIZE_MAX);
  }
  if (magic == (uint32_t)FAT_BINARY) return read_fat_binary(image, limit);
  if (magic == 0x464c457f /* 0x7f 'E' 'L' 'F' */) {
    size_t bytes = elf_bytes(image, limit);
    unsigned char *cubin = bytes > 0 ? copy_of(image, 0, limit, bytes) : NULL;
    return cubin ? code_of_cubin(cubin, bytes) : none;
  }
  return read_text(image, limit);
}

struct image_code read_image_file(const char *path) {
  struct image_code code = {.known = false};
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return code;
  struct stat status;
  unsigned char *copy = NULL;
  size_t bytes = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && (uint64_t)status.st_size <= MOST) {
    copy = malloc((size_t)status.st_size);
    ssize_t got = 1;
    while (copy && got > 0 && bytes < (size_t)status.st_size) {
      got = read(file, copy + bytes, (size_t)status.st_size - bytes);
      if (got > 0) bytes += (size_t)got;
    }
  }
  close(file);
  if (copy && bytes > 0) code = read_image(copy, bytes);
  free(copy);
  return code;
}
