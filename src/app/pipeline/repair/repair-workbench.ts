/** Compiles and checks repairs: copies with markers, edited files, and their verification. */
import { grouped } from '../../../base/grouped.ts';
import { kernelRequest } from '../../build/kernel-request.ts';
import { policyOf } from '../../../settings/configuration.ts';
import { gridDependency } from '../../../analysis/barriers/grid-dependency.ts';
import { isFullBarrier } from '../../../analysis/barriers/barrier-interval.ts';
import { complete } from '../../../base/coroutine.ts';
import { compareText } from '../../../base/text.ts';
import type { Launch } from '../../../launch/launch.ts';
import { kernelContext } from '../../../check/context/kernel-facts.ts';
import type { CheckResult } from '../../../check/request/check-request.ts';
import type { Assumption } from '../../../verdict/finding.ts';
import type { CudaSource } from '../../../cuda/syntax/syntax.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import { isCandidate, lanesOfState, switchMarkers } from '../../../ir/form/switch-markers.ts';
import type { KernelContext } from '../../../check/context/facts.ts';
import { lanesAt } from '../../../check/advice/executing-threads.ts';
import { type BuildCost, worstCost } from '../../../repair/build-cost.ts';
import { differingInput, leaveTheSame } from '../../../repair/same-memory.ts';
import type { Note, EditRefusal } from '../../../repair/explanation.ts';
import type { Change, Extent, MarkedBuild, RepairRequest, Verification } from '../../../repair/request.ts';
import { type Subject, markersOf } from '../../../repair/repair-target.ts';
import { buildDifferences, buildsDiffer } from '../../build/builds-differ.ts';
import { normalForm } from '../../build/normal-form.ts';
import { type CheckTask, undecided } from '../../workers/check-executor.ts';
import { type KernelChecks, checkLimits } from '../../workers/check-pool.ts';
import type { CheckedKernel, KernelUnit, LaunchedKernel, ReadModule } from '../../build/phase-data.ts';
import { readBuild, stableName } from '../../build/lower-unit.ts';
import type { KernelReport } from '../../../report-model/report.ts';
import type { Settings } from '../../../settings/settings.ts';
import { includingUnits } from '../../project/include-graph.ts';
import type { Project, Tools } from '../../project/job.ts';
import { isUnit } from '../../project/source-tree.ts';
import type { UnitBuilder } from '../../project/unit-builder.ts';
import { type SourceFacts, departureAmong } from '../../project/source-facts.ts';
import { type NarrowPlace, narrowPlaces } from '../../../check/memory/width-check.ts';
import { isRace } from '../../../report-model/outcome.ts';
import { outsideToolkit } from '../../../source/location.ts';
import { compareSeverity } from '../../../source/severity.ts';
import type { Reason } from '../../../verdict/reason.ts';
import {
  type FormerLine,
  type OpenPairs,
  findingsByPlace,
  formerLines,
  isGone,
  leftOpen,
  neededFindings,
  openPairs,
  placeKeyOf,
  worsened,
} from './partial-repair.ts';

/** Inputs of a repair other than the kernels. */
export interface RepairRun {
  readonly project: Pick<Project, 'tree' | 'builder'>;
  readonly settings: Settings;
  readonly tools: Pick<Tools, 'progress' | 'signal'>;
  readonly sources: SourceFacts;
  readonly units: readonly KernelUnit[];
  /** Prepares further units of the project, to determine the effect of an edited header on their kernels. */
  readonly furtherUnits: (paths: readonly string[]) => Promise<readonly KernelUnit[]>;
  readonly checks: KernelChecks;
  /** Whether to search for redundant barriers of proved kernels. */
  readonly removal: boolean;
  /** Findings to repair in a review; all if missing. */
  readonly selection?: RepairSelection;
}

/** Edited files, by path. */
export type EditedTexts = ReadonlyMap<string, string>;

/** The units that an edit of headers affects. */
interface ReachedUnits {
  /** Units, each for one architecture. */
  readonly units: readonly KernelUnit[];
  /** Paths of units that do not compile even without the edit. */
  readonly broken: readonly string[];
}

/** Purpose of an edit of files. */
type TextChange = Exclude<Change, object> | { readonly as: EditedTexts };

