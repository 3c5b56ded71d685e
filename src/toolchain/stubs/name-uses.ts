/** How a unit uses names that no header declares: what a declaration has to be so that the unit compiles. */
import { closingAngle, declarationWords, isDeclarable, type OwnCode } from './own-code.ts';

/** A use of a name. `statement`: a call without a semicolon; `definition`: a call followed by a body. */
type Use =
  | 'type'
  | 'maybe-type'
  | 'class-template'
  | 'function-template'
  | 'call'
  | 'value'
  | 'case'
  | 'constant'
  | 'attribute'
  | 'statement'
  | 'definition';

/** A name, and the names in its scope. */
export interface UsedName {
  readonly uses: Set<Use>;
  /** Kinds of the arguments of each template argument list. */
  readonly templateArguments: (readonly ('type' | 'value')[])[];
  readonly members: Map<string, UsedName>;
  /** Whether it is named in `using namespace`. */
  isNamespace: boolean;
  /** Maximum number of parameters of a macro that is followed by a body, and the index of the last name among them. */
  parameters: number;
}

export interface NameUses {
  readonly names: ReadonlyMap<string, UsedName>;
  /** Names that a using-declaration or an alias of a namespace makes of others. */
  readonly aliases: ReadonlySet<string>;
}

/** Names after `.` and `->`, with the template arguments that are stated. */
export type MemberNames = ReadonlyMap<string, { readonly isTemplate: boolean; readonly isField: boolean }>;

/** Members that a unit names anywhere. */
export function memberNames(code: OwnCode): MemberNames {
  const { tokens } = code;
  const members = new Map<string, { isTemplate: boolean; isField: boolean }>();
  for (let at = 1; at < tokens.length; at++) {
    const before = tokens[at - 1]!.text;
    if (before !== '.' && before !== '->' && !(before === 'template' && /^(?:\.|->)$/.test(tokens[at - 2]?.text ?? ''))) continue;
    const { text, kind } = tokens[at]!;
    if (kind !== 'identifier' || !isDeclarable(text)) continue;
    const known = members.get(text) ?? { isTemplate: false, isField: false };
    members.set(text, known);
    const close = tokens[at + 1]?.text === '<' ? closingAngle(code, at + 1) : -1;
    if (close > 0 && tokens[close + 1]?.text === '(') known.isTemplate = true;
    else if (tokens[at + 1]?.text !== '(') known.isField = true;
  }
  return members;
}

