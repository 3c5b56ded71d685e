/** The kernels of the corpus: their launches, statements and production builds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import type { ParameterSource, StatedAssumption } from '../../src/launch/parameter-source.ts';
import type { Module } from '../../src/ptx/ast.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { kernelFiles, ptxFile, root } from '../kernels/portable-ptx.ts';
import { definedKernels, kernelNamed } from '../interpreter/machine-kernels.ts';

export interface CorpusKernel {
  readonly name: string;
  /** Relative to the root. */
  readonly file: string;
  /** Its group: the name of the file without its extension. */
  readonly group: string;
  readonly parameters: readonly ParameterSource[];
  /** The text after `// launch:`. */
  readonly launch: string;
  readonly stated: readonly StatedAssumption[];
  /** The production build as analyses read it, and its module. */
  readonly kernel: Kernel;
  readonly module: Module;
  /** The verification build, which the checks decide. */
  readonly verified: Kernel;
  /** The same for the interpreter, with functions of the mathematics library. */
  readonly executable: Kernel;
}

/** Files of the corpus, relative to the root. */
export function corpusFiles(): string[] {
  return kernelFiles(join(dirname(fileURLToPath(import.meta.url)), 'kernels'));
}

/** @throws if the PTX of a file is missing or a line is malformed */
export function readCorpus(): readonly CorpusKernel[] {
  return corpusFiles().flatMap((file) => kernelsOf(file));
}

function kernelsOf(file: string): CorpusKernel[] {
  const source = readFileSync(join(root, file), 'utf8');
  const module = moduleOf(file, 'production');
  const verified = lowerModule(moduleOf(file, 'verification')).kernels;
  const analysed = lowerModule(module).kernels;
  const executed = lowerModule(module, { abstractMathematics: false }).kernels;
  const parameters = definedKernels(source);
  const described = [...source.matchAll(/^\/\/ launch: (.*)\n((?:\/\/ selvage: .*\n)*)__global__ void (\w+)/gm)];
  assert.equal(described.length, parameters.size, `${file}: kernels without a launch`);
  return described.map(([, launch, comments, name]) => ({
    name: name!,
    file,
    group: basename(file, '.cu'),
    parameters: parameters.get(name!)!,
    launch: launch!,
    stated: [...comments!.matchAll(/assume\(((?:[^()]|\([^()]*\))*)\)/g)].map(([, text]) => stated(text!)),
    kernel: kernelNamed(analysed, name!),
    module,
    verified: kernelNamed(verified, name!),
    executable: kernelNamed(executed, name!),
  }));
}

function moduleOf(file: string, build: Build): Module {
  const { module, diagnostics } = parsePtx(readFileSync(ptxFile(file, build), 'utf8'), file);
  assert.deepEqual(diagnostics, [], `${file} ${build}`);
  return module;
}

function stated(text: string): StatedAssumption {
  const parsed = parseAssumption(text);
  assert.ok('expression' in parsed, text);
  return { expression: parsed.expression, text };
}
