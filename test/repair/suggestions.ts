/**
 * Tests the suggestions: `node test/repair/suggestions.ts [WORD…]` repairs the kernels of this folder, each
 * file as it is and with other line ends, and applies every suggestion block and every patch that the tool prints, by a
 * reference of GitHub's rule and by `git apply`. The results have to compile and be proved. Needs nvcc and git.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import type { InlineComment, ReviewPlan } from '../../src/github/plan/review-plan.ts';
import { renderPatch } from '../../src/report/patch.ts';
import type { FileDiff } from '../../src/source/diff.ts';
import { commitSuggestions, fencedBlocks } from '../github/suggestion-rule.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { type RepairedText, type Workplace, inWorkplace, root } from './repair-file.ts';

/** The applied edits, and their problems. */
export interface Applied {
  readonly repaired: number;
  readonly suggestions: number;
  readonly patches: number;
  readonly exceptions: readonly string[];
}

/** Applies all suggestions for a text, each separately and then together. */
export function applyAll(original: string, name: string): Promise<Applied> {
  return inWorkplace(name, (place) => applyAllIn(place, original, name));
}

async function applyAllIn({ repair }: Workplace, original: string, name: string): Promise<Applied> {
  const { report, text } = await repair(original);
  const exceptions: string[] = [];
  const repaired = report.kernels.filter(({ repair: { status } }) => status === 'repaired');
  const proves = async (what: string, edited: string | null, kernels: readonly KernelReport[]): Promise<void> => {
    const reason = edited === null ? 'git does not apply it' : complaint(await repair(edited, { checks: ['race', 'divergence'] }), kernels);
    if (reason !== null) exceptions.push(`${name}: ${what}: ${reason}`);
  };

  // A pull request that adds the file: every line is in the diff.
  const whole = planOf(report, name, original, [1, original.split('\n').length - 1]);
  const suggesting = suggestingComments(whole);
  for (const comment of suggesting)
    await proves(`suggestion at line ${comment.line}`, commitSuggestions(original, [comment]), fixedBy(repaired, comment));
  const suggested = repaired.filter((kernel) => suggesting.some((comment) => fixedBy([kernel], comment).length > 0));
  if (suggesting.length > 1) {
    const separate = withoutOverlap(suggesting);
    const fixed = suggested.filter((kernel) => separate.some((comment) => fixedBy([kernel], comment).length > 0));
    await proves('all suggestions', commitSuggestions(original, separate), fixed);
  }

  let patches = 0;
  const patched = async (what: string, patch: string, kernels: readonly KernelReport[]): Promise<void> => {
    if (patch === '') return;
    patches++;
    await proves(what, gitApply(original, name, patch), kernels);
  };
  const source = (): string => original;
  if (repaired.length > 1)
    for (const kernel of repaired)
      await patched(`patch of ${kernel.name}`, renderPatch({ ...report, kernels: [kernel] }, source), [kernel]);
  const all = renderPatch(report, source);
  await patched('the patch', all, repaired);
  if (all !== '' && gitApply(original, name, all) !== text) exceptions.push(`${name}: the patch makes another text`);
  // Edits that fit into no comment are in the summary: without a line in the diff, all of them.
  const beside = planOf(report, name, original, null);
  const shown = fencedBlocks(beside.summary.body).find(({ info }) => info === 'diff');
  if (repaired.length > 0 && !shown) exceptions.push(`${name}: the summary lacks the repairs`);
  if (shown && !original.includes('\r')) await patched('the diff of the summary', `${shown.lines.join('\n')}\n`, repaired);
  const left = fencedBlocks(whole.summary.body).find(({ info }) => info === 'diff');
  const missing = repaired.filter((kernel) => !suggested.includes(kernel));
  if (missing.length > 0 && !left) exceptions.push(`${name}: ${missing[0]!.name} is neither suggested nor shown`);
  if (left && !original.includes('\r')) await patched('what no comment holds', `${left.lines.join('\n')}\n`, missing);
  return { repaired: repaired.length, suggestions: suggesting.length, patches, exceptions };
}

