/** Conventions of the code base, checked rather than reviewed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import packageFile from '../package.json' with { type: 'json' };
import { codes } from '../src/source/codes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A layer: a folder, or an entry point. */
interface Layer {
  /** Below `src/`. */
  readonly name: string;
  readonly rank: number;
  /** Whether its files may touch files, processes, the clock, the environment or the network. */
  readonly touchesOutside: boolean;
}

/** The layers that `layers.md` lists, by name. Layers of one row do not import each other. */
const layers: ReadonlyMap<string, Layer> = new Map(
  [...readFileSync(join(root, 'test/layers.md'), 'utf8').matchAll(/^\| (`[^|]*`) \| (yes)? ?\| [^|]+ \|$/gm)].flatMap(
    ([, names, outside], rank) =>
      [...names!.matchAll(/`([^`]+?)\/?`/g)].map(([, name]) => [name!, { name: name!, rank, touchesOutside: outside !== undefined }]),
  ),
);

/** Files of a clone: tracked files, and new ones that git does not ignore. */
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .split('\0')
  .filter((file) => file !== '' && statSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true);

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Comments blanked. */
  readonly code: string;
  /** Undefined: its folder is not in the table. */
  readonly layer: Layer | undefined;
}

const sources: readonly SourceFile[] = tracked
  .filter((path) => path.startsWith('src/') && path.endsWith('.ts'))
  .map((path) => {
    const text = read(path);
    return { path, text, code: withoutComments(text), layer: layerOf(path) };
  });

function layerOf(path: string): Layer | undefined {
  return layers.get(relative('src', dirname(path)) || basename(path));
}

/** Blanks comments and keeps line numbers; strings are skipped so that `'//'` in one is not taken for a comment. */
function withoutComments(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|\/\*[^]*?\*\/|(?<![\\/[])\/\/[^\n]*/g, (match) =>
    match.startsWith('/*') || match.startsWith('//') ? match.replaceAll(/[^\n]/g, ' ') : match,
  );
}

function withoutStrings(code: string): string {
  return code.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`/g, (match) => match.replaceAll(/[^\n]/g, ' '));
}

