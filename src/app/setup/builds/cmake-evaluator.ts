/**
 * Evaluates the part of CMake that decides about flags: variables, conditions, loops, functions, targets. A command
 * that is not on the list has an unknown effect: variables that it names get an unknown value.
 */
import { posix } from 'node:path';
import { mergedItems, runBranches, type Branch } from './branches.ts';
import { rootPath, unknownText, type BuildTree } from './build-reading.ts';
import {
  fileCommand,
  filenameCommand,
  forgetNamed,
  globbed,
  itemsOf,
  listCommand,
  parseArgumentsCommand,
  stringCommand,
} from './cmake-commands.ts';
import { conditionTruth } from './cmake-expression.ts';
import {
  cmakePath,
  definitionsIn,
  folderOfPath,
  noRequirements,
  cmakePlace,
  type CMakeDirectory,
  type CMakeItem,
  type CMakeProject,
  type CMakeTarget,
  type RequirementKind,
} from './cmake-model.ts';
import { parseCMake, type CMakeArgument, type CMakeCommand, type CMakeNode } from './cmake-syntax.ts';

/** CUDA files that are compiled only if variables have other values. */
interface SkippedUnits {
  readonly units: readonly string[];
  /** The values that reach them. */
  readonly settings: ReadonlyMap<string, string>;
}

export interface CMakeEvaluation extends CMakeProject {
  /** Folders whose `CMakeLists.txt` was read. */
  readonly folders: ReadonlySet<string>;
  readonly skipped: readonly SkippedUnits[];
}

/** Most commands that are executed, and the deepest nesting of functions and files. */
const mostCommands = 200_000;
const deepest = 40;

/** Commands without an effect on the flags of a file. */
const withoutEffect =
  /^(?:message|install|export|enable_testing|add_test|target_link_directories|link_directories|link_libraries|add_dependencies|add_custom_command|add_custom_target|source_group|set_tests_properties|cmake_minimum_required|cmake_policy|enable_language|mark_as_advanced|configure_file|include_guard|add_link_options|target_link_options|target_precompile_headers|write_basic_package_version_file|configure_package_config_file|set_source_files_properties|fetchcontent_declare|define_property)$/;

const targetCommands =
  /^(?:add_executable|add_library|cuda_add_executable|cuda_add_library|pybind11_add_module|nanobind_add_module|python_add_library|python3_add_library)$/;

const requirementOf: Readonly<Record<string, RequirementKind>> = {
  target_compile_definitions: 'definitions',
  target_include_directories: 'includes',
  target_compile_options: 'options',
  target_compile_features: 'features',
  add_compile_definitions: 'definitions',
  include_directories: 'includes',
  cuda_include_directories: 'includes',
  add_compile_options: 'options',
  add_definitions: 'options',
};

const propertyKinds: Readonly<Record<string, RequirementKind>> = {
  COMPILE_DEFINITIONS: 'definitions',
  INCLUDE_DIRECTORIES: 'includes',
  COMPILE_OPTIONS: 'options',
  COMPILE_FEATURES: 'features',
};

/** Properties that targets take from variables when they are made. */
const initialProperties = ['CUDA_STANDARD', 'CXX_STANDARD', 'CUDA_SEPARABLE_COMPILATION', 'CUDA_ARCHITECTURES'];

type Ending = 'return' | 'break' | undefined;

interface CMakeFunction {
  readonly parameters: readonly string[];
  readonly body: readonly CMakeNode[];
  readonly isMacro: boolean;
  readonly file: string;
}

/** Everything that a nested file or function changes for its duration. */
interface Frame {
  variables: Map<string, string>;
  readonly parent: Frame | undefined;
  readonly directory: CMakeDirectory;
  /** Path of the file that is read. */
  readonly file: string;
}

/**
 * Evaluates a project.
 * @param folder of its topmost `CMakeLists.txt`
 * @param settings variables that the user would set with `-D`
 */
export function evaluateCMake(folder: string, tree: BuildTree, settings: ReadonlyMap<string, string>): CMakeEvaluation {
  const evaluation = new Evaluation(folder, tree, settings);
  evaluation.readFolder(folder, undefined);
  return evaluation;
}

