import { NotConstant, shorten, type Extents } from './constant-value.ts';
import type { Location } from '../../source/location.ts';
import { basicTypeOf, integerType, isFloatType } from '../syntax/basic-type.ts';
import { createEvaluator } from './constant-evaluation.ts';
import type { Evaluator, EvaluationScope } from './constant-evaluation.ts';
import { withoutTemplateArguments } from '../names/demangle.ts';
import { normalizeSpace } from '../syntax/outline.ts';
import {
  childIn,
  childOf,
  listItems,
  nodesWhere,
  pathTo,
  positionAt,
  stripParentheses,
} from '../syntax/syntax-tree.ts';
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { CudaParser, CudaSource } from '../syntax/syntax.ts';
import { tokenize } from '../syntax/token.ts';
import { mayLaunch } from './launch-text.ts';

export type LaunchProperty = 'block' | 'grid' | 'cluster' | 'sharedBytes' | 'cooperative';

/** A launch in the text. Properties that could not be evaluated are missing and named in `unknown`. */
export interface LaunchSite {
  /** What is launched as written, without template arguments: `ns::reduce`. */
  readonly kernel: string;
  /** Arguments that are written; undefined for one that is not a literal or a built-in type. */
  readonly templateArguments: readonly (string | undefined)[];
  /** For messages, on one line: `reduce<256><<<grid, block>>>`. */
  readonly text: string;
  readonly location: Location;
  readonly block?: Extents;
  readonly grid?: Extents;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes?: number;
  readonly cooperative: boolean;
  /** Why a property is not known, as a sentence. */
  readonly unknown: readonly { readonly property: LaunchProperty; readonly reason: string }[];
  /** Arguments that are constants, by position. */
  readonly scalars: ReadonlyMap<number, bigint | number | boolean>;
  /** Positions, in order, of arguments that point into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Of these, the ones that are the same pointer, without an offset between them. */
  readonly samePointers: readonly (readonly [number, number])[];
}

const launchFunctions = /^cuda(?:LaunchKernel|LaunchCooperativeKernel|LaunchKernelExC?)$/;

/**
 * Finds the kernel launches of a source and evaluates what of them is constant.
 * @param headers - sources whose constants are in scope
 */
export function findLaunchSites(
  parser: CudaParser,
  source: CudaSource,
  headers: readonly CudaSource[] = [],
): LaunchSite[] {
  if (!mayLaunch(source.text)) return [];
  const evaluator = createEvaluator(parser, [source, ...headers]);
  const root = source.tree();
  const sites: LaunchSite[] = [];
  const covered: SyntaxNode[] = [];
  for (const call of nodesWhere(root, ({ type }) => type === 'call_expression')) {
    const reader: Reader = {
      source,
      evaluator,
      scope: { source, path: pathTo(root, call.start, call.end), offset: call.start },
    };
    const configuration = childOf(call, 'kernel_call_syntax');
    if (configuration) {
      covered.push(configuration);
      const site = chevronLaunch(reader, call, configuration);
      if (site) sites.push(site);
    } else {
      const callee = childIn(call, 'function');
      const name = callee
        ? textOf(reader, callee)
            .replace(/^.*::\s*/, '')
            .replace(/<[^]*$/, '')
        : '';
      const site = launchFunctions.test(name) ? functionLaunch(reader, call, name) : undefined;
      if (site) sites.push(site);
    }
  }
  sites.push(...unparsedLaunches(source, covered));
  return sites.sort((a, b) => a.location.line - b.location.line || (a.location.column ?? 0) - (b.location.column ?? 0));
}

/**
 * Whether a launch can be of a kernel. Template arguments that are not known here can be any.
 * @param name - qualified, with template arguments: `ns::reduce<256, float>`
 */
