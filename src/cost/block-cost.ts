/** Cost of lanes that execute a basic block together: steps, sectors, phases of shared memory. */
import { hasPlainAccesses } from '../isa/model/effect.ts';
import type { Block, Instruction, Loop } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import {
  type AccessShape,
  type LaneAlternatives,
  maxConflicts,
  mostConflictsOfWays,
  maxSectors,
  maxSectorsOfAlternatives,
} from './lanes/access-cost.ts';
import { accessesOf, accessForms, addressOf } from './access-form.ts';
import { type Cost, type FixedCosts, CostTally } from './costs-by-line.ts';
import { operationsOf } from './lanes/floating-operations.ts';
import { type LaneEvaluator, type LaneValues, laneValues } from './lanes/lane-values.ts';
import { differenceOf, runsOfLanes, selectionOf, type Sum, sumOfMostLanes } from './lanes/selection.ts';
import { lanesInMask, type WarpPosition } from './lanes/warp-position.ts';
import type { WarpSetting, AccessForm } from './warp-setting.ts';

/** A position in the kernel, and the values known there. */
export interface BlockPlace {
  readonly place: WarpPosition;
  readonly evaluator: LaneEvaluator;
}

/** Instructions of a block up to one that accesses memory; their cost depends only on the number of lanes. */
interface Run {
  readonly costs: FixedCosts;
  readonly access: Instruction | null;
}

/** By block and number of lanes; cached, since iterations and warps execute a block repeatedly. */
const runsOf = new WeakMap<WarpSetting, Map<Block, Map<number, readonly Run[]>>>();

function knownRuns(setting: WarpSetting, block: Block, lanes: number): readonly Run[] {
  const ofSetting = runsOf.get(setting) ?? new Map<Block, Map<number, readonly Run[]>>();
  runsOf.set(setting, ofSetting);
  const ofBlock = ofSetting.get(block) ?? new Map<number, readonly Run[]>();
  ofSetting.set(block, ofBlock);
  const runs = ofBlock.get(lanes) ?? findRuns(setting, block, lanes);
  ofBlock.set(lanes, runs);
  return runs;
}

function findRuns(setting: WarpSetting, block: Block, lanes: number): readonly Run[] {
  const runs: Run[] = [];
  let tally = new CostTally();
  for (const instruction of block.instructions) {
    const line = setting.lineOf(instruction);
    tally.add('steps', line, 1);
    const operations = operationsOf(instruction.operation);
    if (operations !== 0) tally.add('operations', line, operations === null ? null : lanes * operations);
    if (!setting.program.firstAccess.has(instruction)) continue;
    runs.push({ costs: tally.fixed(), access: instruction });
    tally = new CostTally();
  }
  tally.add('steps', setting.lineOf(block), 1);
  return [...runs, { costs: tally.fixed(), access: null }];
}

/** Cost of some lanes that execute a block together, including its terminator. */
export function costOfBlock(setting: WarpSetting, region: BlockPlace, block: Block, mask: number): Cost {
  const tally = new CostTally();
  const lanes = lanesInMask(mask).length;
  for (const { costs, access: instruction } of knownRuns(setting, block, lanes)) {
    tally.addFixed(costs);
    if (!instruction) continue;
    const line = setting.lineOf(instruction);
    const { effect, mnemonic } = instruction.operation;
    if (hasPlainAccesses(effect)) {
      for (const form of accessForms(setting, instruction)) addAccess(tally, setting, region, block, form, mask, lanes, line);
      continue;
    }
    for (const count of ['sectors', 'conflicts'] as const) setting.note(count, line, `what ${mnemonic} costs is not modelled`);
    for (const count of ['sectors', 'conflicts', 'globalAccesses', 'sharedAccesses'] as const) tally.add(count, line, null);
  }
  return tally.cost();
}

