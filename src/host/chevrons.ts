/** Which calls of a function are those of kernels: `k<<<…>>>(…)` becomes a configuration, a branch, and a call of `k`. */
import type { GimpleBlock, GimpleFunction, GimpleOperand, GimpleStatement } from '../gimple/gimple.ts';
import { blockFlowOf } from './flow.ts';

type Call = GimpleStatement & { kind: 'call' };

const configuring = '__cudaPushCallConfiguration';

const known = new WeakMap<GimpleFunction, ReadonlySet<readonly GimpleOperand[]>>();

/**
 * The arguments of the calls that launch: after each configuration the last call whose result is not used, before the
 * paths with and without an error of the configuration join. Arguments are evaluated before it.
 * @param mayLaunch whether a call without a used result may be that of a kernel
 */
export function launchesWithConfiguration(fn: GimpleFunction, mayLaunch: (call: Call) => boolean): ReadonlySet<readonly GimpleOperand[]> {
  const before = known.get(fn);
  if (before) return before;
  const calls = new Set<readonly GimpleOperand[]>();
  for (const block of fn.blocks)
    for (const statement of block.statements) {
      const isConfiguration =
        statement.kind === 'call' && statement.callee.kind === 'declaration' && statement.callee.name.startsWith(`${configuring}D.`);
      if (!isConfiguration) continue;
      const launch = launchAfter(fn, block, mayLaunch);
      if (launch) calls.add(launch.arguments);
      // In other code than the compiler makes of a launch, any call may be the one.
      else for (const one of callsIn(fn.blocks)) if (one.target === null && mayLaunch(one)) calls.add(one.arguments);
    }
  known.set(fn, calls);
  return calls;
}

function launchAfter(fn: GimpleFunction, start: GimpleBlock, mayLaunch: (call: Call) => boolean): Call | null {
  const { blocks, order } = blockFlowOf(fn);
  let block: GimpleBlock | undefined = start;
  let branch = start.statements.at(-1);
  while (block && branch?.kind !== 'condition') {
    const next: number | null = branch?.kind === 'goto' ? branch.to : block.next;
    block = next === null ? undefined : blocks.get(next);
    branch = block?.statements.at(-1);
  }
  if (branch?.kind !== 'condition') return null;
  // `!= 0` is an error.
  const [first, end] = branch.operator === 'ne_expr' ? [branch.otherwise, branch.then] : [branch.then, branch.otherwise];
  const within = new Set([first]);
  for (const id of within) {
    const one = blocks.get(id);
    const pads = new Set(one?.statements.map(({ landingPad }) => landingPad));
    for (const next of one?.successors ?? []) if (next !== end && !pads.has(next)) within.add(next);
  }
  const ordered = [...within].toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return callsIn(ordered.flatMap((id) => blocks.get(id) ?? [])).findLast((call) => call.target === null && mayLaunch(call)) ?? null;
}

function callsIn(blocks: readonly GimpleBlock[]): Call[] {
  return blocks.flatMap(({ statements }) => statements.filter((one) => one.kind === 'call'));
}
