/** Layout of plain structs from their text: byte offsets of the members, for LP64 with default alignment. */
import { alignedUp } from '../../base/integer.ts';
import { alignmentOfType, basicTypeOf, sizeOfType } from '../syntax/basic-type.ts';
import { matchBrackets } from '../syntax/bracket-match.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { tokenize, type Token } from '../syntax/token.ts';

/** A number or pointer member; `inner.x` for a member of a member, `row[1].x` for one of an element. */
interface StructField {
  readonly name: string;
  /** In bytes from the start of the outermost struct. */
  readonly offset: number;
  /** `int` for an alias of it; `const float *`. */
  readonly type: string;
}

export interface StructLayout {
  readonly bytes: number;
  readonly alignment: number;
  readonly fields: readonly StructField[];
}

/** The types that a text declares, as far as layouts need them. */
export interface DeclaredTypes {
  readonly structs: readonly StructDefinition[];
  /** Names from `typedef` and `using`, each with its type; undefined if that is not understood. */
  readonly aliases: readonly { readonly name: string; readonly target: string | undefined }[];
  readonly macros: ReadonlySet<string>;
  /** Whether the file changes packing or has unmatched brackets: then no layout is reliable. */
  readonly unreliable: boolean;
}

interface StructDefinition {
  /** With namespaces and classes: `ns::(anonymous namespace)::View`. */
  readonly qualified: string;
  /** Explicit alignment of the struct, in bytes; 1 if unspecified. */
  readonly alignment: number;
  /** Undefined if a part is not understood. */
  readonly members: readonly Member[] | undefined;
}

interface Member {
  readonly name: string;
  /** Without pointers: `const float`. */
  readonly type: string;
  readonly isPointer: boolean;
  /** Extents of a fixed array, the outermost first; none if it is not one. */
  readonly extents: readonly number[];
  readonly alignment: number;
}

/** Structs nested deeper are not laid out. */
const maximumDepth = 8;
/** Arrays with more members in their elements have no names for these. */
const maximumElements = 256;
/** Scopes nested deeper are not read. */
const maximumScopes = 100;
/** Tokens looked through for the end of a `typedef`, `using` or template argument list. */
const maximumDeclaration = 500;
const qualifiers = new Set(['const', 'volatile', 'mutable', '__restrict__', '__restrict', 'restrict']);
const arithmeticWords = new Set(['unsigned', 'signed', 'int', 'long', 'short', 'char']);
/** Words that start no plain member, or that change the type of a member. */
const notPlain = new Set([
  'virtual',
  'typename',
  'auto',
  'union',
  'enum',
  'inline',
  'register',
  'thread_local',
  'extern',
  'decltype',
  'constexpr',
  '_Complex',
  '__attribute__',
  '__declspec',
  'operator',
]);

/** Reads the types that a text declares, from its tokens only. Never throws. */
export function declaredTypes({ text, macros }: CudaSource): DeclaredTypes {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment');
  const scan = new TypeScan(tokens, new Set(macros.map(({ name }) => name)));
  scan.declarations(0, tokens.length, '');
  return scan.result();
}

/**
 * The layout of a struct.
 * @param name - qualified, as the demangler spells it: `ns::View`
 * @param types - of the files that may define it, each once
 * @returns undefined unless there is exactly one definition and all of it is understood: members of built-in types,
 * pointers, fixed arrays of literal size, and structs of such; no bit-fields, bases, virtual functions, references,
 * unions, templates, packing, or preprocessor lines between the members
 */
