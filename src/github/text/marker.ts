/**
 * Hidden first lines by which a later run recognises its own comments. Only the first line counts: source text that a
 * comment quotes further down cannot imitate a marker. The author of the comment is checked separately.
 */
const PATTERN = /^<!-- selvage:v1(?: (review|summary|fixed|moved|suppressed|unchecked|issue))?((?: [a-z]+=[^ ]*)*) -->(?:\r?\n|$)/;

/**
 * `finding`: an inline comment. `fixed` replaces it if its finding is fixed or no longer part of the change, `moved` if
 * another comment reports it, `suppressed` if it is suppressed, `unchecked` if its file is excluded from the analysis.
 * `issue`: the issue of the default branch.
 */
type MarkerKind = 'finding' | 'review' | 'summary' | 'fixed' | 'moved' | 'suppressed' | 'unchecked' | 'issue';

export interface Marker {
  readonly kind: MarkerKind;
  /** Fingerprints of the findings in the comment. */
  readonly fingerprints: readonly string[];
  /** Keys of the kernels with the findings (`plan/settlement.ts`); empty if they are unknown. */
  readonly kernels: readonly string[];
  /** The name of the jobs that write the comment: several may review one pull request. */
  readonly name: string;
  /** Of a summary: how many findings of earlier commits were settled in a commit. */
  readonly settled?: { readonly count: number; readonly commit: string };
  /**
   * A hash of the text of the comment. The comment is up to date if the hash of the text that a run would write is the
   * same.
   */
  readonly text?: string;
}

/** The marker as the first line of a body, with its line end. */
export function printMarker(
  kind: MarkerKind,
  { fingerprints = [], kernels = [], name = '', settled, text }: Partial<Omit<Marker, 'kind'>> = {},
): string {
  const word = kind === 'finding' ? '' : ` ${kind}`;
  const values = [
    fingerprints.length === 0 ? '' : ` fingerprint=${printList(fingerprints)}`,
    kernels.length === 0 ? '' : ` kernels=${printList(kernels)}`,
    name === '' ? '' : ` name=${encode(name)}`,
    settled === undefined ? '' : ` settled=${settled.count}@${settled.commit}`,
    text === undefined ? '' : ` text=${text}`,
  ];
  return `<!-- selvage:v1${word}${values.join('')} -->\n`;
}

/** Parses the marker at the start of a body, if there is one. */
export function parseMarker(body: string | null | undefined): Marker | undefined {
  const match = PATTERN.exec(body ?? '');
  if (!match) return undefined;
  const values = valuesIn(match[2] ?? '');
  const text = values.get('text');
  const [count, commit] = (values.get('settled') ?? '').split('@');
  return {
    kind: (match[1] as MarkerKind | undefined) ?? 'finding',
    fingerprints: parseList(values.get('fingerprint')),
    kernels: parseList(values.get('kernels')),
    name: decode(values.get('name') ?? ''),
    ...(commit !== undefined && { settled: { count: Number(count), commit } }),
    ...(text !== undefined && { text }),
  };
}

/** The values in a marker: ` fingerprint=a,b text=c`. */
function valuesIn(words: string): ReadonlyMap<string, string> {
  return new Map([...words.matchAll(/ ([a-z]+)=([^ ]*)/g)].map(([, key, value]) => [key!, value!]));
}

/** What a job may be called: without mentions, links and line ends. */
export const jobNamePattern = /^[\p{L}\p{N} .,:=+_/-]{0,60}$/u;

/** A finding in the body of a review, from the line before its text. */
export interface EntryMarker {
  readonly fingerprints: readonly string[];
  /** Keys of the kernels with the finding, as in {@link Marker}. */
  readonly kernels: readonly string[];
  /** File of the finding. */
  readonly path: string;
  /** Whether GitHub rejected a comment on the line of the finding. */
  readonly isRefused: boolean;
  /** A hash of the entry's text, like that of {@link Marker}. */
  readonly text?: string;
}

const ENTRY = /^<!-- selvage:entry( refused)?((?: [a-z]+=[^ ]*)+) -->$/;

/**
 * The marker line before the text of a finding in the body of a review. The text is indented, so it cannot imitate a
 * marker.
 */
export function printEntryMarker({ fingerprints, kernels, path, isRefused, text }: EntryMarker): string {
  const words = [
    isRefused ? ' refused' : '',
    ` path=${encode(path)}`,
    ` fingerprint=${printList(fingerprints)}`,
    kernels.length === 0 ? '' : ` kernels=${printList(kernels)}`,
    text === undefined ? '' : ` text=${text}`,
  ];
  return `<!-- selvage:entry${words.join('')} -->`;
}

/** Parses a line of the body of a review as {@link printEntryMarker} writes it. */
export function parseEntryMarker(line: string): EntryMarker | undefined {
  const match = ENTRY.exec(line);
  if (!match) return undefined;
  const values = valuesIn(match[2]!);
  const text = values.get('text');
  return {
    fingerprints: parseList(values.get('fingerprint')),
    kernels: parseList(values.get('kernels')),
    path: decode(values.get('path') ?? ''),
    isRefused: match[1] !== undefined,
    ...(text !== undefined && { text }),
  };
}

function printList(fingerprints: readonly string[]): string {
  return fingerprints.map(encode).join(',');
}

function parseList(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(',').map(decode);
}

/** Two hyphens would end an HTML comment, so all hyphens are encoded. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd')).replaceAll('-', '%2D');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
