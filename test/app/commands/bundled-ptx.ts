import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../../src/toolchain/compile.ts';
import type { Compiler } from '../../../src/toolchain/compiler.ts';
import { compilePortable, root } from '../../kernels/portable-ptx.ts';

const folder = 'src/app/commands/demo';

export interface BundledFile {
  readonly side: 'base' | 'head';
  readonly source: string;
  readonly build: Build;
  /** Absolute. */
  readonly file: string;
}

/** The PTX files that the demo needs, two for each source. */
export function bundledFiles(): BundledFile[] {
  return (['base', 'head'] as const).flatMap((side) =>
    readdirSync(join(root, folder, side))
      .filter((name) => name.endsWith('.cu'))
      .sort()
      .flatMap((source) =>
        (['verification', 'production'] as const).map((build) => {
          const file = join(root, folder, side, source.replace(/\.cu$/, `.${build}.ptx`));
          return { side, source, build, file };
        }),
      ),
  );
}

/** Compiles one of them, with paths relative to the folder of its side: the bundle is in another folder. */
export async function compileBundled(compiler: Compiler, { side, source, build }: BundledFile): Promise<string> {
  const ptx = await compilePortable(compiler, `${folder}/${side}/${source}`, build);
  return ptx.replaceAll(`"${folder}/${side}/`, '"');
}
