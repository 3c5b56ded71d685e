/*
 * Puts the interposer between a program and the driver on three ways: a program that links libcuda finds our functions
 * first because we are preloaded; one that asks dlsym, or cuGetProcAddress as the CUDA runtime does, gets them as answer.
 */
#define _GNU_SOURCE
#include "resolve.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LAST 13001 /* one more than the newest version whose functions are known */

struct entry {
  const char *name, *base;
  int since, until, per_thread;
  void *ours;
};

static const struct entry entries[FUNCTION_COUNT] = {
#define STANDS_IN(name, base, since, until, thread) {#name, base, since, until, thread, (void *)&name},
#define CALLED(name) {#name, NULL, 0, 0, 0, NULL},
#include "functions.def"
};

static _Atomic(void *) originals[FUNCTION_COUNT];
static _Atomic(void *) driver; /* handle of dlopen */

typedef void *dlsym_function(void *handle, const char *name);

/* dlsym of the C library: we define one ourselves. */
static dlsym_function *original_dlsym(void) {
  static _Atomic(dlsym_function *) found;
  dlsym_function *function = atomic_load_explicit(&found, memory_order_acquire);
  if (function) return function;
  /* Since when dlsym is there differs between processors and versions of glibc. */
  static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34", "GLIBC_2.27", "GLIBC_2.0"};
  for (size_t i = 0; i < sizeof versions / sizeof *versions && !function; i++) {
    function = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  atomic_store_explicit(&found, function, memory_order_release);
  return function;
}

static driver_result missing(void) { return DRIVER_NOT_FOUND; }

/* Keeps a handle to the library that holds a function of the driver. */
static void remember_driver(void *function) {
  Dl_info info;
  if (atomic_load(&driver) || !dladdr(function, &info) || !info.dli_fname) return;
  void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void *none = NULL;
  if (handle && !atomic_compare_exchange_strong(&driver, &none, handle)) dlclose(handle);
}

static void *look_up(enum function function) {
  const struct entry *entry = &entries[function];
  dlsym_function *lookup = original_dlsym();
  if (!lookup) return NULL;
  void *found = lookup(RTLD_NEXT, entry->name);
  if (found && found != entry->ours) return found;
  void *handle = atomic_load(&driver);
  if (!handle) {
    handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *none = NULL;
    if (handle && !atomic_compare_exchange_strong(&driver, &none, handle)) dlclose(handle);
    handle = atomic_load(&driver);
  }
  found = handle ? lookup(handle, entry->name) : NULL;
  return found == entry->ours ? NULL : found;
}

void *driver_function(enum function function) {
  void *original = atomic_load_explicit(&originals[function], memory_order_acquire);
  if (original) return original;
  original = look_up(function);
  if (!original) return (void *)&missing;
  void *none = NULL;
  if (!atomic_compare_exchange_strong(&originals[function], &none, original)) original = none;
  return original;
}

int driver_has(enum function function) { return driver_function(function) != (void *)&missing; }

/* Our function instead of the driver's, unless ours leads to another driver already. */
static void *stand_in(enum function function, void *original) {
  void *none = NULL;
  if (!entries[function].ours || original == entries[function].ours) return original;
  if (atomic_compare_exchange_strong(&originals[function], &none, original) || none == original) {
    remember_driver(original);
    return entries[function].ours;
  }
  return original;
}

/* Says once for each function that its form is too new: what a program does with it is not seen. */
static void report_unknown(const char *base) {
  static _Atomic unsigned char said[FUNCTION_COUNT];
  int first = 0;
  while (!entries[first].base || strcmp(base, entries[first].base) != 0) first++;
  if (atomic_exchange(&said[first], 1) == 0) {
    fprintf(stderr, "selvage-idempotency: this %s of the driver is not known, its calls are not seen\n", base);
  }
}

/*
 * The function that cuGetProcAddress found, or ours instead. Up to the newest version that is known, the version decides
 * which form of a function it is; after that only a form that is exported under a name that is known is ours.
 */
static void *stand_in_for(const char *base, void *found, int version, uint64_t flags) {
  int per_thread = (flags & DRIVER_PER_THREAD) != 0;
  int fallback = -1;
  bool is_ours = false;
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    const struct entry *entry = &entries[i];
    if (!entry->base || (strcmp(base, entry->base) != 0 && strcmp(base, entry->name) != 0)) continue;
    if (found == entry->ours) return found;
    is_ours |= strcmp(base, entry->base) == 0;
    if (version >= LAST || strcmp(base, entry->base) != 0) {
      if (look_up((enum function)i) == found) return stand_in((enum function)i, found);
      continue;
    }
    if (version < entry->since || version >= entry->until) continue;
    if (entry->per_thread == per_thread) return stand_in((enum function)i, found);
    if (!entry->per_thread) fallback = i;
  }
  /* Functions that do not know the default stream of the thread have one form. */
  if (fallback >= 0) return stand_in((enum function)fallback, found);
  if (is_ours && version >= LAST) report_unknown(base);
  return found;
}

driver_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  driver_result result = REAL(cuGetProcAddress)(symbol, function, version, flags);
  if (result == DRIVER_SUCCESS && symbol && function && *function) {
    *function = stand_in_for(symbol, *function, version, flags);
  }
  return result;
}

driver_result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
  driver_result result = REAL(cuGetProcAddress_v2)(symbol, function, version, flags, status);
  if (result == DRIVER_SUCCESS && symbol && function && *function) {
    *function = stand_in_for(symbol, *function, version, flags);
  }
  return result;
}

/* RTLD_NEXT and RTLD_DEFAULT depend on who calls: the call must be the last thing that we do, and become a jump. */
#if defined(__clang__)
#define TAIL_CALL __attribute__((musttail)) return
#define WITH_TAIL_CALL
#else
#define TAIL_CALL return
#define WITH_TAIL_CALL __attribute__((optimize("O2", "optimize-sibling-calls")))
#endif

static void *driver_symbol(void *handle, const char *name) {
  void *found = original_dlsym()(handle, name);
  if (!found) return NULL;
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    if (entries[i].ours && strcmp(name, entries[i].name) == 0) return stand_in((enum function)i, found);
  }
  return found;
}

static void *no_symbol(void *handle, const char *name) {
  (void)handle;
  (void)name;
  return NULL;
}

__attribute__((visibility("default"))) WITH_TAIL_CALL void *dlsym(void *restrict handle, const char *restrict name) {
  dlsym_function *original = original_dlsym();
  if (!original) original = no_symbol;
  else if (name[0] == 'c' && name[1] == 'u' && handle != RTLD_NEXT) original = driver_symbol;
  TAIL_CALL original(handle, name);
}
