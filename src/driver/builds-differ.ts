import type { Kernel, Instruction } from '../ir/kernel.ts';

type Role = 'barrier' | 'store' | 'atomic';

/**
 * Compares what the production build synchronises and writes with what the verification build does, by source line.
 * A store, atomic or barrier that only the production build has was never checked; a barrier that only the
 * verification build has may be what a proof rests on. Stores that only the verification build has are dead ones that
 * the optimiser removed.
 * @returns why verdicts on the verification build say nothing of the production build; undefined where they do
 */
export function buildsDiffer(verification: Kernel, production: Kernel | undefined): string | undefined {
  if (!production) return 'the production build lacks this kernel';
  const unread = production.unsupported.find(
    ({ reason }) => !verification.unsupported.some((other) => other.reason === reason),
  );
  if (unread) return `the production build holds what is not understood: ${unread.reason}`;
  const checked = linesByRole(verification);
  const runs = linesByRole(production);
  for (const role of ['barrier', 'atomic', 'store'] as const) {
    for (const [line, place] of runs[role]) {
      if (!checked[role].has(line)) return `the production build alone has ${article(role)} ${place}`;
    }
  }
  for (const [line, place] of checked.barrier) {
    if (!runs.barrier.has(line)) return `the production build lacks the barrier ${place}`;
  }
  return undefined;
}

function article(role: Role): string {
  return role === 'atomic' ? 'an atomic' : `a ${role}`;
}

function linesByRole(kernel: Kernel): Record<Role, Map<string, string>> {
  const lines: Record<Role, Map<string, string>> = { barrier: new Map(), store: new Map(), atomic: new Map() };
  for (const block of kernel.blocks) {
    for (const instruction of block.instructions) {
      const role = roleOf(instruction);
      if (role === undefined) continue;
      const { location } = instruction;
      if (location) lines[role].set(`${location.file}:${location.line}`, `at ${location.file}:${location.line}`);
      else lines[role].set('?', 'that no source line accounts for');
    }
  }
  return lines;
}

function roleOf({ operation: { effect } }: Instruction): Role | undefined {
  switch (effect.kind) {
    case 'barrier':
    case 'grid-barrier':
    case 'cluster-barrier':
      return 'barrier';
    case 'store':
      return effect.space === 'local' || effect.space === 'param' ? undefined : 'store';
    case 'async-copy':
    case 'surface-store':
      return 'store';
    case 'atomic':
      return 'atomic';
    default:
      return undefined;
  }
}