/** `path:line` of each match. */
function places(path: string, text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${path}:${text.slice(0, match.index).split('\n').length}: ${match[0].trim().split('\n')[0]}`,
  );
}

function importsOf(code: string): string[] {
  return [...code.matchAll(/\bfrom\s*'([^']+)'|\bimport\s*\(\s*'([^']+)'|^import\s*'([^']+)'/gm)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
}

/** Fails with everything that was found. */
function none(...found: readonly (readonly string[])[]): void {
  const all = found.flat();
  assert.equal(all.length, 0, `\n${all.join('\n')}`);
}

/** Files of ours that a file imports, types included: paths from the root. */
function importedFiles({ path, code }: SourceFile): string[] {
  return importsOf(code)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(path), specifier));
}

test('every source file is in a layer of the table, and imports from earlier ones', () => {
  assert.ok(layers.size > 40, `the table has ${layers.size} layers`);
  const wrong: string[] = [];
  for (const file of sources) {
    const { path, layer } = file;
    if (!layer) wrong.push(`${path}: not in a layer of test/layers.md`);
    for (const target of importedFiles(file)) {
      if (!/\.(?:ts|json)$/.test(target)) wrong.push(`${path} imports ${target} without its extension`);
      if (target === 'package.json') continue;
      const other = layerOf(target);
      const allowed = layer && other && (other === layer || other.rank < layer.rank);
      const [importer, imported] = [path, target].map((name) => /^src\/(repair|cost|idempotency)\//.exec(name)?.[1]);
      if (!allowed || (importer && imported && importer !== imported)) wrong.push(`${path} imports ${target}`);
    }
  }
  const used = new Set(sources.map(({ layer }) => layer?.name));
  none(
    wrong,
    [...layers.keys()].filter((name) => !used.has(name)).map((name) => `${name}: a layer without files`),
  );
});

test('no import cycles, types included', () => {
  const byPath = new Map(sources.map((file) => [file.path, importedFiles(file)]));
  const left = new Map([...byPath].map(([path, imported]) => [path, new Set(imported.filter((to) => byPath.has(to)))]));
  // A file whose imports are all removed is in no circle.
  for (let size = Infinity; left.size < size;) {
    size = left.size;
    for (const [path, imported] of left) if (imported.size === 0) left.delete(path);
    for (const imported of left.values()) for (const to of imported) if (!left.has(to)) imported.delete(to);
  }
  none([...left].map(([path, imported]) => `${path} is in a circle, or leads to one, by ${[...imported].join(', ')}`));
});

test('a folder of sources contains at most 20 files', () => {
  const sizes = new Map<string, number>();
  for (const path of tracked.filter((file) => /^src\/.*\.(?:ts|json|md|h|c|def)$/.test(file))) {
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  }
  none([...sizes].filter(([, size]) => size > 20).map(([folder, size]) => `${folder} holds ${size} files`));
});

test('only layers marked in the table touch files, processes, clock, environment, network', () => {
  const modules =
    /from\s*'(?:node:)?(?:fs|fs\/promises|child_process|worker_threads|os|process|net|tls|dns|http|https|http2|dgram|vm|module|timers|timers\/promises|perf_hooks|readline)'/g;
  const globals =
    /\b(?:process\s*\.|performance\s*\.|Date\s*\.\s*now|new\s+Date\s*\(\s*\)|fetch\s*\(|setTimeout\s*\(|setInterval\s*\(|console\s*\.)/g;
  none(
    sources
      .filter(({ layer }) => layer?.touchesOutside !== true)
      .flatMap(({ path, code }) => [...places(path, code, modules), ...places(path, withoutStrings(code), globals)]),
    sources.flatMap(({ path, code }) => places(path, withoutStrings(code), /Math\s*\.\s*random/g)),
  );
});

test('checks wait in steps, so that a clock can stop them', () => {
  const checks = sources.filter(({ path }) => path.startsWith('src/check/'));
  none(checks.flatMap(({ path, code }) => places(path, withoutStrings(code), /\basync\b|\bawait\b/g)));
});

test('only solver/ imports Z3, only github/ and the entry points import the GitHub packages', () => {
  none(
    sources.flatMap(({ path, code }) =>
      importsOf(code)
        .filter(
          (specifier) =>
            (specifier.startsWith('z3-solver') && !path.startsWith('src/solver/')) ||
            (/^@(?:octokit|actions)\//.test(specifier) && !/^src\/(?:github\/|action\.ts|post\.ts|bot\.ts)/.test(path)),
        )
        .map((specifier) => `${path} imports ${specifier}`),
    ),
  );
});

test('no barrel files, default exports, enums, namespaces, any or silenced checks', () => {
  const reExport = /^(?:import|export)\s[^;]*?\bfrom\s[^;]*;/gm;
  const constructs =
    /^export\s+(?:type\s+)?\*|^export default\b|^(?:export\s+)?(?:const\s+)?enum\s|^(?:export\s+)?namespace\s|^export\s+declare\s+namespace\s|(?:[:<|&,(]\s*|\bas\s+|=>\s*)any\b(?!\s*[(:.'])/gm;
  none(
    sources.filter(({ path }) => /(?:^|\/)(?:index|utils?|helpers?|manager)\.ts$/.test(path)).map(({ path }) => path),
    sources.filter(({ code }) => code.replaceAll(reExport, '').trim() === '').map(({ path }) => `${path}: a barrel`),
    sources.flatMap(({ path, code }) => places(path, withoutStrings(code), constructs)),
    tracked
      .filter((path) => /^(?:src|test|\.github)\/.*\.ts$/.test(path) && path !== 'test/tidy.test.ts')
      .flatMap((path) => places(path, read(path), /@ts-(?:ignore|nocheck|expect-error)|oxlint-disable(?!-next-line)/g)),
  );
});

test('nothing newer than Node 20', () => {
  const newer =
    /\bimport\.meta\.(?:dirname|filename|main)\b|\bPromise\.(?:withResolvers|try)\b|\bArray\.fromAsync\b|\b(?:Object|Map)\.groupBy\b|\bMath\.f16round\b|\bFloat16Array\b|\bmatchesGlob\b|\bIterator\.from\b|\bRegExp\.escape\b|\bimport\s*\{[^}]*\bglob(?:Sync)?\b[^}]*\}\s*from\s*'node:fs|\bzstd\w*\b|\bgetBuiltinModule\b|\bsqlite\b|\.(?:isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference)\(/g;
  none(sources.flatMap(({ path, code }) => places(path, withoutStrings(code), newer)));
});

test('exported functions have a docstring', () => {
  none(
    sources.flatMap(({ path, text }) =>
      places(path, text, /(?<!\*\/\n)^export (?:async )?function\*? \w+/gm).filter(
        // Further overloads share the docstring of the first.
        (place) => !new RegExp(`\\*/\\n(?:export (?:async )?function ${place.split(' ').at(-1)}\\b[^]*?;\\n)+export`).test(text),
      ),
    ),
  );
});

/** Names exported by a file, by any declaration. */
function exportsOf(code: string): string[] {
  const declared =
    /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)|^export (?:type )?\{([^}]*)\}/gm;
  const names = [...code.matchAll(declared)].flatMap(([, name, list]) =>
    name === undefined ? list!.split(',').map((item) => item.trim().split(' ').at(-1)!) : [name],
  );
  return [...new Set(names)].filter((name) => name !== '');
}

/** `path#name` of all that a file imports from files of ours, and of every word where it loads one when needed. */
function importedNames(path: string, code: string): string[] {
  const key = (specifier: string, name: string): string => `${join(dirname(path), specifier)}#${name}`;
  const lists = code.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g);
  const loaded = code.matchAll(/\bimport\s*\(\s*'(\.[^']+)'|^import (?:type )?\* as \w+ from '(\.[^']+)'/gm);
  const words = [...new Set(code.match(/\w+/g))];
  return [
    ...[...lists].flatMap(([, list, specifier]) =>
      list!.split(',').map((item) =>
        key(
          specifier!,
          item
            .trim()
            .replace(/^type /, '')
            .split(' ')[0]!,
        ),
      ),
    ),
    ...[...loaded].flatMap(([, when, all]) => words.map((word) => key((when ?? all)!, word))),
  ];
}

test('an exported name is unique, and used by another file', () => {
  const exported = new Map(sources.map(({ path, code }) => [path, exportsOf(code)]));
  const homes = new Map<string, string[]>();
  for (const [path, names] of exported) {
    for (const name of names) homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  const named = new Set(
    tracked
      .filter((path) => /^(?:src|test|\.github)\/.*\.ts$/.test(path))
      .flatMap((path) => importedNames(path, withoutComments(read(path)))),
  );
  none(
    [...homes].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`),
    [...exported].flatMap(([path, names]) =>
      names.filter((name) => !named.has(`${path}#${name}`)).map((name) => `${path} exports ${name}, which no other file uses`),
    ),
  );
});

test('a source file has at most 700 lines', () => {
  const lengths = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  none(lengths.filter(({ lines }) => lines > 700).map(({ path, lines }) => `${path} has ${lines} lines`));
});

test('documents for engineers are short, and name files that exist', () => {
  const documents = tracked.filter((path) =>
    /^src\/(?!docs\/)(?:[\w-]+\/)*(?!INSTRUCTIONS)[A-Z-]+\.md$|^\.github\/[A-Z]+\.md$|^test\/layers\.md$/.test(path),
  );
  const folders = new Set(tracked.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))));
  const known = [...tracked, ...folders].map((path) => `/${path}`);
  const named = /`((?:[\w@-][\w@.-]*\/)*(?:[\w@-][\w@.-]*\.(?:ts|md)|[\w@-]+\/)|(?:kernels|verdicts)\/[\w/-]+\.cu)`/g;
  const wrong: string[] = [];
  for (const path of documents) {
    const text = read(path).replaceAll(/^```[^]*?^```$/gm, '');
    const lines = text.split('\n').length - 1;
    const most = path === 'src/ARCHITECTURE.md' ? 220 : path.endsWith('/README.md') ? 60 : Infinity;
    if (lines > most) wrong.push(`${path} has ${lines} lines, at most ${most} are allowed`);
    for (const [, name] of text.matchAll(named)) if (!known.some((file) => file.endsWith(`/${name}`))) wrong.push(`${path} names ${name}`);
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g))
      if (!/^[a-z]+:/.test(target!) && !known.includes(join('/', dirname(path), target!))) wrong.push(`${path} links ${target}`);
  }
  none(wrong);
});