/** Findings on the width of indices that an edit leaves, with their sizes, and why the kernel is not proved. */
interface WidthResults {
  readonly left: Map<string, string | undefined>;
  reason: Reason | undefined;
}

/** Maximum number of units that are built with an edited header. */
const maxUnits = 16;

interface RepairSelection {
  /** Fingerprints of the findings to repair. */
  readonly wanted: ReadonlySet<string>;
  /** Maximum number of repaired definitions, those with the worst findings first. */
  readonly most: number;
  /** After this number of compilations of edited texts no further repair is started. */
  readonly compilations: number;
}

/**
 * Compiles and checks edited texts instead of the files. Several kernels' requests for the same text are served once.
 */
export class Workbench {
  private readonly run: RepairRun;
  private readonly builds = new Map<string, Promise<ReadModule | null>>();
  private readonly resources = new Map<string, ReturnType<NonNullable<UnitBuilder['resources']>>>();
  /** Edited texts that changed kernels other than the repaired one. */
  private readonly shared = new Set<string>();
  private readonly further = new Map<string, Promise<readonly KernelUnit[]>>();

  constructor(run: RepairRun) {
    this.run = run;
  }

  /** Whether a verified edit also changes kernels other than the repaired one. */
  changesOthers(texts: EditedTexts): boolean {
    return this.shared.has(nameOf(texts));
  }

  /**
   * The units that read one of these files, those of the run and all others of the repository.
   * @returns their number if it is too large
   */
  async reached(group: readonly CheckedKernel[], files: readonly string[]): Promise<ReachedUnits | number> {
    const { units, project, furtherUnits } = this.run;
    const own = new Set([...group.map(({ entry }) => entry.unit.path), ...files]);
    const headers = files.filter((file) => group.some(({ entry }) => entry.unit.path !== file));
    for (const including of includingUnits(project.tree, headers).values()) for (const path of including) own.add(path);
    const paths = [...own].filter((path) => isUnit(path)).sort(compareText);
    if (paths.length > maxUnits) return paths.length;
    const present = units.filter(({ unit }) => paths.includes(unit.path));
    const missing = paths.filter((path) => !present.some(({ unit }) => unit.path === path));
    const key = missing.join('\0');
    const more = this.further.get(key) ?? (missing.length > 0 ? furtherUnits(missing) : Promise.resolve([]));
    this.further.set(key, more);
    const all = [...present, ...(await more)];
    const broken = new Set(all.filter(({ compiled }) => !compiled).map(({ unit }) => unit.path));
    return { units: all.filter(({ compiled }) => compiled), broken: [...broken] };
  }

  /** Starts work that every repair needs, while the marked copy is being compiled. */
  expect(instances: readonly LaunchedKernel[]): void {
    for (const entry of instances) this.costOf(entry).catch(() => undefined);
    const areSymbolic = instances.some(({ launches }) => launches.some(({ block, grid }) => !block || !grid));
    if (areSymbolic) this.run.checks.startSolver();
  }

  /** Starts both builds of an edited text. */
  begin(group: readonly CheckedKernel[], texts: EditedTexts): void {
    const builds = group.map(({ entry }) => this.bothBuilds(entry, texts));
    Promise.all(builds).catch(() => undefined);
  }

  /** Cost of an instance in the production build, unedited or of edited texts; null if unknown. */
  async costOf(entry: LaunchedKernel, texts?: EditedTexts): Promise<BuildCost | null> {
    const { unit, arch } = entry;
    const module = texts === undefined ? entry.production : await this.build(entry, 'production', texts);
    if (!module) return null;
    const key = JSON.stringify([unit.path, arch, texts && nameOf(texts)]);
    const { builder } = this.run.project;
    const asked = this.resources.get(key) ?? builder.resources?.(module.source.ptx, arch, unit);
    if (asked) this.resources.set(key, asked);
    const resources = await asked;
    const kernel = module.kernels.find((other) => stableName(other) === stableName(entry.kernel));
    const usage = kernel && resources && !('reason' in resources) ? resources.kernels.get(kernel.symbol) : undefined;
    if (!kernel || !usage) return null;
    const instructions = kernel.blocks.flatMap((block) => block.instructions);
    const { registers, sharedBytes, spillStoreBytes, spillLoadBytes } = usage;
    const spillBytes = spillStoreBytes + spillLoadBytes;
    const barriers = instructions.filter(isFullBarrier).length;
    return { registers, spillBytes, sharedBytes, barriers, instructions: instructions.length };
  }