class Evaluation implements CMakeEvaluation {
  readonly targets = new Map<string, CMakeTarget>();
  readonly directories: CMakeDirectory[] = [];
  readonly leftOut: { place: string; flags: readonly string[]; reason: string }[] = [];
  readonly folders = new Set<string>();
  readonly skipped: SkippedUnits[] = [];
  private readonly functions = new Map<string, CMakeFunction>();
  private readonly parsed = new Map<string, readonly CMakeNode[]>();
  /** Prefixes of variables that packages define. */
  private readonly packages: string[] = [];
  /** Undecided conditions around the current command. */
  private readonly reasons: string[] = [];
  private readonly builtIn: ReadonlyMap<string, string>;
  private count = 0;
  private depth = 0;
  private line = 0;
  private frame!: Frame;
  private readonly tree: BuildTree;
  private readonly settings: ReadonlyMap<string, string>;

  constructor(folder: string, tree: BuildTree, settings: ReadonlyMap<string, string>) {
    this.tree = tree;
    this.settings = settings;
    this.builtIn = new Map([
      ['CMAKE_SOURCE_DIR', cmakePath(folder)],
      ['CMAKE_HOME_DIRECTORY', cmakePath(folder)],
      ['UNIX', '1'],
      ['LINUX', '1'],
      ['CMAKE_SYSTEM_NAME', 'Linux'],
      ['CMAKE_HOST_SYSTEM_NAME', 'Linux'],
      ['CMAKE_SYSTEM_PROCESSOR', 'x86_64'],
      ['CMAKE_SIZEOF_VOID_P', '8'],
      ['CMAKE_VERSION', '3.31.0'],
      ['CMAKE_CXX_COMPILER_ID', 'GNU'],
      ['CMAKE_C_COMPILER_ID', 'GNU'],
      ['CMAKE_COMPILER_IS_GNUCXX', '1'],
      ['CMAKE_CUDA_COMPILER_ID', 'NVIDIA'],
      ['CMAKE_CUDA_COMPILER', '/usr/local/cuda/bin/nvcc'],
      ['CMAKE_CUDA_COMPILER_LOADED', '1'],
      ['CUDA_FOUND', 'TRUE'],
      ['CUDAToolkit_FOUND', 'TRUE'],
      ['CMAKE_CUDA_COMPILER_VERSION', `${tree.toolkit}.0`],
      ['CUDAToolkit_VERSION', `${tree.toolkit}.0`],
      ['CUDAToolkit_VERSION_MAJOR', tree.toolkit.replace(/\..*/, '')],
      ['CUDA_VERSION', tree.toolkit],
      ['CUDA_VERSION_MAJOR', tree.toolkit.replace(/\..*/, '')],
      ['CUDA_VERSION_STRING', tree.toolkit],
    ]);
  }

  /** Reads the `CMakeLists.txt` of a folder. */
  readFolder(folder: string, parent: CMakeDirectory | undefined): void {
    const file = posix.join(folder, 'CMakeLists.txt');
    const nodes = this.nodesOf(file);
    if (nodes === undefined || this.depth >= deepest) return;
    this.folders.add(folder);
    const directory: CMakeDirectory = {
      folder,
      own: noRequirements(),
      parent,
      reasons: [...this.reasons],
      variables: new Map(),
    };
    for (const kind of Object.keys(directory.own) as RequirementKind[]) directory.own[kind].push(...(parent?.own[kind] ?? []));
    this.directories.push(directory);
    const outer = this.frame as Frame | undefined;
    const variables = new Map(outer?.variables ?? this.settings);
    for (const name of ['CMAKE_CURRENT_SOURCE_DIR', 'CMAKE_CURRENT_LIST_DIR']) variables.set(name, cmakePath(folder));
    if (parent === undefined) variables.set('PROJECT_SOURCE_DIR', cmakePath(folder));
    this.frame = { variables, parent: outer, directory, file };
    this.depth++;
    this.run(nodes);
    this.depth--;
    directory.variables = this.frame.variables;
    if (outer !== undefined) this.frame = outer;
  }

  private nodesOf(file: string): readonly CMakeNode[] | undefined {
    const known = this.parsed.get(file);
    if (known !== undefined) return known;
    const text = this.tree.text(file);
    if (text === undefined) return undefined;
    const nodes = parseCMake(text);
    this.parsed.set(file, nodes);
    return nodes;
  }

