/** What a finding is, in the terms of the source. */
import type { Dim3 } from '../base/dim3.ts';
import type { LaunchSource } from '../launch/launch.ts';
import type { AccessDescription, DivergenceFinding, RaceFinding, WitnessArgument } from '../verdict/finding.ts';
import { accessesInOrder, isRace, type Finding } from '../document/outcome.ts';
import type { LaunchReport } from '../document/report.ts';
import { count } from '../wording/phrases.ts';
import { outermost, type Location } from '../source/location.ts';
import type { FindingGroup } from './finding-group.ts';
import { code, joinPhrases, phrase, type Phrase } from './phrase.ts';

const SYNC = code('__syncthreads()');
const WARP_SYNC = code('__syncwarp()');
const FENCE = code('__threadfence()');
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

/** The other pairs of lines of a group of races: `The same holds for lines 12 and 20, lines 14 and 20.` */
export function alsoUnordered({ example, occurrences }: FindingGroup): Phrase {
  const pairOf = (finding: Finding): string | undefined => {
    if (!isRace(finding)) return undefined;
    const [first, second] = accessesInOrder(finding).map(({ location }) => location?.line);
    if (first === undefined || second === undefined) return undefined;
    return first === second ? `line ${first} with itself` : `lines ${first} and ${second}`;
  };
  const told = pairOf(example.finding);
  const others = [...new Set(occurrences.map(({ finding }) => pairOf(finding)))].filter(
    (pair) => pair !== undefined && pair !== told,
  );
  return others.length === 0 ? [] : [`The same holds for ${others.join(', ')}.`];
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
  const [first, second] = accessesInOrder(finding);
  const acrossBlocks = differ(first.block, second.block);
  const sameLine = onOneLine(finding);
  const actor = (self: AccessDescription, other?: AccessDescription): Phrase => {
    const doing = phrase`${[who(self, acrossBlocks, other)]} ${action(self, finding)}`;
    return sameLine || !self.location ? doing : phrase`${doing} on ${place(self.location, home)}`;
  };
  const actors = phrase`${actor(first)}, ${actor(second, first)}`;
  const both = sameLine && first.location ? phrase`, both on ${place(first.location, home)}` : [];
  const calls = calledFrom([first.location, second.location], home);
  const order = missingOrder(finding, acrossBlocks, sameLine, home);
  return phrase`${capitalised(actors)}${both}${calls}; ${order}.${sameValueNote(finding)}`;
}

function onOneLine({ first: { location: a }, second: { location: b } }: RaceFinding): boolean {
  return a !== undefined && a.file === b?.file && a.line === b.line;
}

function who({ thread, block }: AccessDescription, acrossBlocks: boolean, other?: AccessDescription): string {
  if (thread) return `thread ${dim(thread)}${acrossBlocks && block ? ` of block ${dim(block)}` : ''}`;
  return other ? `another${acrossBlocks ? ' in another block' : ''}` : 'one thread';
}

function action(self: AccessDescription, finding: RaceFinding): Phrase {
  const { operation, expression } = self;
  // The text of an atomic operation is most often the call.
  if (operation === 'atomic' && expression?.includes('(')) return phrase`executes ${code(expression)}`;
  const verb = { read: 'reads', write: 'writes', atomic: 'atomically updates' }[operation];
  return phrase`${[verb]} ${object(self, finding)}`;
}

/** What is accessed: the text of the access, else how much of which array, else of which memory. */
function object({ expression, bytes, memory }: AccessDescription, { array, overlap }: RaceFinding): Phrase {
  const element = overlap?.element;
  if (expression !== undefined)
    return element === undefined || element === expression
      ? [code(expression)]
      : phrase`${code(expression)} (here ${code(element)})`;
  if (element !== undefined) return [code(element)];
  const size = bytes === undefined ? '' : `${count(bytes, 'byte')} of `;
  return [size, array === undefined ? (memory === 'generic' ? 'memory' : `${memory} memory`) : code(array)];
}

function missingOrder(finding: RaceFinding, acrossBlocks: boolean, sameLine: boolean, home?: string): Phrase {
  const missing = finding.interleaving?.missing;
  if (missing?.kind === 'fence' && missing.lock !== undefined)
    return phrase`both hold ${code(missing.lock)}, but without a ${FENCE} behind taking it and one before releasing it nothing orders the accesses`;
  if (missing?.kind === 'size' || missing?.kind === 'copy-wait') return [missing.text];
  if (finding.kind === 'scope') return ['the scope of the atomic does not take in both threads'];
  if (acrossBlocks) return ['nothing orders threads of different blocks'];
  const none = missing?.kind === 'warp-barrier' ? phrase`neither ${WARP_SYNC} nor ${SYNC}` : phrase`no ${SYNC}`;
  const [{ location: a }, { location: b }] = accessesInOrder(finding);
  if (sameLine || !a || !b) return phrase`${none} separates the two accesses`;
  if (a.file === home && b.file === home) return phrase`${none} separates lines ${a.line} and ${b.line}`;
  return phrase`${none} separates ${place(a, home)} and ${place(b, home)}`;
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
  const [first, second] = accessesInOrder(finding);
  const sameLine = onOneLine(finding);
  if (!sameLine || first.expression !== second.expression) {
    const text = (self: AccessDescription): Phrase => {
      const accessed = phrase`${[self.operation]} of ${object(self, finding)}`;
      return sameLine || !self.location ? accessed : phrase`${accessed} on ${place(self.location, home)}`;
    };
    const at = sameLine && first.location ? phrase` on ${place(first.location, home)}` : [];
    return phrase`${text(first)} and ${text(second)}${at} may overlap`;
  }
  const operations =
    first.operation === second.operation ? `${first.operation}s` : `${first.operation} and ${second.operation}`;
  return phrase`${[operations]} of ${object(first, finding)} on ${place(first.location!, home)} may overlap`;
}
