#define _GNU_SOURCE
#include "kernels.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

static struct kernel *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct selvage_validator **tables;
static size_t table_count;

static _Atomic uint64_t counts[SELVAGE_REASON_COUNT];

static const struct selvage_validator *validator_of(const char *code_hash, const char *name) {
  if (!*code_hash) return NULL;
  for (size_t i = 0; i < table_count; i++) {
    for (const struct selvage_validator *v = tables[i]; v->kernel; v++) {
      if (v->code_hash && v->is_idempotent && strcmp(v->code_hash, code_hash) == 0 && strcmp(v->kernel, name) == 0) {
        return v;
      }
    }
  }
  return NULL;
}

bool has_validators(const char *code_hash) {
  for (size_t i = 0; i < table_count; i++) {
    for (const struct selvage_validator *v = tables[i]; v->kernel; v++) {
      if (v->code_hash && strcmp(v->code_hash, code_hash) == 0) return true;
    }
  }
  return false;
}

struct kernel *kernel_named(const char *code_hash, const char *name) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (const char *c = code_hash; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  struct kernel **bucket = &buckets[hash % BUCKETS];
  pthread_mutex_lock(&lock);
  struct kernel *kernel = *bucket;
  while (kernel && (strcmp(kernel->code_hash, code_hash) != 0 || strcmp(kernel->name, name) != 0)) {
    kernel = kernel->next;
  }
  if (!kernel) {
    size_t length = strlen(name);
    kernel = calloc(1, sizeof *kernel + length + 1);
    if (kernel) {
      memcpy(kernel->name, name, length);
      snprintf(kernel->code_hash, sizeof kernel->code_hash, "%s", code_hash);
      kernel->validator = validator_of(code_hash, name);
      kernel->next = *bucket;
      *bucket = kernel;
    }
  }
  pthread_mutex_unlock(&lock);
  return kernel;
}

struct kernel *kernel_unknown(void) {
  static struct {
    struct kernel kernel;
    char name[1];
  } unknown;
  return &unknown.kernel;
}

static void load(const char *path) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *wrong = object ? NULL : dlerror();
  if (object) {
    const uint32_t *version = (const uint32_t *)dlsym(object, "selvage_validators_version");
    const struct selvage_validator *table = (const struct selvage_validator *)dlsym(object, "selvage_validators");
    const struct selvage_validator **more = NULL;
    if (!version || !table) wrong = "it holds no validators";
    else if (*version != SELVAGE_VALIDATORS_VERSION) wrong = "its validators have another version";
    else if (!(more = realloc(tables, (table_count + 1) * sizeof *tables))) wrong = "no memory";
    if (more) {
      tables = more;
      tables[table_count++] = table;
    } else {
      dlclose(object);
    }
  }
  if (wrong) fprintf(stderr, "selvage-idempotency: %s: %s\n", path, wrong);
}

void load_validators(const char *paths) {
  while (*paths) {
    size_t length = strcspn(paths, ":");
    char *path = strndup(paths, length);
    if (path && *path) load(path);
    free(path);
    paths += length + (paths[length] == ':');
  }
}

enum selvage_verdict verdict_of(enum selvage_reason reason) {
  if (reason == SELVAGE_REASON_NONE) return SELVAGE_IDEMPOTENT;
  return reason <= SELVAGE_REASON_CONCURRENT ? SELVAGE_NOT_IDEMPOTENT : SELVAGE_UNDECIDED;
}

void count_launch(struct kernel *kernel, enum selvage_reason reason) {
  atomic_fetch_add_explicit(&kernel->counts[reason], 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[reason], 1, memory_order_relaxed);
}

uint64_t selvage_launch_count(enum selvage_verdict verdict, enum selvage_reason reason) {
  if ((unsigned)reason >= SELVAGE_REASON_COUNT || verdict_of(reason) != verdict) return 0;
  return atomic_load(&counts[reason]);
}

static void write_string(FILE *file, const char *text) {
  putc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\') fprintf(file, "\\%c", *c);
    else if (*c < 0x20 || *c >= 0x7f) fprintf(file, "\\u%04x", *c);
    else putc(*c, file);
  }
  putc('"', file);
}

static void write_counts(FILE *file, const _Atomic uint64_t *of) {
  static const char *const reasons[SELVAGE_REASON_COUNT] = {
      "idempotent",     "validator",    "mapped-twice",   "concurrent",       "no-validator",
      "unknown-kernel", "unknown-code", "argument-sizes", "arguments",        "dimensions",
      "unknown-memory", "attribute",    "captured",       "graph"};
  uint64_t total = 0, of_verdict[3] = {0};
  for (int i = 0; i < SELVAGE_REASON_COUNT; i++) {
    uint64_t count = atomic_load((_Atomic uint64_t *)&of[i]);
    total += count;
    of_verdict[verdict_of((enum selvage_reason)i)] += count;
  }
  fprintf(file, "\"launches\":%" PRIu64 ",\"idempotent\":%" PRIu64 ",\"notIdempotent\":%" PRIu64 ",\"undecided\":%" PRIu64,
          total, of_verdict[SELVAGE_IDEMPOTENT], of_verdict[SELVAGE_NOT_IDEMPOTENT], of_verdict[SELVAGE_UNDECIDED]);
  fprintf(file, ",\"reasons\":{");
  const char *comma = "";
  for (int i = 1; i < SELVAGE_REASON_COUNT; i++) {
    uint64_t count = atomic_load((_Atomic uint64_t *)&of[i]);
    if (count == 0) continue;
    fprintf(file, "%s\"%s\":%" PRIu64, comma, reasons[i], count);
    comma = ",";
  }
  fprintf(file, "}}\n");
}

static void write_kernel(FILE *file, const struct kernel *kernel) {
  bool launched = false;
  for (int i = 0; i < SELVAGE_REASON_COUNT; i++) launched |= atomic_load((_Atomic uint64_t *)&kernel->counts[i]) > 0;
  if (!launched) return;
  fprintf(file, "{\"kernel\":");
  if (*kernel->name) write_string(file, kernel->name);
  else fprintf(file, "null");
  fprintf(file, ",\"code\":");
  if (*kernel->code_hash) write_string(file, kernel->code_hash);
  else fprintf(file, "null");
  putc(',', file);
  write_counts(file, kernel->counts);
}

void write_log(const char *path) {
  FILE *file = fopen(path, "a");
  if (!file) {
    fprintf(stderr, "selvage-idempotency: cannot write %s\n", path);
    return;
  }
  pthread_mutex_lock(&lock);
  for (int i = 0; i < BUCKETS; i++) {
    for (const struct kernel *kernel = buckets[i]; kernel; kernel = kernel->next) write_kernel(file, kernel);
  }
  write_kernel(file, kernel_unknown());
  pthread_mutex_unlock(&lock);
  fprintf(file, "{\"kernel\":\"*\",");
  write_counts(file, counts);
  fclose(file);
}
