/** The validators of kernels, from the results of a check. */
import { codeHash } from '../../interposer/code/code-hash.ts';
import { never } from '../../idempotency/model/quantity.ts';
import { validatorSource, type ValidatedKernel } from '../../idempotency/validator/c-source.ts';
import { isKnownToHold, type InstanceArguments } from '../../idempotency/validator/instance-condition.ts';
import { parameterPlaces } from '../../idempotency/validator/parameter-layout.ts';
import type { CheckedKernel } from '../build/phase-data.ts';
import { readLaunch, type TracedKernel } from './launch-trace.ts';
import type { SequencedLaunch } from './sequence.ts';

/** A kernel with its names in traces. */
interface ValidatorKernel extends TracedKernel {
  readonly checked: CheckedKernel;
}

/** Verdict on a line of a trace. */
export interface LaunchVerdict {
  /** Line number in the trace, from 1. */
  readonly line: number;
  readonly kernel?: string;
  readonly verdict: 'idempotent' | 'non-idempotent' | 'undecided';
  readonly reason?: string;
}

/**
 * Kernels by the names that traces use. A launch does not determine the architecture: of several builds, the first is
 * used.
 */
export function tracedKernels(kernels: readonly CheckedKernel[]): readonly ValidatorKernel[] {
  const byName = new Map<string, ValidatorKernel>();
  for (const checked of kernels) {
    const { entry } = checked;
    const runs = entry.produced ?? entry.kernel;
    const names = [...new Set([runs.symbol, entry.kernel.symbol, entry.name.full, entry.name.qualified])];
    const key = JSON.stringify([entry.unit.path, entry.name.full]);
    if (!byName.has(key)) byName.set(key, { names, parameters: runs.parameters, sources: entry.parameters, checked });
  }
  return [...byName.values()];
}

/** A line of a trace, classified separately. */
interface ClassifiedLine {
  readonly verdict: LaunchVerdict;
  /** Whether the line is not a launch. */
  readonly isMalformed: boolean;
  /** Launch of a line that is part of a sequence. */
  readonly sequenced?: { readonly sequence: string; readonly launch: SequencedLaunch };
}

/**
 * Classifies a line of a trace of launches.
 * @param line from 1
 */
export function classifyLaunch(text: string, line: number, kernels: readonly ValidatorKernel[]): ClassifiedLine {
  const read = readLaunch(text, kernels);
  const { sequence, stream = '0' } = read;
  const of = (launch: SequencedLaunch): Pick<ClassifiedLine, 'sequenced'> =>
    sequence === undefined ? {} : { sequenced: { sequence, launch } };
  const name = read.kernel?.checked.report.name;
  const named = name === undefined ? {} : { kernel: name };
  if ('problem' in read)
    return {
      verdict: { line, ...named, verdict: 'undecided', reason: read.problem },
      isMalformed: read.isMalformed,
      ...of({ line, stream }),
    };
  const said = verdictOf(read.kernel.checked, read.launch);
  const { idempotency } = read.kernel.checked;
  const run = said.verdict === 'idempotent' && idempotency ? { run: { kernel: idempotency, launch: read.launch } } : {};
  return { verdict: { line, ...named, ...said }, isMalformed: false, ...of({ line, stream, ...run }) };
}

function verdictOf({ idempotency, report }: CheckedKernel, launch: InstanceArguments): Pick<LaunchVerdict, 'verdict' | 'reason'> {
  if (!idempotency) return { verdict: 'undecided', reason: 'the kernel could not be classified' };
  const { class: kind, condition } = idempotency;
  if (kind === 'idempotent' || kind === 'conditional') {
    if (isKnownToHold(condition, launch)) return { verdict: 'idempotent' };
    const { condition: clause } = report.idempotency ?? {};
    const known = clause === undefined ? 'the proof does not cover it' : `the kernel is idempotent ${clause}`;
    return { verdict: 'undecided', reason: `the launch is not known to satisfy the condition: ${known}` };
  }
  const reason = report.idempotency?.reasons[0] ?? 'nothing is known of the kernel';
  return { verdict: kind, reason };
}

/** The C text of the validators of kernels, including those that no launch satisfies, which always return false. */
export function validatorsOf(kernels: readonly CheckedKernel[]): string {
  return validatorSource(
    kernels.map(({ entry, idempotency }): ValidatedKernel => {
      const runs = entry.produced ?? entry.kernel;
      const { ptx } = (entry.produced && entry.production ? entry.production : entry.verification).source;
      const isSure = idempotency?.class === 'idempotent' || idempotency?.class === 'conditional';
      const parameters = parameterPlaces(runs.parameters);
      const { pointers, writtenMemory } = idempotency ?? {};
      return {
        kernel: runs.symbol,
        codeHash: codeHash(ptx),
        parameters,
        condition: isSure ? idempotency.condition : never,
        ...(pointers && { pointers: pointers.map(({ index, offset }) => parameters[index]!.offset + offset) }),
        ...(writtenMemory && { written: writtenMemory }),
      };
    }),
  );
}
