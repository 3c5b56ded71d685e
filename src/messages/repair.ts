/** Repairs in words: effect and cost of an edit, or the reason for its absence. */
import { grouped } from '../base/grouped.ts';
import type { MacroHindrance } from '../cuda/editing/macro-use.ts';
import type { NarrowValue } from '../cuda/editing/wider-index.ts';
import type { BarrierChange, BuildCost } from '../repair/build-cost.ts';
import type {
  EditedHeader,
  EditStep,
  Explanation,
  LeftOpen,
  NoRepair,
  Note,
  Obstacle,
  EditPlace,
  RacingLines,
  EditRefusal,
  AddedStatement,
} from '../repair/explanation.ts';
import { code, listed, sentences } from './text/code-text.ts';
import { reasonText, timeLimitText } from './text/verdict-reason.ts';

const statements: Readonly<Record<AddedStatement, string>> = {
  block: code('__syncthreads()'),
  warp: code('__syncwarp()'),
  grid: code('cooperative_groups::this_grid().sync()'),
  fence: code('__threadfence()'),
  'block-fence': code('__threadfence_block()'),
};

const noteTexts: Readonly<Record<Note, string>> = {
  'not-shown': 'no run showed the fault; with this edit the kernel is proved',
  'returned-threads': 'threads that already returned do not reach this barrier; sm_70 and later allow that',
};

const hindranceTexts: Readonly<Record<MacroHindrance, string>> = {
  operators: 'its definition holds `#`, `##` or variable arguments',
  definitions: 'it is defined more than once',
  part: 'its use is not a separate statement within braces',
};

/** An edit in the imperative: ``add `__syncthreads()` after line 11``. */
export function explanationText({ steps, notes, leaves, because, header }: Explanation): string {
  const rest = because ? [restText(leaves, because)] : [];
  const place = header ? `in ${header.file}, ` : '';
  const reach = header ? [reachText(header)] : [];
  return [place + steps.map(stepText).join(', and '), ...notes.map((note) => noteTexts[note]), ...reach, ...rest].join('; ');
}

/** The units in which an edited header was verified, as a phrase. */
function reachText({ verified, broken }: EditedHeader): string {
  const compile = verified.length === 1 ? 'compiles' : 'compile';
  const that = broken.length === 0 ? 'that include it' : `that include it and ${compile}`;
  const them =
    verified.length === 1
      ? `${verified[0]}, the only unit ${that.replace('include ', 'includes ')}`
      : `all ${verified.length} units ${that}: ${verified.join(', ')}`;
  const rest = broken.length === 0 ? '' : ` (${broken.join(', ')} ${broken.length === 1 ? 'does' : 'do'} not)`;
  return `verified in ${them}${rest}`;
}

/** Findings that remain after a partial repair: `the warning of line 12 stays, because …`. */
function restText(leaves: readonly LeftOpen[], because: readonly Obstacle[]): string {
  const told = (['error', 'warning', 'notice'] as const).flatMap((severity) => {
    const own = leaves.filter((one) => one.severity === severity);
    const lines = own.flatMap((one) => one.lines);
    if (own.length === 0) return [];
    return [`the ${severity}${own.length === 1 ? '' : 's'}${lines.length === 0 ? '' : ` on ${linesText(lines)}`}`];
  });
  const count = leaves.length;
  const what = told.length === 0 ? 'the kernel is still not proved' : `${told.join(' and ')} ${count === 1 ? 'remains' : 'remain'}`;
  return `${what}, because ${noRepairText({ kind: 'unrepairable', obstacles: because })}`;
}

