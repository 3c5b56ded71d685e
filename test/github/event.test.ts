import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEvent } from '../../src/github/event.ts';
import { finishedRun } from './fork-run.ts';
import { examplesOf, pullRequestPayload } from './payload.ts';

const pull = { owner: 'octo', repo: 'kernels', number: 7, headSha: 'a'.repeat(40), baseSha: 'b'.repeat(40) };

test('pull request events are reviewed', () => {
  for (const action of ['opened', 'synchronize', 'reopened', 'ready_for_review']) {
    const payload = { ...pullRequestPayload(action, pull), before: 'c'.repeat(40) };
    assert.deepEqual(parseEvent('pull_request', payload, false), {
      kind: 'pull-request',
      owner: 'octo',
      repo: 'kernels',
      number: 7,
      headSha: pull.headSha,
      baseSha: pull.baseSha,
      beforeSha: 'c'.repeat(40),
      draft: false,
      fork: false,
    });
  }
  const fork = parseEvent('pull_request', pullRequestPayload('opened', { ...pull, fork: true, draft: true }), false);
  assert.ok(fork.kind === 'pull-request' && fork.fork && fork.draft);
});

test('every recorded pull_request payload is understood', () => {
  const kinds = examplesOf('pull_request').map((payload) => parseEvent('pull_request', payload, false).kind);
  assert.ok(kinds.length > 20);
  assert.ok(!kinds.includes('refused'));
  assert.ok(kinds.includes('other'), 'closed ones need no review');
});

test('other events succeed and log one line', () => {
  for (const name of ['issue_comment', 'no\nsuch']) {
    const event = parseEvent(name, examplesOf(name)[0] ?? {}, false);
    assert.equal(event.kind, 'other');
    assert.match(event.message, /^Nothing to do: .*pull_request\.$/);
  }
});

test('pull_request_target is rejected unless it is allowed explicitly', () => {
  const payload = pullRequestPayload('opened', pull);
  const refused = parseEvent('pull_request_target', payload, false);
  assert.ok(refused.kind === 'refused' && refused.message.includes('allow-pull-request-target'));
  assert.equal(parseEvent('pull_request_target', payload, true).kind, 'pull-request');
});

test('a malformed payload is rejected with the place', () => {
  const payload: unknown = { ...pullRequestPayload('opened', pull), pull_request: { number: 7, head: { sha: '--x' } } };
  const event = parseEvent('pull_request', payload, false);
  assert.ok(event.kind === 'refused' && event.message.includes('pull_request.head.sha'), JSON.stringify(event));
  assert.equal(parseEvent('pull_request', undefined, false).kind, 'refused');
});

test('pushes to the default branch are compared with the previous commit, others are left to pull requests', () => {
  const payload = {
    ref: 'refs/heads/main',
    before: pull.baseSha,
    after: pull.headSha,
    repository: { full_name: 'octo/kernels', default_branch: 'main' },
  };
  assert.deepEqual(parseEvent('push', payload, false), {
    kind: 'push',
    owner: 'octo',
    repo: 'kernels',
    headSha: pull.headSha,
    baseSha: pull.baseSha,
  });
  for (const other of [{ ref: 'refs/heads/topic' }, { ref: 'refs/tags/main' }, { deleted: true }])
    assert.equal(parseEvent('push', { ...payload, ...other }, false).kind, 'other');
  for (const recorded of examplesOf('push')) assert.notEqual(parseEvent('push', recorded, false).kind, 'refused');
  assert.equal(parseEvent('push', { ...payload, after: '--upload-pack=x' }, false).kind, 'refused');
});

test('scheduled and manual runs analyse the whole repository', () => {
  const place = { repository: 'octo/kernels', sha: pull.headSha };
  const common = { kind: 'repository', owner: 'octo', repo: 'kernels', headSha: pull.headSha };
  const scheduled = parseEvent('schedule', { schedule: '0 3 * * *' }, false, place);
  assert.deepEqual(scheduled, { ...common, branch: 'the default branch', isDefaultBranch: true });
  const byHand = (ref: string) => parseEvent('workflow_dispatch', { ref, repository: { default_branch: 'main' } }, false, place);
  assert.deepEqual(byHand('refs/heads/main'), { ...common, branch: 'main', isDefaultBranch: true });
  assert.deepEqual(byHand('refs/heads/topic'), { ...common, branch: 'topic', isDefaultBranch: false });
  for (const recorded of examplesOf('workflow_dispatch'))
    assert.equal(parseEvent('workflow_dispatch', recorded, false, place).kind, 'repository');
  assert.equal(parseEvent('schedule', {}, false, { repository: 'octo' }).kind, 'refused');
});

test('a merge group is compared with the commit that it starts from', () => {
  const [payload] = examplesOf('merge_group');
  const group = (payload as { readonly merge_group: { readonly head_sha: string; readonly base_sha: string } }).merge_group;
  const event = parseEvent('merge_group', { ...(payload as object), action: 'checks_requested' }, false);
  assert.ok(event.kind === 'push' && event.headSha === group.head_sha && event.baseSha === group.base_sha);
  assert.equal(parseEvent('merge_group', { ...(payload as object), action: 'destroyed' }, false).kind, 'other');
  assert.equal(parseEvent('merge_group', { ...(payload as object), merge_group: {} }, false).kind, 'refused');
});

test('the run of a fork that has ended is analysed again; other ended runs are not', () => {
  const place = { repository: 'octo/kernels', sha: pull.baseSha };
  const parse = (more: object) => parseEvent('workflow_run', finishedRun(77, pull.headSha, more), false, place);
  const event = parse({});
  assert.ok(event.kind === 'fork-run' && event.finished.workflow_run.head_sha === pull.headSha, JSON.stringify(event));
  assert.equal(parse({ head_repository: null }).kind, 'fork-run');
  const own = finishedRun(77, pull.headSha).repository;
  for (const [more, message] of [
    [{ event: 'push' }, /started by "push"/],
    [{ head_repository: own }, /posted its review itself/],
    // GitHub ends a run that waits for an approval; it ends again after the approval.
    [{ conclusion: 'action_required' }, /waits for an approval/],
  ] as const) {
    const other = parse(more);
    assert.ok(other.kind === 'other' && message.test(other.message), JSON.stringify(other));
  }
  assert.equal(parse({ head_sha: '--upload-pack=x' }).kind, 'refused');
  const elsewhere = parseEvent('workflow_run', finishedRun(77, pull.headSha), false, { repository: 'octo/other' });
  assert.equal(elsewhere.kind, 'refused');
  for (const recorded of examplesOf('workflow_run')) {
    const { full_name: repository } = recorded['repository'] as { readonly full_name: string };
    assert.equal(parseEvent('workflow_run', recorded, false, { repository }).kind, 'other');
  }
});
