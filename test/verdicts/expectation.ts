/** The correct results of a kernel, parsed from the first lines of its file, and their differences from a report. */
import { type ExpectedLaunch, type JudgedLaunch, launchDifferences, parseLaunch } from './launch-expectation.ts';

/** Expectations of one kernel. `README.md` documents their syntax. */
export interface KernelExpectation {
  readonly kernel: string;
  readonly race: string;
  readonly divergence: string;
  readonly findings: readonly ExpectedFinding[];
  /** Kinds of assumptions. */
  readonly assumes: readonly string[];
  /** In the language of assumptions. */
  readonly preconditions: readonly string[];
  readonly launches: readonly ExpectedLaunch[];
  /** Codes of which the kernel has no finding, not even a notice. */
  readonly without: readonly string[];
  /** What its findings advise. */
  readonly advice: readonly ExpectedAdvice[];
  /** Current result of the check, if the expectation is not satisfied yet. */
  readonly open?: string;
}

interface ExpectedFinding {
  readonly code: string;
  readonly severity: string;
  /** Not of a barrier, nor of a launch. */
  readonly array?: string;
  /** `12`, or `host.cpp:12` of another file than the kernel's; ascending. */
  readonly lines: readonly string[];
  /** Part of the condition that its text names. */
  readonly condition?: string;
}

interface ExpectedAdvice {
  readonly text: string;
  /** The kernel of the file that follows the advice. */
  readonly followedBy?: string;
}

/** The part of a report, as JSON, that is compared. */
export interface JudgedReport {
  readonly kernels: readonly JudgedKernel[];
  readonly diagnostics: readonly JudgedDiagnostic[];
}

export interface JudgedKernel {
  readonly name: string;
  readonly location?: Place;
  readonly race: JudgedResult;
  readonly divergence: JudgedResult;
  readonly launches: readonly JudgedLaunch[];
}

interface Place {
  readonly file: string;
  readonly line: number;
}

interface JudgedResult {
  readonly verdict: string;
  readonly reason?: string;
  readonly assumptions?: readonly { readonly kind: string; readonly text: string }[];
  readonly findings: readonly JudgedFinding[];
}

interface JudgedPair {
  readonly first?: { readonly location?: Place };
  readonly second?: { readonly location?: Place };
}

interface JudgedFinding extends JudgedPair {
  readonly code: string;
  readonly severity: string;
  readonly array?: string;
  readonly message: string;
  readonly barrier?: Place;
  readonly also?: readonly JudgedPair[];
}

export interface JudgedDiagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly location?: Place;
}

/**
 * Reads the lines `// expect: …` and `// open: …` of a file.
 * @throws where one of them is malformed, contradicts another, or speaks of a kernel that has no verdicts
 */
export function parseVerdicts(text: string): KernelExpectation[] {
  const expected = new Map<string, KernelExpectation>();
  const silent: string[] = [];
  for (const line of text.split('\n')) {
    const [, kind, name, what] = /^\/\/ (expect|open): (\S+) (.+)$/.exec(line) ?? [];
    if (kind === undefined || name === undefined || what === undefined) {
      if (/^\/\/ ?(?:expect|open)\b/.test(line)) throw new Error(`malformed: ${line}`);
      continue;
    }
    const [, race, divergence] = /^race=(\w+) divergence=(\w+)$/.exec(what) ?? [];
    const before = expected.get(name);
    if (kind === 'expect' && race !== undefined && divergence !== undefined) {
      if (before) throw new Error(`two verdicts: ${line}`);
      expected.set(name, {
        kernel: name,
        race,
        divergence,
        findings: [],
        assumes: [],
        preconditions: [],
        launches: [],
        without: [],
        advice: [],
      });
      continue;
    }
    if (!before) throw new Error(`no verdict before: ${line}`);
    if (what === 'silent') silent.push(name);
    else expected.set(name, kind === 'open' ? { ...before, open: what } : extended(before, what));
  }
  for (const { kernel, advice } of expected.values())
    for (const { followedBy } of advice) {
      const other = followedBy === undefined ? null : expected.get(followedBy);
      if (other === undefined || (other && (other.race !== 'proved' || other.divergence !== 'proved')))
        throw new Error(`${kernel}: ${followedBy} is not expected to be proved`);
    }
  for (const name of silent) {
    if (loud(expected.get(name)!.findings).length > 0) throw new Error(`${name} is silent and has findings`);
  }
  return [...expected.values()];
}

/** @throws if `what` has none of the forms */
function extended(expectation: KernelExpectation, what: string): KernelExpectation {
  const [, kind] = /^assumes (\S+)$/.exec(what) ?? [];
  if (kind !== undefined) return { ...expectation, assumes: [...expectation.assumes, kind] };
  const [, code] = /^without (\S+)$/.exec(what) ?? [];
  if (code !== undefined) return { ...expectation, without: [...expectation.without, code] };
  const [, advised, followedBy] = /^advice "([^"]+)"(?: as in (\S+))?$/.exec(what) ?? [];
  if (advised !== undefined) {
    const advice = { text: advised, ...(followedBy !== undefined && { followedBy }) };
    return { ...expectation, advice: [...expectation.advice, advice] };
  }
  const [, precondition] = /^precondition "([^"]+)"$/.exec(what) ?? [];
  if (precondition !== undefined) return { ...expectation, preconditions: [...expectation.preconditions, precondition] };
  if (what.startsWith('launch ')) return { ...expectation, launches: [...expectation.launches, parseLaunch(what.slice('launch '.length))] };
  const match = /^finding (\S+) (error|warning|notice)(?: on (\S+))? lines (\S+)(?: when "([^"]+)")?$/.exec(what);
  if (!match) throw new Error(`malformed: ${expectation.kernel} ${what}`);
  const [, named, severity, array, lines, condition] = match;
  const finding = {
    code: named!,
    severity: severity!,
    ...(array !== undefined && { array }),
    lines: lines!.split(','),
    ...(condition !== undefined && { condition }),
  };
  return { ...expectation, findings: [...expectation.findings, finding] };
}

