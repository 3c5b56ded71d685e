/** Reads the packages of Bazel: rules with CUDA files, and what they inherit from the rules that they depend on. */
import { posix } from 'node:path';
import { GrowingReading, selectBuildFlags, unitsAmong, type BuildReading, type BuildTree } from './build-reading.ts';
import { cmakePath } from './cmake-model.ts';
import { runPython } from './python.ts';
import { textOf, textsOf, type ScriptValue } from './script-values.ts';

interface BazelRule {
  /** `//folder:name`. */
  readonly label: string;
  readonly folder: string;
  readonly place: string;
  readonly named: ReadonlyMap<string, ScriptValue>;
}

/**
 * Reads all packages.
 * @param files paths of `BUILD` files, and of those that only mark a workspace
 */
export function readBazel(files: readonly string[], tree: BuildTree): BuildReading {
  const rules = new Map<string, BazelRule>();
  const reading = new GrowingReading();
  for (const file of files.filter((path) => /^BUILD/.test(posix.basename(path)))) {
    const folder = posix.dirname(file);
    const result = runPython(file, tree);
    reading.leftOut.push(...result.leftOut);
    for (const { named, line } of result.calls) {
      if (!named.has('name')) continue;
      const label = labelOf(`:${textOf(named.get('name'))}`, folder);
      rules.set(label, { label, folder, place: `${file}:${line}`, named });
    }
  }
  // Files include each other by their paths from the top of the workspace.
  const top = '-I.';
  for (const { label, folder, place, named } of rules.values()) {
    const get = (name: string): string[] => textsOf(named.get(name) ?? []);
    const words = [top, ...get('copts'), ...get('local_defines').map((define) => `-D${define}`), ...inherited(label, rules)];
    const sources = [...get('srcs'), ...get('hdrs')].map((name) => name.replace(/^:/, ''));
    const units = unitsAmong(sources, folder, tree);
    // Paths of copts begin at the top, too.
    if (units.length > 0) reading.add(selectBuildFlags(words, '.', tree), units, label, place);
  }
  if (reading.commands.length === 0) reading.general.push([top]);
  return reading;
}

/** Definitions and include folders of a rule and of those that it depends on. */
function inherited(top: string, rules: ReadonlyMap<string, BazelRule>): string[] {
  const words: string[] = [];
  const seen = new Set<string>();
  const visit = (label: string): void => {
    const rule = rules.get(label);
    if (rule === undefined || seen.has(label)) return;
    seen.add(label);
    const get = (name: string): string[] => textsOf(rule.named.get(name) ?? []);
    words.push(...get('defines').map((define) => `-D${define}`));
    words.push(...get('includes').map((path) => `-I${posix.join(cmakePath(rule.folder), path)}`));
    for (const dependency of [...get('deps'), ...get('implementation_deps')]) visit(labelOf(dependency, rule.folder));
  };
  visit(top);
  return words;
}

/** A label with its folder: `:a` and `//x` become `//folder:a` and `//x:x`. */
function labelOf(label: string, folder: string): string {
  const place = folder === '.' ? '' : folder;
  if (!label.startsWith('//')) return `//${place}:${label.replace(/^:/, '')}`;
  return label.includes(':') ? label : `${label}:${posix.basename(label)}`;
}
