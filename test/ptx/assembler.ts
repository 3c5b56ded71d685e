/** Runs ptxas on texts. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Runs a program; rejects unless it exits with 0. */
export const run = promisify(execFile);

/** Number of concurrent compilers and assemblers. */
export const concurrency = 2;

/** Whether a program is there and exits with 0. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}

/** Runs the work for every item, with a few in parallel. */
export async function forEach<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Null if ptxas accepts the text, otherwise the first lines of its messages. */
export async function assemble(text: string, architecture: string, path: string): Promise<string | null> {
  writeFileSync(path, text);
  return run('ptxas', [`-arch=${architecture}`, '-o', `${path}.cubin`, path]).then(
    () => null,
    (error: { stderr?: string; message: string }) => (error.stderr || error.message).split('\n', 3).join('\n'),
  );
}

/** Does the work in a temporary folder. */
export async function inTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-ptx-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const hasAssembler = await succeeds('ptxas', ['--version']);