function stepText(step: EditStep): string {
  switch (step.kind) {
    case 'placement':
      return placementText(step);
    case 'move':
      return moveText(step);
    case 'atomics': {
      const rounding = step.isFloat ? ' (the rounding of a floating-point sum then depends on the order of the threads)' : '';
      return `use ${step.updates === 1 ? 'an atomic operation on line' : 'atomic operations on lines'} ${step.lines.join(', ')}${rounding}`;
    }
    case 'widen':
      return `replace ${statements['block-fence']} with ${statements.fence} on ${linesText(step.lines)}`;
    case 'write-out':
      return `write out ${step.macros.map(({ macro, line }) => `the macro ${code(macro)} on line ${line}`).join(' and ')}`;
    case 'guard-returns':
      return `replace the return on line ${step.lines.join(', ')} with a condition around the rest`;
    case 'join-branches':
      return `move the barriers of both branches out of the ${code('if')} on line ${step.lines.join(', ')}`;
    case 'double-buffer':
      return `use two copies of ${step.arrays.map(code).join(' and ')} alternately, one in each iteration of the loop on line ${step.line}`;
    case 'wider-index':
      return widerText(step);
    case 'wait': {
      const call = code(step.written.replace(/\s+/g, ' '));
      return step.removed.length === 0
        ? `add ${call} ${placeText(step.place)}`
        : `move ${call} from ${linesText(step.removed)} to ${placeText(step.place)}`;
    }
    case 'redundant':
      return `no two accesses need the ${step.lines.length === 1 ? 'barrier on line' : 'barriers on lines'} ${step.lines.join(', ')}`;
  }
}

function widerText({ casts, variables }: Extract<EditStep, { kind: 'wider-index' }>): string {
  const parts = [
    ...variables.map(({ line, name, type }) => `declare ${code(name)} on line ${line} as ${code(type)}`),
    ...[...grouped(casts, ({ line }) => line)].map(([line, own]) => {
      return `compute ${listed(own.map(({ text }) => code(text.replace(/\s+/g, ' '))))} on line ${line}`;
    }),
  ];
  return listed(parts);
}

function moveText({ line, isOutOfIf, to }: Extract<EditStep, { kind: 'move' }>): string {
  if (to.kind === 'condition') return `move the barrier on line ${line} out of the ${code('if')}, which is split in two at line ${to.line}`;
  return isOutOfIf
    ? `move the barrier on line ${line} out of the ${code('if')}, to ${placeText(to)}`
    : `move the barrier on line ${line}, which some threads miss, to ${placeText(to)}`;
}

function placementText({ added, removed }: Extract<EditStep, { kind: 'placement' }>): string {
  const callOf = ({ statement, written }: (typeof added)[number]): string =>
    written === undefined ? statements[statement] : code(written);
  const parts = (['block', 'fence', 'block-fence', 'warp', 'grid'] as const).flatMap((statement) => {
    const own = added.filter((one) => one.statement === statement);
    return [...new Set(own.map(callOf))].flatMap((call) => {
      const places = own.filter((one) => callOf(one) === call).map(({ place }) => place);
      const existing = places.filter(({ kind }) => kind === 'existing').map(({ line }) => line);
      const fresh = [...new Set(places.filter(({ kind }) => kind !== 'existing').map(placeText))];
      return [
        ...(fresh.length > 0 ? [`add ${call} ${fresh.join(', ')}`] : []),
        ...(existing.length > 0 ? [`replace the barrier on ${linesText(existing)} with ${call}`] : []),
      ];
    });
  });
  const missed = `${removed.length === 1 ? 'the barrier' : 'the barriers'} on ${linesText(removed)}, which some threads miss`;
  return [...parts, ...(removed.length > 0 ? [`remove ${missed}`] : [])].join(' and ') || 'add no barrier';
}

function placeText({ kind, line }: EditPlace): string {
  switch (kind) {
    case 'after':
    case 'before':
      return `${kind} line ${line}`;
    case 'split':
      return `between the two parts of line ${line}`;
    case 'condition':
      return `at line ${line} (between two parts of the ${code('if')})`;
    case 'existing':
      return `on line ${line}`;
  }
}

function linesText(lines: readonly number[]): string {
  const all = [...new Set(lines)].sort((a, b) => a - b);
  return `${all.length === 1 ? 'line' : 'lines'} ${all.join(', ')}`;
}

