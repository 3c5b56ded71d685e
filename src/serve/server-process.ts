import { interruptible } from '../system/interruption.ts';
import { serve } from './serve.ts';

/** Serves webhooks with the settings and streams of this process, and ends it: requests may still be active. */
export async function runServer(): Promise<never> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  process.exit(await interruptible((signal) => serve(process.env, signal, { log, print })));
}
