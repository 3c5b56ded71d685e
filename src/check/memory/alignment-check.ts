/**
 * Accesses of several bytes at addresses that are not multiples of their size. The residue of the offset determines which numbers
 * decide: those of threads, blocks and iterations only, or also scalars, of which each launch then needs a multiple. A run
 * confirms both. The start of an array counts as aligned to all accesses: `cudaMalloc` aligns to 256 bytes, and programs
 * that pass a pointer to vectors take care of it.
 */
import type { Steps } from '../../base/coroutine.ts';
import { type Access, targetsOf } from '../../analysis/values/access.ts';
import type { DeclaredAs, Target } from '../../analysis/values/memory-base.ts';
import { partsOf } from '../../analysis/values/leader.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import { accessesOfEffect, hasPlainAccesses } from '../../isa/model/effect.ts';
import { weak } from '../../memory-model/conflict.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { describeTerm } from '../context/names.ts';
import { declarationOf, fieldAt } from '../context/scalars.ts';
import type { KernelContext } from '../context/facts.ts';
import type { Instances } from '../obligations/instance.ts';
import { type LaunchInstance, representativeLaunches, sampledLaunches } from '../representative/representative-launches.ts';
import { scalarsOf } from '../witness/lanes-of-access.ts';
import { isGiven } from '../witness/origin.ts';
import type { Shown } from '../witness/replay.ts';
import type { Confirmation } from '../witness/scenarios.ts';
import { AccessInLaunches, effortOfKernel } from './access-in-launches.ts';
import { type ResidueProduct, greatestPower, residueOf } from './residue.ts';

/** An access whose address is not a multiple of its size, as a run has shown. */
export interface Misaligned {
  readonly access: Access;
  readonly target: Target;
  /** The size, of which the address has to be a multiple. */
  readonly multiple: number;
  /** Bytes from the start of the array in that run. */
  readonly offset?: number;
  /** What every launch has to satisfy, if scalars decide: `pitch % 4 == 0`. */
  readonly needs?: string;
  /** Whether the launch and the arguments are given. */
  readonly isGiven: boolean;
  /** Whether another start of the array would align all of these accesses, and no launch of the program gives the start. */
  readonly dependsOnStart: boolean;
  readonly shown: Shown<FaultEvent>;
}

/** Limit on the launches that are run for one access. */
const mostRuns = 3;

/** Finds misaligned accesses, each with the run that shows it. */
export function* misalignedAccesses(
  context: KernelContext,
  makeInstances: () => Instances,
  confirmation: Confirmation,
): Steps<Misaligned[]> {
  const found: Misaligned[] = [];
  const effort = effortOfKernel();
  let instances: Instances | undefined;
  for (const access of [...context.accesses, ...bulkCopies(context)]) {
    const multiple = multipleOf(access);
    if (multiple === null) continue;
    for (const target of access.targets) {
      const needed = neededMultiples(context, target, multiple);
      if (!needed) continue;
      instances ??= makeInstances();
      const among = new AccessInLaunches(context, instances, access, target, effort);
      const shown = yield* tryLaunches(context, among, confirmation, { access, target, multiple }, needed);
      if (shown) found.push(shown);
    }
  }
  return found;
}

/** The size of an access, of which its address must be a multiple; null if each address is aligned, or the size is unknown. */
function multipleOf({ instruction: { operation }, bytes }: Access): number | null {
  const { effect } = operation;
  if (effect.kind === 'mbarrier' || effect.kind === 'warpgroup-multiply') return null;
  if (effect.kind === 'matrix-access' && effect.addressing !== 'lanes') return null;
  const size = effect.kind === 'atomic' ? effect.bytes : bytes;
  return size > 1 && (size & (size - 1)) === 0 ? size : null;
}

/** Copies whose accesses proofs do not follow; their addresses are multiples of 16. */
function bulkCopies({ symbolic, request }: KernelContext): readonly Access[] {
  const declaredAs: DeclaredAs = (index, offset) => declarationOf(request.parameters[index], offset);
  return symbolic.kernel.blocks.flatMap((block) =>
    block.instructions.flatMap((instruction, position) => {
      const { effect } = instruction.operation;
      if (effect.kind !== 'copy' || hasPlainAccesses(effect)) return [];
      return accessesOfEffect(effect)
        .slice(0, 2)
        .map(({ operation, bytes, source, space }): Access => ({
          index: -1,
          instruction,
          block: block.id,
          position,
          operation,
          bytes,
          ...weak,
          stored: null,
          isCopy: true,
          memory: space === 'shared' || space === 'global' ? space : 'generic',
          targets: targetsOf(symbolic, instruction, declaredAs, source),
        }));
    }),
  );
}

