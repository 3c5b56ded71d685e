import type { KernelReport } from '../../src/report-model/report.ts';

/** The expectation for one kernel in the first lines of its file. */
export interface Expectation {
  readonly kernel: string;
  readonly race: string;
  readonly divergence: string;
  readonly findings: readonly ExpectedFinding[];
  /** The report of the engine until it reaches the expectation. */
  readonly open?: Outcome & { readonly reason: string };
}

export type Outcome = Pick<Expectation, 'race' | 'divergence' | 'findings'>;

/** Both accesses of a race, or the barrier of a divergence. */
export interface ExpectedFinding {
  readonly code: string;
  /** Ascending. */
  readonly lines: readonly number[];
}

/**
 * Reads the lines `// expect: NAME race=… divergence=… [finding CODE lines N,M]…` that a test kernel begins with, and
 * the lines `// open: …` of the same form, with a reason in parentheses at the end.
 * @throws if one of them is malformed, or an `open` has no kernel or claims more than is expected
 */
export function parseExpectations(text: string): Expectation[] {
  const lines = text.split('\n');
  const open = lines.filter((line) => line.startsWith('// open:')).map((line) => parseOpen(line));
  const expected = lines
    .filter((line) => line.startsWith('// expect:'))
    .map((line): Expectation => {
      const { kernel, ...outcome } = parseOutcome(line.slice('// expect:'.length));
      const now = open.find((other) => other.kernel === kernel);
      return { kernel, ...outcome, ...(now && { open: now }) };
    });
  for (const { kernel, race, divergence } of open) {
    const meant = expected.find((other) => other.kernel === kernel);
    if (!meant) throw new Error(`nothing is expected of ${kernel}`);
    const isWrong = (now: string, right: string): boolean => now !== right && now !== 'possible' && now !== 'unknown';
    if (isWrong(race, meant.race) || isWrong(divergence, meant.divergence))
      throw new Error(`${kernel}: the line "open" is not weaker, but wrong`);
  }
  return expected;
}

function parseOpen(line: string): Outcome & { readonly kernel: string; readonly reason: string } {
  const match = /^\/\/ open:(.*) \(([^()]+)\)$/.exec(line);
  if (!match) throw new Error(`no reason: ${line}`);
  return { ...parseOutcome(match[1]!), reason: match[2]! };
}

function parseOutcome(text: string): Outcome & { readonly kernel: string } {
  const match = /^ (.+?) race=(\w+) divergence=(\w+)((?: finding [\w/-]+ lines [\d,]+)*)$/.exec(text);
  if (!match) throw new Error(`malformed expectation:${text}`);
  const findings = [...match[4]!.matchAll(/finding (\S+) lines ([\d,]+)/g)].map(([, code, numbers]) => ({
    code: code!,
    lines: numbers!.split(',').map(Number),
  }));
  return { kernel: match[1]!, race: match[2]!, divergence: match[3]!, findings };
}

/**
 * The kernel of this name among those of a report, for any parameters and template arguments.
 * @throws if it is missing or ambiguous
 */
export function kernelNamed<K extends Pick<KernelReport, 'name'>>(kernels: readonly K[], name: string): K {
  const found = kernels.filter((kernel) => [kernel.name, kernel.name.replace(/<.*>/, '')].some((text) => text.startsWith(`${name}(`)));
  if (found.length !== 1) throw new Error(`${name} among ${kernels.map((kernel) => kernel.name).join(', ')}`);
  return found[0]!;
}
