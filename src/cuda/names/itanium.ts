/** The grammar of mangled names: Itanium C++ ABI, section 5.1. */

/** Thrown for symbols that are not understood; caught by `demangle`. */
export class DemangleFailure extends Error {
  override name = 'DemangleFailure';
}

/** A type as its text before and after the declared name: `void (*` and `)(int)`. */
interface Type {
  readonly left: string;
  readonly right: string;
  readonly shape: 'plain' | 'array' | 'function';
  /** Elements of an argument pack, for which the other fields are unused. */
  readonly pack?: readonly Type[];
}

interface Encoding {
  readonly name: string;
  /** Null for variables. */
  readonly parameters: readonly string[] | null;
  /** ` const` and the like, of member functions. */
  readonly qualifiers: string;
  readonly local?: { readonly function: string; readonly name: string };
}

interface Name {
  readonly text: string;
  readonly endsInArguments: boolean;
  /** Constructors, destructors and conversions have no return type in their encoding. */
  readonly returnsNothing: boolean;
  readonly qualifiers: string;
  readonly local?: { readonly function: string; readonly name: string };
}

const builtins: Readonly<Record<string, string>> = {
  v: 'void',
  w: 'wchar_t',
  b: 'bool',
  a: 'signed char',
  c: 'char',
  h: 'unsigned char',
  s: 'short',
  t: 'unsigned short',
  i: 'int',
  j: 'unsigned int',
  l: 'long',
  m: 'unsigned long',
  x: 'long long',
  y: 'unsigned long long',
  n: '__int128',
  o: 'unsigned __int128',
  f: 'float',
  d: 'double',
  e: 'long double',
  g: '__float128',
  z: '...',
  Dd: 'decimal64',
  De: 'decimal128',
  Df: 'decimal32',
  Dh: 'half',
  Di: 'char32_t',
  Ds: 'char16_t',
  Du: 'char8_t',
  Da: 'auto',
  Dc: 'decltype(auto)',
  Dn: 'decltype(nullptr)',
};

const standardNames: Readonly<Record<string, string>> = {
  t: 'std',
  a: 'std::allocator',
  b: 'std::basic_string',
  s: 'std::string',
  i: 'std::istream',
  o: 'std::ostream',
  d: 'std::iostream',
};

const binaryOperators: Readonly<Record<string, string>> = {
  pl: '+',
  mi: '-',
  ml: '*',
  dv: '/',
  rm: '%',
  an: '&',
  or: '|',
  eo: '^',
  aS: '=',
  pL: '+=',
  mI: '-=',
  mL: '*=',
  dV: '/=',
  rM: '%=',
  aN: '&=',
  oR: '|=',
  eO: '^=',
  ls: '<<',
  rs: '>>',
  lS: '<<=',
  rS: '>>=',
  eq: '==',
  ne: '!=',
  lt: '<',
  gt: '>',
  le: '<=',
  ge: '>=',
  ss: '<=>',
  aa: '&&',
  oo: '||',
  cm: ',',
  pm: '->*',
};
const unaryOperators: Readonly<Record<string, string>> = {
  ps: '+',
  ng: '-',
  ad: '&',
  de: '*',
  co: '~',
  nt: '!',
  pp: '++',
  mm: '--',
};
const operatorNames: Readonly<Record<string, string>> = {
  ...binaryOperators,
  ...unaryOperators,
  pt: '->',
  cl: '()',
  ix: '[]',
  qu: '?',
  nw: ' new',
  na: ' new[]',
  dl: ' delete',
  da: ' delete[]',
  aw: ' co_await',
};

const maximumDepth = 200;
/** Maximum length of a name: substitutions can double it at each step. */
const maximumText = 65_536;

const plain = (left: string): Type => ({ left, right: '', shape: 'plain' });
const spellingOf = (type: Type): string => (type.pack ? type.pack.map(spellingOf).join(', ') : type.left + type.right);

/** Applies a type constructor to a type, or to each element of a pack. */
function over(type: Type, construct: (element: Type) => Type): Type {
  return type.pack ? { ...type, pack: type.pack.map(construct) } : construct(type);
}

function pointerTo(type: Type, sign: string): Type {
  return over(type, ({ left, right, shape }) =>
    shape === 'plain' ? { left: left + sign, right, shape } : { left: `${left.trimEnd()} (${sign}`, right: `)${right}`, shape: 'plain' },
  );
}

/** Names that are generated per translation unit: nvcc names an unnamed namespace after the file and a hash. */
const anonymous = /^(?:_GLOBAL_[_.$]N|_INTERNAL_)/;

