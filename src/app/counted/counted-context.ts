/** Input of runs that count costs, and the arguments of these runs in the form of reports. */
import { kernelRequest } from '../build/kernel-request.ts';
import type { KernelContext } from '../../check/context/facts.ts';
import { kernelContext } from '../../check/context/kernel-facts.ts';
import type { LaunchInstance } from '../../check/representative/representative-launches.ts';
import type { CheckPolicy } from '../../check/request/check-request.ts';
import { type ParameterField, fieldName } from '../../launch/parameter-field.ts';
import type { Launch } from '../../launch/launch.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import { checkLimits } from '../workers/check-pool.ts';

/** Everything that a counted run needs to know about the executed build under a launch. */
export function countedContext(entry: LaunchedKernel, launch: Launch, policy: CheckPolicy): KernelContext {
  return kernelContext({
    ...kernelRequest(entry, policy),
    kernel: entry.produced ?? entry.kernel,
    launch,
    assumptions: [...entry.assumptions, ...(launch.ties ?? [])],
    solver: () => Promise.reject(new Error('nothing is to be proved')),
    budget: { ...checkLimits.counted, expired: () => false },
  });
}

/** The integers of a launch instance by the names of their parameters. */
export function countedScalars({ fields, request, kernel }: KernelContext, { scalar }: LaunchInstance): Record<string, number> {
  const isWhole = ({ index, isPointer }: ParameterField): boolean => !isPointer && !/^f/.test(kernel.parameters[index]?.type ?? '');
  return Object.fromEntries(
    fields
      .filter(isWhole)
      .map((field) => [fieldName(request.parameters, field, kernel), Number(BigInt.asIntN(8 * field.bytes, scalar(field)))]),
  );
}
