import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { answerButton, answerComment } from '../../src/github/bot/bot.ts';
import { parseCommand } from '../../src/github/bot/command.ts';
import { costAnswer } from '../../src/github/bot/cost-answer.ts';
import { commentOf } from '../../src/github/bot/comment-event.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { BotPull, FIXED, SOURCE, TARGET, twoRaces } from './bot-fixture.ts';
import { BASE, HEAD, kernel, report } from './report-fixture.ts';
import type { IssueComment } from './server.ts';
import { ACTIONS_BOT, SOME_USER, type Account } from './objects.ts';
import { examplesOf } from './payload.ts';

const STRANGER: Account = { login: 'mallory', id: 99, type: 'User' };

let pull: BotPull;
beforeEach(async () => {
  pull = await BotPull.open();
});
afterEach(async () => {
  await pull.server.close();
  assert.deepEqual(pull.server.faults, []);
});

const command = async (body: string, author?: Account): Promise<string> => answerComment(pull.addComment(body, author), pull.services());

test('commands are read only from the first line', () => {
  const cases: readonly [string, object | undefined][] = [
    ['/selvage explain aaaa1111', { kind: 'explain', id: 'aaaa1111' }],
    ['\n  \n/selvage fix ALL\nthanks', { kind: 'fix', id: 'all' }],
    ['/selvage', { kind: 'help' }],
    ['/selvage ignore AAAA1111 it is a scratch buffer', { kind: 'ignore', id: 'aaaa1111', reason: 'it is a scratch buffer' }],
    ['/selvage ignore it is a scratch buffer', { kind: 'ignore', id: undefined, reason: 'it is a scratch buffer' }],
    ['/selvage cost reduce<256, float>', { kind: 'cost', kernel: 'reduce<256, float>' }],
    ['/selvage recheck please', { kind: 'recheck' }],
    ['> /selvage fix all', undefined],
    ['see /selvage fix all', undefined],
    ['hello\n/selvage fix all', undefined],
    ['/selvagefix all', undefined],
    ['```\n/selvage fix all\n```', undefined],
    ['', undefined],
  ];
  for (const [body, wanted] of cases) assert.deepEqual(parseCommand(body), wanted, body);
  for (const body of [
    '/selvage merge',
    '/selvage fix everything',
    '/selvage ignore',
    '/selvage ignore aaaa1111',
    '/selvage cost',
    '/selvage explain !',
    `/selvage ignore ${'x'.repeat(301)}`,
  ])
    assert.equal(parseCommand(body)?.kind, 'unknown', body);
  // No comment ends, and no line is continued.
  assert.deepEqual(parseCommand('/selvage ignore aaaa1111 a\\\u0000b\\'), {
    kind: 'ignore',
    id: 'aaaa1111',
    reason: 'a  b',
  });
});

test('a fix commits the verified edit once, with the reviewer as co-author, and confirms it', async () => {
  const comment = pull.addComment('/selvage fix aaaa');
  assert.equal(await answerComment(comment, pull.services()), 'answered');
  assert.deepEqual(pull.reactions, [[comment.id, 'eyes']]);
  const [commit] = pull.commits;
  assert.deepEqual([...commit!.files], [['src/a.cu', FIXED]]);
  assert.match(
    commit!.message,
    /^Fix what Selvage found in first\n\nSelvage-Command: \d+\nCo-authored-by: mona <583231\+mona@users\.noreply\.github\.com>\n$/,
  );
  assert.match(pull.answers()[0]!, /^<!-- selvage:answer conversation \d+ -->\nCommitted ccccccc/);
  assert.equal(await answerComment(comment, pull.services()), 'known');
  assert.equal(pull.commits.length, 1);
  assert.equal(pull.answers().length, 1);
});

