/** Recognises the forms of a launch in host code. */
import { childIn, childOf, listItems, stripParentheses, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { sourceTextOf } from '../declarations/declarations.ts';
import { functionNamed } from './expressions.ts';
import { typeOfExpression } from './expression-type.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type Frame, type Interpreter, type LaunchEvent, type State, partOf, typeText } from './interpreter.ts'; // oxfmt-ignore
import { termConstant, integer } from './term.ts';
import { type HostFunction, type HostValue, integerValue, symbolOf, termOf, valueKey } from './value.ts';

type Configuration = Pick<LaunchEvent, 'grid' | 'block' | 'cluster' | 'shared' | 'cooperative' | 'startsEarly'>;

/** If a program uses these names, nodes of a graph may start before their dependencies have ended. */
const programmaticEdge = /\b(?:cudaGraphDependencyTypeProgrammatic|CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)\b/;

/** `k<<<grid, block, shared, stream>>>(…)` */
export function readChevronLaunch(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): void {
  const callee = childIn(node, 'function');
  const configuration = childOf(node, 'kernel_call_syntax');
  if (!callee || !configuration) return;
  const [grid, block, shared] = listItems(configuration).map((item) => valueOf(item, state, frame, host));
  const list = childIn(node, 'arguments');
  const items = list ? host.expand(listItems(list), frame) : [];
  const given = partsApart(items, items.map((item) => host.evaluate(item, state, frame)), host); // oxfmt-ignore
  const configured = { grid, block, shared: shared ?? integerValue(integer(0)), cluster: undefined, cooperative: false, startsEarly: false }; // oxfmt-ignore
  const { aliases } = host.declarations;
  const types = items.map((item) => {
    const type = typeOfExpression(item, state, frame, host);
    return type === undefined ? undefined : resolvedType(typeText(type, frame), aliases);
  });
  emit(node, kernelsOf(callee, state, frame, host), configured, given, state, frame, host, types);
}

/**
 * Arguments that are different parts of one object, as an allocator returns them (`arena.take(n), arena.take(n)`): the
 * allocator makes them disjoint, so they are not recorded as pointers into a common object.
 */
function partsApart(items: readonly SyntaxNode[], given: readonly HostValue[], host: Interpreter): HostValue[] {
  const isCall = items.map((item) => stripParentheses(item).type === 'call_expression');
  const isPointer = ({ kind }: HostValue): boolean => kind === 'pointer' || kind === 'symbol';
  return given.map((value, index) => {
    if (!isCall[index] || !isPointer(value)) return value;
    const { id, label } = symbolOf(value);
    const isPart = given.some((other, at) => at !== index && isCall[at] && isPointer(other) && symbolOf(other).id === id && valueKey(other) !== valueKey(value)); // oxfmt-ignore
    return isPart ? host.symbol(label) : value;
  });
}

function valueOf(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  // `{16, 16}` without a context parses as a literal without a type.
  const type = childIn(node, 'type');
  const isBare = node.type === 'compound_literal_expression' && (!type || type.start === type.end);
  const list = isBare ? (childIn(node, 'value') ?? node) : node;
  if (list.type !== 'initializer_list') return host.evaluate(node, state, frame);
  const fields = new Map(listItems(list).map((item, at): [string, HostValue] => ['xyz'[at] ?? '', host.evaluate(item, state, frame)])); // oxfmt-ignore
  for (const axis of ['x', 'y', 'z']) if (!fields.has(axis)) fields.set(axis, integerValue(integer(1)));
  return { kind: 'record', fields, rest: { id: `list ${node.start}`, label: 'dim3' } };
}

const launchCall =
  /^(?:cudaLaunchKernel|cudaLaunchCooperativeKernel|cudaLaunchKernelExC?|cuLaunchKernel|cuLaunchCooperativeKernel|cuLaunchKernelEx|cudaGraphAddKernelNode|cudaGraph(?:Exec)?KernelNodeSetParams|cudaGraphAddNode)$/;

/** A call of a function that launches a kernel. @returns whether it is one */
export function readLaunchCall(
  name: string,
  node: SyntaxNode,
  items: readonly SyntaxNode[],
  state: State,
  frame: Frame,
  host: Interpreter,
): boolean {
  if (!launchCall.test(name)) return false;
  const at = (index: number): HostValue | undefined => (items[index] ? host.evaluate(items[index], state, frame) : undefined); // oxfmt-ignore
  const kernel = (index: number): HostFunction[] => (items[index] ? kernelsOf(items[index], state, frame, host) : []);
  const send = (
    kernels: readonly HostFunction[],
    configured: Configuration,
    given: readonly HostValue[] | undefined,
    isLater = false,
  ): void => emit(node, kernels, configured, given, state, frame, host, [], isLater);
  switch (name) {
    case 'cudaLaunchKernel':
    case 'cudaLaunchCooperativeKernel': {
      const configured = { grid: listValue(1), block: listValue(2), shared: at(4) ?? integerValue(integer(0)), cluster: undefined, cooperative: name === 'cudaLaunchCooperativeKernel', startsEarly: false }; // oxfmt-ignore
      send(kernel(0), configured, pointed(at(3), state, host));
      break;
    }
    case 'cudaLaunchKernelExC':
    case 'cudaLaunchKernelEx': {
      const given = name === 'cudaLaunchKernelExC' ? pointed(at(2), state, host) : items.slice(2).map((item) => host.evaluate(item, state, frame)); // oxfmt-ignore
      send(kernel(1), configurationOf(target(at(0), state, host), state, host), given);
      break;
    }
    case 'cuLaunchKernel':
    case 'cuLaunchCooperativeKernel': {
      const configured = { grid: record([at(1), at(2), at(3)]), block: record([at(4), at(5), at(6)]), shared: at(7), cluster: undefined, cooperative: name !== 'cuLaunchKernel', startsEarly: false }; // oxfmt-ignore
      send(kernel(0), configured, pointed(at(9), state, host));
      break;
    }
    case 'cuLaunchKernelEx': {
      const value = target(at(0), state, host);
      const part = (field: string): HostValue | undefined => value && partOf(value, [field]);
      const axes = (stem: string): HostValue | undefined =>
        record(['X', 'Y', 'Z'].map((axis) => part(`${stem}Dim${axis}`)));
      const configured = { ...configurationOf(value, state, host), grid: axes('grid'), block: axes('block'), shared: part('sharedMemBytes') }; // oxfmt-ignore
      send(kernel(1), configured, pointed(at(2), state, host));
      break;
    }
    default: {
      const index = { cudaGraphAddKernelNode: 4, cudaGraphKernelNodeSetParams: 1, cudaGraphExecKernelNodeSetParams: 2 }[name] ?? items.length - 1; // oxfmt-ignore
      const whole = target(at(index), state, host);
      const value = whole && name === 'cudaGraphAddNode' ? partOf(whole, ['kernel']) : whole;
      const called = value && partOf(value, ['func']);
      const kind = whole && name === 'cudaGraphAddNode' ? partOf(whole, ['type']) : undefined;
      const isOther = kind?.kind === 'symbol' && /^cudaGraphNodeType(?!Kernel$)\w/.test(kind.symbol.label);
      if (!value || isOther) break;
      const configured = { grid: partOf(value, ['gridDim']), block: partOf(value, ['blockDim']), shared: partOf(value, ['sharedMemBytes']), cluster: undefined, cooperative: false, startsEarly: programmaticEdge.test(host.declarations.text) }; // oxfmt-ignore
      send(
        called?.kind === 'function' ? alternatives(called) : [],
        configured,
        pointed(partOf(value, ['kernelParams']), state, host),
        true,
      );
    }
  }
  return true;

  function listValue(index: number): HostValue | undefined {
    return items[index] ? valueOf(items[index], state, frame, host) : undefined;
  }
}

function record(values: readonly (HostValue | undefined)[]): HostValue | undefined {
  if (values.includes(undefined)) return undefined;
  const fields = new Map(values.map((value, at): [string, HostValue] => ['xyz'[at] ?? '', value!]));
  return { kind: 'record', fields, rest: { id: 'extents', label: 'extents' } };
}

/** The object that an address points to. */
function target(value: HostValue | undefined, state: State, host: Interpreter): HostValue | undefined {
  return value?.kind === 'place' ? host.read({ kind: 'cell', cell: value.cell, path: value.path }, state) : value;
}

/** `cudaLaunchConfig_t` with its attributes. */
function configurationOf(value: HostValue | undefined, state: State, host: Interpreter): Configuration {
  if (!value)
    return { grid: undefined, block: undefined, shared: undefined, cluster: undefined, cooperative: undefined, startsEarly: true }; // oxfmt-ignore
  const common = { grid: partOf(value, ['gridDim']), block: partOf(value, ['blockDim']), shared: partOf(value, ['dynamicSmemBytes']) }; // oxfmt-ignore
  const count = termOf(partOf(value, ['numAttrs']));
  const number = count === null ? undefined : termConstant(count);
  if (number === undefined) return { ...common, cluster: undefined, cooperative: undefined, startsEarly: true };
  const list = partOf(value, ['attrs']);
  let cluster: HostValue | undefined;
  let cooperative: boolean | undefined = false;
  let startsEarly = false;
  for (let index = 0; index < Number(number) && index < 16; index++) {
    const attribute = elementOf(list, index, state, host);
    const id = attribute && partOf(attribute, ['id']);
    // A name of the runtime or the driver; a variable may denote any attribute.
    const which = id?.kind === 'symbol' && id.symbol.id === `name ${id.symbol.label}` ? id.symbol.label : '';
    if (/ClusterDimension$|CLUSTER_DIMENSION$/.test(which) && attribute)
      cluster = partOf(attribute, ['val', 'clusterDim']);
    else if (/Cooperative$|COOPERATIVE$/.test(which) && attribute) {
      const on = termOf(partOf(attribute, ['val', 'cooperative']));
      const known = on === null ? undefined : termConstant(on);
      cooperative = known === undefined ? undefined : known !== 0n;
    } else if (attribute && /ProgrammaticStreamSerialization$|PROGRAMMATIC_STREAM_SERIALIZATION$/.test(which)) {
      const on = termOf(partOf(attribute, ['val', 'programmaticStreamSerializationAllowed']));
      startsEarly ||= on === null || termConstant(on) !== 0n;
    } else if (/ProgrammaticEvent$|PROGRAMMATIC_EVENT$/.test(which)) startsEarly = true;
    else if (which === '') [cooperative, startsEarly] = [undefined, true];
  }
  return { ...common, cluster, cooperative, startsEarly };
}

function elementOf(list: HostValue, index: number, state: State, host: Interpreter): HostValue | undefined {
  if (list.kind === 'record') return partOf(list, [String(index)]);
  if (list.kind !== 'place') return undefined;
  if (list.path.at(-1) === '0') {
    const array = host.read({ kind: 'cell', cell: list.cell, path: list.path.slice(0, -1) }, state);
    return partOf(array, [String(index)]);
  }
  const whole = host.read({ kind: 'cell', cell: list.cell, path: list.path }, state);
  // The address of one attribute.
  if (whole.kind === 'record' && (whole.fields.has('id') || whole.fields.has('val')))
    return index === 0 ? whole : undefined;
  return partOf(whole, [String(index)]);
}

/** The values that an array of addresses points to: `void* args[] = { &a, &n };`. Undefined if unknown. */
function pointed(value: HostValue | undefined, state: State, host: Interpreter): readonly HostValue[] | undefined {
  let list = value;
  if (list?.kind === 'place') {
    const path = list.path.at(-1) === '0' ? list.path.slice(0, -1) : list.path;
    list = host.read({ kind: 'cell', cell: list.cell, path }, state);
  }
  if (list?.kind !== 'record') return undefined;
  const values: HostValue[] = [];
  for (let index = 0; list.fields.has(String(index)); index++) {
    const address = list.fields.get(String(index))!;
    values.push(target(address, state, host) ?? address);
  }
  return values.length > 0 ? values : undefined;
}

/** The kernels that an expression may denote. */
function kernelsOf(expression: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostFunction[] {
  const node = stripParentheses(expression);
  const value = host.evaluate(node, state, frame);
  if (value.kind === 'function') return alternatives(value);
  if (value.kind === 'place') {
    const inner = host.read({ kind: 'cell', cell: value.cell, path: value.path }, state);
    return inner.kind === 'function' ? alternatives(inner) : [];
  }
  // An unknown element of a table of functions may be any of them.
  const array = node.type === 'subscript_expression' ? childIn(node, 'argument') : undefined;
  const table = array && host.evaluate(array, state, frame);
  if (table?.kind === 'record') {
    const entries = [...table.fields.values()].flatMap((entry) =>
      entry.kind === 'function' ? alternatives(entry) : [],
    );
    if (entries.length > 0) return entries;
  }
  const written = sourceTextOf(host.declarations.text, node).replace(/\s/g, '');
  const isVariable = host.lookUp(written, frame, state) !== undefined;
  if (!/^(?:identifier|qualified_identifier|template_function)$/.test(node.type) || isVariable) return [];
  return [functionNamed(node, written.replace(/<[^]*$/, ''), state, frame, host)];
}

function alternatives(value: HostFunction): HostFunction[] {
  return [value, ...(value.others ?? [])];
}

function emit(
  node: SyntaxNode,
  kernels: readonly HostFunction[],
  configured: Configuration,
  given: readonly HostValue[] | undefined,
  state: State,
  frame: Frame,
  host: Interpreter,
  argumentTypes: readonly (string | undefined)[] = [],
  isLater = false,
): void {
  const { text } = host.declarations;
  const configuration = childOf(node, 'kernel_call_syntax');
  const written = sourceTextOf(text, node);
  const shown = configuration ? sourceTextOf(text, { ...node, end: configuration.end }) : written;
  const list = kernels.length > 0 ? kernels : [{ kind: 'function' as const, name: '', templateArguments: [] }];
  for (const { name, templateArguments, isByName } of list) {
    host.emit({
      kind: 'launch',
      node,
      text: shown,
      kernel: { name, templateArguments },
      isByName: isByName === true,
      path: frame.function?.path ?? [],
      ...configured,
      arguments: given,
      argumentTypes,
      facts: state.facts,
      symbolFacts: host.knownFacts(),
      contents: isLater ? new Map() : host.contentsIn(state),
    });
  }
  host.endContents(state, true);
}
