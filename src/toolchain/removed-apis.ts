/** APIs that newer toolkits have removed, with their replacements. */
const removed: Readonly<Record<string, string>> = {
  texture: 'Texture references are gone from this toolkit: create a texture object (cudaTextureObject_t) and pass it to the kernel.',
  surface: 'Surface references are gone from this toolkit: create a surface object (cudaSurfaceObject_t) and pass it to the kernel.',
  textureReference: 'Texture references are gone from this toolkit: use texture objects (cudaTextureObject_t).',
  cudaBindTexture: 'cudaBindTexture is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindTexture2D: 'cudaBindTexture2D is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindTextureToArray: 'cudaBindTextureToArray is gone from this toolkit: use cudaCreateTextureObject.',
  cudaBindSurfaceToArray: 'cudaBindSurfaceToArray is gone from this toolkit: use cudaCreateSurfaceObject.',
  cudaUnbindTexture: 'cudaUnbindTexture is gone from this toolkit: use cudaDestroyTextureObject.',
  cudaGetTextureReference: 'cudaGetTextureReference is gone from this toolkit: use texture objects.',
  cudaThreadSynchronize: 'cudaThreadSynchronize is gone from this toolkit: use cudaDeviceSynchronize.',
  cudaThreadExit: 'cudaThreadExit is gone from this toolkit: use cudaDeviceReset.',
  cudaThreadGetLimit: 'cudaThreadGetLimit is gone from this toolkit: use cudaDeviceGetLimit.',
  cudaThreadSetLimit: 'cudaThreadSetLimit is gone from this toolkit: use cudaDeviceSetLimit.',
  cudaThreadGetCacheConfig: 'cudaThreadGetCacheConfig is gone from this toolkit: use cudaDeviceGetCacheConfig.',
  cudaThreadSetCacheConfig: 'cudaThreadSetCacheConfig is gone from this toolkit: use cudaDeviceSetCacheConfig.',
  cudaMemcpyToArray: 'cudaMemcpyToArray is gone from this toolkit: use cudaMemcpy2DToArray.',
  cudaMemcpyFromArray: 'cudaMemcpyFromArray is gone from this toolkit: use cudaMemcpy2DFromArray.',
  cudaLaunchCooperativeKernelMultiDevice: 'cudaLaunchCooperativeKernelMultiDevice is gone from this toolkit: launch on each device and synchronise through the host.',
  this_multi_grid: 'Multi-device cooperative groups are gone from this toolkit: synchronise the devices through the host.',
  cudaConfigureCall: 'cudaConfigureCall is gone from this toolkit: use cudaLaunchKernel.',
  cudaSetupArgument: 'cudaSetupArgument is gone from this toolkit: use cudaLaunchKernel.',
  __shfl: '__shfl is gone from sm_70 on: use __shfl_sync with a mask of the lanes that take part.',
  __shfl_up: '__shfl_up is gone from sm_70 on: use __shfl_up_sync with a mask of the lanes that take part.',
  __shfl_down: '__shfl_down is gone from sm_70 on: use __shfl_down_sync with a mask of the lanes that take part.',
  __shfl_xor: '__shfl_xor is gone from sm_70 on: use __shfl_xor_sync with a mask of the lanes that take part.',
  __any: '__any is gone from sm_70 on: use __any_sync with a mask of the lanes that take part.',
  __all: '__all is gone from sm_70 on: use __all_sync with a mask of the lanes that take part.',
  __ballot: '__ballot is gone from sm_70 on: use __ballot_sync with a mask of the lanes that take part.',
}; // oxfmt-ignore

/**
 * The hint for an error that names a removed API.
 * @param message of the compiler, without location and severity
 */
export function removedApi(message: string): string | undefined {
  const name = /^identifier "(\w+)" is undefined|^(\w+) is not a template|"(\w+)" (?:was|has) not/.exec(message);
  const found = name?.[1] ?? name?.[2] ?? name?.[3];
  return found !== undefined && Object.hasOwn(removed, found) ? removed[found] : undefined;
}
