/**
 * Effects of a kernel that must not be repeated, or whose result differs when repeated. All of them come from the
 * effects of the instruction table.
 */
import { type Access, isWriter } from '../analysis/values/access.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import { comparesPointers } from '../check/context/unknown-calls.ts';
import { callToUnknown } from '../ir/form/function-address.ts';
import type { Instruction, Kernel, Operand, ValueId } from '../ir/form/kernel.ts';
import { knownFunction } from '../ir/known-function.ts';
import type { Term } from '../term/term.ts';
import { isUnfollowed, participantsOf } from '../isa/model/effect.ts';
import type { Effect, Semantics } from '../isa/model/operation.ts';
import { sourceLocation } from '../ptx/debug-information.ts';
import type * as ptx from '../ptx/ast.ts';
import { type Location, outsideToolkit } from '../source/location.ts';
import { textureParameters } from './textures.ts';
import type { IdempotencyReason, IdempotencyReasonKind } from './model/kernel-idempotency.ts';

/** Source places, as reasons list them. */
export function sourcePlaces(...of: readonly { readonly location?: Location }[]): readonly Location[] {
  return of.flatMap(({ location }) => outsideToolkit(location) ?? location ?? []);
}

/** Operations with the same result in any order. */
const commutative = /^(add|min|max|and|or|xor)$/;
/** Operations with the same result when repeated. */
const repeatable = /^(min|max|and|or)$/;
const integer = /^[subw]\d+$/;

/** Whether an atomic operation on shared memory has one result for every order of the threads. */
function isCommutative(effect: Extract<Effect, { kind: 'atomic' }>): boolean {
  return commutative.test(effect.operation) && integer.test(effect.type);
}

/**
 * Whether an atomic operation on global memory may be repeated without changing its result in memory. Only for bytes
 * that nothing else accesses.
 */
function isRepeatable(effect: Extract<Effect, { kind: 'atomic' }>, exchanged: Term | null): boolean {
  return (repeatable.test(effect.operation) && integer.test(effect.type)) || exchanged !== null;
}

/** The value that an exchange stores, if it is the same in all threads; null for any other operation. */
function exchangedValue({ operation: { effect }, arguments: operands }: Instruction, symbolic: SymbolicKernel): Term | null {
  const [, operand] = operands;
  if (effect.kind !== 'atomic' || effect.operation !== 'exch' || effect.lanes !== 1 || !operand) return null;
  const value = symbolic.operand(operand);
  return value.leaves.every(({ atom }) => /^(parameter|block-size|grid-size)$/.test(atom!.kind)) ? value : null;
}

/**
 * A key of an atomic operation: atomic operations on common bytes are commutative if their keys are equal. Null for
 * others.
 */
export function atomicForm(instruction: Instruction, symbolic: SymbolicKernel): string | null {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic') return null;
  const exchanged = exchangedValue(instruction, symbolic);
  return `${effect.operation}.${effect.type}${exchanged ? `.${exchanged.id}` : ''}`;
}

/** Unknown values that are functions of their operands, and so are equal in each execution. */
const determined = new Set([
  'matrix product',
  'cache policy',
  'conversion that is not computed',
  'video instruction',
  'texture query',
  'surface query',
  'values outside a tensor',
  'where the windows of constants and parameters lie',
  'the address of a function',
  'rank in the cluster',
]);

const mathematics = /^result of __(nv|internal)_/;

const withoutLastingEffect = /^(pure|barrier|warp-barrier|fence|warp-matrix|matrix-access|branch|indexed-branch|call|return|exit)$/;

/**
 * Lists effects that are never idempotent, for any launch.
 * @param accesses those of the production build
 * @param module its PTX: calls with unused results are not in the IR
 * @param known whether the kernel has no race if volatile accesses race as others do, and the loads of local memory
 *   that read what their thread has written
 */
