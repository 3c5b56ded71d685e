/** Control flow, stack and miscellaneous instructions (PTX ISA 9.7.12, 9.7.17, 9.7.19). */
import type { Effect } from './operation.ts';
import type { Row } from './row.ts';
import { noOperation, uncomputed } from './row.ts';

const controlFlow = '9.7.12';
const stack = '9.7.17';
const miscellaneous = '9.7.19';

/** Labels, callees and lists are the caller's business: only register operands count as sources. */
function control(opcode: string, effect: Effect, allowed: readonly string[]): Row {
  return {
    opcode,
    section: opcode === 'trap' ? miscellaneous : controlFlow,
    decode(modifiers) {
      modifiers.oneOf(...allowed);
      return { results: [], sources: [], effect, cost: 'control' };
    },
  };
}

const indexedBranch: Row = {
  opcode: 'brx',
  section: controlFlow,
  decode(modifiers) {
    if (!modifiers.flag('idx')) return null;
    modifiers.flag('uni');
    return { results: [], sources: [32], effect: { kind: 'indexed-branch' }, cost: 'control' };
  },
};

/** Instructions that only concern time, power, registers or the debugger. */
function idle(opcode: string, ...allowed: string[]): Row {
  return {
    opcode,
    section: miscellaneous,
    decode(modifiers, shape) {
      while (modifiers.oneOf(...allowed));
      return noOperation(uncomputed(shape, 0, { kind: 'pure' }, 'control').sources, 'control');
    },
  };
}

function opaqueStack(opcode: 'alloca' | 'stacksave' | 'stackrestore'): Row {
  return {
    opcode,
    section: stack,
    decode(modifiers, shape) {
      modifiers.rest();
      const results = opcode === 'stackrestore' ? 0 : 1;
      return uncomputed(shape, results, { kind: 'opaque', reason: 'stack of dynamic size' }, 'integer');
    },
  };
}

export const controlRows: readonly Row[] = [
  control('bra', { kind: 'branch' }, ['uni']),
  indexedBranch,
  control('call', { kind: 'call' }, ['uni']),
  control('ret', { kind: 'return' }, ['uni']),
  control('exit', { kind: 'exit' }, []),
  control('trap', { kind: 'trap' }, []),
  idle('nanosleep', 'u32'),
  idle('pmevent', 'mask'),
  idle('brkpt'),
  idle('setmaxnreg', 'inc', 'dec', 'sync', 'aligned', 'u32'),
  idle('griddepcontrol', 'launch_dependents', 'wait'),
  opaqueStack('alloca'),
  opaqueStack('stacksave'),
  opaqueStack('stackrestore'),
];