/** What the numbers of a launch have to satisfy so that an address is aligned. */
interface NeededMultiples {
  /** Whether numbers of threads, blocks, iterations and constants decide, regardless of scalars. */
  readonly isOfThreads: boolean;
  /** Whether the residue differs between threads, blocks or iterations. */
  readonly varies: boolean;
  readonly scalars: readonly NeededMultiple[];
}

/** A sum of scalars with the number of which it must be a multiple. */
interface NeededMultiple {
  readonly sum: Term;
  readonly multiple: bigint;
  readonly products: readonly ResidueProduct[];
}

/** Null if the address is aligned for all values, or what decides is unknown, such as contents of memory. */
function neededMultiples(context: KernelContext, { base, offset }: Target, multiple: number): NeededMultiples | null {
  if (base.kind !== 'parameter' && base.kind !== 'object') return null;
  const modulus = BigInt(multiple);
  const residue = residueOf(offset, modulus);
  if (!residue || residue.length === 0) return null;
  const groups = new Map<string, ResidueProduct[]>();
  for (const product of residue) {
    const kinds = product.factors.map(({ term }) => kindOf(context, term));
    if (kinds.includes(null)) return null;
    const varying = product.factors.filter((_, at) => kinds[at] === 'varying');
    const key = varying.map((factor) => factor.key).join(' ');
    const scalars = product.factors.filter((_, at) => kinds[at] === 'scalar');
    groups.set(key, [...(groups.get(key) ?? []), { ...product, factors: scalars }]);
  }
  const sums = [...groups.values()];
  const ofScalars = sums.filter((products) => products.some(({ factors }) => factors.length > 0));
  const { store } = context.symbolic;
  return {
    isOfThreads: ofScalars.length < sums.length,
    varies: groups.size > 1 || !groups.has(''),
    scalars: withoutImplied(ofScalars.map((products) => sumOf(store, products, modulus))),
  };
}

/** The conditions without those that another one implies: `pitch % 4 == 0` implies `pitch % 2 == 0` and `pitch * rows % 4 == 0`. */
function withoutImplied(all: readonly NeededMultiple[]): readonly NeededMultiple[] {
  const implies = ({ products: [one, ...more], multiple }: NeededMultiple, other: NeededMultiple): boolean =>
    more.length === 0 &&
    multiple >= other.multiple &&
    other.products.every(({ factors }) => one!.factors.every(({ key }) => factors.some((factor) => factor.key === key)));
  return all.filter(
    (one, at) => !all.some((other, before) => implies(other, one) && (before < at || !implies(one, other)) && other !== one),
  );
}

/** A sum of which a multiple of the number is needed, divided by what all its products have in common. */
function sumOf(store: TermStore, products: readonly ResidueProduct[], modulus: bigint): NeededMultiple {
  const common = products.reduce((all, { coefficient }) => greatestPower(coefficient, all), modulus);
  const parts = products.map(({ coefficient, factors }): readonly [Term, bigint] => {
    const product = factors.reduce((all, { term }) => store.mul(64, all, store.signExtend(64, term)), store.constant(64, 1n));
    // An odd factor changes no multiple of a power of two.
    return [product, products.length === 1 ? 1n : coefficient / common];
  });
  return { sum: store.sum(64, 0n, parts), multiple: modulus / common, products };
}

/** Whether a factor is a number of the thread, or a scalar of the launch; null if it is neither. */
function kindOf(context: KernelContext, term: Term): 'varying' | 'scalar' | null {
  const kinds = term.leaves.map((leaf) => {
    const atom = leaf.atom!;
    switch (atom.kind) {
      case 'thread':
      case 'block':
      case 'iteration':
        return 'varying';
      case 'block-size':
      case 'grid-size':
        return 'scalar';
      case 'parameter':
        return fieldAt(context, atom.index, atom.offset)?.isPointer === false ? 'scalar' : null;
      default:
        return null;
    }
  });
  return kinds.includes(null) ? null : kinds.includes('varying') ? 'varying' : 'scalar';
}

type Suspect = Pick<Misaligned, 'access' | 'target' | 'multiple'>;

