/** Contents of a region: its segments, and the values that they define and use. */
import type { Instruction, Operand, SpecialRegister, ValueId } from '../../../ir/form/kernel.ts';
import type { Plan } from './wasm-plan.ts';
import { invariant } from '../../../base/assert.ts';
import { segmentSuccessors } from '../../core/program.ts';
import { phiInputs } from './liveness.ts';

/** Contents of a region. */
export interface RegionContents {
  /** The segment at whose start threads enter the region. */
  readonly start: number;
  /** Segments of the region. */
  readonly members: ReadonlySet<number>;
  /** Values defined in the region: results and phis. */
  readonly defined: ReadonlySet<ValueId>;
  /** Values used by instructions, branches and phis of the region. */
  readonly used: ReadonlySet<ValueId>;
  /** Instructions computed once for all threads, in order. */
  readonly uniform: readonly Instruction[];
  /** Special registers read for each thread. */
  readonly specials: ReadonlySet<SpecialRegister>;
}

/** Contents of the region that starts at the segment `start`: all segments up to the next suspensions. */
export function regionContents(plan: Plan, start: number): RegionContents {
  const { members, defined } = membersOf(plan, start);
  return { start, members, defined, used: usedValues(plan, members), ...prologueNeeds(plan, members) };
}

/** Whether an instruction has the same result in all threads, and is computed once before the threads run. */
export function isUniform({ liveness }: Plan, instruction: Instruction): boolean {
  return instruction.results.some((id) => id !== null && liveness.isUniform[id] === 1);
}

function membersOf(plan: Plan, start: number): Pick<RegionContents, 'members' | 'defined'> {
  const { program } = plan;
  const members = new Set([start]);
  const defined = new Set<ValueId>();
  const work = [start];
  for (let index = work.pop(); index !== undefined; index = work.pop()) {
    const segment = program.segments[index]!;
    for (const instruction of segment.instructions) {
      if (segment.suspension >= 0 && instruction === segment.instructions.at(-1)) continue;
      for (const id of instruction.results) if (id !== null) defined.add(id);
    }
    for (const target of segmentSuccessors(program, segment)) {
      for (const { result } of phiInputs(program.kernel, segment, program.segments[target]!)) defined.add(result);
      if (members.has(target)) continue;
      members.add(target);
      work.push(target);
    }
  }
  return { members, defined };
}

function prologueNeeds(plan: Plan, members: ReadonlySet<number>): Pick<RegionContents, 'uniform' | 'specials'> {
  const { program, liveness } = plan;
  const { kernel } = program;
  const wanted = new Set<ValueId>();
  const specials = new Set<SpecialRegister>();
  const need = (operand: Operand): void => {
    if (operand.kind === 'special') specials.add(operand.register);
    if (operand.kind !== 'value' || !liveness.isUniform[operand.id] || wanted.has(operand.id)) return;
    wanted.add(operand.id);
    const { definition } = kernel.values[operand.id]!;
    invariant(definition.kind === 'instruction', 'phis are not uniform');
    for (const source of definition.instruction.arguments) need(source);
  };
  for (const index of members) {
    const segment = program.segments[index]!;
    for (const instruction of segment.instructions) {
      if (!isUniform(plan, instruction)) for (const operand of instruction.arguments) need(operand);
    }
    const { terminator } = segment;
    if (terminator?.kind === 'branch') need(terminator.condition);
    if (terminator?.kind === 'switch') need(terminator.index);
    for (const target of segmentSuccessors(program, segment)) {
      for (const { input } of phiInputs(kernel, segment, program.segments[target]!)) need(input);
    }
  }
  const uniform = kernel.blocks.flatMap(({ instructions }) =>
    instructions.filter((instruction) => isUniform(plan, instruction) && instruction.results.some((id) => id !== null && wanted.has(id))),
  );
  return { uniform, specials };
}

function usedValues({ program }: Plan, members: ReadonlySet<number>): ReadonlySet<ValueId> {
  const used = new Set<ValueId>();
  const use = (operand: Operand): void => {
    if (operand.kind === 'value') used.add(operand.id);
  };
  for (const index of members) {
    const segment = program.segments[index]!;
    for (const instruction of segment.instructions) instruction.arguments.forEach(use);
    const { terminator } = segment;
    if (terminator?.kind === 'branch') use(terminator.condition);
    if (terminator?.kind === 'switch') use(terminator.index);
    for (const target of segmentSuccessors(program, segment)) {
      for (const { input } of phiInputs(program.kernel, segment, program.segments[target]!)) use(input);
    }
  }
  return used;
}
