/** Texts on launches: checked launches, launches of a run, and their chosen values. */
import type { Dim3 } from '../../base/dim3.ts';
import { maximumSharedBytes } from '../../device/hardware-limits.ts';
import type { Finding } from '../../report-model/outcome.ts';
import type { LaunchReport } from '../../report-model/report.ts';
import type { LaunchSource } from '../../launch/launch.ts';
import type { ChosenLaunch } from '../../verdict/finding.ts';
import { code, codeList, listed, sharedMemory } from './code-text.ts';
import { place } from './place.ts';

/** A thread or block index: `(3, 0, 0)`. */
export function triple(value: Dim3): string {
  return `(${value.join(', ')})`;
}

/** Why no device runs a launch whose blocks need `sharedBytes` bytes of shared memory. */
export function refusedText(sharedBytes: number): string {
  return `no device runs the launch: a block has at most ${maximumSharedBytes} bytes of shared memory, not ${sharedBytes}`;
}

/** Dimensions as text: `256` if one-dimensional, otherwise `(16, 16, 1)`. */
function extent(dim: Dim3): string {
  return dim[1] === 1 && dim[2] === 1 ? String(dim[0]) : triple(dim);
}

/** The unspecified launch dimensions and scalars that a finding depends on: ``block 2, `n` = 1``. */
export function chosenText({ block, grid, scalars, contents }: ChosenLaunch): string {
  if (contents) {
    const { value, others } = contents;
    const all = contentsText(value);
    const more = others.map((other) => `every element of ${codeList(other.arrays)} equal to ${other.value}`);
    return more.length === 0 ? all : `${all}, but ${listed(more)}`;
  }
  return [
    ...(block ? [`block ${extent(block)}`] : []),
    ...(grid ? [`grid ${extent(grid)}`] : []),
    ...scalars.map(([name, value]) => `${code(name)} = ${value}`),
  ].join(', ');
}

function contentsText(value: number | string): string {
  if (typeof value === 'number') return `every array element equal to ${value}`;
  return value === 'rising' || value === 'falling' ? `array elements in ${value} order` : 'random array elements';
}

/** Texts for the origin of a launch. */
const sources: Readonly<Record<LaunchSource, string>> = {
  option: 'command line',
  config: 'configuration',
  annotation: 'annotation',
  'launch-site': 'launch',
  'launch-bounds': '__launch_bounds__',
  reqntid: '.reqntid',
  symbolic: 'no launch given',
};

/** `block 256, 1, 1 · grid 64, 1, 1 · 4096 bytes of shared memory (annotation, src/a.cu:9)`. */
export function launchPhrase(launch: LaunchReport): string {
  const parts = [
    `block ${launch.block ? launch.block.join(', ') : tiedExtents(launch, 'blockDim')}`,
    `grid ${launch.grid ? launch.grid.join(', ') : tiedExtents(launch, 'gridDim')}`,
    ...(launch.cluster ? [`cluster ${launch.cluster.join(', ')}`] : []),
    ...(launch.sharedBytes ? [sharedMemory(launch.sharedBytes)] : []),
    ...(launch.cooperative ? ['cooperative'] : []),
  ];
  const source = sources[launch.source] + (launch.location ? `, ${place(launch.location)}` : '');
  return `${parts.join(' · ')} (${source})`;
}

/** Dimensions that the host program derives from arguments: `(n + 255) / 256, 1, 1`; `any` for unspecified ones. */
function tiedExtents({ ties = [] }: LaunchReport, name: 'blockDim' | 'gridDim'): string {
  const extents = ['x', 'y', 'z'].map((axis) => {
    const start = `${name}.${axis} == `;
    return ties.find((tie) => tie.startsWith(start))?.slice(start.length);
  });
  return extents.every((one) => one === undefined) ? 'any' : extents.map((one) => one ?? 'any').join(', ');
}

/** The execution configuration and scalar arguments of the run that confirms a finding. */
export function witnessPhrase({ witness }: Finding): string | undefined {
  if (!witness) return undefined;
  const scalars = Object.entries(witness.args).flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name} = ${value}`]));
  return [`block ${witness.block.join(', ')}`, `grid ${witness.grid.join(', ')}`, ...scalars].join(' · ');
}