/**
 * Differences between a report and the expectations of a kernel; empty if it satisfies them.
 * @param kernel its part of the report
 * @param diagnostics those that are about it
 */
export function differences(expectation: KernelExpectation, kernel: JudgedKernel, diagnostics: readonly JudgedDiagnostic[]): string[] {
  const { race, divergence, location, launches } = kernel;
  const assumptions = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])];
  const kinds = assumptions.map(({ kind }) => kind);
  const preconditions = [...new Set(assumptions.filter(({ kind }) => kind === 'precondition').map((one) => one.text))];
  const found = [...race.findings, ...divergence.findings, ...diagnostics].map((finding): Found => {
    const { code, severity, array, message } = finding as JudgedFinding;
    return { code, severity, ...(array !== undefined && { array }), message, lines: linesOf(finding, location?.file) };
  });
  return [
    ...difference('race', race.verdict, expectation.race, race.reason),
    ...difference('divergence', divergence.verdict, expectation.divergence, divergence.reason),
    ...expectation.assumes.filter((kind) => !kinds.includes(kind)).map((kind) => `does not assume ${kind}`),
    ...difference('preconditions', preconditions.sort().join(), [...expectation.preconditions].sort().join()),
    ...differentFindings(found, expectation.findings),
    ...found.filter(({ code }) => expectation.without.includes(code)).map((finding) => `not expected: ${findingText(finding)}`),
    ...expectation.launches.flatMap((launch) => launchDifferences(launch, launches)),
    ...expectation.advice
      .filter(({ text }) => !found.some(({ message }) => sentencesOf(message).includes(text)))
      .map(({ text }) => `no finding advises: ${text}`),
  ];
}

/** The sentences of a message, without their full stops; those in code may contain dots. */
function sentencesOf(message: string): readonly string[] {
  return message.split(/\.(?: (?=[A-Z`])|$)/);
}

/** A finding or a diagnostic of a report. */
interface Found extends Omit<ExpectedFinding, 'condition'> {
  readonly message: string;
}

function difference(what: string, now: string, right: string, reason?: string): string[] {
  return now === right ? [] : [`${what}: ${now}${reason === undefined ? '' : ` (${reason})`}, not ${right}`];
}

/** Errors and warnings are compared as they are; of notices, those that are expected are looked for. */
function differentFindings(found: readonly Found[], expected: readonly ExpectedFinding[]): string[] {
  const left = [...expected];
  const unexpected = found.filter((finding) => {
    const index = left.findIndex((one) => isMet(one, finding));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  return [
    ...left.map((finding) => {
      const { condition } = finding;
      return `missing: ${findingText(finding)}${condition === undefined ? '' : ` when "${condition}"`}`;
    }),
    ...loud(unexpected).map((finding) => `unexpected: ${findingText(finding)}`),
  ];
}

/** Errors and warnings. */
function loud<F extends { readonly severity: string }>(findings: readonly F[]): F[] {
  return findings.filter(({ severity }) => severity !== 'notice');
}

function isMet({ condition = '', ...expected }: ExpectedFinding, found: Found): boolean {
  return findingText(expected) === findingText(found) && found.message.includes(condition);
}

function findingText({ code, severity, array, lines }: Omit<ExpectedFinding, 'condition'>): string {
  return `${code} ${severity}${array === undefined ? '' : ` on ${array}`} lines ${lines.join()}`;
}

/** The distinct lines of a finding, ascending; those of other files than `file` with their file names. */
function linesOf(found: JudgedFinding | JudgedDiagnostic, file: string | undefined): string[] {
  const { barrier, first, second, also = [], location } = found as JudgedFinding & JudgedDiagnostic;
  const pairs = [{ first, second }, ...also].flatMap((pair) => [pair.first?.location, pair.second?.location]);
  const places = [barrier, ...pairs, location].filter((place) => place !== undefined).sort((a, b) => a.line - b.line);
  return [...new Set(places.map((place) => (place.file === file ? String(place.line) : `${place.file}:${place.line}`)))];
}

/** The kernel of a diagnostic: the one launched on its line, otherwise the one whose code contains the line. */
export function kernelAt({ location }: JudgedDiagnostic, { kernels }: JudgedReport, text: string): string | undefined {
  if (!location) return undefined;
  const [, launched] = /(\w+)(?:<[^<>]*>)?\s*<<</.exec(text.split('\n')[location.line - 1] ?? '') ?? [];
  if (launched !== undefined) return launched;
  const before = kernels.filter((kernel) => (kernel.location?.line ?? Infinity) <= location.line);
  const nearest = before.sort((a, b) => b.location!.line - a.location!.line)[0];
  return nearest && /\w+(?=[<(])/.exec(nearest.name)?.[0];
}