export function lastingEffects(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  module: ptx.Module,
  known: { readonly volatileRaces: boolean; readonly initialised: ReadonlySet<Instruction> },
): readonly IdempotencyReason[] {
  const { kernel } = symbolic;
  const isOrdered = known.volatileRaces && !synchronises(kernel);
  const isWeak = (semantics: Semantics): boolean => semantics === 'weak' || (semantics === 'volatile' && isOrdered);
  const reasons: IdempotencyReason[] = [];
  const add = (kind: IdempotencyReasonKind, what: string, ...at: readonly { readonly location?: Location }[]): void => {
    reasons.push({ kind, locations: sourcePlaces(...at), what });
  };
  if (kernel.isTooLarge) add('unsupported', 'the size of the kernel', kernel);
  if (kernel.overlapsOthers) add('effect', 'griddepcontrol', kernel);
  // After comparisons with all functions of the module no callee is left.
  const isFollowed = comparesPointers(kernel);
  for (const { reason, ...at } of kernel.unsupported) {
    if (reason === callToUnknown) {
      if (!isFollowed) add('indirect-call', reason, at);
    } else if (!isListed(kernel, reason)) add('unsupported', reason, at);
  }
  for (const call of lastingCalls(module, kernel.symbol)) reasons.push(call);
  const textures = textureParameters(kernel, module);
  const used = usedValues(kernel);
  const bySharedObject = new Map<string, Set<string>>();
  const writes = accesses.filter(isWriter);
  for (const { phis, instructions, terminator } of kernel.blocks) {
    if (phis.some(({ inputs }) => inputs.some(isNeverWritten)))
      add('unsupported', 'a variable that is not set on every way', instructions[0] ?? {});
    for (const instruction of instructions) {
      const { effect, mnemonic } = instruction.operation;
      if (instruction.arguments.some(isNeverWritten)) add('unsupported', 'a variable that is not set', instruction);
      switch (effect.kind) {
        case 'opaque':
          if (effect.reason === callToUnknown) {
            if (!isFollowed) add('indirect-call', 'call through a pointer', instruction);
          } else add(effect.callee === undefined ? 'unsupported' : 'effect', effect.callee ?? mnemonic, instruction);
          break;
        case 'surface-store':
        case 'trap':
        case 'grid-barrier':
          add('effect', effect.kind === 'grid-barrier' ? 'grid barrier' : mnemonic, instruction);
          break;
        case 'cluster-barrier':
        case 'mbarrier':
        case 'warpgroup-multiply':
          add('unsupported', mnemonic, instruction);
          break;
        // Copies to shared memory are accesses of their thread, which waits for them.
        case 'copy':
        case 'group':
          if (isUnfollowed(effect) || (effect.kind === 'copy' && effect.to === 'global')) add('effect', mnemonic, instruction);
          else if (participantsOf(effect) !== 'thread') add('unsupported', mnemonic, instruction);
          break;
        case 'havoc':
          if (/^(texture fetch|surface load)$/.test(effect.reason)) {
            // The binding of a texture is not visible here: it may be memory that the kernel writes.
            if (writes.some(({ memory }) => memory !== 'shared') && !textures.has(instruction))
              add('unknown-texture', mnemonic, instruction);
          } else if (effect.reason === callToUnknown && isFollowed) break;
          else if (!determined.has(effect.reason) && !mathematics.test(effect.reason)) add('effect', effect.reason, instruction);
          break;
        case 'warp-value':
          // The set of active lanes, and the elected one, are unspecified.
          if (!effect.sync || effect.name === 'elect') add('effect', effect.name, instruction);
          break;
        case 'shuffle':
        case 'vote':
          if (!effect.sync) add('effect', mnemonic, instruction);
          break;
        case 'load':
          // Local memory that its thread has not set is unknown.
          if (known.initialised.has(instruction)) break;
          if (effect.space === 'local' || (effect.space === 'generic' && !isAccess(instruction, accesses)))
            add('unsupported', 'memory of the thread', instruction);
          if (!isWeak(effect.semantics) && /^(global|generic|shared)$/.test(effect.space)) {
            if (mayBeWritten(instruction, accesses, writes)) add('effect', mnemonic, instruction);
          }
          break;
        case 'store':
          // Strong writes of two threads do not race, but their order is unspecified.
          if (!isWeak(effect.semantics)) add('effect', mnemonic, instruction);
          break;
        case 'atomic': {
          const isUnused = instruction.results.every((result) => result === null || !used.has(result));
          const own = accesses.filter((access) => access.instruction === instruction);
          const isOfBlock = own.length > 0 && own.every(({ memory }) => memory === 'shared');
          if (isOfBlock) {
            if (!isUnused || !isCommutative(effect)) add('atomic', mnemonic, instruction);
            for (const { targets } of own) {
              for (const { base } of targets) {
                const forms = bySharedObject.get(base.key) ?? new Set();
                bySharedObject.set(base.key, forms.add(atomicForm(instruction, symbolic)!));
                if (forms.size === 2) add('atomic', mnemonic, instruction);
              }
            }
          } else if (!isUnused || !isRepeatable(effect, exchangedValue(instruction, symbolic))) add('atomic', mnemonic, instruction);
          break;
        }
        default:
          if (!withoutLastingEffect.test(effect.kind)) add('unsupported', mnemonic, instruction);
      }
    }
    if (terminator.kind === 'trap') add('effect', 'trap', terminator);
    if (terminator.kind === 'unknown' && terminator.reason !== callToUnknown) add('unsupported', terminator.reason, terminator);
    if (terminator.kind === 'branch' && isNeverWritten(terminator.condition)) add('unsupported', 'a variable that is not set', terminator);
  }
  return distinct(reasons);
}

