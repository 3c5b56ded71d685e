/**
 * A random walk over the life of a pull request: pushes, suppressions, exclusions, undecided kernels, missing shards,
 * answers, resolved threads, two jobs for two folders. After each step, every comment, summary and check run is true,
 * nothing is doubled, and no true comment is gone.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, type Random } from '../../src/base/random.ts';
import { pullRequestFiles } from '../../src/github/api/changed-files.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { publish } from '../../src/github/publish/publish.ts';
import { parseEntryMarker, parseMarker } from '../../src/github/text/marker.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { diffWithin } from '../../src/source/diff.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER } from './objects.ts';
import { BASE, kernel, race, report } from './report-fixture.ts';
import { startGitHub, type GitHubServer } from './server.ts';
import { sweep } from '../run/sweep.ts';

const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };

const seeds = sweep(6, 40);
const stepsOfWalk = sweep(25, 50);

/** A kernel of the pull request. */
interface Model {
  readonly name: string;
  readonly file: string;
  /** Number of lines of its part of the file. */
  readonly lines: number;
  isRacy: boolean;
  isSuppressed: boolean;
  isUndecided: boolean;
  /** Changes with each edit of the line of the race. */
  version: number;
  /** Lines that are inserted before it. */
  above: number;
  /** Whether its line of the race is in the diff even if it is not racy. */
  isTouched: boolean;
}

interface World {
  readonly kernels: readonly Model[];
  readonly excluded: Set<string>;
  /** Folders whose last shard left no results. */
  readonly missing: Set<string>;
}

const folders = ['x/', 'y/'];

function textOf(world: World, file: string, isBase: boolean): string {
  return world.kernels
    .filter((one) => one.file === file)
    .flatMap((one) => {
      const isChanged = !isBase && (one.isRacy || one.isTouched);
      const body = Array.from({ length: one.lines }, (_, at) => `${one.name} ${at}`);
      body[10] = isChanged ? `${one.name} ${one.isRacy ? 'race' : 'safe'} ${one.version}` : `${one.name} base`;
      return [...Array.from({ length: isBase ? 0 : one.above }, (_, at) => `${one.name} above ${at}`), ...body];
    })
    .map((line) => `${line}\n`)
    .join('');
}

function treeOf(world: World, isBase: boolean): Tree {
  return new Map([...new Set(world.kernels.map(({ file }) => file))].map((file) => [file, textOf(world, file, isBase)]));
}

const fingerprintOf = ({ name }: Model): string => `f-${name}`;

/** Whether the run of a folder looks at a kernel. */
function isLookedAt(world: World, one: Model): boolean {
  const folder = folders.find((candidate) => one.file.startsWith(candidate))!;
  return !world.excluded.has(one.file) && !world.missing.has(folder);
}

function isReported(world: World, one: Model): boolean {
  return isLookedAt(world, one) && one.isRacy && !one.isUndecided;
}

/** The report of the run of a folder. */
function reportOf(world: World, folder: string, tree: Tree): Report {
  const own = world.kernels.filter(({ file }) => file.startsWith(folder));
  const kernels = own.flatMap((one): KernelReport[] => {
    if (!isLookedAt(world, one) || !(one.isRacy || one.isTouched || one.isUndecided)) return [];
    const file = one.file.slice(folder.length);
    const line =
      tree
        .get(one.file)!
        .split('\n')
        .findIndex((text) => text.startsWith(`${one.name} race`)) + 1;
    const place = { file, line };
    const found = race({ fingerprint: fingerprintOf(one), first: place, second: place });
    const reported = one.isSuppressed ? { ...found, severity: 'notice' as const, suppressed: `only ${one.name}` } : found;
    const races = one.isRacy && !one.isUndecided ? [reported] : [];
    const result = { ...kernel(one.name, races), location: { file, line: 1 } };
    return [one.isUndecided ? { ...result, race: { verdict: 'unknown', findings: [] } } : result];
  });
  const excluded = own.filter(({ file }) => world.excluded.has(file)).map(({ file }) => file.slice(folder.length));
  const diagnostics = world.missing.has(folder) ? [{ severity: 'error', code: 'review/shard-missing', message: 'Shard 2.' } as const] : [];
  return report(kernels, { diagnostics, ...(excluded.length > 0 && { excluded: [...new Set(excluded)] }) });
}

