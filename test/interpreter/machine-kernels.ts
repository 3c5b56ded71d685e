/** The kernels that these tests execute: their files, PTX and IR. */
import type { ParameterSource } from '../../src/launch/parameter-source.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { kernelFiles, ptxFile, root } from '../kernels/portable-ptx.ts';

export const builds = ['verification', 'production'] as const;

/** Relative to the root. */
export function machineFiles(): string[] {
  return kernelFiles(dirname(fileURLToPath(import.meta.url)));
}

export function sourceOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The architecture that a file is compiled for: `// arch: sm_90` among its first lines, or sm_80. */
export function architectureOf(source: string): string {
  return /^\/\/ arch: (sm_\d+a?)$/m.exec(source)?.[1] ?? 'sm_80';
}

/** The first line of the PTX of a file: the hash of its source. */
export function originLine(source: string): string {
  return `// source ${createHash('sha256').update(source).digest('hex').slice(0, 32)}\n`;
}

/** The kernels of a checked-in build, lowered as the interpreter wants them. */
export function loadKernels(file: string, build: Build): readonly Kernel[] {
  const { module, diagnostics } = parsePtx(readFileSync(ptxFile(file, build), 'utf8'), file);
  assert.deepEqual(diagnostics, [], `${file} ${build}`);
  return lowerModule(module, { abstractMathematics: false }).kernels;
}

/** The kernel of a name, which has no namespace and no template parameters. */
export function kernelNamed(kernels: readonly Kernel[], name: string): Kernel {
  const found = kernels.find(({ symbol }) => symbol.startsWith(`_Z${name.length}${name}`));
  assert.ok(found, `${name} among ${kernels.map(({ symbol }) => symbol).join(', ')}`);
  return found;
}

/** Names of the kernels that a source defines, with their parameters. */
export function definedKernels(source: string): ReadonlyMap<string, readonly ParameterSource[]> {
  const kernels = new Map<string, ParameterSource[]>();
  for (const [, name, list] of source.matchAll(/__global__ void (?:__\w+__\([^)]*\) )?(\w+)\(([^)]*)\) \{/g)) {
    const parameters = list!.split(',').map((text) => {
      const [, type, parameter] = /^(.*?)(\w+)$/.exec(text.trim())!;
      return { name: parameter!, type: type!.trim() };
    });
    kernels.set(name!, parameters);
  }
  return kernels;
}
