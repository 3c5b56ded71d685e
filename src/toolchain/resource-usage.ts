/** What ptxas makes of a kernel: its registers, spills and shared memory. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compiler } from './compiler.ts';
import { confinedEnvironment } from './environment.ts';
import { runProcess, type ProcessLimits } from './process.ts';

export interface ResourceUsage {
  /** Of a thread. */
  readonly registers: number;
  /** Stored and loaded by a thread, in bytes. */
  readonly spillBytes: number;
  /** Of a block, without what the launch adds, in bytes. */
  readonly sharedBytes: number;
}

export interface ResourceRequest {
  readonly compiler: Compiler;
  readonly ptx: string;
  /** `sm_80` */
  readonly arch: string;
  /** What `-maxrregcount` says. */
  readonly mostRegisters?: number | undefined;
  readonly limits: ProcessLimits;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Assembles a module with ptxas.
 * @returns by symbol of the kernel; null where there is no ptxas, or it refuses the module
 */
export async function measureResources(request: ResourceRequest): Promise<ReadonlyMap<string, ResourceUsage> | null> {
  const { compiler, ptx, arch, mostRegisters, limits, signal } = request;
  if (compiler.ptxas === null || !/^sm_\d{2,3}[af]?$/.test(arch)) return null;
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    const file = join(temporary, 'unit.ptx');
    await writeFile(file, ptx);
    const cap = mostRegisters === undefined ? [] : [`--maxrregcount=${mostRegisters}`];
    const { end, stdout, stderr } = await runProcess({
      executable: compiler.ptxas,
      args: [`-arch=${arch}`, '-v', ...cap, '-o', join(temporary, 'unit.cubin'), file],
      cwd: temporary,
      env: confinedEnvironment(compiler.searchPath, temporary),
      limits,
      signal,
    });
    if (end.kind !== 'exited' || end.code !== 0) return null;
    return parseResourceUsage(`${stdout}\n${stderr}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Reads what `ptxas -v` prints, by symbol of the kernel. */
export function parseResourceUsage(text: string): ReadonlyMap<string, ResourceUsage> {
  const usage = new Map<string, ResourceUsage>();
  let symbol: string | undefined;
  let spillBytes = 0;
  for (const line of text.split('\n')) {
    const entry = /Compiling entry function '([^']+)'/.exec(line)?.[1];
    if (entry !== undefined) {
      symbol = entry;
      spillBytes = 0;
    }
    const spills = /(\d+) bytes spill stores, (\d+) bytes spill loads/.exec(line);
    if (spills) spillBytes = Number(spills[1]) + Number(spills[2]);
    const registers = /\bUsed (\d+) registers/.exec(line)?.[1];
    if (registers === undefined || symbol === undefined) continue;
    const sharedBytes = Number(/(\d+)(?:\+\d+)? bytes smem/.exec(line)?.[1] ?? 0);
    usage.set(symbol, { registers: Number(registers), spillBytes, sharedBytes });
    symbol = undefined;
  }
  return usage;
}
