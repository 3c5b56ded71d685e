/** What a review adds to the message of a finding: a title, other lines, the launch and the kernels that are meant. */
import type { Finding } from '../document/outcome.ts';
import { accessesInOrder, isRace } from '../document/outcome.ts';
import type { LaunchReport } from '../document/report.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { LaunchSource } from '../launch/launch.ts';
import type { Location } from '../source/location.ts';
import { code } from './code-text.ts';

const mostArguments = 6;
const mostKernels = 5;

/**
 * A few words: ``Data race on shared `s` ``.
 * @param findings of one cause, the one that is told first
 */
export function titleText([finding, ...others]: readonly [Finding, ...Finding[]]): string {
  if (!isRace(finding))
    return finding.code === 'barrier/early-exit' ? 'Threads return before a barrier' : 'Barrier divergence';
  const arrays = new Set<string>();
  for (const one of [finding, ...others]) if (isRace(one) && one.array !== undefined) arrays.add(one.array);
  const space = finding.memory === 'generic' ? '' : `${finding.memory} `;
  return `Data race on ${space}${arrays.size === 0 ? 'memory' : [...arrays].slice(0, 3).map(code).join(', ')}`;
}

/**
 * The other pairs of lines of races with one cause: `Accesses on these lines race for the same reason: 12 and 20; 14 and 20.`
 * @param findings the one that is told first
 */
export function otherLinesText([told, ...others]: readonly [Finding, ...Finding[]]): string {
  const pairOf = (finding: Finding): string | undefined => {
    if (!isRace(finding)) return undefined;
    const [first, second] = accessesInOrder(finding).map(({ location }) => location?.line);
    if (first === undefined || second === undefined) return undefined;
    return first === second ? `${first} (two threads)` : `${first} and ${second}`;
  };
  const known = pairOf(told);
  const pairs = [...new Set(others.map(pairOf))].filter((pair) => pair !== undefined && pair !== known);
  return pairs.length === 0 ? '' : `Accesses on these lines race for the same reason: ${pairs.join('; ')}.`;
}

/** Under which launch and arguments, and where these come from; empty where the message says what was chosen, or nothing was given. */
export function launchText({ witness, witnessOrigin }: Finding, launch: LaunchReport | undefined): string {
  if (witnessOrigin === 'chosen' || !launch) return '';
  const block = witness?.block ?? launch.block;
  const grid = witness?.grid ?? launch.grid;
  const scalars = Object.entries(witness?.args ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [`${code(name)} = ${code(String(value))}`],
  );
  const values = [
    ...(block ? [`block ${tuple(block)}`] : []),
    ...(grid ? [`grid ${tuple(grid)}`] : []),
    ...scalars.slice(0, mostArguments),
  ].join(', ');
  const from = originText(launch.source, launch.location);
  const parts = [values, ...(from === undefined ? [] : [values === '' ? from : `from ${from}`])];
  const told = parts.filter((part) => part !== '').join(', ');
  return told === '' ? '' : `Launch: ${told}.`;
}

/** The kernels that findings of one cause concern, shortened. */
export function kernelsText(kernels: readonly string[]): string {
  const shown = kernels.slice(0, mostKernels).map(code).join(', ');
  const more = kernels.length > mostKernels ? ` and ${kernels.length - mostKernels} more` : '';
  return `${kernels.length === 1 ? 'Kernel: ' : `Kernels (${kernels.length}): `}${shown}${more}.`;
}

function tuple(value: Dim3): string {
  return `(${value.join(',')})`;
}

function originText(source: LaunchSource, location?: Location): string | undefined {
  const at = location ? ` at ${code(`${location.file}:${location.line}`)}` : '';
  switch (source) {
    case 'option':
      return 'the command line';
    case 'config':
      return 'the configuration';
    case 'annotation':
      return `the annotation${at}`;
    case 'launch-site':
      return `the launch${at}`;
    case 'launch-bounds':
      return code('__launch_bounds__');
    case 'reqntid':
      return code('.reqntid');
    case 'symbolic':
      return undefined;
  }
}
