/** Keeps the compiled code of the program between its runs: half of the time of a short one goes into compiling. */
import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

type EnableCompileCache = (folder: string) => { readonly directory?: string };

let keeps = false;

/**
 * Lets Node keep compiled code in the user's cache folder, for modules that are loaded from now on. Does nothing on a
 * Node before 22.8, in CI, where each run is the first one and others' code runs too, and where the folder could be
 * written by others: what lies in it is executed.
 */
export function keepCompiledCode(environment: Readonly<Record<string, string | undefined>>): void {
  const { enableCompileCache }: { readonly enableCompileCache?: EnableCompileCache } = module;
  const { XDG_CACHE_HOME: caches, HOME: home, CI: ci } = environment;
  const base = caches || (home && join(home, '.cache'));
  if (!enableCompileCache || ci || !base || !isAbsolute(base)) return;
  const folder = join(base, 'selvage', 'code');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return;
    keeps = enableCompileCache(folder).directory !== undefined;
  } catch {
    // A home folder without write permission must not make the run fail.
  }
}

/**
 * Loads modules. Where code is kept, all of their functions are compiled: what is kept of a module is what was compiled
 * when it was loaded, and most functions are compiled when they are first called.
 */
export async function loadCompiled<Module>(load: () => Promise<Module>): Promise<Module> {
  if (!keeps) return load();
  // Node's own modules come compiled, but not for this setting.
  const require = module.createRequire(import.meta.url);
  for (const name of ['os', 'timers/promises', 'url', 'util', 'vm']) require(`node:${name}`);
  setFlagsFromString('--no-lazy');
  try {
    return await load();
  } finally {
    setFlagsFromString('--lazy');
  }
}
