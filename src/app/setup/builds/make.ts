/**
 * Reads makefiles: variables, conditions, and the recipes that call nvcc. Of a condition that is decided, the branch
 * whose condition is true is read; of another one, only what its branches have in common counts.
 */
import { posix } from 'node:path';
import { shellWords } from '../../../toolchain/shell-words.ts';
import { mergedItems, runBranches } from './branches.ts';
import {
  GrowingReading,
  hasUnknown,
  literalDefinitions,
  placedPath,
  rootPath,
  selectBuildFlags,
  unknownText,
  type BuildReading,
  type BuildTree,
  type LeftOut,
} from './build-reading.ts';
import { globbed } from './cmake-commands.ts';
import { expandMake, stemOf, withVariables, type MakeContext } from './make-functions.ts';
import { makeOperands, parseMake, type MakeBranch, type MakeLine, type MakeNode } from './make-syntax.ts';

interface MakeVariable {
  readonly text: string;
  readonly isExpanded: boolean;
}

interface MakeRule {
  readonly targets: readonly string[];
  readonly prerequisites: readonly string[];
  /** References are replaced when the recipe runs. */
  readonly recipe: string[];
  readonly place: string;
}

interface MakeResult {
  readonly reading: BuildReading;
  /** A value with which a condition holds that adds objects of CUDA files. */
  readonly settings: ReadonlyMap<string, string>;
}

const mostIncludes = 30;

/** Variables that the environment of a workflow determines. */
const ofEnvironment = /^(?:HOME|PATH|PWD|USER|SHELL|TMPDIR|HOSTNAME|LD_LIBRARY_PATH|MAKEFILE_LIST|CUDA_PATH)$/;
/** Variables of make itself. */
const ofMake: Readonly<Record<string, string>> = {
  CC: 'cc',
  CXX: 'g++',
  CPP: 'cc -E',
  AR: 'ar',
  RM: 'rm -f',
  MAKE: 'make',
  MAKECMDGOALS: '',
};

/**
 * Reads the makefile of a folder. If objects of CUDA files are listed only under a condition, the variable of the
 * condition gets the value with which it holds.
 * @param tree its units are those that pattern rules may match
 * @param units those that explicit rules may name
 */
export function readMake(file: string, tree: BuildTree, units: readonly string[] = tree.units): BuildReading {
  const first = evaluate(file, tree, units, new Map());
  if (first.settings.size === 0) return first.reading;
  const second = evaluate(file, tree, units, first.settings);
  return { ...second.reading, switches: [...first.settings].map(([name, value]) => `${name}=${value}`) };
}

