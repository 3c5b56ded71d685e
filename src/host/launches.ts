/** Launches of a host program: the functions of the runtime and the driver that make them, and what they are given. */
import type { LaunchEvent } from '../cuda/launches/launch-event.ts';
import { termConstant } from '../assumptions/expression.ts';
import { type ChosenFunction, type HostValue, constantIn, functionsOf, termOf, valueKey } from '../cuda/launches/value.ts';
import type { HostType } from '../gimple/debug-types.ts';
import { type HostUnit, kernelSymbol } from './host-unit.ts';
import type { CallRequest, Passed } from './activation.ts';
import type { Interpreter } from './interpreter.ts';
import { type ObjectState, readScalar } from './object-contents.ts';
import type { HostLaunch } from './operations/host-operation.ts';
import type { State } from './state.ts';

type Configuration = Pick<LaunchEvent, 'grid' | 'block' | 'cluster' | 'shared' | 'cooperative' | 'startsEarly' | 'isProgrammatic'> & {
  readonly stream: HostValue | undefined;
};
type Launch = Omit<HostLaunch, 'entry' | 'location' | 'unit' | 'keepsAttributes'>;

/** One launch, of one of several kernels, and its stream; undefined if that is unknown. */
export interface MadeLaunch {
  readonly launches: readonly Launch[];
  readonly stream: HostValue | undefined;
}

/** Sizes of the parameters of kernels in bytes, by symbol. */
export type KernelParameters = ReadonlyMap<string, readonly number[]>;

/** Layout of `cudaLaunchConfig_t` and its attributes (`driver_types.h`), and of `CUlaunchConfig` (`cuda.h`), in bytes. */
const configurationLayout = { grid: 0, block: 12, shared: 24, stream: 32, attributes: 40, count: 48 };
const attributeLayout = { bytes: 72, id: 0, value: 8 };
/** Identifiers of attributes (`cudaLaunchAttributeID`). */
const attributeIds = { cooperative: 2n, cluster: 4n, programmaticSerialization: 6n, programmaticEvent: 7n };
/** Layout of `cudaKernelNodeParams`, in bytes. */
const nodeLayout = { function: 0, grid: 8, block: 20, shared: 32, parameters: 40 };
const maxAttributes = 16;

const unknownConfiguration: Configuration = {
  grid: undefined,
  block: undefined,
  shared: undefined,
  cluster: undefined,
  cooperative: undefined,
  startsEarly: true,
  stream: undefined,
};

/** The three extents in an object. */
function extentsIn(contents: ObjectState, offset: number, label: string): HostValue {
  const fields = new Map<string, HostValue>();
  const sources = new Set<string>();
  for (const [at, axis] of ['x', 'y', 'z'].entries()) {
    const { value } = readScalar(contents, offset + 4 * at, 4, `${label}.${axis}`);
    fields.set(
      axis,
      value.kind === 'symbol' && value.symbol.type === undefined
        ? { kind: 'symbol', symbol: { ...value.symbol, type: 'unsigned int' } }
        : value,
    );
    sources.add(value.kind === 'symbol' ? value.symbol.id.replace(/\+\d+:4$/, '') : String(at));
  }
  // Extents that are those of an unknown object specify none.
  const isWhole = sources.size === 1 && [...fields.values()].every((value) => value.kind === 'symbol' && /\+\d+:4$/.test(value.symbol.id));
  return { kind: 'record', fields, rest: { id: `extents ${[...sources].join()}`, label, ...(isWhole ? { type: 'dim3' } : {}) } };
}

function extentsOfPassed(passed: Passed | undefined): HostValue | undefined {
  if (passed?.kind !== 'bytes') return undefined;
  return extentsIn({ base: { kind: 'unknown', symbol: { id: 'no bytes', label: 'dim3' } }, cells: passed.cells }, 0, 'dim3');
}

function scalarOf(passed: Passed | undefined): HostValue | undefined {
  return passed?.kind === 'scalar' ? passed.value : undefined;
}

/** A value that a kernel is given: scalars, and records by the names of their members. */
function argumentOf(passed: Passed): HostValue {
  if (passed.kind === 'scalar')
    return passed.value.kind === 'either' ? { kind: 'symbol', symbol: { id: valueKey(passed.value), label: 'a pointer' } } : passed.value;
  const contents: ObjectState = { base: { kind: 'unknown', symbol: { id: 'no bytes', label: 'an argument' } }, cells: passed.cells };
  return valueAt(contents, 0, passed.type, 'an argument');
}