test('no fix without an edit or permission to push, of an unknown finding, a fork or another head', async () => {
  await command('/selvage fix bbbb2222');
  assert.match(pull.answers().at(-1)!, /no verified edit for this finding: no barrier orders `s`/);
  await command('/selvage fix cccc3333');
  assert.match(pull.answers().at(-1)!, /No finding of this commit has the ID `cccc3333`[^]*`aaaa1111`[^]*`bbbb2222`/);
  await command('/selvage fix');
  assert.match(pull.answers().at(-1)!, /This thread is of no finding/);
  pull.isFork = true;
  await command('/selvage fix all');
  assert.match(pull.answers().at(-1)!, /in a fork/);
  await command('/selvage ignore aaaa1111 why');
  assert.match(pull.answers().at(-1)!, /in a fork/);
  pull.isFork = false;
  pull.mayPush = false;
  await command('/selvage fix all');
  assert.match(pull.answers().at(-1)!, /contents: write/);
  pull.mayPush = true;
  pull.during = async () => void (pull.head = 'd'.repeat(40));
  await command('/selvage fix all');
  assert.match(pull.answers().at(-1)!, /newer commit/);
  assert.deepEqual(pull.commits, []);
});

test('of two concurrent fixes one commits, and the other reports that the branch moved', async () => {
  const comments = [pull.addComment('/selvage fix all'), pull.addComment('/selvage fix aaaa1111')];
  let waiting = 0;
  let release: () => void = () => undefined;
  const both = new Promise<void>((resolve) => (release = resolve));
  pull.during = async () => {
    waiting += 1;
    if (waiting === 2) release();
    await both;
  };
  await Promise.all(comments.map((comment) => answerComment(comment, pull.services())));
  assert.equal(pull.commits.length, 1);
  assert.equal(pull.answers().filter((body) => body.includes('newer commit')).length, 1);
  assert.equal(pull.answers().filter((body) => body.includes('Committed')).length, 1);
});

test('an edit of a link, or of a file that the branch lacks, is rejected', async () => {
  const services = pull.services({ folder: 'other/' });
  await answerComment(pull.addComment('/selvage fix all'), services);
  assert.match(pull.answers().at(-1)!, /other\/src\/a\.cu is not a regular file/);
  assert.deepEqual(pull.commits, []);
});

test('an ignored finding gets a comment with the reason above it', async () => {
  await command('/selvage ignore bbbb2222 the buffer is scratch */ // x');
  const lines = pull.commits[0]!.files.get('src/a.cu')!.split('\n');
  assert.equal(lines[19], '  // selvage-ignore race/shared: the buffer is scratch */ // x');
  assert.deepEqual(lines.toSpliced(19, 1), SOURCE.split('\n'));
  const macro = SOURCE.replace('line 19;', 'line 19; \\');
  await answerComment(pull.addComment('/selvage ignore bbbb2222 x'), pull.services({ source: () => macro }));
  assert.match(pull.answers().at(-1)!, /macro/);
  assert.equal(pull.commits.length, 1);
});

test('explain, cost, help and recheck answer in the thread', async () => {
  await command('/selvage explain aaaa1111');
  assert.match(pull.answers().at(-1)!, /race\/shared, in `first`[^]*Remedy: [^]*```sh\nselvage run\n```/);
  await command('/selvage cost nothing');
  assert.match(pull.answers().at(-1)!, /No kernel .* the name `nothing`/);
  await command('/selvage help');
  assert.match(pull.answers().at(-1)!, /`\/selvage fix ID`[^]*`aaaa1111` \| race\/shared \| `src\/a\.cu:12` \| yes/);
  await command('/selvage recheck');
  assert.equal(pull.reviews, 1);
  await command('/selvage frobnicate');
  assert.match(pull.answers().at(-1)!, /Frobnicate is not one of the commands/);
  assert.deepEqual(pull.commits, []);
});

test('commands need write permission; comments without a command are ignored', async () => {
  pull.permissions.set(STRANGER.login, 'read');
  assert.equal(await command('/selvage fix all', STRANGER), 'refused');
  pull.permissions.delete(STRANGER.login);
  assert.equal(await command('/selvage fix all', STRANGER), 'refused');
  assert.deepEqual(
    pull.reactions.map(([, content]) => content),
    ['-1', '-1'],
  );
  assert.equal(await command('/selvage fix all', ACTIONS_BOT), 'ignored');
  assert.equal(await command('What does /selvage do?'), 'ignored');
  assert.equal(pull.analyses, 0);
  assert.deepEqual(pull.commits, []);
});

