/** The host code of a translation unit: functions on demand, kernels, and variables with static storage. */
import type { HostFunction } from '../cuda/launches/value.ts';
import type { HostType, DebugTypes } from '../gimple/debug-types.ts';
import type { GimpleFunction } from '../gimple/gimple.ts';
import type { DataObject } from '../gimple/initialised-data.ts';
import { parseFunction, parseGimpleParameters, splitDump } from '../gimple/gimple-parser.ts';
import { PrintedTypes } from './printed-types.ts';

/** Functions that configure or make a launch. */
export const launching =
  /^(?:__cudaPushCallConfiguration|cu(?:da)?Launch\w*|cu(?:da)?GraphAdd\w*Node\w*|cu(?:da)?Graph(?:Exec)?Kernel\w*|_ZL?\d+cudaLaunch\w*)$/;

/** What is known of the function of a call that is not followed. */
export type UnknownCallee =
  /** A virtual function of a class or of one that is derived from it, by its place in their tables. */
  | { readonly kind: 'virtual'; readonly name: string; readonly slot: number }
  /** A function whose address was taken. */
  | { readonly kind: 'pointer' }
  /** A function that another unit can name. */
  | { readonly kind: 'external' }
  | { readonly kind: 'anything' };

/**
 * The function that a virtual function of a further base class calls after it has moved the pointer to its object (Itanium
 * C++ ABI, 5.1.4.4); null for other functions.
 * @returns its symbol, and by how many bytes the pointer is moved
 */
export function movedObject(symbol: string): { readonly symbol: string; readonly bytes: number } | null {
  const [, sign, bytes, rest] = /^_ZTh(n?)(\d+)_(.*)$/.exec(symbol) ?? [];
  return rest === undefined ? null : { symbol: `_Z${rest}`, bytes: (sign === 'n' ? -1 : 1) * Number(bytes) };
}

/** How a unit uses a variable. */
interface VariableUses {
  readonly isWritten: boolean;
  /** Whether its address is taken. */
  readonly isTaken: boolean;
  /** Whether initialised data has its address. */
  readonly isInData: boolean;
}

export class HostUnit {
  readonly types: PrintedTypes;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, GimpleFunction | null>();
  readonly #data: ReadonlyMap<string, DataObject>;
  readonly #debug: DebugTypes;
  /** Symbols of the kernels of the unit, as PTX names them. */
  readonly #kernels: ReadonlySet<string>;
  /** Path of the source. */
  readonly path: string;
  /** Symbols of functions by their other names. */
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #linkage: ReadonlyMap<string, 'external' | 'weak'>;

  constructor(
    path: string,
    { gimple, assembly }: { readonly gimple: string; readonly assembly: string },
    kernels: ReadonlySet<string>,
    debug: DebugTypes,
    data: ReadonlyMap<string, DataObject>,
  ) {
    this.path = path;
    this.#texts = splitDump(gimple).texts;
    this.#debug = debug;
    this.types = new PrintedTypes(debug, gimple);
    this.#data = data;
    this.#kernels = kernels;
    for (const [symbol, text] of this.#texts) this.types.learn({ symbol, result: '', parameters: parseGimpleParameters(text), locals: [] });
    this.#aliases = new Map([...assembly.matchAll(/^\t\.set\t(\S+),(\S+)$/gm)].map(([, alias, symbol]) => [alias!, symbol!]));
    this.initialisers = [...assembly.matchAll(/^\t\.section\t\.(?:init_array|ctors)\b.*\n(?:\t\.align.*\n)?\t\.quad\t(\S+)$/gm)].map(
      ([, symbol]) => symbol!,
    );
    this.#linkage = new Map(
      [...assembly.matchAll(/^\t\.(globl|weak)\t(\S+)$/gm)].map(([, kind, symbol]) => [symbol!, kind === 'weak' ? 'weak' : 'external']),
    );
  }