function valueAt(contents: ObjectState, offset: number, type: HostType, label: string): HostValue {
  switch (type.kind) {
    case 'integer':
    case 'float':
    case 'pointer': {
      const { value } = readScalar(contents, offset, type.kind === 'pointer' ? 8 : type.bytes, label);
      if (value.kind !== 'symbol') return value;
      return type.kind === 'pointer' ? value : { kind: 'symbol', symbol: { ...value.symbol, type: type.name } };
    }
    case 'record': {
      const fields = new Map<string, HostValue>();
      for (const member of type.members) {
        const own = valueAt(contents, offset + member.offset, member.type, member.name);
        if (member.name !== '') fields.set(member.name, own);
        else if (own.kind === 'record') for (const [name, value] of own.fields) fields.set(name, value);
      }
      return { kind: 'record', fields, rest: { id: `${label} ${contents.cells.length}`, label } };
    }
    default:
      return { kind: 'symbol', symbol: { id: `${label}+${offset}`, label } };
  }
}

/** Reads what launch functions are given. */
export class LaunchReader {
  readonly #host: Interpreter;
  readonly #parameters: KernelParameters;

  constructor(host: Interpreter, parameters: KernelParameters) {
    this.#host = host;
    this.#parameters = parameters;
  }

  /** `__cudaPushCallConfiguration(grid, block, shared, stream)`: what `<<<…>>>` becomes before the call of the kernel. */
  configure({ given, activation }: CallRequest, state: State): void {
    const [grid, block, shared, stream] = given;
    const unknown: HostValue = { kind: 'symbol', symbol: this.#host.objects.freshSymbol('dim3', 'dim3') };
    state.configuration = {
      grid: extentsOfPassed(grid) ?? unknown,
      block: extentsOfPassed(block) ?? unknown,
      shared: scalarOf(shared) ?? this.#host.objects.fresh('bytes of shared memory'),
      stream: scalarOf(stream),
      within: activation,
    };
  }

  /** A call of a kernel's stub with a configuration. */
  chevron(request: CallRequest, state: State): MadeLaunch {
    const { grid, block, shared, stream } = state.configuration!;
    const configured: Configuration = {
      grid,
      block,
      shared,
      cluster: undefined,
      cooperative: false,
      startsEarly: false,
      stream,
    };
    return this.#launches(request.callees, configured, request.given.map(argumentOf), state);
  }

  /** A call of a function that launches; null for any other function. */
  call(name: string, { given, activation }: CallRequest, state: State): MadeLaunch | null {
    const from = activation.unit;
    switch (name) {
      case 'cudaLaunchKernel':
      case 'cudaLaunchKernel_ptsz':
      case 'cudaLaunchCooperativeKernel':
      case 'cudaLaunchCooperativeKernel_ptsz': {
        const kernels = kernelsOf(scalarOf(given[0]));
        const configured = {
          grid: extentsOfPassed(given[1]),
          block: extentsOfPassed(given[2]),
          shared: scalarOf(given[4]),
          cluster: undefined,
          cooperative: name.includes('Cooperative'),
          startsEarly: false,
          stream: scalarOf(given[5]),
        };
        return this.#launchesOf(kernels, configured, scalarOf(given[3]), from, state);
      }
      case 'cudaLaunchKernelExC':
      case 'cudaLaunchKernelExC_ptsz': {
        const contents = this.#pointed(scalarOf(given[0]), state);
        const configured = this.#configurationIn(contents, state, (at) => contents && extentsIn(contents, at, 'dim3'));
        return this.#launchesOf(kernelsOf(scalarOf(given[1])), configured, scalarOf(given[2]), from, state);
      }
      case 'cuLaunchKernel':
      case 'cuLaunchCooperativeKernel': {
        const extents = (from: number): HostValue | undefined => recordOf(given.slice(from, from + 3).map(scalarOf));
        const configured = {
          grid: extents(1),
          block: extents(4),
          shared: scalarOf(given[7]),
          cluster: undefined,
          cooperative: name !== 'cuLaunchKernel',
          startsEarly: false,
          stream: scalarOf(given[8]),
        };
        return this.#launchesOf(kernelsOf(scalarOf(given[0])), configured, scalarOf(given[9]), from, state);
      }
      case 'cuLaunchKernelEx': {
        const contents = this.#pointed(scalarOf(given[0]), state);
        const configured = this.#configurationIn(contents, state, (at) => contents && extentsIn(contents, at, 'dim3'));
        return this.#launchesOf(kernelsOf(scalarOf(given[1])), configured, scalarOf(given[2]), from, state);
      }
      case 'cudaGraphAddKernelNode':
      case 'cudaGraphKernelNodeSetParams':
      case 'cudaGraphExecKernelNodeSetParams':
        return this.#node(scalarOf(given.at(-1)), 0, from, state);
      case 'cudaGraphAddNode':
      case 'cudaGraphAddNode_v2':
      case 'cudaGraphNodeSetParams':
      case 'cudaGraphExecNodeSetParams': {
        const contents = this.#pointed(scalarOf(given.at(-1)), state);
        const kind = contents ? termOf(readScalar(contents, 0, 4, 'type').value) : null;
        const constant = kind ? termConstant(kind) : undefined;
        // `cudaGraphNodeTypeKernel` is 0.
        if (constant !== undefined && constant !== 0n) return { launches: [], stream: undefined };
        return this.#node(scalarOf(given.at(-1)), 16, from, state);
      }
      default:
        return /^(?:cu(?:da)?Launch\w*Kernel\w*|cu(?:da)?Graph\w*Kernel\w*Params\w*|cuGraphAddKernelNode\w*|cudaLaunchDevice\w*)$/.test(
          name,
        ) && !/Get/.test(name)
          ? this.#launches([], unknownConfiguration, undefined, state)
          : null;
    }
  }

  #node(parameters: HostValue | undefined, start: number, from: HostUnit, state: State): MadeLaunch {
    const contents = this.#pointed(parameters, state);
    const at = (offset: number, bytes: number): HostValue | undefined =>
      contents ? readScalar(contents, start + offset, bytes, 'a parameter').value : undefined;
    const extents = (offset: number): HostValue | undefined => contents && extentsIn(contents, start + offset, 'dim3');
    const configured = {
      grid: extents(nodeLayout.grid),
      block: extents(nodeLayout.block),
      shared: at(nodeLayout.shared, 4),
      cluster: undefined,
      cooperative: false,
      startsEarly: true,
      stream: undefined,
    };
    return this.#launchesOf(kernelsOf(at(nodeLayout.function, 8)), configured, at(nodeLayout.parameters, 8), from, state);
  }

