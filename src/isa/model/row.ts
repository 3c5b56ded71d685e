/** Parts of the rows of the instruction table. */
import type { Domain, Width } from './domain.ts';
import type { AsyncGroup, CostClass, Effect, Rule, ValueType } from './operation.ts';

/**
 * One operand as written.
 *
 * - `scalar`: a register, literal, symbol, special register, `_`, `!p` or `-r`;
 * - `vector`: `{a, b}`;
 * - `pair`: `d|p`, where `d` may be a vector;
 * - `address`: `[a+o]`, one value;
 * - `other`: a label, a list, `[tex, {x, y}]`: neither source nor result.
 *
 * `widths` are the declared widths of its registers (of the base register, for an address), null for other operands:
 * literal, symbol, special register, `_`.
 */
export interface OperandForm {
  readonly kind: 'scalar' | 'vector' | 'pair' | 'address' | 'other';
  readonly widths: readonly (ValueType | null)[];
  /** The value of an integer literal. */
  readonly literal?: bigint;
}

/** The operands of an instruction in the order of the text. */
export type OperandShape = readonly OperandForm[];

/** A decoded instruction; the table adds the mnemonic and the section. */
export interface Signature {
  readonly results: readonly ValueType[];
  readonly sources: readonly ValueType[];
  readonly effect: Effect;
  readonly cost: CostClass;
  readonly evaluate?: Rule;
  readonly carry?: { readonly in: boolean; readonly out: boolean };
}

/**
 * Precision of the table for an instruction.
 *
 * - `exact`: values and effect as the ISA defines them;
 * - `approximate`: the ISA bounds the error; the reference gives the rounded value of the exact function;
 * - `havoc`: the effect is known, the values are not;
 * - `opaque`: the effect is not known.
 */
export type Treatment = 'exact' | 'approximate' | 'havoc' | 'opaque';

/** One row of the table: the meaning of an opcode in one of its forms. */
export interface Row {
  readonly opcode: string;
  /** Section of the PTX ISA 9.0. */
  readonly section: string;
  /** The forms that the row covers, in the notation of the ISA; for the documentation. */
  readonly forms: string;
  readonly treatment: Treatment;
  /** Accuracy, choices where the ISA leaves one, unmodelled behaviour. */
  readonly remark?: string;
  /** Present if the meaning depends on the values of literal operands. */
  readonly readsLiterals?: true;
  /**
   * Decodes an instruction; null if its modifiers or operands are not of this form. It must remove every modifier that
   * it understands.
   */
  readonly decode: (modifiers: Modifiers, shape: OperandShape | undefined) => Signature | null;
}

export interface TypeInformation {
  readonly name: string;
  readonly kind: 'unsigned' | 'signed' | 'bits' | 'float' | 'predicate';
  /** Total number of bits; 1 for a predicate. */
  readonly bits: number;
  /** Number of lanes: 2 for packed types (`f16x2`). */
  readonly lanes: 1 | 2;
}

const kinds = { u: 'unsigned', s: 'signed', b: 'bits' } as const;

function describeType(name: string): TypeInformation | null {
  if (name === 'pred') return { name, kind: 'predicate', bits: 1, lanes: 1 };
  const float = /^(f16|bf16|f32|tf32|f64)(x2)?$/.exec(name);
  if (float) {
    const one = name.startsWith('tf32') ? 32 : Number(/\d+/.exec(float[1]!)![0]);
    return { name, kind: 'float', bits: float[2] ? 2 * one : one, lanes: float[2] ? 2 : 1 };
  }
  const integer = /^([usb])(8|16|32|64|128)(x2)?$/.exec(name);
  if (!integer || (integer[3] && integer[2] !== '16')) return null;
  const bits = Number(integer[2]) * (integer[3] ? 2 : 1);
  return { name, kind: kinds[integer[1] as 'u' | 's' | 'b'], bits, lanes: integer[3] ? 2 : 1 };
}

/** The modifiers of one instruction that are not decoded yet. If any is left over, the row does not apply. */
export class Modifiers {
  readonly #left: string[];

  constructor(modifiers: readonly string[]) {
    this.#left = [...modifiers];
  }

  /** Removes `name`; returns whether it was present. */
  flag(name: string): boolean {
    const at = this.#left.indexOf(name);
    if (at >= 0) this.#left.splice(at, 1);
    return at >= 0;
  }

