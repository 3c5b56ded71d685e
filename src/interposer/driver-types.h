/* The types of the CUDA driver API that the interposer reads, so that it builds without a CUDA toolkit. */
#ifndef SELVAGE_DRIVER_TYPES_H
#define SELVAGE_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* CUresult, and the results that the interposer tells apart. */
typedef int driver_result;
enum { DRIVER_SUCCESS = 0, DRIVER_NOT_FOUND = 500 };

/* CUlaunchAttribute */
struct driver_launch_attribute {
  uint32_t id;
  char pad[4];
  union {
    char pad[64];
    uint64_t align;
  } value;
};

/* CUlaunchConfig */
struct driver_launch_config {
  unsigned grid[3], block[3], shared_bytes;
  void *stream;
  struct driver_launch_attribute *attributes;
  unsigned attribute_count;
};

/* CUlaunchAttributeID: the attributes that neither let a launch overlap others nor change what it does. */
enum {
  DRIVER_ATTRIBUTE_IGNORE = 0,
  DRIVER_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
  DRIVER_ATTRIBUTE_COOPERATIVE = 2,
  DRIVER_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
  DRIVER_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  DRIVER_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
  DRIVER_ATTRIBUTE_PRIORITY = 8,
  DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
  DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
  DRIVER_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14
};

/* CU_LAUNCH_PARAM_END, CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE */
enum { DRIVER_PARAM_END = 0, DRIVER_PARAM_BUFFER_POINTER = 1, DRIVER_PARAM_BUFFER_SIZE = 2 };

/* CUDA_KERNEL_NODE_PARAMS_v1, and the two fields that _v2 adds */
struct driver_kernel_node {
  void *function;
  unsigned grid[3], block[3], shared_bytes;
  void **parameters;
  void **extra;
  void *kernel, *context;
};

/* CUgraphNodeParams: what kind of node it is of, and its parameters */
struct driver_node {
  int type, reserved[3];
  union {
    struct driver_kernel_node kernel;
    uint64_t size[30];
  } of;
};

/* CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE */
enum { DRIVER_ATTRIBUTE_DEVICE_UPDATABLE = 13 };

/* CUDA_ERROR_INVALID_VALUE */
enum { DRIVER_INVALID_VALUE = 1 };

/* CUgraphNodeType */
enum {
  DRIVER_NODE_KERNEL = 0,
  DRIVER_NODE_GRAPH = 4,
  DRIVER_NODE_CONDITIONAL = 13
};

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct driver_instantiate {
  uint64_t flags;
  void *stream, *error_node;
  int result;
};

/* CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH */
enum { DRIVER_GRAPH_DEVICE_LAUNCH = 4 };

/* CUipcMemHandle, passed by value */
struct driver_ipc_handle {
  char reserved[64];
};

/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
struct driver_external_buffer {
  uint64_t offset, bytes;
  unsigned flags, reserved[16];
};

/* CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CU_STREAM_NON_BLOCKING, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
enum { DRIVER_STREAM_LEGACY = 1, DRIVER_STREAM_PER_THREAD = 2, DRIVER_STREAM_NON_BLOCKING = 1, DRIVER_PER_THREAD = 2 };

/* CUjitInputType */
enum { DRIVER_INPUT_PTX = 1 };

/* CUdevice_attribute */
enum { DRIVER_CAPABILITY_MAJOR = 75, DRIVER_CAPABILITY_MINOR = 76 };

#endif
