/**
 * Any findings and repairs on any diff: GitHub accepts the review at once, every finding is reported, a committed
 * suggestion is the repair of its finding, and a second run posts nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, type Random } from '../../src/base/random.ts';
import { applyLineEdits } from '../../src/report-model/repaired-file.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import type { ReportedRace } from '../../src/report-model/finding.ts';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { testClient } from './client.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview, renderPlan } from '../../src/github/plan/plan.ts';
import type { ReviewPlan } from '../../src/github/plan/review-plan.ts';
import { publish } from '../../src/github/publish/publish.ts';
import type { Location } from '../../src/source/location.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { BASE, divergence, HEAD, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';
import { commitSuggestions, fencedBlocks } from './suggestion-rule.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const PATHS = ['src/a.cu', 'src/deep/b (1).cuh', 'ü ñ.cu', 'c.cu', 'same.cu'];
const NEXT = 'c'.repeat(40);

function randomText(random: Random): string {
  const length = random.pick([0, 1, 3, 20, 60]);
  const text = Array.from({ length }, (_, index) => `line ${index} ${random.below(3)}`).join('\n');
  return text + (random.chance(0.7) ? '\n' : '');
}

function edited(text: string, random: Random): string {
  const lines = text.split('\n').flatMap((line) => {
    if (random.chance(0.05)) return [];
    if (random.chance(0.05)) return [line, `added ${random.below(100)}`];
    return random.chance(0.05) ? [`changed ${random.below(100)}`] : [line];
  });
  return lines.join('\n');
}

function randomTrees(random: Random): Map<string, Tree> {
  const before = new Map<string, string>();
  const after = new Map<string, string>();
  for (const path of PATHS) {
    const text = randomText(random);
    if (random.chance(0.8)) before.set(path, text);
    if (path === 'same.cu') after.set(path, text);
    else if (random.chance(0.9)) after.set(path, edited(text, random));
  }
  const next = new Map([...after].map(([path, text]) => [path, edited(text, random)]));
  return new Map([
    [BASE, before],
    [HEAD, after],
    [NEXT, next],
  ]);
}

function randomLocation(random: Random): Location {
  const place = { file: random.pick([...PATHS, 'elsewhere.cuh']), line: random.between(1, 70) };
  return random.chance(0.2) ? { ...place, inlinedAt: randomLocation(random) } : place;
}

function randomRace(random: Random): ReportedRace {
  const first = randomLocation(random);
  const finding = race({
    fingerprint: `f${random.below(40)}`,
    first,
    second: random.chance(0.5) ? first : randomLocation(random),
    more: {
      severity: random.pick(['error', 'warning', 'notice']),
      confirmed: random.chance(0.8),
      array: random.pick(['s', 'a<`|', '@x']),
    },
  });
  if (!random.chance(0.1)) return finding;
  const { location: _, ...unplaced } = finding.first;
  return { ...finding, first: unplaced, second: unplaced };
}

/** A kernel with one more line near one of its findings, if it has one in these files. */
function maybeRepaired(one: KernelReport, tree: Tree, random: Random): KernelReport {
  const placed = one.race.findings.filter(
    ({ confirmed, severity, first: { location } }) => confirmed && severity !== 'notice' && tree.has(location?.file ?? ''),
  );
  const found = random.pick(placed.length === 0 ? [undefined] : placed);
  const { file = '', line = 0 } = found?.first.location ?? {};
  const lines = (tree.get(file)?.split('\n').length ?? 1) - 1;
  const after = line + random.between(-1, 1);
  if (!found || after > lines) return one;
  const edits = [{ file, startLine: after + 1, endLine: after, replacement: `barrier of ${one.name}\n` }];
  const repair = {
    status: 'repaired',
    verified: true,
    edits,
    fixes: [found.fingerprint],
    reason: 'a barrier',
  } as const;
  return { ...one, repair };
}

function randomReport(random: Random, tree: Tree) {
  const kernels = Array.from({ length: random.between(0, 5) }, (_, index) =>
    maybeRepaired(
      kernel(
        `k${index}`,
        Array.from({ length: random.between(0, 12) }, () => randomRace(random)),
        random.chance(0.3) ? [divergence(`d${index}`, randomLocation(random))] : [],
      ),
      tree,
      random,
    ),
  );
  const unchanged = Array.from({ length: random.between(0, 10) }, () => `f${random.below(40)}`);
  return report(kernels, { comparison: { new: [], fixed: [], unchanged, regressions: [] } });
}

