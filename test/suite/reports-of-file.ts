/**
 * Analyses one file of test kernels repeatedly and prints the results that `determinism.ts` compares, as JSON. Each
 * file has a separate process: hundreds of starts of a solver in one process crashed Node 24.
 */
import { findNativeZ3 } from '../../src/solver/z3-native.ts';
import type { Report } from '../../src/report-model/report.ts';
import { renderJson } from '../../src/report/json.ts';
import { analyseCheckedIn, type CheckedInOptions } from '../kernels/checked-in.ts';

/** Reports that must be the same as that of one job, byte for byte. */
const alike: Readonly<Record<string, CheckedInOptions>> = {
  'a second run': { options: { jobs: 1 } },
  'two jobs': { options: { jobs: 2 } },
  'two workers': { options: { jobs: 2 }, checking: { limits: { alone: 0, stretch: 1 } } },
};

export interface FileComparison {
  /** Whether the reports above are equal, by name. */
  readonly same: Readonly<Record<string, boolean>>;
  /** With the bundled solver, and with that of PATH; null if it is not installed. */
  readonly wasm: readonly KernelVerdicts[];
  readonly native: readonly KernelVerdicts[] | null;
  readonly asksSolver: boolean;
}

export interface KernelVerdicts {
  readonly kernel: string;
  readonly race: string;
  readonly divergence: string;
}

function verdictsOf({ kernels }: Report): KernelVerdicts[] {
  return kernels.map(({ name, race, divergence }) => ({
    kernel: name,
    race: race.verdict,
    divergence: divergence.verdict,
  }));
}

const file = process.argv[2]!;
const report = await analyseCheckedIn(file, { options: { jobs: 1 } });
const same: Record<string, boolean> = {};
for (const [name, options] of Object.entries(alike)) {
  same[name] = renderJson(await analyseCheckedIn(file, options)) === renderJson(report);
}
const hasNative = findNativeZ3(process.env['PATH']) !== undefined;
const native = hasNative ? verdictsOf(await analyseCheckedIn(file, { options: { solver: 'native' } })) : null;
const comparison: FileComparison = {
  same,
  wasm: verdictsOf(report),
  native,
  asksSolver: report.toolchain.solver !== null,
};
process.stdout.write(JSON.stringify(comparison));