/** Heads of qualified names that nothing in the unit declares: `torch` in `torch::zeros`. */
export function undeclaredScopes({ tokens }: OwnCode, isKnown: (name: string) => boolean): string[] {
  const declared = new Set<string>();
  for (let at = 0; at + 1 < tokens.length; at++) {
    const word = tokens[at]!.text;
    if (/^(?:namespace|class|struct|union|enum|using|typename)$/.test(word)) {
      // Namespaces that are opened, or named by an alias: `namespace a::b {`, `using A = B;`.
      for (let next = at + 1; next < tokens.length && next < at + 12; next++) {
        const { text, kind } = tokens[next]!;
        if (kind === 'identifier' && word === 'using') {
          if (tokens[next + 1]?.text === '=') declared.add(text);
          break;
        }
        if (kind === 'identifier') {
          const isUsing = word === 'namespace' && tokens[at - 1]?.text === 'using';
          if (!isUsing && tokens[next + 1]?.text !== '::') declared.add(text);
          else if (!isUsing && word === 'namespace') declared.add(text);
        }
        if (/^[{;:=(,>]$/.test(text)) break;
      }
    }
    // The last name of a typedef, and template parameters.
    if (/^[;]$/.test(tokens[at + 1]!.text) && isInTypedef(tokens, at)) declared.add(word);
  }
  const heads = new Set<string>();
  for (let at = 0; at + 1 < tokens.length; at++) {
    const { text, kind } = tokens[at]!;
    const before = tokens[at - 1]?.text ?? ';';
    if (kind !== 'identifier' || tokens[at + 1]!.text !== '::' || before === '.' || before === '->') continue;
    if (before === '::' && (tokens[at - 2]?.kind === 'identifier' || tokens[at - 2]?.text === '>')) continue;
    if (isDeclarable(text) && !declared.has(text) && !isKnown(text)) heads.add(text);
  }
  // `using namespace X;`
  for (let at = 0; at + 2 < tokens.length; at++) {
    const name = tokens[at + 2]!.text;
    if (tokens[at]!.text === 'using' && tokens[at + 1]!.text === 'namespace' && isDeclarable(name) && !declared.has(name) && !isKnown(name))
      heads.add(name);
  }
  return [...heads];
}

function isInTypedef(tokens: OwnCode['tokens'], end: number): boolean {
  for (let at = end; at >= 0 && at > end - 60; at--) {
    if (tokens[at]!.text === ';') return false;
    if (tokens[at]!.text === 'typedef') return true;
  }
  return false;
}

function emptyName(): UsedName {
  return { uses: new Set(), templateArguments: [], members: new Map(), isNamespace: false, parameters: 0 };
}

function memberOf(names: Map<string, UsedName>, name: string): UsedName {
  const known = names.get(name) ?? emptyName();
  names.set(name, known);
  return known;
}

/** All uses of the given names, and of names in their scopes. */
export function usesOf(code: OwnCode, roots: ReadonlySet<string>): NameUses {
  const names = new Map<string, UsedName>([...roots].map((name) => [name, emptyName()]));
  const aliases = new Map<string, readonly string[]>();
  const { tokens } = code;
  const each = (isAlias: boolean): void => {
    for (let at = 0; at < tokens.length; at++) {
      const { text, kind } = tokens[at]!;
      if (kind !== 'identifier') continue;
      const path = names.has(text) ? [text] : aliases.get(text);
      if (path === undefined) continue;
      const before = tokens[at - 1]?.text ?? ';';
      if (before === '.' || before === '->') continue;
      const isGlobal = before === '::';
      if (isGlobal && (tokens[at - 2]?.kind === 'identifier' || tokens[at - 2]?.text === '>')) continue;
      readChain(code, { at, start: isGlobal ? at - 1 : at, path, names }, isAlias ? aliases : null);
    }
  };
  // Aliases first: uses of a name may precede the line that introduces it in another header.
  each(true);
  for (const entry of names.values()) clear(entry);
  each(false);
  return { names, aliases: new Set(aliases.keys()) };
}

function clear(name: UsedName): void {
  name.uses.clear();
  name.templateArguments.length = 0;
  for (const member of name.members.values()) clear(member);
}

interface ChainStart {
  readonly at: number;
  readonly start: number;
  readonly path: readonly string[];
  readonly names: Map<string, UsedName>;
}

function readChain(code: OwnCode, { at, start, path, names }: ChainStart, aliases: Map<string, readonly string[]> | null): void {
  const { tokens } = code;
  const full = [...path];
  let entry = path.slice(1).reduce((scope, name) => memberOf(scope.members, name), memberOf(names, path[0]!));
  let next = at + 1;
  let hasArguments = false;
  for (;;) {
    hasArguments = false;
    if (tokens[next]?.text === '<' && !(tokens[next + 1]?.text === '<' && tokens[next + 1]?.start === tokens[next]!.end)) {
      const close = closingAngle(code, next);
      if (close > 0 && isAfterArguments(tokens[close + 1])) {
        entry.templateArguments.push(argumentKinds(code, next, close));
        hasArguments = true;
        next = close + 1;
      }
    }
    if (tokens[next]?.text !== '::') break;
    if (hasArguments) entry.uses.add('class-template');
    const member = tokens[next + 1]?.text === 'template' ? next + 2 : next + 1;
    const name = tokens[member];
    if (name?.kind !== 'identifier' || !isDeclarable(name.text)) break;
    full.push(name.text);
    entry = memberOf(entry.members, name.text);
    next = member + 1;
  }
  const before = tokens[start - 1]?.text ?? ';';
  if (before === 'namespace' && tokens[start - 2]?.text === 'using') {
    entry.isNamespace = true;
    return;
  }
  if (before === '=' && tokens[start - 3]?.text === 'namespace') {
    entry.isNamespace = true;
    aliases?.set(tokens[start - 2]!.text, full);
    return;
  }
  if (before === 'using' && full.length > 1) {
    aliases?.set(full.at(-1)!, full);
    return;
  }
  entry.uses.add(useOf(code, start, next, hasArguments));
  if (tokens[next]?.text === '(') {
    const close = code.partner[next]!;
    const commas = tokens.slice(next, close < 0 ? next : close).filter(({ text }) => text === ',').length;
    entry.parameters = Math.max(entry.parameters, commas + 1);
  }
}

function isAfterArguments(token: OwnCode['tokens'][number] | undefined): boolean {
  return token !== undefined && (token.kind === 'identifier' || /^(?:[(*&{>,);[]|::)$/.test(token.text));
}

function argumentKinds(code: OwnCode, open: number, close: number): ('type' | 'value')[] {
  const { tokens, partner } = code;
  const kinds: ('type' | 'value')[] = [];
  let first = open + 1;
  let depth = 0;
  for (let at = open + 1; at <= close; at++) {
    const { text } = tokens[at]!;
    if (text === '(' && partner[at]! > at) at = partner[at]!;
    else if (text === '<') depth += 1;
    else if (text === '>' && at < close) depth -= 1;
    else if ((text === ',' && depth === 0) || at === close) {
      const head = tokens[first]!;
      const isValue = head.kind === 'number' || /^(?:true|false|-|sizeof|[A-Z][A-Z0-9_]+)$/.test(head.text);
      if (at > first) kinds.push(isValue ? 'value' : 'type');
      first = at + 1;
    }
  }
  return kinds;
}

function useOf(code: OwnCode, start: number, next: number, hasArguments: boolean): Use {
  const { tokens, partner } = code;
  const [before, after] = [tokens[start - 1]?.text ?? ';', tokens[next]];
  const following = tokens[next + 1];
  if (hasArguments) return after?.text === '(' ? 'function-template' : 'class-template';
  if (before === 'case') return 'case';
  if (before === 'class' || before === 'struct') return after?.kind === 'identifier' ? 'attribute' : 'type';
  if (/^(?:new|typename)$/.test(before)) return 'type';
  if (after?.kind === 'identifier') {
    if (declarationWords.has(after.text)) return 'attribute';
    const isSecondType = following?.kind === 'identifier' && !/^(?:const|volatile)$/.test(after.text) && isDeclarable(following.text);
    return isSecondType ? 'attribute' : 'type';
  }
  if (after?.text === '(') {
    const close = partner[next]!;
    const then = close < 0 ? undefined : tokens[close + 1];
    const begins = /^[;{})]$/.test(before) || before === 'else';
    if (then?.text === '{' && /^[;}]$/.test(before)) return 'definition';
    if (begins && (then?.kind === 'identifier' || then?.text === '}')) return 'statement';
    return 'call';
  }
  if (after?.text === '{') return 'type';
  if (/^[*&]$/.test(after?.text ?? '')) {
    let end = next;
    while (/^(?:[*&]|const)$/.test(tokens[end]?.text ?? '')) end += 1;
    const target = tokens[end];
    const begins = /^(?:[;{}<:]|const|static|extern|inline|typedef)$/.test(before);
    if (begins && target?.kind === 'identifier') return 'type';
    if (/^[(,<]$/.test(before) && /^[),>]$/.test(target?.text ?? '')) return 'type';
    return /^[(,]$/.test(before) && target?.kind === 'identifier' ? 'maybe-type' : 'value';
  }
  if (before === 'const' || (/^[<,]$/.test(before) && after?.text === '>')) return 'type';
  if (before === '<' && after?.text === ',') return 'type';
  if (before === '(' && after?.text === ')') {
    const caller = tokens[start - 2]?.text ?? '';
    const isCast =
      following !== undefined &&
      (/^(?:number|string)$/.test(following.kind) ||
        (following.kind === 'identifier' && isDeclarable(following.text)) ||
        following.text === '(');
    if (caller === 'sizeof' || (isCast && !/^(?:if|while|switch|for)$/.test(caller))) return 'type';
  }
  return 'value';
}
