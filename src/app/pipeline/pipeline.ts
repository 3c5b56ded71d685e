import { policyOf } from '../../settings/configuration.ts';
import { settled } from '../../base/steps.ts';
import { compareText } from '../../base/text-order.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import type { CheckRequest, CheckResult } from '../../check/question/request.ts';
import type { Launch } from '../../launch/launch.ts';
import type { AccessDescription, Assumption } from '../../verdict/finding.ts';
import type { DivergenceReport, RaceReport } from '../../document/finding.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import { undecided } from '../workers/check-place.ts';
import { clock } from '../../system/clock.ts';
import { defectOf } from '../build/defect.ts';
import { openChecks, type KernelChecks } from '../workers/check-pool.ts';
import type { Options } from '../../settings/options.ts';
import { pathPattern } from '../../base/path-pattern.ts';
import { normalForm } from '../build/normal-form.ts';
import { type Finding, weakened, worstDivergence, worstRace } from '../../document/outcome.ts';
import { divergenceReport, raceReport } from '../../wording/verdict.ts';
import { reasonText } from '../../wording/verdict-reason.ts';
import { namesIn } from '../../cuda/assumptions/assumption-names.ts';
import {
  defaultArch,
  launchesKey,
  prepare,
  statedKey,
  type PreparedKernel,
  type PreparedUnit,
} from '../build/prepare.ts';
import type { KernelReport, LaunchReport, Report } from '../../document/report.ts';
import type { AnalysisRequest } from '../project/request.ts';
import { openSourceFacts, type SourceFacts } from '../project/source-facts.ts';
import type { RepairRun } from './repair/repair-workbench.ts';
import { reproduceCommand } from './reproduce.ts';
import { elementText } from '../project/element-text.ts';
import { applySuppressions, type Suppression } from './suppressions.ts';
import { knownNames, optionAssumptions } from '../project/stated-facts.ts';
import { statedSuppressions } from './stated-suppressions.ts';
import { UsageError } from '../../base/usage-error.ts';
import { toolVersion } from '../../system/version.ts';

/**
 * Analyses units: compile, read, lower, resolve launches, check, apply suppressions.
 * @throws UsageError where the options name kernels, parameters or files that are not there
 */
export async function analyse(request: AnalysisRequest): Promise<Report> {
  const started = clock();
  const checks = await checksOf(request);
  try {
    const opening = openSourceFacts(request);
    const [facts, units] = await Promise.all([opening, prepare(request, opening)]);
    const prepared = clock();
    const kernels = selectKernels(request, units);
    const { reports, diagnostics: troubles } = await checkAndCost(request, facts, kernels, units, checks);
    const suppressions = statedSuppressions(request, facts, units);
    const stale = staleTest(request, units);
    const { kernels: checked, diagnostics } = applySuppressions(reports, suppressions, request.today, stale);
    const decided = clock();
    const mended = await repaired({ request, facts, kernels, reports: checked, units, checks, removal: true });
    const repair = milliseconds(clock() - decided);
    const found = [
      ...[...units, ...kernels].flatMap((part) => part.diagnostics),
      ...troubles,
      ...diagnostics,
      ...redundant(request, mended),
    ];
    const report = assemble(request, mended, found, await checks.solverName());
    if (!request.options.timings) return report;
    return {
      ...report,
      timings: {
        prepare: milliseconds(prepared - started),
        check: milliseconds(clock() - prepared) - repair,
        ...(request.options.checks.includes('repair') && { repair }),
      },
    };
  } finally {
    await checks.close();
  }
}

/** The reports with repairs, where they are asked for. */
export async function repaired(run: RepairRun): Promise<readonly KernelReport[]> {
  if (!run.request.options.checks.includes('repair')) return run.reports;
  const { repairKernels } = await import('./repair/repair.ts');
  return repairKernels(run);
}