export function structLayout(name: string, types: readonly DeclaredTypes[]): StructLayout | undefined {
  if (types.some(({ unreliable }) => unreliable)) return undefined;
  const structs = types.flatMap((file) => file.structs);
  const aliases = types.flatMap((file) => file.aliases);
  const macros = new Set(types.flatMap((file) => [...file.macros]));

  const layoutOf = (definition: StructDefinition, depth: number): StructLayout | undefined => {
    if (!definition.members || depth > maximumDepth) return undefined;
    let offset = 0;
    let { alignment } = definition;
    const fields: StructField[] = [];
    for (const member of definition.members) {
      const shape = macros.has(member.name) ? undefined : shapeOf(member, definition.qualified, depth);
      if (!shape) return undefined;
      const own = Math.max(shape.alignment, member.alignment);
      offset = alignedUp(offset, own);
      const elements = member.extents.reduce((all, extent) => all * extent, 1);
      const isNamed = member.extents.length === 0 || elements * shape.fields.length <= maximumElements;
      for (let element = 0; isNamed && element < elements; element++)
        for (const field of shape.fields) {
          const label = member.name + indicesOf(element, member.extents);
          fields.push({
            name: field.name === '' ? label : `${label}.${field.name}`,
            offset: offset + element * shape.bytes + field.offset,
            type: field.type,
          });
        }
      offset += shape.bytes * elements;
      alignment = Math.max(alignment, own);
      if (!Number.isSafeInteger(offset)) return undefined;
    }
    return { bytes: Math.max(alignedUp(offset, alignment), alignment), alignment, fields };
  };

  /** The layout of a member's type (of one element); a number or pointer is a field without name. */
  const shapeOf = ({ type, isPointer }: Member, within: string, depth: number): StructLayout | undefined => {
    const words = type.split(/[^\w$]+/);
    if (words.some((word) => macros.has(word))) return undefined;
    if (isPointer) return { bytes: 8, alignment: 8, fields: [{ name: '', offset: 0, type: `${type} *` }] };
    const basic = basicTypeOf(type);
    const last = basic.slice(basic.lastIndexOf(':') + 1);
    const named = structs.filter(({ qualified }) => lastPart(qualified) === last);
    const targets = new Set(aliases.filter((alias) => alias.name === last).map(({ target }) => target));
    if (named.length + targets.size > 1) return undefined;
    const [struct] = named;
    if (struct) return isVisible(struct.qualified, basic, within) ? layoutOf(struct, depth + 1) : undefined;
    const resolved = targets.size === 0 ? basic : [...targets][0];
    // An alias of an alias is not followed.
    if (resolved === undefined || (targets.size > 0 && isDeclared(basicTypeOf(resolved)))) return undefined;
    const bytes = sizeOfType(resolved);
    const alignment = alignmentOfType(resolved);
    if (bytes === undefined || alignment === undefined) return undefined;
    return { bytes, alignment, fields: [{ name: '', offset: 0, type: resolved }] };
  };

  const isDeclared = (word: string): boolean =>
    macros.has(word) || aliases.some((alias) => alias.name === word) || structs.some(({ qualified }) => lastPart(qualified) === word);

  const found = structs.filter(({ qualified }) => qualified === name);
  return found.length === 1 && found[0] ? layoutOf(found[0], 0) : undefined;
}

/** Whether `written` inside `within` can name `qualified`: one of the scopes around it completes the name. */
function isVisible(qualified: string, written: string, within: string): boolean {
  for (let scope = within; ; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('::')))) {
    if (qualified === (scope === '' ? written.replace(/^::/, '') : `${scope}::${written}`)) return true;
    if (scope === '') return false;
  }
}

function lastPart(qualified: string): string {
  return qualified.slice(qualified.lastIndexOf(':') + 1);
}

/** The indices of an element of an array, as C++ writes them: `[1][2]`. */
function indicesOf(element: number, extents: readonly number[]): string {
  let [text, rest] = ['', element];
  for (const extent of extents.toReversed()) {
    text = `[${rest % extent}]${text}`;
    rest = Math.floor(rest / extent);
  }
  return text;
}

/** A scan of the tokens of a file, without comments. */
class TypeScan {
  private readonly tokens: readonly Token[];
  private readonly partner: Int32Array;
  private readonly macros: ReadonlySet<string>;
  private readonly structs: StructDefinition[] = [];
  private readonly aliases: { name: string; target: string | undefined }[] = [];
  private unreliable = false;
  private scopes = 0;

  constructor(tokens: readonly Token[], macros: ReadonlySet<string>) {
    this.tokens = tokens;
    this.partner = matchBrackets(tokens);
    this.macros = macros;
  }

  result(): DeclaredTypes {
    const { structs, aliases, macros, unreliable } = this;
    return { structs, aliases, macros, unreliable };
  }

  private text(index: number): string {
    return this.tokens[index]?.text ?? '';
  }

  private isName(index: number): boolean {
    return this.tokens[index]?.kind === 'identifier';
  }

  /** The closing bracket of the opening one at `index`; `index` itself if not closed. */
  private close(index: number): number {
    const closing = this.partner[index] ?? -1;
    return closing > index ? closing : index;
  }

  /** The declarations of a file, namespace or struct in [from, to). */
  declarations(from: number, to: number, prefix: string): void {
    if (this.scopes >= maximumScopes) {
      this.unreliable = true;
      return;
    }
    this.scopes++;
    this.scope(from, to, prefix);
    this.scopes--;
  }

