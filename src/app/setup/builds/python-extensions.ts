/** Extension modules of Python packages: `setup.py` and `pyproject.toml`. */
import { posix } from 'node:path';
import {
  GrowingReading,
  hasUnknown,
  selectBuildFlags,
  unitsAmong,
  unknownText,
  type BuildReading,
  type BuildTree,
} from './build-reading.ts';
import { runPython } from './python.ts';
import { parseScript } from './script-syntax.ts';
import { evaluateScript, textOf, textsOf, type ScriptCall, type ScriptValue } from './script-values.ts';

/** Flags that `BuildExtension` of PyTorch passes to nvcc. */
const torchFlags = [
  '-D__CUDA_NO_HALF_OPERATORS__',
  '-D__CUDA_NO_HALF_CONVERSIONS__',
  '-D__CUDA_NO_BFLOAT16_CONVERSIONS__',
  '-D__CUDA_NO_HALF2_OPERATORS__',
  '--expt-relaxed-constexpr',
];

interface ExtensionModule {
  readonly name: string;
  readonly sources: readonly string[];
  readonly includes: readonly string[];
  /** Name and value of each macro. */
  readonly macros: ScriptValue;
  readonly compileArguments: ScriptValue;
  readonly isOfTorch: boolean;
  readonly place: string;
}

/** Reads a `setup.py`. */
export function readSetup(file: string, tree: BuildTree): BuildReading {
  const { calls, leftOut } = runPython(file, tree);
  const usesTorch = /\btorch\.utils\.cpp_extension\b/.test(tree.text(file) ?? '');
  const modules = calls.flatMap((call) => extensionOf(call, file, usesTorch) ?? []);
  return readingOf(modules, posix.dirname(file), tree, leftOut);
}

function extensionOf({ name, given, named, line }: ScriptCall, file: string, usesTorch: boolean): ExtensionModule | undefined {
  const last = name.replace(/^.*\./, '');
  if (!/^(?:\w*CUDAExtension|CppExtension|Extension)$/.test(last)) return undefined;
  const macros = named.get('define_macros');
  return {
    name: textOf(named.get('name') ?? given[0]),
    sources: textsOf(named.get('sources') ?? given[1] ?? []),
    includes: textsOf(named.get('include_dirs') ?? []),
    macros,
    compileArguments: named.get('extra_compile_args'),
    isOfTorch: usesTorch && last !== 'Extension',
    place: `${file}:${line}`,
  };
}

function readingOf(modules: readonly ExtensionModule[], folder: string, tree: BuildTree, leftOut: BuildReading['leftOut']): BuildReading {
  const reading = new GrowingReading();
  reading.leftOut.push(...leftOut);
  for (const { name, sources, includes, macros, compileArguments, isOfTorch, place } of modules) {
    if (!sources.some((source) => source.endsWith('.cu') || hasUnknown(source))) continue;
    const given = compileArguments instanceof Map ? compileArguments.get('nvcc') : compileArguments;
    const words = [
      // PyTorch adds its own standard if none is given.
      ...(isOfTorch ? ['-std=c++17', ...torchFlags] : []),
      ...includes.map((path) => `-I${path}`),
      ...(Array.isArray(macros) ? macros.map(macroFlag) : []),
      ...(given === undefined ? [] : textsOf(given)),
      ...(isOfTorch && !hasUnknown(name) ? ['-DTORCH_API_INCLUDE_EXTENSION_H', `-DTORCH_EXTENSION_NAME=${name.replace(/^.*\./, '')}`] : []),
    ];
    const selected = selectBuildFlags(words, folder, tree);
    const units = unitsAmong(sources, folder, tree);
    reading.add(selected, units, name, place);
    // Its sources may be unknown.
    if (units.length === 0) reading.note(selected, place);
  }
  return reading;
}

function macroFlag(macro: ScriptValue): string {
  if (!Array.isArray(macro)) return `-D${unknownText}`;
  const [name, value] = macro;
  return value === null || macro.length === 1 ? `-D${textOf(name)}` : `-D${textOf(name)}=${textOf(value)}`;
}

/** Reads the extension modules that setuptools takes from `pyproject.toml`. */
export function readPyproject(file: string, tree: BuildTree): BuildReading {
  const text = tree.text(file) ?? '';
  const modules: ExtensionModule[] = [];
  const add = (table: ReadonlyMap<string, ScriptValue>, line: number): void => {
    const get = (key: string): ScriptValue => table.get(key) ?? table.get(key.replaceAll('-', '_')) ?? [];
    modules.push({
      name: textOf(table.get('name')),
      sources: textsOf(get('sources')),
      includes: textsOf(get('include-dirs')),
      macros: get('define-macros'),
      compileArguments: get('extra-compile-args'),
      isOfTorch: false,
      place: `${file}:${line}`,
    });
  };
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length;
  for (const match of text.matchAll(/^\[\[tool\.setuptools\.ext-modules\]\]\n([^]*?)(?=^\[(?![\s"'{])|(?![^]))/gm)) {
    const entries = [...match[1]!.matchAll(/^([\w-]+)\s*=\s*([^]*?)(?=^[\w-]+\s*=|(?![^]))/gm)];
    add(new Map(entries.map(([, key, value]) => [key!, literalOf(value!)])), lineOf(match.index));
  }
  for (const match of text.matchAll(/^ext-modules\s*=\s*(\[[^]*?^\])/gm)) {
    // Keys of inline tables are names with hyphens.
    const tables = literalOf(match[1]!.replaceAll(/([{,]\s*)([\w-]+)(\s*=)/g, '$1"$2"$3'));
    for (const table of Array.isArray(tables) ? tables : []) if (table instanceof Map) add(table, lineOf(match.index));
  }
  return readingOf(modules, posix.dirname(file), tree, []);
}

function literalOf(text: string): ScriptValue {
  const context = { language: 'python', variables: new Map(), call: () => undefined, reference: () => undefined } as const;
  return evaluateScript(parseScript(text.trim(), 'python'), context);
}
