import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compiler } from './compiler.ts';
import { confinedEnvironment } from './environment.ts';
import { runProcess, type ProcessLimits } from '../system/child-process.ts';
import { parsePtxasReport, type KernelResources } from './ptxas-report.ts';

/** Result of the assembler for a unit. */
export interface AssembledUnit {
  /** Resources by the symbol of the kernel. */
  readonly kernels: ReadonlyMap<string, KernelResources>;
  /** The cubin, with line tables of the source and of the PTX. */
  readonly cubin: Uint8Array;
}

/** Why the assembler has no result for a unit. */
export interface Unassembled {
  readonly reason: string;
  /**
   * Whether the PTX is invalid, so that the unit cannot run at all. False if only this assembler cannot assemble it.
   */
  readonly isRefusal: boolean;
  /** Line of the PTX that the assembler's message names. */
  readonly ptxLine?: number;
  /** Symbol of the kernel that the assembler's message names. */
  readonly symbol?: string;
}

/** Messages on PTX of a newer toolkit, or for another architecture. They do not mean that the PTX is invalid. */
const strange = /\bUnsupported \.version\b|\.target\b/;

/**
 * Assembles PTX, for the code and for the report of the assembler on its kernels.
 * @param arch `sm_80`
 * @param mostRegisters value of `-maxrregcount`
 * @returns the code and the resources of its kernels, or why they are missing
 */
export async function assembledUnit(
  compiler: Compiler,
  ptx: string,
  arch: string,
  limits: ProcessLimits,
  signal?: AbortSignal,
  mostRegisters?: number,
): Promise<AssembledUnit | Unassembled> {
  if (compiler.ptxas === null) return { reason: 'no ptxas was found next to nvcc', isRefusal: false };
  const cap = mostRegisters === undefined ? [] : [`--maxrregcount=${mostRegisters}`];
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    const file = join(temporary, 'unit.ptx');
    const cubin = join(temporary, 'unit.cubin');
    await writeFile(file, ptx);
    const assemble = (...more: readonly string[]) =>
      runProcess({
        executable: compiler.ptxas!,
        // Line tables are requested; they do not change the instructions.
        args: ['-v', '-lineinfo', `-arch=${arch}`, ...cap, ...more, file, '-o', cubin],
        cwd: temporary,
        env: confinedEnvironment(compiler.searchPath, temporary),
        limits,
        signal,
      });
    let result = await assemble();
    // The unit is compiled separately and linked later, so it is assembled again as a relocatable object.
    if (/Unresolved extern/.test(result.stderr)) result = await assemble('--compile-only');
    const { end, stdout, stderr } = result;
    if (end.kind !== 'exited') return { reason: 'ptxas was stopped', isRefusal: false };
    if (end.code !== 0) return unassembled(stderr.replaceAll(`${temporary}/`, ''), arch);
    return { kernels: parsePtxasReport(`${stdout}\n${stderr}`), cubin: new Uint8Array(await readFile(cubin)) };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function unassembled(stderr: string, arch: string): Unassembled {
  const [, line, why] = /(?:, line (\d+); *)?\b(?:error|fatal)\s*:\s*(.+?)\.?\s*$/m.exec(stderr) ?? [];
  const [, symbol] = /^(?:Entry function|Function) '(\w+)'/.exec(why ?? '') ?? [];
  return {
    reason: `ptxas rejects it for ${arch}${why === undefined ? '' : `: ${why}`}`,
    isRefusal: !strange.test(why ?? ''),
    ...(line === undefined ? {} : { ptxLine: Number(line) }),
    ...(symbol === undefined ? {} : { symbol }),
  };
}
