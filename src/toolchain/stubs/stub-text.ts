/** The text of a stub: declarations without definitions, made of names only. */
import type { MemberNames, NameUses, UsedName } from './name-uses.ts';

/** Namespace of the class of all values of a stub. */
export const stubNamespace = 'selvage_stub';

/** What a name is declared as. */
type Declaration = 'namespace' | 'class' | 'object' | 'function-template' | 'enumerator' | 'macro';

/** Maximum number of arguments of a function of a stub. */
const maxArguments = 24;

/**
 * A class that converts to and from everything and has all operators. Nothing of it is defined, so the host program
 * learns no value from it, and no function of it may be called in device code. As a `uint3` it initialises a `dim3`.
 */
function opaqueClass(members: MemberNames): string {
  const calls = Array.from(
    { length: maxArguments + 1 },
    (_, count) => `opaque_value operator()(${Array.from({ length: count }, () => 'const opaque_value&').join(', ')}) const;`,
  );
  const own = [...members].flatMap(([name, { isTemplate, isField }]) => {
    if (!isTemplate || isField) return [`static opaque_value& ${name};`];
    const pointer = /ptr|data/i.test(name);
    return [
      pointer ? `template <class T> static T* ${name}(...);` : `template <class... T, class... A> static opaque_value ${name}(A&&...);`,
      `template <long long V0, long long... V, class... A> static opaque_value ${name}(A&&...);`,
    ];
  });
  const binary = ['+', '-', '*', '/', '%', '&', '|', '^', '==', '!=', '<', '>', '<=', '>=', '>>'];
  const compound = ['+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='];
  return `namespace ${stubNamespace} {
template <class T, bool> struct when {};
template <class T> struct when<T, true> { using type = T; };
struct opaque_value : uint3 {
template <class... A> opaque_value(A&&...);
opaque_value(const opaque_value&) = default;
opaque_value(opaque_value&) = default;
opaque_value& operator=(const opaque_value&) = default;
template <class T> operator T() const;
operator long long() const;
${calls.join('\n')}
opaque_value* operator->() const;
opaque_value& operator*() const;
opaque_value operator-() const;
opaque_value operator~() const;
opaque_value& operator++();
opaque_value operator++(int);
opaque_value& operator--();
opaque_value operator--(int);
template <class A> opaque_value operator[](A&&) const;
${['begin', 'end'].flatMap((name) => (members.has(name) ? [] : [`opaque_value* ${name}() const;`])).join('\n')}
${own.join('\n')}
};
template <class A> struct is_opaque { static constexpr bool value = __is_base_of(opaque_value, A); };
template <class A, class B> struct either { static constexpr bool value = is_opaque<A>::value || is_opaque<B>::value; };
template <class A, class B> struct second { static constexpr bool value = !is_opaque<A>::value && is_opaque<B>::value; };
${binary.map((operator) => `template <class A, class B> typename when<opaque_value, either<A, B>::value>::type operator${operator}(const A&, const B&);`).join('\n')}
${compound.map((operator) => `template <class A, class B> typename when<A&, either<A, B>::value>::type operator${operator}(A&, const B&);`).join('\n')}
${['max', 'min', 'pow', 'fmod'].map((name) => `template <class A, class B> typename when<opaque_value, either<A, B>::value>::type ${name}(const A&, const B&);`).join('\n')}
${['abs', 'fabs', 'ceil', 'floor', 'sqrt', 'exp', 'log', 'log2'].map((name) => `template <class A> typename when<opaque_value, is_opaque<A>::value>::type ${name}(const A&);`).join('\n')}
template <class A, class B> typename when<opaque_value, is_opaque<A>::value>::type operator<<(const A&, const B&);
template <class A, class B> typename when<A&, second<A, B>::value>::type operator<<(A&, const B&);
}
`;
}

/** The type that a macro of PyTorch declares, and types for which each of them makes an instance. */
interface Dispatch {
  readonly alias: string;
  readonly types: readonly string[];
}

