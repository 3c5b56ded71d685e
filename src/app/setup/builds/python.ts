/** Evaluates the part of Python that setup scripts and Bazel files use to make lists of flags. */
import { posix } from 'node:path';
import { literalDefinitions, rootPath, type BuildTree, type LeftOut } from './build-reading.ts';
import { globbed } from './cmake-commands.ts';
import { cmakePath, folderOfPath } from './cmake-model.ts';
import { ScriptEvaluator } from './script-evaluator.ts';
import { pythonStatements, scriptLines, type ScriptLine, type ScriptStatement } from './script-syntax.ts';
import { mergedValue, notEvaluated, scriptTruth, textOf, textsOf, type ScriptCall, type ScriptValue } from './script-values.ts';

interface PythonFunction {
  readonly parameters: readonly (readonly [name: string, value: string | undefined])[];
  readonly body: readonly ScriptLine[];
}

interface PythonResult {
  /** Calls of functions that the file does not define, in the order of their execution. */
  readonly calls: readonly ScriptCall[];
  readonly leftOut: readonly LeftOut[];
}

const deepestCall = 20;

/** What is known of a build of CUDA code on Linux. */
const knownNames: Readonly<Record<string, (tree: BuildTree) => ScriptValue>> = {
  'os.name': () => 'posix',
  'sys.platform': () => 'linux',
  'os.environ': () => new Map(),
  'torch.version.hip': () => null,
  'torch.version.cuda': ({ toolkit }) => toolkit,
  CUDA_HOME: () => '/usr/local/cuda',
  'cpp_extension.CUDA_HOME': () => '/usr/local/cuda',
  ROCM_HOME: () => null,
  HIP_HOME: () => null,
  IS_HIP_EXTENSION: () => false,
  __name__: () => '__main__',
  'os.sep': () => '/',
};

/**
 * Executes a script.
 * @param file path from the root of the repository
 */
export function runPython(file: string, tree: BuildTree): PythonResult {
  return new PythonRun(file, tree);
}

class PythonRun extends ScriptEvaluator implements PythonResult {
  readonly calls: ScriptCall[] = [];
  readonly leftOut: LeftOut[] = [];
  protected override readonly language = 'python';
  protected override readonly statementsOf = pythonStatements;
  private readonly functions = new Map<string, PythonFunction>();
  private returned: ScriptValue[] = [];
  private depth = 0;
  private readonly file: string;
  private readonly tree: BuildTree;

  constructor(file: string, tree: BuildTree) {
    super();
    this.file = file;
    this.tree = tree;
    this.scope.variables.set('__file__', cmakePath(file));
    this.run(scriptLines(tree.text(file) ?? ''));
  }

  protected override reference(name: string): ScriptValue {
    return Object.hasOwn(knownNames, name) ? knownNames[name]!(this.tree) : super.reference(name);
  }

  protected override call(call: ScriptCall): ScriptValue {
    const own = call.of === undefined ? this.functions.get(call.name) : undefined;
    if (own !== undefined) return this.callFunction(own, call);
    const known = knownCall(call, posix.dirname(this.file), this.tree);
    if (known !== notEvaluated) return known;
    this.calls.push(call);
    return undefined;
  }

  protected override sum(old: ScriptValue, more: ScriptValue): ScriptValue {
    if (Array.isArray(old)) {
      old.push(...(Array.isArray(more) ? more : [undefined]));
      return old;
    }
    return typeof old === 'string' || typeof more === 'string' ? textOf(old) + textOf(more) : undefined;
  }

