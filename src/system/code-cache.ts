/** Caches the compiled code of the program between its runs: half of the time of a short one is compilation. */
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { cacheFolder } from './cache-folder.ts';

type EnableCompileCache = (folder: string) => { readonly directory?: string };

let keeps = false;

/**
 * Lets Node cache compiled code in the user's cache folder, for modules that are loaded from now on. Does nothing on a
 * Node before 22.8, in CI, where each run is the first one and untrusted code runs too, and if other users could write
 * to the folder: its contents are executed.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>>): void {
  const { enableCompileCache }: { readonly enableCompileCache?: EnableCompileCache } = module;
  if (!enableCompileCache) return;
  const folder = cacheFolder(environment, 'code');
  if (folder !== undefined) keeps = enableCompileCache(folder).directory !== undefined;
}

/**
 * Loads modules. If code is cached, all of their functions are compiled: only functions that are compiled when the
 * module is loaded are cached, and most functions are compiled when they are first called.
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
