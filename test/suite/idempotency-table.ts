/** The tables of the suite of idempotency: classes as in Table 1 of PICKER, and the launches that the samples make. */

export interface ClassifiedLaunch {
  /** `FILE:LINE`. */
  readonly site: string;
  readonly verdict: 'idempotent' | 'non-idempotent' | 'undecided';
  readonly reason?: string;
  readonly assumptions?: readonly string[];
  readonly savedBytes?: number;
}

/** An instance of a kernel in a unit. */
export interface ClassifiedKernel {
  readonly name: string;
  /** `FILE:LINE NAME`, the same for all instances of a template. */
  readonly definition: string;
  /** Defined in the checkout. */
  readonly isOwn: boolean;
  readonly class: Class;
  readonly condition?: string;
  readonly reasons: readonly { readonly kind: string; readonly text: string; readonly lines: readonly string[] }[];
  readonly launches: readonly ClassifiedLaunch[];
}

export interface ClassifiedUnit {
  readonly unit: string;
  readonly outcome: 'classified' | 'defect' | 'failed' | 'out of time' | 'not compiled' | 'no kernels';
  readonly kernels: readonly ClassifiedKernel[];
  /** Seconds of the whole process. */
  readonly cpu?: number;
}

/** From the best to the worst: a template has the worst class of its instances. */
const classes = ['idempotent', 'conditional', 'unknown', 'non-idempotent'] as const;
type Class = (typeof classes)[number];

/** A kernel with all its instances. */
interface Definition {
  readonly category: string;
  readonly class: Class;
  readonly instances: readonly ClassifiedKernel[];
}

/** Summary of the units, as text. */
export function idempotencyTable(units: readonly ClassifiedUnit[]): string {
  const definitions = definitionsOf(units);
  const outcomes = count(units.map(({ outcome }) => outcome));
  const conditional = definitions.filter((one) => one.class === 'conditional');
  const launched = conditional.filter(({ instances }) => launchesOf(instances).length > 0);
  const judged = launched.filter(({ instances }) => launchesOf(instances).every(isJudged));
  const launches = definitions.flatMap(({ instances }) => launchesOf(instances));
  const ofConditional = launched.flatMap(({ instances }) => launchesOf(instances));
  const saved = launches.filter(({ savedBytes }) => savedBytes !== undefined);
  const bytes = saved.reduce((sum, { savedBytes = 0 }) => sum + savedBytes, 0);
  const open = definitions.filter((one) => one.class === 'unknown');
  return [
    `units: ${outcomes}`,
    '',
    ...classTable(definitions),
    '',
    `conditional kernels that the samples launch: ${launched.length} of ${conditional.length}; all launches judged: ${share(judged.length, launched.length)}`,
    `launches of conditional kernels: ${ofConditional.length}; idempotent: ${share(ofConditional.filter(({ verdict }) => verdict === 'idempotent').length, ofConditional.length)}; judged: ${share(ofConditional.filter(isJudged).length, ofConditional.length)}, of them as long as no index wraps around: ${ofConditional.filter(({ assumptions }) => assumptions !== undefined).length}`,
    `why the others are open: ${count(ofConditional.filter((launch) => !isJudged(launch)).map(({ reason = '' }) => reason.replace(/`[^`]*`/g, '`…`').replace(/(?:, `…`)+/, ' …')))}`,
    `launches of all kernels: ${launches.length}; idempotent: ${share(launches.filter(({ verdict }) => verdict === 'idempotent').length, launches.length)}`,
    `checkpoint avoided, each launch once: ${(bytes / 2 ** 20).toFixed(1)} MiB before ${saved.length} idempotent launches with known sizes`,
    `why kernels are undecided (a kernel may have several reasons): ${count(open.flatMap(({ instances }) => [...new Set(instances.flatMap(({ reasons }) => reasons.map(({ kind }) => kind)))]))}`,
    '',
  ].join('\n');
}

/** Whether it is known of a launch that it is idempotent, or that it cannot be. */
function isJudged({ verdict, reason }: ClassifiedLaunch): boolean {
  return verdict !== 'undecided' || reason?.endsWith('in the same memory') === true;
}

function classTable(definitions: readonly Definition[]): string[] {
  const categories = [...new Set(definitions.map(({ category }) => category))].sort();
  const row = (name: string, own: readonly Definition[]): string =>
    [name.padEnd(28), own.length, ...classes.map((kind) => own.filter((one) => one.class === kind).length)]
      .map((cell) => String(cell).padStart(9))
      .join(' ');
  return [
    ['samples'.padEnd(28), '#kernels', 'idempot.', 'condit.', 'undecided', 'non-idem.'].map((cell) => cell.padStart(9)).join(' '),
    ...categories.map((category) =>
      row(
        category,
        definitions.filter((one) => one.category === category),
      ),
    ),
    row('All', definitions),
  ];
}

function definitionsOf(units: readonly ClassifiedUnit[]): Definition[] {
  const byName = new Map<string, { readonly category: string; readonly instances: ClassifiedKernel[] }>();
  for (const { unit, kernels } of units) {
    for (const kernel of kernels) {
      if (!kernel.isOwn) continue;
      const known = byName.get(kernel.definition) ?? { category: unit.split('/')[1] ?? '', instances: [] };
      byName.set(kernel.definition, known);
      known.instances.push(kernel);
    }
  }
  return [...byName.values()].map(({ category, instances }) => ({
    category,
    instances,
    class: classes[Math.max(...instances.map((one) => classes.indexOf(one.class)))]!,
  }));
}

/** Launches of instances, each place once: its verdict is the worst one. */
function launchesOf(instances: readonly ClassifiedKernel[]): ClassifiedLaunch[] {
  const bySite = new Map<string, ClassifiedLaunch>();
  for (const launch of instances.flatMap(({ launches }) => launches)) {
    const known = bySite.get(launch.site);
    if (!known || known.verdict === 'idempotent') bySite.set(launch.site, launch);
  }
  return [...bySite.values()];
}

function share(part: number, whole: number): string {
  return whole === 0 ? '0' : `${part} (${((100 * part) / whole).toFixed(1)} %)`;
}

/** `a 3, b 1`, most first. */
function count(words: readonly string[]): string {
  const amounts = new Map<string, number>();
  for (const word of words) amounts.set(word, (amounts.get(word) ?? 0) + 1);
  return [...amounts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, amount]) => `${word} ${amount}`)
    .join(', ');
}
