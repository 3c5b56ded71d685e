import { hashText } from '../base/hash.ts';

/** What a finding is about, without the kernel: the kind of finding, and what names it among those of the kind. */
export type FindingSubject = readonly [kind: string, ...parts: string[]];

/** The name of a finding, stable between commits. @param identity names the kernel */
export function fingerprintOf(identity: string, [kind, ...parts]: FindingSubject): string {
  return hashText([kind, identity, ...parts].join('|'));
}