test('a comment that was deleted or edited before it is answered is ignored', async () => {
  const deleted = pull.commentOf({ id: 4242, account: SOME_USER, body: '/selvage fix all' });
  assert.equal(await answerComment(deleted, pull.services()), 'ignored');
  const edited = pull.addComment('/selvage fix all');
  pull.server.issueComments.find(({ id }) => id === edited.id)!.body = 'never mind';
  assert.equal(await answerComment(edited, pull.services()), 'ignored');
  // A comment of another account with the name of a permitted one.
  const forged = {
    ...pull.addComment('/selvage fix all', STRANGER),
    author: { login: SOME_USER.login, id: 1, isBot: false },
  };
  assert.equal(await answerComment(forged, pull.services()), 'ignored');
  assert.deepEqual(pull.reactions, []);
});

test('a closed pull request gets no answer; an internal error is reported without its stack', async () => {
  pull.server.settings.state = 'closed';
  await command('/selvage fix all');
  assert.match(pull.answers().at(-1)!, /closed/);
  pull.server.settings.state = 'open';
  pull.during = () => Promise.reject(new Error('no `nvcc` <img>'));
  await command('/selvage fix all');
  assert.match(pull.answers().at(-1)!, /could not do that: ``no `nvcc` <img>``/);
});

test('a fix committed by a run that ended before the confirmation is not committed again', async () => {
  const comment = pull.addComment('/selvage fix all');
  await answerComment(comment, pull.services());
  // The answer is lost.
  const answers = pull.server.issueComments as IssueComment[];
  answers.splice(
    answers.findIndex(({ account }) => account.type === 'Bot'),
    1,
  );
  assert.equal(await answerComment(comment, pull.services()), 'answered');
  assert.equal(pull.commits.length, 1);
  assert.match(pull.answers()[0]!, /Committed ccccccc|Committed 0000000/);
});

test('buttons of a check run apply to all findings of its commit, once, with write permission', async () => {
  const press = (action: 'fix' | 'explain' | 'ignore', delivery: string, headSha = HEAD, login = SOME_USER.login) =>
    answerButton({ target: TARGET, author: { login, id: SOME_USER.id, isBot: false }, delivery, headSha, action }, pull.services());
  assert.equal(await press('explain', 'a'), 'answered');
  assert.match(pull.answers().at(-1)!, /Name the finding[^]*`aaaa1111`/);
  assert.equal(await press('explain', 'a'), 'known');
  assert.equal(await press('ignore', 'b'), 'answered');
  assert.match(pull.answers().at(-1)!, /\/selvage ignore ID REASON/);
  assert.equal(await press('fix', 'c', HEAD, 'mallory'), 'refused');
  assert.equal(await press('fix', 'd', 'd'.repeat(40)), 'answered');
  assert.match(pull.answers().at(-1)!, /earlier commit/);
  assert.equal(pull.commits.length, 0);
  assert.equal(await press('fix', 'e'), 'answered');
  assert.equal(pull.commits.length, 1);
  assert.match(pull.commits[0]!.message, /Co-authored-by: mona/);
});

test('Explain and Ignore of a check run act on the finding if there is exactly one', async () => {
  const press = (action: 'explain' | 'ignore', delivery: string, report: Report) =>
    answerButton(
      { target: TARGET, author: { login: SOME_USER.login, id: SOME_USER.id, isBot: false }, delivery, headSha: HEAD, action },
      { ...pull.services({ report }), tool: { url: 'https://github.example/selvage', ref: 'v0' } },
    );
  const both = twoRaces();
  const unchanged = (...old: string[]): Report => ({
    ...both,
    comparison: { base: BASE, new: [], unchanged: old, fixed: [], suppressed: [] } as unknown as NonNullable<Report['comparison']>,
  });
  await press('explain', 'two', both);
  assert.match(pull.answers().at(-1)!, /Name the finding[^]*`aaaa1111`[^]*`bbbb2222`/);
  await press('explain', 'one', unchanged('bbbb2222'));
  assert.match(pull.answers().at(-1)!, /^<!-- selvage:answer button one -->\n@mona: \*\*.*race\/shared, in `first`/);
  // The answer states how to obtain Selvage.
  assert.match(
    pull.answers().at(-1)!,
    /```sh\ngit clone https:\/\/github\.example\/selvage [^]*checkout v0[^]*git checkout [0-9a-f]{7,}\nnode ~\/selvage\/dist\/cli\.js run\n```/,
  );
  await press('ignore', 'suppressed', { ...both, kernels: both.kernels.map((kernel, at) => (at === 0 ? withSuppressed(kernel) : kernel)) });
  assert.match(pull.answers().at(-1)!, /Committed ccccccc: race\/shared is suppressed at `src\/a\.cu:20`/);
  const lines = pull.commits[0]!.files.get('src/a.cu')!.split('\n');
  assert.equal(lines[19], '  // selvage-ignore race/shared: ignored by mona with the button of the check run');
  await press('ignore', 'none', unchanged('aaaa1111', 'bbbb2222'));
  assert.doesNotMatch(pull.answers().at(-1)!, /Committed|Name the finding/);
  pull.isFork = true;
  pull.head = HEAD;
  await press('ignore', 'fork', unchanged('bbbb2222'));
  assert.match(pull.answers().at(-1)!, /in a fork/);
  assert.equal(pull.commits.length, 1);
});

