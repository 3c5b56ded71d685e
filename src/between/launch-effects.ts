/** What a launch of a host program accesses, as a run of the interpreter shows it. */
import { variableMemory } from '../host/operations/host-operation.ts';
import { gridDependency } from '../analysis/barriers/grid-dependency.ts';
import { type ControlDependence, controlDependence } from '../analysis/values/control-dependence.ts';
import { dependsOnContents } from '../check/memory/contents-dependence.ts';
import type { MemoryAccess, WatchedProgram } from '../interpreter/core/program.ts';
import type { NamedMemory, RunObserver } from '../interpreter/core/observer.ts';
import { regionBase, regionSlot } from '../interpreter/core/global-memory.ts';
import type { ThreadContext, Thread } from '../interpreter/core/thread.ts';
import { runStaged } from '../interpreter/javascript/staged-run.ts';
import type { BlockId, Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { isUsed } from '../ir/form/uses.ts';
import { mayOrderAccesses, participantsOf } from '../isa/model/effect.ts';
import type { MemoryOperation } from '../memory-model/conflict.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { ConcreteLaunch } from './concrete-launch.ts';

/** Bytes of one memory that an operation accesses. */
export interface OperationBytes extends MemoryOperation {
  readonly memory: string;
  readonly offset: number;
  /** Present if a store writes literals: these. */
  readonly stored?: string;
  /** Present if contents of memory, or values that are not known, decide whether it is made, and which bytes it accesses. */
  readonly isOpen?: true;
}

/** An access of a thread. */
export interface LaunchEffect extends OperationBytes {
  readonly instruction: InstructionId;
  readonly block: Dim3;
  readonly thread: Dim3;
  /** Present if the kernel uses the value that a load or an atomic returns. */
  readonly isObserved?: true;
  /** Whether its thread has not waited for the kernels before, nor synchronised with a thread that has. */
  readonly isEarly: boolean;
  /** Whether its thread has let the next kernel start before. */
  readonly isAfterTrigger: boolean;
}

type Site = Pick<LaunchEffect, 'operation' | 'strong' | 'semantics' | 'elementBytes' | 'stored' | 'isObserved' | 'isOpen' | 'instruction'>;

/** The accesses of a run. @param unit in which the kernel is, whose variables other units do not share */
export function effectsOf({ request, memories }: ConcreteLaunch, unit = ''): readonly LaunchEffect[] {
  const recorder = new EffectRecorder(request.kernel, memories, unit);
  const { brokenAssumptions } = runStaged({ ...request, observer: recorder });
  return brokenAssumptions.length > 0 ? [] : recorder.effects;
}

/** Instructions of a warp in one time slice. */
const slice = 1 << 12;

class EffectRecorder implements RunObserver {
  readonly singly = true;
  readonly effects: LaunchEffect[] = [];
  readonly #kernel: Kernel;
  readonly #unit: string;
  readonly #dependences: ControlDependence;
  readonly #memories: readonly (string | null)[];
  readonly #sites = new Map<number, Site>();
  readonly #instructions = new Map<InstructionId, { readonly instruction: Instruction; readonly block: BlockId }>();
  /** Whether the launch decides which threads wait, and let others start. */
  readonly #isOrderCertain: boolean;
  #program!: WatchedProgram;
  readonly #waited = new Set<Thread>();
  readonly #waitedBlocks = new Set<ThreadContext>();
  readonly #triggered = new Set<Thread>();
  /** Threads after an instruction by which they may see that another thread has waited. */
  readonly #synchronised = new Map<Thread, 'block' | 'grid'>();

  /** Memory of the variables of the module, by the start of its region. */
  readonly #variables = new Map<number, string>();

  constructor(kernel: Kernel, memories: readonly (string | null)[], unit: string) {
    this.#kernel = kernel;
    this.#unit = unit;
    this.#dependences = controlDependence(kernel);
    this.#memories = memories;
    for (const { id, instructions } of kernel.blocks)
      for (const instruction of instructions) this.#instructions.set(instruction.id, { instruction, block: id });
    this.#isOrderCertain = [...this.#instructions.values()].every(
      ({ instruction }) => instruction.operation.effect.kind !== 'grid-dependency' || this.#isOfLaunch(instruction.id, 'read'),
    );
  }

  start(program: WatchedProgram, memory: readonly NamedMemory[]): void {
    void memory;
    this.#program = program;
    for (const { id, space, symbol } of this.#kernel.objects)
      if (space === 'global') this.#variables.set(program.layout.addresses[id]!, variableMemory(this.#unit, symbol));
  }

  runWarp(warp: readonly Thread[], step: (thread: Thread) => void): void {
    let left = slice;
    for (const thread of warp)
      while (left > 0 && thread.status === 'ready') {
        left--;
        this.#step(thread, step);
      }
  }

  #step(thread: Thread, step: (thread: Thread) => void): void {
    const scope = this.#synchronised.get(thread);
    if (scope !== undefined) {
      this.#synchronised.delete(thread);
      if (scope === 'grid' ? this.#waited.size > 0 : this.#waitedBlocks.has(thread.home)) this.#wait(thread);
    }
    const [instruction] = this.#program.segments[thread.pc]!.instructions;
    step(thread);
    if (!instruction) return;
    const { effect } = instruction.operation;
    if (effect.kind === 'grid-dependency') {
      if (effect.form === 'wait') this.#wait(thread);
      else this.#triggered.add(thread);
    } else if (mayOrderAccesses(effect) && effect.kind !== 'fence')
      this.#synchronised.set(thread, /^(?:block|lanes|warp)$/.test(participantsOf(effect)) ? 'block' : 'grid');
  }

  #wait(thread: Thread): void {
    this.#waited.add(thread);
    this.#waitedBlocks.add(thread.home);
  }

  accessed(thread: Thread, access: MemoryAccess, address: number): void {
    const slot = regionSlot(address);
    const start = regionBase(slot);
    const memory =
      access.space === 'global' || access.space === 'generic'
        ? (this.#memories[slot - this.#program.layout.firstBuffer] ?? this.#variables.get(start))
        : null;
    if (memory === null || memory === undefined) return;
    this.effects.push({
      memory,
      offset: address - start,
      bytes: access.bytes,
      ...this.#siteOf(access),
      block: thread.home.position,
      thread: [thread.x, thread.y, thread.z],
      isEarly: !this.#waited.has(thread) && (this.#isOrderCertain || this.#orderOf(access) === 'early'),
      isAfterTrigger: this.#triggered.has(thread) && this.#isOrderCertain,
    });
  }

  #orderOf({ instruction }: MemoryAccess): string | undefined {
    return gridDependency(this.#kernel).accesses.get(this.#instructions.get(instruction)!.instruction);
  }

  /** What all executions of an access have in common. */
  #siteOf({ index, instruction: id, operation, strong, semantics, elementBytes }: MemoryAccess): Site {
    const known = this.#sites.get(index);
    if (known) return known;
    const { instruction } = this.#instructions.get(id)!;
    const values = instruction.arguments.slice(1).map((operand) => (operand.kind === 'constant' ? String(operand.value) : null));
    const areLiterals = instruction.operation.effect.kind === 'store' && !values.includes(null);
    const site: Site = {
      operation,
      strong,
      semantics,
      ...(elementBytes !== undefined && { elementBytes }),
      ...(areLiterals && { stored: values.join() }),
      ...(instruction.results.some((result) => result !== null && isUsed(this.#kernel, result)) && { isObserved: true }),
      ...(!this.#isOfLaunch(id, operation) && { isOpen: true }),
      instruction: id,
    };
    this.#sites.set(index, site);
    return site;
  }

  #isOfLaunch(id: InstructionId, operation: MemoryAccess['operation']): boolean {
    const { instruction, block } = this.#instructions.get(id)!;
    const isCopy = instruction.operation.effect.kind === 'copy';
    return !dependsOnContents({ kernel: this.#kernel, dependences: this.#dependences }, { instruction, operation, isCopy, block });
  }
}
