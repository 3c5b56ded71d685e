/** Input of a repair: the instances of a kernel with markers, and the query whether one is proved. */
import type { Launch } from '../launch/launch.ts';
import type { CheckResult } from '../check/request/check-request.ts';
import type { Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { type MarkerState, type MarkerSwitches, isCandidate } from '../ir/form/switch-markers.ts';
import type { Location } from '../source/location.ts';
import type { Reason } from '../verdict/reason.ts';

/** One compiled instance of a kernel (a template has several), from the marked copy. */
export interface Subject {
  readonly kernel: Kernel;
  readonly launches: readonly Launch[];
  /** Checks the kernel with its markers switched. Executes no kernel: pairs that are not proved count as open. */
  readonly check: (switches: MarkerSwitches, launch: Launch) => Promise<CheckResult>;
  /** The lanes that reach a marker, as a mask, if they are the same in each warp that does; null if that is not known. */
  readonly lanesAt?: (marker: number) => number | null;
}

export interface UnorderedPair {
  readonly subject: Subject;
  readonly scope: 'block' | 'grid';
  readonly first: InstructionId;
  readonly second: InstructionId;
  readonly reason: Reason;
}

/** Combined results of the checks of all instances under all launches. */
export interface Answer {
  readonly proved: boolean;
  readonly races: readonly UnorderedPair[];
  /** Markers at which some threads may be missing; null represents a barrier without one. */
  readonly divergent: ReadonlySet<number | null>;
  /** Markers that threads miss because they have returned. */
  readonly earlyExits: ReadonlySet<number>;
  /** Markers of barriers of the warp that some of its lanes may not reach. */
  readonly splitWarps: ReadonlySet<number>;
  /** Why nothing is proved, if neither a pair nor a barrier is the reason. */
  readonly reason: Reason | null;
}

/** Answers queries for settings of the switches, each of which is checked once. */
export class Oracle {
  readonly subjects: readonly Subject[];
  private readonly placeOf: (marker: number) => Location | undefined;
  private readonly effort: { checks: number };
  private readonly known = new Map<string, Promise<CheckResult>>();
  private readonly markers: readonly ReadonlyMap<InstructionId, number>[];
  /** Pairs that stay open after any edit, and do not prevent a repair of the others. */
  private tolerated: ReadonlySet<string> = new Set();

  /** @param effort - counts the checks of the oracle */
  constructor(subjects: readonly Subject[], placeOf: (marker: number) => Location | undefined, effort: { checks: number } = { checks: 0 }) {
    this.subjects = subjects;
    this.placeOf = placeOf;
    this.effort = effort;
    this.markers = subjects.map(({ kernel }) => markersOf(kernel));
  }

  /** The markers that some instance contains, ascending. */
  present(): number[] {
    return [...new Set(this.markers.flatMap((own) => [...own.values()]))].sort((a, b) => a - b);
  }

  /** Tolerates pairs: from now on they count as ordered, so that a repair of the others can be found. */
  tolerate(races: readonly UnorderedPair[]): void {
    this.tolerated = new Set([...this.tolerated, ...races.map((pair) => this.nameOf(pair))]);
  }

  /** The lanes that reach a marker in all instances; null if they differ or are not known. */
  lanesAt(marker: number): number | null {
    const masks = new Set(this.subjects.map(({ lanesAt }) => lanesAt?.(marker) ?? null));
    const [mask = null] = masks;
    return masks.size === 1 ? mask : null;
  }

  private nameOf({ subject, scope, first, second }: Omit<UnorderedPair, 'reason'>): string {
    return [this.subjects.indexOf(subject), scope, first, second].join(' ');
  }

  async ask(stateOf: (marker: number) => MarkerState): Promise<Answer> {
    const races: UnorderedPair[] = [];
    const divergent = new Set<number | null>();
    const earlyExits = new Set<number>();
    const splitWarps = new Set<number>();
    let reason: Reason | null = null;
    let proved = true;
    for (const [index, subject] of this.subjects.entries()) {
      const own = this.markers[index]!;
      for (const [which, launch] of subject.launches.entries()) {
        const { race, divergence, open } = await this.check(index, which, subject, launch, stateOf);
        const left = open.races.filter((pair) => !this.tolerated.has(this.nameOf({ subject, ...pair })));
        const isTolerable = left.length < open.races.length && open.beside === null;
        const isOrdered = race.verdict === 'proved' || (left.length === 0 && isTolerable);
        if (isOrdered && divergence.verdict === 'proved') {
          for (const id of open.earlyExits) if (own.has(id)) earlyExits.add(own.get(id)!);
          continue;
        }
        proved = false;
        for (const pair of left) races.push({ subject, ...pair });
        for (const id of open.barriers) divergent.add(own.get(id) ?? null);
        for (const id of open.earlyExits) if (own.has(id)) earlyExits.add(own.get(id)!);
        for (const id of open.warps) for (const marker of besides(subject.kernel, (one) => one.id === id)) splitWarps.add(marker);
        reason ??= race.reason ?? divergence.reason ?? null;
      }
    }
    return { proved, races, divergent, earlyExits, splitWarps, reason };
  }

  private check(
    index: number,
    which: number,
    subject: Subject,
    launch: Launch,
    stateOf: (marker: number) => MarkerState,
  ): Promise<CheckResult> {
    const states = new Map([...this.markers[index]!.values()].map((marker) => [marker, stateOf(marker)]));
    const key = [index, which, ...[...states].map(([marker, state]) => `${marker}${state}`)].join();
    let result = this.known.get(key);
    if (!result) {
      this.effort.checks++;
      const places = [...states.keys()].map((marker) => [marker, this.placeOf(marker)] as const);
      const known = new Map(places.flatMap(([marker, place]) => (place ? [[marker, place]] : [])));
      result = subject.check({ states, places: known }, launch);
      this.known.set(key, result);
    }
    return result;
  }
}

/** The numbers of the markers of a kernel, by instruction. */
export function markersOf(kernel: Kernel): ReadonlyMap<InstructionId, number> {
  const markers = new Map<InstructionId, number>();
  for (const { instructions } of kernel.blocks)
    for (const instruction of instructions) if (isCandidate(instruction)) markers.set(instruction.id, instruction.marker!.number!);
  return markers;
}

/** The markers of basic blocks that contain some of these, those included. */
export function adjacentMarkers(kernel: Kernel, markers: readonly number[]): number[] {
  return besides(kernel, (instruction) => isCandidate(instruction) && markers.includes(instruction.marker!.number!));
}

/** The markers in the basic blocks of certain instructions: threads that do not reach one of them reach none. */
function besides({ blocks }: Kernel, isOne: (instruction: Instruction) => boolean): number[] {
  const homes = blocks.filter(({ instructions }) => instructions.some(isOne));
  return homes.flatMap(({ instructions }) => instructions.filter(isCandidate).map(({ marker }) => marker!.number!));
}
