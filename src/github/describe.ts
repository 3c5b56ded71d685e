/** What a finding is, in the terms of the source. */
import type { Dim3, LaunchSource } from '../check/launch.ts';
import type { AccessDescription, DivergenceFinding, RaceFinding, WitnessArgument } from '../check/verdict.ts';
import type { LaunchReport } from '../driver/report.ts';
import { outermost, type Location } from '../source/location.ts';
import { inOrder, isRace, type Finding, type FindingGroup } from './finding-group.ts';
import { code, joinPhrases, phrase, type Phrase } from './phrase.ts';

const SYNC = code('__syncthreads()');
const MAX_ARGUMENTS = 6;
const MAX_KERNELS = 5;

/** A few words: `Data race on shared s`. */
export function titleOf({ example, occurrences }: FindingGroup): Phrase {
  const { finding } = example;
  if (!isRace(finding)) {
    return [finding.code === 'barrier/early-exit' ? 'Threads return before a barrier' : 'Barrier divergence'];
  }
  const arrays = new Set<string>();
  for (const other of occurrences) {
    if (isRace(other.finding) && other.finding.array !== undefined) arrays.add(other.finding.array);
  }
  const memory = finding.memory === 'generic' ? '' : `${finding.memory} `;
  if (arrays.size === 0) return [`Data race on ${memory}memory`];
  return [
    `Data race on ${memory}`,
    ...joinPhrases(
      [...arrays].slice(0, 3).map((array) => [code(array)]),
      ', ',
    ),
  ];
}

/** One sentence: who does what, and what is missing between. `home` is the file that line numbers refer to unsaid. */
export function whatHappens(finding: Finding, home?: string): Phrase {
  return isRace(finding) ? raceSentence(finding, home) : divergenceSentence(finding, home);
}

/** Under which launch and arguments, and where these come from. */
export function underWhichLaunch(finding: Finding, launch: LaunchReport | undefined): Phrase {
  const { witness } = finding;
  const block = witness?.block ?? launch?.block;
  const grid = witness?.grid ?? launch?.grid;
  const dims: Phrase[] = [];
  if (block) dims.push([`block ${dim(block)}`]);
  if (grid) dims.push([`grid ${dim(grid)}`]);
  const shown: Phrase[] = Object.entries(witness?.args ?? {}).flatMap(([name, value]) => {
    const text = scalarText(value);
    return text === undefined ? [] : [phrase`${code(name)} = ${code(text)}`];
  });
  const values = joinPhrases([...dims, ...shown.slice(0, MAX_ARGUMENTS)], ', ');
  if (finding.witnessOrigin === 'chosen') {
    if (values.length === 0) return ['The launch that shows it is one that we chose.'];
    return phrase`${[isRace(finding) ? 'Races' : 'Happens']} if launched with ${values}.`;
  }
  if (!launch) return values.length === 0 ? [] : phrase`Launch: ${values}.`;
  const from = launchOrigin(launch.source, launch.location);
  return values.length === 0 ? phrase`Launch: ${from}.` : phrase`Launch: ${values}, from ${from}.`;
}

/** The kernels a group concerns, shortened. */
export function inWhichKernels({ kernels }: FindingGroup): Phrase {
  const shown = joinPhrases(kernels.slice(0, MAX_KERNELS).map((name) => [code(name)]), ', '); // prettier-ignore
  const more = kernels.length - MAX_KERNELS;
  return [
    kernels.length === 1 ? 'Kernel: ' : `Kernels (${kernels.length}): `,
    ...shown,
    more > 0 ? ` and ${more} more.` : '.',
  ];
}

/** `line 14`, or `src/a.cuh:14` outside `home`. */
export function place({ file, line }: Location, home?: string): Phrase {
  return file === home ? [`line ${line}`] : [code(`${file}:${line}`)];
}

/** ` (called from line 30)` for code that was inlined: the calls in the kernel itself, each once. */
function calledFrom(locations: readonly (Location | undefined)[], home?: string): Phrase {
  const calls = new Map<string, Phrase>();
  for (const location of locations) {
    if (!location?.inlinedAt) continue;
    const call = outermost(location);
    calls.set(`${call.file}:${call.line}`, place(call, home));
  }
  return calls.size === 0 ? [] : phrase` (called from ${joinPhrases([...calls.values()], ' and ')})`;
}

/** Dimensions, or coordinates of a thread or block, as texts show them: `(32,8,1)`. */
export function dim(value: Dim3): string {
  return `(${value.join(',')})`;
}

function raceSentence(finding: RaceFinding, home?: string): Phrase {
  const [first, second] = inOrder(finding);
  const acrossBlocks = differ(first.block, second.block);
  const sameLine =
    first.location !== undefined &&
    first.location.file === second.location?.file &&
    first.location.line === second.location.line;
  const actors = sameLine
    ? phrase`${access(first, acrossBlocks)}, ${access(second, acrossBlocks, first)}, both on ${place(first.location, home)}`
    : phrase`${accessAt(first, acrossBlocks, home)}, ${accessAt(second, acrossBlocks, home, first)}`;
  const calls = calledFrom([first.location, second.location], home);
  const order = missingOrder(finding, acrossBlocks, sameLine, home);
  return phrase`${capitalised(actors)}${calls}; ${order}.${sameValueNote(finding)}`;
}

