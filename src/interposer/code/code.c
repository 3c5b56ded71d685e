/* Modules and libraries from the moment they are loaded until they are unloaded, and the functions in them. */
#define _GNU_SOURCE
#include "code.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../allocations.h"
#include "image.h"
#include "../map.h"
#include "../resolve.h"

/* A module or a library. */
struct home {
  char hash[65]; /* empty: the code is not known */
  bool is_library;
  void *library; /* of which the module is, or NULL */
  void *context; /* that the module was loaded in */
};

/* What is being linked: code is known where all of it comes from one PTX text. */
struct link {
  struct image_code code;
  unsigned inputs;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct map homes, functions, links;

/* Cubins that were linked from one PTX text. */
struct linked {
  struct linked *next;
  char cubin[65], ptx[65];
};
static struct linked *linked;

static const char *record_folder;

void record_code_in(const char *folder) { record_folder = folder; }

/* Writes an image under its hash, for validators to be made of it. */
static void record(const struct image_code *code) {
  if (!record_folder || !code->known || has_validators(code->hash)) return;
  char path[4096], temporary[4096];
  int length = snprintf(path, sizeof path, "%s/%s.%s", record_folder, code->hash, code->is_ptx ? "ptx" : "cubin");
  int other = snprintf(temporary, sizeof temporary, "%s/.%s.%ld", record_folder, code->hash, (long)getpid());
  if (length >= (int)sizeof path || other >= (int)sizeof temporary || access(path, F_OK) == 0) return;
  int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return;
  size_t done = 0;
  while (done < code->bytes) {
    ssize_t written = write(file, code->text + done, code->bytes - done);
    if (written <= 0) break;
    done += (size_t)written;
  }
  if (close(file) != 0 || done < code->bytes || rename(temporary, path) != 0) unlink(temporary);
}

static void forget_function(uint64_t handle) { free(map_remove(&functions, handle)); }

/* Takes out all functions that `goes` says of. */
static void forget_functions(bool (*goes)(const struct function_info *function, const void *of), const void *of) {
  for (size_t i = 0; i < functions.capacity; i++) {
    struct map_entry *entry = &functions.entries[i];
    if (entry->value && goes(entry->value, of)) forget_function(entry->key);
  }
}

static bool is_of(const struct function_info *function, const void *home) { return function->home == home; }

static void forget_home(void *handle) {
  pthread_rwlock_wrlock(&lock);
  struct home *home = map_remove(&homes, (uintptr_t)handle);
  if (home) {
    forget_functions(is_of, handle);
    for (size_t i = 0; home->is_library && i < homes.capacity; i++) {
      struct home *module = homes.entries[i].value;
      if (!module || module->library != handle) continue;
      forget_functions(is_of, (void *)(uintptr_t)homes.entries[i].key);
      free(map_remove(&homes, homes.entries[i].key));
    }
    free(home);
  }
  pthread_rwlock_unlock(&lock);
  forget_allocations_of(handle);
}

static void add_home(void *handle, const char *hash, bool is_library, void *library) {
  struct home *home = calloc(1, sizeof *home);
  forget_home(handle);
  if (!home) return;
  snprintf(home->hash, sizeof home->hash, "%s", hash);
  home->is_library = is_library;
  home->library = library;
  if (!is_library) REAL(cuCtxGetCurrent)(&home->context);
  pthread_rwlock_wrlock(&lock);
  free(map_put(&homes, (uintptr_t)handle, home));
  pthread_rwlock_unlock(&lock);
}

/* Keeps a loaded module or library, and what its image says. Frees the image. */
static void loaded(driver_result result, void **handle, struct image_code code, bool is_library) {
  if (result == DRIVER_SUCCESS && handle && *handle) {
    const char *hash = code.known ? code.hash : "";
    pthread_rwlock_rdlock(&lock);
    for (const struct linked *link = linked; link; link = link->next) {
      if (strcmp(link->cubin, hash) == 0) {
        hash = link->ptx;
        break;
      }
    }
    pthread_rwlock_unlock(&lock);
    if (hash == code.hash) record(&code);
    add_home(*handle, hash, is_library, NULL);
  }
  free(code.text);
}

static void add_function(void *handle, void *home_handle, const char *name, bool of_context) {
  struct function_info *function = calloc(1, sizeof *function);
  if (!function) return;
  pthread_rwlock_wrlock(&lock);
  const struct home *home = home_handle ? map_get(&homes, (uintptr_t)home_handle) : NULL;
  function->kernel = home && name ? kernel_named(home->hash, name) : NULL;
  if (!function->kernel) function->kernel = kernel_unknown();
  function->home = home ? home_handle : NULL;
  function->in_library = home && home->is_library;
  function->of_context = of_context;
  free(map_put(&functions, (uintptr_t)handle, function));
  pthread_rwlock_unlock(&lock);
}

static bool knows_home(void *handle) {
  pthread_rwlock_rdlock(&lock);
  bool known = handle && map_get(&homes, (uintptr_t)handle);
  pthread_rwlock_unlock(&lock);
  return known;
}

/* A handle that came on another way than cuModuleGetFunction: the driver may say what it is. */
static void ask_driver(void *handle) {
  void *home = NULL;
  const char *name = NULL;
  bool of_context = true;
  if (REAL(cuFuncGetModule)(&home, handle) == DRIVER_SUCCESS && knows_home(home)) {
    if (REAL(cuFuncGetName)(&name, handle) != DRIVER_SUCCESS) name = NULL;
  } else if (REAL(cuKernelGetLibrary)(&home, handle) == DRIVER_SUCCESS && knows_home(home)) {
    if (REAL(cuKernelGetName)(&name, handle) != DRIVER_SUCCESS) name = NULL;
    of_context = false;
  } else {
    home = NULL;
  }
  add_function(handle, home, name, of_context);
}

struct function_info find_function(void *handle) {
  struct function_info info = {.kernel = kernel_unknown()};
  if (!handle) return info;
  for (int attempt = 0; attempt < 2; attempt++) {
    pthread_rwlock_rdlock(&lock);
    const struct function_info *found = map_get(&functions, (uintptr_t)handle);
    if (found) info = *found;
    pthread_rwlock_unlock(&lock);
    if (found) break;
    if (attempt == 0) ask_driver(handle);
  }
  return info;
}

driver_result cuModuleLoad(void **module, const char *path) {
  struct image_code code = read_image_file(path);
  driver_result result = REAL(cuModuleLoad)(module, path);
  loaded(result, module, code, false);
  return result;
}

driver_result cuModuleLoadData(void **module, const void *image) {
  struct image_code code = read_image(image, SIZE_MAX);
  driver_result result = REAL(cuModuleLoadData)(module, image);
  loaded(result, module, code, false);
  return result;
}

driver_result cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  struct image_code code = read_image(image, SIZE_MAX);
  driver_result result = REAL(cuModuleLoadDataEx)(module, image, count, options, values);
  loaded(result, module, code, false);
  return result;
}

