/** What lanes cost that go through a block of code together: steps, sectors, turns of shared memory. */
import { resolveTargets } from '../analysis/memory-base.ts';
import type { Access as MachineAccess } from '../exec/program.ts';
import type { Block, Instruction, Loop } from '../ir/kernel.ts';
import type { Term } from '../term/term.ts';
import { type AccessShape, mostConflicts, mostSectors } from './access-cost.ts';
import { type Cost, costOf, sumOf } from './cost.ts';
import { constant } from './expression.ts';
import { operationsOf } from './floating-operations.ts';
import { type LaneEvaluator, laneValues, withoutReadings } from './lane-values.ts';
import { lanesOf, type Place } from './warp.ts';
import type { WarpSetting } from './warp-setting.ts';

/** Where lanes are, and what is known of them there. */
export interface BlockPlace {
  readonly place: Place;
  readonly evaluator: LaneEvaluator;
}

/** Of an array that a parameter points to, in bytes: `cudaMalloc` gives as much. */
const parameterAlignment = 256;

function accessesOf(
  { program }: WarpSetting,
  instruction: Instruction,
): { readonly access: MachineAccess; readonly source: number; readonly more: bigint }[] {
  const first = program.firstAccess.get(instruction);
  if (first === undefined) return [];
  const { effect } = instruction.operation;
  const found = [];
  for (let index = first; program.accesses[index]?.instruction === instruction.id; index++) {
    const access = program.accesses[index]!;
    const isCopy = effect.kind === 'async-copy';
    found.push({
      access,
      source: isCopy ? index - first : 0,
      more: isCopy ? 0n : BigInt((index - first) * access.bytes),
    });
  }
  return found;
}

function addressOf({ symbolic }: WarpSetting, instruction: Instruction, source: number): Term {
  const pointer = symbolic.operand(instruction.arguments[source]!);
  return symbolic.store.sum(pointer.width, source === 0 ? instruction.offset : 0n, [[pointer, 1n]]);
}

/** What some lanes cost that execute a block together, its terminator included. */
export function costOfBlock(setting: WarpSetting, region: BlockPlace, block: Block, mask: number): Cost {
  const { lineOf } = setting;
  const costs: Cost[] = [];
  const steps = new Map<string, number>();
  for (const place of [...block.instructions, block]) {
    const line = lineOf(place);
    steps.set(line, (steps.get(line) ?? 0) + 1);
  }
  for (const [line, count] of steps) costs.push(costOf('steps', line, constant(count)));
  const lanes = lanesOf(mask).length;
  for (const instruction of block.instructions) {
    const operations = operationsOf(instruction.operation);
    if (operations !== 0)
      costs.push(costOf('operations', lineOf(instruction), operations === null ? null : constant(lanes * operations)));
  }
  for (const instruction of block.instructions)
    costs.push(...costOfInstruction(setting, region, block, instruction, mask));
  return sumOf(costs);
}

function costOfInstruction(
  setting: WarpSetting,
  region: BlockPlace,
  block: Block,
  instruction: Instruction,
  mask: number,
): Cost[] {
  const accesses = accessesOf(setting, instruction);
  if (accesses.length === 0) return [];
  const line = setting.lineOf(instruction);
  const { kind } = instruction.operation.effect;
  if (!['load', 'store', 'atomic', 'async-copy'].includes(kind)) {
    for (const count of ['sectors', 'conflicts'] as const)
      setting.note(count, line, `what ${instruction.operation.mnemonic} costs is not modelled`);
    return (['sectors', 'conflicts', 'globalAccesses', 'sharedAccesses'] as const).map((count) =>
      costOf(count, line, null),
    );
  }
  return accesses.flatMap(({ access, source, more }) =>
    costOfAccess(setting, region, block, instruction, access, source, more, mask, line),
  );
}

