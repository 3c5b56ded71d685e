/** What is right of a kernel, as the first lines of its file say it, and how a report differs from that. */
import { kernelNamed } from '../kernels/expectation.ts';

/** What is expected of one kernel. `README.md` has the lines that say it. */
export interface KernelExpectation {
  readonly kernel: string;
  readonly race: string;
  readonly divergence: string;
  readonly findings: readonly ExpectedFinding[];
  /** Kinds of assumptions. */
  readonly assumes: readonly string[];
  /** In the language of assumptions. */
  readonly preconditions: readonly string[];
  /** What the engine gives until it reaches the expectation. */
  readonly open?: string;
}

interface ExpectedFinding {
  readonly code: string;
  readonly severity: string;
  /** Not of a barrier, nor of a launch. */
  readonly array?: string;
  /** Ascending. */
  readonly lines: readonly number[];
  /** Part of the condition that its text names. */
  readonly condition?: string;
}

/** The part of a report, as JSON, that is compared. */
export interface JudgedReport {
  readonly kernels: readonly JudgedKernel[];
  readonly diagnostics: readonly JudgedDiagnostic[];
}

interface JudgedKernel {
  readonly name: string;
  readonly location?: { readonly line: number };
  readonly race: JudgedResult;
  readonly divergence: JudgedResult;
}

interface JudgedResult {
  readonly verdict: string;
  readonly reason?: string;
  readonly assumptions?: readonly { readonly kind: string; readonly text: string }[];
  readonly findings: readonly JudgedFinding[];
}

interface JudgedPair {
  readonly first?: { readonly location?: { readonly line: number } };
  readonly second?: { readonly location?: { readonly line: number } };
}

interface JudgedFinding extends JudgedPair {
  readonly code: string;
  readonly severity: string;
  readonly array?: string;
  readonly message: string;
  readonly barrier?: { readonly line: number };
  readonly also?: readonly JudgedPair[];
}

interface JudgedDiagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly location?: { readonly line: number };
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
      expected.set(name, { kernel: name, race, divergence, findings: [], assumes: [], preconditions: [] });
      continue;
    }
    if (!before) throw new Error(`no verdict before: ${line}`);
    if (what === 'silent') silent.push(name);
    else expected.set(name, kind === 'open' ? { ...before, open: what } : extended(before, what));
  }
  for (const name of silent) {
    if (loud(expected.get(name)!.findings).length > 0) throw new Error(`${name} is silent and has findings`);
  }
  return [...expected.values()];
}

/** @throws where `what` is none of the forms */
function extended(expectation: KernelExpectation, what: string): KernelExpectation {
  const [, kind] = /^assumes (\S+)$/.exec(what) ?? [];
  if (kind !== undefined) return { ...expectation, assumes: [...expectation.assumes, kind] };
  const [, precondition] = /^precondition "([^"]+)"$/.exec(what) ?? [];
  if (precondition !== undefined)
    return { ...expectation, preconditions: [...expectation.preconditions, precondition] };
  const match = /^finding (\S+) (error|warning|notice)(?: on (\S+))? lines ([\d,]+)(?: when "([^"]+)")?$/.exec(what);
  if (!match) throw new Error(`malformed: ${expectation.kernel} ${what}`);
  const [, code, severity, array, lines, condition] = match;
  const finding = {
    code: code!,
    severity: severity!,
    ...(array !== undefined && { array }),
    lines: lines!.split(',').map(Number),
    ...(condition !== undefined && { condition }),
  };
  return { ...expectation, findings: [...expectation.findings, finding] };
}

/**
 * How a report on a file differs from what is expected of one of its kernels: nothing where it does not.
 * @param text the file, which tells to what kernel a diagnostic belongs
 * @throws where the report has no such kernel
 */
export function differences(expectation: KernelExpectation, report: JudgedReport, text: string): string[] {
  const { race, divergence } = kernelNamed(report.kernels, expectation.kernel);
  const assumptions = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])];
  const kinds = assumptions.map(({ kind }) => kind);
  const preconditions = [...new Set(assumptions.filter(({ kind }) => kind === 'precondition').map((one) => one.text))];
  const found = [
    ...race.findings,
    ...divergence.findings,
    ...report.diagnostics.filter((diagnostic) => kernelAt(diagnostic, report, text) === expectation.kernel),
  ];
  return [
    ...difference('race', race.verdict, expectation.race, race.reason),
    ...difference('divergence', divergence.verdict, expectation.divergence, divergence.reason),
    ...expectation.assumes.filter((kind) => !kinds.includes(kind)).map((kind) => `does not assume ${kind}`),
    ...difference('preconditions', preconditions.sort().join(), [...expectation.preconditions].sort().join()),
    ...differentFindings(found, expectation.findings),
  ];
}

function difference(what: string, now: string, right: string, reason?: string): string[] {
  return now === right ? [] : [`${what}: ${now}${reason === undefined ? '' : ` (${reason})`}, not ${right}`];
}

/** Errors and warnings are compared as they are; of notices, those that are expected are looked for. */
function differentFindings(
  found: readonly (JudgedFinding | JudgedDiagnostic)[],
  expected: readonly ExpectedFinding[],
): string[] {
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
    ...loud(unexpected).map((finding) => `unexpected: ${findingText({ ...finding, lines: linesOf(finding) })}`),
  ];
}

/** What is said aloud: errors and warnings. */
function loud<F extends { readonly severity: string }>(findings: readonly F[]): F[] {
  return findings.filter(({ severity }) => severity !== 'notice');
}

function isMet({ condition = '', ...expected }: ExpectedFinding, found: JudgedFinding | JudgedDiagnostic): boolean {
  const same = findingText(expected) === findingText({ ...found, lines: linesOf(found) });
  return same && found.message.includes(condition);
}

function findingText({ code, severity, array, lines }: Omit<ExpectedFinding, 'condition'>): string {
  return `${code} ${severity}${array === undefined ? '' : ` on ${array}`} lines ${lines.join()}`;
}

/** The distinct lines of what a finding speaks of, ascending. */
function linesOf(found: JudgedFinding | JudgedDiagnostic): number[] {
  const { barrier, first, second, also = [], location } = found as JudgedFinding & JudgedDiagnostic;
  const pairs = [{ first, second }, ...also].flatMap((pair) => [pair.first?.location, pair.second?.location]);
  const places = [barrier, ...pairs, location];
  return [...new Set(places.flatMap((place) => place?.line ?? []))].sort((a, b) => a - b);
}

/** The kernel that a diagnostic is about: the one launched on its line, else the one whose code the line is in. */
function kernelAt({ location }: JudgedDiagnostic, { kernels }: JudgedReport, text: string): string | undefined {
  if (!location) return undefined;
  const [, launched] = /(\w+)(?:<[^<>]*>)?\s*<<</.exec(text.split('\n')[location.line - 1] ?? '') ?? [];
  if (launched !== undefined) return launched;
  const before = kernels.filter((kernel) => (kernel.location?.line ?? Infinity) <= location.line);
  const nearest = before.sort((a, b) => b.location!.line - a.location!.line)[0];
  return nearest && /\w+(?=[<(])/.exec(nearest.name)?.[0];
}