  /** Maximum cost of a kernel in the production build over its instances; null if unknown. */
  async worstCostOf(group: readonly CheckedKernel[], texts: EditedTexts | undefined): Promise<BuildCost | null> {
    const costs = await Promise.all(group.map(({ entry }) => this.costOf(entry, texts)));
    const known = costs.filter((cost) => cost !== null);
    return known.length === costs.length ? worstCost(known) : null;
  }

  /** The instances in a marked copy, with the checks for the search; null if it does not compile. */
  async marked(instances: readonly LaunchedKernel[], texts: EditedTexts, left: () => number): Promise<MarkedBuild | null> {
    const subjects: Subject[] = [];
    const shared = new Set<number>();
    const departure = await this.departure(texts);
    for (const own of byBuild(instances)) {
      const module = await this.build(own[0]!, 'verification', texts);
      if (!module) return null;
      const names = new Map(own.map((entry) => [stableName(entry.kernel), entry]));
      for (const kernel of module.kernels) {
        const entry = names.get(stableName(kernel));
        if (!entry) {
          for (const marker of markersOf(kernel).values()) shared.add(marker);
          continue;
        }
        const { source } = module;
        const check: Subject['check'] = (switches, launch) =>
          this.check(entry, { kernel: switchMarkers(kernel, switches), source, switches }, launch, departure, {
            // No tier decides barriers for a part of a warp; a run of the launch may.
            proofOnly: [...switches.states.values()].every((state) => lanesOfState(state) === null),
            timeout: Math.max(0, left()),
          });
        const lanes = (marker: number): number | null => this.lanesAt(entry, kernel, marker);
        subjects.push({ kernel, launches: entry.launches, check, lanesAt: lanes });
      }
    }
    return subjects.length === instances.length ? { subjects, shared } : null;
  }

  /** The lanes that reach a marker of a kernel in all of its launches; null if they differ or are not known. */
  private lanesAt(entry: LaunchedKernel, marked: Kernel, marker: number): number | null {
    const home = marked.blocks.find(({ instructions }) => instructions.some((one) => isCandidate(one) && one.marker!.number === marker));
    const kernel = switchMarkers(marked, { states: new Map(), places: new Map() });
    const masks = new Set(entry.launches.map((launch) => home && lanesAt(this.contextOf(entry, kernel, launch), home.id)));
    const [mask] = masks;
    return masks.size === 1 ? (mask ?? null) : null;
  }

  /** Facts of a kernel under a launch; nothing is proved. */
  private contextOf(entry: LaunchedKernel, kernel: Kernel, launch: Launch): KernelContext {
    return kernelContext({
      ...this.requestOf(entry, kernel),
      launch,
      solver: () => Promise.reject(new Error('nothing is to be proved')),
      budget: { ...checkLimits.counted, expired: () => false },
    });
  }

  /**
   * Whether texts are a repair: both builds, the same launches, no new assumption, and no harm to other kernels.
   * @param beside - other kernels that the texts repair, which are verified separately
   */
  async verify(
    group: readonly CheckedKernel[],
    texts: EditedTexts,
    change: TextChange,
    isRemoval: boolean,
    extent: Extent = 'all',
    beside: ReadonlySet<LaunchedKernel> = new Set(),
  ): Promise<Verification> {
    const notes = new Set<Note>();
    const widths: WidthResults = { left: new Map(), reason: undefined };
    const open = change === 'widths' || change === 'waits' ? null : extent === 'some' ? new Map<CheckedKernel, OpenPairs[]>() : null;
    const reached = await this.reached(group, [...texts.keys()]);
    if (typeof reached === 'number') return { verified: false, refusal: { kind: 'many-units', units: reached } };
    for (const unit of reached.units) {
      const refused = await this.refusal(unit, group, texts, change, isRemoval, beside, notes, open, widths);
      if (refused !== null) return { verified: false, refusal: refused };
    }
    if (change === 'widths') return this.widened(group, widths, extent);
    if (!open) return { verified: true, notes: [...notes], leaves: [] };
    const wanted = group.flatMap((one) => neededFindings(one.report).map((finding) => ({ finding, after: open.get(one)! })));
    const left = wanted.filter(({ finding, after }) => !isGone(finding, after));
    if (left.length === wanted.length) return { verified: false, refusal: { kind: 'nothing-fixed' } };
    return { verified: true, notes: [...notes], leaves: left.map(({ finding }) => leftOpen(finding)) };
  }