export function launches(site: LaunchSite, name: string): boolean {
  const compiled = name.replaceAll('(anonymous namespace)::', '');
  const path = withoutTemplateArguments(compiled).split('::');
  const written = site.kernel.split('::').filter((part) => part !== '');
  if (written.length === 0 || !written.every((part, index) => path.at(index - written.length) === part)) return false;
  const compiledArguments = templateArgumentsOf(compiled).map(canonicalArgument);
  return site.templateArguments.every((argument, index) => {
    const own = argument === undefined ? undefined : canonicalArgument(argument);
    const other = compiledArguments[index];
    return own === undefined || other === undefined || own === other;
  });
}

interface Reader {
  readonly source: CudaSource;
  readonly evaluator: Evaluator;
  readonly scope: EvaluationScope;
}

type Configured = Pick<LaunchSite, 'block' | 'grid' | 'sharedBytes' | 'unknown'>;

function textOf({ source }: Reader, node: SyntaxNode): string {
  return source.text.slice(node.start, node.end);
}

function chevronLaunch(reader: Reader, call: SyntaxNode, configuration: SyntaxNode): LaunchSite | undefined {
  const callee = childIn(call, 'function');
  const kernel = callee && kernelOf(reader, callee);
  if (!kernel) return undefined;
  const [grid, block, shared] = listItems(configuration);
  const list = childIn(call, 'arguments');
  return {
    ...kernel,
    text: shorten(reader.source.text.slice(call.start, configuration.end)),
    location: locate(reader, call),
    ...configured(reader, grid, block, shared),
    cooperative: false,
    ...argumentsOf(reader, list ? listItems(list) : []),
  };
}

/** `cudaLaunchKernel(function, grid, block, arguments, shared, stream)` and its relatives. */
function functionLaunch(reader: Reader, call: SyntaxNode, name: string): LaunchSite | undefined {
  const list = childIn(call, 'arguments');
  const items = list ? listItems(list) : [];
  const isExtended = name.startsWith('cudaLaunchKernelEx');
  const target = items[isExtended ? 1 : 0];
  const kernel = target && kernelOf(reader, target);
  if (!kernel) return undefined;
  const text = `${name}(${isExtended ? '…, ' : ''}${shorten(textOf(reader, target))}, …)`;
  const common = { ...kernel, text, location: locate(reader, call) };
  if (isExtended) {
    const reason = 'Selvage does not evaluate a launch configuration in a structure.';
    const properties = ['block', 'grid', 'sharedBytes', 'cluster', 'cooperative'] as const;
    const unknown = properties.map((property) => ({ property, reason }));
    const given = name === 'cudaLaunchKernelEx' ? items.slice(2) : argumentArray(reader, items[2]);
    return { ...common, cooperative: false, unknown, ...argumentsOf(reader, given) };
  }
  return {
    ...common,
    ...configured(reader, items[1], items[2], items[4]),
    cooperative: name === 'cudaLaunchCooperativeKernel',
    ...argumentsOf(reader, argumentArray(reader, items[3])),
  };
}

/** The variables whose addresses are in an array of arguments: `void* args[] = { &a, &n };`. */
function argumentArray(reader: Reader, node: SyntaxNode | undefined): SyntaxNode[] {
  if (!node) return [];
  let list: SyntaxNode | undefined = stripParentheses(node);
  if (list.type === 'identifier') {
    try {
      list = reader.evaluator.local(textOf(reader, list), reader.scope)?.value;
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      return [];
    }
  }
  if (list?.type === 'compound_literal_expression') list = childIn(list, 'value');
  if (list?.type !== 'initializer_list') return [];
  return listItems(list).map((item) => {
    const address = withoutCasts(item);
    const isAddress = address.type === 'pointer_expression' && childIn(address, 'operator')?.type === '&';
    return (isAddress ? childIn(address, 'argument') : undefined) ?? item;
  });
}

