/**
 * The domain whose values are JavaScript expressions: interpreting a rule of the instruction table over it generates
 * the code that the interpreter runs. Values of up to 32 bits are numbers, `32` as signed integers (which V8 keeps
 * unboxed), `8` and `16` unsigned; 64 and 128 bits are unsigned bigints; truths are booleans.
 */
import type { Domain, FloatOperation, Width } from '../../isa/model/domain.ts';
import { localWindow, sharedWindow } from '../../isa/model/address-window.ts';

/** An expression without side effects that is cheap to repeat: a name or a literal. */
export type JavaScript = string;

/** The literal of a constant. */
export function literal(width: Width, value: bigint): JavaScript {
  if (width > 32) return `${BigInt.asUintN(width, value)}n`;
  if (width === 32) return String(BigInt.asIntN(32, value));
  return String(BigInt.asUintN(width, value));
}

/** Makes a number of the canonical form of `width` from any integer-valued int32 expression. */
function wrap(width: Width, expression: JavaScript): JavaScript {
  return width === 32 ? `(${expression}) | 0` : `(${expression}) & ${width === 16 ? 0xffff : 0xff}`;
}

/** The value as a signed number or bigint. */
function signed(width: Width, a: JavaScript): JavaScript {
  if (width === 32) return a;
  return width > 32 ? `BigInt.asIntN(${width}, ${a})` : `(${a} << ${32 - width} >> ${32 - width})`;
}

/** The value as an unsigned number or bigint. */
function unsigned(width: Width, a: JavaScript): JavaScript {
  return width === 32 ? `(${a} >>> 0)` : a;
}

/** An expression for the unsigned bigint of a value. */
export function toPattern(width: Width, a: JavaScript): JavaScript {
  return width > 32 ? a : `BigInt(${unsigned(width, a)})`;
}

/** The canonical form of an unsigned bigint. */
export function fromPattern(width: Width, a: JavaScript): JavaScript {
  return width > 32 ? a : width === 32 ? `Number(BigInt.asIntN(32, ${a}))` : `Number(${a})`;
}

interface StagingContext {
  /** Adds `const name = expression;` to the code and returns the name. */
  readonly bind: (expression: JavaScript) => JavaScript;
  /** Assigns a number to an operation, for calls of `F.slow`. */
  readonly floatOperation: (operation: FloatOperation) => number;
  /** The function of `F` that computes an operation on canonical values; undefined without one. */
  readonly fastFloat: (operation: FloatOperation) => string | undefined;
}

