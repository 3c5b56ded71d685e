/** Why a check has no verdict better than `possible` or `unknown`. */
import type { Unmodelled } from '../../interpreter/core/run-result.ts';
import type { Reason } from '../../verdict/reason.ts';
import { code, codeList, valueText } from './code-text.ts';
import { cudaFunction } from './cuda-function.ts';

/** Text of the reason "time limit". @param before names the step that was not reached: ` before …`, or empty */
export function timeLimitText(before: string): string {
  return `the time limit for this kernel was reached${before}; set a higher limit with ${code('--timeout')}`;
}

/** The reason as a clause, without capital letter and full stop. */
export function reasonText(reason: Reason): string {
  switch (reason.kind) {
    case 'out-of-time':
      return timeLimitText('');
    case 'out-of-memory':
      return 'the check ran out of memory';
    case 'defect':
      return 'Selvage failed on this kernel, which is an internal error';
    case 'not-proved':
      return 'Selvage found no proof';
    case 'solver-gave-up':
      return `the solver gave up (${reason.cause}); \`--effort 4\` tries longer`;
    case 'solver-gave-up-often':
      return 'the solver gave up too often on this kernel; `--effort 4` tries longer';
    case 'not-reproduced':
      return 'two threads may access the same element, but no run showed it';
    case 'overlap':
      return 'two threads use the same element, but no run showed the two accesses without a barrier in between';
    case 'many-pairs':
      return 'too many pairs of accesses may overlap for Selvage to decide all of them';
    case 'many-rounds':
      return 'there are too many combinations of loop iterations between barriers to check';
    case 'too-large':
      return 'the kernel is too large, together with the functions that it calls';
    case 'replay':
      return replayProblems[reason.problem];
    case 'unknown-pointer':
      return 'the kernel dereferences a pointer whose target Selvage cannot determine';
    case 'aliased-pointers':
      return 'the launch passes two pointers into one object, and the distance between them is unknown';
    case 'unknown-index':
      return 'Selvage cannot determine the values of an index';
    case 'loaded-index':
      return `an index is read from ${code(reason.array)}, ${elements[reason.because]}`;
    case 'unmodelled-order':
      return reason.by.map((kind) => unmodelledOrders[kind]).join('; ');
    case 'divergence':
      return 'a barrier that some threads do not reach orders no accesses, and Selvage did not prove that all threads reach each barrier';
    case 'unreachable':
      return `line ${reason.line} is unreachable under ${codeList(reason.assumptions)}, so a proof would be vacuous`;
    case 'out-of-bounds':
      return reason.isNull
        ? `the kernel fails on line ${reason.line}, where it accesses ${code(reason.array)}, a null pointer`
        : `an access on line ${reason.line} is outside of ${code(reason.array)}, and may be to memory that other threads access`;
    case 'index-overflow':
      return `an index of ${code(reason.array)} on line ${reason.line} wraps around, and may be that of an element which other threads access`;
    case 'misaligned':
      return `the kernel fails on line ${reason.line}, where it accesses ${code(reason.array)} at an address that is not a multiple of the size of the access`;
    case 'refused':
      return `no device runs the launch: a block needs ${reason.sharedBytes} bytes of shared memory, and has at most ${reason.most}`;
    case 'contradiction':
      return `the assumptions contradict each other: ${codeList(reason.assumptions)}`;
    case 'not-understood':
      return `Selvage does not support part of this kernel: ${reason.what}`;
    case 'unknown-effect':
      return `the effect of ${code(reason.mnemonic)} is not known`;
    case 'accesses-of-warp':
      return `Selvage does not model the memory accesses of ${code(reason.mnemonic)} yet`;
    case 'later-effect':
      return `Selvage does not model the asynchronous effects of ${code(reason.mnemonic)} yet`;
    case 'proxy-fence':
      return `no ${code('fence.proxy.async')} is between a write on line ${reason.line} and the ${code('wgmma.mma_async')} that reads what it wrote`;
    case 'surface-writes':
      return 'the kernel writes to a surface, and Selvage cannot determine which elements';
    case 'unmodelled-barrier':
      return reason.problem;
    case 'cluster-barrier':
      return 'Selvage does not model barriers of a cluster yet';
    case 'condition':
      return conditionText(reason);
    case 'locked-barrier':
      return 'a thread waits at a barrier while it holds a lock that the other threads wait for';
    case 'racy-barrier':
      return 'whether a thread reaches a barrier depends on memory that the kernel writes, and Selvage could not prove that accesses to this memory do not race';
    case 'builds-differ':
      return `the optimised build differs from the build that was checked: ${reason.differ}`;
  }
}

const replayProblems = {
  'too-long': 'the run that could show it takes too many steps',
  'unknown-instruction': 'the run that could show it reaches an instruction that Selvage cannot execute',
  'invented-value':
    'the accesses or branches depend on a value that Selvage cannot compute (a texture, a transcendental function or a clock)',
} as const;

const elements = {
  'any-value': 'whose elements may hold any value',
  written: 'which the kernel writes',
  counters: 'whose counters may start anywhere, and threads access the same element where two counters give one number',
  'may-repeat': 'and threads access the same element where two of those indices are equal',
} as const;

/** Clause on accesses of two blocks of one cluster, which barriers may order. */
export const sameCluster = 'the two blocks may belong to one cluster, whose barriers Selvage does not model yet';

/** Clauses on unmodelled constructs that may order two accesses which race in a run. */
const unmodelledOrders: Readonly<Record<Unmodelled, string>> = {
  'fence-order': 'only the order in which two fences ran separates the accesses, and another run may reverse it',
  'warp-exchange': 'only a shuffle or vote separates the accesses, and the PTX memory model gives those no memory ordering',
  cluster: sameCluster,
};

function conditionText(reason: Extract<Reason, { kind: 'condition' }>): string {
  const condition = valueText(reason.condition);
  switch (reason.among) {
    case 'block':
      return `whether a thread reaches a barrier depends on ${condition}, which may differ between threads of a block`;
    case 'grid':
      return `whether a block reaches a barrier of the grid depends on ${condition}, which may differ between blocks`;
    case 'warp':
      return `whether a lane executes ${cudaFunction(reason.mnemonic)} depends on ${condition}, which may differ within a warp`;
  }
}