function step(world: World, server: GitHubServer, random: Random): string {
  const one = random.pick(world.kernels);
  const [comment] = server.reviewComments.filter(({ inReplyTo }) => inReplyTo === undefined && random.chance(0.5));
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      one.isRacy = !one.isRacy;
      one.isTouched = random.chance(0.5);
      return `${one.name} ${one.isRacy ? 'breaks' : 'is fixed'}`;
    case 3:
      one.version += 1;
      return `the line of ${one.name} is edited`;
    case 4:
      one.above += random.pick([1, 12]);
      return `lines above ${one.name}`;
    case 5:
      one.isSuppressed = !one.isSuppressed;
      return `${one.name} suppressed: ${one.isSuppressed}`;
    case 6:
      one.isUndecided = !one.isUndecided;
      return `${one.name} undecided: ${one.isUndecided}`;
    case 7:
      if (!world.excluded.delete(one.file)) world.excluded.add(one.file);
      return `${one.file} excluded: ${world.excluded.has(one.file)}`;
    case 8: {
      const folder = random.pick(folders);
      if (!world.missing.delete(folder)) world.missing.add(folder);
      return `a shard of ${folder} is missing: ${world.missing.has(folder)}`;
    }
    case 9:
      if (comment) server.commentOnLine(SOME_USER, { inReplyTo: comment.id }, 'hm');
      return 'an answer';
    case 10:
      if (comment) comment.isResolved = true;
      return 'a thread is resolved';
    default:
      return 'nothing';
  }
}

/** Fingerprints that a body of a review reports. */
function openEntries(body: string): string[] {
  const told = parseMarker(body)?.fingerprints ?? [];
  const entries = body.split('\n').flatMap((line) => parseEntryMarker(line)?.fingerprints ?? []);
  return entries.filter((one) => told.includes(one));
}

