/**
 * Builds `dist/`, which is committed: actions run from it without an install.
 * `node .github/build.ts` writes it; `--check` builds elsewhere and fails where `dist/` differs.
 */
import { build, type Metafile, type Plugin } from 'esbuild';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = 'node_modules/';

/** What each check needs. */
const core = [
  'src/app/commands/check.ts',
  'src/program.ts',
  'src/report/json.ts',
  'src/app/pipeline/cost/assembled-unit.ts',
  'src/app/pipeline/cost/bounds-report.ts',
  'src/app/pipeline/cost/cost-limits.ts',
  'src/app/project/host-programs.ts',
  'src/app/project/launch-index.ts',
  'src/app/project/declared-parameters.ts',
  'src/cuda/reading/annotation.ts',
  'src/cuda/names/kernel-match.ts',
  'src/cuda/reading/access-text.ts',
  'src/cuda/reading/struct-layout.ts',
  'src/cuda/syntax/syntax.ts',
  'src/toolchain/compile.ts',
  'src/toolchain/compiler.ts',
  'src/toolchain/resources.ts',
];

/** Files that are loaded by name at run time. The wasm and its loader must not be inlined. */
const assets = {
  'z3-built.js': 'node_modules/z3-solver/build/z3-built.js',
  'z3-built.wasm': 'node_modules/z3-solver/build/z3-built.wasm',
  'web-tree-sitter.wasm': 'node_modules/web-tree-sitter/web-tree-sitter.wasm',
  'tree-sitter-cuda.wasm': 'node_modules/tree-sitter-cuda/tree-sitter-cuda.wasm',
  include: 'src/toolchain/include',
  demo: 'src/app/commands/demo',
  interposer: 'src/interposer',
  'selvage-idempotency.h': 'src/interposer/selvage-idempotency.h',
  'selvage-validator.h': 'src/idempotency/validator/selvage-validator.h',
} as const;

/** Packages that the assets come from: the metafile does not know them. The CUDA grammar is built on two others. */
const assetPackages = ['z3-solver', 'web-tree-sitter', 'tree-sitter-cuda', 'tree-sitter-cpp', 'tree-sitter-c'];

const allowedLicences = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0']);

/** Entry points without the core: one loads it once compiled code can be cached, one is a worker for Z3. */
const withoutCore = ['src/cli.ts', 'src/solver/z3-worker.ts'];

/**
 * Puts what each check needs into one chunk, where splitting makes one of each set of files that the same imports lead
 * to: finding and opening 30 of them takes Node as long as a small check. Everything else imports the core, so that the
 * same imports lead to all files of it.
 */
function oneCore(starts: ReadonlySet<string>): Plugin {
  const imports = core.map((path) => `import ${JSON.stringify(join(root, path))};`);
  return {
    name: 'one-core',
    setup(building) {
      building.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        if (!starts.has(path)) return undefined;
        return { contents: `${readFileSync(path, 'utf8')}\n${imports.join('\n')}`, loader: 'ts' };
      });
    },
  };
}

/**
 * Takes from Node's modules what is used of them. An import reads all that they export, and so loads the parts that they
 * load when needed: 10 ms of a small check.
 */
const requiredModules: Plugin = {
  name: 'required-modules',
  setup(building) {
    const namespace = 'required';
    building.onResolve({ filter: /^node:/ }, ({ kind, path }) => (kind === 'import-statement' ? { path, namespace } : undefined));
    building.onLoad({ filter: /.*/, namespace }, ({ path }) => {
      const names = Object.keys(createRequire(import.meta.url)(path) as object).filter((name) => /^\w+$/.test(name));
      const contents = [
        `const all = require('${path}');`,
        'const part = (name) => all[name];',
        ...names.map((name) => `const ${name}_ = /* @__PURE__ */ part('${name}');`),
        `export { ${names.map((name) => `${name}_ as ${name}`).join(', ')} };`,
        'export default all;',
      ];
      return { contents: contents.join('\n') };
    });
  },
};

/** Absolute paths of our files that are loaded separately: entry points and dynamic imports. */
async function startsOf(entryPoints: readonly string[]): Promise<Set<string>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    outdir: 'dist',
    bundle: true,
    write: false,
    splitting: true,
    format: 'esm',
    platform: 'node',
    metafile: true,
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === 'dynamic-import' && external !== true).map(({ path }) => path),
  );
  const starts = new Set([...entryPoints, ...imported].filter((path) => path.startsWith('src/')));
  for (const path of withoutCore) starts.delete(path);
  return new Set([...starts].map((path) => join(root, path)));
}

