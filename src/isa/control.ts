/** Control flow, stack and miscellaneous instructions (PTX ISA 9.7.12, 9.7.17, 9.7.19). */
import type { Effect } from './model/operation.ts';
import type { Row } from './model/row.ts';
import { noOperation, uncomputed } from './model/row.ts';

interface ControlForm {
  readonly opcode: string;
  readonly section: string;
  readonly forms: string;
  readonly effect: Effect;
  readonly remark?: string;
  /** Whether the modifier `.uni` is allowed. */
  readonly hasUniform: boolean;
}

/**
 * A row for a control-flow instruction. Only register operands are sources; labels, callees and lists are resolved by
 * the caller.
 */
function control({ opcode, section, forms, effect, remark, hasUniform }: ControlForm): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'exact',
    ...(remark && { remark }),
    decode(modifiers) {
      if (hasUniform) modifiers.flag('uni');
      return { results: [], sources: [], effect, cost: 'control' };
    },
  };
}

const indexedBranch: Row = {
  opcode: 'brx',
  section: '9.7.12.4',
  forms: 'brx.idx{.uni} index, tlist',
  treatment: 'exact',
  remark: 'an index outside the list ends the run as undefined behaviour',
  decode(modifiers) {
    if (!modifiers.flag('idx')) return null;
    modifiers.flag('uni');
    return { results: [], sources: [32], effect: { kind: 'indexed-branch' }, cost: 'control' };
  },
};

/** A row for an instruction that affects only time, power, registers or the debugger. */
function idle(opcode: string, section: string, forms: string, ...allowed: string[]): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'exact',
    remark: 'changes nothing',
    decode(modifiers, shape) {
      while (modifiers.oneOf(...allowed));
      return noOperation(uncomputed(shape, 0, { kind: 'pure' }, 'control').sources, 'control');
    },
  };
}

const gridDependency: Row = {
  opcode: 'griddepcontrol',
  section: '9.7.13.13',
  forms: 'griddepcontrol.action; .action = {.launch_dependents, .wait}',
  treatment: 'exact',
  remark: 'orders accesses of different kernels only',
  decode(modifiers) {
    const action = modifiers.oneOf('launch_dependents', 'wait');
    if (!action) return null;
    const form = action === 'wait' ? 'wait' : 'launch';
    return { ...noOperation([], 'control'), effect: { kind: 'grid-dependency', form } };
  },
};

function opaqueStack(opcode: 'alloca' | 'stacksave' | 'stackrestore', section: string, forms: string): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'opaque',
    decode(modifiers, shape) {
      modifiers.rest();
      const results = opcode === 'stackrestore' ? 0 : 1;
      return uncomputed(shape, results, { kind: 'opaque', reason: 'stack of dynamic size' }, 'integer');
    },
  };
}

const callRemark =
  'calls of functions of the module are inlined; of vprintf, malloc, free, __assertfail the effect is known; an indirect call goes to one of the functions whose address the module takes; any other is opaque';

export const controlRows: readonly Row[] = [
  control({ opcode: 'bra', section: '9.7.12.3', forms: 'bra{.uni} tgt', effect: { kind: 'branch' }, hasUniform: true }),
  indexedBranch,
  control({
    opcode: 'call',
    section: '9.7.12.5',
    forms: 'call{.uni} {(ret-param),} func{, (param-list)}; call{.uni} {(ret-param),} fptr{, (param-list)}, flist; …, fproto',
    effect: { kind: 'call' },
    remark: callRemark,
    hasUniform: true,
  }),
  control({ opcode: 'ret', section: '9.7.12.6', forms: 'ret{.uni}', effect: { kind: 'return' }, hasUniform: true }),
  control({ opcode: 'exit', section: '9.7.12.7', forms: 'exit', effect: { kind: 'exit' }, hasUniform: false }),
  control({ opcode: 'trap', section: '9.7.19.4', forms: 'trap', effect: { kind: 'trap' }, hasUniform: false }),
  idle('nanosleep', '9.7.19.2', 'nanosleep.u32 t', 'u32'),
  idle('pmevent', '9.7.19.3', 'pmevent a; pmevent.mask a', 'mask'),
  idle('brkpt', '9.7.19.1', 'brkpt'),
  idle(
    'setmaxnreg',
    '9.7.19.5',
    'setmaxnreg.action.sync.aligned.u32 count; .action = {.inc, .dec}',
    'inc',
    'dec',
    'sync',
    'aligned',
    'u32',
  ),
  gridDependency,
  opaqueStack('stacksave', '9.7.17.1', 'stacksave.type d; .type = {.u32, .u64}'),
  opaqueStack('stackrestore', '9.7.17.2', 'stackrestore.type a; .type = {.u32, .u64}'),
  opaqueStack('alloca', '9.7.17.3', 'alloca.type ptr, size{, immAlign}; .type = {.u32, .u64}'),
];