function evaluate(file: string, tree: BuildTree, named: readonly string[], settings: ReadonlyMap<string, string>): MakeResult {
  const folder = posix.dirname(file);
  const scope = { variables: new Map<string, MakeVariable>() };
  const rules: MakeRule[] = [];
  const reading = new GrowingReading();
  /** Definitions of branches that are not taken, with the variable that has them. */
  const skipped: { readonly variable: string; readonly remark: LeftOut }[] = [];
  const reported = new Set<string>();
  const wanted = new Map<string, string>();
  /** Names without ending of the CUDA files that a condition asks for. */
  const found = new Set<string>();
  /** Variables that the last expansion referred to, and those of all recipes with nvcc. */
  const used = new Set<string>();
  const relevant = new Set<string>();
  let openRule: MakeRule | undefined;
  let includes = 0;
  const stems = new Map(tree.units.map((unit) => [posix.basename(unit, '.cu'), unit]));

  const context: MakeContext = {
    folder,
    wildcard: (pattern) => globbed([pattern], folder, tree, false).map((path) => posix.relative(folder, path)),
    variable: (name) => {
      const set = settings.get(name);
      used.add(name);
      const found = set === undefined ? scope.variables.get(name) : { text: set, isExpanded: true };
      if (/^(?:\w*_)?NVCC$/i.test(name)) {
        // The path of the compiler is often the output of a program.
        const value = found === undefined ? '' : found.isExpanded ? found.text : expandMake(found.text, nothingElse(name));
        return value === '' || value.includes(unknownText) ? { text: 'nvcc', isExpanded: true } : found;
      }
      if (found !== undefined) return found;
      if (name === 'CURDIR') return { text: folder === '.' ? rootPath : `${rootPath}/${folder}`, isExpanded: true };
      const own = Object.hasOwn(ofMake, name) ? ofMake[name] : ofEnvironment.test(name) ? unknownText : undefined;
      return own === undefined ? undefined : { text: own, isExpanded: true };
    },
  };
  /** The context without a variable that refers to itself. */
  const nothingElse = (name: string): MakeContext => ({
    ...context,
    variable: (other) => (other === name ? undefined : context.variable(other)),
  });
  const expand = (text: string): string => expandMake(text, context);

  const run = (nodes: readonly MakeNode[], from: string): undefined => {
    for (const node of nodes) {
      if (node.kind === 'define') scope.variables.set(node.name, { text: node.text, isExpanded: false });
      else if (node.kind === 'line') readLine(node.line, from);
      else branch(node.branches, from);
    }
  };

  const branch = (branches: readonly MakeBranch[], from: string): void => {
    const conditions: string[] = [];
    runBranches(branches, scope, {
      truth: ({ condition }) => {
        conditions.push(condition ?? `not ${conditions.join(', not ')}`);
        return condition === undefined || truthOf(condition);
      },
      report: ({ condition, body }, isFalse) => {
        report(body, from, `if ${conditions.at(-1)!}`);
        if (isFalse) findSetting(body, condition ?? '', conditions.at(-1)!);
      },
      run: ({ body }) => run(body, from),
      merge: mergedVariable,
    });
  };

  const truthOf = (condition: string): boolean | undefined => {
    const [, word = '', rest = ''] = /^(\w+)\s*([^]*)$/.exec(condition) ?? [];
    if (word === 'ifdef' || word === 'ifndef') {
      const found = context.variable(expand(rest).trim());
      if (found?.text === unknownText) return undefined;
      return (found !== undefined && found.text !== '') === (word === 'ifdef');
    }
    const operands = makeOperands(rest)?.map(expand);
    if (operands === undefined) return undefined;
    const [left = '', right = ''] = operands;
    return hasUnknown(left, right) ? undefined : (left === right) === (word === 'ifeq');
  };

  /** Finds the value with which a branch with CUDA files is taken. */
  const findSetting = (body: readonly MakeNode[], condition: string, shown: string): void => {
    const [, variable, value] = /^ifeq\s*\(\s*\$[({](\w+)[)}]\s*,\s*(\w+)\s*\)$/.exec(condition) ?? [];
    if (variable === undefined || value === undefined || isOfOtherSystem(`if ${shown}`)) return;
    for (const node of body) {
      if (node.kind !== 'line') continue;
      const objects = node.line.text.split(/[\s=/]+/).flatMap((word) => /^(.+)\.(?:cu\.)?(?:o|obj|cu)$/.exec(word)?.[1] ?? []);
      if (objects.some((stem) => stems.has(stem) && !found.has(stem))) wanted.set(variable, value);
      objects.forEach((stem) => found.add(stem));
    }
  };

  const report = (body: readonly MakeNode[], from: string, reason: string): void => {
    if (isOfOtherSystem(reason)) return;
    for (const node of body) {
      if (node.kind === 'if')
        node.branches.forEach((one) => report(one.body, from, `if ${one.condition ?? `not ${node.branches[0]?.condition ?? ''}`}`));
      if (node.kind !== 'line') continue;
      const flags = literalDefinitions(node.line.text);
      const variable = /^\s*(?:override\s+|export\s+)*([\w.-]+)\s*(?:[:+?]|::)?=/.exec(node.line.text)?.[1] ?? '';
      if (flags.length > 0) skipped.push({ variable, remark: { place: `${from}:${node.line.line}`, flags, reason } });
    }
  };

  const readLine = ({ text, line, isTabbed }: MakeLine, from: string): void => {
    if (isTabbed && openRule !== undefined) return void openRule.recipe.push(text.trim());
    const trimmed = text.trim();
    const [, names] = /^(?:-|s)?include\s+(.+)$/.exec(trimmed) ?? [];
    if (names !== undefined) return expand(names).split(/\s+/).forEach(include);
    const assignment = /^((?:(?:override|export|private)\s+)*)([^\s:+?!=#]+)\s*(::?:?|\+|\?|!)?=\s*([^]*)$/.exec(trimmed);
    if (assignment) {
      openRule = undefined;
      return assign(expand(assignment[2]!), assignment[3] ?? '', assignment[4]!);
    }
    const [, path] = /^vpath\s+\S+\s+(.+)$/.exec(trimmed) ?? [];
    if (path !== undefined) return assign('VPATH', '+', path);
    const rule = /^([^:=]+?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?$/.exec(trimmed);
    if (!rule || /^(?:export|unexport|undefine)\b|^\$[({](?:eval|info|call|error|warning|foreach|shell|if)\b/.test(trimmed)) return;
    // A variable of one target has no effect on the others.
    if (/^\s*(?:(?:override|export|private)\s+)*[\w.-]+\s*(?:[:+?]|::)?=/.test(rule[2]!)) return;
    const listed = (value: string): string[] =>
      expand(value)
        .split(/\s+/)
        .filter((word) => word !== '' && word !== '|');
    const parts = rule[2]!.split(/:(?!=)/);
    const prerequisites = listed(parts.length > 1 ? parts.slice(1).join(':') : rule[2]!);
    openRule = {
      targets: listed(rule[1]!),
      prerequisites,
      recipe: rule[3] === undefined ? [] : [rule[3].trim()],
      place: `${from}:${line}`,
    };
    rules.push(openRule);
  };

  const assign = (name: string, operator: string, value: string): void => {
    if (settings.has(name)) return;
    const old = scope.variables.get(name);
    if (operator === '?' && (old !== undefined || Object.hasOwn(ofMake, name))) return;
    if (operator === '+') {
      const isExpanded = old?.isExpanded ?? false;
      const added = isExpanded ? expand(value) : value;
      scope.variables.set(name, { text: old === undefined || old.text === '' ? added : `${old.text} ${added}`, isExpanded });
    } else if (operator.startsWith(':')) scope.variables.set(name, { text: expand(value), isExpanded: true });
    else if (operator === '!') scope.variables.set(name, { text: unknownText, isExpanded: true });
    else scope.variables.set(name, { text: value, isExpanded: false });
  };

  const include = (name: string): void => {
    const path = placedPath(name, folder);
    const text = path === undefined ? undefined : tree.text(path);
    if (path === undefined || text === undefined || includes++ >= mostIncludes) return;
    run(parseMake(text), path);
  };

  run(parseMake(tree.text(file) ?? ''), file);

  // Recipes
  const units = new Set(named);
  const folders = [
    '',
    ...expand('$(VPATH)')
      .split(/[\s:]+/)
      .filter((word) => word !== ''),
  ];
  const unitOf = (name: string): string | undefined =>
    folders
      .map((one) => placedPath(name.startsWith('/') ? name : posix.join(one, name), folder))
      .find((path) => path !== undefined && units.has(path));
  /** The rules of a target may be spread: one with the recipe, others with further prerequisites. */
  const callOf = (rule: MakeRule, first: string, all: readonly string[], target: string, stem: string): void => {
    const automatic = new Map([
      ['<', first],
      ['^', all.join(' ')],
      ['+', all.join(' ')],
      ['?', all.join(' ')],
      ['@', target],
      ['*', stem],
    ]);
    for (const line of rule.recipe) {
      used.clear();
      const expanded = expandMake(line, withVariables(context, automatic)).replaceAll('\\\n', ' ');
      for (const part of expanded.split(/&&|\|\||;|\n/)) {
        const words = shellWords(part.trim().replace(/^[@+-]+/, '')) ?? part.trim().split(/\s+/);
        const at = words.findIndex((word) => /^nvcc(?:$|-|\.exe$)/.test(posix.basename(word)));
        if (at < 0) continue;
        used.forEach((name) => relevant.add(name));
        const compiled = words.slice(at + 1).flatMap((word) => unitOf(word) ?? []);
        const selected = selectBuildFlags(words.slice(at + 1), folder, tree);
        // Of several recipes for a unit the first one is taken.
        const open = compiled.every((unit) => reported.has(unit)) ? [] : selected.open;
        compiled.forEach((unit) => reported.add(unit));
        reading.add({ ...selected, open }, compiled, target, rule.place);
      }
    }
  };
  /** The part of the path of a unit that `%` matches, in the folder of the makefile or in one of `VPATH`. */
  const stemOfUnit = (unit: string, pattern: string): { readonly text: string } | undefined => {
    for (const place of folders) {
      const path = posix.relative(posix.join(folder, place), unit);
      const text = path.startsWith('../') && !pattern.startsWith('../') ? undefined : stemOf(path, pattern);
      if (text !== undefined && (folders.length === 1 || !text.includes('/'))) return { text };
    }
    return undefined;
  };
  const isPattern = ({ targets, prerequisites }: MakeRule): boolean =>
    [...targets, ...prerequisites].some((one) => one.includes('%')) || isSuffixRule(targets);
  // A rule with the name of the file precedes a pattern.
  for (const rule of rules.filter((one) => !isPattern(one)))
    callOf(rule, rule.prerequisites[0] ?? '', rule.prerequisites, rule.targets[0] ?? '', '');
  const explicit = new Set(reported);
  for (const rule of rules.filter(isPattern)) {
    const pattern = isSuffixRule(rule.targets) ? '%.cu' : rule.prerequisites.find((one) => one.endsWith('.cu'));
    if (pattern === undefined) continue;
    for (const unit of tree.units) {
      const stem = explicit.has(unit) ? undefined : stemOfUnit(unit, posix.normalize(pattern));
      if (stem === undefined) continue;
      const path = pattern.replace('%', stem.text);
      callOf(rule, path, [path], (rule.targets[0] ?? '').replace('%', stem.text), stem.text);
    }
  }
  if (reading.commands.length === 0 && reading.general.length === 0) {
    for (const name of scope.variables.keys()) {
      if (/^NV(?:CC|CU)\w*FLAGS$|^CUDA_?FLAGS$/i.test(name))
        reading.add(selectBuildFlags(expand(`$(${name})`).split(/\s+/), folder, tree), [], '', file);
    }
  }
  reading.leftOut.unshift(...skipped.flatMap(({ variable, remark }) => (relevant.has(variable) ? [remark] : [])));
  return { reading, settings: wanted };
}

/** Whether a rule has the old form of a pattern: `.cu.o:`. */
function isSuffixRule(targets: readonly string[]): boolean {
  return targets.length === 1 && /^\.cu(?:\.\w+)?$/.test(targets[0]!);
}

/** A variable after one of several paths. */
function mergedVariable(values: readonly (MakeVariable | undefined)[]): MakeVariable {
  const [first] = values;
  if (first !== undefined && values.every((value) => value?.text === first.text && value.isExpanded === first.isExpanded)) return first;
  const lists = values.map((value) => (value?.text ?? '').split(/\s+/).filter((word) => word !== ''));
  return {
    text: lists.reduce((one, other) => mergedItems(one, other, unknownText)).join(' '),
    isExpanded: values.every((value) => value === undefined || value.isExpanded),
  };
}

/** Whether a condition holds only on a system other than that of the workflow. */
function isOfOtherSystem(reason: string): boolean {
  const isNegated = /^if not\b/.test(reason) !== /\bifn(?:eq|def)\b/.test(reason);
  return !isNegated && /Windows|Darwin|MINGW|CYGWIN|HIP|ROCM|aarch64|arm64/i.test(reason);
}