/** Checks kernels; with what they cost, where that is asked for, or limited. */
export async function checkAndCost(
  request: AnalysisRequest,
  facts: SourceFacts,
  kernels: readonly PreparedKernel[],
  units: readonly PreparedUnit[],
  checks: KernelChecks,
): Promise<{ readonly reports: readonly KernelReport[]; readonly diagnostics: readonly Diagnostic[] }> {
  const withCosts = await openCosts(request, kernels);
  const { reports, diagnostics } = await checkAll(request, facts, kernels, units, checks);
  if (!withCosts) return { reports, diagnostics };
  const costly = await withCosts(reports);
  return { reports: costly.reports, diagnostics: [...diagnostics, ...costly.diagnostics] };
}

type WithCosts = (
  reports: readonly KernelReport[],
) => Promise<{ readonly reports: readonly KernelReport[]; readonly diagnostics: readonly Diagnostic[] }>;

/** Starts the assembler, and returns what adds the costs to the reports; undefined where nobody wants them. */
async function openCosts(request: AnalysisRequest, kernels: readonly PreparedKernel[]): Promise<WithCosts | undefined> {
  const isAsked = request.options.checks.includes('cost');
  const isLimited = request.configuration?.kernels.some(({ limits }) => Object.keys(limits).length > 0) ?? false;
  if (!isAsked && !isLimited) return undefined;
  const { assembled, withCosts } = await import('./cost/cost.ts');
  const { limitsOf } = await import('./cost/cost-limits.ts');
  const chosen = kernels.map((kernel) => isAsked || Object.keys(limitsOf(request.configuration, kernel)).length > 0);
  const isChosen = (_: unknown, index: number): boolean => chosen[index]!;
  const entries = kernels.filter(isChosen);
  const resources = assembled(request, entries);
  return async (reports) => {
    const { reports: costly, diagnostics } = await withCosts(request, entries, reports.filter(isChosen), resources);
    const next = costly.values();
    return { reports: reports.map((report, index) => (chosen[index] ? next.next().value! : report)), diagnostics };
  };
}

/** Tells of the barriers that kernels are proved without. Advice fails no run, whatever severity is configured. */
function redundant({ configuration }: AnalysisRequest, reports: readonly KernelReport[]): Diagnostic[] {
  const configured = configuration?.checks.repair.removeRedundant ?? 'notice';
  return reports.flatMap(({ name, repair: { status, edits = [], reason = '', cost } }): Diagnostic[] => {
    const [edit] = edits;
    if (status !== 'optimised' || !edit) return [];
    const saving = cost ? `; without: ${cost.text}` : '';
    const message = `${name} is proved with less: ${reason}${saving}.`;
    const location = { file: edit.file, line: edit.startLine };
    return [
      { severity: configured === 'error' ? 'warning' : configured, code: 'barrier/redundant', message, location },
    ];
  });
}

/** Whether a suppression that has no effect is a stale one: everything it speaks of was looked at. */
function staleTest({ options, units }: AnalysisRequest, prepared: readonly PreparedUnit[]) {
  const whole =
    options.kernel === undefined && (['race', 'divergence'] as const).every((check) => options.checks.includes(check));
  const everything = whole && units.every(({ throughHeaders }) => !throughHeaders);
  const files = prepared.flatMap((unit) => [unit.unit.path, ...unit.files]);
  return ({ code, scope }: Suppression): boolean => {
    // What got worse shows only beside a base, and limits need more than the kernels.
    if (/^(?:cost|resource|limit)\/|^launch\/refused$/.test(code)) return false;
    if (!everything || prepared.some(({ compiled }) => !compiled)) return false;
    if (scope.kind === 'lines' || scope.pattern === undefined) return true;
    const pattern = pathPattern(scope.pattern);
    return files.some((file) => pattern.test(file));
  };
}

/**
 * The kernels that the command line asks for, in the order of the report.
 * @throws UsageError where it asks for one that is not there
 */
