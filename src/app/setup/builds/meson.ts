/** Reads Meson projects: targets with CUDA files, include folders, arguments of the language `cuda`, dependencies. */
import { posix } from 'node:path';
import { placedPath, selectBuildFlags, type BuildReading, type BuildTree, type LeftOut, type UnitCommand } from './build-reading.ts';
import { cmakePath } from './cmake-model.ts';
import { parseScript, scriptLines, type ScriptLine } from './script-syntax.ts';
import {
  copiedValue,
  evaluateScript,
  mergedValue,
  ScriptReference,
  scriptTruth,
  textOf,
  textsOf,
  type ScriptCall,
  type ScriptContext,
  type ScriptValue,
} from './script-values.ts';

const deepestFolder = 20;
const targetCalls = /^(?:executable|library|shared_library|static_library|both_libraries|shared_module)$/;
/** Options of targets, and of `project()`, that select the standard. */
const standardOptions = /^(cuda|cpp)_std=(?:(?:gnu|vc)\+\+|c\+\+)(\d\d)$/;

/**
 * Reads a project.
 * @param file the topmost `meson.build`
 */
export function readMeson(file: string, tree: BuildTree): BuildReading {
  const commands: UnitCommand[] = [];
  const general: string[][] = [];
  const leftOut: LeftOut[] = [];
  const architectures: number[] = [];
  const projectFlags: string[] = [];
  let standards: readonly string[] = [];
  let variables = new Map<string, ScriptValue>();
  let folder = posix.dirname(file);
  let depth = 0;

  const here = (path: string): string => (path.startsWith('/') ? path : posix.join(cmakePath(folder), path));
  const get = ({ named }: ScriptCall, name: string): string[] => textsOf(named.get(name) ?? []);
  const usage = (flags: readonly string[]): ScriptValue => new Map<string, ScriptValue>([['flags', [...flags]]]);
  const flagsIn = (value: ScriptValue): string[] => {
    if (Array.isArray(value)) return value.flatMap(flagsIn);
    return value instanceof Map ? textsOf(value.get('flags') ?? []) : [];
  };
  const includesOf = (value: ScriptValue): string[] => {
    if (Array.isArray(value)) return value.flatMap(includesOf);
    if (value instanceof Map) return flagsIn(value);
    return typeof value === 'string' ? [`-I${here(value)}`] : [];
  };

  const call = (made: ScriptCall): ScriptValue => {
    const { name, given, named, line } = made;
    if (name === 'include_directories') return usage(textsOf(given).map((path) => `-I${here(path)}`));
    if (name === 'files') return textsOf(given).map(here);
    if (name === 'declare_dependency')
      return usage([
        ...includesOf(named.get('include_directories') ?? []),
        ...get(made, 'compile_args'),
        ...flagsIn(named.get('dependencies') ?? []),
      ]);
    if (name === 'add_project_arguments' || name === 'add_global_arguments') {
      if (get(made, 'language').includes('cuda')) projectFlags.push(...textsOf(given));
    } else if (name === 'project') standards = get(made, 'default_options');
    else if (name === 'subdir') readFolder(textOf(given[0]));
    else if (name === 'meson.current_source_dir') return cmakePath(folder);
    else if (/^meson\.(?:project_)?source_root$/.test(name)) return cmakePath(posix.dirname(file));
    else if (name === 'host_machine.system' || name === 'target_machine.system') return 'linux';
    else if (targetCalls.test(name)) addTarget(made, line);
    return undefined;
  };

  const addTarget = (made: ScriptCall, line: number): void => {
    const { given, named } = made;
    const options = [...standards, ...get(made, 'override_options')];
    const words = [
      ...standardFlags(options),
      ...projectFlags,
      ...includesOf(named.get('include_directories') ?? []),
      ...get(made, 'cuda_args'),
      ...flagsIn(named.get('dependencies') ?? []),
    ];
    const { flags, architectures: numbers, open } = selectBuildFlags(words, folder, tree);
    const place = `${posix.join(folder, 'meson.build')}:${line}`;
    const sources = [...textsOf(given.slice(1)), ...get(made, 'sources')].flatMap((path) => placedPath(path, folder) ?? []);
    const units = sources.filter((path) => tree.units.includes(path));
    for (const unit of units) commands.push({ unit, flags, target: textOf(given[0]), place });
    if (units.length === 0) general.push([...flags]);
    else architectures.push(...numbers);
    if (units.length > 0 && open.length > 0) leftOut.push({ place, flags: open, reason: 'the value is not known here' });
  };

  const context = (): ScriptContext => ({
    language: 'meson',
    variables,
    call,
    reference: (name) => new ScriptReference(name),
  });
  const value = (text: string, line: number): ScriptValue => evaluateScript(parseScript(text, 'meson', line), context());

  const readFolder = (name: string): void => {
    const outer = folder;
    const child = placedPath(name, folder);
    const text = child === undefined ? undefined : tree.text(posix.join(child, 'meson.build'));
    if (child === undefined || text === undefined || depth >= deepestFolder) return;
    folder = child;
    depth++;
    run(scriptLines(text));
    depth--;
    folder = outer;
  };

  const run = (lines: readonly ScriptLine[]): void => {
    for (let at = 0; at < lines.length;) {
      const { text, line } = lines[at]!;
      const opening = /^(if|foreach)\b/.exec(text)?.[1];
      if (opening === undefined) {
        assign(text, line);
        at++;
        continue;
      }
      const parts: { readonly head: ScriptLine; readonly body: ScriptLine[] }[] = [{ head: lines[at]!, body: [] }];
      let nested = 0;
      for (at++; at < lines.length; at++) {
        const next = lines[at]!;
        if (/^(?:if|foreach)\b/.test(next.text)) nested++;
        if (nested === 0 && /^(?:endif|endforeach)\b/.test(next.text)) break;
        if (/^(?:endif|endforeach)\b/.test(next.text)) nested--;
        if (nested === 0 && /^(?:elif|else)\b/.test(next.text)) parts.push({ head: next, body: [] });
        else parts.at(-1)!.body.push(next);
      }
      at++;
      if (opening === 'if') branch(parts);
      else loop(parts[0]!.head, parts[0]!.body);
    }
  };

  const branch = (parts: readonly { readonly head: ScriptLine; readonly body: readonly ScriptLine[] }[]): void => {
    const results: Map<string, ScriptValue>[] = [];
    const before = variables;
    let isComplete = false;
    for (const { head, body } of parts) {
      const truth = head.text.startsWith('else') ? true : scriptTruth(value(head.text.replace(/^(?:el)?if\b/, ''), head.line));
      if (isComplete || truth === false) continue;
      const isOpen = truth === undefined || results.length > 0;
      if (isOpen) variables = new Map([...before].map(([name, item]) => [name, copiedValue(item)]));
      const projectBefore = projectFlags.length;
      run(body);
      if (isOpen) {
        results.push(variables);
        variables = before;
        const uncertain = projectFlags.splice(projectBefore);
        if (uncertain.length > 0)
          leftOut.push({ place: `${posix.join(folder, 'meson.build')}:${head.line}`, flags: uncertain, reason: head.text.slice(0, 60) });
      }
      isComplete = truth === true;
    }
    if (results.length === 0) return;
    const all = isComplete ? results : [before, ...results];
    const names = new Set(all.flatMap((one) => [...one.keys()]));
    variables = new Map([...names].map((name) => [name, all.map((one) => one.get(name)).reduce(mergedValue)]));
  };

  const loop = ({ text, line }: ScriptLine, body: readonly ScriptLine[]): void => {
    const [, variable = '', over = ''] = /^foreach\s+([\w\s,]+?)\s*:\s*([^]+)$/.exec(text) ?? [];
    const items = value(over, line);
    for (const item of Array.isArray(items) ? items : [undefined]) {
      variables.set(variable, item);
      run(body);
    }
  };

  const assign = (text: string, line: number): void => {
    const [, name, operator, right] = /^(\w+)\s*(\+)?=(?!=)\s*([^]*)$/.exec(text) ?? [];
    if (name === undefined || right === undefined) {
      value(text, line);
      return;
    }
    const assigned = value(right, line);
    const old = variables.get(name);
    if (operator === undefined) variables.set(name, assigned);
    else if (Array.isArray(old)) variables.set(name, [...old, ...(Array.isArray(assigned) ? assigned : [assigned])]);
    else variables.set(name, typeof old === 'string' ? old + textOf(assigned) : undefined);
  };

  run(scriptLines(tree.text(file) ?? ''));
  return { commands, general, architectures, leftOut, switches: [] };
}

/** The flag of the last `cuda_std`; the standard of C++ files applies only if it is newer than that of nvcc. */
function standardFlags(options: readonly string[]): string[] {
  const found = options.flatMap((option) => {
    const [, language, number] = standardOptions.exec(option) ?? [];
    return number === undefined ? [] : [{ language, number }];
  });
  const chosen =
    found.findLast(({ language }) => language === 'cuda') ?? found.findLast(({ number }) => Number(number) > 17 && Number(number) < 90);
  return chosen === undefined ? [] : [`-std=c++${chosen.number}`];
}
