/**
 * Decides whether all threads of a block, or of each warp, take the same side of a branch: evaluates the condition for
 * all threads.
 */
import { compileTruth, Unexpressible } from '../../analysis/values/compiled-term.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import type { Term } from '../../term/term.ts';
import type { DivergenceObligation } from '../obligations/barrier-divergence.ts';
import type { TierContext, TermInstance } from '../obligations/instance.ts';

type BranchEnumeration =
  | { readonly kind: 'uniform' | 'unable' }
  /** Threads of this block take different sides; `block` is its index along each axis. */
  | { readonly kind: 'varying'; readonly block: readonly number[] };

const unable: BranchEnumeration = { kind: 'unable' };

/**
 * Evaluates a branch condition for all threads of a block with concrete dimensions.
 * @param group the threads that have to agree: those of the block, or, in each warp, the lanes with equal numbers in this
 *   list, except for -1
 */
export function enumerateBranch(
  context: Omit<TierContext, 'stated'>,
  obligation: Pick<DivergenceObligation, 'condition' | 'conditions'>,
  group: 'block' | readonly number[],
): BranchEnumeration {
  const { symbolic, instances, dimensions } = context;
  const { block } = dimensions;
  if (block.some((size) => size === null) || obligation.conditions.length === 0) return unable;
  const threads = new Map<string, number>();
  const shared = new Map<string, number>();
  let exact = true;

  const admit = (term: Term, reading: TermInstance): boolean =>
    term.leaves.every((leaf) => {
      const instance = instances.of(leaf, reading);
      if (instance.name === null) return true;
      const atom = leaf.atom!;
      if (atom.kind === 'thread') {
        threads.set(instance.name, block[atom.axis]!);
        return true;
      }
      const size =
        atom.kind === 'block'
          ? dimensions.grid[atom.axis]
          : atom.kind === 'iteration' && instance.shared && instance.bounds.high < 4096n
            ? Number(instance.bounds.high) + 1
            : null;
      if (size === null) return false;
      shared.set(instance.name, size);
      return true;
    });

  const guards: string[] = [];
  let test = '';
  // The condition of the branch is the last one. Before it are the conditions under which the branch is reached.
  const conditions = obligation.conditions.filter(({ reading }) => reading.side === 1);
  for (const [i, { term, reading }] of conditions.entries()) {
    const isBranch = i === conditions.length - 1;
    try {
      const text = compileTruth(symbolic, term, (leaf) => instances.of(leaf, reading));
      if (!admit(term, reading)) {
        if (isBranch) return unable;
        exact = false;
      } else if (isBranch) test = text;
      else guards.push(text);
    } catch (error) {
      if (!(error instanceof Unexpressible)) throw error;
      if (isBranch) return unable;
      exact = false;
    }
  }
  if (test === '') return unable;
  if (group !== 'block') {
    // Warps are groups of 32 consecutive threads, so the thread index along each axis is enumerated.
    threads.clear();
    for (const axis of [0, 1, 2] as const) threads.set(`t${'xyz'[axis]}_1`, block[axis]!);
  }
  const variables = [...shared, ...threads];
  const total = variables.reduce((product, [, size]) => product * size, 1);
  if (!(total <= context.evaluations)) return unable;
  const lets = variables.map(([name], i) => `const ${name} = v[${i}];`).join('');
  const guard = guards.length > 0 ? `if (!(${guards.join(' && ')})) return 0; ` : '';
  const run = new Function('v', `${lets}${guard}return ${test} ? 1 : 2;`) as (values: Int32Array) => number;
  const values = new Int32Array(variables.length);
  const rounds = [...shared.values()].reduce((product, size) => product * size, 1);
  for (let round = 0; round < rounds; round++) {
    /** The sides that the threads of each group have taken. */
    const seen = new Uint8Array(warpSize);
    let differ = false;
    let thread = 0;
    values.fill(0, shared.size);
    do {
      const lane = thread++ % warpSize;
      if (group !== 'block' && lane === 0) seen.fill(0);
      const of = group === 'block' ? 0 : group[lane]!;
      if (of < 0) continue;
      seen[of]! |= run(values);
      differ ||= seen[of] === 3;
    } while (step(values, variables, shared.size, variables.length));
    if (differ) {
      if (!exact) return unable;
      const names = [...shared.keys()];
      const index = ['bx', 'by', 'bz'].map((name) => (names.includes(name) ? values[names.indexOf(name)]! : 0));
      return { kind: 'varying', block: index };
    }
    step(values, variables, 0, shared.size);
  }
  return { kind: 'uniform' };
}

function step(values: Int32Array, variables: readonly (readonly [string, number])[], from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (++values[i]! < variables[i]![1]) return true;
    values[i] = 0;
  }
  return false;
}