async function buildInto(folder: string): Promise<void> {
  const entryPoints = [
    'src/action.ts',
    'src/post.ts',
    'src/analyse.ts',
    'src/cli.ts',
    'src/bot.ts',
    'src/solver/z3-worker.ts',
    'src/app/workers/kernel-worker.ts',
  ];
  const result = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: folder,
    entryNames: '[name]',
    // Next to the entry points, so that `import.meta.url` finds the assets from every chunk. The hash becomes a name below.
    chunkNames: 'chunk-[hash]',
    bundle: true,
    write: false,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names stay, for stack traces that can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    // Node decodes, and caches the code of, plain ASCII in less time.
    charset: 'ascii',
    legalComments: 'none',
    metafile: true,
    plugins: [requiredModules, oneCore(await startsOf(entryPoints))],
    logLevel: 'warning',
    // Packages in CommonJS require the modules of Node.
    banner: {
      js: "import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);",
    },
  });
  const names = chunkNames(result.metafile);
  const named = (text: string): string => text.replaceAll(/\bchunk-[A-Z0-9]{8}\.js\b/g, (name) => names.get(name) ?? name);
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of result.outputFiles) {
    writeFileSync(join(folder, named(basename(path))), named(text));
  }
  for (const [name, source] of Object.entries(assets)) {
    cpSync(join(root, source), join(folder, name), { recursive: true, filter: (path) => !/\.(?:ts|md)$/.test(path) });
    if (source.startsWith(packages)) chmodSync(join(folder, name), 0o644);
  }
  chmodSync(join(folder, 'cli.js'), 0o755);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(folder, 'licenses.txt'), licences(bundledPackages(result.metafile)));
  writeFileSync(join(folder, 'digest.txt'), `${digestOf(folder)}\n`);
}

/** Names the contents of a bundle: results cached by another bundle are not used (`app/cache/code-identity.ts`). */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of files(folder)) {
    if (file !== 'digest.txt') hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex');
}

/**
 * Names for the chunks of a build that stay the same when their content changes, so that a commit changes only the files
 * that it changed something in: by the file that is loaded separately, or else by the first one in a chunk.
 * @throws Error if two chunks have one name
 */
function chunkNames({ outputs }: Metafile): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [output, { entryPoint, inputs }] of Object.entries(outputs)) {
    const chunk = basename(output);
    if (!chunk.startsWith('chunk-')) continue;
    const held = Object.keys(inputs).sort();
    // If others need the file too, the separately loaded chunk re-exports what another chunk contains.
    const isDoor = entryPoint !== undefined && !held.includes(entryPoint);
    const file = held.includes(core[0]!) ? 'core' : (entryPoint ?? held[0] ?? 'empty');
    const name = file
      .replace(/^(?:src|.*node_modules)\//, isDoor ? 'load-' : '')
      .replace(/\.[cm]?[jt]s$/, '')
      .replaceAll(/[^\w]+/g, '-');
    names.set(chunk, `chunk-${name}.js`);
  }
  if (new Set(names.values()).size < names.size) throw new Error(`Two chunks have one name: ${[...names.values()].sort().join(', ')}`);
  return names;
}

/** Folders below node_modules of the packages that the bundle contains, sorted. */
function bundledPackages(metafile: Metafile): string[] {
  const folders = new Set(assetPackages);
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const at = input.lastIndexOf(packages);
      if (at < 0 || bytesInOutput === 0) continue;
      const [scope, name] = input.slice(at + packages.length).split('/');
      const folder = scope?.startsWith('@') === true ? `${scope}/${name}` : `${scope}`;
      folders.add(input.slice(packages.length, at + packages.length) + folder);
    }
  }
  return [...folders].sort();
}

/**
 * The text of `licenses.txt`.
 * @throws Error for a package whose licence is missing or not a permissive one
 */
function licences(folders: readonly string[]): string {
  return folders
    .map((folder) => {
      const path = join(root, packages, folder);
      const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
        license?: string;
      };
      if (license === undefined || !allowedLicences.has(license)) {
        throw new Error(`${name} ${version}: licence ${license ?? 'missing'} is not one that may be bundled`);
      }
      const file = readdirSync(path)
        .sort()
        .find((entry) => /^(licen[cs]e|copying)/i.test(entry));
      const text = file === undefined ? '(the package has no licence file)' : readFileSync(join(path, file), 'utf8');
      return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text.replaceAll('\r\n', '\n').trim()}\n`;
    })
    .join('\n');
}

function files(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Paths, relative to both folders, whose contents differ or that one of them lacks. */
function differences(left: string, right: string): string[] {
  const rightFiles = new Set(files(right));
  const different = files(left).filter(
    (file) => !rightFiles.delete(file) || !readFileSync(join(left, file)).equals(readFileSync(join(right, file))),
  );
  return [...different, ...rightFiles].sort();
}

const dist = join(root, 'dist');
if (process.argv.includes('--check')) {
  const fresh = mkdtempSync(join(tmpdir(), 'selvage-dist-'));
  try {
    await buildInto(fresh);
    const different = differences(dist, fresh);
    if (different.length > 0) {
      console.error(`dist/ is not what src/ builds; run npm run build:\n  ${different.join('\n  ')}`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
} else {
  rmSync(dist, { recursive: true, force: true });
  await buildInto(dist);
}