/** The domain that appends to the code of one segment. */
export function stagedDomain(context: StagingContext): Domain<JavaScript, JavaScript> {
  const { bind } = context;
  const big = (width: Width): boolean => width > 32;
  const arithmetic =
    (operator: '+' | '-') =>
    (width: Width, a: JavaScript, b: JavaScript): JavaScript =>
      bind(big(width) ? `BigInt.asUintN(${width}, ${a} ${operator} ${b})` : wrap(width, `${a} ${operator} ${b}`));
  const divide =
    (operator: '/' | '%', isSigned: boolean) =>
    (width: Width, a: JavaScript, b: JavaScript): JavaScript => {
      const [x, y] = isSigned ? [signed(width, a), signed(width, b)] : [unsigned(width, a), unsigned(width, b)];
      const zero = operator === '/' ? literal(width, -1n) : a;
      const value = big(width) ? `BigInt.asUintN(${width}, ${x} ${operator} ${y})` : wrap(width, `${x} ${operator} ${y}`);
      return bind(`${b} === ${big(width) ? '0n' : '0'} ? ${zero} : ${value}`);
    };
  const shifted =
    (operator: '<<' | '>>' | '>>>') =>
    (width: Width, a: JavaScript, amount: JavaScript): JavaScript => {
      if (big(width)) {
        const count = `(${amount} > ${width}n ? ${width}n : ${amount})`;
        const source = operator === '>>' ? signed(width, a) : a;
        return bind(`BigInt.asUintN(${width}, ${source} ${operator === '<<' ? '<<' : '>>'} ${count})`);
      }
      const over = operator === '>>' ? wrap(width, `${signed(width, a)} >> 31`) : '0';
      const source = operator === '>>' ? signed(width, a) : a;
      return bind(`${unsigned(32, amount)} >= ${width} ? ${over} : ${wrap(width, `${source} ${operator} ${amount}`)}`);
    };
  const bitwise =
    (operator: '&' | '|' | '^') =>
    (_width: Width, a: JavaScript, b: JavaScript): JavaScript =>
      bind(`${a} ${operator} ${b}`);

  return {
    constant: literal,
    add: arithmetic('+'),
    sub: arithmetic('-'),
    mul: (width, a, b) => bind(big(width) ? `BigInt.asUintN(${width}, ${a} * ${b})` : wrap(width, `Math.imul(${a}, ${b})`)),
    udiv: divide('/', false),
    sdiv: divide('/', true),
    urem: divide('%', false),
    srem: divide('%', true),
    and: bitwise('&'),
    or: bitwise('|'),
    xor: bitwise('^'),
    not: (width, a) => bind(big(width) ? `BigInt.asUintN(${width}, ~${a})` : wrap(width, `~${a}`)),
    shl: shifted('<<'),
    lshr: shifted('>>>'),
    ashr: shifted('>>'),
    zeroExtend: (from, to, a) => {
      if (from === to) return a;
      if (big(to)) return big(from) ? a : bind(`BigInt(${unsigned(from, a)})`);
      return a;
    },
    signExtend: (from, to, a) => {
      if (from === to) return a;
      if (big(to)) return bind(`BigInt.asUintN(${to}, ${big(from) ? signed(from, a) : `BigInt(${signed(from, a)})`})`);
      return bind(wrap(to, signed(from, a)));
    },
    truncate: (from, to, a) => {
      if (from === to) return a;
      if (big(to)) return bind(`BigInt.asUintN(${to}, ${a})`);
      if (!big(from)) return bind(wrap(to, a));
      return bind(to === 32 ? `Number(BigInt.asIntN(32, ${a}))` : `Number(BigInt.asUintN(${to}, ${a}))`);
    },
    factor24: (isSigned, a) => bind(isSigned ? `${a} << 8 >> 8` : `${a} & 0xffffff`),
    equal: (_width, a, b) => bind(`${a} === ${b}`),
    unsignedLess: (width, a, b) => bind(`${unsigned(width, a)} < ${unsigned(width, b)}`),
    signedLess: (width, a, b) => bind(`${signed(width, a)} < ${signed(width, b)}`),
    select: (_width, condition, a, b) => bind(`${condition} ? ${a} : ${b}`),
    truth: String,
    negate: (a) => bind(`!${a}`),
    both: (a, b) => bind(`${a} && ${b}`),
    either: (a, b) => bind(`${a} || ${b}`),
    differ: (a, b) => bind(`${a} !== ${b}`),
    selectTruth: (condition, a, b) => bind(`${condition} ? ${a} : ${b}`),
    float: (operation, sources) => {
      const fast = context.fastFloat(operation);
      if (fast) return bind(`F.${fast}(${sources.join(', ')})`);
      const from = patternWidth(operation.from);
      const patterns = sources.map((source) => toPattern(from, source)).join(', ');
      const result = `F.slow(${context.floatOperation(operation)}, [${patterns}])`;
      return bind(fromPattern(patternWidth(operation.to), result));
    },
    compareFloat: (comparison, format, ftz, a, b) => {
      const width = patternWidth(format);
      if (format === 'f32' || (format === 'f64' && !ftz)) {
        const value = (x: JavaScript): JavaScript => `F.${format}(${ftz ? `F.flush32(${x})` : x})`;
        return bind(comparisonCode(comparison, value(a), value(b)));
      }
      return bind(`F.compare('${comparison}', '${format}', ${ftz}, ${toPattern(width, a)}, ${toPattern(width, b)})`);
    },
    pure: (name, width, sources) => {
      const list = sources.map((source) => `{ width: ${source.width}, value: ${toPattern(source.width, source.value)} }`);
      const [first] = sources;
      if (name === 'clz' && first?.width === 32) return bind(`Math.clz32(${first.value})`);
      const cvta = /^cvta(\.to)?\.(shared|local)$/.exec(name);
      if (cvta && first) {
        const window = cvta[2] === 'shared' ? sharedWindow : localWindow;
        return bind(`BigInt.asUintN(64, ${first.value} ${cvta[1] ? '-' : '+'} ${window}n)`);
      }
      return bind(fromPattern(width, `F.pure('${name}', ${width}, [${list.join(', ')}])`));
    },
  };
}

const javascriptOperators: Readonly<Record<string, string>> = {
  eq: '===',
  ne: '!==',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
};

/** Comparisons of JavaScript numbers, except for `!==`, are false if one is NaN. */
function comparisonCode(comparison: string, a: JavaScript, b: JavaScript): JavaScript {
  if (comparison === 'num') return `F.ordered(${a}, ${b})`;
  if (comparison === 'nan') return `!F.ordered(${a}, ${b})`;
  const plain = `${a} ${javascriptOperators[comparison.slice(0, 2)]} ${b}`;
  if (comparison.length === 3) return comparison === 'neu' ? plain : `${plain} || !F.ordered(${a}, ${b})`;
  return comparison === 'ne' ? `${plain} && F.ordered(${a}, ${b})` : plain;
}

/** Bits of the pattern of a floating-point or integer type. */
export function patternWidth(type: string): Width {
  return type === 'tf32' ? 32 : (Number(/\d+$/.exec(type)?.[0] ?? 32) as Width);
}