  /** Whether an edit of the width of indices removes all findings on them, or some. */
  private widened(group: readonly CheckedKernel[], { left, reason }: WidthResults, extent: Extent): Verification {
    const wanted = group.flatMap(({ report }) => neededFindings(report));
    const leaves = wanted.filter((finding) => left.has(placeKeyOf(finding)));
    const sizes = [...left.values()].flatMap((when) => when ?? []);
    if (leaves.length > 0 && extent === 'all') return { verified: false, refusal: { kind: 'other-overflow', sizes } };
    if (leaves.length === wanted.length) return { verified: false, refusal: { kind: 'nothing-fixed' } };
    return { verified: true, notes: [], leaves: leaves.map(leftOpen), ...(reason && { open: reason }) };
  }

  private async refusal(
    unit: KernelUnit,
    group: readonly CheckedKernel[],
    texts: EditedTexts,
    change: TextChange,
    isRemoval: boolean,
    beside: ReadonlySet<LaunchedKernel>,
    notes: Set<Note>,
    open: Map<CheckedKernel, OpenPairs[]> | null,
    widths: WidthResults,
  ): Promise<EditRefusal | null> {
    const [verification, production] = await this.bothBuilds(unit, texts);
    if (!verification || !production) return { kind: 'does-not-compile' };
    const departure = await this.departure(texts);
    const former = formerLines(texts, (file) => this.run.project.tree.text(file));
    for (const entry of unit.kernels) {
      const name = stableName(entry.kernel);
      const kernel = verification.kernels.find((other) => stableName(other) === name);
      if (!kernel) return { kind: 'lost-kernel', kernel: entry.name.qualified };
      const instance = group.find((candidate) => candidate.entry === entry);
      if (!instance && (beside.has(entry) || isUnchanged(entry, verification, kernel))) continue;
      if (!instance) this.shared.add(nameOf(texts));
      const produced = production.kernels.find((other) => stableName(other) === name);
      for (const launch of entry.launches) {
        const result = await this.check(entry, { kernel, source: verification.source }, launch, departure);
        if (instance) {
          const known = assumptionsOf(instance.report);
          if (change === 'widths' || change === 'waits') {
            const edited = { kernel, launch, former };
            const reason =
              (await (change === 'widths'
                ? this.worseWidths(instance, result, edited, widths)
                : this.worseWaits(instance, result, { ...edited, produced }))) ??
              freshAssumption(result, known, isRemoval) ??
              worseBuilds(entry, kernel, produced, former);
            if (reason !== null) return reason;
            continue;
          }
          const reason = open
            ? ((await this.worsened(instance, result, { kernel, launch, former }, open)) ??
              freshAssumption(result, known, isRemoval) ??
              worseBuilds(entry, kernel, produced, former))
            : complaint(result, buildsDiffer(kernel, produced), known, isRemoval);
          if (reason !== null) return reason;
          if (change !== 'barriers' && !(await this.computesTheSame(entry, kernel, launch, change))) return { kind: 'other-values' };
          if (exitsEarly(result) && !exitsEarly(instance.report)) notes.add('returned-threads');
          continue;
        }
        // Another kernel uses the same edited function: its result must not become worse.
        const before = await this.before(entry, launch);
        if (
          provesBothChecks(before)
            ? complaint(result, buildsDiffer(kernel, produced), assumptionsOf(before)) !== null
            : isWorse(result, before)
        )
          return { kind: 'harms-kernel', kernel: entry.name.qualified };
      }
    }
    return null;
  }

