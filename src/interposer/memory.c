/* Device memory from the moment it is allocated, mapped or opened until it is given back. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "allocations.h"
#include "map.h"
#include "resolve.h"

/* Handles of physical memory: which object each stands for, and whether others than this process may know it. */
struct object {
  uint64_t number;
  bool shared;
};

static struct map objects;
static uint64_t last_object;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The object of a handle; several handles may stand for one. */
static struct object object_of(uint64_t handle, bool make_shared) {
  struct object copy = {.number = 0, .shared = true};
  pthread_mutex_lock(&lock);
  struct object *object = map_get(&objects, handle);
  if (!object && (object = calloc(1, sizeof *object))) {
    object->number = ++last_object;
    if (map_put(&objects, handle, object) == object) {
      free(object);
      object = NULL;
    }
  }
  if (object) {
    object->shared |= make_shared;
    copy = *object;
  }
  pthread_mutex_unlock(&lock);
  return copy;
}

static bool given(driver_result result, const uint64_t *pointer) { return result == DRIVER_SUCCESS && pointer && *pointer; }

driver_result cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  driver_result result = REAL(cuMemAlloc_v2)(pointer, bytes);
  if (given(result, pointer)) add_allocation(*pointer, bytes, false);
  return result;
}

driver_result cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  driver_result result = REAL(cuMemAllocPitch_v2)(pointer, pitch, width, height, element);
  if (given(result, pointer) && pitch && (height == 0 || *pitch <= SIZE_MAX / height)) {
    add_allocation(*pointer, *pitch * height, false);
  }
  return result;
}

driver_result cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags) {
  driver_result result = REAL(cuMemAllocManaged)(pointer, bytes, flags);
  if (given(result, pointer)) add_allocation(*pointer, bytes, false);
  return result;
}

#define ALLOCATE(call)                                             \
  do {                                                             \
    driver_result result = call;                                   \
    if (given(result, pointer)) add_allocation(*pointer, bytes, false); \
    return result;                                                 \
  } while (0)

driver_result cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) {
  ALLOCATE(REAL(cuMemAllocAsync)(pointer, bytes, stream));
}
driver_result cuMemAllocAsync_ptsz(uint64_t *pointer, size_t bytes, void *stream) {
  ALLOCATE(REAL(cuMemAllocAsync_ptsz)(pointer, bytes, stream));
}
driver_result cuMemAllocFromPoolAsync(uint64_t *pointer, size_t bytes, void *pool, void *stream) {
  ALLOCATE(REAL(cuMemAllocFromPoolAsync)(pointer, bytes, pool, stream));
}
driver_result cuMemAllocFromPoolAsync_ptsz(uint64_t *pointer, size_t bytes, void *pool, void *stream) {
  ALLOCATE(REAL(cuMemAllocFromPoolAsync_ptsz)(pointer, bytes, pool, stream));
}

/* Memory is forgotten before the driver can hand it out again. */
driver_result cuMemFree_v2(uint64_t pointer) {
  forget_allocation(pointer);
  return REAL(cuMemFree_v2)(pointer);
}
driver_result cuMemFreeAsync(uint64_t pointer, void *stream) {
  forget_allocation(pointer);
  return REAL(cuMemFreeAsync)(pointer, stream);
}
driver_result cuMemFreeAsync_ptsz(uint64_t pointer, void *stream) {
  forget_allocation(pointer);
  return REAL(cuMemFreeAsync_ptsz)(pointer, stream);
}

/* Memory of the host may be written by the host at any time. */
driver_result cuMemAllocHost_v2(void **pointer, size_t bytes) {
  driver_result result = REAL(cuMemAllocHost_v2)(pointer, bytes);
  if (result == DRIVER_SUCCESS && pointer) add_allocation((uintptr_t)*pointer, bytes, true);
  return result;
}

driver_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  driver_result result = REAL(cuMemHostAlloc)(pointer, bytes, flags);
  if (result == DRIVER_SUCCESS && pointer) add_allocation((uintptr_t)*pointer, bytes, true);
  return result;
}

/* Forgets memory of the host, and the address that the device has for it. */
static void forget_host(void *pointer) {
  static const unsigned no_flags = 0;
  uint64_t device = 0;
  if (REAL(cuMemHostGetDevicePointer_v2)(&device, pointer, no_flags) == DRIVER_SUCCESS) forget_allocation(device);
  forget_allocation((uintptr_t)pointer);
}

driver_result cuMemFreeHost(void *pointer) {
  forget_host(pointer);
  return REAL(cuMemFreeHost)(pointer);
}

driver_result cuMemHostRegister(void *pointer, size_t bytes, unsigned flags) {
  driver_result result = REAL(cuMemHostRegister)(pointer, bytes, flags);
  if (result == DRIVER_SUCCESS) add_allocation((uintptr_t)pointer, bytes, true);
  return result;
}

driver_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  driver_result result = REAL(cuMemHostRegister_v2)(pointer, bytes, flags);
  if (result == DRIVER_SUCCESS) add_allocation((uintptr_t)pointer, bytes, true);
  return result;
}

driver_result cuMemHostUnregister(void *pointer) {
  forget_host(pointer);
  return REAL(cuMemHostUnregister)(pointer);
}

