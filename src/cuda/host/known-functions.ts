/** Functions of CUDA and C++ on whose results or effects launches depend. */
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import { sourceTextOf } from '../declarations/declarations.ts';
import { type HostArgument, type Interpreter, type State, assume } from './interpreter.ts';
import { type HostTerm, arithmetic, choice, compared, integer, one, zeroTerm } from './term.ts';
import { type HostValue, ceilingOf, factOf, hostField, integerValue, quotientOf, termOf } from './value.ts';

/** An upper limit, far above any GPU: a bound is needed to prove that index arithmetic does not wrap around. */
const maxMultiprocessors = 65_535;
/**
 * Maximum number of blocks that a multiprocessor of any GPU can execute at once (CUDA programming guide, compute
 * capabilities: 32), with a margin.
 */
const maxBlocks = 64;

/** Maxima of fields of `cudaDeviceProp`; the minimum of each is 1. */
const devicePropertyLimits: readonly (readonly [string, number])[] = [
  ['multiProcessorCount', maxMultiprocessors],
  ['maxThreadsPerBlock', 1024],
  ['maxThreadsPerMultiProcessor', 4096],
];

function within(term: HostTerm, most: number, host: Interpreter): void {
  host.know(compared('>=', term, one));
  host.know(compared('<=', term, integer(most)));
}

/** The memory of the program that a `cudaResourceDesc` binds a texture to, if any. */
function boundTexture(resource: HostValue | undefined): HostValue | null {
  if (!resource) return null;
  const kind = hostField(resource, 'resType');
  const [, name = ''] = kind.kind === 'symbol' ? (/^cudaResourceType(\w+)$/.exec(kind.symbol.label) ?? []) : [];
  const path = ({ Array: ['array', 'array'], MipmappedArray: ['mipmap', 'mipmap'], Linear: ['linear', 'devPtr'], Pitch2D: ['pitch2D', 'devPtr'] } as const)[name]; // oxfmt-ignore
  const memory = path && ['res', ...path].reduce((value, field) => hostField(value, field), resource);
  return memory?.kind === 'pointer' && memory.memory.isAllocation ? { kind: 'texture', memory: memory.memory } : null;
}

/** The object that an address points to. */
function target(value: HostValue, state: State, host: Interpreter): HostValue | undefined {
  return value.kind === 'place' ? host.read({ kind: 'cell', cell: value.cell, path: value.path }, state) : undefined;
}

