import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEvent } from '../../src/github/event.ts';
import { examplesOf, pullRequestPayload } from './payload.ts';

const pull = { owner: 'octo', repo: 'kernels', number: 7, headSha: 'a'.repeat(40), baseSha: 'b'.repeat(40) };

test('pull request events are reviewed', () => {
  for (const action of ['opened', 'synchronize', 'reopened', 'ready_for_review']) {
    assert.deepEqual(parseEvent('pull_request', pullRequestPayload(action, pull), false), {
      kind: 'pull-request',
      owner: 'octo',
      repo: 'kernels',
      number: 7,
      headSha: pull.headSha,
      baseSha: pull.baseSha,
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
  assert.ok(kinds.includes('other'), 'closed ones have nothing to do');
});

test('other events are no failure and say so in one line', () => {
  for (const name of ['push', 'merge_group', 'workflow_dispatch', 'issue_comment', 'schedule', 'no\nsuch']) {
    const event = parseEvent(name, examplesOf(name)[0] ?? {}, false);
    assert.equal(event.kind, 'other');
    assert.match(event.message, /^Nothing to do: .*pull_request\.$/);
  }
});

test('pull_request_target is refused unless told otherwise', () => {
  const payload = pullRequestPayload('opened', pull);
  const refused = parseEvent('pull_request_target', payload, false);
  assert.ok(refused.kind === 'refused' && refused.message.includes('allow-pull-request-target'));
  assert.equal(parseEvent('pull_request_target', payload, true).kind, 'pull-request');
});

test('a payload that is none is refused with the place', () => {
  const payload: unknown = { ...pullRequestPayload('opened', pull), pull_request: { number: 7, head: { sha: '--x' } } };
  const event = parseEvent('pull_request', payload, false);
  assert.ok(event.kind === 'refused' && event.message.includes('pull_request.head.sha'), JSON.stringify(event));
  assert.equal(parseEvent('pull_request', undefined, false).kind, 'refused');
});
