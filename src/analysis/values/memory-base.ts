/** The object that an address points into: the base of the address, without the byte offset. */
import type { Kernel, MemoryObject } from '../../ir/form/kernel.ts';
import type { Term, TermStore } from '../../term/term.ts';

export type Base =
  /** A pointer passed as a parameter (a field of one at `offset`). */
  | { readonly kind: 'parameter'; readonly index: number; readonly offset: number; readonly key: string }
  | { readonly kind: 'object'; readonly object: MemoryObject; readonly key: string }
  /** A pointer that was read from element `element`, a byte offset, of an array of pointers that the kernel only reads. */
  | { readonly kind: 'loaded'; readonly table: Base; readonly element: Term; readonly key: string }
  /** A pointer read from memory or computed in an unsupported form. */
  | { readonly kind: 'unknown'; readonly key: string };

/** The base of a pointer that is a parameter, or a field of one at `offset`. */
export function parameterBase(index: number, offset: number): Base {
  return { kind: 'parameter', index, offset, key: `parameter${index}.${offset}` };
}

/** One alternative of an address: `base + offset`, selected if `condition` holds. */
export interface Target {
  readonly base: Base;
  /** Bytes from the start of the base, as a term of the address's width. */
  readonly offset: Term;
  readonly condition: Term;
  /** The parameter that the kernel uses, if the base is another one, at a known distance. */
  readonly through?: Base;
}

/** Whether bases with equal keys denote one object. Pointers that were read from different elements may differ. */
export function isOneObject({ kind }: Base): boolean {
  return kind === 'parameter' || kind === 'object';
}

/** Type class of a parameter field in the source; `unknown` if the source is missing, or the type is a custom name. */
export type DeclaredAs = (index: number, offset: number) => 'pointer' | 'scalar' | 'unknown';

const maxAlternatives = 8;

/** Splits an address into the objects it may point into, following pointers that a condition selects. */
export function resolveTargets(store: TermStore, kernel: Kernel, address: Term, condition: Term, declared: DeclaredAs): readonly Target[] {
  const declaredAs: DeclaredAs = (index, offset) => {
    const told = declared(index, offset);
    return told === 'unknown' && kernel.parameters[index]?.addresses?.includes(offset) ? 'pointer' : told;
  };
  const isPointer = ({ atom }: Term): boolean =>
    atom?.kind === 'object' || (atom?.kind === 'parameter' && declaredAs(atom.index, atom.offset) === 'pointer');
  const work: { address: Term; condition: Term }[] = [{ address, condition }];
  const targets: Target[] = [];
  for (let next = work.pop(); next; next = work.pop()) {
    const parts = next.address.operator === 'sum' ? next.address.arguments : [next.address];
    const coefficients = next.address.operator === 'sum' ? next.address.coefficients : [1n];
    const candidates = parts.filter((part, i) => coefficients[i] === 1n && mayBePointer(part, declaredAs));
    // A sum contains only one address: in addition to a certain pointer, other 64-bit values are indices.
    const certain = candidates.filter(isPointer);
    const pointers = certain.length === 1 ? certain : candidates;
    const chosen = pointers.find((part) => part.operator === 'select');
    if (chosen && targets.length + work.length < maxAlternatives) {
      const [test, a, b] = chosen.arguments as [Term, Term, Term];
      for (const [value, taken] of [
        [a, test],
        [b, store.not(test)],
      ] as const) {
        const rest = store.sub(address.width, next.address, chosen);
        work.push({ address: store.add(address.width, rest, value), condition: store.all([next.condition, taken]) });
      }
      continue;
    }
    const pointer = pointers.length === 1 ? pointers[0]! : null;
    const base = pointer && baseOf(kernel, pointer);
    const others = parts.filter((part, i) => coefficients[i] === 1n && part !== pointer);
    if (base && (isPointer(pointer) || !others.some(mayBeLoadedPointer))) {
      targets.push({ base, offset: store.sub(address.width, next.address, pointer), condition: next.condition });
    } else {
      targets.push({ base: { kind: 'unknown', key: 'unknown' }, offset: next.address, condition: next.condition });
    }
  }
  return targets;
}

function mayBePointer(term: Term, declaredAs: DeclaredAs): boolean {
  if (term.operator === 'select') return selectsPointer(term, declaredAs);
  const { atom } = term;
  if (atom?.kind === 'parameter') return atom.bytes === 8 && declaredAs(atom.index, atom.offset) !== 'scalar';
  return atom?.kind === 'object';
}

/** Whether an addend may be the pointer of a sum, so that a parameter in the same sum is the index. */
function mayBeLoadedPointer(term: Term): boolean {
  if (term.operator === 'select') return term.arguments.slice(1).some(mayBeLoadedPointer);
  if (term.operator === 'sum') return term.arguments.some(mayBeLoadedPointer);
  return term.width === 64 && (term.atom?.kind === 'havoc' || term.atom?.kind === 'phi' || term.atom?.kind === 'parameter');
}

/** Whether both arms of a selection hold exactly one pointer: `flag ? a : b`, double buffers. */
function selectsPointer(term: Term, declaredAs: DeclaredAs): boolean {
  return term.arguments.slice(1).every((arm) => {
    const parts = arm.operator === 'sum' ? arm.arguments : [arm];
    return parts.some((part, i) => (arm.operator !== 'sum' || arm.coefficients[i] === 1n) && mayBePointer(part, declaredAs));
  });
}

/** The loaded pointer that an address of unknown base starts from: the only operand as wide as an address. */
export function loadedPointer(address: Term): Term | null {
  const parts = address.operator === 'sum' ? address.arguments : [address];
  const coefficients = address.operator === 'sum' ? address.coefficients : [1n];
  const wide = parts.filter((part, i) => coefficients[i] === 1n && mayBeLoadedPointer(part));
  const [pointer] = wide;
  return wide.length === 1 && pointer!.atom?.kind === 'havoc' && pointer!.atom.value >= 0 ? pointer! : null;
}

function baseOf(kernel: Kernel, term: Term): Base | null {
  const atom = term.atom;
  if (atom?.kind === 'object') {
    const object = kernel.objects[atom.object]!;
    // Dynamic shared arrays all start at the same address.
    const key = object.space === 'shared' && object.bytes === null ? 'dynamic' : `object${object.id}`;
    return { kind: 'object', object, key };
  }
  if (atom?.kind === 'parameter') {
    return parameterBase(atom.index, atom.offset);
  }
  return null;
}
