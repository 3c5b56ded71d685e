/** Reviews of forks in two stages: posted reviews, and the handling of hostile artifacts. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { printReviewData, type ReviewData } from '../../src/github/fork-review/review-data.ts';
import { runPost } from '../../src/github/fork-review/post-run.ts';
import type { Report } from '../../src/report-model/report.ts';
import { activePieces } from './active-markdown.ts';
import { fencedBlocks } from './suggestion-rule.ts';
import { zip, type ZipEntry } from './archive.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import { finishedRun, FORK, listedArtifacts, listedPulls, storedArchive } from './fork-run.ts';
import { startGitHub, type GitHubServer, type Handler } from './server.ts';

const TOKEN = 'secret-token';
/** The run of the fork. */
const RUN = 77;
/** The run that posts, and its commit: that of the default branch. */
const THIS_RUN = 900;
const MAIN = 'e'.repeat(40);
const NUMBER = 7;
const folder = mkdtempSync(join(tmpdir(), 'selvage-post-'));
const servers: GitHubServer[] = [];
after(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all(servers.map((server) => server.close()));
});

const text = (changed: boolean): string =>
  Array.from({ length: 30 }, (_, index) => `line ${index + 1}${changed && index === 12 ? ' changed' : ''}\n`).join('');
const trees: ReadonlyMap<string, Tree> = new Map([
  [BASE, new Map([['src/a.cu', text(false)]])],
  [HEAD, new Map([['src/a.cu', text(true)]])],
]);

const at = (line: number) => ({ file: 'src/a.cu', line });
const racy = (replacement: string): Report => {
  const one = kernel('k', [race({ fingerprint: 'f1', first: at(12), second: at(14) })]);
  const edits = [{ file: 'src/a.cu', startLine: 13, endLine: 13, replacement }];
  return report([{ ...one, location: at(10), repair: { status: 'repaired', verified: true, edits, fixes: ['f1'] } }]);
};
const withBarrier = 'line 13 changed\n  __syncthreads();\n';
const data = (more: Partial<ReviewData> = {}): ReviewData => ({
  repository: 'octo/kernels',
  pullRequest: NUMBER,
  head: HEAD,
  base: BASE,
  folder: '',
  name: '',
  trust: [],
  report: racy(withBarrier),
  ...more,
});
const entry = (content: string | Uint8Array, more: Partial<ZipEntry> = {}): ZipEntry => ({
  name: 'selvage-review.json',
  content: typeof content === 'string' ? Buffer.from(content) : content,
  ...more,
});

/** What the fork's run left: that nothing was found. */
const forkArchive = zip([entry(printReviewData(data({ report: report([kernel('k', [])]) })))]);