function configured(
  { source, evaluator, scope }: Reader,
  grid: SyntaxNode | undefined,
  block: SyntaxNode | undefined,
  shared: SyntaxNode | undefined,
): Configured {
  const unknown: { property: LaunchProperty; reason: string }[] = [];
  const read = <T>(
    property: LaunchProperty,
    node: SyntaxNode | undefined,
    convert: (value: Extents) => T,
  ): T | undefined => {
    try {
      if (!node) throw new NotConstant('is missing');
      const value = evaluator.evaluate({ node, text: source.text }, scope);
      if (Array.isArray(value)) return convert(value as Extents);
      const whole = Math.trunc(Number(value));
      if (!Number.isSafeInteger(whole)) throw new NotConstant('is too large');
      return convert([whole, 1, 1]);
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      const what = { block: 'The block', grid: 'The grid', sharedBytes: 'The shared memory', cluster: 'The cluster', cooperative: 'Whether it is cooperative' }[property]; // prettier-ignore
      const subject = node ? `${what} \`${shorten(source.text.slice(node.start, node.end))}\`` : what;
      unknown.push({
        property,
        reason: `${subject} cannot be evaluated: ${/^(?:is|has|does|divides|shifts|calls) /.test(error.message) ? 'it ' : ''}${error.message}.`,
      });
      return undefined;
    }
  };
  const blockExtents = read('block', block, (value) => value);
  const gridExtents = read('grid', grid, (value) => value);
  const sharedBytes = shared ? read('sharedBytes', shared, ([bytes]) => bytes) : 0;
  return {
    ...(blockExtents ? { block: blockExtents } : {}),
    ...(gridExtents ? { grid: gridExtents } : {}),
    ...(sharedBytes === undefined ? {} : { sharedBytes }),
    unknown,
  };
}

function argumentsOf(
  reader: Reader,
  items: readonly SyntaxNode[],
): Pick<LaunchSite, 'scalars' | 'aliases' | 'samePointers'> {
  const { source, evaluator, scope } = reader;
  const scalars = new Map<number, bigint | number | boolean>();
  const bases: (string | undefined)[] = items.map((node, index) => {
    try {
      const value = evaluator.evaluate({ node, text: source.text }, scope);
      if (!Array.isArray(value)) scalars.set(index, value as bigint | number | boolean);
      return undefined;
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
      return baseOf(reader, node, 0);
    }
  });
  const aliases = bases.flatMap((base, first) =>
    bases.flatMap((other, second): (readonly [number, number])[] =>
      base !== undefined && base === other && first < second ? [[first, second]] : [],
    ),
  );
  const nodes = items.map(withoutCasts);
  const texts = nodes.map((node) => normalizeSpace(textOf(reader, node)));
  const isSame = ([first, second]: readonly [number, number]): boolean =>
    texts[first] === texts[second] && !mayChange(reader, nodes[first]!);
  return { scalars, aliases, samePointers: aliases.filter(isSame) };
}

/** The object that a pointer expression points into, as text: `d` of `d`, `d + n`, `&d[3]`, `(float*)d`. */
function baseOf(reader: Reader, expression: SyntaxNode, depth: number): string | undefined {
  const node = withoutCasts(expression);
  const inner = (field: string): string | undefined => {
    const child = childIn(node, field);
    return child && depth < 20 ? baseOf(reader, child, depth + 1) : undefined;
  };
  const itself = (place: SyntaxNode): string | undefined =>
    mayChange(reader, place) ? undefined : normalizeSpace(textOf(reader, place));
  switch (node.type) {
    case 'binary_expression': {
      const operator = childIn(node, 'operator')?.type;
      if (operator === '+') return inner('left') ?? inner('right');
      return operator === '-' ? inner('left') : undefined;
    }
    case 'pointer_expression': {
      const argument = childIn(node, 'argument');
      if (childIn(node, 'operator')?.type !== '&' || !argument) return itself(node);
      const place = stripParentheses(argument);
      const array = place.type === 'subscript_expression' ? childIn(place, 'argument') : undefined;
      return array ? baseOf(reader, array, depth + 1) : itself(place);
    }
    case 'call_expression': {
      const list = childIn(node, 'arguments');
      const callee = childIn(node, 'function');
      const items = list ? listItems(list) : [];
      const owner = callee && items.length === 0 ? ownerOf(reader, callee) : undefined;
      if (owner) return itself(owner);
      const isWrapper =
        callee && /\braw_pointer_cast$|^reinterpret_cast|^static_cast|^const_cast/.test(textOf(reader, callee));
      return isWrapper && items[0] && depth < 20 ? baseOf(reader, items[0], depth + 1) : undefined;
    }
    case 'identifier': {
      const name = textOf(reader, node);
      try {
        const variable = depth < 20 ? reader.evaluator.local(name, reader.scope) : undefined;
        const copied = variable && /\*|\bauto\b/.test(variable.type) ? variable.value : undefined;
        if (copied && !/_expression$|^identifier$/.test(copied.type)) return name;
        return (copied && copied.type !== 'call_expression' ? baseOf(reader, copied, depth + 1) : undefined) ?? name;
      } catch (error) {
        if (!(error instanceof NotConstant)) throw error;
        return name;
      }
    }
    case 'field_expression':
    case 'subscript_expression':
    case 'qualified_identifier':
      return itself(node);
  }
  return undefined;
}

