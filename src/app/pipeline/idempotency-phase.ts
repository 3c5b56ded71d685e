/** Adds to the reports of checked kernels which of their launches are idempotent. */
import type { Dim3 } from '../../base/dim3.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { IdempotencyReport, LaunchIdempotencyReport } from '../../report-model/idempotency-report.ts';
import type { DivergenceReport, RaceReport } from '../../report-model/finding.ts';
import type { KernelReport, LaunchReport } from '../../report-model/report.ts';
import type { Classification, ClassifyRequest } from '../../idempotency/classify.ts';
import { anyOfWidest } from '../../idempotency/build-condition.ts';
import { isAlwaysUsuallyMet } from '../../idempotency/usual-launch.ts';
import type { IdempotencyReason } from '../../idempotency/model/kernel-idempotency.ts';
import type { NonIdempotencyWitness } from '../../idempotency/reexecution/confirm.ts';
import type { Launch } from '../../launch/launch.ts';
import { policyOf } from '../../settings/configuration.ts';
import { fieldName } from '../../launch/parameter-field.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { loadCompiled } from '../../system/code-cache.ts';
import { type Deadline, deadlineIn } from '../../system/deadline.ts';
import type { Witness } from '../../verdict/finding.ts';
import { Interruption, withDefaultSignals } from '../../system/interruption.ts';
import { inTime } from '../../system/script-timeout.ts';
import { launchConditionText } from '../../messages/launch-condition-text.ts';
import { elsewhereText, idempotencyReasonText, overlapsText, splitText } from '../../messages/idempotency.ts';
import { defectOf } from '../build/defect.ts';
import type { Checked, CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';
import type { Progress } from '../project/progress.ts';
import { checkLimits } from '../workers/check-pool.ts';

/**
 * Adds a fully symbolic launch, as the last one, if only idempotency is requested. A proof under it also applies to
 * launches of other programs.
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

/** Whether a launch is fully symbolic: it constrains nothing beyond what the kernel accepts. */
function isAny({ source, scalars, aliases, ties = [], sharedBytes }: Launch): boolean {
  return source === 'symbolic' && scalars.size + aliases.length + ties.length === 0 && sharedBytes === null;
}

/** `whole`: without limits. `brief`: inexpensive parts in addition to other checks. */
type Effort = 'whole' | 'brief';

/**
 * Classifies kernels, if requested. An internal error in one does not affect the others.
 * @param checked with races and divergence, which are removed from the reports if they were not requested
 * @param effort `brief`: in addition to verdicts, at a small part of their cost; nothing is executed
 */
export async function classifyChecked(checked: Checked, settings: Settings, progress: Progress, effort: Effort): Promise<Checked> {
  const { checks } = settings.options;
  if (!checks.includes('idempotency')) return checked;
  const { classify } = await loadCompiled(() => import('../../idempotency/classify.ts'));
  const { judgedLaunches } = await loadCompiled(() => import('./launch-classification.ts'));
  const diagnostics: Diagnostic[] = [...checked.diagnostics];
  const kernels: CheckedKernel[] = [];
  const isWhole = effort === 'whole';
  for (const one of checked.kernels) {
    const { entry, report } = one;
    const deadline = deadlineIn(settings.options.timeout);
    const classifyInTime = (request: ClassifyRequest): Classification =>
      inTime(deadline, () => classify({ ...request, expired: deadline.expired })) ?? classify({ ...request, expired: () => true });
    try {
      const volatileRaces = policyOf(settings.configuration).volatile !== 'allow';
      const found = await withDefaultSignals(() => classified(entry, report, classifyInTime, effort, volatileRaces));
      const isRacy = report.launches.every(({ race: { verdict } }) => verdict === 'race') && found.class === 'undecided';
      const witness =
        isWhole && (isRacy || found.candidate.length > 0) ? await confirmed(entry, settings, found.candidate.length > 0, deadline) : null;
      const remedies =
        isWhole && found.rewrites.length > 0
          ? await withDefaultSignals(() =>
              remediesOf(entry, { ...requestOf(entry, report, effort, volatileRaces), expired: deadline.expired }, found, deadline),
            )
          : [];
      const shown = witness && { witness: witness.witness, reasons: orderReasons(entry, report, witness, found) };
      const idempotency: Classification = witness ? { ...found, class: 'non-idempotent' } : found;
      kernels.push({
        ...one,
        idempotency,
        report: {
          ...report,
          idempotency: reportOf(entry, report, idempotency, judgedLaunches(entry, idempotency), shown, remedies, deadline.wasCut()),
        },
      });
    } catch (error) {
      if (error instanceof Interruption) throw error;
      diagnostics.push(defectOf(entry, entry.launches[0]!, error, progress));
      kernels.push(one);
    }
  }
  const isAsked = checks.includes('race') || checks.includes('divergence');
  return { kernels: isAsked ? kernels : kernels.map(withoutVerdicts), diagnostics };
}

/** Maximum number of launches under which a kernel is classified: further launches rarely change the result. */
const maxLaunches = 8;

/** The most frequent block dimensions, for a bounded analysis. */
const usualShapes: readonly Dim3[] = [
  [256, 1, 1],
  [128, 1, 1],
  [16, 16, 1],
  [32, 8, 1],
];

/** Classifies the production build; the proof under each launch yields a condition. */
function classified(
  entry: LaunchedKernel,
  report: KernelReport,
  classify: (request: ClassifyRequest) => Classification,
  effort: Effort,
  volatileRaces: boolean,
): Classification {
  const request = requestOf(entry, report, effort, volatileRaces);
  const proofs = new Map(report.launches.map((launch, at) => [proofKey(launch), { launch, of: entry.launches[at]! }]));
  const found = [...proofs.values()].slice(-maxLaunches).map(({ launch: { race, divergence }, of }) => ({
    isOfAny: isAny(of),
    ...classify({ ...request, checked: { race: proofOf(race), divergence: proofOf(divergence), volatileRaces } }),
  }));
  return united(found);
}

/** Classification request with the proof under the last launch. */
function requestOf(entry: LaunchedKernel, report: KernelReport, effort: Effort, volatileRaces: boolean): ClassifyRequest {
  const { unit, produced, kernel, production, verification, parameters, assumptions } = entry;
  const [runs, { module }] = unit.kind === 'ptx' || !produced || !production ? [kernel, verification] : [produced, production];
  const last = report.launches.at(-1);
  const blocks = entry.launches.flatMap(({ block }) => (block ? [block] : []));
  return {
    kernel: runs,
    module,
    parameters,
    objectName,
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

/** The launches that any of the proofs shows to be idempotent: the union of their conditions. */
function united(found: readonly (Classification & { readonly isOfAny: boolean })[]): Classification {
  const good = found.filter(({ condition }) => condition.kind !== 'never');
  if (good.length === 0) return found[0]!;
  const isIdempotent = good.some((one) => one.isOfAny && one.class === 'idempotent') || found.every((one) => one.class === 'idempotent');
  const decided = good.filter((one) => one.class !== 'undecided');
  const [best = good[0]!] = decided;
  return {
    ...best,
    class: isIdempotent ? 'idempotent' : decided.length > 0 ? 'conditional' : 'undecided',
    condition: anyOfWidest(good.map(({ condition }) => condition)),
    overlaps: distinct(good.flatMap(({ overlaps }) => overlaps)),
    reasons: distinct((decided.length > 0 ? decided : good).flatMap(({ reasons }) => reasons)),
    assumptions: distinct(good.flatMap(({ assumptions }) => assumptions)),
    candidate: decided.length > 0 ? [] : best.candidate,
    rewritten: decided.length > 0 ? [] : best.rewritten,
    separations: decided.flatMap(({ separations }) => separations),
    asked: anyOfWidest(good.map((one) => one.asked)),
  };
}

function distinct<Item>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

/**
 * A launch of the production build whose re-execution gives another result, confirmed by a run. The interpreter is
 * loaded only for kernels that are likely to have one.
 * @param isExpected whether no launch with an effect is expected to be idempotent
 */
async function confirmed(
  entry: LaunchedKernel,
  settings: Settings,
  isExpected: boolean,
  deadline: Deadline,
): Promise<NonIdempotencyWitness | null> {
  const { kernel, produced, name, parameters, assumptions, launches } = entry;
  const { kernelContext } = await import('../../check/context/kernel-facts.ts');
  const { confirmNonIdempotent, confirmUnordered } = await import('../../idempotency/reexecution/confirm.ts');
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
    budget: { ...checkLimits.counted, expired: deadline.expired },
  };
  const [launch] = launches as readonly [Launch];
  const search = isExpected ? confirmNonIdempotent : confirmUnordered;
  return withDefaultSignals(() => inTime(deadline, () => search(kernelContext({ ...request, launch }))));
}

/** The condition of a conditional kernel, as a clause after "idempotent". */
function conditionOf(entry: LaunchedKernel, { overlaps, asked }: Pick<Classification, 'overlaps' | 'asked'>): string {
  const { parameters, kernel, produced } = entry;
  if (asked.kind === 'always') return overlapsText(overlaps);
  const nameOf = (field: { readonly index: number; readonly offset: number }): string => fieldName(parameters, field, produced ?? kernel);
  const blocks = usualBlocks.filter((block) => isAlwaysUsuallyMet(asked, produced ?? kernel, block));
  return overlapsText(overlaps, {
    ...launchConditionText(asked, nameOf),
    blocks: blocks.slice(0, maxBlocks).map((block) => block.filter((size, axis) => axis === 0 || size > 1).join(' x ')),
  });
}

/** Block dimensions for which a condition is evaluated. */
const usualBlocks: readonly Dim3[] = [
  ...[256, 128, 512, 1024, 64, 32].map((x): Dim3 => [x, 1, 1]),
  [16, 16, 1],
  [32, 8, 1],
  [8, 8, 1],
  [32, 32, 1],
  [8, 8, 8],
];
/** Maximum number of reported block dimensions. */
const maxBlocks = 3;

/** Locations of possible races or divergence; null if a check failed without a location. */
function placesOf({ launches }: KernelReport): readonly Location[] | null {
  const races = launches.flatMap(({ race }) => race.findings.map(({ first, second }) => [first.location, second.location]));
  const divergences = launches.flatMap(({ divergence }) => divergence.findings.map(({ barrier }) => [barrier]));
  const [places = []] = [...races, ...divergences];
  const known = places.filter((location) => location !== undefined);
  return known.length > 0 ? known : null;
}

function reportOf(
  entry: LaunchedKernel,
  verdicts: KernelReport,
  found: Classification,
  launches: readonly LaunchIdempotencyReport[],
  shown: { readonly witness: Witness; readonly reasons: readonly IdempotencyReason[] } | null,
  remedies: readonly string[],
  wasCut: boolean,
): IdempotencyReport {
  const { class: kind, overlaps, assumptions } = found;
  // Reasons that a run confirmed are listed first.
  const reasons = shown ? [...shown.reasons, ...found.candidate, ...found.reasons] : found.reasons;
  const details = distinct(
    reasons.map((reason) => ({
      kind: reason.kind,
      text: idempotencyReasonText(reason),
      locations: (reason.kind === 'not-race-free' && placesOf(verdicts)) || reason.locations,
    })),
  );
  return {
    kernel: kind === 'undecided' ? 'unknown' : kind,
    ...(kind === 'conditional' ? { condition: conditionOf(entry, found) } : {}),
    ...(kind === 'conditional' && overlaps.length > 0 ? { overlaps } : {}),
    reasons: distinct(details.map(({ text }) => text)),
    ...(details.length > 0 ? { details } : {}),
    ...(assumptions.length > 0 ? { assumptions } : {}),
    ...(remedies.length > 0 ? { remedy: remedies.join('. ') } : {}),
    ...(launches.length > 0 ? { launches } : {}),
    ...(shown ? { witness: shown.witness } : {}),
    ...(wasCut ? { nondeterministic: true } : {}),
  };
}

/** Changes that would make a kernel idempotent, as sentences without their full stops. */
async function remediesOf(entry: LaunchedKernel, request: ClassifyRequest, found: Classification, deadline: Deadline): Promise<string[]> {
  const { classifyElsewhere, classifySplit } = await loadCompiled(() => import('../../idempotency/remedies.ts'));
  const elsewhere = inTime(deadline, () => classifyElsewhere(request, found));
  const split = inTime(deadline, () => classifySplit(request, found));
  const told = (changed: Classification): string | null => (changed.class === 'conditional' ? conditionOf(entry, changed) : null);
  return [
    ...(elsewhere ? [elsewhereText(elsewhere.arrays, told(elsewhere.changed))] : []),
    ...(split
      ? [
          splitText(
            split.flatMap(({ barrier }) => barrier ?? []),
            split.map(told),
          ),
        ]
      : []),
  ];
}

/** Reasons for a launch whose results depend on the order of its threads, if no other reason is known. */
function orderReasons(
  { parameters, kernel }: LaunchedKernel,
  { launches }: KernelReport,
  { difference }: NonIdempotencyWitness,
  { candidate, reasons }: Classification,
): IdempotencyReason[] {
  if (difference.kind !== 'schedule' || candidate.length > 0) return [];
  const { name } = difference.memory;
  // Buffers of parameters are named by index and offset.
  const [, index, offset] = /^(\d+)\.(\d+)$/.exec(name) ?? [];
  const written = index === undefined ? objectName(name) : fieldName(parameters, { index: Number(index), offset: Number(offset) }, kernel);
  const race = launches.flatMap(({ race: { findings } }) => findings).find(({ confirmed: isShown }) => isShown);
  const locations = race ? [race.first.location, race.second.location].filter((location) => location !== undefined) : [];
  return [{ kind: 'order', locations: locations.length > 0 ? locations : (reasons[0]?.locations ?? []), written }];
}

/** The report without the verdicts that were not requested. */
function withoutVerdicts({ report, ...checked }: CheckedKernel): CheckedKernel {
  const race: RaceReport = { verdict: 'skipped', findings: [] };
  const divergence: DivergenceReport = { verdict: 'skipped', findings: [] };
  const known = report.launches.filter((_, at) => at === 0 || !isAny(checked.entry.launches[at]!));
  const launches = known.map((launch) => ({ ...launch, race, divergence }));
  return { ...checked, report: { ...report, race, divergence, launches } };
}