/** The first violated expectation of an edited text; null if it has none. */
function complaint({ report }: RepairedText, kernels: readonly KernelReport[]): string | null {
  const [problem] = report.diagnostics.filter(({ severity }) => severity === 'error');
  if (problem) return problem.message;
  for (const { name: wanted } of kernels) {
    const kernel = report.kernels.find((other) => other.name === wanted);
    if (kernel?.race.verdict !== 'proved' || kernel.divergence.verdict !== 'proved')
      return `${wanted} is ${kernel?.race.verdict ?? 'gone'}, ${kernel?.divergence.verdict ?? ''}`;
  }
  return null;
}

function planOf(report: Report, path: string, text: string, shown: readonly [number, number] | null): ReviewPlan {
  const [first, last] = shown ?? [1, 0];
  const lines = Array.from({ length: last - first + 1 }, () => '+');
  const hunks = shown ? [{ oldStart: 0, oldLines: 0, newStart: first, newLines: lines.length, lines }] : [];
  const diff: FileDiff[] = [{ path, status: 'added', hunks }];
  return planReview({ report, diff, headSha: 'a'.repeat(40), source: () => text });
}

function suggestingComments({ review }: ReviewPlan): InlineComment[] {
  return (review?.comments ?? []).filter(({ body }) => fencedBlocks(body).some(({ info }) => info === 'suggestion'));
}

/** The kernels whose findings a comment reports, or those of them that it lists as proved with its suggestion. */
function fixedBy(kernels: readonly KernelReport[], { fingerprints, body }: InlineComment): KernelReport[] {
  const stated = /^\*\*Fix\*\*, compiled and proved for (.*) \(the summary has the others\)/m.exec(body);
  return kernels.filter(
    ({ name, repair: { fixes = [] } }) =>
      fixes.some((one) => fingerprints.includes(one)) && (!stated || stated[1]!.includes(`\`${name}\``)),
  );
}

/** GitHub takes no two suggestions for a line into one commit. */
function withoutOverlap(comments: readonly InlineComment[]): InlineComment[] {
  const sorted = [...comments].sort((a, b) => (a.startLine ?? a.line) - (b.startLine ?? b.line));
  const kept: InlineComment[] = [];
  for (const comment of sorted) if ((kept.at(-1)?.line ?? 0) < (comment.startLine ?? comment.line)) kept.push(comment);
  return kept;
}

function gitApply(text: string, name: string, patch: string): string | null {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-apply-')));
  try {
    writeFileSync(join(folder, name), text);
    const { status } = spawnSync('git', ['apply', '-'], { cwd: folder, input: patch, encoding: 'utf8' });
    return status === 0 ? readFileSync(join(folder, name), 'utf8') : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(words: readonly string[]): Promise<void> {
  const sum = { files: 0, repaired: 0, suggestions: 0, patches: 0, exceptions: 0 };
  for (const file of kernelFiles(join(root, 'test/repair'))) {
    if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
    const original = readFileSync(join(root, file), 'utf8');
    for (const [style, text] of [
      ['', original],
      [' with carriage returns', original.replaceAll('\n', '\r\n')],
    ] as const) {
      const { repaired, suggestions, patches, exceptions } = await applyAll(text, basename(file));
      console.log(`${file}${style}: ${repaired} repaired, ${suggestions} suggestions, ${patches} patches`);
      for (const exception of exceptions) console.log(`  ${exception}`);
      sum.files++;
      sum.repaired += repaired;
      sum.suggestions += suggestions;
      sum.patches += patches;
      sum.exceptions += exceptions.length;
    }
  }
  const { files, repaired, suggestions, patches, exceptions } = sum;
  console.log(`${files} files, ${repaired} kernels repaired: ${suggestions} suggestions, ${patches} patches, ${exceptions} exceptions`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
