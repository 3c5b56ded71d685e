/** Memory of programs that run, as Linux tells it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Bytes of a page that `/proc` counts in. */
const page = 4096;

/**
 * Memory that a process and all that it started hold, in bytes. What they share counts for each.
 * @returns undefined where the system does not tell
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

/** The fourth field of `/proc/PID/stat`; the second one is a name in brackets that may hold anything (proc(5)). */
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
