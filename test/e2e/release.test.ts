/**
 * The steps of the release workflow in sequence, with a real repository, and with substitutes for `gh` and `docker`.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly needs?: string | readonly string[]; readonly steps: readonly Step[] }>>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')) as Workflow;
const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A repository whose tags are released, and the invocations of the programs of the steps. */
function repository() {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-release-'));
  folders.push(folder);
  const [clone, bin, state] = ['clone', 'bin', 'state'].map((name) => join(folder, name)) as [string, string, string];
  for (const one of [join(clone, '.ci'), bin, state]) mkdirSync(one, { recursive: true });
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.org', ...args], { cwd: clone, encoding: 'utf8' }).trim();
  const program = (path: string, script: string): void => {
    writeFileSync(path, `#!/bin/bash\n${script}`);
    chmodSync(path, 0o755);
  };
  // A release is a file, and so is the tag that moves.
  program(
    join(bin, 'gh'),
    `echo "gh $*" >> '${state}/log'
case "$1 $2" in
  'release view') test -e '${state}'/release-"$3" ;;
  'release create') while [ "$1" != --notes-file ]; do shift; done; cp "$2" '${state}'/release-"$GITHUB_REF_NAME" ;;
  'api --silent') test -e '${state}'/moving ;;
  'api --method') for word; do case "$word" in sha=*) echo "\${word#sha=}" > '${state}/moving' ;; esac; done ;;
esac
`,
  );
  program(join(bin, 'docker'), `echo "docker $*" >> '${state}/log'\nif [ "$1" = login ]; then cat > '${state}/password'; fi\n`);
  program(join(bin, 'npm'), `echo "npm $*" >> '${state}/log'\n`);
  program(join(clone, '.ci/run'), `echo ci >> '${state}/log'\n`);
  git('init', '-q', '-b', 'main');
  const commit = (version: string, published = 'octo/selvage'): void => {
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ version, type: 'module', repository: `github:${published}` }));
    const changes = existsSync(join(clone, 'CHANGELOG.md')) ? readFileSync(join(clone, 'CHANGELOG.md'), 'utf8') : '';
    writeFileSync(
      join(clone, 'CHANGELOG.md'),
      `# Changes\n\n## ${version}\n\n- What ${version} brings.\n${changes.replace('# Changes\n', '')}`,
    );
    git('add', '--all');
    git('commit', '-q', '-m', version);
  };
  const push = (): void => void git('update-ref', 'refs/remotes/origin/main', 'main');
  /** Runs the workflow for a tag. @returns the name of the step that failed, if one did */
  const release = (tag: string): string | undefined => {
    git('checkout', '-q', '--detach', tag);
    const output = join(state, 'output');
    writeFileSync(output, '');
    const isNewest = (): string => /^is-newest=(.*)$/m.exec(readFileSync(output, 'utf8'))?.[1] ?? '';
    const valueOf = (text: string): string =>
      text.replaceAll(
        /\$\{\{ (\S+) \}\}/g,
        (_, name: string) =>
          ({ 'github.event.repository.default_branch': 'main', 'github.token': 'ghs_token', 'needs.check.outputs.is-newest': isNewest() })[
            name
          ] ?? assert.fail(name),
      );
    for (const step of Object.values(jobs).flatMap(({ steps }) => steps)) {
      if (step.run === undefined) continue;
      assert.doesNotMatch(step.run, /\$\{\{/, 'no text of an event becomes a script');
      if (step.if !== undefined) {
        assert.equal(step.if, "${{ needs.check.outputs.is-newest == 'true' }}");
        if (isNewest() !== 'true') continue;
      }
      const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, valueOf(value)]));
      const { status } = spawnSync('bash', ['-e', '-c', step.run], {
        cwd: clone,
        stdio: 'ignore',
        env: {
          PATH: `${bin}:${process.env['PATH']}`,
          GITHUB_REF_NAME: tag,
          GITHUB_REPOSITORY: 'octo/selvage',
          GITHUB_ACTOR: 'mona',
          GITHUB_OUTPUT: output,
          ...env,
        },
      });
      if (status !== 0) return step.name ?? step.run;
    }
    return undefined;
  };
  const read = (name: string): string | undefined =>
    existsSync(join(state, name)) ? readFileSync(join(state, name), 'utf8').trim() : undefined;
  return { git, commit, push, release, read };
}

test('a release is an image, its changes, and the commit of the tag that moves', () => {
  const { git, commit, push, release, read } = repository();
  commit('0.1.0');
  push();
  git('tag', '-a', '-m', 'annotated', 'v0.1.0');
  assert.equal(release('v0.1.0'), undefined);
  assert.equal(read('release-v0.1.0'), '- What 0.1.0 brings.');
  assert.equal(read('moving'), git('rev-parse', 'main'));
  assert.equal(read('password'), 'ghs_token');
  const log = read('log') ?? '';
  assert.match(
    log,
    /^ci\ndocker build .*\ndocker tag ghcr\.io\/octo\/selvage:v0\.1\.0 ghcr\.io\/octo\/selvage:v0\ndocker login [^\n]*\ndocker push --all-tags ghcr\.io\/octo\/selvage\nnpm sbom [^\n]*\ngh release view/,
  );
  assert.match(log, /gh api --method POST repos\/octo\/selvage\/git\/refs --raw-field ref=refs\/tags\/v0 /);
  assert.ok(!log.includes('ghs_token'));

  git('checkout', '-q', 'main');
  commit('0.10.0');
  push();
  git('tag', 'v0.10.0');
  git('tag', 'v0.11.0-rc1');
  assert.equal(release('v0.10.0'), undefined);
  assert.equal(read('release-v0.10.0'), '- What 0.10.0 brings.');
  const newest = git('rev-parse', 'main');
  assert.equal(read('moving'), newest);
  assert.match(read('log') ?? '', /gh api --method PATCH repos\/octo\/selvage\/git\/refs\/tags\/v0 .*--field force=true/);
  // Run again: the release is there.
  assert.equal(release('v0.10.0'), undefined);

  // Of an earlier version, later: the tag stays.
  git('checkout', '-q', 'main');
  commit('0.9.1');
  push();
  git('tag', 'v0.9.1');
  assert.equal(release('v0.9.1'), undefined);
  assert.equal(read('release-v0.9.1'), '- What 0.9.1 brings.');
  assert.equal(read('moving'), newest);
  assert.doesNotMatch(read('log') ?? '', /docker tag ghcr\.io\/octo\/selvage:v0\.9\.1/);
});

test('inconsistent versions, or commits outside the default branch, are not released', () => {
  const { git, commit, push, release, read } = repository();
  commit('0.1.0');
  push();
  git('tag', 'v0.2.0');
  assert.match(release('v0.2.0') ?? '', /name one version/);
  git('checkout', '-q', 'main');
  commit('0.3.0', 'OWNER/selvage');
  git('tag', 'v0.3.0');
  assert.match(release('v0.3.0') ?? '', /on the default branch/);
  push();
  assert.match(release('v0.3.0') ?? '', /name one version/, 'published under another name');
  assert.equal(read('log'), undefined);
});

test('the tag moves last', () => {
  assert.deepEqual(
    Object.entries(jobs).map(([name, { needs }]) => [name, needs]),
    [
      ['check', undefined],
      ['image', 'check'],
      ['release', ['check', 'image']],
    ],
  );
});
