/** Reads the packages of Bazel: rules with CUDA files, and what they inherit from the rules that they depend on. */
import { posix } from 'node:path';
import { placedPath, selectBuildFlags, type BuildReading, type BuildTree, type UnitCommand } from './build-reading.ts';
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
  const leftOut: BuildReading['leftOut'][number][] = [];
  for (const file of files.filter((path) => /^BUILD/.test(posix.basename(path)))) {
    const folder = posix.dirname(file);
    const result = runPython(file, tree);
    leftOut.push(...result.leftOut);
    for (const { named, line } of result.calls) {
      if (!named.has('name')) continue;
      const label = labelOf(`:${textOf(named.get('name'))}`, folder);
      rules.set(label, { label, folder, place: `${file}:${line}`, named });
    }
  }
  const commands: UnitCommand[] = [];
  const architectures: number[] = [];
  const general: string[][] = [];
  // Files include each other by their paths from the top of the workspace.
  const top = '-I.';
  for (const rule of rules.values()) {
    const get = (name: string): string[] => textsOf(rule.named.get(name) ?? []);
    const words = [top, ...get('copts'), ...get('local_defines').map((define) => `-D${define}`), ...inherited(rule, rules)];
    // Paths of copts begin at the top, too.
    const selected = selectBuildFlags(words, '.', tree);
    const sources = [...get('srcs'), ...get('hdrs')].flatMap((name) => placedPath(name.replace(/^:/, ''), rule.folder) ?? []);
    const units = sources.filter((path) => tree.units.includes(path));
    if (units.length > 0) architectures.push(...selected.architectures);
    for (const unit of units) commands.push({ unit, flags: selected.flags, target: rule.label, place: rule.place });
    if (units.length > 0 && selected.open.length > 0)
      leftOut.push({ place: rule.place, flags: selected.open, reason: 'the value is not known here' });
  }
  if (commands.length === 0) general.push([top]);
  return { commands, general, architectures, leftOut, switches: [] };
}

/** Definitions and include folders of a rule and of those that it depends on. */
function inherited(rule: BazelRule, rules: ReadonlyMap<string, BazelRule>): string[] {
  const words: string[] = [];
  const seen = new Set<string>();
  const visit = ({ label, folder, named }: BazelRule): void => {
    if (seen.has(label)) return;
    seen.add(label);
    const get = (name: string): string[] => textsOf(named.get(name) ?? []);
    words.push(...get('defines').map((define) => `-D${define}`));
    words.push(...get('includes').map((path) => `-I${posix.join(cmakePath(folder), path)}`));
    for (const dependency of [...get('deps'), ...get('implementation_deps')]) {
      const found = rules.get(labelOf(dependency, folder));
      if (found !== undefined) visit(found);
    }
  };
  visit(rule);
  return words;
}

/** A label with its folder: `:a` and `//x` become `//folder:a` and `//x:x`. */
function labelOf(label: string, folder: string): string {
  const place = folder === '.' ? '' : folder;
  if (!label.startsWith('//')) return `//${place}:${label.replace(/^:/, '')}`;
  return label.includes(':') ? label : `${label}:${posix.basename(label)}`;
}