  /**
   * Why an edit of the width of indices makes the result of an instance under one launch worse. Without that, its findings on such indices
   * that remain are added to `left`.
   */
  private async worseWidths(
    { entry }: CheckedKernel,
    result: CheckResult,
    { kernel, launch, former }: Edited,
    widths: WidthResults,
  ): Promise<EditRefusal | null> {
    const before = await this.before(entry, launch);
    const worse = weaker(result, before);
    if (worse) return worse;
    for (const { verdict, reason } of [result.race, result.divergence])
      if (verdict !== 'proved' && verdict !== 'skipped') widths.reason ??= reason ?? { kind: 'not-proved' };
    const known = findingsByPlace(before, (_, line) => line);
    for (const [key, { code, severity, places, when }] of findingsByPlace(result, former)) {
      const old = known.get(key);
      if (code === 'memory/index-overflow') widths.left.set(key, when);
      if (old && compareSeverity(old.severity, severity) <= 0) continue;
      if (code === 'memory/index-overflow' && when !== undefined) return { kind: 'other-overflow', sizes: [when] };
      return { kind: 'new-finding', lines: places.flatMap((place) => place?.line ?? []) };
    }
    // A size is reported only if evaluation shows it, and these must not be there at all.
    const wrapped = [...known.values()].filter(({ code }) => code === 'memory/index-overflow');
    const isWrapped = ({ location: { file, line }, when }: NarrowPlace): boolean =>
      when !== undefined &&
      wrapped.some(
        (one) => one.when !== undefined && one.places.some((place) => place?.file === file && place.line === former(file, line)),
      );
    const left = narrowPlaces(this.contextOf(entry, kernel, launch)).find(isWrapped);
    if (left) return { kind: 'other-overflow', sizes: [left.when!] };
    const isGivenWrap = wrapped.some(({ when }) => when === undefined);
    return isGivenWrap || (await this.computesTheSame(entry, kernel, launch, 'statements')) ? null : { kind: 'other-values' };
  }

  /** Why an instance still accesses global memory before its wait under a launch, or why its result is worse. */
  private async worseWaits(
    { entry }: CheckedKernel,
    result: CheckResult,
    { kernel, produced, launch, former }: Edited & { readonly produced: Kernel | undefined },
  ): Promise<EditRefusal | null> {
    for (const build of [kernel, produced ?? kernel]) {
      const early = [...gridDependency(build).accesses].filter(([, order]) => order !== 'after');
      const lines = early.flatMap(([{ location }]) => outsideToolkit(location)?.line ?? []);
      if (early.length > 0) return { kind: 'early-access', lines, isMoved: build !== kernel };
    }
    const before = await this.before(entry, launch);
    const worse = weaker(result, before);
    if (worse) return worse;
    const known = findingsByPlace(before, (_, line) => line);
    for (const [key, { severity, places }] of findingsByPlace(result, former)) {
      const old = known.get(key);
      if (!old || compareSeverity(severity, old.severity) < 0)
        return { kind: 'new-finding', lines: places.flatMap((place) => place?.line ?? []) };
    }
    return (await this.computesTheSame(entry, kernel, launch, 'statements')) ? null : { kind: 'other-values' };
  }

  /** The result of an instance before any edit. */
  private before(entry: LaunchedKernel, launch: Launch): Promise<CheckResult> {
    return this.check(entry, { kernel: entry.kernel, source: entry.verification.source }, launch, this.run.sources.departure);
  }

  /** The accesses of instances of which an index may wrap around, and the sizes of their findings. */
  async narrowAccesses(group: readonly CheckedKernel[]): ReturnType<RepairRequest['narrow']> {
    const places = new Map<string, NarrowPlace>();
    const sizes = new Set<string>();
    for (const { entry, report } of group) {
      const overflows = neededFindings(report).filter(isRace);
      const arrays = new Set(overflows.filter(({ when }) => when === undefined).map(({ array }) => array));
      for (const { when } of overflows) if (when !== undefined) sizes.add(when);
      for (const launch of entry.launches)
        for (const place of narrowPlaces(this.contextOf(entry, entry.kernel, launch)))
          if (place.when !== undefined || arrays.has(place.array)) places.set(JSON.stringify(place), place);
    }
    return { accesses: [...places.values()], sizes: [...sizes] };
  }

