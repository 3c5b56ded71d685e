/**
 * Hidden first lines by which a later run knows its own comments. Only the first line counts: whatever source text a
 * comment quotes further down cannot pass for a marker. The author of the comment is checked apart.
 */
const PATTERN = /^<!-- selvage:v1(?: (review|summary|fixed|moved|issue))?(?: fingerprint=([^ ]*))?(?: text=([0-9a-f]+))? -->(?:\r?\n|$)/; // oxfmt-ignore

/**
 * `finding` is an inline comment; `fixed` what becomes of it when its finding is gone, and `moved` when another comment
 * tells its finding now. `issue` is that of the default branch.
 */
type MarkerKind = 'finding' | 'review' | 'summary' | 'fixed' | 'moved' | 'issue';

export interface Marker {
  readonly kind: MarkerKind;
  /** Fingerprints of the findings in the comment. */
  readonly fingerprints: readonly string[];
  /** A hash of what it says: the comment is up to date where it is that of the text that a run would write. */
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

/** Reads the marker at the start of a body, if there is one. */
export function parseMarker(body: string | null | undefined): Marker | undefined {
  const match = PATTERN.exec(body ?? '');
  if (!match) return undefined;
  const fingerprints = match[2] === undefined ? [] : parseList(match[2]);
  const text = match[3] === undefined ? {} : { text: match[3] };
  return { kind: (match[1] as MarkerKind | undefined) ?? 'finding', fingerprints, ...text };
}

/** A finding that the body of a review tells, as the line before its text has it. */
export interface EntryMarker {
  readonly fingerprints: readonly string[];
  /** The file of the finding. */
  readonly path: string;
  /** GitHub refused a comment on its line. */
  readonly isRefused: boolean;
  /** A hash of its text, as that of {@link Marker}. */
  readonly text?: string;
}

const ENTRY = /^<!-- selvage:entry( refused)? path=([^ ]*) fingerprint=([^ ]*)(?: text=([0-9a-f]+))? -->$/;

/** The line before the text of a finding in the body of a review. No such text begins a line of its own: it is indented. */
export function printEntryMarker({ fingerprints, path, isRefused, text }: EntryMarker): string {
  const words = [isRefused ? ' refused' : '', ` path=${encode(path)}`, ` fingerprint=${printList(fingerprints)}`];
  return `<!-- selvage:entry${words.join('')}${text === undefined ? '' : ` text=${text}`} -->`;
}

/** Reads a line of the body of a review as {@link printEntryMarker} writes it. */
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

/** Two hyphens would end an HTML comment, so no hyphen stays. */
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