export function selectKernels({ options }: AnalysisRequest, units: readonly PreparedUnit[]): PreparedKernel[] {
  const all = units.flatMap(({ kernels }) => kernels);
  const { kernel: pattern } = options;
  const selected = selectByName(options, all);
  // Where a unit failed to compile its kernels are not known, and that failure is what the user has to see.
  if (units.some(({ compiled }) => !compiled)) return selected;
  if (pattern !== undefined && selected.length === 0) {
    const names = [...new Set(all.map(({ name }) => name.qualified))];
    const list =
      names.length > 0 ? `The kernels are: ${names.slice(0, 20).join(', ')}.` : 'The input contains no kernels.';
    throw new UsageError(`--kernel ${pattern} matches no kernel. ${list}`);
  }
  if (selected.length > 0) requireKnownNames(options, selected);
  return selected;
}

/** The kernels that `--kernel` matches, in the order of the report. */
export function selectByName({ kernel: pattern }: Options, kernels: readonly PreparedKernel[]): PreparedKernel[] {
  const selected =
    pattern === undefined ? [...kernels] : kernels.filter(({ name }) => matchKernel(pattern, name.qualified));
  return withoutCopies(selected.sort(byPlace));
}

/** A kernel of a header that several units compile is told of once, where it is the same in all of them. */
function withoutCopies(kernels: readonly PreparedKernel[]): PreparedKernel[] {
  const byName = new Map<string, PreparedKernel[]>();
  return kernels.filter((kernel) => {
    const key = JSON.stringify([kernel.name.full, kernel.arch]);
    const others = byName.get(key);
    if (!others) byName.set(key, [kernel]);
    else if (others.some((other) => isCopy(other, kernel))) return false;
    else others.push(kernel);
    return true;
  });
}

function isCopy(a: PreparedKernel, b: PreparedKernel): boolean {
  const code = ({ verification, kernel }: PreparedKernel): string => normalForm(verification, kernel.symbol);
  return (
    a.differ === b.differ && launchesKey(a) === launchesKey(b) && statedKey(a) === statedKey(b) && code(a) === code(b)
  );
}

/** An argument or assumption that fits no kernel is a slip of the user, and would silently do nothing. */
function requireKnownNames(options: Options, kernels: readonly PreparedKernel[]): void {
  const names = [...new Set(kernels.flatMap(parameterNames))].join(', ') || 'none';
  const known = kernels.map(({ kernel, parameters }) => knownNames(kernel, parameters));
  for (const argument of options.args.keys()) {
    if (known.some((of) => of.has(argument))) continue;
    throw new UsageError(`--arg ${argument}: no kernel has this parameter. There are: ${names}.`);
  }
  for (const { expression, text } of optionAssumptions(options)) {
    const wanted = namesIn(expression);
    if (known.some((of) => wanted.every((name) => of.has(name)))) continue;
    throw new UsageError(
      `--assume ${text}: no kernel has the ${wanted.length === 1 ? 'parameter' : 'parameters'} ${wanted.join(', ')}. There are: ${names}.`,
    );
  }
}

function parameterNames({ kernel, parameters }: PreparedKernel): string[] {
  return kernel.parameters.map(({ index }) => parameters[index]?.name ?? `param${index}`);
}

function byPlace(a: PreparedKernel, b: PreparedKernel): number {
  return (
    compareText(a.unit.path, b.unit.path) ||
    compareText(a.arch, b.arch) ||
    (a.kernel.location?.line ?? 0) - (b.kernel.location?.line ?? 0) ||
    compareText(a.kernel.symbol, b.kernel.symbol)
  );
}

/** Places to check the kernels of a request in; whoever makes them closes them. */
export function checksOf({ options, signal, searchPath, check, checking }: AnalysisRequest): Promise<KernelChecks> {
  const { solver, jobs, timeout } = options;
  const steps = check && ((one: CheckRequest) => settled(() => check(one)));
  return openChecks({ solver, jobs, timeout, signal, searchPath, check: steps, ...checking });
}

