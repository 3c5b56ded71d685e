/**
 * Hidden first lines by which a later run recognises its own comments. Only the first line counts: source text that a
 * comment quotes further down cannot imitate a marker. The author of the comment is checked separately.
 */
const PATTERN = /^<!-- selvage:v1(?: (review|summary|fixed|moved|issue))?(?: fingerprint=([^ ]*))?(?: text=([0-9a-f]+))? -->(?:\r?\n|$)/; // oxfmt-ignore

/**
 * `finding`: an inline comment. `fixed` replaces it if its finding is fixed, `moved` if another comment reports the
 * finding. `issue`: the issue of the default branch.
 */
type MarkerKind = 'finding' | 'review' | 'summary' | 'fixed' | 'moved' | 'issue';

export interface Marker {
  readonly kind: MarkerKind;
  /** Fingerprints of the findings in the comment. */
  readonly fingerprints: readonly string[];
  /**
   * A hash of the text of the comment. The comment is up to date if the hash of the text that a run would write is the
   * same.
   */
  readonly text?: string;
}

/** The marker as the first line of a body, with its line end. */
export function printMarker(
  kind: MarkerKind,
  { fingerprints = [], text }: Partial<Pick<Marker, 'fingerprints' | 'text'>> = {},
): string {
  const word = kind === 'finding' ? '' : ` ${kind}`;
  const list = fingerprints.length === 0 ? '' : ` fingerprint=${printList(fingerprints)}`;
  return `<!-- selvage:v1${word}${list}${text === undefined ? '' : ` text=${text}`} -->\n`;
}

/** Parses the marker at the start of a body, if there is one. */
export function parseMarker(body: string | null | undefined): Marker | undefined {
  const match = PATTERN.exec(body ?? '');
  if (!match) return undefined;
  const fingerprints = match[2] === undefined ? [] : parseList(match[2]);
  const text = match[3] === undefined ? {} : { text: match[3] };
  return { kind: (match[1] as MarkerKind | undefined) ?? 'finding', fingerprints, ...text };
}

/** A finding in the body of a review, from the line before its text. */
export interface EntryMarker {
  readonly fingerprints: readonly string[];
  /** File of the finding. */
  readonly path: string;
  /** Whether GitHub rejected a comment on the line of the finding. */
  readonly isRefused: boolean;
  /** A hash of the entry's text, like that of {@link Marker}. */
  readonly text?: string;
}

const ENTRY = /^<!-- selvage:entry( refused)? path=([^ ]*) fingerprint=([^ ]*)(?: text=([0-9a-f]+))? -->$/;

/**
 * The marker line before the text of a finding in the body of a review. The text is indented, so it cannot imitate a
 * marker.
 */
export function printEntryMarker({ fingerprints, path, isRefused, text }: EntryMarker): string {
  const words = [isRefused ? ' refused' : '', ` path=${encode(path)}`, ` fingerprint=${printList(fingerprints)}`];
  return `<!-- selvage:entry${words.join('')}${text === undefined ? '' : ` text=${text}`} -->`;
}

/** Parses a line of the body of a review as {@link printEntryMarker} writes it. */
export function parseEntryMarker(line: string): EntryMarker | undefined {
  const match = ENTRY.exec(line);
  if (!match) return undefined;
  const [, refused, path = '', list = '', hash] = match;
  const text = hash === undefined ? {} : { text: hash };
  return { fingerprints: parseList(list), path: decode(path), isRefused: refused !== undefined, ...text };
}

function printList(fingerprints: readonly string[]): string {
  return fingerprints.map(encode).join(',');
}

function parseList(list: string): string[] {
  return list.split(',').map(decode);
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
