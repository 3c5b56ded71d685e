/** Launches in the text of a program: their properties, which of them are equal, and what they have in common. */
import type { AssumptionExpression, IntegerExpression } from '../../assumptions/expression.ts';
import { printAssumption } from '../../assumptions/print-assumption.ts';
import type { Location } from '../../source/location.ts';
import type { AxisExtents, Extents } from './extents.ts';
import type { SiteContents } from './launch-contents.ts';

export type LaunchProperty = 'block' | 'grid' | 'cluster' | 'sharedBytes' | 'cooperative';

/** Memory of the program that an argument points to. */
export interface SitePointer {
  /** Equal for arguments that point into one allocation, and different for those of two. */
  readonly memory: string;
  /** Bytes of the allocation; null if unspecified. */
  readonly bytes: bigint | null;
  /** Offset of the pointer in its allocation, in bytes; null if unspecified. */
  readonly offset: bigint | null;
  /** A texture object that is bound to the memory, or to a part of it. */
  readonly isTexture?: true;
}

/** A launch in the text. Properties that are not constants are missing. */
export interface LaunchSite {
  /** For messages, on one line: `reduce<256><<<grid, block>>>`. */
  readonly text: string;
  readonly location: Location;
  readonly block?: Extents;
  readonly grid?: Extents;
  /** Extents of single axes. */
  readonly axes: AxisExtents;
  readonly cluster?: Extents;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes?: number;
  /** The same as an expression over dimensions and arguments, if it is not a constant. */
  readonly sharedSize?: IntegerExpression;
  /** Whether the program does not let kernels have more dynamic shared memory than the default limit. */
  readonly keepsAttributes?: true;
  readonly cooperative?: boolean;
  /** Present if the kernel may start before the previous kernel in the stream has ended. */
  readonly startsEarly?: true;
  /** Present if other operations of the program may overlap with it: it uses several streams, and their order is not known. */
  readonly mayOverlap?: true;
  /** Properties that are neither constant nor constrained by an argument. */
  readonly unknown: readonly LaunchProperty[];
  /** Why extents are neither constant nor constrained by an argument: `gridDim.x depends on the result of atoi()`. */
  readonly reasons: readonly string[];
  /** Arguments that are constants, by position. */
  readonly scalars: ReadonlyMap<number, bigint | number | boolean>;
  /** Positions, in order, of arguments that point into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Pairs of `aliases` that are the same pointer, without an offset between them. */
  readonly samePointers: readonly (readonly [number, number])[];
  /** Pairs of `aliases` at a known distance: the lower pointer, the upper one, the bytes between them. */
  readonly distances: readonly (readonly [number, number, IntegerExpression])[];
  /** Arguments, by position, that are null or point into memory of the program, and textures bound to such memory. */
  readonly pointers: ReadonlyMap<number, SitePointer>;
  /** Constraints of dimensions and arguments that the program implies, in the language of assumptions. */
  readonly ties: readonly AssumptionExpression[];
  /** Positions of arguments that are a fraction of a size of the program, with the divisor: 4 for `n / 4`. */
  readonly parts?: readonly (readonly [number, number])[];
  /** Contents of memory that the program writes visibly before the launch. */
  readonly contents: SiteContents;
}

/** Sites without duplicates; of their pointers, the facts common to the duplicates. */
export function distinctSites(sites: readonly LaunchSite[]): LaunchSite[] {
  const unique = new Map<string, LaunchSite>();
  for (const site of contentsOfAll(sites)) {
    const known = unique.get(siteKey(site));
    unique.set(siteKey(site), known ? { ...known, pointers: commonPointers([known, site]) } : site);
  }
  return [...unique.values()];
}

/** Maximum number of different contents of memory for launches of one kind; with more, they are unspecified. */
const maxContents = 4;

/** Sites, without contents if an otherwise equal site allows any contents. */
function contentsOfAll(sites: readonly LaunchSite[]): readonly LaunchSite[] {
  const groups = new Map<string, { readonly contents: Set<string>; isOpen: boolean }>();
  const plain = sites.map((site) => {
    const other = withoutContents(site);
    const [key, own] = [siteKey(other), siteKey(site)];
    const group = groups.get(key) ?? { contents: new Set(), isOpen: false };
    group.contents.add(own);
    group.isOpen ||= key === own;
    groups.set(key, group);
    return { site, other, group };
  });
  return plain.map(({ site, other, group }) => (group.isOpen || group.contents.size > maxContents ? other : site));
}

/** A site without contents of memory. */
export function withoutContents(site: LaunchSite): LaunchSite {
  const { contents, ties } = site;
  if (contents.arrays.size === 0 && contents.variables.size === 0 && !ties.some(isOfContents)) return site;
  return { ...site, ties: ties.filter((tie) => !isOfContents(tie)), contents: noContents };
}

const noContents: SiteContents = { arrays: new Map(), variables: new Map() };

function isOfContents({ kind }: AssumptionExpression): boolean {
  return kind === 'elements' || kind === 'distinct';
}

/** Removes sites that equal another one except for additional conditions: the other one covers their launches. */
export function withoutCovered(sites: readonly LaunchSite[]): readonly LaunchSite[] {
  const compared = sites.map((site) => {
    const { ties, reasons, ...rest } = site;
    void reasons;
    const conditions = new Set(ties.filter(isCondition).map(printAssumption));
    return { site, conditions, key: jsonOf([rest, ties.filter((tie) => !isCondition(tie))]) };
  });
  const covers = (a: (typeof compared)[number], b: (typeof compared)[number]): boolean =>
    a.key === b.key && a.conditions.size < b.conditions.size && [...a.conditions].every((one) => b.conditions.has(one));
  return compared.filter((one) => !compared.some((other) => covers(other, one))).map(({ site }) => site);
}

function isCondition({ kind }: AssumptionExpression): boolean {
  return kind === 'condition';
}

/** Facts common to several launches about the memory of their arguments. */
export function commonPointers([first, ...rest]: readonly LaunchSite[]): ReadonlyMap<number, SitePointer> {
  const common = new Map<number, SitePointer>();
  for (const [index, one] of first?.pointers ?? []) {
    const others = rest.map(({ pointers }) => pointers.get(index));
    if (others.includes(undefined)) continue;
    const bytes = others.every((other) => other!.bytes === one.bytes) ? one.bytes : null;
    const offset = others.every((other) => other!.offset === one.offset) ? one.offset : null;
    common.set(index, { ...one, bytes, offset });
  }
  return common;
}

/** A key that is equal for equal sites, independent of the memory that they point to. */
function siteKey({ text, location, pointers, reasons, ...rest }: LaunchSite): string {
  void pointers;
  void reasons;
  return jsonOf([text, location.file, location.line, rest]);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part instanceof Map ? [...(part as ReadonlyMap<unknown, unknown>)] : part,
  );
}