  private run(nodes: readonly CMakeNode[]): Ending {
    for (const node of nodes) {
      if (++this.count > mostCommands) return 'return';
      const ending =
        node.kind === 'command'
          ? this.command(node.command)
          : node.kind === 'if'
            ? this.branch(node.branches)
            : this.block(node.command, node.body);
      if (ending !== undefined) return ending;
    }
    return undefined;
  }

  // Variables

  private get(name: string): string | undefined {
    const value = this.frame.variables.get(name) ?? this.builtIn.get(name);
    if (value !== undefined) return value;
    if (this.packages.some((prefix) => name.startsWith(prefix))) return unknownText;
    if (/_BINARY_DIR$/.test(name)) return `/${unknownText}`;
    return /^CMAKE_(?:.*(?:COMPILER|IMPLICIT|TOOLKIT|INSTALL|HOST|MATCH).*|ROOT|COMMAND|GENERATOR)$/.test(name) ||
      /^CUDA_(?:TOOLKIT|INCLUDE|LIBRARIES|CUDART)/.test(name)
      ? unknownText
      : undefined;
  }

  private readonly variables = {
    get: (name: string): string | undefined => this.get(name),
    set: (name: string, value: string): void => void this.frame.variables.set(name, value),
  };

  /** Replaces references to variables. */
  private expand({ text, form }: CMakeArgument): string {
    if (form === 'bracket') return text;
    let at = 0;
    const until = (end: string): string => {
      let result = '';
      while (at < text.length && text[at] !== end) {
        const [reference, kind] = /^\$(ENV|CACHE)?\{/.exec(text.slice(at, at + 7)) ?? [];
        if (reference !== undefined) {
          at += reference.length;
          const name = until('}');
          at++;
          result += kind === 'ENV' ? unknownText : (this.get(name) ?? '');
        } else if (text[at] === '\\' && at + 1 < text.length) {
          const next = text[at + 1]!;
          result += next === 'n' ? '\n' : next === 't' ? '\t' : next === ';' ? '\\;' : next;
          at += 2;
        } else result += text[at++];
      }
      return result;
    };
    return until('');
  }

  /** The arguments of a command: lists without quotes become several arguments. */
  private expanded(words: readonly CMakeArgument[]): CMakeArgument[] {
    return words.flatMap((word): CMakeArgument[] => {
      const text = this.expand(word);
      if (word.form !== 'plain') return [{ text, form: word.form }];
      return text
        .split(';')
        .filter((item) => item !== '')
        .map((item) => ({ text: item, form: 'plain' }));
    });
  }

  private texts(words: readonly CMakeArgument[]): string[] {
    return this.expanded(words).map(({ text }) => text);
  }

  private item(text: string): CMakeItem {
    return { text, place: this.place(), reasons: [...this.reasons] };
  }

  private place(): string {
    return cmakePlace('.', this.frame.file, this.line);
  }

  // Control flow

  private branch(branches: readonly Branch<CMakeCommand, CMakeNode>[]): Ending {
    const conditions: string[] = [];
    let words: readonly CMakeArgument[] = [];
    let reason = '';
    return runBranches(branches, this.frame, {
      truth: ({ condition }) => {
        words = condition === undefined ? [] : this.expanded(condition.words);
        conditions.push(condition === undefined ? `not (${conditions.join(' or ')})` : shownCondition(condition, words));
        reason = `if ${conditions.at(-1)!}`;
        return condition === undefined || this.truth(words);
      },
      // Definitions of a target that is made here do apply, and are not reported in the end.
      report: ({ body }, isFalse) => this.reportSkipped(body, isFalse ? words : [], reason),
      run: ({ body }, isOpen) => {
        if (!isOpen) return this.run(body);
        this.reasons.push(reason);
        this.run(body);
        this.reasons.pop();
        return undefined;
      },
      merge: (values) =>
        values
          .map(itemsOf)
          .reduce((one, other) => mergedItems(one, other, unknownText))
          .join(';'),
    });
  }

  private truth(words: readonly CMakeArgument[]): boolean | undefined {
    const inside = (path: string, has: (placed: string) => boolean): boolean | undefined => {
      const placed = folderOfPath(path, this.frame.directory.folder);
      return placed === undefined ? undefined : placed === '.' || has(placed);
    };
    return conditionTruth(words, {
      variable: (name) => this.get(name),
      setMatches: (groups) => groups.forEach((group, at) => this.variables.set(`CMAKE_MATCH_${at}`, group)),
      isTarget: (name) => this.targets.has(name),
      isCommand: (name) => this.functions.has(name.toLowerCase()),
      exists: (path) => inside(path, (placed) => this.tree.isFile(placed) || this.tree.isFolder(placed)),
      isFolder: (path) => inside(path, (placed) => this.tree.isFolder(placed)),
    });
  }

  /**
   * Records the definitions and the CUDA files of a branch that is not taken.
   * @param words of a condition with which it would be taken
   */
  private reportSkipped(body: readonly CMakeNode[], words: readonly CMakeArgument[], reason: string): void {
    if (isOfOtherSystem(reason)) return;
    const units = new Set<string>();
    const { folder } = this.frame.directory;
    const outer = this.frame.variables;
    this.frame.variables = new Map(outer);
    const visit = (nodes: readonly CMakeNode[]): void => {
      for (const node of nodes) {
        const isPure =
          node.kind === 'command' &&
          /^(?:set|string|list|file|get_filename_component)$/.test(node.command.name) &&
          node.command.words.at(-1)?.text !== 'PARENT_SCOPE';
        if (isPure) this.command(node.command);
        if (node.kind === 'if') node.branches.forEach((one) => visit(one.body));
        else if (node.kind === 'block') visit(node.body);
        if (node.kind !== 'command') continue;
        const { name, line, words: written } = node.command;
        const texts = this.texts(written);
        const flags = definitionsIn(name, texts);
        if (flags.length > 0) this.leftOut.push({ place: cmakePlace('.', this.frame.file, line), flags, reason });
        if (name === 'add_subdirectory' && (texts[0] ?? '') !== '') {
          const child = folderOfPath(texts[0] ?? '', folder);
          if (child !== undefined) for (const unit of this.tree.units) if (unit.startsWith(`${child}/`)) units.add(unit);
        }
        for (const unit of globbed(
          texts.filter((text) => text.endsWith('.cu')),
          folder,
          this.tree,
          name === 'file' && texts[0] === 'GLOB_RECURSE',
        ))
          units.add(unit);
      }
    };
    visit(body);
    this.frame.variables = outer;
    const settings = settingsFor(words);
    if (units.size > 0 && settings.size > 0) this.skipped.push({ units: [...units], settings });
  }

  private block(command: CMakeCommand, body: readonly CMakeNode[]): Ending {
    const [first = '', ...others] = this.texts(command.words);
    if (command.name === 'function' || command.name === 'macro') {
      this.functions.set(first.toLowerCase(), { parameters: others, body, isMacro: command.name === 'macro', file: this.frame.file });
      return undefined;
    }
    if (command.name === 'while') {
      this.reasons.push(`while ${shownCondition(command)}`);
      this.run(body);
      this.reasons.pop();
      return undefined;
    }
    for (const item of this.loopItems(others)) {
      this.frame.variables.set(first, item);
      const ending = this.run(body);
      if (ending === 'return') return ending;
      if (ending === 'break' || this.count > mostCommands) break;
    }
    return undefined;
  }

  private loopItems(words: readonly string[]): readonly string[] {
    const [kind, ...others] = words;
    if (kind === 'RANGE') {
      const [start = 0, stop, step = 1] = others.length === 1 ? [0, Number(others[0])] : others.map(Number);
      const range: string[] = [];
      for (let at = start; at <= (stop ?? -1) && range.length < 1000 && step > 0; at += step) range.push(String(at));
      return range;
    }
    if (kind !== 'IN') return words;
    let isName = false;
    return others.flatMap((word) => {
      if (word === 'LISTS' || word === 'ITEMS') {
        isName = word === 'LISTS';
        return [];
      }
      return isName ? itemsOf(this.get(word)).filter((item) => item !== '') : [word];
    });
  }

  // Commands

  private command({ name, words: written, line }: CMakeCommand): Ending {
    this.line = line;
    if (name === 'return') return this.reasons.length > 0 ? undefined : 'return';
    if (name === 'break') return 'break';
    if (withoutEffect.test(name)) return undefined;
    const words = this.texts(written);
    const defined = this.functions.get(name);
    const requirement = requirementOf[name];
    if (defined !== undefined) this.call(defined, words);
    else if (targetCommands.test(name)) this.addTarget(name, words);
    else if (requirement !== undefined) this.require(name, requirement, words);
    else if (Object.hasOwn(this.commands, name)) this.commands[name]!(words);
    else forgetNamed(words, this.variables);
    return undefined;
  }

  private readonly commands: Readonly<Record<string, (words: readonly string[]) => void>> = {
    set: (words) => this.setVariable(words),
    unset: ([name = '']) => void this.frame.variables.delete(name),
    option: ([name = '', , value = 'OFF']) => this.setCache(name, value),
    list: (words) => listCommand(words, this.variables),
    string: (words) => stringCommand(words, this.variables),
    file: (words) => fileCommand(words, this.variables, this.frame.directory.folder, this.tree),
    aux_source_directory: ([folder = '.', result = '']) => this.commands['file']!(['GLOB', result, posix.join(folder, '*')]),
    get_filename_component: (words) => filenameCommand(words, this.variables, this.frame.directory.folder),
    cmake_parse_arguments: (words) => parseArgumentsCommand(words, this.variables),
    project: ([name = '']) => this.setProject(name),
    add_subdirectory: ([path = '']) => this.addFolder(path),
    include: ([name = '']) => this.includeFile(name),
    target_sources: (words) => this.addSources(words),
    target_link_libraries: (words) => this.link(words),
    set_target_properties: (words) => this.setProperties(words, false),
    set_property: (words) => this.setProperties(words, true),
    find_package: ([name = '']) =>
      void this.packages.push(...[name, name.toUpperCase()].filter((one) => one !== '' && one !== 'CUDA').map((one) => `${one}_`)),
    fetchcontent_makeavailable: (words) => void this.packages.push(...words.map((one) => `${one.toLowerCase()}_`)),
    // A program that looks for a GPU finds none where Selvage runs.
    try_run: (words) => words.slice(0, 2).forEach((one) => this.variables.set(one, 'FAILED_TO_RUN')),
    get_directory_property: (words) => {
      if (words.at(-1) !== 'PARENT_DIRECTORY') return forgetNamed(words, this.variables);
      const { parent } = this.frame.directory;
      this.variables.set(words[0] ?? '', parent === undefined ? '' : cmakePath(parent.folder));
    },
  };

  private setVariable([name = '', ...words]: readonly string[]): void {
    if (name.startsWith('ENV{')) return;
    const cache = words.indexOf('CACHE');
    if (cache >= 0) return this.setCache(name, words.slice(0, cache).join(';'), words.includes('FORCE'));
    const isForParent = words.at(-1) === 'PARENT_SCOPE';
    const values = isForParent ? words.slice(0, -1) : words;
    const target = isForParent ? this.frame.parent?.variables : this.frame.variables;
    if (target === undefined) return;
    if (values.length === 0) target.delete(name);
    // The frame of a caller is not restored after an undecided branch.
    else if (isForParent && this.reasons.length > 0)
      target.set(name, mergedItems((target.get(name) ?? '').split(';'), values.join(';').split(';'), unknownText).join(';'));
    else target.set(name, values.join(';'));
  }

  private setCache(name: string, value: string, isForced = false): void {
    if (isForced || this.get(name) === undefined) this.frame.variables.set(name, value);
  }

  private setProject(name: string): void {
    const { folder } = this.frame.directory;
    for (const one of ['PROJECT_SOURCE_DIR', `${name}_SOURCE_DIR`]) this.variables.set(one, cmakePath(folder));
    this.variables.set('PROJECT_NAME', name);
    if (this.get('CMAKE_PROJECT_NAME') === undefined) this.variables.set('CMAKE_PROJECT_NAME', name);
  }

  private addFolder(path: string): void {
    const folder = folderOfPath(path, this.frame.directory.folder);
    if (folder !== undefined && !this.folders.has(folder)) this.readFolder(folder, this.frame.directory);
  }

  private includeFile(name: string): void {
    const { directory, variables, parent } = this.frame;
    const modules = (this.get('CMAKE_MODULE_PATH') ?? '').split(';').map((folder) => `${folder}/${name}.cmake`);
    const found = [name, ...modules].flatMap((path) => folderOfPath(path, directory.folder) ?? []).find((path) => this.tree.isFile(path));
    const nodes = found === undefined ? undefined : this.nodesOf(found);
    if (found === undefined || nodes === undefined || this.depth >= deepest) return;
    const outer = this.frame;
    const place = this.get('CMAKE_CURRENT_LIST_DIR');
    variables.set('CMAKE_CURRENT_LIST_DIR', cmakePath(posix.dirname(found)));
    this.frame = { variables, parent, directory, file: found };
    this.depth++;
    this.run(nodes);
    this.depth--;
    outer.variables = this.frame.variables;
    this.frame = outer;
    if (place !== undefined) this.variables.set('CMAKE_CURRENT_LIST_DIR', place);
  }

  private call({ parameters, body, isMacro, file }: CMakeFunction, words: readonly string[]): void {
    if (this.depth >= deepest) return;
    const outer = this.frame;
    const variables = isMacro ? outer.variables : new Map(outer.variables);
    parameters.forEach((parameter, at) => variables.set(parameter, words[at] ?? ''));
    words.forEach((word, at) => variables.set(`ARGV${at}`, word));
    variables.set('ARGC', String(words.length));
    variables.set('ARGV', words.join(';'));
    variables.set('ARGN', words.slice(parameters.length).join(';'));
    this.frame = { variables, parent: isMacro ? outer.parent : outer, directory: outer.directory, file };
    this.depth++;
    this.run(body);
    this.depth--;
    if (isMacro) outer.variables = this.frame.variables;
    this.frame = outer;
  }

  // Targets

  private addTarget(command: string, [name = '', ...words]: readonly string[]): void {
    const aliased = words[0] === 'ALIAS' ? this.targets.get(words[1] ?? '') : undefined;
    if (aliased !== undefined) return void this.targets.set(name, aliased);
    const kinds =
      /^(?:STATIC|SHARED|MODULE|OBJECT|INTERFACE|UNKNOWN|IMPORTED|GLOBAL|EXCLUDE_FROM_ALL|WIN32|MACOSX_BUNDLE|OPTIONS|THIN_LTO|NO_EXTRAS|SYSTEM|NB_STATIC|STABLE_ABI|WITH_SOABI)$/;
    const options = command.startsWith('cuda_') ? words.indexOf('OPTIONS') : -1;
    const sources = options < 0 ? words : words.slice(0, options);
    const properties = new Map<string, string>();
    for (const property of initialProperties) {
      const value = this.get(`CMAKE_${property}`);
      if (value !== undefined) properties.set(property, value);
    }
    const target: CMakeTarget = {
      name,
      place: this.place(),
      directory: this.frame.directory,
      reasons: [...this.reasons],
      sources: sources.filter((word) => !kinds.test(word)).map((word) => this.item(word)),
      own: noRequirements(),
      passedOn: noRequirements(),
      links: [],
      properties,
      isOfFindCuda: command.startsWith('cuda_'),
    };
    if (options >= 0) target.own.options.push(...words.slice(options + 1).map((word) => this.item(word)));
    this.targets.set(name, target);
  }

  private addSources([name = '', ...words]: readonly string[]): void {
    const target = this.targets.get(name);
    if (target === undefined) return;
    // Paths are relative to this folder, which may be below that of the target.
    const folder = cmakePath(this.frame.directory.folder);
    for (const word of words.filter((one) => !/^(?:PRIVATE|PUBLIC|INTERFACE|FILE_SET|BASE_DIRS|FILES|HEADERS)$/.test(one)))
      target.sources.push(this.item(/^[/$]/.test(word) ? word : `${folder}/${word}`));
  }

  private require(command: string, kind: RequirementKind, words: readonly string[]): void {
    const isOfTarget = command.startsWith('target_');
    const target = isOfTarget ? this.targets.get(words[0] ?? '') : undefined;
    if (isOfTarget && target === undefined) return;
    let scope = 'PUBLIC';
    for (const word of isOfTarget ? words.slice(1) : words) {
      if (/^(?:PRIVATE|PUBLIC|INTERFACE)$/.test(word)) scope = word;
      if (/^(?:PRIVATE|PUBLIC|INTERFACE|SYSTEM|BEFORE|AFTER)$/.test(word)) continue;
      const item = this.item(kind === 'includes' ? this.absolute(word) : word);
      if (target === undefined) this.frame.directory.own[kind].push(item);
      else {
        if (scope !== 'INTERFACE') target.own[kind].push(item);
        if (scope !== 'PRIVATE') target.passedOn[kind].push(item);
      }
    }
  }

  /** An include folder of the current folder; generator expressions keep their text. */
  private absolute(word: string): string {
    const folder = cmakePath(this.frame.directory.folder);
    const inner = /^(\$<BUILD_INTERFACE:)(?![/$])(.*)$/.exec(word);
    if (inner) return `${inner[1]}${folder}/${inner[2]}`;
    return /^[/$-]/.test(word) || word.startsWith(unknownText) ? word : `${folder}/${word}`;
  }

  private link([name = '', ...words]: readonly string[]): void {
    const target = this.targets.get(name);
    let scope: 'PRIVATE' | 'PUBLIC' | 'INTERFACE' = 'PUBLIC';
    for (const word of words) {
      if (/^(?:LINK_)?(?:PRIVATE|PUBLIC)$|^(?:LINK_)?INTERFACE(?:_LIBRARIES)?$/.test(word))
        scope = word.includes('PRIVATE') ? 'PRIVATE' : word.includes('PUBLIC') ? 'PUBLIC' : 'INTERFACE';
      else target?.links.push({ item: this.item(word), scope });
    }
  }

  private setProperties(words: readonly string[], isOne: boolean): void {
    const at = words.indexOf(isOne ? 'PROPERTY' : 'PROPERTIES');
    if (at < 0) return;
    const names = isOne ? (words[0] === 'TARGET' ? words.slice(1, at) : []) : words.slice(0, at);
    const given = words.slice(at + 1);
    const pairs = isOne
      ? [[given[0] ?? '', given.slice(1).join(';')]]
      : given.flatMap((key, index) => (index % 2 === 0 ? [[key, given[index + 1] ?? '']] : []));
    for (const [property = '', value = ''] of pairs) {
      const kind = propertyKinds[property.replace(/^INTERFACE_/, '')];
      // The architectures of a target that is defined elsewhere count, too.
      if (property === 'CUDA_ARCHITECTURES' && names.every((name) => !this.targets.has(name)))
        this.variables.set('CMAKE_CUDA_ARCHITECTURES', value);
      for (const target of names.flatMap((name) => this.targets.get(name) ?? [])) {
        if (kind === undefined) target.properties.set(property, value);
        else {
          const items = value.split(';').map((text) => this.item(kind === 'includes' ? this.absolute(text) : text));
          (property.startsWith('INTERFACE_') ? target.passedOn : target.own)[kind].push(...items);
        }
      }
    }
  }
}

/** Whether a condition is about a system or compiler other than those of the workflow. */
function isOfOtherSystem(condition: string): boolean {
  return /\b(?:WIN32|MSVC|APPLE|MINGW|ANDROID|IOS|CYGWIN|EMSCRIPTEN|Windows|Darwin|Apple|\w*BSD|SunOS|AIX|HIP|ROCM|MUSA|SYCL|arm\w*|aarch64|riscv\d*|s390x?|ppc\w*|power\w*|loongarch\w*)\b|_(?:HIP|ROCM|MUSA|SYCL|WINDOWS|WIN32)\b/i.test(
    condition.replaceAll(/NOT (?:WIN32|MSVC|APPLE)/g, ''),
  );
}

/** @param expanded its words with references replaced, which are shown if the condition is a reference */
function shownCondition({ words: written }: CMakeCommand, expanded: readonly CMakeArgument[] = []): string {
  const words = written.length === 1 && expanded.length === 1 ? expanded : written;
  return words
    .map(({ text, form }) => (form === 'quoted' ? `"${text}"` : text))
    .join(' ')
    .replaceAll(rootPath, '')
    .slice(0, 60);
}

/**
 * Values of variables with which a simple condition holds: a conjunction of names, negated names and comparisons. Empty
 * for others.
 */
function settingsFor(words: readonly CMakeArgument[]): Map<string, string> {
  const settings = new Map<string, string>();
  const parts: string[][] = [[]];
  for (const { text } of words) {
    if (text === 'AND') parts.push([]);
    else parts.at(-1)!.push(text);
  }
  for (const part of parts) {
    const [first = '', operator = '', value = ''] = part;
    const name = first === 'NOT' ? operator : first;
    if (!/^[A-Za-z_]\w*$/.test(name) || /^CMAKE_/.test(name) || isOfOtherSystem(name)) return new Map();
    if (part.length === 1) settings.set(name, 'ON');
    else if (part.length === 2 && first === 'NOT') settings.set(name, 'OFF');
    else if (part.length === 3 && operator === 'STREQUAL') settings.set(name, value);
    else return new Map();
  }
  return settings;
}
