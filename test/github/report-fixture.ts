/** Reports written by hand. */
import type { ReportedDivergence, ReportedRace } from '../../src/report-model/finding.ts';
import type { DivergenceFinding, Interleaving, MissingOrder, RaceFinding } from '../../src/verdict/finding.ts';
import { divergenceReport, raceReport } from '../../src/messages/finding/verdict.ts';
import { reasonText } from '../../src/messages/text/verdict-reason.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import type { Location } from '../../src/source/location.ts';

export const HEAD = 'a'.repeat(40);
export const BASE = 'b'.repeat(40);

export interface RaceParts {
  readonly fingerprint: string;
  readonly first: Location;
  readonly second: Location;
  readonly reproduce?: string;
}

/** A race between a write at `first` and a read at `second`, which a run reproduced by default. */
export function race(parts: RaceParts & { readonly more?: Partial<RaceFinding> }): ReportedRace {
  const { fingerprint, first, second, more, reproduce } = parts;
  const data: RaceFinding = {
    code: 'race/shared',
    severity: 'error',
    fingerprint,
    kind: 'read-write',
    memory: 'shared',
    array: 's',
    first: { operation: 'write', memory: 'shared', expression: 's[t]', location: first, thread: [32, 0, 0], block: [0, 0, 0] },
    second: { operation: 'read', memory: 'shared', expression: 's[t + 1]', location: second, thread: [31, 0, 0], block: [0, 0, 0] },
    confirmed: true,
    witness: { kernel: 'shift', block: [256, 1, 1], grid: [1, 1, 1], args: { n: 256 } },
    witnessOrigin: 'given',
    ...more,
  };
  const isNamed = data.first.expression !== undefined && data.second.expression !== undefined;
  const overlap = { offset: 128, bytes: 4, ...(isNamed && { element: 's[32]' }) };
  const shown = data.confirmed ? { overlap, interleaving: interleavingOf(data) } : { reason: { kind: 'unknown-pointer' } as const };
  const [finding] = raceReport({ verdict: 'race', findings: [{ ...data, ...shown, ...more }] }).findings;
  return { ...finding!, ...(reproduce !== undefined && { reproduce }) };
}

/** The threads of the two accesses, without a barrier of the block in between. */
export function interleavingOf({ first, second }: RaceFinding, missing?: MissingOrder): Interleaving {
  const isGrid = first.block?.join() !== second.block?.join();
  return {
    threads: [first, second].map(({ thread = [0, 0, 0], block = [0, 0, 0] }) => ({
      thread,
      block,
      name: `thread ${thread[0]}${isGrid ? ` of block ${block[0]}` : ''}`,
    })),
    steps: [first, second].map(({ operation, location }, index) => ({
      threads: [index],
      action: operation,
      ...(location && { location }),
    })),
    missing: missing ?? { kind: isGrid ? 'grid-order' : 'block-barrier' },
  };
}

export function divergence(fingerprint: string, barrier: Location, more: Partial<DivergenceFinding> = {}): ReportedDivergence {
  const data: DivergenceFinding = {
    code: 'barrier/divergent',
    severity: 'error',
    fingerprint,
    kind: 'divergent',
    barrier,
    condition: 'threadIdx.x < 16',
    confirmed: true,
    among: 'block',
    ...more,
  };
  return divergenceReport({ verdict: 'divergent', findings: [data] }).findings[0]!;
}

export function kernel(name: string, races: readonly ReportedRace[], divergences: readonly ReportedDivergence[] = []): KernelReport {
  const raceVerdict = races.some((one) => one.confirmed) ? 'race' : races.length > 0 ? 'possible' : 'proved';
  const barrierVerdict = divergences.some((one) => one.confirmed) ? 'divergent' : divergences.length > 0 ? 'possible' : 'proved';
  const results = {
    race: {
      verdict: raceVerdict,
      findings: races,
      ...(raceVerdict === 'possible' ? { reason: reasonText({ kind: 'unknown-pointer' }) } : {}),
    },
    divergence: { verdict: barrierVerdict, findings: divergences },
  } as const;
  return {
    name,
    symbol: `_Z${name.length}${name}`,
    location: { file: 'src/a.cu', line: 1 },
    ...results,
    repair: { status: 'skipped' },
    launches: [{ source: 'launch-site', block: [256, 1, 1], grid: [1, 1, 1], location: { file: 'src/a.cu', line: 40 }, ...results }],
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