  /** Contents of the object that an address points to; undefined if it is unknown which. */
  #pointed(address: HostValue | undefined, state: State): ObjectState | undefined {
    const place =
      address && (address.kind === 'pointer' || address.kind === 'symbol') ? this.#host.objects.placeAt(address, 'a parameter') : null;
    const start = place?.offset ? termConstant(place.offset) : undefined;
    if (!place || start === undefined) return undefined;
    const contents = this.#host.objects.contents(place.object, state);
    if (start === 0n) return contents;
    const shift = Number(start);
    const moved = contents.cells.filter(({ offset }) => offset >= shift).map((cell) => ({ ...cell, offset: cell.offset - shift }));
    return {
      base:
        contents.base.kind === 'zero'
          ? contents.base
          : { kind: 'unknown', symbol: { ...contents.base.symbol, id: `${contents.base.symbol.id} from ${shift}` } },
      cells: moved,
    };
  }

  #configurationIn(contents: ObjectState | undefined, state: State, extents: (at: number) => HostValue | undefined): Configuration {
    if (!contents) return unknownConfiguration;
    const { grid, block, shared, stream, attributes, count } = configurationLayout;
    const read = (from: ObjectState, at: number, bytes: number): HostValue => readScalar(from, at, bytes, 'a parameter').value;
    const common = {
      grid: extents(grid),
      block: extents(block),
      shared: read(contents, shared, 8),
      stream: read(contents, stream, 8),
    };
    const number = constantIn(read(contents, count, 4));
    if (number === 0n) return { ...common, cluster: undefined, cooperative: false, startsEarly: false };
    const list = this.#pointed(read(contents, attributes, 8), state);
    if (number === undefined || !list || number > maxAttributes)
      return { ...common, cluster: undefined, cooperative: undefined, startsEarly: true };
    let cluster: HostValue | undefined;
    let cooperative: boolean | undefined = false;
    let startsEarly = false;
    let isProgrammatic = false;
    for (let index = 0; index < Number(number); index++) {
      const at = index * attributeLayout.bytes;
      const id = constantIn(read(list, at + attributeLayout.id, 4));
      const on = (): bigint | undefined => constantIn(read(list, at + attributeLayout.value, 4));
      if (id === attributeIds.cluster) cluster = extentsIn(list, at + attributeLayout.value, 'cluster');
      else if (id === attributeIds.cooperative) cooperative = on() === undefined ? undefined : on() !== 0n;
      else if (id === attributeIds.programmaticSerialization) {
        startsEarly ||= on() !== 0n;
        isProgrammatic ||= (on() ?? 0n) !== 0n;
      } else if (id === attributeIds.programmaticEvent) startsEarly = true;
      else if (id === undefined) [cooperative, startsEarly] = [undefined, true];
    }
    return { ...common, cluster, cooperative, startsEarly, ...(isProgrammatic ? { isProgrammatic } : {}) };
  }

  #launchesOf(
    kernels: readonly ChosenFunction[],
    configured: Configuration,
    list: HostValue | undefined,
    from: HostUnit,
    state: State,
  ): MadeLaunch {
    if (kernels.length === 0) return this.#launches(kernels, configured, undefined, state);
    const { stream } = configured;
    const launches = kernels.flatMap(
      (kernel) => this.#launches([kernel], configured, this.#arguments(kernel, list, from, state), state).launches,
    );
    return { launches, stream };
  }

  /** The values that an array of addresses points to; undefined if they are unknown. */
  #arguments(kernel: ChosenFunction, list: HostValue | undefined, from: HostUnit, state: State): readonly HostValue[] | undefined {
    const addresses = this.#pointed(list, state);
    const found = this.#host.program.resolve(kernel.name, from);
    const stub = found?.unit.functionOf(found.symbol);
    const types = found && stub?.parameters.map((one) => found.unit.types.typeOf(one.type));
    const sizes = this.#parameters.get(kernelSymbol(kernel.name));
    const count = types?.length ?? sizes?.length;
    if (!addresses || count === undefined) return undefined;
    return Array.from({ length: count }, (_, index): HostValue => {
      const address = readScalar(addresses, 8 * index, 8, 'an address').value;
      const contents = this.#pointed(address, state);
      const unknown = this.#host.objects.fresh('an argument');
      if (!contents) return unknown;
      const type = types?.[index];
      if (type && type.kind !== 'opaque' && type.kind !== 'array') return valueAt(contents, 0, type, 'an argument');
      const bytes = sizes?.[index];
      return bytes === undefined || bytes > 8 ? unknown : readScalar(contents, 0, bytes, 'an argument').value;
    });
  }

  #launches(
    kernels: readonly ChosenFunction[],
    { stream, ...configured }: Configuration,
    given: readonly HostValue[] | undefined,
    state: State,
  ): MadeLaunch {
    const list = kernels.length > 0 ? kernels : [{ name: '', facts: [] }];
    const isInOrder = this.#host.program.isInOrder;
    const launches = list.map(({ name, facts }) => ({
      kernel: kernelSymbol(name),
      ...configured,
      arguments: given,
      facts: [...state.facts, ...facts],
      contents: isInOrder ? state.contents : new Map(),
    }));
    return { launches, stream };
  }
}

/** The kernels that a value denotes; none if it is unknown. */
function kernelsOf(value: HostValue | undefined): readonly ChosenFunction[] {
  return (value && functionsOf(value)) ?? [];
}

function recordOf(values: readonly (HostValue | undefined)[]): HostValue | undefined {
  if (values.length < 3 || values.includes(undefined)) return undefined;
  const fields = new Map(values.map((value, at): [string, HostValue] => ['xyz'[at]!, value!]));
  return { kind: 'record', fields, rest: { id: 'extents', label: 'extents' } };
}