  protected override report(lines: readonly ScriptLine[], reason: string): void {
    if (/\b(?:hip|rocm)\w*|win32|darwin|"nt"|'nt'/i.test(reason)) return;
    for (const { text, line } of lines) {
      const flags = literalDefinitions(text.replaceAll(/["',]/g, ' ')).filter((flag) => !flag.includes('{'));
      if (flags.length > 0) this.leftOut.push({ place: `${this.file}:${line}`, flags, reason: reason.slice(0, 60) });
    }
  }

  protected override runSpecial({ head: { text, line }, body }: Extract<ScriptStatement, { kind: 'other' }>): boolean | undefined {
    const [, name, parameters] = /^def\s+(\w+)\s*\(([^]*)\)\s*(?:->[^]*)?$/.exec(text) ?? [];
    if (name !== undefined) this.functions.set(name, { parameters: parametersOf(parameters ?? ''), body });
    else if (/^(?:try|with|finally)\b/.test(text)) return this.run(body);
    else if (/^return\b/.test(text)) {
      this.returned.push(this.value(text.slice('return'.length), line));
      return true;
    } else if (!/^(?:except|class|while|import|from|raise|assert|pass|global|nonlocal|del|async|@)/.test(text)) return undefined;
    return false;
  }

  private callFunction({ parameters, body }: PythonFunction, { given, named, line }: ScriptCall): ScriptValue {
    if (this.depth >= deepestCall) return undefined;
    const outer = this.scope.variables;
    const outerReturned = this.returned;
    const own = new Map(outer);
    for (const [at, [name, initial]] of parameters.entries()) {
      const passed = at < given.length ? given[at] : named.get(name);
      own.set(name, at < given.length || named.has(name) || initial === undefined ? passed : this.value(initial, line));
    }
    this.scope.variables = own;
    this.returned = [];
    this.depth++;
    this.run(body);
    this.depth--;
    const results = this.returned;
    this.scope.variables = outer;
    this.returned = outerReturned;
    return results.length === 0 ? null : results.reduce(mergedValue);
  }
}

function parametersOf(text: string): (readonly [string, string | undefined])[] {
  return text.split(/,(?![^([{]*[)\]}])/).flatMap((one): (readonly [string, string | undefined])[] => {
    const [, name, initial] = /^\s*\*{0,2}(\w+)\s*(?::[^=]*)?(?:=\s*([^]*))?$/.exec(one) ?? [];
    return name === undefined ? [] : [[name, initial]];
  });
}

/** Functions on paths, the environment and files, by the last part of their names. */
const knownCalls: Readonly<
  Record<string, (call: ScriptCall, first: ScriptValue, folder: string, tree: BuildTree) => ScriptValue | typeof notEvaluated>
> = {
  join: ({ of, name, given }, first) =>
    of !== undefined || !/path|osp/.test(name)
      ? textsOf(first).join(typeof of === 'string' ? of : '')
      : given.map(textOf).reduce((path, part) => (part.startsWith('/') ? part : posix.join(path, part)), ''),
  dirname: (_, first) => posix.dirname(textOf(first)),
  basename: (_, first) => posix.basename(textOf(first)),
  abspath: absolutePath,
  realpath: absolutePath,
  normpath: absolutePath,
  str: pathText,
  Path: pathText,
  fspath: pathText,
  list: listOf,
  tuple: listOf,
  sorted: listOf,
  set: listOf,
  dict: ({ named }, first) => (first instanceof Map ? first : new Map(named)),
  bool: (_, first) => scriptTruth(first),
  len: (_, first) => (Array.isArray(first) ? first.length : undefined),
  getcwd: (_call, _first, folder) => cmakePath(folder),
  cwd: (_call, _first, folder) => cmakePath(folder),
  getenv: ({ given, named }) => given[1] ?? named.get('default') ?? null,
  get: ({ name, given }) => (name === 'os.environ.get' ? (given[1] ?? null) : notEvaluated),
  is_available: ({ name }) => name.startsWith('torch.cuda') || notEvaluated,
  system: ({ name }) => (name.startsWith('platform') ? 'Linux' : notEvaluated),
  exists: pathExists,
  isfile: pathExists,
  isdir: (_, first, folder, tree) => {
    const path = folderOfPath(textOf(first), folder);
    return path === undefined ? undefined : tree.isFolder(path);
  },
  glob: foundFiles,
  iglob: foundFiles,
  rglob: foundFiles,
  select: (_, first) => (first instanceof Map ? first.get('//conditions:default') : undefined),
};

function knownCall(call: ScriptCall, folder: string, tree: BuildTree): ScriptValue | typeof notEvaluated {
  const last = call.name.replace(/^.*\./, '');
  return Object.hasOwn(knownCalls, last) ? knownCalls[last]!(call, call.given[0], folder, tree) : notEvaluated;
}

function absolutePath(_: ScriptCall, first: ScriptValue, folder: string): ScriptValue {
  const path = textOf(first);
  return path.startsWith(rootPath) ? posix.normalize(path) : path.startsWith('/') ? path : posix.join(cmakePath(folder), path);
}

function pathText({ given }: ScriptCall, first: ScriptValue): ScriptValue {
  if (typeof first !== 'string') return undefined;
  return given.length > 1 ? posix.join(...given.map(textOf)) : first;
}

function listOf({ given }: ScriptCall, first: ScriptValue): ScriptValue {
  return Array.isArray(first) ? [...first] : given.length === 0 ? [] : undefined;
}

function pathExists(_: ScriptCall, first: ScriptValue, folder: string, tree: BuildTree): ScriptValue {
  const path = folderOfPath(textOf(first), folder);
  return path === undefined ? undefined : tree.isFile(path) || tree.isFolder(path);
}

function foundFiles({ name, of, named }: ScriptCall, first: ScriptValue, folder: string, tree: BuildTree): ScriptValue {
  // The method of a path has the pattern as its only argument.
  const base = typeof of === 'string' ? `${of}/` : '';
  const patterns = textsOf(first).map((pattern) => base + pattern);
  const excluded = globbed(textsOf(named.get('exclude') ?? []), folder, tree, false);
  return globbed(patterns, folder, tree, /(?:^|\.)rglob$/.test(name))
    .filter((path) => !excluded.includes(path))
    .map(cmakePath);
}