const withSuppressed = (kernel: KernelReport): KernelReport => {
  const findings = kernel.race.findings.map((finding) => ({
    ...finding,
    suppressed: { by: 'comment', reason: 'old' } as never,
  }));
  return { ...kernel, race: { ...kernel.race, findings } };
};

test('costs are found by plain names, of templates and in namespaces, and their number is bounded', () => {
  const cost = { bounds: {}, resources: null } as unknown as NonNullable<KernelReport['cost']>;
  const named = (name: string, symbol: string): KernelReport => ({ ...kernel(name, []), symbol, cost });
  const shift = named('shift(float*)', '_Z5shiftPf');
  const reduce = named('ns::reduce<256, float>(float*, int)', '_ZN2ns6reduceILi256EfEEvPT0_i');
  const inner = named('(anonymous namespace)::shift(int*)', '_ZN12_GLOBAL__N_15shiftEPi');
  const all = report([shift, reduce, inner]);
  const found = (pattern: string, from = all) => [...costAnswer(pattern, from).matchAll(/^`(.*)`$/gm)].map(([, name]) => name);
  assert.deepEqual(found('shift'), [shift.name, inner.name]);
  assert.deepEqual(found('shift(float*)'), [shift.name]);
  assert.deepEqual(found('_Z5shiftPf'), [shift.name]);
  for (const name of ['reduce', 'ns::reduce', 'reduce<256, float>', 'ns::reduce<256u,float>', 'red*', 'reduce<*>'])
    assert.deepEqual(found(name), [reduce.name], name);
  for (const name of ['hift', 'ns', 'float', 'reduce<128, float>', 'other::reduce']) {
    assert.deepEqual(found(name), [], name);
    assert.match(costAnswer(name, all), /^No kernel .* Those with costs: `shift\(float\*\)`, /);
  }
  assert.match(costAnswer('/(a+)+$/', all), /is a regular expression/);
  const apply = named('apply<ns::Scale>(float*)', '_Z5applyIN2ns5ScaleEEvPf');
  assert.deepEqual(found('apply', report([apply])), [apply.name]);
  assert.deepEqual(found('Scale*', report([apply])), []);
  const many = report(Array.from({ length: 50 }, (_, index) => named(`k<${index}>(int)`, `_Z1kILi${index}EEvi`)));
  assert.equal(found('k', many).length, 8);
  assert.match(costAnswer('k', many), /Also named so: `k<8>\(int\)`, .* and 12 more\. Give more/);
  assert.match(costAnswer('k', report([kernel('k', [])])), /^No kernel that this pull request changes has costs and the name `k`\.$/);
});

test('recorded comment events are read; issue events, edits and deletions need no answer', () => {
  const kinds = examplesOf('issue_comment').map((payload) => [payload['action'], commentOf('issue_comment', payload) !== undefined]);
  assert.ok(kinds.length >= 5);
  for (const [action, isRead] of kinds) if (action !== 'created') assert.equal(isRead, false);
  for (const payload of examplesOf('pull_request_review_comment'))
    assert.equal(commentOf('pull_request_review_comment', payload) !== undefined, payload['action'] === 'created');
  assert.equal(commentOf('issue_comment', {}), undefined);
});
