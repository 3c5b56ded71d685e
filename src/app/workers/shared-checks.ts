/** Checks instances of a template only once if a proof cannot distinguish them. */
import type { Launch } from '../../launch/launch.ts';
import type { CheckTask } from './check-executor.ts';
import type { CheckOutcome, KernelChecks } from './check-pool.ts';
import { proofForm } from './proof-form.ts';

/**
 * Shares the check of a template instance with later instances that have the same proof form and the same request, if
 * the check proves everything. Otherwise, and if the proof depends on equal stored values, each instance is checked
 * separately, with its own witnesses and reasons.
 */
export function sharingChecks(checks: KernelChecks): KernelChecks {
  const begun = new Map<string, Promise<readonly CheckOutcome[]>>();
  return {
    ...checks,
    async check(task) {
      const key = keyOf(task);
      const first = key === undefined ? undefined : begun.get(key);
      if (first) {
        const outcomes = await first;
        if (outcomes.every(isPlainProof)) return outcomes;
        return checks.check(task);
      }
      const own = checks.check(task);
      if (key !== undefined) begun.set(key, own);
      return own;
    },
  };
}

/** Inputs of the check of an instance; undefined if it is checked separately. */
function keyOf({ request, launches, switches, timeout }: CheckTask): string | undefined {
  const { kernel, name, parameters, assumptions, checks, policy, proofOnly, certificates } = request;
  if (!name.includes('<') || switches || timeout !== undefined || proofOnly || certificates) return undefined;
  const form = proofForm(kernel);
  if (form === null) return undefined;
  // Integers among the template arguments suggest the shape of a block.
  const template = [name.slice(0, name.indexOf('<')), ...(name.match(/\d+/g) ?? [])];
  const stated = assumptions.map(({ text }) => text);
  return `${JSON.stringify([template, parameters, stated, checks, policy, launches.map(launchText)])}\n${form}`;
}

function launchText({ location, scalars, ...launch }: Launch): unknown {
  void location;
  return [JSON.stringify(launch, (_, value: unknown) => plain(value)), [...scalars].map(([index, value]) => [index, String(value)])];
}

/** Replaces values of a launch that JSON cannot represent. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return value;
}

/** Whether everything is proved without assumptions about stored values. */
function isPlainProof(outcome: CheckOutcome): boolean {
  if ('defect' in outcome) return false;
  const { race, divergence, contradiction, open } = outcome.result;
  const isProof = ({ verdict, findings, assumptions = [] }: typeof race | typeof divergence): boolean =>
    verdict === 'skipped' ||
    (verdict === 'proved' &&
      findings.length === 0 &&
      assumptions.every(({ kind }) => kind !== 'equal-value-writes' && kind !== 'contents'));
  const { beside, ...lists } = open;
  const nothingIsOpen = beside === null && Object.values(lists).every((list: readonly unknown[]) => list.length === 0);
  return isProof(race) && isProof(divergence) && !contradiction && nothingIsOpen;
}