  /** The symbol under which a function has its body: constructors of complete objects are often those of bases. */
  definition(symbol: string): string {
    const moved = movedObject(symbol);
    return moved ? this.definition(moved.symbol) : (this.#aliases.get(symbol) ?? symbol);
  }

  /** A function with its body; null if the unit has none that is understood. */
  functionOf(symbol: string): GimpleFunction | null {
    const own = this.definition(symbol);
    const known = this.#parsed.get(own);
    if (known !== undefined) return known;
    const text = this.#texts.get(own);
    const parsed = text === undefined ? null : parseFunction(own, text);
    if (parsed) this.types.learn(parsed);
    this.#parsed.set(own, parsed);
    return parsed;
  }

  /** A name for a function or variable that no other unit has. */
  key(symbol: string): string {
    return `${this.path}!${this.definition(symbol)}`;
  }

  /** The address of a function, with a name by which other units find it. */
  functionValue(symbol: string): HostFunction {
    const isOwn = this.isDefined(symbol) && this.linkageOf(this.definition(symbol)) !== 'external' && !this.isKernel(symbol);
    return { kind: 'function', name: isOwn ? `${this.path}!${symbol}` : symbol };
  }

  /** Whether the text of some function matches. */
  mentions(pattern: RegExp): boolean {
    return [...this.#texts.values()].some((text) => pattern.test(text));
  }

  /** Names of functions with a body, other names of theirs included. */
  definitions(): Iterable<string> {
    return [...this.#texts.keys(), ...this.#aliases.keys()];
  }

  /** Whether some function names a symbol other than as the function that it calls. */
  takesAddress(symbol: string): boolean {
    const uses = new RegExp(`(?<!gimple_call <)(?<![\\w$.])${symbol.replace(/[$.]/g, '\\$&')}D\\.\\d+`);
    return [...this.#texts.values()].some(
      (text) => text.includes(symbol) && text.split('\n').some((line) => /gimple_/.test(line) && uses.test(line)),
    );
  }

  /** Types of the parameters of a function of the unit, as far as they are known. */
  parameterTypes(symbol: string): readonly HostType[] {
    return this.functionOf(symbol)?.parameters.map((one) => this.types.typeOf(one.type)) ?? [];
  }

  isDefined(symbol: string): boolean {
    return this.#texts.has(this.definition(symbol));
  }

  /** Whether a function is the stub of a kernel: a call of it launches the kernel. */
  isKernel(symbol: string): boolean {
    return (
      this.#kernels.has(symbol) ||
      this.#kernels.has(kernelSymbol(symbol)) ||
      /__(?:wrapper__)?device_stub_/.test(this.#texts.get(this.definition(symbol)) ?? '')
    );
  }

  linkageOf(symbol: string): 'external' | 'weak' | 'internal' {
    return this.#linkage.get(symbol) ?? 'internal';
  }

  dataOf(symbol: string): DataObject | undefined {
    return this.#data.get(symbol);
  }

  typeOfVariable(symbol: string): HostType | null {
    return this.#debug.typeOfVariable(symbol);
  }

  /** Whether some class has a volatile member of this name. */
  isVolatileMember(name: string): boolean {
    return this.#debug.isVolatileMember(name);
  }

  readonly #uses = new Map<string, VariableUses>();

  /** Whether some code of the unit writes a variable with static storage, or takes its address. */
  usesOf(symbol: string): VariableUses {
    const known = this.#uses.get(symbol);
    if (known) return known;
    const name = new RegExp(`(?<![\\w$.])${symbol.replace(/[$.]/g, '\\$&')}D\\.\\d+`);
    const isInData = [...this.#data.values()].some(({ pointers }) => [...pointers.values()].some((one) => one.symbol === symbol));
    let [isWritten, isTaken] = [false, isInData];
    for (const text of this.#texts.values()) {
      if (!text.includes(symbol)) continue;
      for (const line of text.split('\n')) {
        if (!name.test(line) || line.startsWith(';;') || /^ {2}(?:static |const )/.test(line)) continue;
        const read = /gimple_(?:assign <\w+, ([^,]*), (.*)|cond <(.*)|switch <(.*)|return <(.*)|phi <([^,]*), (.*))/.exec(line);
        const taken = new RegExp(`&(?:\\[[^\\]]*\\] )*\\(?(?:\\[[^\\]]*\\] )*${name.source.replace('(?<![\\w$.])', '')}`);
        if (taken.test(line)) isTaken = true;
        else if (!read || name.test(read[1] ?? '')) isWritten = true;
      }
    }
    const uses = { isWritten, isTaken, isInData };
    this.#uses.set(symbol, uses);
    return uses;
  }

  /** Functions that run before `main`, in their order. */
  readonly initialisers: readonly string[];

  /** Functions with the names that they mention. Stubs of kernels are left out. */
  *names(): Iterable<readonly [symbol: string, names: ReadonlySet<string>]> {
    for (const [symbol, text] of this.#texts)
      if (!this.#isStub(symbol))
        yield [symbol, new Set([...text.matchAll(/(?<![\w$.])([A-Za-z_][\w$.]*?)D\.\d+/g)].map(([, one]) => one!))];
  }

  #isStub(symbol: string): boolean {
    return symbol.includes('__wrapper__device_stub_') || this.isKernel(symbol);
  }

  /** Functions that configure or make a launch. */
  *launching(): Iterable<string> {
    for (const [symbol, names] of this.names()) if ([...names].some((name) => launching.test(name))) yield symbol;
  }

  #launchers: readonly string[] | undefined;

  /** Functions of external linkage that lead to a launch. */
  externalLaunchers(): readonly string[] {
    if (this.#launchers) return this.#launchers;
    const names = new Map(this.names());
    const users = new Map<string, Set<string>>();
    for (const [symbol, mentioned] of names)
      for (const name of mentioned) {
        const own = this.definition(name);
        if (names.has(own)) users.set(own, (users.get(own) ?? new Set()).add(symbol));
      }
    const reaching = new Set(this.launching());
    for (const one of reaching) for (const user of users.get(one) ?? []) reaching.add(user);
    return (this.#launchers = [...reaching].filter((symbol) => this.linkageOf(symbol) === 'external' && symbol !== 'main'));
  }

  /** Symbols whose addresses a variable holds initially. */
  functionsOfData(symbol: string): readonly string[] {
    return [...(this.#data.get(symbol)?.pointers.values() ?? [])].map((one) => one.symbol);
  }

  /** Functions that a call may be of which only that is known, as far as initialised data holds their addresses. */
  candidates(callee: UnknownCallee): ReadonlySet<string> {
    const found = new Set<string>();
    const add = (address: { readonly symbol: string } | undefined): void => void (address && found.add(this.definition(address.symbol)));
    for (const { symbol, isInternal, pointers } of this.#data.values()) {
      const isOfVirtual = symbol.startsWith('_ZTV');
      if (callee.kind === 'virtual') {
        // Functions follow the type of the object, also in the parts of the table for further bases (Itanium C++ ABI, 2.5).
        if (isOfVirtual && this.#hasBase(`_ZTI${symbol.slice(4)}`, callee.name, new Set()))
          for (const [at, one] of pointers) if (one.symbol.startsWith('_ZTI')) add(pointers.get(at + 8 + 8 * callee.slot));
      } else if (callee.kind === 'anything' || (!isOfVirtual && (callee.kind === 'pointer' || !isInternal)))
        for (const one of pointers.values()) add(one);
    }
    return found;
  }

  /** Whether a class or one of its bases has a name, as far as their `std::type_info` objects are in the unit. */
  #hasBase(type: string, name: string, seen: Set<string>): boolean {
    if (type.includes(`${name.length}${name}`)) return true;
    const data = this.#data.get(type);
    if (!data || seen.has(type)) return !data;
    seen.add(type);
    return [...data.pointers.values()].some(({ symbol }) => symbol.startsWith('_ZTI') && this.#hasBase(symbol, name, seen));
  }
}

/**
 * The symbol of a kernel as PTX has it: host code marks functions of internal linkage with `L` (Itanium C++ ABI,
 * 5.1.4), and nvcc makes stubs of kernels internal.
 */
export function kernelSymbol(symbol: string): string {
  if (/^_ZL\d/.test(symbol)) return `_Z${symbol.slice(3)}`;
  if (!symbol.startsWith('_ZN')) return symbol;
  let [kept, at] = ['_ZN', 3];
  for (;;) {
    const name = /^(L?)(\d+)/.exec(symbol.slice(at));
    if (!name) return kept + symbol.slice(at);
    const end = at + name[0].length + Number(name[2]);
    kept += symbol.slice(at + name[1]!.length, end);
    at = end;
  }
}
