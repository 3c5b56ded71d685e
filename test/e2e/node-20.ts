import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';

/**
 * A Node 20 of this machine: the one that npm runs under (scripts get the newer one of the development dependencies),
 * or one on PATH.
 */
export function findNode20(): string | undefined {
  const candidates = [
    process.env['npm_node_execpath'],
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node')),
  ];
  return candidates.find((file) => {
    if (file === undefined) return false;
    const { status, stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
    return status === 0 && stdout.startsWith('v20.');
  });
}