interface Situation {
  readonly archive: Buffer;
  readonly artifact?: object;
  readonly artifacts?: number;
  readonly run?: object;
  readonly eventName?: string;
  /** The head of the pull request. */
  readonly head?: string;
  readonly headRepository?: string;
  /** Whether an earlier job of this run left the artifact. The fork's run then left one, too. */
  readonly repeated?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the second stage; all of its input except for GitHub's own answers may be hostile. */
async function post(situation: Situation) {
  const { archive, artifact = {}, artifacts = 1, run = {}, head = HEAD, headRepository = FORK, repeated = false } = situation;
  const own = Array.from({ length: artifacts }, () => ({ archive, headSha: repeated ? MAIN : HEAD, more: artifact }));
  const ofFork = repeated ? [{ archive: forkArchive, headSha: HEAD }] : own;
  const server: GitHubServer = await startGitHub({
    owner: 'octo',
    repo: 'kernels',
    pullNumber: NUMBER,
    baseSha: BASE,
    headSha: head,
    repository: memoryRepository(new Map([...trees, [head, trees.get(HEAD)!]])),
    token: TOKEN,
    more: (api): Record<string, Handler> => ({
      ...listedArtifacts(api, (id) => (id === RUN ? ofFork : id === THIS_RUN && repeated ? own : [])),
      ...listedPulls(api, [{ number: NUMBER, head, base: BASE, headRepository }]),
      'GET /repos/{owner}/{repo}/contents/{path}': ({ params, query }) => {
        const content = trees.get(query.get('ref') ?? '')?.get(params[2] ?? '');
        const body = { ...api.example('content-file-response-if-content-is-a-file'), encoding: 'base64' };
        return { status: 200, body: { ...body, content: Buffer.from(content ?? '').toString('base64') } };
      },
    }),
    raw: (path) =>
      storedArchive(
        path,
        server.url,
        repeated
          ? new Map([
              [THIS_RUN, archive],
              [RUN, forkArchive],
            ])
          : new Map([[RUN, archive]]),
      ),
  });
  servers.push(server);
  const event = join(folder, `${servers.length}.json`);
  writeFileSync(event, JSON.stringify(finishedRun(RUN, HEAD, run)));
  const environment = {
    GITHUB_EVENT_NAME: situation.eventName ?? 'workflow_run',
    GITHUB_EVENT_PATH: event,
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: 'octo/kernels',
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_RUN_ID: String(THIS_RUN),
    GITHUB_SHA: MAIN,
    SELVAGE_WRITE_INTERVAL: '0',
    ...situation.environment,
  };
  const lines: string[] = [];
  const take = (line: string): void => void lines.push(line);
  const status = await runPost(environment, {
    token: TOKEN,
    comment: true,
    checkRun: true,
    maxComments: 25,
    reviewDrafts: false,
    failOn: 'error',
    repeated,
    info: take,
    error: take,
  });
  return { status, server, log: lines.join('\n') };
}

const whole = (own: Partial<ReviewData> = {}): Buffer => zip([entry(printReviewData(data(own)))]);

test('findings of a run for a fork are posted to its pull request, with messages of this stage', async () => {
  const { status, server, log } = await post({ archive: whole() });
  assert.equal(status, 0, log);
  assert.deepEqual(server.faults, []);
  assert.deepEqual(
    server.reviewComments.map(({ path, startLine, line }) => [path, startLine, line]),
    [['src/a.cu', 12, 14]],
  );
  assert.match(server.reviewComments[0]!.body, /```suggestion\nline 12\nline 13 changed\n {2}__syncthreads\(\);\nline 14\n```/);
  assert.deepEqual(
    server.checkRuns.map(({ name, conclusion }) => [name, conclusion]),
    [['Selvage (fork)', 'failure']],
  );
  assert.doesNotMatch(server.checkRuns[0]?.summary ?? '', /repeated/);
  assert.equal(server.issueComments.length, 1);
  const before = server.transcript.length;
  assert.deepEqual(server.writes(before), []);
});

for (const repeated of [false, true]) {
  test(`an edit with changes other than barriers is not suggested${repeated ? ' by a repeated analysis' : ''}`, async () => {
    for (const replacement of ['system("curl evil");\n', `${withBarrier}  exfiltrate();\n`, '', '  __syncthreads();\n']) {
      const { status, server } = await post({ archive: whole({ report: racy(replacement) }), repeated });
      assert.equal(status, 0);
      assert.equal(server.reviewComments.length, 1);
      assert.doesNotMatch(JSON.stringify(server.writes()), /suggestion\\n|curl|exfiltrate/);
    }
  });
}

test('a repeated analysis has the usual check run, which reports that; the artifact of the fork is not read', async () => {
  const { status, server, log } = await post({ archive: whole(), repeated: true });
  assert.equal(status, 0, log);
  assert.deepEqual(server.faults, []);
  assert.deepEqual(
    server.checkRuns.map(({ name, conclusion }) => [name, conclusion]),
    [['Selvage', 'failure']],
  );
  assert.match(
    server.checkRuns[0]?.summary ?? '',
    /^This repository repeated the analysis of the fork's commit, and did not take over the results of the fork's run\.\n\n### Selvage: /,
  );
  assert.match(server.reviewComments[0]?.body ?? '', /```suggestion\nline 12\nline 13 changed\n {2}__syncthreads\(\);\n/);
  const read = server.transcript.map(({ path }) => path).filter((path) => /actions|storage/.test(path));
  assert.deepEqual(
    read.map((path) => /\/(77|900)\b/.exec(path)?.[1]),
    ['900', '900', '900'],
  );
  const named = await post({ archive: whole({ name: 'solver' }), repeated: true });
  assert.deepEqual(
    named.server.checkRuns.map(({ name }) => name),
    ['Selvage (solver)'],
  );
});

test('a repeated analysis without an artifact, or of a branch of this repository, posts nothing', async () => {
  const own = { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } };
  for (const [situation, reason] of [
    [{ artifacts: 0 }, /left no artifact/],
    [{ run: { event: 'push' } }, /not by a pull request/],
    [{ run: { head_repository: own } }, /posted its review itself/],
  ] as const) {
    const { status, server, log } = await post({ archive: whole(), repeated: true, ...situation });
    assert.equal(status, 0, log);
    assert.match(log, reason);
    assert.deepEqual(server.writes(), []);
    assert.ok(server.transcript.every(({ path }) => !/\/77\b|storage/.test(path)));
  }
});

const json = (change: (value: Record<string, unknown>) => void): Buffer => {
  const value = JSON.parse(printReviewData(data())) as Record<string, unknown>;
  change(value);
  return zip([entry(JSON.stringify(value))]);
};
const inReport = (change: (value: Record<string, unknown>) => void): Buffer =>
  json((value) => change(value['report'] as Record<string, unknown>));
const good = printReviewData(data());
/** A gigabyte of zeros. */
const bomb = { times: 1 << 10 } as const;
const mebibyte = Buffer.alloc(1 << 20);

/** Name, artifact of the run, and reported reason. */
const hostile: readonly (readonly [string, () => Situation, RegExp])[] = [
  ['no archive', () => ({ archive: Buffer.from('<html>') }), /not a ZIP archive/],
  ['an empty archive', () => ({ archive: zip([]) }), /0 entries/],
  ['a truncated archive', () => ({ archive: whole().subarray(0, 300) }), /not a ZIP archive/],
  ['an archive with trailing data', () => ({ archive: zip([entry(good)], Buffer.from('#!/bin/sh')) }), /not a ZIP archive/],
  ['a path outside of the folder', () => ({ archive: zip([entry(good, { name: '../../.bashrc' })]) }), /another name/],
  ['an absolute path', () => ({ archive: zip([entry(good, { name: '/etc/passwd' })]) }), /another name/],
  ['a path of Windows', () => ({ archive: zip([entry(good, { name: '..\\selvage-review.json' })]) }), /another name/],
  ['an additional file', () => ({ archive: zip([entry(good), entry('x', { name: 'node_modules/x.js' })]) }), /another name/],
  ['the file twice', () => ({ archive: zip([entry(good), entry(good)]) }), /twice/],
  ['a thousand entries', () => ({ archive: zip(Array.from({ length: 1000 }, () => entry('x'))) }), /1000 entries/],
  ['a symbolic link', () => ({ archive: zip([entry('/etc/passwd', { mode: 0o120777 })]) }), /link or device/],
  ['a device', () => ({ archive: zip([entry('', { mode: 0o020666 })]) }), /link or device/],
  ['an encrypted entry', () => ({ archive: zip([entry(good, { flags: 1 })]) }), /encrypted/],
  ['another method of packing', () => ({ archive: zip([entry(good, { method: 14 })]) }), /method 14/],
  ['two names for one entry', () => ({ archive: zip([entry(good, { localName: 'other' })]) }), /damaged/],
  ['a wrong checksum', () => ({ archive: zip([entry(good, { crc: 1 })]) }), /checksum/],
  ['a gigabyte with a correct size', () => ({ archive: zip([entry(mebibyte, bomb)]) }), /more than 67108864 bytes/],
  ['a gigabyte with a false size', () => ({ archive: zip([entry(mebibyte, { ...bomb, size: 1000 })]) }), /within the limit|another size/],
  [
    'an artifact that is too large',
    () => ({ archive: Buffer.alloc(17 << 20), artifact: { size_in_bytes: 100 } }),
    /more than 16777216 bytes/,
  ],
  [
    'an artifact with too large a declared size',
    () => ({ archive: whole(), artifact: { size_in_bytes: 1 << 30 } }),
    /more than 16777216 bytes/,
  ],
  ['an artifact that has expired', () => ({ archive: whole(), artifact: { expired: true } }), /expired/],
  ['an artifact of another run', () => ({ archive: whole(), artifact: { workflow_run: { id: 1, head_sha: HEAD } } }), /another run/],
  ['two artifacts of one name', () => ({ archive: whole(), artifacts: 2 }), /2 artifacts/],
  ['no JSON', () => ({ archive: zip([entry('{')]) }), /not JSON/],
  ['no UTF-8', () => ({ archive: zip([entry(Buffer.from([0x22, 0xff, 0x22]))]) }), /not JSON in UTF-8/],
  ['another document', () => ({ archive: zip([entry('[]')]) }), /not data of Selvage/],
  ['a key too many', () => ({ archive: json((value) => (value['command'] = 'rm')) }), /not data of Selvage/],
  ['another commit', () => ({ archive: whole({ head: 'c'.repeat(40) }) }), /another commit/],
  ['another base', () => ({ archive: whole({ base: 'c'.repeat(40) }) }), /compares with another commit/],
  ['another repository', () => ({ archive: whole({ repository: 'octo/secrets' }) }), /another repository/],
  ["another pull request's number", () => ({ archive: whole({ pullRequest: 1 }) }), /#1 is not an open pull request/],
  ['a fork of another name', () => ({ archive: whole(), headRepository: 'octo/kernels' }), /not an open pull request/],
  ['a head that moved', () => ({ archive: whole(), head: 'd'.repeat(40) }), /another commit by now/],
  ['a folder outside of the repository', () => ({ archive: whole({ folder: '../' }) }), /leads out/],
  [
    'a file outside of the repository',
    () => ({
      archive: inReport((value) => {
        (value['kernels'] as { location: object }[])[0]!.location = { file: '../../etc/passwd', line: 1 };
      }),
    }),
    /leads out/,
  ],
  [
    'a file in .git',
    () => ({
      archive: inReport((value) => {
        (value['kernels'] as { location: object }[])[0]!.location = { file: '.git/config', line: 1 };
      }),
    }),
    /leads out/,
  ],
  [
    'an unknown verdict',
    () => ({
      archive: inReport((value) => {
        (value['kernels'] as { race: { verdict: string } }[])[0]!.race.verdict = 'fine';
      }),
    }),
    /schema/,
  ],
  [
    'a text of a megabyte',
    () => ({
      archive: inReport((value) => {
        (value['kernels'] as { name: string }[])[0]!.name = 'x'.repeat(1 << 20);
      }),
    }),
    /too long/,
  ],
  ['too many values', () => ({ archive: json((value) => (value['trust'] = Array.from({ length: 500_000 }, () => 0))) }), /too many values/],
  ['deeply nested values', () => ({ archive: zip([entry(`${'['.repeat(5000)}${']'.repeat(5000)}`)]) }), /too deep/],
  ['a prototype', () => ({ archive: zip([entry(good.replace('{', '{"__proto__":{"comment":true},'))]) }), /unknown field name|not data/],
];

/** What code that leaves the compiler of the repeated analysis could forge, or a workflow could mix up. */
const forged: typeof hostile = [
  ["the artifact of the fork's run", () => ({ archive: whole(), artifact: { workflow_run: { id: RUN, head_sha: MAIN } } }), /another run/],
  [
    'an artifact of the commit of the fork',
    () => ({ archive: whole(), artifact: { workflow_run: { id: THIS_RUN, head_sha: HEAD } } }),
    /another run/,
  ],
  ['another commit', () => ({ archive: whole({ head: MAIN }) }), /another commit than the run/],
  ['another base', () => ({ archive: whole({ base: MAIN }) }), /compares with another commit/],
  ['another repository', () => ({ archive: whole({ repository: FORK }) }), /another repository/],
  ["another pull request's number", () => ({ archive: whole({ pullRequest: 8 }) }), /#8 is not an open pull request/],
  ['a head that moved', () => ({ archive: whole(), head: 'd'.repeat(40) }), /another commit by now/],
  ['a branch of another repository', () => ({ archive: whole(), headRepository: 'eve/kernels' }), /not an open/],
  ['a deleted fork', () => ({ archive: whole(), run: { head_repository: null } }), /not an open/],
  ['two artifacts', () => ({ archive: whole(), artifacts: 2 }), /2 artifacts/],
  ['a run without an ID', () => ({ archive: whole(), environment: { GITHUB_RUN_ID: '' } }), /lacks GITHUB_RUN_ID/],
  ['a run without a commit', () => ({ archive: whole(), environment: { GITHUB_SHA: 'main' } }), /lacks GITHUB_RUN_ID/],
  ['an event of another repository', () => ({ archive: whole(), environment: { GITHUB_REPOSITORY: FORK } }), /another/],
  ['another event', () => ({ archive: whole(), eventName: 'pull_request' }), /runs on workflow_run/],
];

for (const [name, situation, reason] of [
  ...hostile,
  ...forged.map(([name, situation, reason]): (typeof hostile)[number] => [
    `${name}, of a repeated analysis`,
    () => ({ ...situation(), repeated: true }),
    reason,
  ]),
]) {
  test(`rejected: ${name}`, async () => {
    const { status, server, log } = await post(situation());
    assert.equal(status, 2, log);
    assert.match(log, reason);
    assert.match(log, /Nothing was posted/);
    assert.deepEqual(server.writes(), []);
    assert.deepEqual(server.faults, []);
  });
}

test('runs and artifacts irrelevant to this stage are ignored', async () => {
  for (const situation of [{ run: { event: 'push' } }, { artifacts: 0 }]) {
    const { status, server } = await post({ archive: whole(), ...situation });
    assert.equal(status, 0);
    assert.deepEqual(server.writes(), []);
  }
  assert.equal((await post({ archive: whole(), eventName: 'pull_request_target' })).status, 2);
});

test('Markdown, HTML, mentions and workflow commands in any text of the data are rendered verbatim', async () => {
  const attack =
    '<img src=x onerror=alert(1)> @octo/team [click](https://evil.example) ![](https://evil.example/x.png) -->\n::error::x\n<!-- selvage:v1 summary -->\n```suggestion\nevil\n``` #1';
  const value = JSON.parse(JSON.stringify(racy(withBarrier))) as Record<string, unknown>;
  /** Inserts the attack into every text that the schema leaves free. */
  const poison = (inner: unknown, name = ''): unknown => {
    if (typeof inner === 'string')
      return ['message', 'text', 'expression', 'element', 'name', 'array', 'reason', 'condition', 'reproduce', 'kernel'].includes(name)
        ? attack
        : inner;
    if (Array.isArray(inner)) return inner.map((one) => poison(one, name));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, poison(one, key)]));
  };
  const poisoned = { ...(poison(value) as object), tool: value['tool'] } as unknown as Report;
  const trust = [{ kind: 'assumption', text: attack }] as const;
  const { status, server, log } = await post({ archive: whole({ report: poisoned, trust }) });
  assert.equal(status, 0, log);
  assert.equal(server.reviewComments.length + server.reviews.length > 0, true);
  const bodies = [...server.reviewComments, ...server.reviews, ...server.issueComments].map(({ body }) => body);
  for (const body of bodies) {
    assert.deepEqual(
      activePieces(body, (target) => target.startsWith(`${server.url}/`) || target.startsWith('https://github.example/')),
      [],
    );
    for (const { info, lines } of fencedBlocks(body)) assert.ok(info !== 'suggestion' || !lines.includes('evil'));
    assert.equal(body.split('\n').filter((line) => line === '<!-- selvage:v1 summary -->').length <= 1, true);
  }
});
