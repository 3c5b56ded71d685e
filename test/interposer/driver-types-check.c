/* Fails to compile where the types of the interposer are not those of cuda.h. */
#include <cuda.h>

#include "driver-types.h"

#define SAME(a, b) _Static_assert((unsigned long)(a) == (unsigned long)(b), #a " is " #b)
#define SAME_FIELD(ours, field, theirs, name)                                       \
  SAME(offsetof(struct ours, field), offsetof(theirs, name));                       \
  SAME(sizeof(((struct ours *)0)->field[0]), sizeof(((theirs *)0)->name))
#define SAME_PLACE(ours, field, theirs, name) SAME(offsetof(struct ours, field), offsetof(theirs, name))

SAME(sizeof(CUdeviceptr), sizeof(uint64_t));
SAME(sizeof(CUmemGenericAllocationHandle), sizeof(uint64_t));
SAME(sizeof(struct driver_launch_attribute), sizeof(CUlaunchAttribute));
SAME_PLACE(driver_launch_attribute, value, CUlaunchAttribute, value);
SAME(sizeof(struct driver_launch_config), sizeof(CUlaunchConfig));
SAME_FIELD(driver_launch_config, grid, CUlaunchConfig, gridDimX);
SAME_FIELD(driver_launch_config, block, CUlaunchConfig, blockDimX);
SAME_PLACE(driver_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(driver_launch_config, stream, CUlaunchConfig, hStream);
SAME_PLACE(driver_launch_config, attributes, CUlaunchConfig, attrs);
SAME_PLACE(driver_launch_config, attribute_count, CUlaunchConfig, numAttrs);
SAME(sizeof(struct driver_kernel_node), sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
SAME(offsetof(struct driver_kernel_node, kernel), sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
SAME_FIELD(driver_kernel_node, grid, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_FIELD(driver_kernel_node, block, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
SAME_PLACE(driver_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_PLACE(driver_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_PLACE(driver_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME_PLACE(driver_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_PLACE(driver_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
SAME_PLACE(driver_node, of, CUgraphNodeParams, kernel);
SAME(sizeof(struct driver_node), sizeof(CUgraphNodeParams));
SAME_PLACE(driver_instantiate, flags, CUDA_GRAPH_INSTANTIATE_PARAMS, flags);
SAME(sizeof(struct driver_instantiate), sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
SAME(sizeof(struct driver_ipc_handle), sizeof(CUipcMemHandle));
SAME(sizeof(struct driver_external_buffer), sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
SAME_PLACE(driver_external_buffer, bytes, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size);

SAME(DRIVER_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(DRIVER_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(DRIVER_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_IGNORE);
SAME(DRIVER_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
SAME(DRIVER_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(DRIVER_ATTRIBUTE_SYNCHRONIZATION_POLICY, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
SAME(DRIVER_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(DRIVER_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME(DRIVER_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME(DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
SAME(DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
SAME(DRIVER_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(DRIVER_ATTRIBUTE_DEVICE_UPDATABLE, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
SAME(DRIVER_PARAM_END, CU_LAUNCH_PARAM_END_AS_INT);
SAME(DRIVER_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
SAME(DRIVER_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
SAME(DRIVER_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(DRIVER_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
SAME(DRIVER_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME(DRIVER_GRAPH_DEVICE_LAUNCH, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
SAME(DRIVER_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(DRIVER_PER_THREAD, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
SAME(DRIVER_INPUT_PTX, CU_JIT_INPUT_PTX);
SAME(DRIVER_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DRIVER_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
