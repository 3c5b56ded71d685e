/**
 * Evaluates the part of Python that setup scripts and Bazel files use to make lists of flags. A statement that is not on
 * the list has no effect; both branches of an undecided condition are read, and only what they have in common counts.
 */
import { posix } from 'node:path';
import { literalDefinitions, rootPath, type BuildTree, type LeftOut } from './build-reading.ts';
import { globbed } from './cmake-commands.ts';
import { cmakePath, folderOfPath } from './cmake-model.ts';
import { parseScript, scriptLines, type ScriptLine } from './script-syntax.ts';
import {
  copiedValue,
  evaluateScript,
  mergedValue,
  scriptTruth,
  ScriptReference,
  textOf,
  textsOf,
  type ScriptCall,
  type ScriptContext,
  type ScriptValue,
} from './script-values.ts';

interface PythonFunction {
  readonly parameters: readonly (readonly [name: string, value: string | undefined])[];
  readonly body: readonly ScriptLine[];
}

interface PythonResult {
  /** Calls of functions that the file does not define, in the order of their execution. */
  readonly calls: readonly ScriptCall[];
  readonly leftOut: readonly LeftOut[];
}

const mostStatements = 20_000;
const deepestCall = 20;

/** What is known of a build of CUDA code on Linux. */
function factsOf(toolkit: string): ReadonlyMap<string, ScriptValue> {
  const facts: readonly (readonly [string, ScriptValue])[] = [
    ['os.name', 'posix'],
    ['sys.platform', 'linux'],
    ['os.environ', new Map()],
    ['torch.version.hip', null],
    ['torch.version.cuda', toolkit],
    ['CUDA_HOME', '/usr/local/cuda'],
    ['cpp_extension.CUDA_HOME', '/usr/local/cuda'],
    ['ROCM_HOME', null],
    ['HIP_HOME', null],
    ['IS_HIP_EXTENSION', false],
    ['__name__', '__main__'],
    ['os.sep', '/'],
  ];
  return new Map(facts);
}

/**
 * Executes a script.
 * @param file path from the root of the repository
 */
