/** Reports made by hand. */
import type { DivergenceFinding, RaceFinding } from '../../src/verdict/finding.ts';
import type { KernelReport, Report } from '../../src/document/report.ts';
import type { Location } from '../../src/source/location.ts';

export const HEAD = 'a'.repeat(40);
export const BASE = 'b'.repeat(40);

export interface RaceParts {
  readonly fingerprint: string;
  readonly first: Location;
  readonly second: Location;
}

/** A confirmed race between a write at `first` and a read at `second`. */
export function race(parts: RaceParts & { readonly more?: Partial<RaceFinding> }): RaceFinding {
  const { fingerprint, first, second, more } = parts;
  return {
    code: 'race/shared',
    severity: 'error',
    fingerprint,
    kind: 'read-write',
    memory: 'shared',
    array: 's',
    first: { operation: 'write', memory: 'shared', expression: 's[t]', location: first, thread: [32, 0, 0], block: [0, 0, 0] }, // prettier-ignore
    second: { operation: 'read', memory: 'shared', expression: 's[t + 1]', location: second, thread: [31, 0, 0], block: [0, 0, 0] }, // prettier-ignore
    confirmed: true,
    witness: { kernel: 'shift', block: [256, 1, 1], grid: [1, 1, 1], args: { n: 256 } },
    witnessOrigin: 'given',
    message: 'raw message',
    ...more,
  };
}

export function divergence(
  fingerprint: string,
  barrier: Location,
  more: Partial<DivergenceFinding> = {},
): DivergenceFinding {
  return {
    code: 'barrier/divergent',
    severity: 'error',
    fingerprint,
    kind: 'divergent',
    barrier,
    condition: 'threadIdx.x < 16',
    confirmed: true,
    message: 'raw message',
    ...more,
  };
}

export function kernel(
  name: string,
  races: readonly RaceFinding[],
  divergences: readonly DivergenceFinding[] = [],
): KernelReport {
  const raceVerdict = races.some((one) => one.confirmed) ? 'race' : races.length > 0 ? 'possible' : 'proved';
  const barrierVerdict = divergences.some((one) => one.confirmed)
    ? 'divergent'
    : divergences.length > 0
      ? 'possible'
      : 'proved';
  const results = {
    race: { verdict: raceVerdict, findings: races, ...(raceVerdict === 'possible' ? { reason: 'fence' } : {}) },
    divergence: { verdict: barrierVerdict, findings: divergences },
  } as const;
  return {
    name,
    symbol: `_Z${name.length}${name}`,
    location: { file: 'src/a.cu', line: 1 },
    ...results,
    repair: { status: 'skipped' },
    launches: [{ source: 'launch-site', block: [256, 1, 1], grid: [1, 1, 1], location: { file: 'src/a.cu', line: 40 }, ...results }], // prettier-ignore
  };
}

export function report(kernels: readonly KernelReport[], more: Partial<Report> = {}): Report {
  return {
    schema: 1,
    tool: { name: 'selvage', version: '0.1.0' },
    toolchain: { compiler: '13.0', arch: ['sm_80'], solver: null },
    kernels,
    diagnostics: [],
    ...more,
  };
}
