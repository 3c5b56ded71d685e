/** What all parts of a check of one kernel under one launch share. */
import { pointsOf } from '../../analysis/values/program-point.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { CriticalSections } from '../ordering/protection.ts';
import { type Access, type LoadedMemory, collectAccesses, loadedMemory } from '../../analysis/values/access.ts';
import { isFullBarrier, isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { findBroadcasts } from '../../analysis/values/broadcast.ts';
import { type ControlDependence, controlDependence } from '../../analysis/values/control-dependence.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Base, DeclaredAs } from '../../analysis/values/memory-base.ts';
import { type Mbarriers, findMbarriers } from '../../analysis/barriers/mbarrier.ts';
import { type TermNames, printTerm } from '../../analysis/values/print-term.ts';
import { type NamedBarriers, namedBarriers } from '../../analysis/barriers/named-barrier.ts';
import { inferUniformity } from '../../analysis/values/uniformity.ts';
import { type SymbolicContext, type SymbolicKernel, evaluateSymbolically } from '../../analysis/values/symbolic.ts';
import { integerType, sizeOfType } from '../../cuda/syntax/basic-type.ts';
import { standsForFunction } from '../../ir/form/function-address.ts';
import type { Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import { type Location, outsideToolkit } from '../../source/location.ts';
import type { Term } from '../../term/term.ts';
import type { Launch } from '../../launch/launch.ts';
import {
  type NamedScalar,
  conditionsOf,
  constantOf,
  dimensionBounds,
  namedPointer,
  pinnedScalar,
  scalarBounds,
} from '../premises/premises.ts';
import {
  type ParameterField,
  fieldName,
  parameterFields,
  parameterName,
  scalarText,
} from '../../launch/parameter-field.ts';
import type { CheckRequest } from '../question/request.ts';
import { type ElementFact, collectElementFacts } from '../premises/element-fact.ts';
import { type BareLocks, criticalSections } from '../ordering/critical-section.ts';
import { type Handover, findHandovers } from '../ordering/hand-over.ts';
import { type Ticket, collectTickets } from '../ordering/ticket.ts';
import type { Assumption } from '../../verdict/finding.ts';

export interface KernelContext {
  readonly request: CheckRequest;
  readonly kernel: Kernel;
  readonly dimensions: Dimensions;
  readonly dependences: ControlDependence;
  readonly symbolic: SymbolicKernel;
  readonly accesses: readonly Access[];
  /** What a load reads. */
  readonly loaded: (load: Instruction) => LoadedMemory;
  readonly fields: readonly ParameterField[];
  /** Values that no two executions share, by value id. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  readonly sections: CriticalSections;
  readonly handovers: readonly Handover[];
  readonly bareLocks: BareLocks;
  /** What the locks are made of. */
  readonly locks: readonly Base[];
  /** What is only done by who holds a lock, beside accesses. */
  readonly held: ReadonlySet<Instruction>;
  /** What is stated of loaded values, by value id. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Values read, whole or in part, from arrays of which something is stated. */
  readonly statedValues: ReadonlySet<number>;
  /** Barriers in memory that all of the block meets at. */
  readonly inMemory: Mbarriers;
  /** Barriers of part of the block. */
  readonly named: NamedBarriers;
  /** Whether all threads of the block take part in a barrier. */
  readonly isBlockBarrier: (instruction: Instruction) => boolean;
  readonly assumed: AssumedFacts;
}

/** The assumption that addresses do not leave the object that they start from. */
export const inBounds = 'every index stays in its array';

/** Evaluates the kernel symbolically for the request's launch, with the scalars that the code itself states. */
export function kernelContext(asked: CheckRequest): KernelContext {
  const request = withStatedApart(asked);
  const context = contextOf(request);
  const scalars = statedScalars(context);
  if (scalars.size === 0) return context;
  const launch = { ...request.launch, scalars: new Map([...scalars, ...request.launch.scalars]) };
  return contextOf({ ...request, launch });
}

/** The pointers that `apart(A, B)` is stated of. */
export function statedApart({ parameters, assumptions }: CheckRequest): (readonly [NamedScalar, NamedScalar])[] {
  return assumptions.flatMap(({ expression }) => {
    if (expression.kind !== 'apart') return [];
    const [first, second] = [expression.first, expression.second].map((name) => namedPointer(parameters, name));
    return first && second ? [[first, second] as const] : [];
  });
}

/**
 * Without the aliases that `apart(A, B)` rules out; what is passed as the same pointer stays the same. An alias of a
 * struct is one of all its members, and what is stated of some says nothing of the others.
 */
function withStatedApart(request: CheckRequest): CheckRequest {
  const { launch, parameters } = request;
  const isWhole = ({ index, offset }: NamedScalar): boolean => offset === 0 && parameters[index]?.fields === undefined;
  const stated = statedApart(request).filter((pair) => pair.every(isWhole));
  if (stated.length === 0) return request;
  const isStated = ([a, b]: readonly [number, number]): boolean =>
    stated.some(([{ index: x }, { index: y }]) => (a === x && b === y) || (a === y && b === x));
  return { ...request, launch: { ...launch, aliases: launch.aliases.filter((pair) => !isStated(pair)) } };
}

/**
 * Whole parameters that `SELVAGE_ASSUME` in the entry block, where every thread passes, sets equal to a number: then
 * that number is the argument in every execution that counts.
 */
function statedScalars({ kernel, symbolic, request }: KernelContext): Map<number, bigint> {
  const scalars = new Map<number, bigint>();
  const [entry] = kernel.blocks;
  for (const { instruction, condition } of symbolic.stated) {
    if (!entry?.instructions.includes(instruction)) continue;
    for (const part of condition.operator === 'all' ? condition.arguments : [condition]) {
      if (part.operator !== 'equal') continue;
      const [a, b] = part.arguments as [Term, Term];
      const [scalar, value] = a.atom?.kind === 'parameter' ? [a.atom, b] : [b.atom, a];
      if (scalar?.kind !== 'parameter' || value.operator !== 'constant' || scalar.offset !== 0) continue;
      const whole = kernel.parameters[scalar.index]?.bytes === scalar.bytes && !standsForFunction(value.value);
      if (whole && !request.launch.scalars.has(scalar.index)) scalars.set(scalar.index, value.value);
    }
  }
  return scalars;
}

function contextOf(request: CheckRequest): KernelContext {
  const { kernel, launch, parameters } = request;
  const dimensions = dimensionsOf(kernel, launch);
  const conditions = conditionsOf(request.assumptions);
  const meaning: SymbolicContext = {
    dimensions,
    scalar: (index, offset, bytes) =>
      givenScalar(launch, index, offset, bytes) ??
      (conditions.length === 0 || isFloatParameter(kernel, index)
        ? undefined
        : pinnedScalar(conditions, parameters, index, offset, bytes)),
    scalarBounds: (index, offset, bytes) =>
      conditions.length === 0 ? undefined : scalarBounds(conditions, parameters, index, offset, bytes),
    sizeBounds: (kind, axis, range) =>
      dimensionBounds(conditions, kind === 'block-size' ? 'blockDim' : 'gridDim', axis, range),
    sharedBytes: launch.sharedBytes,
  };
  const declaredAs: DeclaredAs = (index, offset) => declarationOf(parameters[index], offset);
  const { symbolic, accesses, broadcasts } = evaluateWithBroadcasts(kernel, meaning, declaredAs);
  const { aliases, samePointers = [] } = launch;
  const areTogether = (a: Base, b: Base): boolean =>
    arePassedTogether(aliases, a, b) || arePassedTogether(samePointers, a, b);
  const mayBeSame = (a: Base, b: Base): boolean =>
    a.key === b.key || a.kind === 'unknown' || b.kind === 'unknown' || areTogether(a, b);
  const { sections, bare: bareLocks, locks, held } = criticalSections(symbolic, accesses, mayBeSame, dimensions);
  const threads = [...dimensions.block, ...dimensions.grid].reduce<number>(
    (product, size) => product * (size ?? Infinity),
    1,
  );
  const barriers = pointsOf(kernel, isFullBarrier);
  const startsAtZero = (base: Base) => startOf(request, base);
  const search = { symbolic, accesses, mayBeSame, barriers, broadcasts, dimensions, startsAtZero };
  const handovers = findHandovers(search);
  const tickets = collectTickets(symbolic, accesses, mayBeSame, sections, handovers, threads);
  const ofMemory = loadedMemory(symbolic, accesses, declaredAs, areTogether);
  const guarded = new Set(accesses.filter(({ index }) => sections.has(index)).map(({ instruction }) => instruction));
  for (const { instruction } of accesses.filter((access) => handovers.some((by) => isReadInTurn(kernel, by, access))))
    guarded.add(instruction);
  // Within a lock, and behind what is handed over, threads read one after the other what the one before has written.
  const loaded = (load: Instruction): LoadedMemory => {
    const memory = ofMemory(load);
    return memory === 'written' && guarded.has(load) ? 'private' : memory;
  };
  const bases = accesses.flatMap((access) => access.targets.map(({ base }) => base));
  const fields = parameterFields(kernel, bases, parameters);
  const inMemory = findMbarriers(symbolic, dimensions, accesses, declaredAs, loaded);
  const isBlockBarrier = (instruction: Instruction): boolean =>
    isFullBarrier(instruction) || inMemory.arrivals.has(instruction);
  const assumed = new AssumedFacts(request, dimensions, fields);
  const dependences = controlDependence(kernel);
  const uniformity = () => inferUniformity(kernel, dependences, loaded, new Set());
  const named = namedBarriers(symbolic, dimensions, dependences, uniformity, isBlockBarrier);
  const { elements, stated: statedValues } = collectElementFacts(parameters, request.assumptions, accesses, loaded);
  const context: KernelContext = {
    request,
    kernel,
    dimensions,
    dependences,
    symbolic,
    accesses,
    loaded,
    fields,
    tickets,
    sections,
    handovers,
    bareLocks,
    locks,
    held,
    elements,
    statedValues,
    inMemory,
    named,
    isBlockBarrier,
    assumed,
  };
  if (kernel.assumesLocalBounds) assumed.add('in-bounds', inBounds);
  for (const { instruction, condition } of symbolic.stated)
    assumed.add('user', describeTerm(context, condition), placeOf(kernel, instruction));
  return context;
}

/** Evaluates the kernel; where thread 0 tells its block something, again, with what it tells. */
function evaluateWithBroadcasts(kernel: Kernel, meaning: SymbolicContext, declaredAs: DeclaredAs) {
  const symbolic = evaluateSymbolically(kernel, meaning);
  const accesses = collectAccesses(symbolic, declaredAs);
  const broadcasts = findBroadcasts(symbolic, accesses, pointsOf(kernel, isFullBarrier), meaning.dimensions);
  if (broadcasts.length === 0) return { symbolic, accesses, broadcasts };
  const again = evaluateSymbolically(kernel, {
    ...meaning,
    broadcast: {
      stores: new Map(broadcasts.map(({ load, store }) => [load.instruction, store.instruction])),
      leaderValues: new Set(broadcasts.flatMap(({ leaderValues }) => leaderValues)),
    },
  });
  return { symbolic: again, accesses: collectAccesses(again, declaredAs), broadcasts };
}

/** What is stated of the contents of an array that a flag or counter lies in. */
function startOf({ parameters, assumptions }: CheckRequest, base: Base): 'stated' | 'assumed' | 'no' {
  const stated = assumptions.flatMap(({ expression }) => {
    if (expression.kind !== 'elements' && expression.kind !== 'distinct') return [];
    const array = namedPointer(parameters, expression.array);
    const isMeant = base.kind === 'parameter' && array?.index === base.index && array.offset === base.offset;
    return isMeant ? [expression] : [];
  });
  if (stated.length === 0) return 'assumed';
  const isZero = stated.every(
    (one) => one.kind === 'elements' && constantOf(one.low) === 0n && constantOf(one.high) === 0n,
  );
  return isZero ? 'stated' : 'no';
}

/**
 * Whether threads that share everything else may read different values: one before what is handed over has arrived, one
 * behind it. Where a barrier of the block follows, all of its threads are behind it.
 */
function isReadInTurn({ blocks }: Kernel, by: Handover, { index, operation }: Access): boolean {
  if (operation === 'write') return false;
  if (by.own.has(index)) return true;
  if (by.after.block.get(index)?.some(({ level }) => level === 'thread')) return true;
  return by.after.grid.has(index) && blocks.some(({ instructions }) => instructions.some(isGridBarrier));
}

/** Whether two bases are parameters of one of these pairs. */
export function arePassedTogether(pairs: Launch['aliases'], a: Base, b: Base): boolean {
  if (a.kind !== 'parameter' || b.kind !== 'parameter') return false;
  return pairs.some(([x, y]) => (x === a.index && y === b.index) || (x === b.index && y === a.index));
}

/** What the source declares a parameter, or its member at an offset, to be. */
/** What the source declares a parameter, or a field of it, to be. */
export function declarationOf(parameter: ParameterSource | undefined, offset: number): ReturnType<DeclaredAs> {
  const field = parameter?.fields?.find((candidate) => candidate.offset === offset);
  const type = field?.type ?? (offset === 0 ? parameter?.type : undefined);
  if (type === undefined) return 'unknown';
  if (/[*&]\s*(const|volatile|__restrict__|__restrict|\s)*$/.test(type)) return 'pointer';
  if (field && !/[*&]/.test(type)) return 'scalar';
  return arithmeticType.test(type) ? 'scalar' : 'unknown';
}

const arithmeticType = /^[\w\s]*\b(int|long|short|char|unsigned|size_t|u?int\d+_t|float|double|bool)\b[\w\s]*$/;

/** The field of a parameter at an offset, if the kernel reads it. */
export function fieldAt(context: KernelContext, index: number, offset: number): ParameterField | undefined {
  return context.fields.find((field) => field.index === index && field.offset === offset);
}

/** The scalar that an assumption names, if the kernel reads it as it is declared: whole, and as a whole number. */
export function namedField(context: KernelContext, named: NamedScalar): ParameterField | undefined {
  if (isFloatParameter(context.kernel, named.index)) return undefined;
  return context.fields.find(
    ({ index, offset, bytes, isPointer }) =>
      index === named.index && offset === named.offset && !isPointer && (sizeOfType(named.type) ?? bytes) === bytes,
  );
}

/**
 * The scalar that an assumption names, whether the kernel reads it or not: what is said of it may contradict what else
 * is said of it. Undefined where its declaration as a whole number is not at hand.
 */
export function integerField(context: KernelContext, named: NamedScalar): ParameterField | undefined {
  const read = namedField(context, named);
  if (read) return read;
  const { index, offset, type } = named;
  const parameter = context.kernel.parameters[index];
  if (!parameter) return undefined;
  const declared = integerType(type) ?? (type === '' && offset === 0 ? integerOfPtx(parameter.type) : undefined);
  return declared && { index, offset, bytes: declared.bytes, isPointer: false };
}

function integerOfPtx(type: string): { readonly bytes: number } | undefined {
  const bits = /^[us](8|16|32|64)$/.exec(type)?.[1];
  return bits === undefined ? undefined : { bytes: Number(bits) / 8 };
}

function isFloatParameter(kernel: Kernel, index: number): boolean {
  return /^f/.test(kernel.parameters[index]?.type ?? '');
}

/** The bits of a scalar that the launch gives. */
export function givenScalar(launch: Launch, index: number, offset: number, bytes: number): bigint | undefined {
  const value = launch.scalars.get(index);
  return value === undefined ? undefined : BigInt.asUintN(bytes * 8, value >> BigInt(8 * offset));
}

/** The launch's dimensions; without any, an axis that the kernel never reads is 1, the others are symbolic. */
function dimensionsOf(kernel: Kernel, launch: Launch): Dimensions {
  const read = specialRegisters(kernel);
  const usesLane = [...read].some((name) => /^(laneid|warpid|lanemask)/.test(name));
  const axis = (name: string, i: number): number | null =>
    read.has(`${name}.${'xyz'[i]}`) || (name === 'tid' && usesLane) ? null : 1;
  const block = launch.block ?? kernel.requiredThreads ?? null;
  return {
    block: block ? [block[0], block[1], block[2]] : [axis('tid', 0), axis('tid', 1), axis('tid', 2)],
    grid: launch.grid ? [launch.grid[0], launch.grid[1], launch.grid[2]] : [axis('ctaid', 0), axis('ctaid', 1), axis('ctaid', 2)], // prettier-ignore
  };
}

function specialRegisters(kernel: Kernel): Set<string> {
  const read = new Set<string>();
  const visit = (operand: Operand): void => {
    if (operand.kind === 'special') read.add(operand.register);
  };
  for (const block of kernel.blocks) {
    for (const instruction of block.instructions) instruction.arguments.forEach(visit);
    for (const phi of block.phis) phi.inputs.forEach(visit);
    if (block.terminator.kind === 'branch') visit(block.terminator.condition);
    if (block.terminator.kind === 'switch') visit(block.terminator.index);
  }
  return read;
}

/** Why nothing about this kernel can be proved; null where all of it is understood. */
export function unprovable(kernel: Kernel): string | null {
  const unsupported = kernel.unsupported[0];
  if (unsupported) return `not understood: ${unsupported.reason}`;
  for (const block of kernel.blocks) {
    if (block.terminator.kind === 'unknown') return `not understood: ${block.terminator.reason}`;
    for (const { operation } of block.instructions) {
      const { effect } = operation;
      if (effect.kind === 'opaque') return `the effect of ${operation.mnemonic} is not known`;
      if (effect.kind === 'surface-store') return 'surface writes are not modelled yet';
      if (effect.kind === 'matrix-load' || effect.kind === 'matrix-store')
        return `what the lanes of a warp access together (${operation.mnemonic}) is not modelled yet`;
      if (effect.kind === 'bulk-copy' || effect.kind === 'bulk-wait' || effect.kind === 'warpgroup-matrix')
        return `what ${operation.mnemonic} does later is not modelled yet`;
    }
  }
  return null;
}

// Words.

/** Loads within the index of a load that are still spelled out. */
const deepestLoads = 2;

function termNames(context: KernelContext, depth = 0): TermNames {
  const { request } = context;
  return {
    parameter: (index, offset) => fieldName(request.parameters, { index, offset }, request.kernel),
    object: (object) => request.objectName(request.kernel.objects[object]!.symbol),
    unknown: (value) => (depth < deepestLoads ? describeLoaded(context, value, depth) : undefined),
  };
}

/** The array element that a value was read from: `flags[blockIdx.x]`. */
function describeLoaded(context: KernelContext, value: number, depth: number): string | undefined {
  const { kernel, accesses, symbolic } = context;
  const definition = kernel.values[value]?.definition;
  if (definition?.kind !== 'instruction' || definition.instruction.operation.effect.kind !== 'load') return undefined;
  const { lanes, bytes } = definition.instruction.operation.effect;
  const access = accesses.find(({ instruction }) => instruction === definition.instruction);
  const [target, ...others] = access?.targets ?? [];
  if (!target || others.length > 0 || target.base.kind === 'unknown' || lanes > 1) return undefined;
  const { store } = symbolic;
  const { offset } = target;
  const isElement =
    offset.operator === 'constant'
      ? offset.value % BigInt(bytes) === 0n
      : offset.operator === 'sum' &&
        [offset.value, ...offset.coefficients].every((part) => part % BigInt(bytes) === 0n);
  if (!isElement) return undefined;
  const index =
    offset.operator === 'constant'
      ? store.constant(offset.width, offset.value / BigInt(bytes))
      : store.sum(
          offset.width,
          BigInt.asIntN(offset.width, offset.value) / BigInt(bytes),
          offset.arguments.map((part, i) => [part, offset.coefficients[i]! / BigInt(bytes)] as const),
        );
  return `${baseName(context, target.base)}[${printTerm(index, termNames(context, depth + 1))}]`;
}

const longestText = 160;

/** A term in the words of the source, shortened. */
export function describeTerm(context: KernelContext, term: Term): string {
  const text = printTerm(term, termNames(context));
  return text.length > longestText ? `${text.slice(0, longestText - 3)}...` : text;
}

/** The name of what an access points into. */
export function baseName({ request, kernel }: KernelContext, base: Base): string {
  if (base.kind === 'object') return request.objectName(base.object.symbol);
  if (base.kind === 'parameter')
    return base.offset === 0 && !/^b/.test(kernel.parameters[base.index]?.type ?? '')
      ? parameterName(request.parameters, base.index)
      : fieldName(request.parameters, base, kernel);
  return 'memory';
}

/** Whether the kernel itself writes what an access points into. */
export function isWritten({ accesses }: KernelContext, { key }: Base): boolean {
  return accesses.some(
    ({ operation, targets }) => operation !== 'read' && targets.some(({ base }) => base.key === key),
  );
}

/** Where the user wrote an instruction: the innermost frame outside the toolkit's headers. */
export function placeOf(kernel: Kernel, instruction: Pick<Instruction, 'location' | 'ptxLine'>): Location {
  const place = outsideToolkit(instruction.location ?? locationBeside(kernel, instruction.ptxLine)) ?? kernel.location;
  return place ?? { file: kernel.symbol, line: Math.max(1, instruction.ptxLine) };
}

/** Of what comes before an instruction in its block, else behind it: the compiler gives none to what it moves or merges. */
function locationBeside({ blocks }: Kernel, ptxLine: number): Location | undefined {
  for (const { instructions, terminator } of blocks) {
    const at = instructions.findIndex((instruction) => instruction.ptxLine === ptxLine);
    if (at === -1) continue;
    const before = instructions.slice(0, at).findLast(({ location }) => location);
    const behind = instructions.slice(at + 1).find(({ location }) => location);
    return before?.location ?? behind?.location ?? ('location' in terminator ? terminator.location : undefined);
  }
  return undefined;
}

/** `(256, 1, 1)`. */
export function tuple(dim: readonly number[]): string {
  return `(${dim.join(', ')})`;
}

/** `256` where there is one dimension, else `(16, 16, 1)`. */
export function shortTuple(dim: readonly number[]): string {
  return dim[1] === 1 && dim[2] === 1 ? String(dim[0]) : tuple(dim);
}

/** The assumptions that a check has used so far, in the report's words. */
export class AssumedFacts {
  private readonly facts = new Map<string, Assumption>();
  private readonly given: readonly Assumption[];

  constructor(request: CheckRequest, dimensions: Dimensions, fields: readonly ParameterField[]) {
    const { launch, parameters } = request;
    const given: Assumption[] = [];
    for (const [name, whole, resolved] of [
      ['blockDim', launch.block, dimensions.block],
      ['gridDim', launch.grid, dimensions.grid],
    ] as const) {
      if (whole) given.push({ kind: 'launch', text: `${name} = ${tuple(whole)}` });
      else
        resolved.forEach((size, axis) => {
          if (size !== null) given.push({ kind: 'launch', text: `${name}.${'xyz'[axis]} = ${size}` });
        });
    }
    for (const [index, value] of launch.scalars) {
      const field = fields.find((candidate) => candidate.index === index);
      if (field && !field.isPointer)
        given.push({
          kind: 'launch',
          text: `${parameterName(parameters, index)} = ${scalarText(request.kernel, parameters, field, value)}`,
        });
    }
    for (const { text, location } of request.assumptions)
      given.push({ kind: 'user', text, ...(location && { location }) });
    this.given = given;
  }

  add(kind: Assumption['kind'], text: string, location?: Location): void {
    this.facts.set(`${kind}|${text}`, { kind, text, ...(location && { location }) });
  }

  /** Whether a proof rests on more than the launch: then it must not be vacuous. */
  get areRestrictive(): boolean {
    const all = [...this.given, ...this.facts.values()];
    return all.some(({ kind }) => kind === 'user' || kind === 'no-wrap');
  }

  /** Notes a counter that is taken not to wrap around. */
  addCounter(context: KernelContext, base: Base, bytes: number): void {
    this.add('no-wrap', `the counter ${baseName(context, base)} fits in ${8 * bytes} bits`);
  }

  /** Notes terms whose arithmetic is taken not to wrap around. */
  addNoWrap(context: KernelContext, terms: readonly Term[]): void {
    for (const term of terms) {
      const ticket = term.atom?.kind === 'havoc' ? context.tickets.get(term.atom.value) : undefined;
      if (ticket) this.addCounter(context, ticket.base, term.width / 8);
      else this.add('no-wrap', `${describeTerm(context, term)} fits in ${term.width} bits`);
    }
  }

  list(): readonly Assumption[] {
    return [...this.given, ...this.facts.values()];
  }
}
