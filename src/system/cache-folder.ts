/** Folders of results that are cached between runs. */
import { lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * A folder of the user's cache, created if missing. Not available in CI, where each run is the first one and untrusted
 * code runs too, and not if other users could write to the folder.
 * @param name below `selvage` in the cache folder
 */
export function cacheFolder(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const { XDG_CACHE_HOME: caches, HOME: home, CI: ci } = environment;
  const base = caches || (home && join(home, '.cache'));
  if (ci || !base || !isAbsolute(base)) return undefined;
  const folder = join(base, 'selvage', name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return uid !== process.getuid?.() || (mode & 0o022) !== 0 ? undefined : folder;
  } catch {
    // A home folder without write permission must not make the run fail.
    return undefined;
  }
}