  /** Removes and returns the first modifier that is one of `names`. */
  oneOf<Name extends string>(...names: Name[]): Name | undefined {
    const at = this.#left.findIndex((name) => (names as string[]).includes(name));
    return at < 0 ? undefined : (this.#left.splice(at, 1)[0] as Name);
  }

  /** Removes and returns the first modifier that `pattern` matches completely. */
  matching(pattern: RegExp): string | undefined {
    const at = this.#left.findIndex((name) => pattern.test(name));
    return at < 0 ? undefined : this.#left.splice(at, 1)[0];
  }

  /** Removes and returns the first type name. */
  type(): TypeInformation | undefined {
    for (const [at, name] of this.#left.entries()) {
      const type = describeType(name);
      if (type) {
        this.#left.splice(at, 1);
        return type;
      }
    }
    return undefined;
  }

  /** Inserts removed modifiers again, before the others. */
  putBack(names: readonly string[]): void {
    this.#left.unshift(...names);
  }

  /** Removes all remaining modifiers: for rows whose effect does not depend on them. */
  rest(): readonly string[] {
    return this.#left.splice(0);
  }

  /** Whether no modifier is left. */
  get empty(): boolean {
    return this.#left.length === 0;
  }
}

export const pureEffect: Effect = { kind: 'pure' };

/** The declared width of the only register of operand `index`, if the shape has it. */
function registerWidth(shape: OperandShape | undefined, index: number): ValueType | undefined {
  const form = shape?.[index];
  return form?.widths.length === 1 ? (form.widths[0] ?? undefined) : undefined;
}

/** A register at least `width` wide, as `ld`, `st` and `cvt` allow (PTX ISA 9.4.1); null if it is too narrow. */
export function relaxedWidth(shape: OperandShape | undefined, index: number, width: Width): Width | null {
  const declared = registerWidth(shape, index) ?? width;
  return declared === 'predicate' || declared < width ? null : declared;
}

/**
 * Bits of the address in operand `index`: 64 unless its register has another width; null for a width no address has.
 */
export function addressWidth(shape: OperandShape | undefined, index: number): Width | null {
  const declared = registerWidth(shape, index) ?? 64;
  return declared === 32 || declared === 64 ? declared : null;
}

/** A rule over bit-vectors with one result. */
export function bits(rule: <V, B>(domain: Domain<V, B>, ...sources: V[]) => V): Rule {
  return <V, B>(domain: Domain<V, B>, sources: readonly (V | B)[]) => [rule(domain, ...(sources as V[]))];
}

/** A pure instruction with one result. */
export function pure(result: ValueType, sources: readonly ValueType[], cost: CostClass, evaluate: Rule): Signature {
  return { results: [result], sources, effect: pureEffect, cost, evaluate };
}

/** A row's signature for an instruction without effect on the results of a kernel (hints, counters, delays). */
export function noOperation(sources: readonly ValueType[], cost: CostClass): Signature {
  return { results: [], sources, effect: pureEffect, cost, evaluate: () => [] };
}

/** Widths of operand `index`; literals and sinks have the width `otherwise`. */
export function widthsOf(shape: OperandShape | undefined, index: number, otherwise: Width): readonly ValueType[] {
  return shape?.[index]?.widths.map((width) => width ?? otherwise) ?? [];
}

/**
 * A signature of an instruction whose values are not computed: the first operand is the result if `results`, the others
 * are sources.
 */
export function uncomputed(
  shape: OperandShape | undefined,
  results: number,
  effect: Effect,
  cost: CostClass,
  otherwise: Width = 32,
): Signature {
  const forms = shape ?? [];
  const widths = (from: number, to: number): ValueType[] =>
    forms.slice(from, to).flatMap((form) => form.widths.map((width) => width ?? (form.kind === 'address' ? 64 : otherwise)));
  return { results: widths(0, results), sources: widths(results, forms.length), effect, cost };
}

/**
 * A row that commits groups of asynchronous operations, or waits for them: `commit…`, `wait…` or `wait_all` in its forms.
 * @param forms all forms, separated by `; `; `{.read}` if a wait may be only for the reads of the source
 */
export function groupRow(section: string, forms: string, group: AsyncGroup): Row {
  const mnemonics = forms.replace('{.read}', '').split('; ');
  const opcode = forms.split('.')[0]!;
  return {
    opcode,
    section,
    forms,
    treatment: 'exact',
    decode(modifiers) {
      const onlyReads = forms.includes('{.read}') && modifiers.flag('read');
      const mnemonic = [opcode, ...modifiers.rest()].join('.');
      if (!mnemonics.some((one) => one.split(' ')[0] === mnemonic)) return null;
      const form = mnemonic.includes('wait_all') ? 'wait-all' : (/wait|commit/.exec(mnemonic)?.[0] as 'wait' | 'commit' | undefined);
      const effect: Effect = { kind: 'group', group, form: form ?? 'fence', onlyReads };
      return { results: [], sources: form === 'wait' ? [32] : [], effect, cost: 'sync' };
    },
  };
}
