/* Launches of kernels on their way to the driver. */
#include "judge.h"
#include "resolve.h"

/* What an attribute of a launch makes of it. */
static enum selvage_reason reason_of(const struct driver_launch_config *config) {
  if (config->attribute_count > 0 && !config->attributes) return SELVAGE_REASON_LAUNCH_ATTRIBUTE;
  for (unsigned i = 0; i < config->attribute_count; i++) {
    switch (config->attributes[i].id) {
      case DRIVER_ATTRIBUTE_IGNORE:
      case DRIVER_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case DRIVER_ATTRIBUTE_COOPERATIVE:
      case DRIVER_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case DRIVER_ATTRIBUTE_CLUSTER_DIMENSION:
      case DRIVER_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case DRIVER_ATTRIBUTE_PRIORITY:
      case DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case DRIVER_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case DRIVER_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        break;
      default:
        return SELVAGE_REASON_LAUNCH_ATTRIBUTE;
    }
  }
  return SELVAGE_REASON_NONE;
}

static void judge_now(struct launch_request request) {
  if (is_captured(request.stream, request.per_thread)) request.reason = SELVAGE_REASON_CAPTURED;
  judge_launch(&request);
}

#define REQUEST(thread)                      \
  ((struct launch_request){                  \
      .function = f,                         \
      .grid = {gx, gy, gz},                  \
      .block = {bx, by, bz},                 \
      .shared_bytes = shared,                \
      .stream = stream,                      \
      .per_thread = thread,                  \
      .parameters = parameters,              \
      .extra = extra,                        \
  })

driver_result cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                             unsigned shared, void *stream, void **parameters, void **extra) {
  judge_now(REQUEST(false));
  return REAL(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

driver_result cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                  unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
  judge_now(REQUEST(true));
  return REAL(cuLaunchKernel_ptsz)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

driver_result cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared, void *stream, void **parameters) {
  void **extra = NULL;
  judge_now(REQUEST(false));
  return REAL(cuLaunchCooperativeKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
}

driver_result cuLaunchCooperativeKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                             unsigned bz, unsigned shared, void *stream, void **parameters) {
  void **extra = NULL;
  judge_now(REQUEST(true));
  return REAL(cuLaunchCooperativeKernel_ptsz)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
}

static void judge_config(const struct driver_launch_config *config, void *f, void **parameters, void **extra,
                         bool per_thread) {
  if (!config) return;
  judge_now((struct launch_request){
      .function = f,
      .grid = {config->grid[0], config->grid[1], config->grid[2]},
      .block = {config->block[0], config->block[1], config->block[2]},
      .shared_bytes = config->shared_bytes,
      .stream = config->stream,
      .per_thread = per_thread,
      .parameters = parameters,
      .extra = extra,
      .reason = reason_of(config),
  });
}

driver_result cuLaunchKernelEx(const struct driver_launch_config *config, void *f, void **parameters, void **extra) {
  judge_config(config, f, parameters, extra, false);
  return REAL(cuLaunchKernelEx)(config, f, parameters, extra);
}

driver_result cuLaunchKernelEx_ptsz(const struct driver_launch_config *config, void *f, void **parameters,
                                    void **extra) {
  judge_config(config, f, parameters, extra, true);
  return REAL(cuLaunchKernelEx_ptsz)(config, f, parameters, extra);
}