/** Methods without arguments that give the memory of what they are called on; any other may give new memory each time. */
const accessor = /^(?:(?:mutable|const)_)?(?:data|data_ptr|c?begin|get|ptr|raw|buffer|device_ptr|device_pointer)$/i;

/** What such a method is called on: `v` of `v.data()`. */
function ownerOf(reader: Reader, callee: SyntaxNode): SyntaxNode | undefined {
  if (callee.type !== 'field_expression') return undefined;
  const method = childIn(callee, 'field');
  const name = method && withoutTemplateArguments(textOf(reader, method)).trim();
  return name !== undefined && accessor.test(name) ? childIn(callee, 'argument') : undefined;
}

/** Whether an expression may mean something else the next time it is evaluated: `bufs[j++]`, `pool.next()`. */
function mayChange(reader: Reader, expression: SyntaxNode): boolean {
  const changes = nodesWhere(expression, (node) => {
    if (node.type === 'update_expression' || node.type === 'assignment_expression') return true;
    if (node.type !== 'call_expression') return false;
    const callee = childIn(node, 'function');
    return !callee || (!ownerOf(reader, callee) && !/_cast\b/.test(textOf(reader, callee)));
  });
  return changes.length > 0;
}

function withoutCasts(expression: SyntaxNode): SyntaxNode {
  let node = stripParentheses(expression);
  while (node.type === 'cast_expression') {
    const value = childIn(node, 'value');
    if (!value) return node;
    node = stripParentheses(value);
  }
  return node;
}

/** Name and template arguments of the kernel that an expression names. */
function kernelOf(
  reader: Reader,
  expression: SyntaxNode,
  depth = 0,
): Pick<LaunchSite, 'kernel' | 'templateArguments'> | undefined {
  let node = withoutCasts(expression);
  if (node.type === 'pointer_expression' && childIn(node, 'operator')?.type === '&')
    node = childIn(node, 'argument') ?? node;
  if (node.type === 'call_expression') {
    const callee = childIn(node, 'function');
    const list = childIn(node, 'arguments');
    const first = list ? listItems(list)[0] : undefined;
    if (!callee || !first || !/_cast\b/.test(textOf(reader, callee))) return undefined;
    return kernelOf(reader, first, depth + 1);
  }
  if (node.type === 'identifier' && depth < 5) {
    try {
      const value = reader.evaluator.local(textOf(reader, node), reader.scope)?.value;
      if (value) return kernelOf(reader, value, depth + 1);
    } catch (error) {
      if (!(error instanceof NotConstant)) throw error;
    }
  }
  if (!/identifier$|^template_function$/.test(node.type)) return undefined;
  const template =
    node.type === 'template_function' ? node : nodesWhere(node, ({ type }) => type === 'template_function')[0];
  const list = template && childIn(template, 'arguments');
  const name = normalizeSpace(textOf(reader, node)).replace(/\s/g, '');
  const written = list ? listItems(list).map((item) => templateArgument(reader, item)) : [];
  return { kernel: name.replace(/<[^]*$/, '').replace(/^::/, ''), templateArguments: written };
}

