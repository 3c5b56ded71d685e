/** Checks instances of a template only once if verdicts cannot distinguish them. */
import type { Launch } from '../../launch/launch.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { Location } from '../../source/location.ts';
import type { Assumption } from '../../verdict/finding.ts';
import { declarationOf } from '../../check/context/scalars.ts';
import type { CheckResult } from '../../check/request/check-request.ts';
import type { CheckTask } from './check-executor.ts';
import { isWhole, type CheckOutcome, type KernelChecks } from './check-pool.ts';
import { fingerprintOf } from '../../verdict/fingerprint.ts';
import { verdictForm } from './verdict-form.ts';

/**
 * Shares the check of a template instance with later instances that have the same verdict form and the same request, if it
 * confirms no finding: then its launches, arguments and witnesses are in no report. Checks that depend on equal stored values
 * or ended early are not shared.
 */
export function sharingChecks(checks: KernelChecks): KernelChecks {
  const begun = new Map<string, Promise<CheckOutcome>>();
  return {
    ...checks,
    async check(task) {
      const { request, launches } = task;
      const form = formOf(task);
      if (form === null) return checks.check(task);
      const keys = launches.map((launch) => `${launchText(launch)}\n${form}`);
      const firsts = keys.map((key) => begun.get(key));
      const checkAt = async (indices: readonly number[]): Promise<readonly CheckOutcome[]> =>
        indices.length === 0 ? [] : checks.check({ ...task, launches: indices.map((index) => launches[index]!) });
      const own = keys.flatMap((_, index) => (firsts[index] ? [] : [index]));
      const ofOwn = checkAt(own);
      for (const [at, index] of own.entries())
        begun.set(
          keys[index]!,
          ofOwn.then((all) => all[at]!),
        );
      const outcomes = new Map<number, CheckOutcome>();
      for (const [at, outcome] of (await ofOwn).entries()) outcomes.set(own[at]!, outcome);
      for (const [index, first] of firsts.entries()) {
        const outcome = await first;
        if (outcome && isShared(outcome)) outcomes.set(index, ofInstance(outcome.result, request, launches[index]!));
      }
      const rest = keys.flatMap((_, index) => (outcomes.has(index) ? [] : [index]));
      for (const [at, outcome] of (await checkAt(rest)).entries()) outcomes.set(rest[at]!, outcome);
      return launches.map((_, index) => outcomes.get(index)!);
    },
  };
}

/** Inputs of the check of an instance, except for the launch; null if it is checked separately. */
function formOf({ request, launches, switches, timeout }: CheckTask): string | null {
  const { kernel, name, parameters, assumptions, checks, policy, proofOnly, certificates } = request;
  if (!name.includes('<') || switches || timeout !== undefined || proofOnly || certificates) return null;
  const isOfScalars = assumptions.every(({ expression }) => expression.kind === 'condition');
  const isFree = isOfScalars && launches.every(passesDifferentArrays);
  const form = verdictForm(kernel, isFree ? parameters : null);
  if (form === null) return null;
  // Integers among the template arguments suggest the shape of a block.
  const template = [name.slice(0, name.indexOf('<')), ...(name.match(/\d+/g) ?? [])];
  const stated = assumptions.map(({ text }) => text);
  const declared = parameters.map((parameter) => (isFree ? { ...parameter, type: typeText(parameter) } : parameter));
  return `${JSON.stringify([template, declared, stated, checks, policy])}\n${form}`;
}

/** The type of a parameter, without what a pointer points to: widths of accesses are in the instructions. */
function typeText(parameter: ParameterSource): string {
  const { type } = parameter;
  if (declarationOf(parameter, 0) !== 'pointer' || parameter.fields) return type;
  return ['pointer', ...(type.match(/\b(?:const|volatile)\b/g) ?? [])].join(' ');
}

/** Whether nothing is known about the arrays that a launch passes, and so that none is passed twice. */
function passesDifferentArrays({ aliases, samePointers = [], distances = [], contents }: Launch): boolean {
  return aliases.length === 0 && samePointers.length === 0 && distances.length === 0 && contents === undefined;
}

function launchText({ scalars, ...launch }: Launch): string {
  const withoutPlaces = JSON.stringify(launch, (name, value: unknown) => (name === 'location' ? undefined : plain(value)));
  return JSON.stringify([withoutPlaces, [...scalars].map(([index, value]) => [index, String(value)])]);
}

/** Replaces values of a launch that JSON cannot represent. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return value;
}

/** Whether a result holds for each instance with the same form, without assumptions about stored values. */
function isShared(outcome: CheckOutcome): outcome is { readonly result: CheckResult } {
  if (!isWhole(outcome)) return false;
  const { race, divergence, contradiction, brokenPreconditions, switchedOff } = outcome.result;
  const isOfForm = ({ findings, assumptions = [] }: typeof race | typeof divergence): boolean =>
    findings.every(({ confirmed, subject }) => !confirmed && subject !== undefined) &&
    assumptions.every(({ kind }) => kind !== 'equal-value-writes' && kind !== 'contents');
  const isOfLaunch = race.findings.some(({ sameValue, passedAt }) => sameValue === true || passedAt !== undefined);
  return isOfForm(race) && isOfForm(divergence) && !isOfLaunch && !contradiction && !brokenPreconditions && !switchedOff;
}

/** The result as that of another instance: with its fingerprints, and with the places that state its launch. */
function ofInstance(result: CheckResult, { identity, assumptions }: CheckTask['request'], { ties = [] }: Launch): CheckOutcome {
  const places = new Map([...assumptions, ...ties].map(({ text, location }) => [text, location]));
  const adapted = <Verdict extends CheckResult['race'] | CheckResult['divergence']>(verdict: Verdict): Verdict => ({
    ...verdict,
    ...(verdict.assumptions && { assumptions: verdict.assumptions.map((one) => placed(one, places)) }),
    findings: verdict.findings.map((finding) =>
      finding.subject === undefined ? finding : { ...finding, fingerprint: fingerprintOf(identity, finding.subject) },
    ),
  });
  const { race, divergence } = result;
  return { result: { ...result, race: adapted(race), divergence: adapted(divergence) } };
}

function placed(assumption: Assumption, places: ReadonlyMap<string, Location | undefined>): Assumption {
  const location = places.get(assumption.text);
  return location ? { ...assumption, location } : assumption;
}