test('only system/child-process.ts starts programs', () => {
  none(
    sources.filter(({ path, code }) => path !== 'src/system/child-process.ts' && /'node:child_process'/.test(code)).map(({ path }) => path),
  );
});

test('the registry of diagnostic codes is complete', () => {
  const others = sources.filter(({ path }) => !/^src\/source\/(?:launch-)?codes\.ts$/.test(path));
  const everything = others.map(({ code }) => code).join('\n');
  const unused: string[] = [];
  for (const [code, entry] of Object.entries(codes)) {
    for (const field of ['title', 'explanation', 'example', 'remedy'] as const) {
      assert.ok(entry[field].trim().length > 5, `${code}: ${field} is empty`);
    }
    assert.match(entry.title, /\.$/, `${code}: the title is a sentence`);
    const prefix = `\`${code.slice(0, code.indexOf('/') + 1)}\${`;
    if (!everything.includes(`'${code}'`) && !everything.includes(prefix)) unused.push(code);
  }
  const prefixes = [...new Set(Object.keys(codes).map((code) => code.slice(0, code.indexOf('/'))))];
  const literal = new RegExp(`'(?:${prefixes.join('|')})/[a-z0-9-]+'`, 'g');
  none(
    unused.map((code) => `${code} is registered and not used`),
    others.flatMap(({ path, code }) =>
      places(path, code, literal).filter((place) => !Object.hasOwn(codes, place.slice(place.indexOf("'") + 1, -1))),
    ),
  );
});