/** @returns null for other names */
export function dispatchOf(name: string): Dispatch | null {
  if (!/^AT_DISPATCH_\w+$/.test(name) || /_CASE_|_REDUCED_/.test(name)) return null;
  if (name === 'AT_DISPATCH_INDEX_TYPES') return { alias: 'index_t', types: ['int', 'long'] };
  if (/FLOATING|ALL_TYPES/.test(name)) return { alias: 'scalar_t', types: ['float', 'double'] };
  return /INTEGRAL/.test(name) ? { alias: 'scalar_t', types: ['int', 'long'] } : null;
}

/** Kind of the declaration of a name. */
function declarationOf(name: string, used: UsedName, isRoot: boolean): Declaration {
  const { uses, members, isNamespace } = used;
  if (isRoot && (dispatchOf(name) || uses.has('definition') || uses.has('statement'))) return 'macro';
  const isConstant = /^[A-Z][A-Z0-9_]*$/.test(name);
  const isType = uses.has('type') || uses.has('class-template') || (uses.has('maybe-type') && !uses.has('value') && !isConstant);
  if (isRoot && uses.has('attribute') && (!isType || isConstant)) return 'macro';
  if (isNamespace) return 'namespace';
  if (isType || uses.has('attribute')) return 'class';
  if (members.size > 0) return uses.size > 0 ? 'class' : 'namespace';
  if (uses.has('case') || uses.has('constant')) return 'enumerator';
  return uses.has('function-template') ? 'function-template' : 'object';
}

/** Declarations of a stub, and the kinds of names in it. */
interface StubText {
  readonly text: string;
  /** Names of classes, without their scopes. */
  readonly classes: ReadonlySet<string>;
  readonly macros: ReadonlySet<string>;
  /** Names that are declared as enumerators, and so have a value. */
  readonly enumerators: ReadonlySet<string>;
}

/** @param dropped names that the unit declares itself */
export function stubTextOf({ names }: NameUses, members: MemberNames, dropped: ReadonlySet<string>): StubText {
  const classes = new Set<string>();
  const macros = new Set<string>();
  const enumerators = new Set<string>();
  const defines: string[] = [];
  const lines: string[] = [];
  const opaque = `::${stubNamespace}::opaque_value`;
  const declare = (name: string, used: UsedName, scope: 'root' | 'namespace' | 'class'): void => {
    if (dropped.has(name)) return;
    const inner = (): void => {
      for (const [member, one] of used.members) declare(member, one, kind === 'namespace' ? 'namespace' : 'class');
    };
    const kind = declarationOf(name, used, scope === 'root');
    const isStatic = scope === 'class' ? 'static ' : '';
    switch (kind) {
      case 'macro':
        macros.add(name);
        defines.push(macroOf(name, used));
        return;
      case 'namespace':
        if (scope === 'class') return;
        lines.push(`namespace ${name} {`);
        inner();
        lines.push('}');
        return;
      case 'class': {
        classes.add(name);
        const header = templateHeader(used.templateArguments);
        lines.push(`${header}struct ${name} : ${opaque} {`, `using ${opaque}::opaque_value;`);
        inner();
        lines.push('};');
        return;
      }
      case 'enumerator':
        enumerators.add(name);
        lines.push(`enum : int { ${name} = ${enumerators.size + 1000} };`);
        return;
      case 'function-template':
        lines.push(
          `template <class... T, class... A> ${isStatic}${opaque} ${name}(A&&...);`,
          `template <long long V0, long long... V, class... A> ${isStatic}${opaque} ${name}(A&&...);`,
        );
        return;
      case 'object':
        lines.push(`${isStatic === '' ? 'extern' : 'static'} ${opaque}${isStatic === '' ? '' : '&'} ${name};`);
    }
  };
  for (const [name, used] of names) declare(name, used, 'root');
  const text = `extern "C++" {\n${opaqueClass(members)}${lines.join('\n')}\n}\n${defines.join('\n')}\n`;
  return { text, classes, macros, enumerators };
}

function templateHeader(lists: readonly (readonly ('type' | 'value')[])[]): string {
  if (lists.length === 0) return '';
  const length = Math.max(...lists.map((list) => list.length));
  const parameters = Array.from({ length }, (_, at) => (lists.some((list) => list[at] === 'type') ? 'class = int' : 'long long = 0'));
  return parameters.every((one) => one === 'class = int') ? 'template <class...> ' : `template <${parameters.join(', ')}> `;
}