function templateArgument({ source, evaluator, scope }: Reader, node: SyntaxNode): string | undefined {
  const text = normalizeSpace(source.text.slice(node.start, node.end));
  if (node.type === 'type_descriptor' && (integerType(text) ?? isFloatType(text))) return text;
  const named = node.type === 'type_descriptor' ? (childIn(node, 'type') ?? node) : node;
  try {
    const value = evaluator.evaluate({ node: named, text: source.text }, scope);
    return Array.isArray(value) || typeof value === 'number' ? undefined : String(value);
  } catch (error) {
    if (!(error instanceof NotConstant)) throw error;
    return undefined;
  }
}

/** Launches in macros and in text that the parser could not read: listed, never evaluated. */
function unparsedLaunches(source: CudaSource, covered: readonly SyntaxNode[]): LaunchSite[] {
  const sites: LaunchSite[] = [];
  const add = (before: string, offset: number, reason: string): void => {
    const [, kernel = ''] = /([A-Za-z_][\w:]*)\s*(?:<[^<>;]*>)?\s*$/.exec(before) ?? [];
    if (kernel === '') return;
    const unknown = (['block', 'grid', 'sharedBytes'] as const).map((property) => ({ property, reason }));
    const location = { file: source.file, ...positionAt(source.lineStarts, offset) };
    const text = `${kernel}<<<…>>>`;
    sites.push({ kernel, templateArguments: [], text, location, cooperative: false, unknown, scalars: new Map(), aliases: [], samePointers: [] }); // prettier-ignore
  };
  const isCovered = (offset: number): boolean => covered.some(({ start, end }) => start <= offset && offset < end);
  for (const { kind, text, start } of tokenize(source.text)) {
    if (kind === 'directive') {
      for (let at = text.indexOf('<<<'); at !== -1; at = text.indexOf('<<<', at + 3)) {
        add(text.slice(0, at), start + at, 'Selvage does not evaluate a launch inside a macro.');
      }
    } else if (
      text === '<' &&
      source.text.startsWith('<<<', start) &&
      source.text[start - 1] !== '<' &&
      !isCovered(start)
    ) {
      add(
        source.text.slice(Math.max(0, start - 200), start),
        start,
        'Selvage cannot parse the text around the launch.',
      );
    }
  }
  return sites;
}

function locate({ source }: Reader, node: SyntaxNode): Location {
  return { file: source.file, ...positionAt(source.lineStarts, node.start) };
}

/** The arguments of the last template in a qualified name. */
function templateArgumentsOf(name: string): string[] {
  if (!name.endsWith('>')) return [];
  const found: string[] = [''];
  let depth = 0;
  for (const character of name.slice(0, -1)) {
    if (character === ':' && depth === 0) found.splice(0, found.length, '');
    else if ('<(['.includes(character) && depth++ === 0) found.splice(0, found.length, '');
    else if ('>)]'.includes(character)) found.push(`${found.pop() ?? ''}${--depth > 0 ? character : ''}`);
    else if (character === ',' && depth === 1) found.push('');
    else if (depth > 0) found.push((found.pop() ?? '') + character);
  }
  return found.map((argument) => argument.trim());
}

/** Spelling by which two arguments can be told apart; undefined where they cannot. */
function canonicalArgument(argument: string): string | undefined {
  if (argument === 'true' || argument === 'false') return argument === 'true' ? '1' : '0';
  if (/^-?\d+$/.test(argument)) return argument;
  const kind = integerType(argument);
  if (kind) return `integer of ${kind.bytes} bytes, ${kind.signed ? 'signed' : 'unsigned'}`;
  return isFloatType(argument) ? basicTypeOf(argument) : undefined;
}