test('no file names a path of the computer that it was written on', () => {
  // The home of GitHub's runners is the same for all. The loader of Z3 contains paths of Emscripten's file system.
  const machine = /(?<![\w.$}@*-])\/(?:work|root|home(?!\/runner\/)|Users)\/\w|(?<![\w.$}-])\/tmp\/[a-z]/g;
  const binary = /\.(?:wasm|png)$|^dist\/z3-built\.js$|^package-lock\.json$/;
  none(tracked.filter((path) => !binary.test(path)).flatMap((path) => places(path, read(path), machine)));
});

test('the top level contains only the expected files', () => {
  const expected = new Set([
    '.ci',
    '.gitattributes',
    '.github',
    '.gitignore',
    '.oxfmtrc.json',
    '.oxlintrc.json',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'action.yml',
    'dist',
    'package-lock.json',
    'package.json',
    'post',
    'src',
    'test',
    'tsconfig.json',
  ]);
  const found = new Set(tracked.map((path) => path.split('/')[0] ?? ''));
  none(
    [...found].filter((entry) => !expected.has(entry)).map((entry) => `${entry} should not be there`),
    [...expected].filter((entry) => !found.has(entry)).map((entry) => `${entry} is missing`),
  );
});

test('dependencies are the agreed ones, pinned, and their licences are in dist/licenses.txt', () => {
  assert.deepEqual(Object.keys(packageFile.dependencies), [
    '@actions/core',
    '@actions/github',
    '@octokit/rest',
    'diff',
    'valibot',
    'web-tree-sitter',
    'yaml',
    'z3-solver',
  ]);
  const all = { ...packageFile.dependencies, ...packageFile.devDependencies };
  none(
    Object.entries(all)
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([name, version]) => `${name} ${version}`),
  );
  const licences = read('dist/licenses.txt');
  for (const [name, version] of Object.entries(packageFile.dependencies)) {
    assert.ok(licences.includes(`\n${name} ${version} (`), `${name} ${version} is not in dist/licenses.txt`);
  }
  assert.ok(licences.includes('\ntree-sitter-cuda '), 'the CUDA grammar is in dist/licenses.txt');
});

test('tests are neither skipped for good nor run exclusively', () => {
  none(
    tracked
      .filter((path) => /^test\/.*\.ts$/.test(path) && path !== 'test/tidy.test.ts')
      .flatMap((path) => places(path, read(path), /\b(?:test|it|describe)\.(?:only|todo)\b|\bonly: true\b/g)),
  );
});

test('workflows: pinned actions, least permissions, no expressions in scripts', () => {
  interface Workflow {
    readonly permissions?: object;
    readonly jobs: Record<string, { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }>;
  }
  const wrong: string[] = [];
  for (const path of tracked.filter((file) => /^\.github\/workflows\/.*\.yml$/.test(file))) {
    const workflow = parse(read(path)) as Workflow;
    if (JSON.stringify(workflow.permissions) !== '{}') wrong.push(`${path}: permissions do not start from none`);
    for (const { uses, run, with: inputs } of Object.values(workflow.jobs).flatMap(({ steps }) => steps)) {
      if (run?.includes('${{') === true) wrong.push(`${path}: an expression in a script: ${run}`);
      if (uses !== undefined && !/^\.\/$|@[0-9a-f]{40}$/.test(uses)) wrong.push(`${path}: ${uses} is not pinned`);
      if (uses?.startsWith('actions/checkout@') === true && inputs?.['persist-credentials'] !== false) {
        wrong.push(`${path}: the checkout keeps its credentials`);
      }
    }
  }
  none(wrong);
});
