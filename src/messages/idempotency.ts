/** Texts on the idempotency of kernels and launches. */
import type { IdempotencyReport, LaunchIdempotencyReport } from '../report-model/idempotency-report.ts';
import type { IdempotencyReason, OverlapClause } from '../idempotency/model/kernel-idempotency.ts';
import type { Location } from '../source/location.ts';
import type { LaunchConditionText } from './launch-condition-text.ts';
import { code, codeList, listed } from './text/code-text.ts';
import { place } from './text/place.ts';

const classPhrases: Readonly<Record<IdempotencyReport['kernel'], string>> = {
  idempotent: 'idempotent',
  conditional: 'idempotent under a condition',
  'non-idempotent': 'not idempotent (replayed)',
  unknown: 'idempotency undecided',
};

/** The class of a kernel with its condition, as a phrase: ``idempotent unless `out` overlaps `a` or `b` ``. */
export function idempotencyPhrase({ kernel, condition }: IdempotencyReport): string {
  return condition === undefined ? classPhrases[kernel] : `idempotent ${condition}`;
}

/** Requirements of a condition in addition to disjoint arrays. */
interface AskedMore extends LaunchConditionText {
  /** Block dimensions at which usual launches satisfy the condition: `256`, `16 x 16`. */
  readonly blocks: readonly string[];
}

/**
 * The condition of a conditional kernel as a clause after "idempotent".
 * @param more requirements in addition to disjoint arrays; null: none
 */
export function overlapsText(overlaps: readonly OverlapClause[], more: AskedMore | null = null): string {
  const blocks = more && more.blocks.length > 0 ? `, which launches with blocks of ${orListed(more.blocks)} threads usually satisfy` : '';
  const tested = more === null || more.isWhole ? '' : `; its validator tests more${blocks}`;
  if (overlaps.length === 0)
    return more?.text ? `if ${more.text}${tested}` : `if its arguments satisfy a condition that its validator tests${blocks}`;
  const clauses = overlaps.map(({ written, read }) => `${arrayText(written)} overlaps ${orListed(read.map(arrayText))}`);
  return `unless ${clauses.join(', or ')}${more?.text ? `, if ${more.text}` : ''}${tested}`;
}

function orListed(texts: readonly string[]): string {
  return listed(texts).replace(/ and (?=[^,]*$)/, ' or ');
}

/** A change that would make a kernel idempotent: separate output arrays. */
export function elsewhereText(arrays: readonly string[], condition: string | null): string {
  const others = arrays.map((array) => `${array}_new`);
  const where = arrays.length === 1 ? 'another array' : 'other arrays';
  return `If it wrote to ${where}, ${codeList(others)}, instead of ${codeList(arrays)}, it would be idempotent ${condition ?? 'in every launch'}`;
}

/**
 * A change that would make a kernel idempotent: splitting it at barriers.
 * @param barriers in their order
 * @param conditions of the resulting kernels, as worded by {@link overlapsText}; null: in every launch
 */
export function splitText(barriers: readonly Location[], conditions: readonly (string | null)[]): string {
  const places = barriers.map((barrier) => place(barrier));
  const where = `at the ${places.length === 1 ? 'barrier' : 'barriers'} in ${listed(places)}`;
  const told = [...new Set(conditions.filter((condition) => condition !== null))];
  const condition = told.length === 0 ? 'in every launch' : told.join(', and ');
  return `If it were split ${where} into ${conditions.length === 2 ? 'two' : conditions.length} kernels, launched one after the other, each would be idempotent ${condition}`;
}

/** The change of the class of a kernel, as a sentence without its full stop. */
export function classChangeText(name: string, base: IdempotencyReport, head: IdempotencyReport): string {
  const phrase = (report: IdempotencyReport): string =>
    report.kernel === 'idempotent' ? 'idempotent in every launch' : idempotencyPhrase(report);
  const why = head.kernel === 'non-idempotent' && head.reasons[0] !== undefined ? `: ${head.reasons[0]}` : '';
  return `${code(name)} is now ${phrase(head)}${why}; it was ${phrase(base)}`;
}

/** Which launches of a kernel are idempotent, as a sentence without its full stop; empty without launches. */
export function judgedText(launches: readonly LaunchIdempotencyReport[]): string {
  if (launches.length === 0) return '';
  const told = launches.slice(0, maxLaunches).map(({ location, verdict, reason, assumptions = [] }) => {
    if (verdict === 'undecided') return `${place(location)} is undecided${reason === undefined ? '' : ` (${reason})`}`;
    const taken = assumptions.length === 0 ? '' : ` (as long as ${listed(assumptions)})`;
    return `${place(location)} ${verdict === 'idempotent' ? `may be run again${taken}` : 'may not be run again'}`;
  });
  const rest = launches.length - maxLaunches;
  return `Of its launches, ${listed(rest > 0 ? [...told, `${rest} more`] : told)}`;
}

/** Maximum number of reported launches of a kernel. */
const maxLaunches = 3;