driver_result cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags) {
  driver_result result = REAL(cuMemHostGetDevicePointer_v2)(pointer, host, flags);
  struct selvage_range range;
  if (given(result, pointer) && *pointer != (uintptr_t)host) {
    bool known = find_allocation((uintptr_t)host, &range);
    uint64_t before = known ? (uintptr_t)host - range.start : 0;
    if (known && *pointer > before) add_allocation(*pointer - before, range.bytes, true);
    else add_foreign_allocation(*pointer);
  }
  return result;
}

driver_result cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  driver_result result = REAL(cuMemMap)(pointer, bytes, offset, handle, flags);
  if (result == DRIVER_SUCCESS) {
    struct object object = object_of(handle, false);
    add_mapping(pointer, bytes, object.number, offset, object.shared);
  }
  return result;
}

driver_result cuMemUnmap(uint64_t pointer, size_t bytes) {
  forget_range(pointer, bytes);
  return REAL(cuMemUnmap)(pointer, bytes);
}

/* Another handle of the memory at an address: its object is that of the mapping, which is not known by address. */
driver_result cuMemRetainAllocationHandle(uint64_t *handle, void *address) {
  driver_result result = REAL(cuMemRetainAllocationHandle)(handle, address);
  if (given(result, handle)) {
    pthread_mutex_lock(&lock);
    bool known = map_get(&objects, *handle) != NULL;
    pthread_mutex_unlock(&lock);
    if (!known) {
      object_of(*handle, true);
      share_allocation((uintptr_t)address);
    }
  }
  return result;
}

driver_result cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type, uint64_t flags) {
  share_object(object_of(handle, true).number);
  return REAL(cuMemExportToShareableHandle)(shareable, handle, type, flags);
}

driver_result cuMemImportFromShareableHandle(uint64_t *handle, void *shareable, int type) {
  driver_result result = REAL(cuMemImportFromShareableHandle)(handle, shareable, type);
  if (given(result, handle)) share_object(object_of(*handle, true).number);
  return result;
}

driver_result cuMulticastBindMem(uint64_t multicast, size_t at, uint64_t handle, size_t offset, size_t bytes,
                                 uint64_t flags) {
  share_object(object_of(handle, true).number);
  object_of(multicast, true);
  return REAL(cuMulticastBindMem)(multicast, at, handle, offset, bytes, flags);
}

driver_result cuMulticastBindAddr(uint64_t multicast, size_t at, uint64_t pointer, size_t bytes, uint64_t flags) {
  share_allocation(pointer);
  object_of(multicast, true);
  return REAL(cuMulticastBindAddr)(multicast, at, pointer, bytes, flags);
}

driver_result cuIpcGetMemHandle(void *handle, uint64_t pointer) {
  share_allocation(pointer);
  return REAL(cuIpcGetMemHandle)(handle, pointer);
}

/* Memory of another process. */
static void add_foreign(driver_result result, const uint64_t *pointer) {
  uint64_t start = 0;
  size_t bytes = 0;
  if (!given(result, pointer)) return;
  if (REAL(cuMemGetAddressRange_v2)(&start, &bytes, *pointer) == DRIVER_SUCCESS && start && bytes) {
    add_allocation(start, bytes, true);
  } else {
    add_foreign_allocation(*pointer);
  }
}

driver_result cuIpcOpenMemHandle(uint64_t *pointer, struct driver_ipc_handle handle, unsigned flags) {
  driver_result result = REAL(cuIpcOpenMemHandle)(pointer, handle, flags);
  add_foreign(result, pointer);
  return result;
}

driver_result cuIpcOpenMemHandle_v2(uint64_t *pointer, struct driver_ipc_handle handle, unsigned flags) {
  driver_result result = REAL(cuIpcOpenMemHandle_v2)(pointer, handle, flags);
  add_foreign(result, pointer);
  return result;
}

driver_result cuIpcCloseMemHandle(uint64_t pointer) {
  forget_allocation(pointer);
  return REAL(cuIpcCloseMemHandle)(pointer);
}

driver_result cuMemPoolExportPointer(void *data, uint64_t pointer) {
  share_allocation(pointer);
  return REAL(cuMemPoolExportPointer)(data, pointer);
}

driver_result cuMemPoolImportPointer(uint64_t *pointer, void *pool, void *data) {
  driver_result result = REAL(cuMemPoolImportPointer)(pointer, pool, data);
  add_foreign(result, pointer);
  return result;
}

driver_result cuExternalMemoryGetMappedBuffer(uint64_t *pointer, void *memory,
                                              const struct driver_external_buffer *buffer) {
  driver_result result = REAL(cuExternalMemoryGetMappedBuffer)(pointer, memory, buffer);
  if (given(result, pointer) && buffer) add_allocation(*pointer, buffer->bytes, true);
  return result;
}

driver_result cuGraphicsResourceGetMappedPointer_v2(uint64_t *pointer, size_t *bytes, void *resource) {
  driver_result result = REAL(cuGraphicsResourceGetMappedPointer_v2)(pointer, bytes, resource);
  if (given(result, pointer) && bytes) add_allocation(*pointer, *bytes, true);
  return result;
}
