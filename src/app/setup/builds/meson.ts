/** Reads Meson projects: targets with CUDA files, include folders, arguments of the language `cuda`, dependencies. */
import { posix } from 'node:path';
import { GrowingReading, placedPath, selectBuildFlags, unitsAmong, type BuildReading, type BuildTree } from './build-reading.ts';
import { cmakePath } from './cmake-model.ts';
import { ScriptEvaluator } from './script-evaluator.ts';
import { mesonStatements, scriptLines, type ScriptLine } from './script-syntax.ts';
import { textOf, textsOf, type ScriptCall, type ScriptValue } from './script-values.ts';

const deepestFolder = 20;
const targetCalls = /^(?:executable|library|shared_library|static_library|both_libraries|shared_module)$/;
/** Options of targets, and of `project()`, that select the standard. */
const standardOptions = /^(cuda|cpp)_std=(?:(?:gnu|vc)\+\+|c\+\+)(\d\d)$/;

/**
 * Reads a project.
 * @param file the topmost `meson.build`
 */
export function readMeson(file: string, tree: BuildTree): BuildReading {
  return new MesonProject(posix.dirname(file), tree).reading;
}

class MesonProject extends ScriptEvaluator {
  readonly reading = new GrowingReading();
  protected override readonly language = 'meson';
  protected override readonly statementsOf = mesonStatements;
  private readonly projectFlags: string[] = [];
  private standards: readonly string[] = [];
  private depth = 0;
  private folder: string;
  private readonly top: string;
  private readonly tree: BuildTree;

  constructor(top: string, tree: BuildTree) {
    super();
    this.top = top;
    this.folder = top;
    this.tree = tree;
    this.readFolder('.');
  }

  protected override call(made: ScriptCall): ScriptValue {
    const { name, given, named } = made;
    if (name === 'include_directories') return usage(textsOf(given).map((path) => `-I${this.absolute(path)}`));
    if (name === 'files') return textsOf(given).map((path) => this.absolute(path));
    if (name === 'declare_dependency')
      return usage([
        ...this.includesOf(named.get('include_directories') ?? []),
        ...textsNamed(made, 'compile_args'),
        ...flagsIn(named.get('dependencies') ?? []),
      ]);
    if (name === 'add_project_arguments' || name === 'add_global_arguments') {
      if (textsNamed(made, 'language').includes('cuda')) this.projectFlags.push(...textsOf(given));
    } else if (name === 'project') this.standards = textsNamed(made, 'default_options');
    else if (name === 'subdir') this.readFolder(textOf(given[0]));
    else if (name === 'meson.current_source_dir') return cmakePath(this.folder);
    else if (/^meson\.(?:project_)?source_root$/.test(name)) return cmakePath(this.top);
    else if (name === 'host_machine.system' || name === 'target_machine.system') return 'linux';
    else if (targetCalls.test(name)) this.addTarget(made);
    return undefined;
  }

  protected override sum(old: ScriptValue, more: ScriptValue): ScriptValue {
    if (Array.isArray(old)) return [...old, ...(Array.isArray(more) ? more : [more])];
    return typeof old === 'string' ? old + textOf(more) : undefined;
  }

  protected override runOpen(body: readonly ScriptLine[], reason: string, line: number): boolean {
    const certain = this.projectFlags.length;
    const isEnd = this.run(body);
    const flags = this.projectFlags.splice(certain);
    if (flags.length > 0) this.reading.leftOut.push({ place: this.placeOf(line), flags, reason: reason.slice(0, 60) });
    return isEnd;
  }

  private readFolder(name: string): void {
    const outer = this.folder;
    const child = placedPath(name, outer);
    const text = child === undefined ? undefined : this.tree.text(posix.join(child, 'meson.build'));
    if (child === undefined || text === undefined || this.depth >= deepestFolder) return;
    this.folder = child;
    this.depth++;
    this.run(scriptLines(text));
    this.depth--;
    this.folder = outer;
  }

  private addTarget(made: ScriptCall): void {
    const { given, named, line } = made;
    const words = [
      ...standardFlags([...this.standards, ...textsNamed(made, 'override_options')]),
      ...this.projectFlags,
      ...this.includesOf(named.get('include_directories') ?? []),
      ...textsNamed(made, 'cuda_args'),
      ...flagsIn(named.get('dependencies') ?? []),
    ];
    const units = unitsAmong([...textsOf(given.slice(1)), ...textsNamed(made, 'sources')], this.folder, this.tree);
    this.reading.add(selectBuildFlags(words, this.folder, this.tree), units, textOf(given[0]), this.placeOf(line));
  }

  private placeOf(line: number): string {
    return `${posix.join(this.folder, 'meson.build')}:${line}`;
  }

  private absolute(path: string): string {
    return path.startsWith('/') ? path : posix.join(cmakePath(this.folder), path);
  }

  private includesOf(value: ScriptValue): string[] {
    if (Array.isArray(value)) return value.flatMap((item) => this.includesOf(item));
    if (value instanceof Map) return flagsIn(value);
    return typeof value === 'string' ? [`-I${this.absolute(value)}`] : [];
  }
}

function textsNamed({ named }: ScriptCall, name: string): string[] {
  return textsOf(named.get(name) ?? []);
}

/** A dependency or a list of include folders. */
function usage(flags: readonly string[]): ScriptValue {
  return new Map<string, ScriptValue>([['flags', [...flags]]]);
}

function flagsIn(value: ScriptValue): string[] {
  if (Array.isArray(value)) return value.flatMap(flagsIn);
  return value instanceof Map ? textsOf(value.get('flags') ?? []) : [];
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
