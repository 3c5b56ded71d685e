import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compiler } from './compiler.ts';
import { confinedEnvironment } from './environment.ts';
import { runProcess, type ProcessLimits } from './process.ts';
import { parsePtxasReport, type KernelResources } from './ptxas-report.ts';

const refuses = 'ptxas refuses';

/** Whether there are no resources because nothing of the unit can run, rather than because nobody could tell. */
export function isRefusal(reason: string): boolean {
  return reason.startsWith(refuses);
}

/**
 * Assembles PTX for what the assembler reports of its kernels.
 * @param arch `sm_80`
 * @param mostRegisters what `-maxrregcount` says
 * @returns resources by the symbol of the kernel, or why there are none
 */
export async function assembledResources(
  compiler: Compiler,
  ptx: string,
  arch: string,
  limits: ProcessLimits,
  signal?: AbortSignal,
  mostRegisters?: number,
): Promise<ReadonlyMap<string, KernelResources> | string> {
  if (compiler.ptxas === null) return 'there is no ptxas beside nvcc';
  const cap = mostRegisters === undefined ? [] : [`--maxrregcount=${mostRegisters}`];
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    const file = join(temporary, 'unit.ptx');
    await writeFile(file, ptx);
    const assemble = (...more: readonly string[]) =>
      runProcess({
        executable: compiler.ptxas!,
        args: ['-v', `-arch=${arch}`, ...cap, ...more, file, '-o', join(temporary, 'unit.cubin')],
        cwd: temporary,
        env: confinedEnvironment(compiler.searchPath, temporary),
        limits,
        signal,
      });
    let result = await assemble();
    // Units that are compiled apart are linked later.
    if (/Unresolved extern/.test(result.stderr)) result = await assemble('--compile-only');
    const { end, stdout, stderr } = result;
    if (end.kind !== 'exited') return 'ptxas was stopped';
    if (end.code !== 0) {
      const [, why] = /\b(?:error|fatal)\s*:\s*(.+?)\.?\s*$/m.exec(stderr.replaceAll(`${temporary}/`, '')) ?? [];
      return `${refuses} it for ${arch}${why === undefined ? '' : `: ${why}`}`;
    }
    return parsePtxasReport(`${stdout}\n${stderr}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