/**
 * Whether threads may wait for each other, or alternate, by values in memory: an atomic operation whose result is used,
 * a strong access that is not volatile, or a loop that a volatile load controls.
 */
function synchronises(kernel: Kernel): boolean {
  const used = usedValues(kernel);
  const told = new Set<ValueId>();
  const isTold = (operand: Operand): boolean => operand.kind === 'value' && told.has(operand.id);
  for (let size = -1; size !== told.size;) {
    size = told.size;
    for (const { phis, instructions } of kernel.blocks) {
      for (const { result, inputs } of phis) if (inputs.some(isTold)) told.add(result);
      for (const { arguments: operands, results, operation } of instructions) {
        const isVolatile = operation.effect.kind === 'load' && operation.effect.semantics === 'volatile';
        if (isVolatile || operands.some(isTold)) for (const result of results) if (result !== null) told.add(result);
      }
    }
  }
  return kernel.blocks.some(({ id, instructions, terminator }) => {
    const isInLoop = (kernel.loopOf[id] ?? null) !== null;
    const isDecided =
      (terminator.kind === 'branch' && isTold(terminator.condition)) || (terminator.kind === 'switch' && isTold(terminator.index));
    if (isInLoop && isDecided) return true;
    return instructions.some(({ operation: { effect }, results }) => {
      if (effect.kind === 'atomic') return results.some((result) => result !== null && used.has(result));
      return (effect.kind === 'load' || effect.kind === 'store') && !/^(weak|volatile)$/.test(effect.semantics);
    });
  });
}

/** Whether the instruction with an opaque effect that a reason names is listed separately. */
function isListed({ blocks }: Kernel, reason: string): boolean {
  return blocks.some(
    ({ instructions, terminator }) =>
      (terminator.kind === 'unknown' && terminator.reason === reason) ||
      instructions.some(({ operation: { effect } }) => effect.kind === 'opaque' && effect.reason === reason),
  );
}

function mayBeWritten(load: Instruction, accesses: readonly Access[], writes: readonly Access[]): boolean {
  const own = accesses.filter(({ instruction }) => instruction === load);
  return own.some((read) => writes.some(({ memory }) => memory === read.memory || memory === 'generic' || read.memory === 'generic'));
}

function isAccess(load: Instruction, accesses: readonly Access[]): boolean {
  return accesses.some(({ instruction }) => instruction === load);
}

function isNeverWritten(operand: Operand): boolean {
  return operand.kind === 'undefined';
}

/** Values that are used by an instruction, a phi or a terminator. */
function usedValues({ blocks }: Kernel): ReadonlySet<ValueId> {
  const used = new Set<ValueId>();
  const visit = (operand: Operand): void => {
    if (operand.kind === 'value') used.add(operand.id);
  };
  for (const { phis, instructions, terminator } of blocks) {
    for (const { inputs } of phis) inputs.forEach(visit);
    for (const instruction of instructions) instruction.arguments.forEach(visit);
    if (terminator.kind === 'branch') visit(terminator.condition);
    if (terminator.kind === 'switch') visit(terminator.index);
  }
  return used;
}

/** Calls of functions without a body that print, or get memory, in a kernel and the functions of the module it calls. */
function lastingCalls(module: ptx.Module, entry: string): readonly IdempotencyReason[] {
  const functions = new Map<string, ptx.Function>();
  for (const item of module.items) if ('body' in item && item.body && 'name' in item) functions.set(item.name, item);
  const reasons: IdempotencyReason[] = [];
  const seen = new Set<string>();
  const work = [entry];
  let at: Location | undefined;
  const walk = (statements: readonly ptx.PtxStatement[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'loc') at = sourceLocation(module, statement);
      else if (statement.kind === 'scope') walk(statement.body);
      else if (statement.kind === 'instruction') {
        if (statement.opcode !== 'call') continue;
        const names = statement.operands.flatMap((operand) => (operand.kind === 'symbol' ? [operand.name] : []));
        const callees = names.filter((name) => functions.has(name));
        const known = names.filter((name) => knownFunction(name, false) === 'unknown-value');
        for (const name of known) reasons.push({ kind: 'effect', what: name, locations: sourcePlaces({ ...(at && { location: at }) }) });
        // A pointer may point to any function of the module.
        if (callees.length + known.length === 0) work.push(...functions.keys());
        else work.push(...callees);
      }
    }
  };
  for (let name = work.pop(); name !== undefined; name = work.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    at = undefined;
    walk(functions.get(name)?.body ?? []);
  }
  return reasons;
}

/** The reasons without duplicates at the same place. */
export function distinct(reasons: readonly IdempotencyReason[]): readonly IdempotencyReason[] {
  const byText = new Map(reasons.map((reason) => [JSON.stringify(reason), reason]));
  return [...byText.values()];
}
