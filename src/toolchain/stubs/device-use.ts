/** Whether device code, or what is known of launches, depends on what a stub declares. */
import {
  classNames,
  declaredNames,
  functionName,
  hasWord,
  hostFunctions,
  isDevice,
  isFunctionDeclaration,
  type Declared,
  itemsIn,
  membersOf,
} from './declarations.ts';
import { addAll, closingAngle, type OwnCode } from './own-code.ts';

/** Text of a place in the source. */
interface NamedPlace {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

interface StubUse {
  /** A name of a stub, or a name that depends on one, that device code uses; null if it uses none. */
  readonly inDeviceCode: NamedPlace | null;
  /** Why the launches of the host program must not be read; null if they may. */
  readonly unreadLaunches: (NamedPlace & { readonly reason: string }) | null;
  /** Classes of the unit whose layout depends on a stub. */
  readonly classes: ReadonlySet<string>;
}

/** Words whose operands decide a constant: with one of a stub it would be made up. */
const measures =
  /^(?:sizeof|alignof|alignas|__alignof__|__alignof|offsetof|__builtin_offsetof|decltype|typeid|noexcept|is_\w+|conditional\w*|enable_if\w*|numeric_limits|\w+_traits|rank\w*|extent\w*|tuple_size\w*|__is_\w+)$/;

/**
 * @param code the unit with empty stubs, in which no macro of a stub is expanded
 * @param stubs names that the stubs declare
 * @param enumerators those with a value
 * @param macros those that replace every token of their name
 */
export function stubUse(
  code: OwnCode,
  stubs: ReadonlySet<string>,
  enumerators: ReadonlySet<string>,
  macros: ReadonlySet<string> = new Set(),
): StubUse {
  const items = itemsIn(code, 0, code.tokens.length);
  const tainted = new Set(stubs);
  const classes = new Set<string>();
  while (spread(code, items, tainted, classes));
  const regions = deviceRegions(code, items, tainted);
  const inDeviceCode = regions
    .map((region) => firstNamed(code, region, withoutParameters(code, region, tainted)) ?? firstToken(code, region, macros))
    .find((found) => found !== null);
  const reasons: readonly (readonly [NamedPlace | null, (place: string) => string])[] = [
    [measured(code, items, tainted), (place) => `the size or kind of ${place} decides a constant`],
    [firstNamed(code, [0, code.tokens.length], enumerators), (place) => `a constant is needed for ${place}`],
    [overloadedCall(code, items, tainted), (place) => `a type of a stub selects one of several functions ${place}`],
    [passedKernel(code, items, stubs), (place) => `the library may launch the kernel ${place}`],
  ];
  const unread =
    reasons.flatMap(([found, text]) => (found ? [{ ...found, reason: text(`${found.name} (${found.file}:${found.line})`) }] : []))[0] ??
    null;
  const insideTainted = deviceMemberOf(code, items, classes);
  return { inDeviceCode: inDeviceCode ?? insideTainted, unreadLaunches: unread, classes };
}

function has({ tokens }: OwnCode, start: number, end: number, names: { has: (name: string) => boolean }): boolean {
  for (let at = start; at < end; at++) {
    if (tokens[at]!.kind === 'identifier' && names.has(tokens[at]!.text) && !isMember(tokens, at)) return true;
  }
  return false;
}

function isMember(tokens: OwnCode['tokens'], at: number): boolean {
  const before = tokens[at - 1]?.text;
  return before === '.' || before === '->';
}

/** Whether a declaration decides what device code may see: bodies of functions of the host are excluded. */
function isTaintedItem(code: OwnCode, item: Declared, tainted: ReadonlySet<string>): boolean {
  const { kind, start, header, body, end } = item;
  if (kind === 'class')
    return (
      has(code, start, header, tainted) ||
      membersOf(code, item).some((member) => isTaintedMember(code, member, tainted)) ||
      has(code, code.partner[body]!, end, tainted)
    );
  if (kind === 'function') {
    const isEvaluated = hasWord(code, start, header, /^(?:constexpr|consteval|auto)$/);
    return has(code, start, isEvaluated ? end : header, tainted);
  }
  return has(code, start, end, tainted);
}

/** Members that decide the layout or a constant of a class: those that are functions of the host do not. */
function isTaintedMember(code: OwnCode, item: Declared, tainted: ReadonlySet<string>): boolean {
  const { kind, start, header, end } = item;
  if (kind === 'function' && !hasWord(code, start, header, /^(?:constexpr|consteval|auto)$/)) return false;
  if (kind === 'other' && isFunctionDeclaration(code, item) && !hasWord(code, start, header, /^(?:constexpr|auto)$/)) return false;
  return kind === 'class' ? isTaintedItem(code, item, tainted) : has(code, start, end, tainted);
}

/** Adds names of declarations that depend on tainted ones. @returns whether there are new ones */
function spread(code: OwnCode, items: readonly Declared[], tainted: Set<string>, classes: Set<string>): boolean {
  let isChanged = false;
  const visit = (item: Declared): void => {
    const { kind, start, header, end } = item;
    if (kind === 'class') for (const member of membersOf(code, item)) visit(member);
    if (isDevice(code, start, header) || !isTaintedItem(code, item, tainted)) return;
    if (kind === 'class') {
      const names = classNames(code, item);
      addAll(classes, names);
      isChanged = addAll(tainted, names) || isChanged;
      return;
    }
    const isConstant = hasWord(code, start, header, /^(?:const|constexpr|consteval|using|typedef|enum|template|auto|define)$/);
    if (
      kind === 'function'
        ? hasWord(code, start, header, /^(?:constexpr|consteval|auto)$/)
        : isConstant && !isFunctionDeclaration(code, item)
    )
      isChanged = addAll(tainted, declaredNames(code, start, kind === 'function' ? header : end)) || isChanged;
  };
  for (const item of items) visit(item);
  return isChanged;
}

/** Ranges of tokens that are device code. */
function deviceRegions(code: OwnCode, items: readonly Declared[], tainted: ReadonlySet<string>): [number, number][] {
  const regions: [number, number][] = [];
  const visit = (item: Declared): void => {
    const { kind, start, header, end } = item;
    if (kind !== 'class' && isDevice(code, start, header)) regions.push([start, end]);
    else if (kind === 'class') for (const member of membersOf(code, item)) visit(member);
    else if (kind === 'function') regions.push(...lambdas(code, item, tainted));
  };
  for (const item of items) visit(item);
  return regions;
}

/** Lambdas and local variables of device code in a function of the host. */
function lambdas(code: OwnCode, item: Declared, tainted: ReadonlySet<string>): [number, number][] {
  const { tokens, partner } = code;
  const found: [number, number][] = [];
  for (let at = item.body + 1; at < item.end; at++) {
    if (tokens[at]!.text !== '__attribute__' || !isDevice(code, at, Math.min(at + 4, item.end))) continue;
    let [start, open] = [at, at];
    while (start > item.body && !/^[;{}]$/.test(tokens[start]!.text)) start -= 1;
    while (open < item.end && !/^[;{]$/.test(tokens[open]!.text)) open += 1;
    const end = tokens[open]?.text === '{' && partner[open]! > open ? partner[open]! + 1 : open;
    // What it captures may have a type of a stub.
    const local = localNames(code, item, tainted);
    if (has(code, start, end, local) && !has(code, start, end, tainted)) found.push([item.start, item.end]);
    found.push([start, end]);
  }
  return found;
}

function firstNamed(code: OwnCode, [start, end]: readonly [number, number], names: ReadonlySet<string>): NamedPlace | null {
  for (let at = start; at < Math.min(end, code.tokens.length); at++) {
    const { kind, text } = code.tokens[at]!;
    if (kind === 'identifier' && names.has(text) && !isMember(code.tokens, at)) return { name: text, ...code.placeOf(at) };
  }
  return null;
}

/** Names without those of the template parameters of a declaration, which hide others. */
function withoutParameters(code: OwnCode, [start, end]: readonly [number, number], names: ReadonlySet<string>): ReadonlySet<string> {
  const { tokens } = code;
  const close = tokens[start]?.text === 'template' && tokens[start + 1]?.text === '<' ? closingAngle(code, start + 1) : -1;
  const hidden = new Set<string>();
  for (let at = start; at < Math.min(close, end); at++) {
    const isParameter = /^(?:class|typename)$/.test(tokens[at]!.text) && /^[,>=]$/.test(tokens[at + 2]?.text ?? '');
    // A default argument may have the name from outside.
    if (isParameter && tokens[at + 2]?.text !== '=') hidden.add(tokens[at + 1]!.text);
  }
  return hidden.size === 0 ? names : new Set([...names].filter((name) => !hidden.has(name)));
}

/** The first token that a macro replaces, also if it names a member or a parameter. */
function firstToken(code: OwnCode, [start, end]: readonly [number, number], macros: ReadonlySet<string>): NamedPlace | null {
  for (let at = start; at < end; at++) {
    const { text } = code.tokens[at]!;
    if (macros.has(text)) return { name: text, ...code.placeOf(at) };
  }
  return null;
}

/** A device function in a class whose layout depends on a stub. */
function deviceMemberOf(code: OwnCode, items: readonly Declared[], classes: ReadonlySet<string>): NamedPlace | null {
  for (const item of items) {
    if (item.kind !== 'class') continue;
    const [name = ''] = classNames(code, item);
    const members = membersOf(code, item);
    const own = classes.has(name) ? members.find(({ start, header }) => isDevice(code, start, header)) : undefined;
    if (own) return { name, ...code.placeOf(own.start) };
    const nested = deviceMemberOf(code, members, classes);
    if (nested) return nested;
  }
  return null;
}

/** Names of a function of the host that may have a value or type of a stub. */
function localNames(code: OwnCode, { start, end }: Declared, tainted: ReadonlySet<string>): ReadonlySet<string> {
  const { tokens } = code;
  const local = new Set<string>();
  const all = { has: (name: string) => tainted.has(name) || local.has(name) };
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (let first = start; first < end;) {
      let last = first;
      while (last < end && !/^[;{}]$/.test(tokens[last]!.text)) last += 1;
      if (has(code, first, last, all)) isChanged = addAll(local, declaredNames(code, first, last + 1)) || isChanged;
      first = last + 1;
    }
  }
  return local;
}

/** A constant in code of the host that the size or kind of a type of a stub decides. */
function measured(code: OwnCode, items: readonly Declared[], tainted: ReadonlySet<string>): NamedPlace | null {
  const { tokens, partner } = code;
  const functions = hostFunctions(code, items);
  const locals = new Map(functions.map((item) => [item, localNames(code, item, tainted)]));
  // Templates that are called with a value of a stub: their parameters may be its type.
  const called = new Set<string>();
  for (const [{ body, end }, local] of locals) {
    for (let at = body; at < end; at++) {
      if (tokens[at]!.kind !== 'identifier' || tokens[at + 1]?.text !== '(' || partner[at + 1]! < at) continue;
      const inside = { has: (name: string) => tainted.has(name) || local.has(name) };
      if (has(code, at + 2, partner[at + 1]!, inside)) called.add(tokens[at]!.text);
    }
  }
  for (const [item, local] of locals) {
    const own = functionName(code, item);
    const parameters = own !== null && called.has(own) ? templateParameters(code, item) : [];
    const all = new Set([
      ...tainted,
      ...local,
      ...parameters,
      ...(parameters.length > 0 ? declaredNames(code, item.start, item.header) : []),
    ]);
    for (let at = item.start; at < item.end; at++) {
      if (!measures.test(tokens[at]!.text) || tokens[at]!.kind !== 'identifier') continue;
      const open = tokens[at + 1]?.text;
      let end = at + 3;
      if (open === '(' && partner[at + 1]! > at) end = partner[at + 1]!;
      else if (open === '<') end = Math.max(end, closingAngle(code, at + 1));
      else if (open !== undefined && tokens[at]!.text !== 'sizeof') continue;
      const place = firstNamed(code, [at + 1, end], all);
      // A function of a stub may have the name of a trait.
      if (place && !isMember(tokens, at) && !tainted.has(tokens[at]!.text)) return place;
    }
  }
  return null;
}

function templateParameters({ tokens }: OwnCode, { start, body }: Declared): string[] {
  const names: string[] = [];
  for (let at = start; at < body; at++) {
    if (/^(?:class|typename)$/.test(tokens[at]!.text) && tokens[at + 1]?.kind === 'identifier') names.push(tokens[at + 1]!.text);
    if (tokens[at]!.text === 'auto') names.push('auto');
  }
  return names;
}

/** A kernel that a statement with a name of a stub has, other than in a launch: the library may launch it. */
function passedKernel(code: OwnCode, items: readonly Declared[], stubs: ReadonlySet<string>): NamedPlace | null {
  const { tokens } = code;
  const kernels = new Set<string>();
  for (const item of items) {
    if (!isDevice(code, item.start, item.header)) continue;
    const name = functionName(code, { start: item.start, body: item.header });
    if (name !== null) kernels.add(name);
  }
  for (const { body, end } of hostFunctions(code, items)) {
    for (let first = body + 1; first < end;) {
      let last = first;
      while (last < end && !/^[;{}]$/.test(tokens[last]!.text)) last += 1;
      for (let at = first; at < last && has(code, first, last, stubs); at++) {
        if (!kernels.has(tokens[at]!.text) || isMember(tokens, at)) continue;
        const close = tokens[at + 1]?.text === '<' && !isLaunch(tokens, at + 1) ? closingAngle(code, at + 1) : at;
        if (close < 0 || !isLaunch(tokens, close + 1)) return { name: tokens[at]!.text, ...code.placeOf(at) };
      }
      first = last + 1;
    }
  }
  return null;
}

/** Calls that launch kernels. */
const launchCalls = [
  'cudaLaunchKernel',
  'cudaLaunchKernelEx',
  'cudaLaunchKernelExC',
  'cudaLaunchCooperativeKernel',
  'cuLaunchKernel',
  'cuLaunchKernelEx',
];

/** Names of functions of the host that may lead to a launch. */
export function launchingFunctions(code: OwnCode): ReadonlySet<string> {
  const { tokens } = code;
  const functions = hostFunctions(code, itemsIn(code, 0, tokens.length));
  const launching = new Set<string>(launchCalls);
  const launches = ({ body, end }: Declared): boolean => {
    for (let at = body; at < end; at++) {
      if (isLaunch(tokens, at) || (tokens[at]!.kind === 'identifier' && launching.has(tokens[at]!.text))) return true;
    }
    return false;
  };
  const named = functions.map((item) => ({ item, name: functionName(code, item) }));
  const grows = (): boolean =>
    addAll(
      launching,
      named.flatMap(({ item, name }) => (name !== null && launches(item) ? [name] : [])),
    );
  while (grows());
  return launching;
}

/** Whether `<<<` is at an index. */
export function isLaunch(tokens: OwnCode['tokens'], at: number): boolean {
  return tokens[at]?.text === '<' && tokens[at + 1]?.text === '<' && tokens[at + 2]?.text === '<';
}

/** A call with a value of a stub of one of several functions of a name that lead to a launch. */
function overloadedCall(code: OwnCode, items: readonly Declared[], tainted: ReadonlySet<string>): NamedPlace | null {
  const { tokens, partner } = code;
  const functions = hostFunctions(code, items);
  const counts = new Map<string, number>();
  for (const item of functions) {
    const name = functionName(code, item);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const launching = launchingFunctions(code);
  for (const item of functions) {
    const local = localNames(code, item, tainted);
    const all = { has: (name: string) => tainted.has(name) || local.has(name) };
    for (let at = item.body; at < item.end; at++) {
      const name = tokens[at]!.text;
      if (tokens[at + 1]?.text !== '(' || !launching.has(name) || (counts.get(name) ?? 0) < 2) continue;
      if (has(code, at + 2, Math.max(partner[at + 1]!, at), all)) return { name, ...code.placeOf(at) };
    }
  }
  return null;
}