function addAccess(
  tally: CostTally,
  setting: WarpSetting,
  region: BlockPlace,
  block: Block,
  form: AccessForm,
  mask: number,
  lanes: number,
  line: string,
): void {
  const { note } = setting;
  const { space, offset, shape, isParameter } = form;
  const valuesOf = (sum: Parameters<typeof laneValues>[1]): LaneValues =>
    laneValues(setting, sum, mask, block.id, region.place, region.evaluator);
  const values = valuesOf(offset);
  const selection = values.scattered ? selectionOf(setting, offset) : null;
  const ways = selection ? selectedWays(selection.ways, valuesOf, mask) : [];
  const runs =
    selection && ways.length > 0 ? runsOfLanes(setting, selection.conditions, mask, block.id, region.place, region.evaluator) : null;
  setting.look(1 + ways.reduce((sum, { more }) => sum + 1 + more.length, 0));
  if (isParameter) setting.assume('alignment');
  if (space !== 'shared') {
    const ofWays = least(maxSectors(values, mask, shape), ways.length > 0 ? maxSectorsOfAlternatives(ways, mask, shape, runs) : null);
    const usual = ways.length > 0 ? sumOfMostLanes(setting, offset, valuesOf, mask) : null;
    const { most: sectors, isExact } = least(
      ofWays,
      usual && withExceptions(maxSectors(valuesOf(usual.sum), mask, shape), usual.exceptions, shape),
    );
    const isHere = space === 'global';
    const fewest = Math.min(sectors, Math.ceil((lanes * shape.bytes) / 32));
    tally.add('sectors', line, sectors, isExact && isHere);
    tally.add('globalAccesses', line, 1, isHere);
    tally.add('leastSectors', line, fewest, isExact && isHere);
    if (sectors > fewest) {
      const most = isExact ? sectors : `up to ${sectors}`;
      note('sectors', line, `${most} sectors per access instead of ${fewest}`);
    }
  }
  if (space !== 'global') {
    const each = ways.flatMap(({ values: own, more }) => [own, ...more.map((offsets) => shifted(own, offsets))]);
    const { most: conflicts, isExact } = least(
      maxConflicts(values, mask, shape),
      each.length > 0 ? mostConflictsOfWays(each, mask, shape) : null,
    );
    const isHere = space === 'shared';
    tally.add('conflicts', line, conflicts, isExact && (isHere || conflicts === 0));
    tally.add('sharedAccesses', line, 1, isHere);
    if (conflicts > 0) note('conflicts', line, `up to ${conflicts + 1}-way bank conflicts`);
  }
}

type Amount = ReturnType<typeof maxSectors>;

function least(direct: Amount, selected: Amount | null): Amount {
  return selected && selected.most < direct.most ? selected : direct;
}

/** Upper bound of the sectors of all lanes if a number of lanes may access other addresses. */
function withExceptions({ most }: Amount, lanes: number, { bytes }: AccessShape): Amount {
  return { most: most + lanes * Math.ceil(bytes / 32), isExact: false };
}

/** The addresses that lanes select between, grouped if they differ by amounts known in each lane. */
function selectedWays(sums: readonly Sum[], valuesOf: (sum: Sum) => LaneValues, mask: number): LaneAlternatives[] {
  if (sums.length < 2) return [];
  const found: { readonly first: Sum; readonly values: LaneValues; readonly more: LaneValues['offsets'][] }[] = [];
  for (const sum of sums) {
    const known = found.flatMap((one) => {
      const { scattered, modulus, groups, offsets } = valuesOf(differenceOf(sum, one.first));
      const isKnown = !scattered && modulus === 0n && lanesInMask(mask).every((lane) => groups[lane] === '');
      return isKnown ? [{ one, offsets }] : [];
    })[0];
    if (known) known.one.more.push(known.offsets);
    else found.push({ first: sum, values: valuesOf(sum), more: [] });
  }
  return found;
}

function shifted(values: LaneValues, by: LaneValues['offsets']): LaneValues {
  return { ...values, offsets: values.offsets.map((offset, lane) => (offset === undefined ? undefined : offset + by[lane]!)) };
}

/** Whether the cost of an iteration depends on the iteration index. */
export function iterationsDiffer(setting: WarpSetting, loop: Loop): boolean {
  const { differing } = setting;
  const known = differing.get(loop.id) ?? doIterationsDiffer(setting, loop);
  differing.set(loop.id, known);
  return known;
}

function doIterationsDiffer(setting: WarpSetting, loop: Loop): boolean {
  const { symbolic } = setting;
  const { kernel } = symbolic;
  const holdsRound = ({ leaves }: Term): boolean => leaves.some(({ atom }) => atom!.kind === 'iteration' && atom.loop === loop.id);
  const holdsThread = ({ leaves }: Term): boolean => leaves.some(({ atom }) => atom!.kind === 'thread');
  for (const id of loop.blocks) {
    const block = kernel.blocks[id]!;
    const condition = symbolic.condition(id);
    const isOwnExit = kernel.loopOf[id] === loop.id && block.successors.some((next) => !loop.blocks.has(next));
    if (condition && holdsRound(condition) && (!isOwnExit || holdsThread(condition))) return true;
    for (const instruction of block.instructions) {
      for (const access of accessesOf(setting, instruction)) {
        const { terms } = symbolic.view.offset(addressOf(setting, instruction, access.source));
        // A shift common to all lanes keeps bank conflicts; one by multiples of the sector size keeps sectors.
        const isShift = (term: Term, factor: bigint): boolean =>
          !holdsThread(term) && (access.space === 'shared' ? access.bytes >= 4 : term.atom !== null && factor % 32n === 0n);
        for (const [term, factor] of terms) if (holdsRound(term) && !isShift(term, factor)) return true;
      }
    }
  }
  return false;
}
