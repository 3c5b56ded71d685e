/**
 * Repairs of several kernels of one file in one build. Each search returns the first edit that it would verify. One
 * text with the edits of all kernels is then built and checked, instead of one text for each kernel. So a file needs
 * five compilations, regardless of the number of its racy kernels. The result is valid only if every edit is inside its
 * own kernel, because it then cannot affect the compilation of another one.
 */
import { isLeast } from '../../../repair/build-cost.ts';
import type { Change, RepairOutcome, RepairRequest } from '../../../repair/request.ts';
import type { CudaSource } from '../../../cuda/syntax/syntax.ts';
import { applyLineEdits, editsByFile, lineEdits } from '../../../report-model/repaired-file.ts';
import type { CheckedKernel } from '../../build/phase-data.ts';
import type { EditedTexts, Workbench } from './repair-workbench.ts';

/** Outcome of a search that was necessary: an edit, or no edit found. */
export type SearchedOutcome = Exclude<RepairOutcome, { readonly status: 'not-needed' }>;

/** Outcome of a search, and the file that it edits. */
export interface Decided {
  readonly outcome: SearchedOutcome;
  readonly source: CudaSource;
  readonly texts: (text: string) => EditedTexts;
}

/** The first edit of a search, not verified yet. */
export interface FirstEdit {
  readonly text: string;
  readonly change: Exclude<Change, object>;
}

/** A search that has finished, or that has found its first edit. */
export interface Ahead {
  readonly group: readonly CheckedKernel[];
  readonly decided: Decided;
  readonly milliseconds: number;
  /** The text in which the edit was verified together with edits of other kernels; undefined without such an edit. */
  readonly texts?: EditedTexts;
}

/** A search that has reached its first edit. */
export interface Foreseen extends Ahead {
  readonly first: FirstEdit;
}

/** A request whose first edit is accepted without verification: the caller verifies it, or repeats the request. */
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
 * @returns those whose result equals that of a separate verification; the others have to be searched for again
 */
export async function verifyAtOnce(bench: Workbench, all: readonly Foreseen[]): Promise<Ahead[]> {
  const own = all.filter(staysInKernel);
  const source = own[0]?.decided.source;
  if (!source || own.length < 2) return [];
  const edits = editsByFile(own.map(({ first }) => lineEdits(source.text, first.text).map((edit) => ({ file: source.file, ...edit }))));
  const texts: EditedTexts = new Map([[source.file, applyLineEdits(source.text, edits.get(source.file) ?? [])]]);
  const edited = new Set(own.flatMap(({ group }) => group.map(({ entry }) => entry)));
  const verified: Ahead[] = [];
  for (const one of own) {
    const { group, first } = one;
    const verification = await bench.verify(group, texts, first.change, false, 'all', edited);
    // With notes or higher costs, the search would have continued or reported alternatives.
    if (!verification.verified || verification.notes.length > 0 || !(await isCheapest(bench, group, texts))) continue;
    verified.push({ ...one, texts });
  }
  if (bench.changesOthers(texts)) return [];
  return verified;
}

/** Whether the search would have stopped at this edit without trying other placements. */
async function isCheapest(bench: Workbench, group: readonly CheckedKernel[], texts: EditedTexts): Promise<boolean> {
  const before = await bench.worstCostOf(group, undefined);
  const after = await bench.worstCostOf(group, texts);
  return after === null || (before !== null && isLeast(after, before));
}

function staysInKernel({ group, decided: { source }, first }: Foreseen): boolean {
  const { unit, kernel } = group[0]!.entry;
  const { location } = kernel;
  if (source.file !== unit.path || location?.file !== unit.path) return false;
  const around = source.functions.find(
    ({ kind, firstLine, lastLine }) => kind === 'kernel' && firstLine <= location.line && location.line <= lastLine,
  );
  // The first and last line of a kernel may also contain other code.
  return (
    around !== undefined &&
    lineEdits(source.text, first.text).every(({ startLine, endLine }) => around.signatureLine < startLine && endLine < around.lastLine)
  );
}