function macroOf(name: string, { uses, parameters }: UsedName): string {
  const opaque = `::${stubNamespace}::opaque_value`;
  const dispatch = dispatchOf(name);
  if (dispatch) {
    const { alias, types } = dispatch;
    const extra = /_AND(\d?)$/.exec(name);
    const leading = 2 + (extra ? Number(extra[1] || 1) : 0);
    const words = Array.from({ length: leading }, (_, at) => `a${at}`);
    const [first, ...others] = types.map((type) => `{ using ${alias} = ${type}; return __VA_ARGS__(); }`);
    return `#define ${name}(${words.join(', ')}, ...) [&] { ${opaque} selvage_stub_type(${words.join(', ')}); if (selvage_stub_type) ${first} ${others.join(' ')} }()`;
  }
  if (uses.has('definition')) {
    const words = Array.from({ length: Math.max(1, parameters) }, (_, at) => `a${at}`);
    return `#define ${name}_selvage_stub(line) selvage_stub_##line\n#define ${name}_selvage_stub_at(line) ${name}_selvage_stub(line)\n#define ${name}(${words.join(', ')}) static void ${name}_selvage_stub_at(__LINE__)(${opaque} ${words.at(-1)})`;
  }
  if (uses.has('statement')) return `#define ${name}(...) { ${opaque} selvage_stub_value(__VA_ARGS__); (void)selvage_stub_value; }`;
  return `#define ${name}`;
}

/** Headers of C that headers of libraries include, and on which units rely. */
const usualHeaders = ['cstddef', 'cstdint', 'cstdio', 'cstdlib', 'cstring', 'cmath'];
/** Those of C++. */
const standardHeaders = [
  'algorithm',
  'array',
  'atomic',
  'functional',
  'iostream',
  'limits',
  'map',
  'memory',
  'mutex',
  'numeric',
  'sstream',
  'stdexcept',
  'string',
  'tuple',
  'type_traits',
  'unordered_map',
  'utility',
  'vector',
];
/** Those of the toolkit, by what they declare. */
const toolkitHeaders: readonly (readonly [RegExp, string])[] = [
  [/^(?:__half\w*|half2?)$/, 'cuda_fp16.h'],
  [/^(?:__)?nv_bfloat16\w*$/, 'cuda_bf16.h'],
  [/^(?:cu(?:Float|Double)?Complex|make_cu\w*Complex)$/, 'cuComplex.h'],
];

/** Headers that exist and declare what the messages of a compiler name; the missing header would include them. */
export function declaringHeaders(errors: string): readonly string[] {
  const names = Array.from(errors.matchAll(/identifier "(\w+)" is undefined/g), ([, name]) => name!);
  const ofToolkit = names.flatMap((name) => toolkitHeaders.flatMap(([pattern, header]) => (pattern.test(name) ? [header] : [])));
  return [...(/"std"|std::/.test(errors) ? standardHeaders : []), ...new Set(ofToolkit)];
}

/** Operators of string literals with a suffix. */
export function literalOperators(suffixes: ReadonlySet<string>): string {
  const lines = [...suffixes].map((suffix) => `::${stubNamespace}::opaque_value operator""${suffix}(const char*, decltype(sizeof(0)));\n`);
  return lines.length === 0 ? '' : `extern "C++" {\n${lines.join('')}}\n`;
}

/**
 * A header of a stub. All have the same text, of which the first one that is included counts.
 * @param others headers that it includes
 * @param called macros with parameters of which conditions take a value
 */
export function stubHeader(text: string, others: ReadonlySet<string>, called: ReadonlySet<string>): string {
  const macros = [...called].map((name) => `#ifndef ${name}\n#define ${name}(...) 0\n#endif\n`).join('');
  const includes = [...usualHeaders, ...others].map((name) => `#if __has_include(<${name}>)\n#include <${name}>\n#endif\n`).join('');
  const guard = '#ifndef SELVAGE_STUB_DECLARATIONS\n#define SELVAGE_STUB_DECLARATIONS';
  return `${guard}\nextern "C++" {\n${includes}}\n${text}${macros}#endif\n`;
}
