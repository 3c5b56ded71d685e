import type { ReportedDivergence, ReportedRace } from '../../src/report-model/finding.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';

export function raceFinding(changes: Partial<ReportedRace> = {}): ReportedRace {
  return {
    code: 'race/shared',
    severity: 'error',
    fingerprint: 'f1',
    kind: 'read-write',
    memory: 'shared',
    scope: 'block',
    array: 's',
    first: {
      operation: 'write',
      memory: 'shared',
      bytes: 4,
      expression: 's[t]',
      location: { file: 'src/a.cu', line: 3, column: 3 },
      thread: [0, 0, 0],
      block: [0, 0, 0],
    },
    second: {
      operation: 'read',
      memory: 'shared',
      bytes: 4,
      expression: 's[t + 1]',
      location: { file: 'src/a.cu', line: 5, column: 7 },
      thread: [1, 0, 0],
      block: [0, 0, 0],
    },
    confirmed: true,
    witness: { kernel: 'k', block: [32, 1, 1], grid: [1, 1, 1], args: { n: 7, out: { type: 'float32', length: 8 } } },
    witnessOrigin: 'given',
    message: 'Thread (1, 0, 0) reads s while thread (0, 0, 0) writes it.',
    ...changes,
  };
}

export function divergenceFinding(changes: Partial<ReportedDivergence> = {}): ReportedDivergence {
  return {
    code: 'barrier/divergent',
    severity: 'error',
    fingerprint: 'd1',
    kind: 'divergent',
    barrier: { file: 'src/a.cu', line: 6, column: 5 },
    condition: 'threadIdx.x < 16',
    confirmed: true,
    witness: { kernel: 'k', block: [32, 1, 1], grid: [1, 1, 1], args: {} },
    witnessOrigin: 'given',
    message: 'Threads of one block differ in threadIdx.x < 16.',
    ...changes,
  };
}

export function kernelReport(changes: Partial<KernelReport> = {}): KernelReport {
  const race = changes.race ?? {
    verdict: 'proved',
    findings: [],
    assumptions: [{ kind: 'launch', text: 'blockDim = (32, 1, 1)' }],
  };
  const divergence = changes.divergence ?? { verdict: 'proved', findings: [] };
  return {
    name: 'k(float*)',
    symbol: '_Z1kPf',
    location: { file: 'src/a.cu', line: 2 },
    repair: { status: 'skipped' },
    launches: [
      {
        source: 'annotation',
        block: [32, 1, 1],
        grid: [1, 1, 1],
        cluster: null,
        sharedBytes: null,
        cooperative: false,
        location: { file: 'src/a.cu', line: 1 },
        race,
        divergence,
      },
    ],
    ...changes,
    race,
    divergence,
  };
}

export function reportOf(kernels: readonly KernelReport[], diagnostics: readonly Diagnostic[] = []): Report {
  return {
    schema: 1,
    tool: { name: 'selvage', version: '0.1.0' },
    toolchain: { compiler: '13.0.88', arch: ['sm_80'], solver: null },
    kernels,
    diagnostics,
  };
}