/** Why a kernel was not repaired, as a clause. */
export function noRepairText(why: NoRepair): string {
  switch (why.kind) {
    case 'unrepairable':
      return [...new Set(why.obstacles.map(obstacleText))].join('; ');
    case 'timeout':
      return why.isLate
        ? timeLimitText(' before Selvage verified an edit')
        : 'the search for an edit reached its limit of checks before Selvage verified an edit';
    case 'unconfirmed':
      return 'no run confirmed a race or barrier divergence, so there was nothing to repair';
    case 'no-compiler':
      return 'without a compiler Selvage cannot check an edit';
    case 'known':
      return 'its findings are in the base commit, too';
    case 'enough':
      return `the budget of this review for repairs is used up; ${code(`selvage repair ${why.file}`)} repairs this kernel`;
    case 'ptx':
      return `${why.file} is PTX: give the CUDA file that it was compiled from, which can be edited`;
    case 'unreadable':
      return `${why.file} cannot be read`;
    case 'generated': {
      const instead = why.from === undefined ? '; edit what it is generated from' : ` from ${why.from}; edit that file`;
      return `${why.file} contains #line directives, so it is generated${instead} instead`;
    }
    case 'defined-elsewhere':
      return `the kernel is defined in ${why.definedIn ?? 'a file that is not known'}${why.isOutside ? ', outside of the repository' : ''}, which Selvage does not edit`;
    case 'macro-kernel':
      return `the kernel on line ${why.line} is defined by a macro, and Selvage does not edit macros`;
    case 'many-units':
      return `${why.units} units include ${why.file}, more than Selvage builds to verify an edit`;
    case 'clash':
      return `this repair conflicts with the repair of ${why.kernels.map(code).join(', ')}; apply that one first, then run again`;
  }
}

function obstacleText(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'marked-copy':
      return 'the copy of the file in which Selvage tries barriers does not compile';
    case 'unproved': {
      const { reason, accesses } = obstacle;
      if (accesses && reason.kind !== 'no-candidate')
        return `Selvage could not prove ${accessesText(accesses)} free of races, which no barrier separates: ${reasonText(reason)}`;
      return `Selvage could not prove the kernel with any placement of barriers: ${reason.kind === 'no-candidate' ? 'no barrier can be added between the accesses' : reasonText(reason)}`;
    }
    case 'one-access':
      return `several threads execute the same access on line ${obstacle.line ?? '?'} to the same element, and no barrier can separate them`;
    case 'blocks':
      return `${accessesText(obstacle.accesses)} race between blocks, which no barrier of a block orders, and Selvage found no other edit: follow the advice of the finding`;
    case 'wait':
      return `threads synchronise by ${listed(obstacle.flags.map(code))}, whose statements Selvage does not edit: follow the advice of the finding`;
    case 'foreign': {
      const { file, accesses, call } = obstacle;
      const called = !call ? '' : `${call.name === undefined ? '' : ` in ${call.name}`}, which line ${call.line} calls`;
      return `no barrier in ${file} can separate ${accessesText(accesses)}${called}, and Selvage does not edit ${accesses.foreign}`;
    }
    case 'narrow-value':
      return narrowText(obstacle.value);
    case 'no-product':
      return 'the source of the index has no product that Selvage could cast to 64 bits';
    case 'no-wait-place':
      return `no statement of the file is on all paths to the accesses, so ${code('cudaGridDependencySynchronize()')} cannot be inserted before them`;
    case 'as-before':
      return reasonText(obstacle.reason);
    case 'in-header':
      return `in ${obstacle.file}, ${[...new Set(obstacle.obstacles.map(obstacleText))].join('; ')}`;
    case 'macro':
      return `${accessesText(obstacle.accesses)} are inside the macro ${obstacle.macro}${obstacle.hindrance ? `, which is not written out because ${hindranceTexts[obstacle.hindrance]}` : ''}`;
    case 'no-place':
      return `no barrier can be added between ${accessesText(obstacle.accesses)}`;
    case 'partial':
      return `only some threads reach the code between ${accessesText(obstacle.accesses)}, so no barrier can be added there`;
    case 'not-cooperative':
      return `launch the kernel cooperatively and ${stepText(obstacle.step)}, which is then proved, or split the kernel into two launches there`;
    case 'refused':
      return `Selvage tried to ${stepText(obstacle.step)}, but ${refusalText(obstacle.refusal)}`;
    case 'not-enough':
      return `Selvage tried to ${stepText(obstacle.step)}: ${obstacle.obstacles.map(obstacleText).join('; ')}`;
  }
}

/** The value that has to be wider, and why Selvage does not change its type. */
function narrowText({ kind, name, line }: NarrowValue): string {
  const value = code(name);
  switch (kind) {
    case 'parameter':
      return `the parameter ${value} of the function on line ${line} has to be a 64-bit integer, and its type is part of an interface`;
    case 'result':
      return `${value} on line ${line} has to return a 64-bit integer, and its type is part of an interface`;
    case 'declared-together':
      return `${value} has to be a 64-bit integer, and line ${line} declares other variables with it`;
    case 'other-use':
      return `${value} has to be a 64-bit integer, and line ${line} uses it for more than an index`;
  }
}