/** Checks kernels, several at a time. A defect in one leaves the others alone. */
async function checkAll(
  request: AnalysisRequest,
  facts: SourceFacts,
  kernels: readonly PreparedKernel[],
  units: readonly PreparedUnit[],
  checks: KernelChecks,
): Promise<{ reports: KernelReport[]; diagnostics: Diagnostic[] }> {
  const severalArches = new Set(kernels.map(({ arch }) => arch)).size > 1;
  const checked = await Promise.all(
    kernels.map(async (entry) => {
      const diagnostics: Diagnostic[] = [];
      const onDefect = (launch: Launch, error: unknown): void => {
        const ptx = units.find(({ unit, arch }) => unit === entry.unit && arch === entry.arch)?.ptx;
        diagnostics.push(defectOf(request, entry, launch, error, ptx));
      };
      const onContradiction = (launch: Launch): void => void diagnostics.push(contradiction(entry, launch));
      const report = await checkOne(request, facts, entry, checks, { onDefect, onContradiction });
      return { report: severalArches ? { ...report, arch: entry.arch } : report, diagnostics };
    }),
  );
  return {
    reports: checked.map(({ report }) => report),
    diagnostics: checked.flatMap(({ diagnostics }) => diagnostics),
  };
}

interface Troubles {
  readonly onDefect: (launch: Launch, error: unknown) => void;
  /** The stated assumptions exclude each other or the launch. */
  readonly onContradiction: (launch: Launch) => void;
}

function contradiction({ name, kernel, assumptions }: PreparedKernel, { block, grid }: Launch): Diagnostic {
  const dimensions = [block && `block ${block.join(',')}`, grid && `grid ${grid.join(',')}`].filter((text) => text);
  const launch = dimensions.length > 0 ? `, or its launch with ${dimensions.join(' and ')}` : '';
  const texts = assumptions.map(({ text }) => text).join('; ');
  const message = `The assumptions about ${name.qualified} contradict each other${launch}, so Selvage proves nothing: ${texts}.`;
  const location = assumptions.find((stated) => stated.location)?.location ?? kernel.location;
  return { severity: 'error', code: 'assumption/contradictory', message, ...(location ? { location } : {}) };
}

async function checkOne(
  request: AnalysisRequest,
  facts: SourceFacts,
  entry: PreparedKernel,
  places: KernelChecks,
  { onDefect, onContradiction }: Troubles,
): Promise<KernelReport> {
  const { kernel, name, parameters, assumptions } = entry;
  const started = clock();
  const checks = {
    race: request.options.checks.includes('race'),
    divergence: request.options.checks.includes('divergence'),
  };
  const outcomes = await places.check({
    request: {
      kernel,
      name: name.qualified,
      parameters,
      objectName,
      assumptions,
      checks,
      policy: policyOf(request.configuration),
      departure: facts.departure,
    },
    launches: entry.launches,
    source: entry.source,
  });
  const launches: LaunchReport[] = [];
  for (const [index, launch] of entry.launches.entries()) {
    const outcome = outcomes[index]!;
    if ('defect' in outcome) {
      onDefect(launch, outcome.defect);
      const { race, divergence } = undecided(checks, 'defect');
      launches.push(bareReport(launch, raceReport(race), divergenceReport(divergence)));
      continue;
    }
    if (outcome.result.contradiction) onContradiction(launch);
    launches.push(await launchReport(launch, outcome.result, entry, facts, request.nvccArguments ?? []));
  }
  const open = openAssumptions(entry);
  const race = worstRace(launches.map((launch) => launch.race));
  const divergence = worstDivergence(launches.map((launch) => launch.divergence));
  return {
    name: name.full,
    symbol: kernel.symbol,
    ...(kernel.location ? { location: kernel.location } : {}),
    race: withAssumptions(race, open),
    divergence: withAssumptions(divergence, open),
    repair: { status: 'skipped' },
    launches,
    ...(request.options.timings ? { timings: { check: milliseconds(clock() - started) } } : {}),
  };
}