function access(self: AccessDescription, acrossBlocks: boolean, other?: AccessDescription): Phrase {
  const who = self.thread
    ? `thread ${dim(self.thread)}${acrossBlocks && self.block ? ` of block ${dim(self.block)}` : ''}`
    : other
      ? `another${acrossBlocks ? ' in another block' : ''}`
      : 'one thread';
  const verb = { read: 'reads', write: 'writes', atomic: 'atomically updates' }[self.operation];
  if (self.expression !== undefined) return phrase`${[`${who} ${verb} `]}${code(self.expression)}`;
  const bytes = self.bytes === undefined ? '' : `${self.bytes} ${self.bytes === 1 ? 'byte' : 'bytes'} of `;
  const memory = self.memory === 'generic' ? 'memory' : `${self.memory} memory`;
  return [`${who} ${verb} ${bytes}${memory}`];
}

function accessAt(self: AccessDescription, acrossBlocks: boolean, home?: string, other?: AccessDescription): Phrase {
  const text = access(self, acrossBlocks, other);
  return self.location ? phrase`${text} on ${place(self.location, home)}` : text;
}

function missingOrder(finding: RaceFinding, acrossBlocks: boolean, sameLine: boolean, home?: string): Phrase {
  if (finding.kind === 'scope') return ['the scope of the atomic does not take in both threads'];
  if (acrossBlocks) return ['nothing orders threads of different blocks'];
  const [{ location: a }, { location: b }] = inOrder(finding);
  if (sameLine || !a || !b) return phrase`no ${SYNC} separates the two accesses`;
  if (a.file === home && b.file === home) return phrase`no ${SYNC} separates lines ${a.line} and ${b.line}`;
  return phrase`no ${SYNC} separates ${place(a, home)} and ${place(b, home)}`;
}

function sameValueNote(finding: RaceFinding): Phrase {
  return finding.sameValue === true ? [' Both write the same value.'] : [];
}

function divergenceSentence(finding: DivergenceFinding, home?: string): Phrase {
  const at = phrase`${place(finding.barrier, home)}${calledFrom([finding.barrier], home)}`;
  const condition: Phrase | undefined = finding.condition === undefined ? undefined : [code(finding.condition)];
  switch (finding.kind) {
    case 'early-exit':
      return condition
        ? phrase`Depending on ${condition}, some threads return before the barrier on ${at} that others wait at.`
        : phrase`Some threads return before the barrier on ${at} that others wait at.`;
    case 'partial-arrival':
      return phrase`Fewer threads arrive at the barrier on ${at} than it waits for.`;
    case 'deadlock':
      return phrase`Threads wait at the barrier on ${at} for others that never arrive.`;
    case 'divergent':
      return condition
        ? phrase`Threads of one block differ in ${condition}, so some reach the barrier on ${at} and others do not.`
        : phrase`Some threads of a block reach the barrier on ${at} and others do not.`;
  }
}

function launchOrigin(source: LaunchSource, location?: Location): Phrase {
  const at: Phrase = location ? [' at ', code(`${location.file}:${location.line}`)] : [];
  switch (source) {
    case 'option':
      return ['the options given'];
    case 'config':
      return ['the configuration'];
    case 'annotation':
      return ['the annotation', ...at];
    case 'launch-site':
      return ['the launch', ...at];
    case 'launch-bounds':
      return [code('__launch_bounds__')];
    case 'reqntid':
      return [code('.reqntid')];
    case 'symbolic':
      return ['any launch'];
  }
}

function scalarText(value: WitnessArgument): string | undefined {
  return typeof value === 'object' ? undefined : String(value);
}

function differ(first: Dim3 | undefined, second: Dim3 | undefined): boolean {
  return first !== undefined && second !== undefined && first.some((value, axis) => value !== second[axis]);
}

function capitalised(parts: Phrase): Phrase {
  const [first, ...rest] = parts;
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : parts;
}

/** What could not be excluded, in one line: the accesses or the barrier, without claiming that it happens. */
export function whatIsPossible(finding: Finding, home?: string): Phrase {
  if (!isRace(finding)) return phrase`barrier on ${place(finding.barrier, home)} that some threads may not reach`;
  const [first, second] = inOrder(finding);
  return phrase`${possibleAccess(first, home)} and ${possibleAccess(second, home)} may overlap`;
}

function possibleAccess(self: AccessDescription, home?: string): Phrase {
  const text: Phrase = [code(self.expression ?? `${self.memory} memory`)];
  return self.location ? phrase`${[`${self.operation} of `]}${text} on ${place(self.location, home)}` : text;
}
