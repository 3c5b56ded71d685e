import type { CheckRequest } from '../../check/request/check-request.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { LaunchedKernel } from './phase-data.ts';

/** A check of a kernel for races and divergence, without a launch. */
export function kernelRequest(
  { kernel, name, identity, parameters, assumptions }: LaunchedKernel,
  policy: CheckRequest['policy'],
): Pick<CheckRequest, 'kernel' | 'name' | 'identity' | 'parameters' | 'objectName' | 'assumptions' | 'checks' | 'policy'> {
  const checks = { race: true, divergence: true };
  return { kernel, name: name.qualified, identity, parameters, objectName, assumptions, checks, policy };
}
