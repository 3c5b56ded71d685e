/**
 * Repairs of several kernels of one file that are built at once. Each search takes the first edit that it would verify
 * for a repair; one text with the edits of all kernels is then built and checked in place of a text for each. So a file
 * takes five compilations however many of its kernels are broken. It counts only where every edit stays in its own
 * kernel, because nothing of another one can then come into what is compiled for it.
 */
import { isLeast } from '../../../repair/build-cost.ts';
import type { Change, RepairOutcome, RepairRequest } from '../../../repair/request.ts';
import type { CudaSource } from '../../../cuda/syntax/syntax.ts';
import { applyLineEdits, editsByFile, lineEdits } from '../../../report-model/repaired-file.ts';
import type { CheckedKernel } from '../../build/kernel.ts';
import type { EditedTexts, Workbench } from './repair-workbench.ts';

/** A search was made, and it came to an edit or found none. */
export type SearchedOutcome = Exclude<RepairOutcome, { readonly status: 'not-needed' }>;

/** What a search came to, and the file that it edits. */
export interface Decided {
  readonly outcome: SearchedOutcome;
  readonly source: CudaSource;
  readonly texts: (text: string) => EditedTexts;
}

/** The first edit of a search, which is not verified yet. */
export interface FirstEdit {
  readonly text: string;
  readonly change: Exclude<Change, object>;
}

/** A search that has come to its end, or to its first edit. */
export interface Ahead {
  readonly group: readonly CheckedKernel[];
  readonly decided: Decided;
  readonly milliseconds: number;
  /** The text in which its edit was verified with those of other kernels; undefined where it has no such edit. */
  readonly texts?: EditedTexts;
}

/** A search that has come to its first edit. */
export interface Foreseen extends Ahead {
  readonly first: FirstEdit;
}

/** A request whose first edit is taken as it is: the caller verifies it, or asks again. */
export function takingFirst(request: RepairRequest, found: (first: FirstEdit) => void): RepairRequest {
  let isFound = false;
  return {
    ...request,
    prepare: () => undefined,
    cost: (text) => (text === undefined || isFound ? request.cost(text) : Promise.resolve(null)),
    verify: (text, change, extent) => {
      if (isFound || typeof change === 'object' || extent === 'some') return request.verify(text, change, extent);
      isFound = true;
      found({ text, change });
      return Promise.resolve({ verified: true, notes: [], leaves: [] });
    },
  };
}

/**
 * Verifies edits of several kernels of a file in one text.
 * @returns those for which all is as if they had been verified alone; the others have to be searched for again
 */
export async function verifyAtOnce(bench: Workbench, all: readonly Foreseen[]): Promise<Ahead[]> {
  const own = all.filter(staysInKernel);
  const source = own[0]?.decided.source;
  if (!source || own.length < 2) return [];
  const edits = editsByFile(own.map(({ first }) => lineEdits(source.text, first.text).map((edit) => ({ file: source.file, ...edit })))); // oxfmt-ignore
  const texts: EditedTexts = new Map([[source.file, applyLineEdits(source.text, edits.get(source.file) ?? [])]]);
  const edited = new Set(own.flatMap(({ group }) => group.map(({ entry }) => entry)));
  const verified: Ahead[] = [];
  for (const one of own) {
    const { group, first } = one;
    const verification = await bench.verify(group, texts, first.change, false, 'all', edited);
    // Notes and costs would have led the search elsewhere, or be told of alternatives too.
    if (!verification.verified || verification.notes.length > 0 || !(await isCheapest(bench, group, texts))) continue;
    verified.push({ ...one, texts });
  }
  if (bench.changesOthers(texts)) return [];
  return verified;
}

/** Whether the search would not have looked for other placements. */
async function isCheapest(bench: Workbench, group: readonly CheckedKernel[], texts: EditedTexts): Promise<boolean> {
  const before = await bench.worstCostOf(group, undefined);
  const after = await bench.worstCostOf(group, texts);
  return after === null || (before !== null && isLeast(after, before));
}

function staysInKernel({ group, decided: { source }, first }: Foreseen): boolean {
  const { unit, kernel } = group[0]!.entry;
  const { location } = kernel;
  if (source.file !== unit.path || location?.file !== unit.path) return false;
  const around = source.functions.find(({ kind, firstLine, lastLine }) => kind === 'kernel' && firstLine <= location.line && location.line <= lastLine); // oxfmt-ignore
  // The lines of its ends may hold something else.
  return (
    around !== undefined &&
    lineEdits(source.text, first.text).every(({ startLine, endLine }) => around.signatureLine < startLine && endLine < around.lastLine) // oxfmt-ignore
  );
}
