/** What the first lines of a test kernel expect of one kernel. */
export interface Expectation {
  readonly kernel: string;
  readonly race: string;
  readonly divergence: string;
  readonly findings: readonly ExpectedFinding[];
}

/** Both accesses of a race, or the barrier of a divergence. */
export interface ExpectedFinding {
  readonly code: string;
  /** Ascending. */
  readonly lines: readonly number[];
}

/**
 * Reads the lines `// expect: NAME race=… divergence=… [finding CODE lines N,M]…` that a test kernel begins with.
 * @throws where one of them is malformed
 */
export function parseExpectations(text: string): Expectation[] {
  const lines = text.split('\n').filter((line) => line.startsWith('// expect:'));
  return lines.map((line) => {
    const match = /^\/\/ expect: (.+?) race=(\w+) divergence=(\w+)((?: finding [\w/-]+ lines [\d,]+)*)$/.exec(line);
    if (!match) throw new Error(`malformed expectation: ${line}`);
    const findings = [...match[4]!.matchAll(/finding (\S+) lines ([\d,]+)/g)].map(([, code, numbers]) => ({
      code: code!,
      lines: numbers!.split(',').map(Number),
    }));
    return { kernel: match[1]!, race: match[2]!, divergence: match[3]!, findings };
  });
}
