/** The files of `--save-reproducer`: one kernel as PTX, facts about its launches, and commands that check it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import type { Launch } from '../../launch/launch.ts';
import { parameterName, scalarText } from '../../launch/parameter-field.ts';
import { kernelExcerpt } from '../../ptx/excerpt.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';

/**
 * Writes `kernel.ptx`, a file of facts for each launch, and `commands.txt`. They contain no name or path of the
 * program. Facts that such a file cannot express are left out: pointers that a launch passes twice, and contents of
 * memory.
 * @throws UsageError if several kernels are selected, or the folder cannot be written
 */
export function writeReproducer(folder: string, kernels: readonly LaunchedKernel[]): void {
  const [entry, ...others] = kernels;
  if (!entry || others.length > 0) {
    const names = kernels.map(({ name }) => name.qualified).join(', ');
    throw new UsageError(`--save-reproducer takes one kernel. Select it with --kernel; the kernels are: ${names}.`);
  }
  const ptx = kernelExcerpt(entry.verification.module, entry.kernel.symbol);
  if (ptx === null) throw new UsageError(`--save-reproducer: ${entry.name.qualified} has no PTX.`);
  const facts = entry.launches.map((launch, index) => [`launch-${index}.json`, factsOf(entry, launch)] as const);
  const commands = facts.map(([file]) => `selvage check kernel.ptx --facts ${file}\n`).join('');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'kernel.ptx'), ptx);
    for (const [file, stated] of facts) writeFileSync(join(folder, file), `${JSON.stringify({ kernels: [stated] }, null, 2)}\n`);
    writeFileSync(join(folder, 'commands.txt'), commands);
  } catch (error) {
    throw new UsageError(`--save-reproducer ${folder}: ${(error as Error).message}`);
  }
}

function factsOf({ kernel, parameters, assumptions }: LaunchedKernel, launch: Launch): Record<string, unknown> {
  const { block, grid, cluster, sharedBytes, cooperative, scalars, ties = [] } = launch;
  const names = new Map(kernel.parameters.map((_, index) => [parameterName(parameters, index), `param${index}`]));
  const neutral = (text: string): string => text.replace(/(?<![\w.])[A-Za-z_]\w*/g, (name) => names.get(name) ?? name);
  const args = [...scalars].map(([index, value]) => {
    const field = { index, offset: 0, bytes: kernel.parameters[index]!.bytes, isPointer: false };
    return [`param${index}`, scalarText(kernel, parameters, field, value)] as const;
  });
  return {
    match: '*',
    ...(block && { block }),
    ...(grid && { grid }),
    ...(cluster && { cluster }),
    ...(sharedBytes !== null && { shared: sharedBytes }),
    ...(cooperative && { cooperative }),
    ...(args.length > 0 && { args: Object.fromEntries(args) }),
    assume: [...assumptions, ...ties].map(({ text }) => neutral(text)),
  };
}
