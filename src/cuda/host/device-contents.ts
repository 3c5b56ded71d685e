/**
 * Known contents of device memory: constant tables that the host program copies whole, and allocations that it sets to
 * one byte. Only synchronous calls are followed; any other possible write to such memory makes its contents unknown.
 */
import { integerType, sizeOfType } from '../syntax/basic-type.ts';
import { childIn, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { type Declarations, type FunctionDeclaration, sourceTextOf } from '../declarations/declarations.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type HostArgument, type Interpreter, type State } from './interpreter.ts';
import { isHarmless } from '../declarations/library-function.ts';
import { isSame, termConstant } from './term.ts';
import { type HostMemory, type HostValue, type MemoryContents, termOf } from './value.ts';

/** Larger tables are not recorded. */
const maxElements = 4096;

/** Functions that execute device work at other times than the source order, or in other threads of the program. */
const elsewhere =
  /NonBlocking|NON_BLOCKING|BeginCapture|[pP]er_?[tT]hread|PER_THREAD|cudaGetSymbolAddress|\bthrust\b|cuModuleGetGlobal|cudaIpc|\bthread\b|pthread_create|\basync\s*\(|#pragma omp|LaunchHostFunc|AddCallback/; // oxfmt-ignore

/** Functions of the runtime that write no memory of the device. */
const readers =
  /^(?:cuda(?:Malloc\w*|HostAlloc|Free\w*|HostRegister|HostUnregister|GetLastError|PeekAtLastError|GetErrorString|GetErrorName|(?:Device|Stream|Event)Synchronize|Event(?:Create\w*|Record\w*|Query|Destroy|ElapsedTime)|Stream(?:Create\w*|Query|WaitEvent|Destroy)|(?:Get|Set)Device\w*|Device(?:Get|Set)\w*|DriverGetVersion|RuntimeGetVersion|Occupancy\w*|Func(?:Set|Get)\w*|MemGetInfo|PointerGetAttributes|Profiler\w*))$/; // oxfmt-ignore

/**
 * Whether writes of the program to device memory happen in source order, so that the effect of a call can be applied at
 * the call.
 */
export function isInOrder({ text, functions }: Declarations): boolean {
  return !elsewhere.test(text) && [...functions.values()].flat().every((one) => !isImplicit(one) || isPure(one, text));
}

/** Whether a function is a constructor, destructor or operator, which runs without a call in the source. */
function isImplicit({ name, record }: FunctionDeclaration): boolean {
  return name === record || /^(?:~|operator)/.test(name);
}

/** Whether a function calls nothing that may write memory of the device. */
function isPure({ body, initialisers }: FunctionDeclaration, text: string): boolean {
  const calls = [body, initialisers].flatMap((node) => (node ? nodesWhere(node, ({ type }) => type === 'call_expression') : [])); // oxfmt-ignore
  return calls.every((call) => {
    const callee = childIn(call, 'function');
    const name = callee ? sourceTextOf(text, callee).replace(/^.*::/s, '') : '';
    return isHarmless(name) && !/^cu/.test(name);
  });
}

/**
 * Records the effects of a runtime call on device memory.
 * @param name of a function without a known body
 */
export function noteContents(
  name: string,
  given: readonly HostArgument[],
  items: readonly SyntaxNode[],
  state: State,
  host: Interpreter,
): void {
  if (!/^cu(?:da|[A-Z])/.test(name) || readers.test(name)) return;
  const [target, source, count, fourth, fifth] = given;
  const written = target && pointedMemory(target.value);
  switch (name) {
    case 'cudaMemset': {
      if (!written) break;
      const [fill, bytes] = [source && constantOf(source.value), count && termOf(count.value)];
      const isWhole = bytes && written.memory.bytes && isSame(bytes, written.memory.bytes) && written.isStart;
      host.fill(written.memory.id, isWhole && fill !== undefined ? { kind: 'contents', element: 1, fill: Number(BigInt.asUintN(8, fill)) } : null, state); // oxfmt-ignore
      return;
    }
    case 'cudaMemcpy': {
      if (!written) {
        // Contents of host memory are not recorded.
        if (items[3] && /^(?:cudaMemcpy(?:DeviceToHost|HostToHost))$/.test(sourceTextOf(host.declarations.text, items[3]))) return; // oxfmt-ignore
        break;
      }
      const size = count && constantOf(count.value);
      const isWhole = written.isStart && size !== undefined && written.memory.bytes !== undefined && termConstant(written.memory.bytes) === size; // oxfmt-ignore
      const isFromHost = items[3] !== undefined && /^cudaMemcpyHostToDevice$/.test(sourceTextOf(host.declarations.text, items[3])); // oxfmt-ignore
      const table = source && isWhole && isFromHost ? tableOf(source, host) : null;
      host.fill(written.memory.id, table && bytesOf(table) === size ? table : null, state);
      return;
    }
    case 'cudaMemcpyToSymbol': {
      const symbol = items[0] ? sourceTextOf(host.declarations.text, items[0]) : '';
      if (!/^(?:::)?\w+$/.test(symbol)) break;
      const isPlain = (fourth === undefined || constantOf(fourth.value) === 0n) && (fifth === undefined || (items[4] && /^cudaMemcpyHostToDevice$/.test(sourceTextOf(host.declarations.text, items[4])))); // oxfmt-ignore
      const table = source && isPlain ? tableOf(source, host) : null;
      const isWhole = table && bytesOf(table) === (count && constantOf(count.value));
      host.fill(`symbol ${symbol.replace('::', '')}`, isWhole ? table : null, state);
      return;
    }
  }
  host.endContents(state);
}

/** The bytes of a table; undefined if each byte is the same and their number is unknown. */
function bytesOf({ element, values }: MemoryContents): bigint | undefined {
  return values && BigInt(element * values.length);
}

function constantOf(value: HostValue): bigint | undefined {
  const term = termOf(value);
  return term ? termConstant(term) : undefined;
}

/** The device allocation that a pointer points into. */
function pointedMemory(value: HostValue): { readonly memory: HostMemory; readonly isStart: boolean } | null {
  if (value.kind !== 'pointer' || value.memory.isOfDevice !== true) return null;
  return { memory: value.memory, isStart: value.offset !== null && termConstant(value.offset) === 0n };
}

/** An array of the host all of whose elements are known integers. */
function tableOf({ value, type = '' }: HostArgument, host: Interpreter): MemoryContents | null {
  if (value.kind !== 'record' || value.length === undefined || value.length > maxElements) return null;
  const element = resolvedType(type, host.declarations.aliases).replace(/\[\]$/, '').replace(/\bconst\b/g, '').trim(); // oxfmt-ignore
  const bytes = integerType(element) ? sizeOfType(element) : undefined;
  if (bytes === undefined || !/\[\]$/.test(type)) return null;
  const values: bigint[] = [];
  for (let index = 0; index < value.length; index++) {
    const own = value.fields.get(String(index));
    const number = own && own.kind === 'number' ? constantOf(own) : undefined;
    if (number === undefined) return null;
    values.push(BigInt.asUintN(8 * bytes, number));
  }
  return { kind: 'contents', element: bytes, values, fill: 0 };
}