  private scope(from: number, to: number, prefix: string): void {
    let isTypedef = false;
    let isTemplate = false;
    for (let i = from; i < to; i++) {
      const word = this.text(i);
      if (this.tokens[i]?.kind === 'directive') {
        if (/^#\s*pragma\s+pack\b/.test(word)) this.unreliable = true;
      } else if (word === '_Pragma' || word === '__pragma') this.unreliable = true;
      else if (word === ';' || word === '}') {
        isTypedef = false;
        isTemplate = false;
      } else if (word === 'template') {
        isTemplate = true;
        if (this.text(i + 1) === '<') i = this.afterAngles(i + 1, to) - 1;
      } else if (word === 'namespace') i = this.namespace(i, to, prefix);
      else if (word === 'typedef') {
        isTypedef = true;
        this.typedef(i, to);
      } else if (word === 'using') this.using(i, to);
      else if (word === 'enum') {
        while (i + 1 < to && !/^[{;]$/.test(this.text(i + 1))) i++;
      } else if (word === 'struct' || word === 'class' || word === 'union') i = this.struct(i, to, prefix, isTypedef, isTemplate);
      else if (word === 'extern' && this.tokens[i + 1]?.kind === 'string' && this.text(i + 2) === '{') i += 2;
      else if ('([{'.includes(word) && word !== '') {
        const closing = this.close(i);
        if (closing === i && word === '{') this.unreliable = true;
        // A body ends the declaration that contains it.
        if (word === '{' && closing > i) isTemplate = false;
        i = closing;
      }
    }
  }

  /** Reads a namespace at `index`; returns its last token. */
  private namespace(index: number, to: number, prefix: string): number {
    const names: string[] = [];
    let i = index + 1;
    for (; i < to && !/^[{;=]$/.test(this.text(i)); i++) {
      if (this.text(i) === '(' || this.text(i) === '[') i = this.close(i);
      else if (this.isName(i) && this.text(i) !== 'inline') names.push(this.text(i));
    }
    if (this.text(i) !== '{') return i;
    const closing = this.close(i);
    if (closing === i) this.unreliable = true;
    const name = names.length === 0 ? '(anonymous namespace)' : names.join('::');
    this.declarations(i + 1, closing, `${prefix}${name}::`);
    return closing;
  }

  /** Reads `typedef … name;`: the names that it declares. The body of a struct in it is read separately. */
  private typedef(index: number, to: number): void {
    let hasBody = false;
    const names: number[] = [];
    let i = index + 1;
    const limit = Math.min(to, index + maximumDeclaration);
    for (; i < limit && this.text(i) !== ';'; i++) {
      if (this.text(i) === '{') hasBody = true;
      if (this.text(i) === '<') i = this.afterAngles(i, to) - 1;
      else if (this.text(i) === '(' && this.text(i + 1) === '*') names.push(this.close(i) - 1);
      if ('([{'.includes(this.text(i))) i = this.close(i);
      else if (this.isName(i) && /^[;,[]$/.test(this.text(i + 1))) names.push(i);
    }
    const [name] = names;
    const isPlain = names.length === 1 && name !== undefined && name + 1 === i && !hasBody;
    for (const at of names) {
      if (hasBody && at + 1 === i && this.text(at - 1) === '}') continue;
      const target = isPlain ? this.words(index + 1, at) : undefined;
      this.aliases.push({ name: this.text(at), target });
    }
  }

  private using(index: number, to: number): void {
    let end = index;
    while (end < Math.min(to, index + maximumDeclaration) && this.text(end) !== ';') end++;
    if (this.text(index + 2) === '=') this.aliases.push({ name: this.text(index + 1), target: this.words(index + 3, end) });
    else if (this.text(index + 1) !== 'namespace' && this.text(index + 1) !== 'std')
      this.aliases.push({ name: this.text(end - 1), target: undefined });
  }

  /** A type that consists only of words, such as `unsigned int`; undefined for all others. */
  private words(from: number, to: number): string | undefined {
    const list: string[] = [];
    for (let i = from; i < to; i++) {
      if (!this.isName(i) && this.text(i) !== '::') return undefined;
      list.push(this.text(i));
    }
    const type = basicTypeOf(list.join(' ').replaceAll(' :: ', '::'));
    return type === '' ? undefined : type;
  }

  /** Reads `struct … {…}` at `index`; returns its last token. */
  private struct(index: number, to: number, prefix: string, isTypedef: boolean, isTemplate: boolean): number {
    let alignment: number | undefined = 1;
    let name: string | undefined;
    let isPlain = this.text(index) !== 'union' && !isTemplate;
    let i = index + 1;
    for (; i < to && this.text(i) !== '{'; i++) {
      const word = this.text(i);
      if ((word === 'alignas' || word === '__align__') && this.text(i + 1) === '(') {
        const asked = this.alignment(i + 1);
        alignment = asked === undefined || alignment === undefined ? undefined : Math.max(alignment, asked);
        i = this.close(i + 1);
      } else if (word === '__attribute__' || word === '__declspec' || word === '[') {
        isPlain = false;
        i = this.close(word === '[' ? i : i + 1);
      } else if (word === ':') {
        isPlain = false;
        while (i + 1 < to && !/^[{;]$/.test(this.text(i + 1))) i++;
      } else if (word === '<') {
        isPlain = false;
        i = this.afterAngles(i, to) - 1;
      } else if (word === '::') isPlain = false;
      else if (word === 'final') continue;
      else if (this.isName(i)) {
        // Two names before the body: one of them is an unknown macro, or this is not a definition.
        if (name !== undefined) isPlain = false;
        name = word;
      } else return i - 1;
    }
    const closing = this.close(i);
    if (i >= to || closing === i) {
      if (i < to) this.unreliable = true;
      return i;
    }
    const isAlias = isTypedef && this.isName(closing + 1) && this.text(closing + 2) === ';';
    if (!isAlias && this.text(closing + 1) !== ';') isPlain = false;
    const alias = isAlias ? this.text(closing + 1) : undefined;
    const names = new Set([name, alias].filter((candidate) => candidate !== undefined));
    const members = isPlain && alignment !== undefined ? this.members(i + 1, closing, name ?? '') : undefined;
    for (const own of names) this.structs.push({ qualified: prefix + own, alignment: alignment ?? 1, members });
    if (!isTemplate && name !== undefined) this.declarations(i + 1, closing, `${prefix}${name}::`);
    return closing;
  }

  /** The number in `(16)` at `open`: a power of two. */
  private alignment(open: number): number | undefined {
    const value = open + 2 === this.close(open) ? wholeNumber(this.text(open + 1)) : undefined;
    return value !== undefined && value <= 4096 && (value & (value - 1)) === 0 ? value : undefined;
  }

  /** The members between the braces of a struct; undefined if a part is not understood. */
  private members(from: number, to: number, struct: string): Member[] | undefined {
    const members: Member[] = [];
    for (let i = from; i < to; i++) {
      const word = this.text(i);
      if (this.tokens[i]?.kind === 'directive') return undefined;
      if (word === ';') continue;
      if (/^(?:public|private|protected)$/.test(word) && this.text(i + 1) === ':') {
        i++;
        continue;
      }
      const statement = this.statement(i, to);
      if (!statement) return undefined;
      const { end, parenthesis } = statement;
      // `static` may follow other words; in the body of a function it does not concern the member.
      const isStatic = parenthesis === undefined && this.find(i, end, 'static') !== -1;
      if (isStatic || /^(?:static|static_assert|using|typedef|friend|template)$/.test(word)) {
        i = end;
        continue;
      }
      if (/^(?:struct|class|union|enum)$/.test(word)) {
        const body = this.find(i, end, '{');
        const isDefinition = body === -1 ? i + 2 === end : this.close(body) + 1 === end && this.hasName(i, body);
        if (isDefinition) {
          i = end;
          continue;
        }
        if (body !== -1) return undefined;
      }
      if (parenthesis !== undefined) {
        if (!this.isFunction(i, parenthesis, struct)) return undefined;
      } else {
        const own = this.dataMembers(i, end);
        if (!own) return undefined;
        members.push(...own);
      }
      i = end;
    }
    return members;
  }

  /** Whether a name precedes the body of a `struct` or `enum`, or none is needed. */
  private hasName(index: number, body: number): boolean {
    if (this.text(index) === 'enum') return true;
    for (let i = index + 1; i < body; i++) {
      if (this.text(i) === '(') i = this.close(i);
      else if (this.isName(i) && !/^(?:alignas|__align__|__attribute__)$/.test(this.text(i))) return true;
    }
    return false;
  }

  private find(from: number, to: number, word: string): number {
    for (let i = from; i < to; i++) if (this.text(i) === word) return i;
    return -1;
  }

  /**
   * The end of a declaration in a struct, its `;` or the `}` of a function body, and the parenthesis that makes it a
   * function. Undefined if it contains a preprocessor line, or has no end.
   */
  private statement(from: number, to: number): { end: number; parenthesis: number | undefined } | undefined {
    let parenthesis: number | undefined;
    let isInitialised = false;
    let inInitialisers = false;
    let isOperator = false;
    let i = from;
    if (this.text(i) === 'template' && this.text(i + 1) === '<') i = this.afterAngles(i + 1, to);
    for (; i < to; i++) {
      const word = this.text(i);
      if (this.tokens[i]?.kind === 'directive') return undefined;
      if (word === ';') return { end: i, parenthesis };
      if (word === 'operator') isOperator = true;
      else if (word === '=' && !isOperator) isInitialised = true;
      else if (word === ':' && parenthesis !== undefined) inInitialisers = true;
      else if (word === '(' || word === '[') {
        const isAlignment = /^(?:alignas|__align__)$/.test(this.text(i - 1));
        if (word === '(' && !isInitialised && !isAlignment) parenthesis ??= i;
        if (this.close(i) === i) return undefined;
        i = this.close(i);
      } else if (word === '{') {
        const closing = this.close(i);
        if (closing === i) return undefined;
        const isInitialiser = inInitialisers && (this.isName(i - 1) || this.text(i - 1) === '>');
        if (parenthesis !== undefined && !isInitialised && !isInitialiser) return { end: closing, parenthesis };
        i = closing;
      }
    }
    return undefined;
  }

  /** Whether a declaration with a parenthesis is a function that does not change the layout. */
  private isFunction(from: number, parenthesis: number, struct: string): boolean {
    for (let i = from; i < parenthesis; i++) {
      if (this.text(i) === 'virtual') return false;
      if (this.text(i) === 'operator') return true;
    }
    const name = this.text(parenthesis - 1);
    if (!this.isName(parenthesis - 1) || notPlain.has(name) || this.macros.has(name)) return false;
    // `void (*f)(int);` declares a member; `FIELD(int, n)` is a macro, unless it is the constructor.
    if (/^[*&]$/.test(this.text(parenthesis + 1))) return false;
    return parenthesis - 1 > from || name === struct;
  }

  /** The members that `type a, *b, c[4];` in [from, end) declares. */
  private dataMembers(from: number, end: number): Member[] | undefined {
    let alignment = 1;
    let i = from;
    const type: string[] = [];
    let isComplete = false;
    for (; i < end; i++) {
      const word = this.text(i);
      if (qualifiers.has(word)) {
        if (word === 'const' || word === 'volatile') type.push(word);
      } else if ((word === 'alignas' || word === '__align__') && this.text(i + 1) === '(') {
        const asked = this.alignment(i + 1);
        if (asked === undefined) return undefined;
        alignment = Math.max(alignment, asked);
        i = this.close(i + 1);
      } else if (notPlain.has(word)) return undefined;
      else if ((word === 'struct' || word === 'class') && !isComplete) continue;
      else if (arithmeticWords.has(word)) {
        type.push(word);
        isComplete = true;
      } else if ((this.isName(i) || word === '::') && !isComplete) {
        let path = word;
        while (i + 1 < end && (this.text(i + 1) === '::' || this.text(i) === '::')) path += this.text(++i);
        if (this.text(i + 1) === '<') {
          const after = this.afterAngles(i + 1, end);
          path += '<…>';
          i = after - 1;
        }
        type.push(path);
        isComplete = true;
      } else break;
    }
    if (!isComplete || i >= end) return undefined;
    const members: Member[] = [];
    for (; i < end; i++) {
      let isPointer = false;
      for (; this.text(i) === '*' || qualifiers.has(this.text(i)); i++) isPointer ||= this.text(i) === '*';
      const name = this.text(i);
      if (!this.isName(i) || this.macros.has(name) || i >= end) return undefined;
      const extents: number[] = [];
      while (this.text(i + 1) === '[') {
        const extent = this.close(i + 1) === i + 3 ? wholeNumber(this.text(i + 2)) : undefined;
        if (extent === undefined || extent === 0) return undefined;
        extents.push(extent);
        i += 3;
      }
      i++;
      if (this.text(i) === '=') while (i < end && this.text(i) !== ',') i = this.close(i) + 1;
      else if (this.text(i) === '{') i = this.close(i) + 1;
      if (i < end && this.text(i) !== ',') return undefined;
      members.push({ name, type: type.join(' '), isPointer, extents, alignment });
    }
    return members;
  }

  /** The index after the `>` that closes the `<` at `open`, or after `open` if not closed. */
  private afterAngles(open: number, to: number): number {
    let depth = 0;
    for (let i = open; i < Math.min(to, open + maximumDeclaration); i++) {
      const word = this.text(i);
      if (word === '(' || word === '[' || word === '{') i = this.close(i);
      else if (word === '<') depth++;
      else if (word === '>' && --depth === 0) return i + 1;
    }
    return open + 1;
  }
}

function wholeNumber(text: string): number | undefined {
  const [, digits] = /^(0[xX][0-9a-fA-F]+|[1-9]\d*|0)[uUlL]{0,3}$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
