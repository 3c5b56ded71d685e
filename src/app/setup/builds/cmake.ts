/** Reads the CMake projects of a repository. */
import { posix } from 'node:path';
import type { BuildReading, BuildTree } from './build-reading.ts';
import { evaluateCMake, type CMakeEvaluation } from './cmake-evaluator.ts';
import { cmakeCommands } from './cmake-model.ts';

/** Most evaluations of a project: a file that a setting reaches may ask for further settings. */
const mostEvaluations = 4;

/**
 * Reads the projects whose topmost file is one of `files`. CUDA files that only other values of variables reach are read
 * with these values.
 * @param files paths of `CMakeLists.txt`, the topmost ones first
 */
export function readCMake(files: readonly string[], tree: BuildTree): BuildReading[] {
  const readings: BuildReading[] = [];
  const read = new Set<string>();
  const compiled = new Set<string>();
  for (const file of files) {
    const folder = posix.dirname(file);
    const isTop = readings.length === 0 || /^\s*project\s*\(/im.test(tree.text(file) ?? '');
    if (read.has(folder) || !isTop) continue;
    const first = evaluateCMake(folder, tree, new Map());
    const whole = withSettings(folder, tree, first, compiled, read);
    // A project inside of another one only adds files that the outer one leaves out.
    const commands = whole.commands.filter(({ unit }) => !compiled.has(unit));
    if (commands.length > 0 || readings.length === 0) readings.push({ ...whole, commands });
    for (const { unit } of commands) compiled.add(unit);
  }
  return readings;
}

/** @param known units that an outer project compiles */
function withSettings(
  folder: string,
  tree: BuildTree,
  first: CMakeEvaluation,
  known: ReadonlySet<string>,
  read: Set<string>,
): BuildReading {
  for (const one of first.folders) read.add(one);
  let reading = cmakeCommands(first, tree);
  let { skipped } = first;
  const settings = new Map<string, string>();
  for (let count = 1; count < mostEvaluations; count++) {
    const compiled = new Set([...known, ...reading.commands.map(({ unit }) => unit)]);
    const tried = new Map(settings);
    for (const { units, settings: asked } of skipped) {
      if (units.every((unit) => compiled.has(unit))) continue;
      for (const [name, value] of asked) if (!tried.has(name)) tried.set(name, value);
    }
    if (tried.size === settings.size) break;
    const again = evaluateCMake(folder, tree, tried);
    const second = cmakeCommands(again, tree);
    const reached = new Set(second.commands.flatMap(({ unit }) => (compiled.has(unit) ? [] : [unit])));
    for (const [name, value] of tried) settings.set(name, value);
    ({ skipped } = again);
    if (reached.size === 0) continue;
    for (const one of again.folders) read.add(one);
    const useful = [...settings].filter(([name]) =>
      [...first.skipped, ...again.skipped, ...skipped].some((one) => one.settings.has(name) && one.units.some((unit) => reached.has(unit))),
    );
    reading = {
      ...second,
      commands: [...reading.commands, ...second.commands.filter(({ unit }) => reached.has(unit))],
      switches: [...new Set([...reading.switches, ...useful.map(([name, value]) => `${name}=${value}`)])],
    };
  }
  return reading;
}