driver_result cuModuleLoadFatBinary(void **module, const void *image) {
  struct image_code code = read_image(image, SIZE_MAX);
  driver_result result = REAL(cuModuleLoadFatBinary)(module, image);
  loaded(result, module, code, false);
  return result;
}

driver_result cuModuleUnload(void *module) {
  /* Before the driver can give the handle to another module. */
  forget_home(module);
  return REAL(cuModuleUnload)(module);
}

driver_result cuModuleGetFunction(void **function, void *module, const char *name) {
  driver_result result = REAL(cuModuleGetFunction)(function, module, name);
  if (result == DRIVER_SUCCESS && function && *function) add_function(*function, module, name, true);
  return result;
}

driver_result cuLibraryLoadData(void **library, const void *code, int *jit_options, void **jit_values,
                                unsigned jit_count, int *options, void **values, unsigned count) {
  struct image_code image = read_image(code, SIZE_MAX);
  driver_result result =
      REAL(cuLibraryLoadData)(library, code, jit_options, jit_values, jit_count, options, values, count);
  loaded(result, library, image, true);
  return result;
}

driver_result cuLibraryLoadFromFile(void **library, const char *path, int *jit_options, void **jit_values,
                                    unsigned jit_count, int *options, void **values, unsigned count) {
  struct image_code image = read_image_file(path);
  driver_result result =
      REAL(cuLibraryLoadFromFile)(library, path, jit_options, jit_values, jit_count, options, values, count);
  loaded(result, library, image, true);
  return result;
}

driver_result cuLibraryUnload(void *library) {
  forget_home(library);
  return REAL(cuLibraryUnload)(library);
}

driver_result cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  driver_result result = REAL(cuLibraryGetKernel)(kernel, library, name);
  if (result == DRIVER_SUCCESS && kernel && *kernel) add_function(*kernel, library, name, false);
  return result;
}

driver_result cuLibraryGetModule(void **module, void *library) {
  driver_result result = REAL(cuLibraryGetModule)(module, library);
  if (result == DRIVER_SUCCESS && module && *module) {
    char hash[65] = "";
    bool known_already;
    pthread_rwlock_rdlock(&lock);
    const struct home *home = map_get(&homes, (uintptr_t)library);
    const struct home *before = map_get(&homes, (uintptr_t)*module);
    if (home) memcpy(hash, home->hash, sizeof hash);
    known_already = before && before->library == library;
    pthread_rwlock_unlock(&lock);
    if (!known_already) add_home(*module, hash, false, library);
  }
  return result;
}

driver_result cuKernelGetFunction(void **function, void *kernel) {
  driver_result result = REAL(cuKernelGetFunction)(function, kernel);
  if (result == DRIVER_SUCCESS && function && *function) {
    struct function_info info = find_function(kernel);
    if (info.home) add_function(*function, info.home, info.kernel->name, true);
  }
  return result;
}

