/* A program that uses the driver as programs do, with the interposer preloaded. */
#define _GNU_SOURCE
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The whole file, and a NUL. */
static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(3);
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(1, *bytes + 1);
  if (fread(text, 1, *bytes, file) != *bytes) exit(3);
  fclose(file);
  return text;
}

static enum selvage_verdict seen;
static enum selvage_reason why;

static void see(void *context, const struct selvage_launch_report *report) {
  (void)context;
  seen = report->verdict;
  why = report->reason;
}

int judge_images(char **files, int count) {
  selvage_set_on_launch(see, NULL);
  uint64_t a, b, c;
  cuMemAlloc_v2(&a, 400), cuMemAlloc_v2(&b, 400), cuMemAlloc_v2(&c, 400);
  int n = 100;
  void *parameters[] = {&a, &b, &c, &n};
  for (int i = 0; i < count; i++) {
    size_t bytes, page = 4096;
    char *image = read_file(files[i], &bytes);
    /* The last byte of the image is the last one before memory that is not there. */
    size_t pages = bytes / page + 1;
    char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + pages * page, page, PROT_NONE);
    char *at = memory + pages * page - bytes;
    memcpy(at, image, bytes);
    void *module = NULL, *function = NULL;
    /* A fat binary as nvcc embeds it: a wrapper leads to it. */
    struct {
      unsigned magic, version;
      const void *data, *name;
    } wrapper = {0x466243b1, strstr(files[i], ".wrapped2") ? 2 : 1, at, NULL};
    bool is_wrapped = strstr(files[i], ".wrapped") != NULL;
    R loaded = is_wrapped ? cuModuleLoadFatBinary(&module, &wrapper) : cuModuleLoadData(&module, at);
    R found = loaded == 0 ? cuModuleGetFunction(&function, module, "vectorAdd") : 1;
    R launched = found == 0 ? cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL) : 1;
    printf("%s %d %d %d\n", files[i], seen, why, launched);
    cuModuleUnload(module);
    munmap(memory, (pages + 1) * page);
    free(image);
  }
  return 0;
}

int main(int count, char **arguments) {
  const char *architecture = getenv("STUB_ARCHITECTURE");
  if (architecture) stub_set_architecture(atoi(architecture));
  if (count < 3) return 2;
  if (strcmp(arguments[1], "images") == 0) return judge_images(arguments + 2, count - 2);
  size_t bytes;
  char *ptx = read_file(arguments[2], &bytes);
  int failed = 2;
  if (strcmp(arguments[1], "cases") == 0) failed = run_cases(ptx);
  else if (strcmp(arguments[1], "many") == 0 && count > 4) {
    failed = launch_many(ptx, strtoul(arguments[3], NULL, 10), (unsigned)atoi(arguments[4]));
  }
  free(ptx);
  return failed != 0;
}