/** Name of an array; `?` denotes an array without a name. */
function arrayText(name: string): string {
  return name === '?' ? 'memory at an unknown pointer' : code(name);
}

/** Effects that a second run may not repeat, with their texts. The first match applies. */
const effectTexts: readonly (readonly [what: RegExp, text: string])[] = [
  [/^special register %(clock|globaltimer)/, 'the kernel reads a clock'],
  [/^special register /, 'the kernel reads a register that may hold another value in another run'],
  [/^v?printf$/, 'the kernel prints'],
  [/^(malloc|free)$/, 'the kernel gets or returns memory'],
  [/^trap$/, 'the kernel may trap'],
  [/^(sust|sured)\./, 'the kernel writes a surface'],
  [/^ld\./, 'the kernel reads what other threads may write meanwhile'],
  [/^griddepcontrol$/, 'the kernel overlaps with the kernel before it or after it in the stream'],
  [/^st\./, 'the kernel writes in an unspecified order'],
];

/** Why a kernel is not known to be idempotent, as a clause without places. */
export function idempotencyReasonText({ kind, written, read, what }: IdempotencyReason): string {
  const named = what === undefined ? '' : ` (${code(what)})`;
  const known = [...new Set([read, written].filter((name) => name !== undefined))];
  const arrays = known.length === 0 ? 'global memory' : listed(known.map(arrayText));
  switch (kind) {
    case 'atomic':
      return `an atomic operation changes ${written === undefined ? 'global memory' : arrayText(written)}${named}`;
    case 'effect': {
      const text = effectTexts.find(([of]) => of.test(what ?? ''))?.[1];
      return `${text ?? 'the kernel has an effect that another run may not repeat'}${named.replace('special register ', '')}`;
    }
    case 'read-then-write':
      return `the kernel reads ${read === undefined ? 'memory' : arrayText(read)} and writes the same bytes afterwards`;
    case 'overlap':
      return `the kernel writes ${written === undefined ? 'an array' : arrayText(written)}, which may overlap ${read === undefined ? 'what it reads' : arrayText(read)}`;
    case 'address-from-memory':
      return `an address in ${arrays} depends on a value that the kernel reads from memory`;
    case 'condition-from-memory':
      return `whether ${arrays} is accessed depends on a value that the kernel reads from memory`;
    case 'unknown-texture':
      return `the kernel reads a texture that is not among its arguments${named}: what it is bound to is not known`;
    case 'unbounded':
      return `nothing bounds the bytes of ${arrays} that the kernel accesses`;
    case 'indirect-call':
      return `the kernel calls a function that is not known${named}`;
    case 'uninitialised-shared':
      return `the kernel may read ${read === undefined ? 'shared memory' : `the shared array ${code(read)}`} before it writes it`;
    case 'not-race-free':
      return `the kernel is not proved free of races and divergence${what === undefined ? '' : `: ${what}`}`;
    case 'order':
      return `the order in which threads take turns decides what a launch leaves in ${written === undefined ? 'memory' : code(written)}`;
    case 'unsupported':
      return `the effect of an instruction is not known${named}`;
    case 'many-accesses':
      return 'the kernel has more accesses than a check looks at; `selvage idempotency` does';
    case 'too-large':
      return 'the kernel has too many accesses and branches for Selvage to compare all its accesses';
    case 'out-of-time':
      return 'the time limit ended the analysis';
  }
}

/**
 * The obstacles to idempotency, each with its locations; at most `most` of them. The remedy follows, and for a
 * conditional kernel its launches.
 */
export function idempotencyDetails(report: IdempotencyReport, most = Infinity): string[] {
  const { kernel, details = [], reasons, remedy = '', launches = [] } = report;
  const told =
    details.length === 0
      ? reasons
      : [...new Set(details.map(({ text }) => text))].map((text) => {
          const locations = details.flatMap((detail) => (detail.text === text ? detail.locations : []));
          const places = [...new Set(locations.map((location) => place(location)))];
          return places.length === 0 ? text : `${text} (${places.slice(0, 3).join(', ')})`;
        });
  const rest = told.length - most;
  const few = rest > 0 ? [...told.slice(0, most), `${rest} more`] : told;
  const judged = kernel === 'conditional' ? judgedText(launches) : '';
  return [...few, ...[remedy, judged].filter((text) => text !== '').map(uncapitalised)];
}

function uncapitalised(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** Number of kernels of each class; empty if no kernel was classified. */
export function idempotencyCounts(reports: readonly (IdempotencyReport | undefined)[]): string {
  const classified = reports.filter((report) => report !== undefined);
  const parts = (['idempotent', 'conditional', 'non-idempotent', 'unknown'] as const).flatMap((kind) => {
    const amount = classified.filter(({ kernel }) => kernel === kind).length;
    return amount === 0 ? [] : [`${amount} ${kind === 'unknown' ? 'undecided' : kind}`];
  });
  return parts.join(', ');
}
