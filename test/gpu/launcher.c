/*
 * Runs the launches of a file on a GPU, through the CUDA driver.
 *
 *   launcher memory FILE OUT   each launch twice, the second time on the memory that the first one left
 *   launcher count FILE        each launch once: a profiler that watches the process counts what it does
 *   launcher litmus FILE OUT   each launch as often as it says, and how often the reads of its instances found what
 *
 * launch-file.ts writes FILE and reads OUT. All numbers are little-endian, 32 bits unless said otherwise. After a fault
 * nothing of the driver can be used: a process of its own runs the launches up to the next one.
 */
#define _DEFAULT_SOURCE
#include <cuda.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD = 4096, GUARD_BYTE = 0xa5, MOST_PARAMETERS = 64, MOST_BUFFERS = 32, MOST_READS = 16, MOST_OUTCOMES = 256, FEW_BLOCKS = 64 };

static const unsigned char *input, *end;

static void fail(const char *what) {
  fprintf(stderr, "launcher: %s\n", what);
  exit(1);
}

static const unsigned char *take(size_t bytes) {
  if ((size_t)(end - input) < bytes) fail("the file of launches ends early");
  const unsigned char *taken = input;
  input += bytes;
  return taken;
}

static uint32_t number(void) {
  uint32_t value;
  memcpy(&value, take(sizeof value), sizeof value);
  return value;
}

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) return;
  const char *text = NULL;
  cuGetErrorString(result, &text);
  fprintf(stderr, "%s: ", what);
  fail(text ? text : "unknown error");
}

static CUcontext context;
static CUmodule module;
static CUresult loaded;
static const char *text;
/* The buffers of a launch lie in one allocation, with bytes between them that no launch may change. */
static CUdeviceptr arena;
static unsigned char *image, *before, *after;
static size_t arenaBytes;

static void load(void) {
  loaded = text ? cuModuleLoadData(&module, text) : CUDA_SUCCESS;
  if (loaded != CUDA_SUCCESS) fprintf(stderr, "launcher: a module is refused with error %d\n", (int)loaded);
}

static void open_context(void) {
  CUdevice device;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
#if CUDA_VERSION >= 13000
  CUctxCreateParams parameters = {0};
  check(cuCtxCreate(&context, &parameters, 0, device), "cuCtxCreate");
#else
  check(cuCtxCreate(&context, 0, device), "cuCtxCreate");
#endif
  check(cuMemAlloc(&arena, arenaBytes), "cuMemAlloc");
  load();
}

/* What a process ends with whose last launch was a fault, and the seconds after which a launch is given up. */
enum { FAULT = 3, TIMED_OUT = 702, SECONDS = 5 };

static FILE *results;
static uint32_t running;

/* A launch that does not end ends with its process. */
static void give_up(int signal) {
  (void)signal;
  uint32_t head[] = {running, TIMED_OUT, 0, 0, 0};
  if (write(fileno(results), head, sizeof head) != sizeof head) _exit(1);
  _exit(FAULT);
}

struct launch {
  uint32_t id, grid[3], block[3], cluster[3], shared, buffers, parameters, moved;
  const unsigned char *name;
  uint64_t expected;
  size_t offset[MOST_BUFFERS], bytes[MOST_BUFFERS], whole;
  const unsigned char *moves;
  void *values[MOST_PARAMETERS];
};

static uint64_t storage[MOST_PARAMETERS][512];

static uint64_t address(const struct launch *launch, uint32_t buffer, uint32_t offset) {
  return arena + launch->offset[buffer] + offset;
}

/* Pointers that lie in memory, as the places and targets say: to the addresses of this run, or back to zero. */
static void move(const struct launch *launch, unsigned char *bytes, int forth) {
  const unsigned char *at = launch->moves;
  for (uint32_t index = 0; index < launch->moved; index++, at += 16) {
    uint32_t move[4];
    memcpy(move, at, sizeof move);
    uint64_t target = address(launch, move[2], move[3]), zero = 0;
    unsigned char *place = bytes + launch->offset[move[0]] + move[1];
    if (forth) memcpy(place, &target, 8);
    else if (memcmp(place, &target, 8) == 0) memcpy(place, &zero, 8);
  }
}