/**
 * A parser of one mangled name.
 * @param input - the symbol after its `_Z`
 */
export function createDemangler(input: string): { symbol: () => { encoding: Encoding; rest: string } } {
  let at = 0;
  let depth = 0;
  let inLambda = false;
  let templateArguments: readonly Type[] = [];
  const substitutions: Type[] = [];

  const fail = (): never => {
    throw new DemangleFailure(`at ${at}`);
  };
  const peek = (text: string): boolean => input.startsWith(text, at);
  const accept = (text: string): boolean => {
    if (!peek(text)) return false;
    at += text.length;
    return true;
  };
  const expect = (text: string): void => {
    if (!accept(text)) fail();
  };
  const match = (expression: RegExp): string | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(input)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const bounded = <T>(parse: () => T): T => {
    if (++depth > maximumDepth) fail();
    const result = parse();
    depth--;
    return result;
  };
  const remember = (type: Type): Type => {
    if (spellingOf(type).length > maximumText) fail();
    substitutions.push(type);
    return type;
  };
  const untilE = <T>(parse: () => T): T[] => {
    const items: T[] = [];
    while (!accept('E')) items.push(parse());
    return items;
  };

  /** A number in base 36 (or 10) and `_`: `_` is 0, `0_` is 1, … */
  const sequence = (radix: 10 | 36): number => {
    const digits = match(radix === 36 ? /[0-9A-Z]*/y : /\d*/y) ?? '';
    expect('_');
    return digits === '' ? 0 : Number.parseInt(digits, radix) + 1;
  };

  const sourceName = (): string => {
    const length = Number(match(/[1-9]\d{0,4}/y) ?? fail());
    const name = input.slice(at, at + length);
    if (name.length !== length) fail();
    at += length;
    // ABI tags are not part of the name that users write: Numba puts a count of its compilations there.
    while (accept('B')) sourceName();
    return anonymous.test(name) ? '(anonymous namespace)' : name;
  };

  const substitution = (): Type => {
    expect('S');
    const standard = match(/[tabsiod]/y);
    if (standard !== undefined) return plain(standardNames[standard] ?? fail());
    return substitutions[sequence(36)] ?? fail();
  };

  const templateParameter = (): Type => {
    expect('T');
    const index = sequence(10);
    if (inLambda) return plain(`auto:${index + 1}`);
    return templateArguments[index] ?? fail();
  };

  const templateArgs = (): Type[] => {
    expect('I');
    return untilE(templateArg);
  };
  const templateArg = (): Type =>
    bounded(() => {
      if (peek('L')) return plain(literal());
      if (accept('X')) {
        const text = expression();
        expect('E');
        return plain(text);
      }
      if (accept('J')) return { ...plain(''), pack: untilE(templateArg) };
      return type();
    });
  const argumentText = (types: readonly Type[]): string =>
    `<${types.flatMap((item) => (item.pack?.length === 0 ? [] : [spellingOf(item)])).join(', ')}>`;

  const literal = (): string => {
    expect('L');
    if (accept('_Z')) {
      const text = encodingText(encoding());
      expect('E');
      return text;
    }
    const code = match(/[a-z](?=n?\d+E)/y);
    const typeText = code !== undefined && code in builtins ? (builtins[code] ?? '') : spellingOf(type());
    const raw = match(/n?[0-9a-zA-Z_]*?(?=E)/y) ?? '';
    expect('E');
    const value = raw.startsWith('n') ? `-${raw.slice(1)}` : raw;
    if (typeText === 'bool') return value === '0' ? 'false' : 'true';
    if (/^(?:unsigned )?(?:int|long|long long|short|__int128)$/.test(typeText)) return value;
    if (typeText === 'decltype(nullptr)') return 'nullptr';
    return /^(?:float|double|long double|half)$/.test(typeText) ? `(${typeText})[${raw}]` : `(${typeText})${value}`;
  };

  const expression = (): string =>
    bounded(() => {
      if (peek('L')) return literal();
      if (peek('T')) return spellingOf(templateParameter());
      accept('gs');
      const parameter = match(/f(?:L\d+)?p[rVK]*\d*_/y);
      if (parameter !== undefined) return `{parm#${Number(/p[rVK]*(\d*)_$/.exec(parameter)?.[1] || -1) + 2}}`;
      if (/[1-9]/.test(input[at] ?? '')) {
        const name = sourceName();
        return peek('I') ? name + argumentText(templateArgs()) : name;
      }
      const code = match(/[a-z][a-zA-Z]/y) ?? fail();
      switch (code) {
        case 'on': {
          const name = operatorName();
          return peek('I') ? name + argumentText(templateArgs()) : name;
        }
        case 'sr': {
          const scope = spellingOf(type());
          const member = /[1-9]/.test(input[at] ?? '') ? sourceName() : (accept('on'), operatorName());
          return `${scope}::${member}${peek('I') ? argumentText(templateArgs()) : ''}`;
        }
        case 'st':
        case 'at':
          return `${code === 'st' ? 'sizeof' : 'alignof'} (${spellingOf(type())})`;
        case 'sz':
        case 'az':
          return `${code === 'sz' ? 'sizeof' : 'alignof'} (${expression()})`;
        case 'sZ':
          return `sizeof...(${peek('T') ? spellingOf(templateParameter()) : expression()})`;
        case 'sp':
          return `${expression()}...`;
        case 'nx':
          return `noexcept (${expression()})`;
        case 'cv': {
          const target = spellingOf(type());
          return accept('_') ? `${target}(${untilE(expression).join(', ')})` : `(${target})(${expression()})`;
        }
        case 'sc':
        case 'cc':
        case 'rc':
        case 'dc': {
          const cast = { sc: 'static', cc: 'const', rc: 'reinterpret', dc: 'dynamic' }[code];
          return `${cast}_cast<${spellingOf(type())}>(${expression()})`;
        }
        case 'cl':
          return `${expression()}(${untilE(expression).join(', ')})`;
        case 'il':
          return `{${untilE(expression).join(', ')}}`;
        case 'tl':
          return `${spellingOf(type())}{${untilE(expression).join(', ')}}`;
        case 'dt':
        case 'pt':
          return `${expression()}${code === 'dt' ? '.' : '->'}${expression()}`;
        case 'ix':
          return `${expression()}[${expression()}]`;
        case 'qu':
          return `(${expression()}) ? (${expression()}) : (${expression()})`;
      }
      const binary = binaryOperators[code];
      if (binary !== undefined) return `(${expression()})${binary}(${expression()})`;
      const unary = unaryOperators[code] ?? fail();
      if (code === 'pp' || code === 'mm') accept('_');
      return `${unary}(${expression()})`;
    });

  const operatorName = (): string => {
    if (accept('cv')) return `operator ${spellingOf(type())}`;
    if (accept('li')) return `operator"" ${sourceName()}`;
    const name = operatorNames[match(/[a-z][a-zA-Z]/y) ?? fail()];
    return name === undefined ? fail() : `operator${name}`;
  };

  /** A name without its scope. `enclosing` names constructors and destructors. */
  const unqualifiedName = (enclosing: string): { text: string; returnsNothing: boolean } => {
    accept('L');
    if (/[1-9]/.test(input[at] ?? '')) return { text: sourceName(), returnsNothing: false };
    if (match(/C[1-5]/y) !== undefined) return { text: className(enclosing), returnsNothing: true };
    if (match(/D[0-5]/y) !== undefined) return { text: `~${className(enclosing)}`, returnsNothing: true };
    if (accept('Ut')) return { text: `{unnamed type#${sequence(10) + 1}}`, returnsNothing: false };
    if (accept('Ul')) {
      const outer = inLambda;
      inLambda = true;
      const parameters = untilE(type);
      inLambda = outer;
      return { text: `{lambda(${parameterTexts(parameters).join(', ')})#${sequence(10) + 1}}`, returnsNothing: false };
    }
    const isConversion = peek('cv');
    return { text: operatorName(), returnsNothing: isConversion };
  };

  const join = (scope: string, name: string): string => {
    if (scope === '') return name;
    // nvcc nests the unnamed namespace of the file in another unnamed namespace.
    if (name === '(anonymous namespace)' && scope.endsWith(name)) return scope;
    return `${scope}::${name}`;
  };

  /** `isEncoding`: the name of a symbol itself, whose template arguments `T_` refers to, rather than of a type. */
  const name = (isEncoding: boolean): Name =>
    bounded(() => {
      if (accept('N')) return nestedName(isEncoding);
      if (accept('Z')) return localName(isEncoding);
      let text: string;
      let returnsNothing = false;
      if (peek('S') && !peek('St')) {
        text = spellingOf(substitution());
        if (!peek('I')) fail();
      } else {
        const scope = accept('St') ? 'std' : '';
        const own = unqualifiedName(scope);
        text = join(scope, own.text);
        ({ returnsNothing } = own);
        if (peek('I')) remember(plain(text));
      }
      if (!peek('I')) return { text, endsInArguments: false, returnsNothing, qualifiers: '' };
      const list = templateArgs();
      if (isEncoding) templateArguments = list;
      return { text: text + argumentText(list), endsInArguments: true, returnsNothing, qualifiers: '' };
    });

  const cvQualifiers = (): string => {
    let text = '';
    for (const code of match(/[rVK]*/y) ?? '') {
      text = ({ r: ' __restrict', V: ' volatile', K: ' const' }[code] ?? '') + text;
    }
    return text;
  };

  const nestedName = (isEncoding: boolean): Name => {
    let qualifiers = cvQualifiers();
    if (accept('R')) qualifiers += ' &';
    else if (accept('O')) qualifiers += ' &&';
    let text = '';
    let endsInArguments = false;
    let returnsNothing = false;
    while (!accept('E')) {
      if (peek('S')) {
        text = spellingOf(substitution());
        endsInArguments = false;
        continue;
      }
      if (peek('I')) {
        if (text === '') fail();
        const list = templateArgs();
        if (isEncoding) templateArguments = list;
        text += argumentText(list);
        endsInArguments = true;
      } else {
        if (accept('M')) continue;
        if (peek('T')) text = spellingOf(templateParameter());
        else if (peek('DT') || peek('Dt')) text = spellingOf(type());
        else {
          const own = unqualifiedName(text);
          text = join(text, own.text);
          ({ returnsNothing } = own);
        }
        endsInArguments = false;
      }
      if (!peek('E')) remember(plain(text));
    }
    if (text === '') fail();
    return { text, endsInArguments, returnsNothing, qualifiers };
  };

  const localName = (isEncoding: boolean): Name => {
    const outer = encodingText(encoding());
    expect('E');
    const discriminator = (): void => void match(/__\d+_|_\d+/y);
    if (accept('s')) {
      discriminator();
      return {
        text: `${outer}::string literal`,
        endsInArguments: false,
        returnsNothing: false,
        qualifiers: '',
        local: { function: outer, name: 'string literal' },
      };
    }
    if (accept('d')) sequence(10);
    const inner = name(isEncoding);
    discriminator();
    return { ...inner, text: `${outer}::${inner.text}`, local: { function: outer, name: inner.text } };
  };

  const parameterTexts = (types: readonly Type[]): string[] => {
    const texts = types.flatMap((item) => (item.pack ? item.pack.map(spellingOf) : [spellingOf(item)]));
    return texts.length === 1 && texts[0] === 'void' ? [] : texts;
  };

  const functionType = (): Type => {
    expect('F');
    accept('Y');
    const result = type();
    const parameters: Type[] = [];
    let qualifiers = '';
    while (!accept('E')) {
      if (accept('RE')) {
        qualifiers = ' &';
        break;
      }
      if (accept('OE')) {
        qualifiers = ' &&';
        break;
      }
      parameters.push(type());
    }
    const right = `(${parameterTexts(parameters).join(', ')})${qualifiers}${result.right}`;
    return { left: `${result.left} `, right, shape: 'function' };
  };

  const arrayType = (): Type => {
    expect('A');
    const size = match(/\d+/y) ?? (peek('_') ? '' : expression());
    expect('_');
    const element = type();
    const rest = element.shape === 'array' ? element.right.trimStart() : element.right;
    return over(element, ({ left }) => ({ left, right: ` [${size}]${rest}`, shape: 'array' }));
  };

  const qualify = (base: Type, text: string): Type =>
    over(base, ({ left, right, shape }) =>
      shape === 'plain'
        ? { left: left + text, right, shape }
        : shape === 'function'
          ? { left, right: right + text, shape }
          : { left: left + text, right, shape },
    );

  const type = (): Type =>
    bounded(() => {
      const first = input[at] ?? fail();
      const simple = builtins[first] ?? builtins[input.slice(at, at + 2)];
      if (simple !== undefined) {
        at += first in builtins ? 1 : 2;
        return plain(simple);
      }
      switch (first) {
        case 'r':
        case 'V':
        case 'K': {
          const text = cvQualifiers();
          return remember(qualify(type(), text));
        }
        case 'P':
          at++;
          return remember(pointerTo(type(), '*'));
        case 'R':
        case 'O':
          at++;
          return remember(referenceTo(type(), first === 'R' ? '&' : '&&'));
        case 'C':
        case 'G':
          at++;
          return remember(qualify(type(), first === 'C' ? ' _Complex' : ' _Imaginary'));
        case 'U': {
          at++;
          const vendor = sourceName();
          if (peek('I')) templateArgs();
          return remember(qualify(type(), ` ${vendor}`));
        }
        case 'u':
          at++;
          return remember(plain(sourceName()));
        case 'F':
          return remember(functionType());
        case 'A':
          return remember(arrayType());
        case 'M': {
          at++;
          const owner = spellingOf(type());
          const member = type();
          return remember(
            member.shape === 'plain'
              ? { ...member, left: `${member.left} ${owner}::*` }
              : { left: `${member.left.trimEnd()} (${owner}::*`, right: `)${member.right}`, shape: 'plain' },
          );
        }
        case 'T':
          if (match(/T[sue](?=[1-9NSZ])/y) !== undefined) return remember(plain(name(false).text));
          return templateTemplate(remember(templateParameter()));
        case 'S': {
          if (peek('St')) return remember(plain(name(false).text));
          return templateTemplate(substitution());
        }
        case 'D':
          return remember(extendedType());
      }
      if (/[1-9NZ]/.test(first)) return remember(plain(name(false).text));
      return fail();
    });

  /** References collapse: `T&&` with `T = int&` is `int&`. */
  const referenceTo = (target: Type, sign: '&' | '&&'): Type =>
    over(target, (element) => {
      const existing = /(&{1,2})\)?$/.exec(element.shape === 'plain' ? element.left : '')?.[1];
      if (existing === undefined) return pointerTo(element, sign);
      return existing === '&&' && sign === '&' ? { ...element, left: element.left.slice(0, -1) } : element;
    });

  const templateTemplate = (base: Type): Type => (peek('I') ? remember(plain(spellingOf(base) + argumentText(templateArgs()))) : base);

  const extendedType = (): Type => {
    if (accept('Dp')) return type();
    if (accept('DT') || accept('Dt')) {
      const text = expression();
      expect('E');
      return plain(`decltype (${text})`);
    }
    const float = match(/DF\d+[_bx]/y);
    if (float !== undefined) return plain(float.endsWith('b') ? 'std::bfloat16_t' : `_Float${float.slice(2, -1)}`);
    if (accept('Dv')) {
      const lanes = match(/\d+/y) ?? (accept('_'), expression());
      expect('_');
      return qualify(type(), ` __vector(${lanes})`);
    }
    if (accept('Do')) return over(type(), (element) => ({ ...element, right: `${element.right} noexcept` }));
    return fail();
  };

  const encoding = (): Encoding =>
    bounded(() => {
      const special = /(?:T[VTIS]|GV|GR|TH|TW)/y;
      const code = match(special);
      if (code !== undefined) {
        const kinds: Readonly<Record<string, string>> = {
          TV: 'vtable',
          TT: 'VTT',
          TI: 'typeinfo',
          TS: 'typeinfo name',
          GV: 'guard variable',
          GR: 'reference temporary',
          TH: 'TLS init function',
          TW: 'TLS wrapper function',
        };
        const target = code.startsWith('T') && code < 'TW' && code !== 'TH' ? spellingOf(type()) : name(true).text;
        return { name: `${kinds[code] ?? ''} for ${target}`, parameters: null, qualifiers: '' };
      }
      const named = name(true);
      const base = { name: named.text, qualifiers: named.qualifiers, ...(named.local ? { local: named.local } : {}) };
      if (at >= input.length || /[E.$]/.test(input[at] ?? '')) return { ...base, parameters: null };
      if (named.endsInArguments && !named.returnsNothing) type();
      const parameters: Type[] = [];
      while (at < input.length && !/[E.$]/.test(input[at] ?? '')) parameters.push(type());
      return { ...base, parameters: parameterTexts(parameters) };
    });

  const encodingText = ({ name: text, parameters, qualifiers }: Encoding): string => {
    const whole = parameters ? `${text}(${parameters.join(', ')})${qualifiers}` : text;
    return whole.length > maximumText ? fail() : whole;
  };

  return { symbol: () => ({ encoding: encoding(), rest: input.slice(at) }) };
}

/** The name that constructors of a class have: its last component without template arguments. */
function className(scope: string): string {
  let depth = 0;
  let start = 0;
  let end = scope.length;
  for (let i = scope.length - 1; i >= 0; i--) {
    if (scope[i] === '>') depth++;
    else if (scope[i] === '<' && --depth === 0) end = i;
    else if (depth === 0 && scope[i] === ':' && scope[i - 1] === ':') {
      start = i + 1;
      break;
    }
  }
  return scope.slice(start, end);
}
