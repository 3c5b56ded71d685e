/** Operands of GIMPLE statements as GCC prints them with locations and numbers of declarations. */
import type { GimpleOperand } from './gimple.ts';

/** Locations before operands: `[a.cu:10:29] `, `[a.cu:10:29 discrim 2] `, `[0:0] `. */
const locations = /^(?:\[[^\]\n]*?\d+:\d+(?: discrim \d+)?\] )+/;

const declaration = /^[\w$.#]*?D\.\d+/;
const ssaName = /^((?:[A-Za-z_$][\w$#]*(?:\.\d+)?)?)_(\d+)(\(D\))?(?![\w$])/;

/** The text without the locations before it. */
export function withoutLocation(text: string): string {
  return text.replace(locations, '');
}

/** Parses one operand. What is not in the list of forms is opaque. */
export function parseGimpleOperand(text: string): GimpleOperand {
  const parser = new OperandParser(text.trim());
  return parser.whole() ?? { kind: 'opaque', text };
}

class OperandParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The operand, if nothing follows it. */
  whole(): GimpleOperand | null {
    const operand = this.#operand();
    return operand && this.#at === this.#text.length ? operand : null;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    const match = pattern.exec(this.#text.slice(this.#at));
    if (match) this.#at += match[0].length;
    return match;
  }

  #operand(): GimpleOperand | null {
    this.#take(locations);
    if (this.#take(/^&/)) {
      const of = this.#operand();
      return of && { kind: 'address', of };
    }
    if (this.#take(/^\*/)) {
      const pointer = this.#primary();
      return pointer && this.#parts({ kind: 'pointee', pointer, offset: 0n, type: null });
    }
    const real = this.#take(/^-?(?:\d+\.\d+(?:e[+-]?\d+)?|Inf|Nan)(?![\w.])/);
    if (real) return { kind: 'real', text: real[0] };
    const integer = this.#take(/^(-?\d+)(B?)(?![\w.])/);
    if (integer) return { kind: 'integer', value: BigInt(integer[1]!), ...(integer[2] === 'B' && { isAddress: true }) };
    const string = this.#take(/^"((?:[^"\\]|\\.)*)"/);
    if (string) return this.#parts({ kind: 'string', text: string[1]! });
    if (this.#take(/^\{\}/)) return { kind: 'zeros' };
    const primary = this.#primary();
    return primary && this.#parts(primary);
  }

  /** What fields and elements follow. */
  #primary(): GimpleOperand | null {
    this.#take(locations);
    if (this.#take(/^\(/)) {
      const inner = this.#operand();
      return inner && this.#take(/^\)/) ? inner : null;
    }
    if (this.#take(/^OBJ_TYPE_REF\(/)) return this.#virtual();
    const part = this.#take(/^(REAL|IMAG)PART_EXPR </);
    if (part) {
      const of = this.#operand();
      return of && this.#take(/^>/) ? { kind: 'field', of, field: part[1] === 'REAL' ? 'real' : 'imaginary' } : null;
    }
    if (this.#take(/^MEM(?= ?[[<])/)) return this.#memory();
    const result = this.#take(/^<retval>(?:_(\d+)(\(D\))?)?/);
    if (result)
      return result[1] === undefined
        ? { kind: 'declaration', name: '<retval>' }
        : { kind: 'ssa', version: Number(result[1]), label: '<retval>', isInitial: result[2] !== undefined };
    // `devID.7_4` is a version of a copy of `devID`.
    const ssa = this.#take(ssaName);
    if (ssa) return { kind: 'ssa', version: Number(ssa[2]), label: ssa[1]!, isInitial: ssa[3] !== undefined };
    const name = this.#take(declaration);
    return name && { kind: 'declaration', name: name[0] };
  }

  #parts(operand: GimpleOperand): GimpleOperand | null {
    let of = operand;
    for (;;) {
      const field = this.#take(/^(->|\.)([\w$.#]*?D\.\d+)/);
      if (field) {
        if (field[1] === '->') of = { kind: 'pointee', pointer: of, offset: 0n, type: null };
        of = { kind: 'field', of, field: field[2]! };
      } else if (this.#take(/^\[/)) {
        const index = this.#operand();
        if (!index || !this.#take(/^\]/)) return null;
        of = { kind: 'element', of, index };
      } else return of;
    }
  }

  /** `_2;(const struct PlanD.2371)p_35(D)->1B)`: the slot is a number of pointers. */
  #virtual(): GimpleOperand | null {
    const pointer = this.#operand();
    if (!pointer || !this.#take(/^;/)) return null;
    const type = this.#bracketed('(', ')');
    const object = type === null ? null : this.#primary();
    const slot = object && this.#take(/^->(\d+)B?\)/);
    return slot && object && { kind: 'virtual', pointer, type: type!, object, slot: Number(slot[1]) };
  }

  /** `MEM[(const struct T &)p_3 + 8B]`, `MEM <unsigned int> [(charD.10 * {ref-all})_3]`. */
  #memory(): GimpleOperand | null {
    this.#take(/^ /);
    const accessed = this.#text[this.#at] === '<' ? this.#bracketed('<', '>') : null;
    if (!this.#take(/^ ?\[/)) return null;
    const cast = this.#text[this.#at] === '(' ? this.#bracketed('(', ')') : null;
    const pointer = this.#operand();
    const offset = this.#take(/^ \+ (-?\d+)B?/);
    if (!pointer || !this.#take(/^\]/)) return null;
    const type = accessed ?? cast?.replace(/ ?[*&](?: ?\{ref-all\})?$/, '') ?? null;
    return { kind: 'pointee', pointer, offset: BigInt(offset?.[1] ?? 0), type };
  }

  /** The text between brackets that may nest. */
  #bracketed(open: string, close: string): string | null {
    const start = this.#at;
    let depth = 0;
    for (let at = start; at < this.#text.length; at++) {
      if (this.#text[at] === open) depth++;
      else if (this.#text[at] === close && --depth === 0) {
        this.#at = at + 1;
        return this.#text.slice(start + 1, at);
      }
    }
    return null;
  }
}
