/** Which launches of the checked kernels may be run again, for their reports. */
import type { Dim3 } from '../../base/dim3.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { IdempotencyReport, LaunchIdempotencyReport } from '../../document/idempotency-report.ts';
import type { DivergenceReport, RaceReport } from '../../document/finding.ts';
import type { KernelReport, LaunchReport } from '../../document/report.ts';
import type { Classification, classifyElsewhere, ClassifyRequest } from '../../idempotency/classify.ts';
import { allExtensions } from '../../idempotency/model/extensions.ts';
import type { NonIdempotencyWitness } from '../../idempotency/reexecution/confirm.ts';
import type { Launch } from '../../launch/launch.ts';
import { policyOf } from '../../settings/configuration.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { loadCompiled } from '../../system/code-cache.ts';
import { Interruption, withDefaultSignals } from '../../system/interruption.ts';
import { elsewhereText, idempotencyReasonText, overlapsText } from '../../wording/idempotency.ts';
import { defectOf } from '../build/defect.ts';
import type { Checked, CheckedKernel, LaunchedKernel } from '../build/kernel.ts';
import type { Progress } from '../project/progress.ts';
import { checkLimits } from '../workers/check-pool.ts';

/**
 * Kernels with one more launch, of which nothing is known, where nothing but idempotency is asked for: what is proved
 * under it holds for the launches of other programs too. It comes last.
 */
export function underAnyLaunch(kernels: LaunchedKernel[], { options: { checks } }: Settings): LaunchedKernel[] {
  if (!checks.includes('idempotency') || checks.includes('race') || checks.includes('divergence')) return kernels;
  return kernels.map((entry) => {
    const { requiredThreads = null, requiredCluster = null } = entry.kernel;
    const unstated: Launch = {
      source: 'symbolic',
      block: requiredThreads,
      grid: null,
      cluster: requiredCluster,
      sharedBytes: null,
      cooperative: false,
      scalars: new Map(),
      aliases: [],
    };
    return entry.launches.some(isAny) ? entry : { ...entry, launches: [...entry.launches, unstated] };
  });
}

/** Whether a launch is any that the kernel accepts. */
function isAny({ source, scalars, aliases, ties = [], sharedBytes }: Launch): boolean {
  return source === 'symbolic' && scalars.size + aliases.length + ties.length === 0 && sharedBytes === null;
}

/** `whole`: as far as Selvage gets. `brief`: what costs little beside other checks. */
type Effort = 'whole' | 'brief';

/**
 * Classifies kernels, where that is asked for. A defect in one leaves the others alone.
 * @param checked with races and divergence, which are taken from the reports where nobody asked for them
 * @param effort `brief`: beside verdicts that were asked for, at a small part of their cost; nothing is run
 */
export async function classifyChecked(
  checked: Checked,
  settings: Settings,
  progress: Progress,
  effort: Effort,
): Promise<Checked> {
  const { checks } = settings.options;
  if (!checks.includes('idempotency')) return checked;
  const { classify, classifyElsewhere } = await loadCompiled(() => import('../../idempotency/classify.ts'));
  const { judgedLaunches } = await loadCompiled(() => import('./judged-launches.ts'));
  const diagnostics: Diagnostic[] = [...checked.diagnostics];
  const kernels: CheckedKernel[] = [];
  const isWhole = effort === 'whole';
  for (const { entry, report } of checked.kernels) {
    try {
      const volatileRaces = policyOf(settings.configuration).volatile !== 'allow';
      const found = await withDefaultSignals(() => classified(entry, report, classify, effort, volatileRaces));
      const witness = isWhole && found.candidate.length > 0 ? await confirmed(entry, settings) : null;
      const elsewhere = isWhole && found.rewritten.length > 0 ? await withDefaultSignals(() => classifyElsewhere(requestOf(entry, report, effort, volatileRaces), found)) : null; // prettier-ignore
      const idempotency: Classification = witness ? { ...found, class: 'non-idempotent' } : found;
      kernels.push({
        entry,
        idempotency,
        report: {
          ...report,
          idempotency: reportOf(idempotency, judgedLaunches(entry, idempotency), witness, elsewhere),
        },
      });
    } catch (error) {
      if (error instanceof Interruption) throw error;
      diagnostics.push(defectOf(entry, entry.launches[0]!, error, progress));
      kernels.push({ entry, report });
    }
  }
  const isAsked = checks.includes('race') || checks.includes('divergence');
  return { kernels: isAsked ? kernels : kernels.map(withoutVerdicts), diagnostics };
}

/** Most launches that a kernel is classified under: the others give the same or nothing. */
const mostLaunches = 8;

/** Blocks that programs use most, for a brief look. */
const usualShapes: readonly Dim3[] = [
  [256, 1, 1],
  [128, 1, 1],
  [16, 16, 1],
  [32, 8, 1],
];

/** Of the production build; a proof under each launch makes another condition. */
function classified(
  entry: LaunchedKernel,
  report: KernelReport,
  classify: (request: ClassifyRequest) => Classification,
  effort: Effort,
  volatileRaces: boolean,
): Classification {
  const request = requestOf(entry, report, effort, volatileRaces);
  const proofs = new Map(report.launches.map((launch, at) => [proofKey(launch), { launch, of: entry.launches[at]! }]));
  const found = [...proofs.values()].slice(-mostLaunches).map(({ launch: { race, divergence }, of }) => ({
    isOfAny: isAny(of),
    ...classify({ ...request, checked: { race: proofOf(race), divergence: proofOf(divergence), volatileRaces } }),
  }));
  return united(found);
}

