/** Results of earlier runs, in CI: restored before an analysis, saved after it. */
import { messageOf } from '../../base/text.ts';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeIdentity } from '../../app/cache/code-identity.ts';
import { packResults, unpackResults } from '../../app/cache/pack.ts';
import { storedFiles } from '../../app/cache/result-store.ts';
import { cacheService, restoreBytes, saveBytes, type CacheService } from './cache-service.ts';

/** Maximum bytes of results transferred between runs; GitHub stores 10 GB for a repository. */
const maxBytes = 128 << 20;

type Environment = Readonly<Record<string, string | undefined>>;

export interface ResultCache {
  /** Value for `SELVAGE_CACHE`: the folder of results, or `off`. */
  readonly folder: string;
  /** Saves the results that this run added. */
  readonly save: () => Promise<void>;
}

interface KeepRequest {
  readonly environment: Environment;
  /** The service, determined before secrets were removed from the environment. */
  readonly service: CacheService | undefined;
  /** Whether this run may write entries for later runs. False if runs of other code would read the entries. */
  readonly mayWrite: boolean;
  readonly log: (line: string) => void;
}

/** Reads the service of a run from its environment, before secrets are removed from it. */
export const serviceOf: (environment: Environment) => CacheService | undefined = cacheService;

/** Restores results of earlier runs. A failure does not fail the run. */
export async function keepResults({ environment, service, mayWrite, log }: KeepRequest): Promise<ResultCache> {
  const temporary = environment['RUNNER_TEMP'] ?? tmpdir();
  mkdirSync(temporary, { recursive: true });
  const folder = mkdtempSync(join(temporary, 'selvage-results-'));
  const { platform, arch } = process;
  const prefix = `selvage-results-${platform}-${arch}-${codeIdentity().slice(0, 16)}-`;
  let known = 0;
  try {
    const pack = service && (await restoreBytes(service, prefix, maxBytes));
    if (pack) known = unpackResults(folder, pack);
    if (service) log(`${known} results of earlier runs were restored.`);
  } catch (error) {
    log(`The results of earlier runs cannot be restored: ${messageOf(error)}`);
  }
  return {
    folder,
    async save() {
      try {
        if (!service) return;
        if (!mayWrite) return log('The results of this run are not cached, since runs of other code would read them.');
        if (storedFiles(folder).length === known) return;
        const pack = packResults(folder, maxBytes);
        const { GITHUB_RUN_ID: run = '0', GITHUB_RUN_ATTEMPT: attempt = '1', GITHUB_JOB: job = '' } = environment;
        const isSaved = await saveBytes(service, `${prefix}${run}-${attempt}-${job.slice(0, 100)}`, pack);
        if (isSaved) log(`The results of this run are cached for later ones (${pack.length} bytes).`);
      } catch (error) {
        log(`The results of this run cannot be cached: ${messageOf(error)}`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
