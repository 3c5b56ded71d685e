/** Memory of running programs, as reported by Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Bytes of a page, the unit of `/proc`. */
const page = 4096;

/**
 * Memory of a process and its descendants, in bytes. Shared memory counts for each.
 * @returns undefined if the system does not report it
 */
export function memoryOfTree(root: number): number | undefined {
  const children = new Map<number, number[]>();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const parent = parentOf(name);
      if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    }
  } catch {
    return undefined;
  }
  let bytes = 0;
  const left = [root];
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    bytes += residentBytes(pid);
    left.push(...(children.get(pid) ?? []));
  }
  return bytes;
}

/** The fourth field of `/proc/PID/stat`; the second one is a name in brackets with arbitrary characters (proc(5)). */
function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * page;
  } catch {
    return 0;
  }
}