/** With the proof under the last launch. */
function requestOf(
  entry: LaunchedKernel,
  report: KernelReport,
  effort: Effort,
  volatileRaces: boolean,
): ClassifyRequest {
  const { unit, produced, kernel, production, verification, parameters, assumptions } = entry;
  const [runs, { module }] = unit.kind === 'ptx' || !produced || !production ? [kernel, verification] : [produced, production]; // prettier-ignore
  const last = report.launches.at(-1);
  const blocks = entry.launches.flatMap(({ block }) => (block ? [block] : []));
  return {
    kernel: runs,
    module,
    parameters,
    objectName,
    extensions: allExtensions,
    checked: last ? { race: proofOf(last.race), divergence: proofOf(last.divergence), volatileRaces } : null,
    stated: assumptions,
    ...(effort === 'brief' ? { brief: { shapes: distinct([...blocks, ...usualShapes]) } } : {}),
  };
}

function proofOf<Result extends RaceReport | DivergenceReport>({ verdict, assumptions = [] }: Result) {
  return { verdict, assumptions } as Pick<Result, 'verdict' | 'assumptions'>;
}

function proofKey({ race, divergence }: LaunchReport): string {
  return JSON.stringify([race, divergence].map(proofOf));
}

/** What holds under one proof or another. */
function united(found: readonly (Classification & { readonly isOfAny: boolean })[]): Classification {
  const good = found.filter(({ condition }) => condition.kind !== 'never');
  if (good.length === 0) return found[0]!;
  const isIdempotent = good.some((one) => one.isOfAny && one.class === 'idempotent') || found.every((one) => one.class === 'idempotent'); // prettier-ignore
  const decided = good.filter((one) => one.class !== 'undecided');
  const [best = good[0]!] = decided;
  return {
    ...best,
    class: isIdempotent ? 'idempotent' : decided.length > 0 ? 'conditional' : 'undecided',
    condition: good.length === 1 ? best.condition : { kind: 'any', conditions: good.map(({ condition }) => condition) },
    overlaps: distinct(good.flatMap(({ overlaps }) => overlaps)),
    reasons: distinct((decided.length > 0 ? decided : good).flatMap(({ reasons }) => reasons)),
    assumptions: distinct(good.flatMap(({ assumptions }) => assumptions)),
    candidate: decided.length > 0 ? [] : best.candidate,
    rewritten: decided.length > 0 ? [] : best.rewritten,
    asksMore: good.every((one) => one.asksMore),
  };
}

function distinct<Item>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

/** A launch of what runs whose re-execution differs. The machine is loaded for kernels alone that are likely to have one. */
async function confirmed(entry: LaunchedKernel, settings: Settings): Promise<NonIdempotencyWitness | null> {
  const { kernel, produced, name, parameters, assumptions, launches } = entry;
  const { kernelContext } = await import('../../check/context/kernel-facts.ts');
  const { confirmNonIdempotent } = await import('../../idempotency/reexecution/confirm.ts');
  const request = {
    kernel: produced ?? kernel,
    name: name.qualified,
    identity: entry.identity,
    parameters,
    objectName,
    assumptions,
    checks: { race: true, divergence: true },
    policy: policyOf(settings.configuration),
    solver: () => Promise.reject(new Error('nothing is to be proved')),
    budget: { ...checkLimits.counted, expired: () => false },
  };
  const [launch] = launches as readonly [Launch];
  return withDefaultSignals(() => confirmNonIdempotent(kernelContext({ ...request, launch })));
}

function reportOf(
  found: Classification,
  launches: readonly LaunchIdempotencyReport[],
  witness: NonIdempotencyWitness | null,
  elsewhere: ReturnType<typeof classifyElsewhere>,
): IdempotencyReport {
  const { class: kind, overlaps, assumptions } = found;
  // Of what is not idempotent, what a run showed comes first.
  const reasons = witness ? [...found.candidate, ...found.reasons] : found.reasons;
  const details = distinct(
    reasons.map((reason) => ({
      kind: reason.kind,
      text: idempotencyReasonText(reason),
      locations: reason.locations,
    })),
  );
  return {
    kernel: kind === 'undecided' ? 'unknown' : kind,
    ...(kind === 'conditional' ? { condition: overlapsText(overlaps, found.asksMore) } : {}),
    ...(kind === 'conditional' && overlaps.length > 0 ? { overlaps } : {}),
    reasons: distinct(details.map(({ text }) => text)),
    ...(details.length > 0 ? { details } : {}),
    ...(assumptions.length > 0 ? { assumptions } : {}),
    ...(elsewhere ? { remedy: elsewhereText(elsewhere.arrays, elsewhere.changed.overlaps) } : {}),
    ...(launches.length > 0 ? { launches } : {}),
    ...(witness ? { witness: witness.witness } : {}),
  };
}

/** Without the verdicts that nobody asked for. */
function withoutVerdicts({ report, ...checked }: CheckedKernel): CheckedKernel {
  const race: RaceReport = { verdict: 'skipped', findings: [] };
  const divergence: DivergenceReport = { verdict: 'skipped', findings: [] };
  const known = report.launches.filter((_, at) => at === 0 || !isAny(checked.entry.launches[at]!));
  const launches = known.map((launch) => ({ ...launch, race, divergence }));
  return { ...checked, report: { ...report, race, divergence, launches } };
}
