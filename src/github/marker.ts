/**
 * Hidden first lines by which a later run knows its own comments. Only the first line counts: whatever source text a
 * comment quotes further down cannot pass for a marker. The author of the comment is checked apart.
 */
const PATTERN = /^<!-- selvage:v1(?: (review|summary|fixed))?(?: fingerprint=([^ ]*))? -->(?:\r?\n|$)/;

/** `finding` is an inline comment; `fixed` what becomes of it when its finding is gone. */
type MarkerKind = 'finding' | 'review' | 'summary' | 'fixed';

export interface Marker {
  readonly kind: MarkerKind;
  /** Fingerprints of the findings in the comment. */
  readonly fingerprints: readonly string[];
}

/** The marker as the first line of a body, with its line end. */
export function printMarker(kind: MarkerKind, fingerprints: readonly string[] = []): string {
  const word = kind === 'finding' ? '' : ` ${kind}`;
  const list = fingerprints.length === 0 ? '' : ` fingerprint=${fingerprints.map(encode).join(',')}`;
  return `<!-- selvage:v1${word}${list} -->\n`;
}

/** Reads the marker at the start of a body, if there is one. */
export function parseMarker(body: string | null | undefined): Marker | undefined {
  const match = PATTERN.exec(body ?? '');
  if (!match) return undefined;
  const fingerprints = match[2] === undefined ? [] : match[2].split(',').map(decode);
  return { kind: (match[1] as MarkerKind | undefined) ?? 'finding', fingerprints };
}

/** Two hyphens would end an HTML comment, so no hyphen stays. */
function encode(fingerprint: string): string {
  return encodeURIComponent(fingerprint.replace(/[\ud800-\udfff]/gu, '\ufffd')).replaceAll('-', '%2D');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