static void read_launch(struct launch *launch) {
  launch->id = number();
  uint32_t length = number();
  launch->name = take(length);
  for (int at = 0; at < 3; at++) launch->grid[at] = number();
  for (int at = 0; at < 3; at++) launch->block[at] = number();
  for (int at = 0; at < 3; at++) launch->cluster[at] = number();
  launch->shared = number();
  memcpy(&launch->expected, take(8), 8);
  launch->buffers = number();
  if (launch->buffers > MOST_BUFFERS) fail("too many buffers");
  size_t place = GUARD;
  for (uint32_t at = 0; at < launch->buffers; at++) {
    launch->bytes[at] = number();
    launch->offset[at] = place;
    if (place + launch->bytes[at] + 2 * GUARD > arenaBytes) fail("the buffers of a launch are too large");
    memset(image + place - GUARD, GUARD_BYTE, GUARD);
    uint32_t is_uniform = number();
    if (is_uniform) memset(image + place, (int)number(), launch->bytes[at]);
    else memcpy(image + place, take(launch->bytes[at]), launch->bytes[at]);
    size_t stop = (place + launch->bytes[at] + GUARD - 1) / GUARD * GUARD;
    memset(image + place + launch->bytes[at], GUARD_BYTE, stop - place - launch->bytes[at]);
    place = stop + GUARD;
  }
  memset(image + place - GUARD, GUARD_BYTE, GUARD);
  launch->whole = place;
  launch->moved = number();
  launch->moves = take((size_t)launch->moved * 16);
  launch->parameters = number();
  if (launch->parameters > MOST_PARAMETERS) fail("too many parameters");
  for (uint32_t at = 0; at < launch->parameters; at++) {
    uint32_t bytes = number();
    if (bytes > sizeof storage[at]) fail("a parameter is too large");
    memcpy(storage[at], take(bytes), bytes);
    for (uint32_t pointers = number(); pointers > 0; pointers--) {
      uint32_t place_in = number(), buffer = number(), offset = number();
      uint64_t value = address(launch, buffer, offset);
      memcpy((unsigned char *)storage[at] + place_in, &value, 8);
    }
    launch->values[at] = storage[at];
  }
}

static CUresult run(const struct launch *launch, uint32_t instances) {
  if (loaded != CUDA_SUCCESS) return loaded;
  CUfunction function;
  CUresult result = cuModuleGetFunction(&function, module, (const char *)launch->name);
  if (result != CUDA_SUCCESS) return result;
  if (launch->shared > 48 * 1024)
    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->shared);
  uint32_t cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
  uint32_t blocks = instances * launch->grid[0] * launch->grid[1] * launch->grid[2];
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
  attribute.value.clusterDim.x = launch->cluster[0];
  attribute.value.clusterDim.y = launch->cluster[1];
  attribute.value.clusterDim.z = launch->cluster[2];
  if (cluster == 1) {
    /* The blocks of a small grid are on the GPU together, as barriers of the grid want it. */
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = blocks <= FEW_BLOCKS;
  }
  CUlaunchConfig configuration = {
      .gridDimX = launch->grid[0] * instances, .gridDimY = launch->grid[1], .gridDimZ = launch->grid[2],
      .blockDimX = launch->block[0], .blockDimY = launch->block[1], .blockDimZ = launch->block[2],
      .sharedMemBytes = launch->shared, .attrs = &attribute, .numAttrs = 1};
  result = cuLaunchKernelEx(&configuration, function, (void **)launch->values, NULL);
  return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

static uint64_t hash(const struct launch *launch, const unsigned char *bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (uint32_t buffer = 0; buffer < launch->buffers; buffer++)
    for (size_t at = 0; at < launch->bytes[buffer]; at++)
      sum = (sum ^ bytes[launch->offset[buffer] + at]) * 0x100000001b3;
  return sum;
}

static uint32_t is_guard_changed(const struct launch *launch, const unsigned char *bytes) {
  size_t place = 0;
  for (uint32_t buffer = 0; buffer <= launch->buffers; buffer++) {
    size_t stop = buffer < launch->buffers ? launch->offset[buffer] : launch->whole;
    for (; place < stop; place++)
      if (bytes[place] != GUARD_BYTE) return 1;
    if (buffer < launch->buffers) place += launch->bytes[buffer];
  }
  return 0;
}

static void leave(FILE *out) {
  if (fflush(out) != 0) fail("cannot write");
  _exit(FAULT);
}

static void put(FILE *out, const void *data, size_t bytes) {
  if (fwrite(data, 1, bytes, out) != bytes) fail("cannot write");
}

static void memory(const struct launch *launch, FILE *out) {
  results = out;
  running = launch->id;
  alarm(SECONDS);
  move(launch, image, 1);
  check(cuMemcpyHtoD(arena, image, launch->whole), "cuMemcpyHtoD");
  uint32_t status = run(launch, 1), again = CUDA_SUCCESS, changed = 0, differs = 0, kept = 0;
  uint64_t first = 0;
  if (status == CUDA_SUCCESS) {
    check(cuMemcpyDtoH(before, arena, launch->whole), "cuMemcpyDtoH");
    changed = is_guard_changed(launch, before);
    again = run(launch, 1);
    if (again == CUDA_SUCCESS) {
      check(cuMemcpyDtoH(after, arena, launch->whole), "cuMemcpyDtoH");
      differs = memcmp(before, after, launch->whole) != 0;
    } else differs = 1;
    move(launch, before, 0);
    first = hash(launch, before);
    for (uint32_t buffer = 0; buffer < launch->buffers && first != launch->expected; buffer++)
      kept += launch->bytes[buffer];
  }
  uint32_t head[] = {launch->id, status, changed, differs, kept};
  alarm(0);
  put(out, head, sizeof head);
  for (uint32_t buffer = 0; buffer < launch->buffers && kept > 0; buffer++)
    put(out, before + launch->offset[buffer], launch->bytes[buffer]);
  if (fflush(out) != 0) fail("cannot write");
  if ((status != CUDA_SUCCESS && (CUresult)status != loaded) || again != CUDA_SUCCESS) leave(out);
}