function costOfAccess(
  setting: WarpSetting,
  region: BlockPlace,
  block: Block,
  instruction: Instruction,
  access: MachineAccess,
  source: number,
  more: bigint,
  mask: number,
  line: string,
): Cost[] {
  const { symbolic, declaredAs, note } = setting;
  const { kernel, store, view } = symbolic;
  if (access.space !== 'global' && access.space !== 'shared' && access.space !== 'generic') return [];
  const address = addressOf(setting, instruction, source);
  const shifted = store.sum(address.width, more, [[address, 1n]]);
  const targets = resolveTargets(store, kernel, shifted, store.true, declaredAs);
  const [target] = targets;
  const isKnown = targets.length === 1 && target!.base.kind !== 'unknown';
  const offset = isKnown ? target!.offset : shifted;
  const object = isKnown && target!.base.kind === 'object' ? target!.base.object : null;
  if (object?.space === 'local') return [];
  const space = access.space !== 'generic' ? access.space : isKnown ? (object?.space === 'shared' ? 'shared' : 'global') : 'generic'; // prettier-ignore
  const form = withoutReadings(setting, view.offset(offset));
  const values = laneValues(setting, form, mask, block.id, region.place, region.evaluator);
  const shape: AccessShape = {
    bytes: access.bytes,
    isAtomic: access.operation === 'atomic',
    alignment: object ? object.alignment : isKnown ? parameterAlignment : 1,
  };
  const costs: Cost[] = [];
  if (isKnown && !object) setting.assume('alignment');
  if (space !== 'shared') {
    const { most: sectors, isExact } = mostSectors(values, mask, shape);
    const isHere = space === 'global';
    costs.push(costOf('sectors', line, constant(sectors), isExact && isHere));
    costs.push(costOf('globalAccesses', line, constant(1), isHere));
    const least = Math.min(sectors, Math.ceil((lanesOf(mask).length * access.bytes) / 32));
    costs.push(costOf('leastSectors', line, constant(least), isExact && isHere));
    if (sectors > least) note('sectors', line, `${sectors} sectors an access, where ${least} would do`);
  }
  if (space !== 'global') {
    const { most: conflicts, isExact } = mostConflicts(values, mask, shape);
    const isHere = space === 'shared';
    costs.push(costOf('conflicts', line, constant(conflicts), isExact && (isHere || conflicts === 0)));
    costs.push(costOf('sharedAccesses', line, constant(1), isHere));
    if (conflicts > 0) note('conflicts', line, `up to ${conflicts + 1} turns an access`);
  }
  return costs;
}

/** Whether the rounds of a loop cost differently in a way that the number of the round decides. */
export function roundsDiffer(setting: WarpSetting, loop: Loop): boolean {
  const { symbolic } = setting;
  const { kernel } = symbolic;
  const holdsRound = ({ leaves }: Term): boolean =>
    leaves.some(({ atom }) => atom!.kind === 'iteration' && atom!.loop === loop.id);
  const holdsThread = ({ leaves }: Term): boolean => leaves.some(({ atom }) => atom!.kind === 'thread');
  for (const id of loop.blocks) {
    const block = kernel.blocks[id]!;
    const condition = symbolic.condition(id);
    const isOwnExit = kernel.loopOf[id] === loop.id && block.successors.some((next) => !loop.blocks.has(next));
    if (condition && holdsRound(condition) && (!isOwnExit || holdsThread(condition))) return true;
    for (const instruction of block.instructions) {
      for (const { access, source } of accessesOf(setting, instruction)) {
        const { terms } = symbolic.view.offset(addressOf(setting, instruction, source));
        // Where all lanes are shifted alike, banks are too; sectors are by multiples of their size.
        const isShift = (term: Term, factor: bigint): boolean =>
          !holdsThread(term) &&
          (access.space === 'shared' ? access.bytes >= 4 : term.atom !== null && factor % 32n === 0n);
        for (const [term, factor] of terms) if (holdsRound(term) && !isShift(term, factor)) return true;
      }
    }
  }
  return false;
}
