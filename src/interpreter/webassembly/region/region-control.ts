/**
 * The control flow of a region: its segments as structured control flow of WebAssembly, edges between them, and stops.
 */
import type { Instruction } from '../../../ir/form/kernel.ts';
import type { Segment } from '../../core/program.ts';
import type { FunctionBody, Label } from '../code/wasm-module.ts';
import type { RegionBuilder } from './region-builder.ts';
import type { RegionContents } from './region-contents.ts';
import type { RegionInstructions } from './region-instructions.ts';
import type { RegionValues } from './region-values.ts';
import type { Structured } from './structure.ts';
import type { Plan } from './wasm-plan.ts';
import { exitedStatus, waitingAt } from '../../core/back-end.ts';
import { isRetreating, iterationAt, segmentSuccessors } from '../../core/program.ts';
import { word } from '../code/wasm-domain.ts';
import { append, bind, call, i32 } from '../code/wasm-value.ts';
import { phiInputs } from './liveness.ts';
import { isUniform } from './region-contents.ts';
import { structure } from './structure.ts';

export class RegionControl {
  readonly #code: RegionBuilder;
  readonly #plan: Plan;
  readonly #body: FunctionBody;
  readonly #contents: RegionContents;
  readonly #values: RegionValues;
  readonly #instructions: RegionInstructions;
  /** Label of the code after a thread has stopped. */
  readonly #threadEnd: Label;
  readonly #labels = new Map<number, Label[]>();

  constructor(code: RegionBuilder, contents: RegionContents, values: RegionValues, instructions: RegionInstructions, threadEnd: Label) {
    this.#code = code;
    this.#plan = code.plan;
    this.#body = code.body;
    this.#contents = contents;
    this.#values = values;
    this.#instructions = instructions;
    this.#threadEnd = threadEnd;
  }

  /** Appends the code of all segments; each path through the code ends with a stop, or does not return. */
  emit(): void {
    const { program } = this.#plan;
    const tree = structure(program.segments.length, this.#contents.start, (index) => segmentSuccessors(program, program.segments[index]!));
    if (tree) this.#emitTree(tree);
    else this.#emitDispatch();
  }

  #emitTree(tree: readonly Structured[]): void {
    for (const item of tree) {
      if (item.kind === 'node') {
        const segment = this.#plan.program.segments[item.node]!;
        this.#emitSegment(segment, (arm) => this.#emitTree(item.arms[arm]!));
      } else if (item.kind === 'jump') {
        this.#body.br(this.#labels.get(item.label)!.at(-1)!);
      } else {
        const label = item.kind === 'loop' ? this.#body.loop() : this.#body.block();
        const stack = this.#labels.get(item.label) ?? [];
        this.#labels.set(item.label, stack);
        stack.push(label);
        this.#emitTree(item.body);
        stack.pop();
        this.#body.end();
      }
    }
  }

