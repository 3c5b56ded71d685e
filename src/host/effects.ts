/** What functions may change that are not executed, as far as their statements show. */
import type { GimpleFunction, GimpleOperand, GimpleStatement } from '../gimple/gimple.ts';
import type { HostProgram } from './host-program.ts';
import type { HostUnit } from './host-unit.ts';

/**
 * Whether a function, and each one that it calls, neither writes nor reads anything but its own variables, which it
 * takes no address of. In doubt, it is not.
 */
export function isPure(program: HostProgram, unit: HostUnit, symbol: string): boolean {
  const seen = new Set<string>();
  const holds = (from: HostUnit, name: string): boolean => {
    const found = program.resolve(name, from);
    const fn = found?.unit.functionOf(found.symbol);
    if (!found || !fn) return false;
    const key = found.unit.key(found.symbol);
    if (seen.has(key)) return true;
    seen.add(key);
    const called = (callee: GimpleOperand): boolean =>
      callee.kind === 'declaration' && holds(found.unit, callee.name.replace(/D\.\d+$/, ''));
    return fn.blocks.every(({ statements }) => statements.every((one) => isLocal(fn, one, called)));
  };
  return holds(unit, symbol);
}

/** Whether a statement uses only values and variables of its function. */
function isLocal(fn: GimpleFunction, one: GimpleStatement, called: (callee: GimpleOperand) => boolean): boolean {
  const isOwn = (operand: GimpleOperand): boolean => {
    switch (operand.kind) {
      case 'ssa':
      case 'integer':
      case 'real':
        return true;
      case 'declaration':
        return [...fn.parameters, ...fn.locals].some(({ name, isStatic }) => name === operand.name && !isStatic);
      default:
        return false;
    }
  };
  switch (one.kind) {
    case 'assign':
      return [one.target, ...one.operands].every(isOwn);
    case 'call':
      return [...(one.target ? [one.target] : []), ...one.arguments].every(isOwn) && called(one.callee);
    case 'clobber':
      return isOwn(one.target);
    case 'return':
      return one.value === null || isOwn(one.value);
    case 'phi':
      return one.sources.every(({ value }) => isOwn(value));
    case 'condition':
      return isOwn(one.left) && isOwn(one.right);
    case 'switch':
      return isOwn(one.value);
    case 'goto':
      return true;
    case 'dispatch':
    case 'resume':
    case 'opaque':
      return false;
  }
}

/**
 * Whether a function, and each one that it calls, uses no variable with static storage and calls nothing else than
 * functions with a body and known ones: then it changes only what its arguments lead to.
 * @param isKnown whether a function of a library does so
 */
export function changesOnlyArguments(program: HostProgram, unit: HostUnit, symbol: string, isKnown: (name: string) => boolean): boolean {
  const seen = new Set<string>();
  const holds = (from: HostUnit, name: string): boolean => {
    const found = program.resolve(name, from);
    if (!found) return isKnown(name);
    const key = found.unit.key(found.symbol);
    if (seen.has(key)) return true;
    seen.add(key);
    const fn = found.unit.functionOf(found.symbol);
    if (!fn) return false;
    const own = new Map([...fn.parameters, ...fn.locals].map((one) => [one.name, one]));
    return fn.blocks.every(({ statements }) =>
      statements.every((one) => {
        if (one.kind === 'opaque' || (one.kind === 'call' && one.callee.kind !== 'declaration')) return false;
        return operandsOf(one)
          .flatMap(declarationsIn)
          .every((declared) => {
            const variable = own.get(declared);
            if (variable) return !variable.isStatic;
            if (declared === '<retval>') return true;
            const plain = declared.replace(/D\.\d+$/, '');
            const data = program.unitOfData(plain, found.unit).dataOf(plain);
            return data ? data.isReadOnly : holds(found.unit, plain);
          });
      }),
    );
  };
  return holds(unit, symbol);
}

/** Operands of a statement, the function that it calls included. */
function operandsOf(one: GimpleStatement): readonly GimpleOperand[] {
  switch (one.kind) {
    case 'assign':
      return [one.target, ...one.operands];
    case 'call':
      return [one.callee, ...(one.target ? [one.target] : []), ...one.arguments];
    case 'clobber':
      return [one.target];
    case 'phi':
      return one.sources.map(({ value }) => value);
    case 'condition':
      return [one.left, one.right];
    case 'switch':
      return [one.value];
    case 'return':
      return one.value ? [one.value] : [];
    case 'goto':
    case 'dispatch':
    case 'resume':
    case 'opaque':
      return [];
  }
}

/** Names of variables and functions in an operand. */
function declarationsIn(operand: GimpleOperand): readonly string[] {
  switch (operand.kind) {
    case 'declaration':
      return [operand.name];
    case 'address':
    case 'field':
      return declarationsIn(operand.of);
    case 'element':
      return [...declarationsIn(operand.of), ...declarationsIn(operand.index)];
    case 'pointee':
      return declarationsIn(operand.pointer);
    case 'virtual':
      return [...declarationsIn(operand.pointer), ...declarationsIn(operand.object)];
    default:
      return [];
  }
}