export function runPython(file: string, tree: BuildTree): PythonResult {
  const folder = posix.dirname(file);
  const calls: ScriptCall[] = [];
  const leftOut: LeftOut[] = [];
  const functions = new Map<string, PythonFunction>();
  const facts = factsOf(tree.toolkit);
  let count = 0;
  let depth = 0;
  let variables = new Map<string, ScriptValue>([['__file__', `${cmakePath(folder)}/${posix.basename(file)}`]]);
  let returned: ScriptValue[] = [];

  const context = (): ScriptContext => ({
    language: 'python',
    variables,
    reference: (name) => (facts.has(name) ? copiedValue(facts.get(name)) : new ScriptReference(name)),
    call: (call) => {
      const own = functions.get(call.name);
      if (own !== undefined && call.of === undefined) return callFunction(own, call);
      const known = knownCall(call, folder, tree);
      if (known.isKnown) return known.value;
      calls.push(call);
      return undefined;
    },
  });
  const value = (text: string, line: number): ScriptValue => evaluateScript(parseScript(text, 'python', line), context());

  const callFunction = ({ parameters, body }: PythonFunction, { given, named, line }: ScriptCall): ScriptValue => {
    if (depth >= deepestCall) return undefined;
    const outer = variables;
    const outerReturned = returned;
    const own = new Map(outer);
    for (const [at, [name, initial]] of parameters.entries()) {
      const passed = at < given.length ? given[at] : named.get(name);
      own.set(name, at < given.length || named.has(name) || initial === undefined ? passed : value(initial, line));
    }
    variables = own;
    returned = [];
    depth++;
    run(body);
    depth--;
    const results = returned;
    variables = outer;
    returned = outerReturned;
    return results.length === 0 ? null : results.reduce(mergedValue);
  };

  /** @returns whether a `return` was reached for certain */
  const run = (lines: readonly ScriptLine[]): boolean => {
    for (let at = 0; at < lines.length;) {
      if (++count > mostStatements) return true;
      const first = lines[at]!;
      let end = at + 1;
      while (end < lines.length && lines[end]!.indent > first.indent) end++;
      const body = lines.slice(at + 1, end);
      const isConditional = /^if\b/.test(first.text);
      if (isConditional) {
        const branches: { head: ScriptLine; body: readonly ScriptLine[] }[] = [{ head: first, body }];
        while (end < lines.length && lines[end]!.indent === first.indent && /^(?:elif|else)\b/.test(lines[end]!.text)) {
          const head = lines[end]!;
          const start = ++end;
          while (end < lines.length && lines[end]!.indent > first.indent) end++;
          branches.push({ head, body: lines.slice(start, end) });
        }
        if (branch(branches)) return true;
      } else if (statement(first, body)) return true;
      at = end;
    }
    return false;
  };

  const branch = (branches: readonly { readonly head: ScriptLine; readonly body: readonly ScriptLine[] }[]): boolean => {
    const before = variables;
    const results: Map<string, ScriptValue>[] = [];
    let isComplete = false;
    let isOpen = false;
    for (const { head, body } of branches) {
      const { text, rest } = headOf(head.text);
      const statements = rest === '' ? body : [{ indent: head.indent + 1, text: rest, line: head.line }, ...body];
      const truth = text.startsWith('else') ? true : scriptTruth(value(text.replace(/^(?:el)?if\b/, ''), head.line));
      const reason = text.startsWith('else') ? `if not ${headOf(branches[0]!.head.text).text.slice(3)}` : text.replace(/^elif/, 'if');
      if (isComplete || truth === false) report(statements, reason);
      else if (truth === true && !isOpen) {
        isComplete = true;
        if (run(statements)) return true;
      } else {
        report(statements, reason);
        isOpen = true;
        variables = copiedVariables(before);
        run(statements);
        results.push(variables);
        variables = before;
        isComplete ||= truth === true;
      }
    }
    if (!isOpen) return false;
    const joined = (isComplete ? results : [copiedVariables(before), ...results]).reduce(mergedVariables);
    variables.clear();
    joined.forEach((item, name) => variables.set(name, item));
    return false;
  };

  const report = (lines: readonly ScriptLine[], reason: string): void => {
    if (/\b(?:hip|rocm)\w*|win32|darwin|"nt"|'nt'/i.test(reason)) return;
    for (const { text, line } of lines) {
      const flags = literalDefinitions(text.replaceAll(/["',]/g, ' ')).filter((flag) => !flag.includes('{'));
      if (flags.length > 0) leftOut.push({ place: `${file}:${line}`, flags, reason: reason.trim().slice(0, 60) });
    }
  };

  const statement = ({ text: written, line }: ScriptLine, body: readonly ScriptLine[]): boolean => {
    const { text, rest } = headOf(written);
    const block = rest === '' ? body : [{ indent: 1, text: rest, line }, ...body];
    const [, name, parameters] = /^def\s+(\w+)\s*\(([^]*)\)\s*(?:->[^]*)?$/.exec(text) ?? [];
    if (name !== undefined) functions.set(name, { parameters: parametersOf(parameters ?? ''), body: block });
    else if (/^(?:try|with|finally)\b/.test(text)) return run(block);
    else if (/^for\b/.test(text)) return loop(text, block, line);
    else if (/^(?:except|class|while|import|from|raise|assert|pass|global|nonlocal|del|async|@)/.test(text)) return false;
    else if (/^return\b/.test(text)) {
      returned.push(value(text.slice('return'.length), line));
      return true;
    } else assign(written, line);
    return false;
  };

  const loop = (text: string, body: readonly ScriptLine[], line: number): boolean => {
    const [, variable = '', over = ''] = /^for\s+([\w\s,()]+?)\s+in\s+([^]+)$/.exec(text) ?? [];
    const items = value(over, line);
    const names = variable.split(',').map((one) => one.trim().replaceAll(/[()]/g, ''));
    for (const item of Array.isArray(items) ? items : [undefined]) {
      names.forEach((name, at) => variables.set(name, names.length === 1 ? item : Array.isArray(item) ? item[at] : undefined));
      if (run(body)) return true;
    }
    return false;
  };

  const assign = (text: string, line: number): void => {
    const [, name, operator, right] =
      /^([A-Za-z_][\w.]*(?:\[[^\]]*\])?|\w+(?:\s*,\s*\w+)+)\s*(?::\s*[\w.[\], ]+)?(\+|\||-|\/)?=(?!=)\s*([^]*)$/.exec(text) ?? [];
    if (name === undefined || right === undefined) {
      value(text, line);
      return;
    }
    const assigned = value(right, line);
    const [, owner, key] = /^(\w+)\[([^]*)\]$/.exec(name) ?? [];
    if (owner !== undefined && key !== undefined) {
      const object = variables.get(owner);
      const index = textOf(value(key, line));
      if (object instanceof Map) object.set(index, operator === '+' ? added(object.get(index), assigned) : assigned);
    } else if (name.includes(',')) {
      name.split(',').forEach((one, at) => variables.set(one.trim(), Array.isArray(assigned) ? assigned[at] : undefined));
    } else if (operator === '+') variables.set(name, added(variables.get(name), assigned));
    else variables.set(name, operator === undefined ? assigned : undefined);
  };

  run(scriptLines(tree.text(file) ?? ''));
  return { calls, leftOut };
}

/** The head of a compound statement, and the statement after its colon. */
function headOf(text: string): { readonly text: string; readonly rest: string } {
  if (!/^(?:if|elif|else|for|while|def|class|try|except|finally|with|async)\b/.test(text)) return { text, rest: '' };
  let depth = 0;
  const pattern = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|[([{]|[)\]}]|:/g;
  for (const match of text.matchAll(pattern)) {
    if (/^[([{]$/.test(match[0])) depth++;
    else if (/^[)\]}]$/.test(match[0])) depth--;
    else if (match[0] === ':' && depth === 0)
      return {
        text: text.slice(0, match.index).trim(),
        rest: text
          .slice(match.index + 1)
          .replace(/^\s*#.*$/, '')
          .trim(),
      };
  }
  return { text, rest: '' };
}

function parametersOf(text: string): (readonly [string, string | undefined])[] {
  return text.split(/,(?![^([{]*[)\]}])/).flatMap((one): (readonly [string, string | undefined])[] => {
    const [, name, initial] = /^\s*\*{0,2}(\w+)\s*(?::[^=]*)?(?:=\s*([^]*))?$/.exec(one) ?? [];
    return name === undefined ? [] : [[name, initial]];
  });
}

function added(old: ScriptValue, more: ScriptValue): ScriptValue {
  if (Array.isArray(old)) {
    old.push(...(Array.isArray(more) ? more : [undefined]));
    return old;
  }
  return typeof old === 'string' || typeof more === 'string' ? textOf(old) + textOf(more) : undefined;
}

function copiedVariables(variables: ReadonlyMap<string, ScriptValue>): Map<string, ScriptValue> {
  return new Map([...variables].map(([name, value]) => [name, copiedValue(value)]));
}

function mergedVariables(one: Map<string, ScriptValue>, other: Map<string, ScriptValue>): Map<string, ScriptValue> {
  const names = new Set([...one.keys(), ...other.keys()]);
  return new Map(
    [...names].map((name) => [name, one.has(name) && other.has(name) ? mergedValue(one.get(name), other.get(name)) : undefined]),
  );
}

/** Functions on paths, the environment and files. */
function knownCall(call: ScriptCall, folder: string, tree: BuildTree): { isKnown: boolean; value?: ScriptValue } {
  const { given, named } = call;
  const last = call.name.replace(/^.*\./, '');
  const known = (value: ScriptValue): { isKnown: true; value: ScriptValue } => ({ isKnown: true, value });
  const first = given[0];
  switch (last) {
    case 'join':
      if (call.of !== undefined || !/path|osp/.test(call.name))
        return known(textsOf(first).join(typeof call.of === 'string' ? call.of : ''));
      return known(given.map(textOf).reduce((path, part) => (part.startsWith('/') ? part : posix.join(path, part)), ''));
    case 'dirname':
      return known(posix.dirname(textOf(first)));
    case 'basename':
      return known(posix.basename(textOf(first)));
    case 'abspath':
    case 'realpath':
    case 'normpath': {
      const path = textOf(first);
      return known(path.startsWith(rootPath) ? posix.normalize(path) : path.startsWith('/') ? path : posix.join(cmakePath(folder), path));
    }
    case 'str':
    case 'Path':
    case 'fspath':
      return known(typeof first === 'string' ? (given.length > 1 ? posix.join(...given.map(textOf)) : first) : undefined);
    case 'list':
    case 'tuple':
    case 'sorted':
    case 'set':
      return known(Array.isArray(first) ? [...first] : given.length === 0 ? [] : undefined);
    case 'dict':
      return known(first instanceof Map ? first : new Map(named));
    case 'bool': {
      const truth = scriptTruth(first);
      return known(truth);
    }
    case 'len':
      return known(Array.isArray(first) ? first.length : undefined);
    case 'getcwd':
    case 'cwd':
      return known(cmakePath(folder));
    case 'getenv':
      return known(given[1] ?? named.get('default') ?? null);
    case 'get':
      return call.name === 'os.environ.get' ? known(given[1] ?? null) : { isKnown: false };
    case 'is_available':
      return call.name.startsWith('torch.cuda') ? known(true) : { isKnown: false };
    case 'system':
      return call.name.startsWith('platform') ? known('Linux') : { isKnown: false };
    case 'exists':
    case 'isdir':
    case 'isfile': {
      const path = folderOfPath(textOf(first), folder);
      return known(path === undefined ? undefined : last === 'isdir' ? tree.isFolder(path) : tree.isFile(path) || tree.isFolder(path));
    }
    case 'glob':
    case 'iglob':
    case 'rglob': {
      // The method of a path has the pattern as its only argument.
      const base = typeof call.of === 'string' ? `${call.of}/` : '';
      const found = globbed(
        textsOf(first).map((pattern) => base + pattern),
        folder,
        tree,
        last === 'rglob',
      );
      const excluded = globbed(textsOf(named.get('exclude') ?? []), folder, tree, false);
      return known(found.filter((path) => !excluded.includes(path)).map(cmakePath));
    }
    case 'select': {
      const initial = first instanceof Map ? first.get('//conditions:default') : undefined;
      return known(initial);
    }
    default:
      return { isKnown: false };
  }
}