function bareReport(launch: Launch, race: RaceReport, divergence: DivergenceReport): LaunchReport {
  const { source, block, grid, cluster, sharedBytes, cooperative, location } = launch;
  const place = location ? { location } : {};
  return { source, block, grid, cluster, sharedBytes, cooperative, ...place, race, divergence };
}

async function launchReport(
  launch: Launch,
  { race, divergence }: CheckResult,
  { differ, unit, kernel, parameters }: PreparedKernel,
  facts: SourceFacts,
  nvccArguments: readonly string[],
): Promise<LaunchReport> {
  const reason = differ === undefined ? undefined : reasonText({ kind: 'builds-differ', differ });
  const cooperative = launch.cooperative || kernel.blocks.some(({ instructions }) => instructions.some(isGridBarrier));
  const withCommand = <Reported extends Finding>(finding: Reported): Reported => {
    const words = unit.kind === 'cuda' ? nvccArguments : [];
    const reproduce = finding.witness && reproduceCommand(unit.path, finding.witness, cooperative, words);
    return reproduce === undefined ? finding : { ...finding, reproduce };
  };
  const findings = [];
  for (const finding of race.findings) {
    const first = await withText(finding.first, finding.array, facts);
    const second = await withText(finding.second, finding.array, facts);
    const texted = { ...finding, first, second };
    const element = await elementText(texted, parameters, facts);
    const { overlap } = finding;
    findings.push(overlap && element !== undefined ? { ...texted, overlap: { ...overlap, element } } : texted);
  }
  const races = raceReport({ ...race, findings });
  const barriers = divergenceReport(divergence);
  const checked: RaceReport = { ...races, findings: races.findings.map(withCommand) };
  const checkedBarriers: DivergenceReport = { ...barriers, findings: barriers.findings.map(withCommand) };
  return bareReport(
    launch,
    reason === undefined ? checked : weakened(checked, reason),
    reason === undefined ? checkedBarriers : weakened(checkedBarriers, reason),
  );
}

async function withText(
  { ordinal, alike, ...access }: AccessDescription,
  array: string | undefined,
  facts: SourceFacts,
): Promise<AccessDescription> {
  if (access.expression !== undefined || !access.location) return access;
  const expression = await facts.accessText(access.location, access.operation, array, ordinal, alike);
  return expression === undefined ? access : { ...access, expression };
}

/** What `proved` leaves open where some launches could not be evaluated. */
function openAssumptions({ notEvaluated }: PreparedKernel): Assumption[] {
  return notEvaluated.map(({ text, location }) => ({
    kind: 'launch',
    text: `for the launches found: ${text} could not be evaluated`,
    location,
  }));
}

function withAssumptions<Result extends RaceReport | DivergenceReport>(
  result: Result,
  more: readonly Assumption[],
): Result {
  if (more.length === 0 || result.verdict === 'skipped') return result;
  return { ...result, assumptions: [...(result.assumptions ?? []), ...more] };
}

/** Puts a report together. */
export function assemble(
  request: AnalysisRequest,
  kernels: readonly KernelReport[],
  diagnostics: readonly Diagnostic[],
  solver: string | null,
): Report {
  const arch = request.options.arch.length > 0 ? request.options.arch : (request.configuration?.arch ?? []);
  const compiles = request.units.some(({ kind }) => kind === 'cuda');
  return {
    schema: 1,
    tool: { name: 'selvage', version: toolVersion },
    toolchain: {
      compiler: compiles ? request.builder.compiler : null,
      ...(compiles ? { arch: arch.length > 0 ? arch : [defaultArch] } : {}),
      solver,
    },
    kernels,
    diagnostics: distinctDiagnostics([...request.diagnostics, ...diagnostics]),
  };
}

function milliseconds(time: number): number {
  return Math.round(time * 10) / 10;
}