driver_result cuLinkCreate_v2(unsigned count, int *options, void **values, void **state) {
  driver_result result = REAL(cuLinkCreate_v2)(count, options, values, state);
  struct link *link = result == DRIVER_SUCCESS && state && *state ? calloc(1, sizeof *link) : NULL;
  if (link) {
    pthread_rwlock_wrlock(&lock);
    struct link *former = map_put(&links, (uintptr_t)*state, link);
    pthread_rwlock_unlock(&lock);
    if (former) free(former->code.text);
    free(former);
  }
  return result;
}

/* Keeps the first input of a link; takes over the image. */
static void add_input(void *state, int type, struct image_code code) {
  pthread_rwlock_wrlock(&lock);
  struct link *link = map_get(&links, (uintptr_t)state);
  if (link && link->inputs++ == 0 && type == DRIVER_INPUT_PTX && code.is_ptx) {
    link->code = code;
    code.text = NULL;
  }
  pthread_rwlock_unlock(&lock);
  free(code.text);
}

driver_result cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name, unsigned count,
                               int *options, void **values) {
  struct image_code code = read_image(data, bytes);
  driver_result result = REAL(cuLinkAddData_v2)(state, type, data, bytes, name, count, options, values);
  add_input(state, type, code);
  return result;
}

driver_result cuLinkAddFile_v2(void *state, int type, const char *path, unsigned count, int *options, void **values) {
  struct image_code code = read_image_file(path);
  driver_result result = REAL(cuLinkAddFile_v2)(state, type, path, count, options, values);
  add_input(state, type, code);
  return result;
}

driver_result cuLinkComplete(void *state, void **cubin, size_t *bytes) {
  size_t size = 0;
  driver_result result = REAL(cuLinkComplete)(state, cubin, bytes ? bytes : &size);
  if (bytes) size = *bytes;
  if (result != DRIVER_SUCCESS || !cubin || !*cubin) return result;
  struct image_code image = read_image(*cubin, size);
  struct linked *entry = image.known && !image.is_ptx ? calloc(1, sizeof *entry) : NULL;
  pthread_rwlock_wrlock(&lock);
  struct link *link = map_get(&links, (uintptr_t)state);
  bool of_one = entry && link && link->inputs == 1 && link->code.known;
  bool is_new = of_one;
  for (struct linked *known = linked; of_one && known; known = known->next) {
    if (strcmp(known->cubin, image.hash) != 0) continue;
    /* Two texts that are compiled to the same are the same program: either stands for it. */
    is_new = false;
  }
  if (is_new) {
    memcpy(entry->cubin, image.hash, sizeof entry->cubin);
    memcpy(entry->ptx, link->code.hash, sizeof entry->ptx);
    entry->next = linked;
    linked = entry;
    record(&link->code);
  } else {
    free(entry);
  }
  pthread_rwlock_unlock(&lock);
  free(image.text);
  return result;
}

driver_result cuLinkDestroy(void *state) {
  pthread_rwlock_wrlock(&lock);
  struct link *link = map_remove(&links, (uintptr_t)state);
  pthread_rwlock_unlock(&lock);
  if (link) free(link->code.text);
  free(link);
  return REAL(cuLinkDestroy)(state);
}

static bool is_of_context(const struct function_info *function, const void *unused) {
  (void)unused;
  return function->of_context;
}

/* Forgets the modules of a context, or of all (NULL), and the functions of all: those that are left are found again. */
static void forget_context(const void *context) {
  pthread_rwlock_wrlock(&lock);
  forget_functions(is_of_context, NULL);
  for (size_t i = 0; i < homes.capacity; i++) {
    struct home *home = homes.entries[i].value;
    if (!home || home->is_library || (context && home->context != context)) continue;
    free(map_remove(&homes, homes.entries[i].key));
  }
  pthread_rwlock_unlock(&lock);
}

driver_result cuCtxDestroy(void *context) {
  forget_context(context);
  return REAL(cuCtxDestroy)(context);
}

driver_result cuCtxDestroy_v2(void *context) {
  forget_context(context);
  return REAL(cuCtxDestroy_v2)(context);
}

driver_result cuDevicePrimaryCtxReset(int device) {
  forget_context(NULL);
  return REAL(cuDevicePrimaryCtxReset)(device);
}

driver_result cuDevicePrimaryCtxReset_v2(int device) {
  forget_context(NULL);
  return REAL(cuDevicePrimaryCtxReset_v2)(device);
}

/* The last release of a primary context destroys it. */
static driver_result released(driver_result result, int device) {
  unsigned flags;
  int active = 0;
  if (REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) != DRIVER_SUCCESS || !active) forget_context(NULL);
  return result;
}

driver_result cuDevicePrimaryCtxRelease(int device) {
  return released(REAL(cuDevicePrimaryCtxRelease)(device), device);
}
driver_result cuDevicePrimaryCtxRelease_v2(int device) {
  return released(REAL(cuDevicePrimaryCtxRelease_v2)(device), device);
}
