/**
 * Compares validators with the truth by re-execution:
 * `node test/idempotency/measure.ts [--launches N] [--stops N] [--seed S] [--truth FILE] [--list] [KERNEL…]`.
 * `--stops N`: number of stops of each schedule, in addition to the ends of blocks; `--truth FILE` caches the truth
 * between runs, by kernel; `--list` names each missed launch. After a signal (SIGTERM), it reports the results so far.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ptxFile } from '../kernels/portable-ptx.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { type CorpusKernel, readCorpus } from './corpus.ts';
import { type CorpusLaunch, launchesOf } from './launches.ts';
import { hasRace, truthOf } from './truth.ts';
import { checkCorpusKernel, classifyCorpusKernel, isValidated } from './validate.ts';

/** Contents of memory. */
const contents = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    launches: { type: 'string', default: '40' },
    stops: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    truth: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const [count, stops, seed] = [Number(values.launches), Number(values.stops), Number(values.seed)];

/** Cached truth of a launch. */
interface Known {
  readonly idempotent: boolean | 'undetermined' | 'left-out';
  readonly isRefuted: boolean;
  readonly clobbers: number;
  readonly rewritten: number;
}

const keptFile = values.truth;
const kept = new Map<string, readonly Known[]>(
  keptFile !== undefined && existsSync(keptFile) ? JSON.parse(readFileSync(keptFile, 'utf8')) : [],
);

function truthsOf(kernel: CorpusKernel, launches: readonly CorpusLaunch[]): readonly Known[] {
  const ptx = createHash('sha256')
    .update(readFileSync(ptxFile(kernel.file, 'production')))
    .digest('hex');
  const key = [kernel.file, kernel.name, kernel.launch, count, stops, seed, ptx].join(' ');
  const known = kept.get(key);
  if (known) return known;
  const found = launches.map((launch): Known => {
    const { idempotent, isRefuted, runs } = truthOf(launch, contents, stops);
    const most = runs.reduce((a, b) => (b.clobbers.bytes > a.clobbers.bytes ? b : a));
    return { idempotent, isRefuted, clobbers: most.clobbers.bytes, rewritten: most.clobbers.rewritten };
  });
  kept.set(key, found);
  return found;
}

/** The paper's names of the reasons for which an idempotent launch is missed. */
const paperReasons: Readonly<Record<string, string>> = {
  'address-from-memory': 'NA',
  'condition-from-memory': 'NC',
  unbounded: 'PE',
  'indirect-call': 'IF',
  'read-then-write': 'SO',
  overlap: 'RO',
  atomic: 'atomic',
  'not-race-free': 'race',
  'uninitialised-shared': 'shared',
  effect: 'effect',
  unsupported: 'unsupported',
};

/** Groups of kernels that are close to a rule: each has twins that are not idempotent. The others are ordinary kernels. */
const closeToARule: readonly string[] = ['near-misses', 'own-thread', 'disjoint-stores', 'edges'];

interface Tally {
  idempotent: number;
  missed: number;
  /** Missed launches that have a race: no other run shows another result, and they are not idempotent by definition. */
  racing: number;
  missedLeftOut: number;
  falsePositives: number;
  /** By launch. */
  readonly reasons: Map<string, number>;
  /** Kernels that have idempotent launches. */
  kernels: number;
  /** By kernel: reasons of kernels with some missed launch, and of those with only missed launches. */
  readonly reasonsOfSome: Map<string, number>;
  readonly reasonsOfAll: Map<string, number>;
}

