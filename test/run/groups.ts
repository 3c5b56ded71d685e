/** Which files of tests share a process: the second one there finds code that is loaded and compiled. */
import { readFileSync } from 'node:fs';

/**
 * Files with one of these patterns have a separate process: they start programs, which costs more the larger a process
 * is, they leave state that affects others, or inspect the process itself.
 */
const alone =
  /node:(child_process|worker_threads|http|net|vm|module|v8)|nvcc|in-process|mkdtemp|temporaryFolder|^\s*(before|(before|after)Each)\(|\bmock\b|process\.(?!cwd|hrtime)|globalThis/im;

/** Seconds that the files of a process may take together, so that the last ones do not end long after the others. */
const mostSeconds = 60;

/** Assumed for a file without a recorded time. */
const unknownSeconds = 1;

/** Files that may share a process, by the folder whose tests they are. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** Whether a file of tests needs a separate process. */
export function isAlone(text: string): boolean {
  return alone.test(text);
}

/**
 * Files by the processes that run them, the longest first, so that none of them runs last without another in parallel.
 * @param seconds that files took, or take usually
 * @param most seconds that those of a process may take together; 0: each file has a separate one
 */
export function groupsOf(files: readonly string[], seconds: Readonly<Record<string, number>>, most = mostSeconds): readonly string[][] {
  const groups: { readonly files: string[]; seconds: number }[] = [];
  const open = new Map<string, { readonly files: string[]; seconds: number }>();
  for (const file of files) {
    const own = seconds[file] ?? unknownSeconds;
    if (file.startsWith('test/e2e/') || isAlone(readFileSync(file, 'utf8'))) {
      groups.push({ files: [file], seconds: own });
      continue;
    }
    let group = open.get(roomOf(file));
    if (!group || most === 0 || group.seconds + own > most) {
      group = { files: [], seconds: 0 };
      groups.push(group);
      open.set(roomOf(file), group);
    }
    group.files.push(file);
    group.seconds += own;
  }
  return groups.sort((a, b) => b.seconds - a.seconds).map((group) => group.files);
}
