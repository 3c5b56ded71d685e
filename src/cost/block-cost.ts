/** What lanes cost that go through a block of code together: steps, sectors, turns of shared memory. */
import type { Block, Loop } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import { mostConflicts, mostSectors } from './lanes/access-cost.ts';
import { accessesOf, accessForms, addressOf } from './access-form.ts';
import { type Cost, CostTally } from './cost.ts';
import { operationsOf } from './lanes/floating-operations.ts';
import { type LaneEvaluator, laneValues } from './lanes/lane-values.ts';
import { lanesInMask, type WarpPosition } from './lanes/warp.ts';
import type { WarpSetting, AccessForm } from './warp-setting.ts';

/** Where lanes are, and what is known of them there. */
export interface BlockPlace {
  readonly place: WarpPosition;
  readonly evaluator: LaneEvaluator;
}

/** What some lanes cost that execute a block together, its terminator included. */
export function costOfBlock(setting: WarpSetting, region: BlockPlace, block: Block, mask: number): Cost {
  const tally = new CostTally();
  const lanes = lanesInMask(mask).length;
  for (const instruction of block.instructions) {
    const line = setting.lineOf(instruction);
    tally.add('steps', line, 1);
    const operations = operationsOf(instruction.operation);
    if (operations !== 0) tally.add('operations', line, operations === null ? null : lanes * operations);
    if (!setting.program.firstAccess.has(instruction)) continue;
    const { effect, mnemonic } = instruction.operation;
    if (['load', 'store', 'atomic', 'async-copy'].includes(effect.kind)) {
      for (const form of accessForms(setting, instruction))
        addAccess(tally, setting, region, block, form, mask, lanes, line);
      continue;
    }
    for (const count of ['sectors', 'conflicts'] as const)
      setting.note(count, line, `what ${mnemonic} costs is not modelled`);
    for (const count of ['sectors', 'conflicts', 'globalAccesses', 'sharedAccesses'] as const)
      tally.add(count, line, null);
  }
  tally.add('steps', setting.lineOf(block), 1);
  return tally.cost();
}

function addAccess(
  tally: CostTally,
  setting: WarpSetting,
  region: BlockPlace,
  block: Block,
  { space, offset, shape, isParameter }: AccessForm,
  mask: number,
  lanes: number,
  line: string,
): void {
  const { note } = setting;
  const values = laneValues(setting, offset, mask, block.id, region.place, region.evaluator);
  if (isParameter) setting.assume('alignment');
  if (space !== 'shared') {
    const { most: sectors, isExact } = mostSectors(values, mask, shape);
    const isHere = space === 'global';
    const least = Math.min(sectors, Math.ceil((lanes * shape.bytes) / 32));
    tally.add('sectors', line, sectors, isExact && isHere);
    tally.add('globalAccesses', line, 1, isHere);
    tally.add('leastSectors', line, least, isExact && isHere);
    if (sectors > least) {
      const most = isExact ? sectors : `up to ${sectors}`;
      note('sectors', line, `${most} sectors per access instead of ${least}`);
    }
  }
  if (space !== 'global') {
    const { most: conflicts, isExact } = mostConflicts(values, mask, shape);
    const isHere = space === 'shared';
    tally.add('conflicts', line, conflicts, isExact && (isHere || conflicts === 0));
    tally.add('sharedAccesses', line, 1, isHere);
    if (conflicts > 0) note('conflicts', line, `up to ${conflicts + 1}-way bank conflicts`);
  }
}

/** Whether the rounds of a loop cost differently in a way that the number of the round decides. */
export function roundsDiffer(setting: WarpSetting, loop: Loop): boolean {
  const { differing } = setting;
  const known = differing.get(loop.id) ?? doRoundsDiffer(setting, loop);
  differing.set(loop.id, known);
  return known;
}

function doRoundsDiffer(setting: WarpSetting, loop: Loop): boolean {
  const { symbolic } = setting;
  const { kernel } = symbolic;
  const holdsRound = ({ leaves }: Term): boolean =>
    leaves.some(({ atom }) => atom!.kind === 'iteration' && atom.loop === loop.id);
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
