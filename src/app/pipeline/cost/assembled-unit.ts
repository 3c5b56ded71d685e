/** Results of the assembler for the units of kernels, and diagnostics about rejected units. */
import { type Diagnostic } from '../../../source/diagnostic.ts';
import { outsideToolkit, type Location } from '../../../source/location.ts';
import type { AssembledUnit, Unassembled } from '../../../toolchain/resources.ts';
import { kernelName } from '../../../cuda/names/kernel-name.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import type { UnitBuilder } from '../../project/unit-builder.ts';
import type { Options } from '../../../settings/options.ts';

/** Result of the assembler for the unit of a kernel, or why it is missing; undefined if nothing was assembled. */
export type Assembled = (entry: LaunchedKernel) => Promise<AssembledUnit | Unassembled> | undefined;

/** Starts the assembler on the production builds of the units of kernels. */
export function assembled(kernels: readonly LaunchedKernel[], { resources: assemble }: Pick<UnitBuilder, 'resources'>): Assembled {
  if (!assemble) return () => Promise.resolve(noAssembler);
  const known = new Map<string, Promise<AssembledUnit | Unassembled>>();
  const keyOf = ({ unit, arch }: LaunchedKernel): string => JSON.stringify([unit.path, arch]);
  for (const entry of kernels) {
    const { unit, arch, production, verification } = entry;
    const ptx = unit.kind === 'ptx' ? verification.source.ptx : production?.source.ptx;
    if (ptx === undefined || known.has(keyOf(entry))) continue;
    const resources = assemble(ptx, arch, unit);
    // A rejection is reported when the promise is awaited. If it never is awaited, an earlier error was already
    // reported.
    resources.catch(() => undefined);
    known.set(keyOf(entry), resources);
  }
  return (entry) => known.get(keyOf(entry));
}

/** Diagnostics about a unit that was not assembled: rejections, and other reasons if only costs were requested. */
export function notAssembled(options: Options, entry: LaunchedKernel, why: Unassembled): Diagnostic[] {
  const { unit } = entry;
  const code = 'compile/refused';
  if (why.isRefusal) {
    const location = refusedPlace(entry, why);
    // The assembler names kernels by their symbols only.
    const reason = why.symbol === undefined ? why.reason : why.reason.replace(`'${why.symbol}'`, kernelName(why.symbol).qualified);
    return [{ severity: 'error', code, message: `Nothing in ${unit.path} can run: ${reason}.`, ...(location && { location }) }];
  }
  if (options.checks.includes('race')) return [];
  const message = `Registers and occupancy of the kernels in ${unit.path} are not known: ${why.reason}.`;
  return [{ severity: 'notice', code, message }];
}

const noAssembler: Unassembled = {
  reason: 'no ptxas was found; put the nvcc of a toolkit on PATH, or name one with --nvcc PATH or CUDA_HOME',
  isRefusal: false,
};

/** Source location of the construct that the assembler rejects. */
function refusedPlace(entry: LaunchedKernel, { ptxLine, symbol }: Unassembled): Location | undefined {
  const { unit, production, kernel } = entry;
  const kernels = unit.kind === 'ptx' ? [kernel] : (production?.kernels ?? []);
  const named = kernels.find((other) => other.symbol === symbol);
  if (named) return named.location;
  for (const { blocks } of ptxLine === undefined ? [] : kernels) {
    const found = blocks.flatMap(({ instructions }) => instructions).find((one) => one.ptxLine === ptxLine);
    if (found) return outsideToolkit(found.location);
  }
  return kernel.location?.file === unit.path ? { file: unit.path, line: 1 } : undefined;
}