/** Checks all that GitHub shows against the model. @param seen findings that were reported at some time and not fixed since */
function check(world: World, server: GitHubServer, seen: Set<string>, named: (text: string) => string): void {
  const markers = server.reviewComments.flatMap((comment) => {
    const marker = parseMarker(comment.body);
    return marker && comment.inReplyTo === undefined ? [{ comment, marker }] : [];
  });
  const bodies = server.reviews.filter(({ body }) => parseMarker(body)?.kind === 'review');
  for (const one of world.kernels) {
    const fingerprint = fingerprintOf(one);
    const own = markers.filter(({ marker }) => marker.fingerprints.includes(fingerprint));
    const of = (...kinds: readonly string[]) => own.filter(({ marker }) => kinds.includes(marker.kind));
    const entries = bodies.filter(({ body }) => openEntries(body).includes(fingerprint)).length;
    const current = of('finding').length + entries;
    const state = `${one.name}: ${own.map(({ marker }) => marker.kind).join()}, ${entries} entries`;
    if (isReported(world, one) && !one.isSuppressed) {
      assert.equal(current, 1, named(`${state}: reported once`));
      assert.equal(of('suppressed', 'unchecked').length, 0, named(state));
      seen.add(one.name);
    } else if (isReported(world, one)) {
      assert.equal(current, 0, named(`${state}: suppressed`));
      assert.ok(of('suppressed').length <= 1, named(state));
    } else if (isLookedAt(world, one) && !one.isUndecided) {
      assert.equal(current + of('suppressed', 'unchecked').length, 0, named(`${state}: fixed`));
      seen.delete(one.name);
    } else if (seen.has(one.name)) {
      assert.ok(current + of('suppressed', 'unchecked').length >= 1, named(`${state}: a true comment is gone`));
    }
    for (const { comment, marker } of own) {
      if (marker.kind !== 'finding') assert.doesNotMatch(comment.body, /^```suggestion$/m, named(state));
      if (marker.kind === 'suppressed') assert.ok(comment.body.includes(`only ${one.name}`), named(state));
      assert.equal(
        `${marker.name}/`,
        folders.find((folder) => one.file.startsWith(folder)),
        named(state),
      );
    }
  }
  for (const { id, body } of bodies) {
    const open = markers.filter(({ comment, marker }) => comment.reviewId === id && /^(?:finding|suppressed|unchecked)$/.test(marker.kind));
    const isSettled = body.includes('Nothing of this review is open here any more');
    assert.equal(isSettled, open.length + openEntries(body).length === 0, named(body));
  }
  for (const folder of folders) {
    const name = folder.slice(0, -1);
    const findings = world.kernels.filter((one) => one.file.startsWith(folder) && isReported(world, one) && !one.isSuppressed);
    const summaries = server.issueComments.filter(({ body }) => parseMarker(body)?.name === name);
    const [summary] = summaries;
    assert.ok(summaries.length <= 1, named(`summaries of ${name}`));
    const count = /(\d+) data races?/.exec(summary?.body.split('\n')[1] ?? '')?.[1] ?? '0';
    if (summary || findings.length > 0) assert.equal(Number(count), findings.length, named(summary?.body ?? 'no summary'));
    const run = server.checkRuns.findLast((one) => one.headSha === server.headSha && one.name === `Selvage (${name})`);
    const isFailure = findings.length > 0 || world.missing.has(folder);
    assert.equal(run?.conclusion, isFailure ? 'failure' : 'success', named(`check run of ${name}`));
  }
}

for (let seed = 1; seed <= seeds; seed += 1) {
  test(`a walk of ${stepsOfWalk} steps through a pull request, seed ${seed}`, async () => {
    const random = seededRandom(seed);
    const kernels = ['x/a.cu', 'x/a.cu', 'x/b.cu', 'y/c.cu', 'y/c.cu'].map((file, at): Model => ({
      name: `k${at}`,
      file,
      lines: 30,
      isRacy: random.chance(0.3),
      isSuppressed: false,
      isUndecided: false,
      version: 0,
      above: 0,
      isTouched: true,
    }));
    const world: World = { kernels, excluded: new Set(), missing: new Set() };
    const trees = new Map<string, Tree>([[BASE, treeOf(world, true)]]);
    const shaOf = (at: number): string => (at + 0x1000).toString(16).padStart(40, 'c');
    trees.set(shaOf(0), treeOf(world, false));
    const server = await startGitHub({ ...TARGET, baseSha: BASE, headSha: shaOf(0), repository: memoryRepository(trees), token: 't' });
    server.settings.mayResolve = random.chance(0.5);
    const octokit = testClient(server, 't');
    const run = async (folder: string): Promise<void> => {
      const { files } = await pullRequestFiles(octokit, TARGET, () => Promise.reject(new Error('not asked for')));
      const tree = trees.get(server.headSha)!;
      const plan = planReview({
        report: reportOf(world, folder, tree),
        folder,
        name: folder.slice(0, -1),
        diff: diffWithin(files, folder),
        headSha: server.headSha,
        baseSha: BASE,
        repository: { serverUrl: 'https://github.example', fullName: 'octo/kernels' },
        source: (file) => tree.get(`${folder}${file}`),
        options: { maxComments: random.pick([1, 25]) },
      });
      assert.deepEqual((await publish(octokit, TARGET, plan, { comment: true, checkRun: true })).problems, []);
    };
    const seen = new Set<string>();
    const log: string[] = [];
    try {
      for (let at = 0; at < stepsOfWalk; at += 1) {
        if (at > 0) {
          log.push(step(world, server, random));
          const sha = shaOf(at);
          trees.set(sha, treeOf(world, false));
          server.push(sha, memoryRepository(trees));
        }
        const order = random.chance(0.5) ? folders : folders.toReversed();
        for (const folder of order) await run(folder);
        check(world, server, seen, (text) => `step ${at} after ${log.slice(-8).join('; ')}: ${text}`);
        const before = server.transcript.length;
        for (const folder of order) await run(folder);
        const again = server.writes(before).map(({ method, path }) => `${method} ${path}`);
        assert.deepEqual(again, [], `step ${at}: a second run writes`);
        assert.deepEqual(server.faults, []);
      }
    } finally {
      await server.close();
    }
  });
}