/** The result of a call of a known function; null for any other function. */
export function callKnown(
  name: string,
  given: readonly HostArgument[],
  items: readonly SyntaxNode[],
  state: State,
  host: Interpreter,
): HostValue | null {
  const [first, second, third, fourth] = given;
  const a = first && termOf(first.value);
  const b = second && termOf(second.value);
  const label = (): string =>
    items[0] ? sourceTextOf(host.declarations.text, items[0]).replace(/^(?:\(void\s*\*+\))?\s*&/, '') : name;
  const write = (argument: HostArgument | undefined, value: HostValue): void => {
    if (argument?.value.kind === 'place')
      host.write({ kind: 'cell', cell: argument.value.cell, path: argument.value.path }, value, state);
  };
  const allocate = (bytes: HostTerm | null | undefined): HostValue => ({
    kind: 'pointer',
    memory: host.memory(label(), bytes ?? undefined),
    offset: zeroTerm,
  });
  const done = (): HostValue => host.symbol(`${name}()`, 'cudaError_t');
  switch (name) {
    case 'cudaMalloc': {
      const memory = allocate(b);
      write(first, memory.kind === 'pointer' ? { ...memory, memory: { ...memory.memory, isOfDevice: true } } : memory);
      return done();
    }
    case 'cudaMallocManaged':
    case 'cudaMallocHost':
    case 'cudaHostAlloc':
    case 'cudaMallocAsync':
    case 'cuMemAlloc':
    case 'cuMemAllocManaged':
      write(first, allocate(b));
      return done();
    case 'cudaMallocPitch': {
      const pitch = host.symbol('pitch', 'size_t');
      const [bytes, width, height] = [termOf(pitch), third && termOf(third.value), fourth && termOf(fourth.value)];
      if (bytes && width) host.know(compared('>=', bytes, width));
      write(first, allocate(bytes && height ? arithmetic('*', bytes, height) : null));
      write(second, pitch);
      return done();
    }
    case 'cudaMallocArray':
    case 'cudaMalloc3DArray':
    case 'cudaMallocMipmappedArray':
      write(first, allocate(null));
      return done();
    case 'cudaCreateTextureObject': {
      const texture = boundTexture(second && target(second.value, state, host));
      write(first, texture ?? host.symbol(label(), 'cudaTextureObject_t'));
      return done();
    }
    case 'malloc':
      return allocate(a);
    case 'calloc':
      return allocate(a && b && arithmetic('*', a, b));
    case 'cudaOccupancyMaxPotentialBlockSize':
    case 'cudaOccupancyMaxPotentialBlockSizeVariableSMem':
    case 'cuOccupancyMaxPotentialBlockSize': {
      const [grid, block] = [
        host.symbol('grid of the most blocks', 'int'),
        host.symbol('block of the most threads', 'int'),
      ];
      const [blocks, threads] = [termOf(grid), termOf(block)];
      if (blocks) host.know(compared('>=', blocks, one));
      if (threads) {
        host.know(compared('>=', threads, integer(32)));
        host.know(compared('<=', threads, integer(1024)));
        const rest = arithmetic('%', threads, integer(32));
        if (rest) host.know(compared('==', rest, zeroTerm));
      }
      write(first, grid);
      write(second, block);
      return done();
    }
    case 'cudaGetDeviceProperties':
    case 'cudaGetDeviceProperties_v2': {
      const properties = host.symbol('properties of the device');
      for (const [field, most] of devicePropertyLimits) {
        const value = termOf(hostField(properties, field));
        if (value) within(value, most, host);
      }
      write(first, properties);
      return done();
    }
    case 'cudaOccupancyMaxActiveBlocksPerMultiprocessor':
    case 'cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags':
    case 'cudaDeviceGetAttribute':
    case 'cuDeviceGetAttribute': {
      const value = host.symbol(label(), 'int');
      const term = termOf(value);
      const isBlocks = name.startsWith('cudaOccupancy');
      const attribute = items[1] ? sourceTextOf(host.declarations.text, items[1]) : '';
      const isCount = /(?:MultiProcessorCount|MULTIPROCESSOR_COUNT)$/.test(attribute);
      // If no block fits, nothing is launched.
      if (term && isBlocks) for (const fact of [compared('>=', term, zeroTerm), compared('<=', term, integer(maxBlocks))]) host.know(fact); // oxfmt-ignore
      if (term && isCount) within(term, maxMultiprocessors, host);
      write(first, value);
      return done();
    }
    case 'cudaGetDevice':
    case 'cudaGetDeviceCount':
    case 'cudaDriverGetVersion':
    case 'cudaRuntimeGetVersion':
      write(first, host.symbol(label(), 'int'));
      return done();
    case 'cuModuleGetFunction':
    case 'cuLibraryGetKernel':
      if (third?.value.kind === 'text')
        write(first, { kind: 'function', name: third.value.text, templateArguments: [], isByName: true });
      return done();
    case 'cudaGetFuncBySymbol':
    case 'cuKernelGetFunction':
      if (second?.value.kind === 'function') write(first, second.value);
      return done();
    case 'cudaGetSymbolAddress':
      write(first, { kind: 'symbol', symbol: { id: `symbol ${items[1] ? sourceTextOf(host.declarations.text, items[1]) : ''}`, label: label() } }); // oxfmt-ignore
      return done();
    case 'min':
    case 'max':
    case 'fmin':
    case 'fmax':
    case 'fminf':
    case 'fmaxf': {
      if (given.length !== 2 || !a || !b || !first || !second) return null;
      const isLess = compared('<', a, b);
      const isMinimum = name.includes('min');
      if (first.value.kind === 'quotient' || second.value.kind === 'quotient') return null;
      const value = isMinimum ? choice(isLess, a, b) : choice(isLess, b, a);
      return value && integerValue(value);
    }
    case 'ceil':
    case 'ceilf': {
      const value = first && ceilingOf(first.value);
      return value ? { kind: 'quotient', numerator: value, denominator: one } : null;
    }
    case 'floor':
    case 'floorf':
    case 'trunc':
    case 'truncf': {
      const quotient = first && quotientOf(first.value);
      const value = quotient && arithmetic('/', quotient.numerator, quotient.denominator);
      return value ? { kind: 'quotient', numerator: value, denominator: one } : null;
    }
    case 'abs':
    case 'labs': {
      const minus = a && arithmetic('-', zeroTerm, a);
      const value = a && minus && choice(compared('<', a, zeroTerm), minus, a);
      return value ? integerValue(value) : null;
    }
    case 'swap': {
      if (!first?.place || !second?.place) return null;
      host.write(first.place, second.value, state);
      host.write(second.place, first.value, state);
      return host.symbol('swap');
    }
    case 'move':
    case 'forward':
    case 'raw_pointer_cast':
    case '__builtin_expect':
    case 'as_const':
      return first?.value ?? null;
    case 'assert':
      if (first) assume(state, factOf(first.value));
      return host.symbol('assert');
  }
  const vector = /^make_(?:u?(?:char|short|int|long|longlong)|float|double)([1-4])$/.exec(name);
  if (vector) {
    const fields = new Map(['x', 'y', 'z', 'w'].slice(0, given.length).map((axis, at): [string, HostValue] => [axis, given[at]!.value])); // oxfmt-ignore
    const rest = host.symbol(name);
    return rest.kind === 'symbol' ? { kind: 'record', fields, rest: rest.symbol } : null;
  }
  return null;
}
