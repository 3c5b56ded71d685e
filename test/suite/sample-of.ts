import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the sample that a file belongs to: the nearest one with a project of CMake. */
export function sampleOf(checkout: string, path: string): string {
  for (let folder = dirname(path); folder !== '.' && folder !== '/'; folder = dirname(folder)) {
    const project = join(checkout, folder, 'CMakeLists.txt');
    if (existsSync(project) && /^\s*project\s*\(/im.test(readFileSync(project, 'utf8'))) return folder;
  }
  return dirname(path);
}
