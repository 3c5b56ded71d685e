/** Where an instruction accesses memory, in the terms of the kernel: the same in all warps, lanes and rounds. */
import type { AccessForm } from './warp-setting.ts';
import { resolveTargets } from '../analysis/values/memory-base.ts';
import type { MemoryAccess } from '../machine/core/program.ts';
import type { Instruction } from '../ir/form/kernel.ts';
import { type Linear, inside, readingOf, signedBounds, unsignedBounds } from '../term/linear.ts';
import type { Term } from '../term/term.ts';
import { withoutReadings } from './lanes/lane-values.ts';
import type { WarpSetting } from './warp-setting.ts';

/** One access that an instruction makes. */
interface Access {
  readonly access: MemoryAccess;
  /** The argument that holds the address. */
  readonly source: number;
  /** Bytes behind the address. */
  readonly more: bigint;
}

/** Of an array that a parameter points to, in bytes: `cudaMalloc` gives as much. */
const parameterAlignment = 256;

/** The accesses of an instruction, local memory left out; found once. */
export function accessForms(setting: WarpSetting, instruction: Instruction): readonly AccessForm[] {
  const { accessForms: known } = setting;
  let forms = known.get(instruction);
  if (!forms) {
    forms = accessesOf(setting, instruction).flatMap((access) => formOf(setting, instruction, access) ?? []);
    known.set(instruction, forms);
  }
  return forms;
}

/** The accesses of an instruction, in the order in which the machine counts them. */
export function accessesOf({ program }: WarpSetting, instruction: Instruction): Access[] {
  const first = program.firstAccess.get(instruction);
  if (first === undefined) return [];
  const isCopy = instruction.operation.effect.kind === 'async-copy';
  const found: Access[] = [];
  for (let index = first; program.accesses[index]?.instruction === instruction.id; index++) {
    const access = program.accesses[index]!;
    found.push({
      access,
      source: isCopy ? index - first : 0,
      more: isCopy ? 0n : BigInt((index - first) * access.bytes),
    });
  }
  return found;
}

/** The address that an argument of an instruction holds. */
export function addressOf({ symbolic }: WarpSetting, instruction: Instruction, source: number): Term {
  const pointer = symbolic.operand(instruction.arguments[source]!);
  return symbolic.store.sum(pointer.width, source === 0 ? instruction.offset : 0n, [[pointer, 1n]]);
}

function formOf(setting: WarpSetting, instruction: Instruction, { access, source, more }: Access): AccessForm | null {
  const { symbolic, declaredAs } = setting;
  const { kernel, store, view } = symbolic;
  if (access.space !== 'global' && access.space !== 'shared' && access.space !== 'generic') return null;
  const address = addressOf(setting, instruction, source);
  const shifted = store.sum(address.width, more, [[address, 1n]]);
  const targets = resolveTargets(store, kernel, shifted, store.true, declaredAs);
  const [target] = targets;
  const isKnown = targets.length === 1 && target!.base.kind !== 'unknown';
  const offset = isKnown ? target!.offset : shifted;
  const object = isKnown && target!.base.kind === 'object' ? target!.base.object : null;
  if (object?.space === 'local') return null;
  const ofObject = object?.space === 'shared' ? 'shared' : 'global';
  return {
    space: access.space !== 'generic' ? access.space : isKnown ? ofObject : 'generic',
    offset: withoutReadings(setting, view.offset(offset)),
    shape: {
      bytes: access.bytes,
      isAtomic: access.operation === 'atomic',
      alignment: object ? object.alignment : isKnown ? parameterAlignment : 1,
    },
    isParameter: isKnown && !object,
  };
}

/** A constant, and terms with their factors. */
type Sum = Pick<Linear, 'constant' | 'terms'>;

/** Addresses that selections lead to, and that are looked at. */
const mostWays = 4;

/**
 * Where an access leads whose address is selected between others (`i == 0 ? i : i - 1`, `min(i + 1, n - 1)`): the sums that
 * each lane takes one of. Only the one itself where nothing is selected, or too much.
 */
export function addressWays(setting: WarpSetting, { offset }: AccessForm): readonly Sum[] {
  const ways: Sum[] = [];
  const work: Sum[] = [offset];
  for (let next = work.pop(); next; next = work.pop()) {
    const selected = [...next.terms.keys()].find((term) => armsOf(setting, term) !== null);
    if (!selected) ways.push(next);
    else for (const arm of armsOf(setting, selected)!) work.push(replaced(next, selected, arm));
    if (ways.length + work.length > mostWays) return [offset];
  }
  return ways;
}

/** What a selection, or a reading of one, is where each side is taken; null for other terms. */
function armsOf(setting: WarpSetting, term: Term): readonly Linear[] | null {
  const { view } = setting.symbolic;
  const reading = readingOf(term);
  const inner = reading ? term.arguments[0]! : term;
  if (inner.operator !== 'select') return null;
  const bounds = reading === 'signed' ? signedBounds(inner.width) : unsignedBounds(inner.width);
  const [condition, ...sides] = inner.arguments as [Term, Term, Term];
  const [taken, other] = sides.map((arm) => withoutReadings(setting, view.natural(arm))) as [Linear, Linear];
  const arms = [...withEquality(setting, condition, taken, other)];
  if (!reading || arms.every((arm) => inside(arm, bounds))) return arms;
  // Index arithmetic is taken not to wrap around, where it is as wide as an index.
  if (inner.width < 32) return null;
  setting.assume('no-wrap');
  return arms;
}

/**
 * Sides of a selection by an equality. Where two sums are equal, their difference may be added as often as one likes:
 * with it `i == 0 ? 0 : i - 1` selects between `i` and `i - 1`, which lie next to each other.
 */
function withEquality(setting: WarpSetting, condition: Term, taken: Linear, other: Linear): readonly [Linear, Linear] {
  const isNegated = condition.operator === 'not';
  const equality = isNegated ? condition.arguments[0]! : condition;
  if (equality.operator !== 'equal' || equality.arguments[0]!.width < 32) return [taken, other];
  const [a, b] = equality.arguments.map((side) => withoutReadings(setting, setting.symbolic.view.natural(side)));
  const none = differenceOf(a!, b!);
  const [equal, unequal] = isNegated ? [other, taken] : [taken, other];
  const [first] = [...none.terms].flatMap(([term, by]) => {
    const wanted = (unequal.terms.get(term) ?? 0n) - (equal.terms.get(term) ?? 0n);
    return wanted !== 0n && wanted % by === 0n ? [wanted / by] : [];
  });
  if (first === undefined) return [taken, other];
  setting.assume('no-wrap');
  const moved = { ...equal, ...plus(equal, none, first) };
  return isNegated ? [taken, moved] : [moved, other];
}

function replaced(form: Sum, term: Term, arm: Sum): Sum {
  const terms = new Map(form.terms);
  terms.delete(term);
  return plus({ ...form, terms }, arm, form.terms.get(term)!);
}

/** The difference of two sums. */
export function differenceOf(a: Sum, b: Sum): Sum {
  return plus(a, b, -1n);
}

/** a + factor * b. */
function plus(a: Sum, b: Sum, factor: bigint): Sum {
  const terms = new Map(a.terms);
  for (const [part, by] of b.terms) {
    const total = (terms.get(part) ?? 0n) + factor * by;
    if (total === 0n) terms.delete(part);
    else terms.set(part, total);
  }
  return { constant: a.constant + factor * b.constant, terms };
}
