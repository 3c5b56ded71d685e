/** Folders in which results are kept between runs. */
import { lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * A folder of the user's cache, made where it is missing. There is none in CI, where each run is the first one and
 * others' code runs too, and where the folder could be written by others.
 * @param name below `selvage` in the cache folder
 */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
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
