/** Figures of a kernel for reviewers, in addition to its bounds, as lines. */
import type { CostReport, CountedLaunch, GpuReport, MixReport, RegisterStep, WidenedReport } from '../../report-model/cost-report.ts';
import type { Location } from '../../source/location.ts';
import type { MixKind } from '../../cost/model/mix-kinds.ts';
import { count, listed } from '../text/code-text.ts';
import { argumentsText, percent } from './cost-messages.ts';

const kindNames: Readonly<Record<MixKind, readonly [singular: string, plural: string]>> = {
  double: ['double-precision instruction', 'double-precision instructions'],
  special: ['special function', 'special functions'],
  division: ['division', 'divisions'],
  atomic: ['atomic', 'atomics'],
  tensor: ['matrix product', 'matrix products'],
};

/** Maximum number of lines that a figure names. */
const maxLines = 3;

/** One line for each figure; empty without figures. */
export function figureLines(cost: CostReport): string[] {
  const { mix = [], widened = [], spills = [], registerStep, counted, gpu } = cost;
  return [
    ...(counted ? [countedLine(counted)] : []),
    ...(gpu ? [gpuLine(gpu)] : []),
    ...(counted?.contention ? [contentionLine(counted.contention)] : []),
    ...(registerStep && cost.resources ? [registerLine(registerStep, cost.resources)] : []),
    ...(spills.length > 0
      ? [
          `spills: ${spills
            .slice(0, maxLines)
            .map(({ location, stores, loads }) => `line ${location.line}: ${count(stores, 'store')}, ${count(loads, 'load')}`)
            .join('; ')}${spills.length > maxLines ? `; ${count(spills.length - maxLines, 'more line')}` : ''}`,
        ]
      : []),
    ...(mix.length > 0 ? [mixLine(mix)] : []),
    ...widened.map(widenedText),
  ];
}

/** A constant that converts float arithmetic to double, and its replacement. */
export function widenedText({ location, literal }: WidenedReport): string {
  return `line ${location.line}: ${literal} is a double literal and promotes the float arithmetic to double; write ${literal}f`;
}

/** Number of serialised updates at atomic operations for which threads wait. */
export function atomicWaitsText({ location, before, after }: { location?: Location | undefined; before: number; after: number }): string {
  const at = location ? `line ${location.line}: ` : '';
  return `${at}atomics wait ${Math.round(after)} turns for others at the same address, ${before === 0 ? 'and did not before' : `${Math.round(before)} before`}`;
}

/**
 * Instructions of expensive kinds: `a thread executes 12.5 double-precision instructions (lines 4, 7), 2 divisions
 * (line 9)`.
 */
function mixLine(mix: readonly MixReport[]): string {
  const parts = mix.map(({ kind, instructions, perThread, lines }) => {
    const amount = perThread === undefined ? instructions : amountOf(perThread);
    const [one, several] = kindNames[kind];
    const shown = lines.slice(0, maxLines).map(({ location }) => location.line);
    const more = lines.length > shown.length ? ' …' : '';
    const where = shown.length === 0 ? '' : ` (${lines.length === 1 ? 'line' : 'lines'} ${shown.sort((a, b) => a - b).join(', ')}${more})`;
    return `${amount} ${amount === 1 ? one : several}${where}`;
  });
  const isCounted = mix.some(({ perThread }) => perThread !== undefined);
  return `${isCounted ? 'a thread executes' : 'the code has'} ${listed(parts)}`;
}

function countedLine({ block, grid, isGridGiven, at, bytes, blockBytes, operations, intensity }: CountedLaunch): string {
  const extents = (size: readonly number[]): string => [...size].join(' x ').replace(/( x 1)+$/, '');
  const names = argumentsText(at);
  const where = `block ${extents(block)}, grid ${extents(grid)}${isGridGiven ? '' : ' (chosen)'}${names === '' ? '' : `, ${names}`}`;
  const reuse = blockBytes < bytes ? `, ${bytesText(blockBytes)} if each block fetches a sector once` : '';
  const of = [
    operations.double > 0 ? `${percent(operations.double / sumOf(operations))} of them double` : '',
    operations.tensor > 0 ? `${percent(operations.tensor / sumOf(operations))} in matrix products` : '',
  ].filter((part) => part !== '');
  const work =
    intensity === null || intensity === 0
      ? ''
      : `; ${amountOf(intensity)} floating-point operations per byte of these${of.length > 0 ? `, ${of.join(', ')}` : ''}`;
  return `counted at ${where}: ${bytesText(bytes)} of global memory transferred${reuse}${work}`;
}

function sumOf({ single, double, tensor }: CountedLaunch['operations']): number {
  return single + double + tensor;
}

/**
 * Position on the roofline, and waves: `at the peaks of the A100 memory takes longest, arithmetic 12 % of that time;
 * 4.7 waves of 864 blocks, the last one fills 70 % of it`.
 */
function gpuLine({ name, bound, share, waves }: GpuReport): string {
  const [first, second] = bound === 'memory' ? ['memory', 'arithmetic'] : ['arithmetic', 'memory'];
  const standing = `at the peaks of the ${name} ${first} takes longest, ${second} ${share < 0.001 ? 'next to nothing' : `${percent(share)} of that time`}`;
  if (!waves) return standing;
  if (waves.count <= 1) return `${standing}; the grid fills ${percent(waves.count)} of it once`;
  return `${standing}; ${amountOf(waves.count)} waves of ${waves.blocks} blocks, the last one fills ${percent(waves.last)} of it`;
}

function contentionLine({ location, space, updates, ofWarp }: NonNullable<CountedLaunch['contention']>): string {
  const at = location ? `line ${location.line}: ` : '';
  const lanes = ofWarp > 1.005 ? `, ${amountOf(ofWarp)} lanes of a warp at a time` : '';
  const whose = space === 'shared' ? 'in a block' : 'in the launch';
  return `${at}atomics update one address ${Math.round(updates)} times ${whose}${lanes}`;
}

function registerLine(step: RegisterStep, { registers, occupancy = 0 }: NonNullable<CostReport['resources']>): string {
  const fewer = count(registers - step.registers, 'register fewer', 'registers fewer');
  const { spillBytes } = step;
  const cost = spillBytes === undefined ? '' : spillBytes === 0 ? ', and spill nothing' : `, and spill ${count(spillBytes, 'byte')}`;
  return `${fewer} would give an occupancy of ${percent(step.occupancy)} instead of ${percent(occupancy)}${cost} (__launch_bounds__ or -maxrregcount=${step.registers})`;
}

/** Bytes with a decimal prefix, as is usual for bandwidths: `1.5 MB`. */
function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${amountOf(bytes / 1000 ** power)} ${units[power]}`;
}

/** An amount with three significant digits. */
function amountOf(amount: number): number {
  return Number(amount.toPrecision(3));
}