  /** Why an edit is not a partial repair of an instance under one launch; unproved pairs are added to `open`. */
  private async worsened(
    instance: CheckedKernel,
    result: CheckResult,
    { kernel, launch, former }: Edited,
    open: Map<CheckedKernel, OpenPairs[]>,
  ): Promise<EditRefusal | null> {
    const { entry } = instance;
    const before = await this.before(entry, launch);
    const after = openPairs(result, kernel, former);
    open.set(instance, [...(open.get(instance) ?? []), after]);
    return worsened(
      result,
      openPairs(before, entry.kernel, (_, line) => line),
      after,
    );
  }

  private async check(
    entry: LaunchedKernel,
    { kernel, source, switches }: MarkedKernel,
    launch: Launch,
    departure: SourceFacts['departure'],
    { proofOnly = false, timeout }: { readonly proofOnly?: boolean; readonly timeout?: number } = {},
  ): Promise<CheckResult> {
    const asked = { ...this.requestOf(entry, kernel), departure, proofOnly };
    const [outcome] = await this.run.checks.check({
      request: asked,
      launches: [launch],
      source,
      ...(switches && { switches }),
      ...(timeout !== undefined && { timeout }),
    });
    if ('result' in outcome!) return outcome.result;
    const files = new Map([['kernel.ptx', source.ptx]]);
    this.run.tools.progress.defect({ kernel: entry.name.full, error: outcome!.defect, files });
    return undecided(asked.checks, 'defect');
  }

  private requestOf(entry: LaunchedKernel, kernel: Kernel): CheckTask['request'] {
    return { ...kernelRequest(entry, policyOf(this.run.settings.configuration)), kernel };
  }

  /** Whether the edited kernel is equivalent to the original, or to that of a verified edit. */
  private async computesTheSame(
    entry: LaunchedKernel,
    edited: Kernel,
    launch: Launch,
    change: Exclude<TextChange, 'barriers'>,
  ): Promise<boolean> {
    const { kernel: original, parameters } = entry;
    const { fields } = this.contextOf(entry, original, launch);
    if (typeof change === 'string') return (await complete(differingInput({ original, edited, launch, parameters, fields }))) === null;
    const other = await this.build(entry, 'verification', change.as);
    const wanted = other?.kernels.find((kernel) => stableName(kernel) === stableName(original));
    return wanted !== undefined && complete(leaveTheSame({ original: wanted, edited, launch, parameters, fields }));
  }

  /** Determines the departure of threads before a location from the edited texts. */
  private async departure(texts: EditedTexts): Promise<SourceFacts['departure']> {
    const { sources } = this.run;
    const edited = new Map<string, CudaSource>();
    for (const [file, text] of texts) edited.set(file, await sources.parseText(text, file));
    return departureAmong(async (file) => edited.get(file) ?? sources.parse(file));
  }

  private bothBuilds(of: BuiltFor, texts: EditedTexts): Promise<[ReadModule | null, ReadModule | null]> {
    return Promise.all([this.build(of, 'verification', texts), this.build(of, 'production', texts)]);
  }

  private build({ unit, arch }: BuiltFor, kind: 'verification' | 'production', texts: EditedTexts): Promise<ReadModule | null> {
    const key = [unit.path, arch, kind, nameOf(texts)].join('\0');
    let build = this.builds.get(key);
    if (!build) {
      const { builder, tree } = this.run.project;
      const headers = new Map([...texts].filter(([file]) => file !== unit.path));
      build = builder
        .build(unit, kind, arch, texts.get(unit.path), headers.size > 0 ? headers : undefined)
        .then(({ ptx }) => (ptx === undefined ? null : readBuild(ptx, unit, tree)));
      this.builds.set(key, build);
    }
    return build;
  }
}

type BuiltFor = Pick<KernelUnit, 'unit' | 'arch'>;

/** Key of edited files in a cache. */
function nameOf(texts: EditedTexts): string {
  return JSON.stringify([...texts].sort(([a], [b]) => compareText(a, b)));
}

/** Kernels of the same compilation. */
function byBuild(instances: readonly LaunchedKernel[]): LaunchedKernel[][] {
  return [...grouped(instances, ({ unit, arch }) => JSON.stringify([unit.path, arch])).values()];
}

/** An edited instance under a launch. */
interface Edited {
  readonly kernel: Kernel;
  readonly launch: Launch;
  /** Maps lines to those before the edit. */
  readonly former: FormerLine;
}