  /** Irreducible or deeply nested control flow: a loop around a switch over all segments. */
  #emitDispatch(): void {
    const body = this.#body;
    const members = [...this.#contents.members].sort((a, b) => a - b);
    const cased = new Map(members.map((index, at) => [index, at]));
    const next = bind(body, 'i32', i32(cased.get(this.#contents.start)!));
    const head = body.loop();
    const cases = members.map(() => body.block()).reverse();
    append(body, next);
    body.brTable(cases, cases.at(-1)!);
    for (const index of members) {
      body.end();
      const segment = this.#plan.program.segments[index]!;
      this.#emitSegment(segment, (arm) => {
        append(body, i32(cased.get(segmentSuccessors(this.#plan.program, segment)[arm]!)!));
        body.set(next.index);
        body.br(head);
      });
    }
    body.end();
  }

  /** @param follow appends the code after an edge, which never falls through */
  #emitSegment(segment: Segment, follow: (arm: number) => void): void {
    const body = this.#body;
    const block = this.#code.kernel.blocks[segment.block]!;
    if (segment.index === this.#plan.program.entries[segment.block]) {
      this.#values.enterBlock(block.phis.map(({ result }) => result));
    }
    append(body, this.#code.left, i32(segment.length), 'i32.sub');
    body.set(this.#code.left.index);
    for (const instruction of segment.instructions) {
      if (segment.suspension >= 0 && instruction === segment.instructions.at(-1)) {
        this.#emitSuspension(segment, instruction);
      } else if (!isUniform(this.#plan, instruction)) {
        const mark = body.mark();
        this.#instructions.emit(instruction);
        body.freeSince(mark, this.#values.resultLocals(instruction));
      }
    }
    this.#emitTerminator(segment, follow);
  }

  #emitTerminator(segment: Segment, follow: (arm: number) => void): void {
    const body = this.#body;
    const { terminator } = segment;
    switch (terminator?.kind) {
      case undefined:
        return;
      case 'jump':
        this.#emitEdge(segment, 0);
        follow(0);
        return;
      case 'branch':
        append(body, this.#values.truth(terminator.condition));
        body.if();
        this.#emitEdge(segment, 0);
        follow(0);
        body.else();
        this.#emitEdge(segment, 1);
        follow(1);
        body.end();
        body.op('unreachable');
        return;
      case 'switch': {
        const otherwise = body.block();
        const arms = terminator.targets.map(() => body.block()).reverse();
        append(body, word(this.#values.operand(terminator.index, 32)));
        body.brTable(arms, otherwise);
        for (const arm of arms.keys()) {
          body.end();
          this.#emitEdge(segment, arm);
          follow(arm);
        }
        body.end();
        this.#emitLost('lost', segment);
        return;
      }
      case 'exit':
        this.#emitStop(exitedStatus);
        return;
      case 'trap':
        this.#emitLost('trap', segment);
        return;
      case 'unknown':
        this.#emitLost('lost', segment);
    }
  }

  #emitLost(name: 'lost' | 'trap', segment: Segment): void {
    append(this.#body, this.#code.frame, i32(segment.index), this.#code.thread, ...this.#code.steps());
    append(this.#body, call(this.#code.machineFunction(name)), 'unreachable');
  }

  #emitStop(status: number): void {
    append(this.#body, i32(status));
    this.#body.set(this.#code.status.index);
    this.#body.br(this.#threadEnd);
  }

  #emitEdge(segment: Segment, arm: number): void {
    const body = this.#body;
    const { program, frame } = this.#plan;
    const target = program.segments[segmentSuccessors(program, segment)[arm]!]!;
    const live = this.#plan.liveness.liveIn[target.index]!;
    const moves = phiInputs(this.#code.kernel, segment, target)
      .filter(({ result }) => live.includes(result))
      .map(({ result, input }) => ({
        result,
        value: this.#values.operand(input, this.#code.kernel.values[result]!.type),
      }));
    if (program.reachesBarrier[segment.block] && !program.reachesBarrier[target.block]) {
      append(body, this.#code.lane4, i32(segment.block));
      body.memory('i32.store', frame.left);
    }
    const round = iterationAt(program, segment.block, target.block);
    if (round) {
      const at = frame.rounds + 4 * this.#plan.threads * round.index;
      append(body, this.#code.lane4);
      if (round.isNext) {
        append(body, this.#code.lane4);
        body.memory('i32.load', at);
        append(body, i32(1), 'i32.add');
      } else append(body, i32(0));
      body.memory('i32.store', at);
    }
    if (isRetreating(segment.block, target.block)) {
      append(body, this.#code.left, i32(0), 'i32.le_s');
      body.if();
      const inputs = new Map(moves.map(({ result, value }) => [result, value]));
      this.#values.saveLive(target.index, inputs, new Set());
      this.#emitStop(target.index);
      body.end();
    }
    this.#values.setPhis(moves);
  }

  #emitSuspension(segment: Segment, instruction: Instruction): void {
    const { program } = this.#plan;
    const { index, resume } = program.suspensions[segment.suspension]!;
    this.#values.passOperands(instruction);
    this.#values.saveLive(resume, new Map(), new Set(instruction.results));
    this.#emitStop(waitingAt(index));
  }
}