/**
 * Commits each suggestion separately and compares with the repairs of the findings in its comment.
 * @returns the number of suggestions
 */
function committedRepairs(
  { kernels }: Report,
  tree: Tree,
  { reviewComments }: GitHubServer,
  { findings }: Pick<ReviewPlan, 'findings'>,
): number {
  let amount = 0;
  for (const { path, line, startLine, body } of reviewComments) {
    const text = tree.get(path);
    const marker = parseMarker(body);
    // If an earlier finding may still be there, its comment stays unchanged.
    const isOfNow = findings.some(({ comment }) => comment?.fingerprints.some((one) => marker?.fingerprints.includes(one)));
    const isOpen = line !== null && marker?.kind === 'finding' && isOfNow;
    if (!isOpen || text === undefined || !fencedBlocks(body).some(({ info }) => info === 'suggestion')) continue;
    const repairs = kernels.filter(({ repair: { fixes = [] } }) => fixes.some((one) => marker.fingerprints.includes(one)));
    const wanted = repairs.map(({ repair: { edits = [] } }) => applyLineEdits(text, edits));
    const committed = commitSuggestions(text, [{ path, line, ...(startLine !== null && { startLine }), body }]);
    assert.ok(
      wanted.includes(committed),
      `${body}

${committed}`,
    );
    amount += 1;
  }
  return amount;
}

let suggested = 0;
for (let seed = 1; seed <= 60; seed += 1) {
  test(`random sequence of publish runs, seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const trees = randomTrees(random);
    const server = await startGitHub({
      ...TARGET,
      baseSha: BASE,
      headSha: HEAD,
      repository: memoryRepository(trees),
      token: 't',
    });
    server.settings.maxPatchedFiles = random.pick([1, 300]);
    const octokit = testClient(server, 't');
    const maxComments = random.pick([0, 2, 25]);
    const refuses = random.chance(0.2);
    if (refuses) server.settings.refusedLines = new Set(Array.from({ length: 6 }, () => random.between(1, 60)));
    const run = async (document: ReturnType<typeof randomReport>) => {
      const { files } = await pullRequestFiles(octokit, TARGET, () => Promise.reject(new Error('not asked for')));
      const plan = planReview({
        report: document,
        diff: files,
        headSha: server.headSha,
        baseSha: BASE,
        repository: { serverUrl: 'https://github.example', fullName: 'octo/kernels' },
        source: (file) => trees.get(server.headSha)?.get(file),
        options: { maxComments },
      });
      const result = await publish(octokit, TARGET, plan, { comment: true, checkRun: true });
      assert.deepEqual(result.problems, []);
      assert.ok(renderPlan(plan).length > 0);
      return plan;
    };
    try {
      for (const commit of [HEAD, NEXT]) {
        const tree = trees.get(commit)!;
        const document = randomReport(random, tree);
        const plan = await run(document);
        suggested += committedRepairs(document, tree, server, plan);
        const told = new Set(
          [...server.reviewComments.filter(({ line }) => line !== null), ...server.reviews].flatMap(({ body }) => {
            const marker = parseMarker(body);
            return marker?.kind === 'finding' || marker?.kind === 'review' ? marker.fingerprints : [];
          }),
        );
        const folded = server.reviewComments.filter(({ line }) => line === null);
        for (const { body } of folded) {
          const marker = parseMarker(body);
          const isTold = marker?.kind === 'finding' && marker.fingerprints.some((one) => told.has(one));
          assert.ok(!isTold, 'a finding has a folded thread in addition to the visible one');
        }
        for (const { fingerprints } of plan.findings) assert.ok(fingerprints.some((one) => told.has(one)));
        const before = server.transcript.length;
        await run(document);
        assert.deepEqual(server.writes(before), []);
        if (server.headSha === HEAD) server.push(NEXT);
      }
      assert.deepEqual(server.faults, []);
      const refusals = server.transcript.filter(({ status }) => status >= 400);
      if (!refuses) assert.deepEqual(refusals, []);
    } finally {
      await server.close();
    }
  });
}

test('the random inputs produced at least one suggestion', () => assert.ok(suggested >= 5, `${suggested}`));