/** A kernel of a build, with its markers switched if it has some. */
type MarkedKernel = Pick<CheckTask, 'source' | 'switches'> & { readonly kernel: Kernel };

/**
 * Kinds of assumptions that only the user can state, separately for each kernel. Those in the configuration count as
 * stated.
 */
const stated: ReadonlySet<Assumption['kind']> = new Set(['launch', 'user']);

/** Why the check of an edited kernel is not a proof; null if it is. */
function complaint(
  { race, divergence }: CheckResult,
  differ: string | undefined,
  known: ReadonlySet<string>,
  isRemoval = false,
): EditRefusal | null {
  for (const [check, { verdict, reason }] of [
    ['race', race],
    ['divergence', divergence],
  ] as const)
    if (verdict !== 'proved') return { kind: 'not-proved', check, verdict, ...(reason && { reason }) };
  if (differ !== undefined) return { kind: 'builds-differ', differ };
  return freshAssumption({ race, divergence }, known, isRemoval);
}

/** An assumption of an edited kernel that is neither stated nor made for the original; null without one. */
function freshAssumption(
  { race, divergence }: Pick<CheckResult, 'race' | 'divergence'>,
  known: ReadonlySet<string>,
  isRemoval: boolean,
): EditRefusal | null {
  const fresh = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])].find(
    (assumption) => (isRemoval || stated.has(assumption.kind)) && !known.has(keyOf(assumption)),
  );
  return fresh ? { kind: 'unstated-assumption', assumption: fresh.text } : null;
}

/**
 * A difference between the builds of the edited kernel that the builds of the original do not have; null if none
 * exists.
 */
function worseBuilds(
  { kernel: original, produced: ran }: LaunchedKernel,
  edited: Kernel,
  produced: Kernel | undefined,
  former: FormerLine,
): EditRefusal | null {
  const known = new Set(buildDifferences(original, ran, (_, line) => line));
  const fresh = [...buildDifferences(edited, produced, former)].find((differ) => !known.has(differ));
  return fresh === undefined ? null : { kind: 'builds-differ', differ: fresh };
}

const rank: Readonly<Record<CheckResult['race']['verdict'] | CheckResult['divergence']['verdict'], number>> = {
  skipped: 0,
  proved: 0,
  possible: 1,
  unknown: 2,
  race: 3,
  divergent: 3,
};

/** A verdict that is weaker than before; null if both are as strong. */
function weaker(result: CheckResult, before: CheckResult): EditRefusal | null {
  for (const check of ['race', 'divergence'] as const) {
    const { verdict, reason } = result[check];
    if (rank[verdict] > rank[before[check].verdict]) return { kind: 'not-proved', check, verdict, ...(reason && { reason }) };
  }
  return null;
}

/** Whether some threads return before a barrier. */
function exitsEarly({ divergence }: Pick<CheckResult | KernelReport, 'divergence'>): boolean {
  return divergence.findings.some(({ kind }) => kind === 'early-exit');
}

/** Whether a kernel is free of races and of divergence. */
export function provesBothChecks({ race, divergence }: Pick<CheckResult | KernelReport, 'race' | 'divergence'>): boolean {
  return race.verdict === 'proved' && divergence.verdict === 'proved';
}

function isWorse(after: CheckResult, before: CheckResult): boolean {
  const badness = ({ race, divergence }: CheckResult): number[] => [
    rank[race.verdict],
    rank[divergence.verdict],
    race.findings.length + divergence.findings.length,
  ];
  const old = badness(before);
  return badness(after).some((value, index) => value > old[index]!);
}

function keyOf({ kind, text }: Assumption): string {
  return `${kind} ${text}`;
}

function assumptionsOf({ race, divergence }: Pick<CheckResult | KernelReport, 'race' | 'divergence'>): ReadonlySet<string> {
  return new Set([...(race.assumptions ?? []), ...(divergence.assumptions ?? [])].map(keyOf));
}

/** Whether an edit leaves the code of a kernel unchanged. */
function isUnchanged(entry: LaunchedKernel, edited: ReadModule, kernel: Kernel): boolean {
  return normalForm(entry.verification.module, entry.kernel.symbol) === normalForm(edited.module, kernel.symbol);
}
