/** Identity of kernels: within a commit, and between the kernels of the base and those of the head. */
import { grouped } from '../../base/grouped.ts';
import { isAbsolute } from 'node:path';
import { normalForm } from './normal-form.ts';
import type { LaunchedKernel, LoweredKernel, KernelUnit } from './phase-data.ts';

/**
 * Name of a kernel in fingerprints: the file that defines it, and its name without parameters. A kernel of a header
 * that several units include is one kernel, and a kernel of the same name in another file is a different one.
 * Parameters distinguish overloads.
 * @param siblings the kernels of its unit
 */
export function kernelIdentity(entry: LoweredKernel, siblings: readonly LoweredKernel[]): string {
  const { full, qualified } = entry.name;
  const isOverloaded = siblings.some(({ name }) => name.qualified === qualified && name.full !== full);
  return `${definingFile(entry)}|${isOverloaded ? full : qualified}`;
}

/** Uses the path of the unit if debug information names a file outside of the repository: such a path is not stable. */
function definingFile({ kernel: { location }, unit }: LoweredKernel): string {
  return location && !isAbsolute(location.file) ? location.file : unit.path;
}

/**
 * Gives kernels of the base the identity of their counterparts in the head. So findings keep their fingerprints if a
 * file is renamed, or if a kernel moves to a header or is renamed.
 * @param matched result of {@link matchKernels}
 */
export function withIdentityOfHead(
  base: readonly KernelUnit[],
  matched: ReadonlyMap<LaunchedKernel, LaunchedKernel | undefined>,
): { readonly base: KernelUnit[]; readonly matched: Map<LaunchedKernel, LaunchedKernel | undefined> } {
  const identities = new Map<LaunchedKernel, string>();
  for (const [after, before] of matched) if (before) identities.set(before, after.identity);
  const heirs = new Map<LaunchedKernel, LaunchedKernel>();
  const units = base.map((unit) => ({
    ...unit,
    kernels: unit.kernels.map((kernel) => {
      const heir = { ...kernel, identity: identities.get(kernel) ?? kernel.identity };
      heirs.set(kernel, heir);
      return heir;
    }),
  }));
  return { base: units, matched: new Map([...matched].map(([after, was]) => [after, was && heirs.get(was)])) };
}

/** Minimum share of common instruction pairs at which kernels with different names match. */
const alike = 0.75;

/**
 * Matches kernels by unit and name; then those whose name without parameters and template arguments is unique; then the
 * remaining ones by their bodies.
 * @param renamed path in the base by path in the head, of units that moved
 */
export function matchKernels(
  base: readonly KernelUnit[],
  head: readonly KernelUnit[],
  renamed: ReadonlyMap<string, string>,
): Map<LaunchedKernel, LaunchedKernel | undefined> {
  const keyOf = (path: string, { name, arch }: LaunchedKernel): string => JSON.stringify([path, name.full, arch]);
  const before = base.flatMap(({ kernels }) => kernels);
  const known = new Map(before.map((kernel) => [keyOf(kernel.unit.path, kernel), kernel]));
  const pathOf = ({ unit: { path } }: LaunchedKernel): string => renamed.get(path) ?? path;
  const kernels = head.flatMap((unit) => unit.kernels);
  const matched = new Map(kernels.map((kernel) => [kernel, known.get(keyOf(pathOf(kernel), kernel))]));
  const taken = new Set(matched.values());
  let gone = before.filter((kernel) => !taken.has(kernel));
  let fresh = kernels.filter((kernel) => !matched.get(kernel));
  for (const shortened of [qualified, withoutArguments]) {
    const nameOf = (path: string, { name, arch }: LaunchedKernel): string => JSON.stringify([path, shortened(name.qualified), arch]);
    const old = onlyOnes(gone, (kernel) => nameOf(kernel.unit.path, kernel));
    for (const [name, after] of onlyOnes(fresh, (kernel) => nameOf(pathOf(kernel), kernel)))
      if (old.has(name)) matched.set(after, old.get(name));
    const found = new Set(matched.values());
    gone = gone.filter((kernel) => !found.has(kernel));
    fresh = fresh.filter((kernel) => !matched.get(kernel));
  }
  if (gone.length === 0 || fresh.length === 0) return matched;

  const body = memoised(({ verification, kernel }: LaunchedKernel) => normalForm(verification.module, kernel.symbol));
  const shape = memoised(({ kernel }: LaunchedKernel) => pairsOfOperations(kernel));
  const candidates = fresh.flatMap((after, order) =>
    gone
      .filter((one) => one.arch === after.arch && one.unit.path === pathOf(after) && sameParameters(one, after))
      .map((one) => ({ one, after, order, share: body(one) === body(after) ? 2 : overlap(shape(one), shape(after)) })),
  );
  candidates.sort((a, b) => b.share - a.share || a.order - b.order);
  const used = new Set<LaunchedKernel>();
  for (const { one, after, share } of candidates) {
    if (share < alike || used.has(one) || matched.get(after)) continue;
    used.add(one);
    matched.set(after, one);
  }
  return matched;
}

function qualified(name: string): string {
  return name;
}

function withoutArguments(name: string): string {
  return name.replace(/<.*>$/, '');
}

/** Kernels whose name according to `nameOf` is unique. */
function onlyOnes(kernels: readonly LaunchedKernel[], nameOf: (kernel: LaunchedKernel) => string): Map<string, LaunchedKernel> {
  return new Map([...grouped(kernels, nameOf)].flatMap(([name, [only, ...others]]) => (others.length === 0 ? [[name, only]] : [])));
}

function memoised<Value>(compute: (kernel: LaunchedKernel) => Value): (kernel: LaunchedKernel) => Value {
  const known = new Map<LaunchedKernel, Value>();
  return (kernel) => {
    if (!known.has(kernel)) known.set(kernel, compute(kernel));
    return known.get(kernel)!;
  };
}

function sameParameters({ kernel: a }: LaunchedKernel, { kernel: b }: LaunchedKernel): boolean {
  const types = ({ parameters }: typeof a): string => parameters.map(({ type, bytes }) => `${type} ${bytes}`).join();
  return types(a) === types(b);
}

/** Number of occurrences of each pair of consecutive operations. */
function pairsOfOperations({ blocks }: LaunchedKernel['kernel']): Map<string, number> {
  const pairs = new Map<string, number>();
  let last = '';
  for (const { instructions, terminator } of blocks) {
    for (const name of [...instructions.map(({ operation }) => operation.mnemonic), terminator.kind]) {
      const pair = `${last} ${name}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      last = name;
    }
  }
  return pairs;
}

/** Common share of two multisets, 0 to 1. */
function overlap(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const size = (pairs: ReadonlyMap<string, number>): number => [...pairs.values()].reduce((sum, one) => sum + one, 0);
  let common = 0;
  for (const [pair, amount] of a) common += Math.min(amount, b.get(pair) ?? 0);
  return (2 * common) / Math.max(1, size(a) + size(b));
}