function accessesText({ first = 0, second = 0, foreign }: RacingLines): string {
  const [one, other] = [first || '?', second || '?'];
  const lines = one === other ? `line ${one}` : `lines ${one} and ${other}`;
  return `the accesses of ${lines}${foreign === undefined ? '' : ` of ${foreign}`}`;
}

function refusalText(refusal: EditRefusal): string {
  switch (refusal.kind) {
    case 'does-not-compile':
      return 'the edited file does not compile';
    case 'lost-kernel':
      return `the edited file lacks the kernel ${refusal.kernel}`;
    case 'many-units':
      return `${refusal.units} units include that file, more than Selvage builds to verify an edit`;
    case 'one-site':
      return 'that takes a barrier away, and holds only for the arguments that this launch site passes';
    case 'nothing-fixed':
      return 'each finding is still there';
    case 'new-race':
      return `the accesses of ${linesText(refusal.lines)} race in the edited kernel, or worse than before`;
    case 'new-finding':
      return `the edited kernel has another finding on ${linesText(refusal.lines)}`;
    case 'other-overflow':
      return `an index still wraps around when ${listed(refusal.sizes.map(code))}`;
    case 'other-values':
      return 'the edited kernel computes different values';
    case 'not-proved': {
      const { check, verdict, reason } = refusal;
      return `the edited kernel is not proved free of ${check === 'race' ? 'races' : 'divergence'} (${reason ? reasonText(reason) : verdict})`;
    }
    case 'early-access': {
      const where = refusal.lines.length === 0 ? 'an access' : `the access on ${linesText(refusal.lines)}`;
      return refusal.isMoved ? `the optimiser still moves ${where} above the wait` : `${where} is still before the wait`;
    }
    case 'builds-differ':
      return `of the edited kernel, the optimised build differs from the build that was checked: ${refusal.differ}`;
    case 'unstated-assumption':
      return `the proof needs an assumption that you did not state: ${refusal.assumption}`;
    case 'harms-kernel':
      return `the edit also changes the kernel ${code(refusal.kernel)} and makes its result worse`;
  }
}

/**
 * The sentences on redundant barriers of a kernel.
 * @param reason the edit that removes them, in words
 * @param cost the savings, in words; undefined if unknown
 */
export function redundantMessage(kernel: string, barriers: number, reason: string, cost: string | undefined): string {
  const [what, them] = barriers === 1 ? ['a redundant barrier', 'it'] : ['redundant barriers', 'them'];
  const saving = cost === undefined ? '' : ` (${cost})`;
  return sentences(`the kernel ${kernel} has ${what}: ${reason}`, `Selvage proves the kernel without ${them}${saving}`);
}

/** The cost of an edit: `1 barrier more in the loop, 2 registers fewer`. */
export function repairCostText(
  { added, removed, addedInLoops, removedInLoops }: BarrierChange,
  before: BuildCost,
  after: BuildCost,
): string {
  const inside = addedInLoops - removedInLoops;
  const outside = added - removed - inside;
  const both = inside !== 0 && outside !== 0;
  const more = (amount: number, noun: string, plural = `${noun}s`): string =>
    amount === 0 ? `no extra ${noun}` : `${Math.abs(amount)} ${Math.abs(amount) === 1 ? noun : plural} ${amount > 0 ? 'more' : 'fewer'}`;
  const parts = [
    ...(outside !== 0 ? [`${more(outside, 'barrier')}${both ? ' outside of loops' : ''}`] : []),
    ...(inside !== 0 ? [`${more(inside, 'barrier')} in the loop`] : []),
    ...(inside === 0 && outside === 0 && added > 0 ? [more(0, 'barrier')] : []),
    more(after.registers - before.registers, 'register'),
  ];
  const spills = after.spillBytes - before.spillBytes;
  if (spills !== 0) parts.push(`${more(spills, 'byte')} of spills`);
  const shared = after.sharedBytes - before.sharedBytes;
  if (shared !== 0) parts.push(`${more(shared, 'byte')} of shared memory`);
  return parts.join(', ');
}