const newTally = (): Tally => ({
  idempotent: 0,
  missed: 0,
  racing: 0,
  missedLeftOut: 0,
  falsePositives: 0,
  reasons: new Map(),
  kernels: 0,
  reasonsOfSome: new Map(),
  reasonsOfAll: new Map(),
});
const countIn = (amounts: Map<string, number>, name: string): unknown => amounts.set(name, (amounts.get(name) ?? 0) + 1);
const ordinary = newTally();
const near = newTally();
const racing = new Map<CorpusLaunch, boolean>();
/** By whether the kernels are ordinary. */
const leftOut = { ordinary: 0, near: 0 };
const totals = { launches: 0, idempotent: 0, not: 0, undetermined: 0, leftOut: 0, harmlessClobbers: 0, rewritesOnly: 0, unclobbered: 0 };
const chosen = readCorpus().filter(
  ({ name, group }) => positionals.length === 0 || positionals.some((word) => name === word || group === word),
);
const truth = new Map(chosen.map((kernel) => [kernel, truthsOf(kernel, launchesOf(kernel, count, seed))]));
if (keptFile !== undefined) writeFileSync(keptFile, JSON.stringify([...kept]));
console.log('kernel: launches that may be run again / may not / left out / undetermined; missed');
let isEnded = false;
process.once('SIGTERM', () => (isEnded = true));
let measured = 0;
for (const kernel of chosen) {
  // Signals are delivered between two kernels.
  await new Promise(setImmediate);
  if (isEnded) break;
  measured++;
  const launches = launchesOf(kernel, count, seed);
  const truths = truth.get(kernel)!;
  const checked = await checkCorpusKernel(kernel);
  const having = (answer: Known['idempotent']): number => truths.filter(({ idempotent }) => idempotent === answer).length;
  totals.launches += launches.length;
  totals.idempotent += having(true);
  totals.not += having(false);
  totals.undetermined += having('undetermined');
  totals.leftOut += having('left-out');
  totals.harmlessClobbers += truths.filter(({ idempotent, clobbers }) => idempotent === true && clobbers > 0).length;
  totals.rewritesOnly += truths.filter(
    ({ idempotent, clobbers, rewritten }) => idempotent === true && clobbers > 0 && rewritten === clobbers,
  ).length;
  totals.unclobbered += truths.filter(({ idempotent, clobbers }) => idempotent === false && clobbers === 0).length;
  const isNear = closeToARule.includes(kernel.group);
  leftOut[isNear ? 'near' : 'ordinary'] += having('left-out');
  const tally = isNear ? near : ordinary;
  const classification = classifyCorpusKernel(kernel, checked);
  const why = classification.reasons.map(({ kind, what }) => (what === undefined ? kind : `${kind} (${what})`));
  const [first] = classification.reasons;
  const reason = classification.condition.kind === 'never' ? (paperReasons[first?.kind ?? ''] ?? 'none') : 'RO';
  let missed = 0;
  for (const [at, { idempotent, isRefuted }] of truths.entries()) {
    const launch = launches[at]!;
    const isYes = isValidated(launch, classification);
    const text = `${kernel.name} launch ${at} (${launch.placement}, block ${launch.block.join()}, grid ${launch.grid.join()}, ${[...launch.scalars].map(([scalar, { value }]) => `${scalar}=${value}`).join(' ')})`;
    if (isYes && isRefuted) {
      tally.falsePositives++;
      console.log(`FALSE POSITIVE: ${text}`);
    }
    if (idempotent === 'left-out' && !isYes) tally.missedLeftOut++;
    if (idempotent !== true) continue;
    tally.idempotent++;
    if (isYes) continue;
    missed++;
    tally.missed++;
    if (!racing.has(launch)) racing.set(launch, hasRace(launch, contents));
    if (racing.get(launch)) tally.racing++;
    countIn(tally.reasons, reason);
    if (values.list) console.log(`  missed: ${text}`);
  }
  if (having(true) > 0) tally.kernels++;
  if (missed > 0) countIn(tally.reasonsOfSome, reason);
  if (missed > 0 && missed === having(true)) countIn(tally.reasonsOfAll, reason);
  const shares = [having(true), having(false), having('left-out'), having('undetermined')].join('/');
  console.log(
    `${kernel.group} ${kernel.name}: ${shares}; ${missed}${missed > 0 ? ` [${[...new Set(why)].slice(0, 3).join('; ') || reason}]` : ''}`,
  );
}
await closeSolver();

const mostFirst = (amounts: ReadonlyMap<string, number>): string =>
  [...amounts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, times]) => `${name} ${times}`)
    .join(', ');
const sum = (amounts: ReadonlyMap<string, number>): number => [...amounts.values()].reduce((all, one) => all + one, 0);
const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
console.log(`\n${measured} of ${chosen.length} kernels, ${totals.launches} launches, ${contents} contents of memory each:`);
console.log(
  `idempotent ${totals.idempotent}, not ${totals.not} (${percent(totals.not, totals.launches)}), left out ${totals.leftOut} (${percent(totals.leftOut, totals.launches)}), undetermined ${totals.undetermined}`,
);
console.log(
  `clobber test: ${totals.harmlessClobbers} idempotent launches have clobbers (${totals.rewritesOnly} of them only rewrites), ${totals.unclobbered} that are not have none`,
);
const table = (title: string, tally: Tally, undecided: number): void => {
  console.log(`\n${title}`);
  const { falsePositives, missed, idempotent, racing: races, missedLeftOut, reasons } = tally;
  const together = percent(missed + missedLeftOut, idempotent + undecided);
  console.log(
    `false positives ${falsePositives}; missed ${missed} of ${idempotent} (${percent(missed, idempotent)}, with those left out ${together},`,
  );
  console.log(`without races ${percent(missed - races, idempotent - races)}); reasons: ${mostFirst(reasons)}`);
  const { kernels, reasonsOfSome, reasonsOfAll } = tally;
  console.log(
    `of ${kernels} kernels ${sum(reasonsOfSome)} miss some launch (${mostFirst(reasonsOfSome)}), ${sum(reasonsOfAll)} all (${mostFirst(reasonsOfAll)})`,
  );
};
table('Ordinary kernels:', ordinary, leftOut.ordinary);
table('Kernels close to a rule:', near, leftOut.near);
