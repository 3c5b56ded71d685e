/** Checks instances of a template once where they are the same to a proof. */
import type { Launch } from '../../launch/launch.ts';
import type { CheckTask } from './check-executor.ts';
import type { CheckOutcome, KernelChecks } from './check-pool.ts';
import { proofForm } from './proof-form.ts';

/**
 * Lets instances of a template that have one proof form, and are asked the same, share the check of the first of them if it
 * proves all that is asked. Otherwise, and where equal values were what saved it, each is checked by itself: witnesses and
 * reasons are its own.
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

/** All that the check of an instance depends on; undefined where it is checked by itself. */
function keyOf({ request, launches, switches, timeout }: CheckTask): string | undefined {
  const { kernel, name, parameters, assumptions, checks, policy, proofOnly, certificates } = request;
  if (!name.includes('<') || switches || timeout !== undefined || proofOnly || certificates) return undefined;
  const form = proofForm(kernel);
  if (form === null) return undefined;
  // Numbers among the template arguments suggest the shape of a block.
  const template = [name.slice(0, name.indexOf('<')), ...(name.match(/\d+/g) ?? [])];
  const stated = assumptions.map(({ text }) => text);
  return `${JSON.stringify([template, parameters, stated, checks, policy, launches.map(launchText)])}\n${form}`;
}

function launchText({ location, scalars, ...launch }: Launch): unknown {
  void location;
  return [JSON.stringify(launch, (_, value: unknown) => plain(value)), [...scalars].map(([index, value]) => [index, String(value)])]; // oxfmt-ignore
}

/** What JSON cannot write of a launch. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return value;
}

/** Whether all that was asked is proved, without a word of values that are stored. */
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