static void count(const struct launch *launch) {
  move(launch, image, 1);
  check(cuMemcpyHtoD(arena, image, launch->whole), "cuMemcpyHtoD");
  CUresult status = run(launch, 1);
  printf("launch %u %d\n", launch->id, (int)status);
  if (status != CUDA_SUCCESS && status != loaded) leave(stdout);
}

struct outcome {
  uint32_t reads[MOST_READS];
  uint32_t times;
};

/* The last buffer holds what the reads of each instance found, from its start, with all bits set where none did. */
static void litmus(const struct launch *launch, FILE *out) {
  uint32_t instances = number(), repetitions = number(), reads = number(), spacing = number();
  static struct outcome outcomes[MOST_OUTCOMES];
  uint32_t found = 0, status = CUDA_SUCCESS;
  if (reads > MOST_READS) fail("too many reads");
  size_t last = launch->offset[launch->buffers - 1];
  for (uint32_t round = 0; round < repetitions && status == CUDA_SUCCESS; round++) {
    check(cuMemcpyHtoD(arena, image, launch->whole), "cuMemcpyHtoD");
    status = run(launch, instances);
    if (status != CUDA_SUCCESS) break;
    check(cuMemcpyDtoH(before + last, arena + last, launch->bytes[launch->buffers - 1]), "cuMemcpyDtoH");
    for (uint32_t instance = 0; instance < instances; instance++) {
      const unsigned char *own = before + last + (size_t)instance * spacing;
      uint32_t at = 0;
      while (at < found && memcmp(outcomes[at].reads, own, 4 * reads) != 0) at++;
      if (at == MOST_OUTCOMES) continue;
      if (at == found) {
        memcpy(outcomes[found].reads, own, 4 * reads);
        outcomes[found++].times = 0;
      }
      outcomes[at].times++;
    }
  }
  uint32_t head[] = {launch->id, status, found, reads};
  put(out, head, sizeof head);
  for (uint32_t at = 0; at < found; at++) {
    put(out, &outcomes[at].times, 4);
    put(out, outcomes[at].reads, 4 * reads);
  }
  if (status != CUDA_SUCCESS && (CUresult)status != loaded) leave(out);
}

/*
 * Runs the launches after the first `done` ones, until the file ends or one is a fault. `done` is in memory that the
 * process which waits for this one sees.
 */
static void run_all(const char *kind, FILE *out, volatile uint32_t *done) {
  signal(SIGALRM, give_up);
  check(cuInit(0), "cuInit");
  arenaBytes = (size_t)number() << 20;
  image = malloc(arenaBytes);
  before = malloc(arenaBytes);
  after = malloc(arenaBytes);
  if (!image || !before || !after) fail("no memory");
  open_context();
  int is_loaded = 0;
  for (uint32_t place = 0; input < end;) {
    if (number() == 1) {
      uint32_t bytes = number();
      if (is_loaded && loaded == CUDA_SUCCESS) cuModuleUnload(module);
      text = (const char *)take(bytes);
      is_loaded = 0;
      continue;
    }
    struct launch launch;
    read_launch(&launch);
    int is_over = place++ < *done;
    if (is_over) {
      if (strcmp(kind, "litmus") == 0) take(16);
      continue;
    }
    if (!is_loaded) load();
    is_loaded = 1;
    *done = place;
    if (strcmp(kind, "count") == 0) count(&launch);
    else if (strcmp(kind, "litmus") == 0) litmus(&launch, out);
    else memory(&launch, out);
  }
  if (fflush(out) != 0) fail("cannot write");
}

int main(int words, char **word) {
  if (words < 3) fail("launcher memory|count|litmus FILE [OUT]");
  FILE *file = fopen(word[2], "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail("cannot read the file of launches");
  long size = ftell(file);
  rewind(file);
  static unsigned char *all;
  all = malloc((size_t)size);
  if (!all || fread(all, 1, (size_t)size, file) != (size_t)size) fail("cannot read the file of launches");
  FILE *out = words > 3 ? fopen(word[3], "wb") : stdout;
  if (!out) fail("cannot write");
  uint32_t *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (done == MAP_FAILED) fail("no memory");
  for (int status = FAULT; status == FAULT;) {
    pid_t child = fork();
    if (child == 0) {
      input = all;
      end = all + size;
      run_all(word[1], out, done);
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) fail("no process");
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (status != FAULT) return status;
  }
}