/** The access in a run of a launch in which, by its terms, it is misaligned; null if no run shows it. */
function* tryLaunches(
  context: KernelContext,
  among: AccessInLaunches,
  confirmation: Confirmation,
  suspect: Suspect,
  needed: NeededMultiples,
): Steps<Misaligned | null> {
  const { access, target } = suspect;
  const { isOfThreads, varies, scalars } = needed;
  if (!isOfThreads && (context.request.policy.alignment === 'allow' || isSwitched(context, access))) return null;
  const { source, starts } = context.request.launch;
  const { base } = target;
  const isStartGiven = base.kind !== 'parameter' || (source === 'launch-site' && base.offset === 0 && starts?.includes(base.index));
  const dependsOnStart = !varies && isStartGiven !== true;
  // The launch may pass a pointer into an array.
  if (dependsOnStart && source === 'launch-site') return null;
  const large = representativeLaunches(context).filter(({ isLarge }) => isLarge);
  const others = isOfThreads ? [] : sampledLaunches(context, false);
  const lanes = large.map((setting) => misalignedLane(among, suspect, setting));
  // Without scalars to choose, each launch shows it.
  if (isOfThreads && lanes.includes(null)) return null;
  let runs = 0;
  for (const [at, setting] of [...large, ...others].entries()) {
    if (runs >= mostRuns || !isBroken(context, needed, setting)) continue;
    const lane = at < lanes.length ? lanes[at]! : misalignedLane(among, suspect, setting);
    if (!lane) continue;
    runs++;
    const observed = yield* confirmation.observed(setting, [lane.block]);
    const event = observed?.run.faults.find(({ kind, instruction }) => kind === 'misaligned' && instruction === access.instruction.id);
    if (!observed || !event) continue;
    const shown = { event, scenario: observed.scenario };
    const offset = lane.offsets.get(nameOf(shown.event));
    const isOfLaunch = isOfThreads && isGiven(context, [target.offset, context.symbolic.reach(access.block)]);
    return {
      ...suspect,
      ...(offset !== undefined && { offset }),
      ...(!isOfThreads && { needs: needsText(context, scalars) }),
      isGiven: isOfLaunch,
      dependsOnStart,
      shown,
    };
  }
  return null;
}

/** Whether a flag decides if the access is performed: the host program may set it where the addresses are aligned. */
function isSwitched(context: KernelContext, { block }: Access): boolean {
  const isFlag = ({ operator, arguments: [a, b] }: Term): boolean =>
    operator === 'equal' && [a!, b!].some((side) => side.operator === 'constant') && [a!, b!].some(isScalarOnly);
  const isScalarOnly = ({ leaves }: Term): boolean => leaves.length > 0 && leaves.every(({ atom }) => atom!.kind === 'parameter');
  return partsOf(context.symbolic.reach(block)).some((part) => isFlag(part.operator === 'not' ? part.arguments[0]! : part));
}

/** Whether some sum of scalars is not the multiple that is needed, in a launch. */
function isBroken(context: KernelContext, { isOfThreads, scalars }: NeededMultiples, setting: LaunchInstance): boolean {
  if (isOfThreads) return true;
  const scalar = scalarsOf(context, setting);
  const sizes = { 'block-size': setting.block, 'grid-size': setting.grid };
  const valueOf = (leaf: Term): bigint | undefined => {
    const atom = leaf.atom!;
    return atom.kind === 'block-size' || atom.kind === 'grid-size' ? BigInt(sizes[atom.kind][atom.axis]) : scalar(leaf);
  };
  return scalars.some(({ sum, multiple }) => {
    const value = evaluateTerm(sum, valueOf, new Map());
    return value !== undefined && value % multiple !== 0n;
  });
}

/** A block in which some thread performs the access at a misaligned address, with the offsets of these threads; null if none does. */
function misalignedLane(
  among: AccessInLaunches,
  { multiple }: Suspect,
  setting: LaunchInstance,
): { readonly block: number; readonly offsets: ReadonlyMap<string, number> } | null {
  const corner = among.inCorner(setting, (block) => {
    const { lanes, starts } = among.touched(setting, block);
    return starts.flatMap((start, at) => (start % multiple === 0 ? [] : [[nameOf(lanes[at]!), start] as const]));
  });
  // Of a thread that performs the access several times, the first one.
  return corner && { block: corner.number, offsets: new Map(corner.found.toReversed()) };
}

function nameOf({ thread, block }: Pick<FaultEvent, 'thread' | 'block'>): string {
  return [...thread, ...block].join();
}

/** `pitch % 4 == 0 && header % 2 == 0`. */
function needsText(context: KernelContext, scalars: readonly NeededMultiple[]): string {
  const texts = scalars.map(({ sum, multiple }) => {
    const text = describeTerm(context, sum);
    return `${/[ ]/.test(text) ? `(${text})` : text} % ${multiple} == 0`;
  });
  return [...new Set(texts)].join(' && ');
}
