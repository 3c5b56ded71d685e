/** Keeps the compiled code of the program between its runs: half of the time of a short one goes into compiling. */
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { cacheFolder } from './cache-folder.ts';

type EnableCompileCache = (folder: string) => { readonly directory?: string };

let keeps = false;

/**
 * Lets Node keep compiled code in the user's cache folder, for modules that are loaded from now on. Does nothing on a
 * Node before 22.8, in CI, where each run is the first one and others' code runs too, and where the folder could be
 * written by others: what lies in it is executed.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>>): void {
  const { enableCompileCache }: { readonly enableCompileCache?: EnableCompileCache } = module;
  if (!enableCompileCache) return;
  const folder = cacheFolder(environment, 'code');
  if (folder !== undefined) keeps = enableCompileCache(folder).directory !== undefined;
}

/**
 * Loads modules. Where code is kept, all of their functions are compiled: what is kept of a module is what was compiled
 * when it was loaded, and most functions are compiled when they are first called.
 */
export async function loadCompiled<Module>(load: () => Promise<Module>): Promise<Module> {
  if (!keeps) return load();
  setFlagsFromString('--no-lazy');
  try {
    return await load();
  } finally {
    setFlagsFromString('--lazy');
  }
}
