/** The App whose webhooks a server answers. */
import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { UsageError } from '../base/usage-error.ts';

/** Data of an App that the server needs. */
const identitySchema = v.object({
  appId: v.pipe(v.string(), v.nonEmpty()),
  /** Private key in PEM format. */
  privateKey: v.pipe(
    v.string(),
    v.check((pem) => privateKeyProblem(pem) === undefined),
  ),
  /** Secret of the App's webhook. */
  secret: v.pipe(v.string(), v.nonEmpty()),
});
export type AppIdentity = v.InferOutput<typeof identitySchema>;

/** The file with the App that the server made. */
export function identityFile(folder: string): string {
  return join(folder, 'app.json');
}

/**
 * The App that an earlier run created.
 * @throws UsageError if its file is invalid
 */
export function knownApp(folder: string): AppIdentity | undefined {
  const file = identityFile(folder);
  if (!existsSync(file)) return undefined;
  try {
    return v.parse(identitySchema, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new UsageError(
      `${file} does not contain an App. Remove it to make a new one, or set SELVAGE_APP_ID, SELVAGE_PRIVATE_KEY_FILE and SELVAGE_WEBHOOK_SECRET.`,
    );
  }
}

/** Why a key cannot sign the requests of an App, as the end of a sentence; undefined if it can. */
export function privateKeyProblem(pem: string): string | undefined {
  try {
    const { asymmetricKeyType } = createPrivateKey(pem);
    return asymmetricKeyType === 'rsa' ? undefined : `is a private key of type ${asymmetricKeyType}, not of type rsa`;
  } catch {
    // The message of the error is omitted: it could quote the key.
    return 'is not a private key in PEM format';
  }
}
