/** Reads and checks the settings of the server, which are environment variables. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '../base/nearest.ts';
import { UsageError } from '../base/usage-error.ts';
import { serverDefaults } from '../settings/defaults.ts';
import { serverVariables, type ServerVariable } from '../settings/server-variables.ts';
import { causeOf } from '../system/system-error.ts';
import { privateKeyProblem, type AppIdentity } from './app-identity.ts';

export interface ServerSettings {
  /** Address of this server for GitHub and browsers, without a trailing slash. */
  readonly url: string | undefined;
  readonly organisation: string | undefined;
  /** The App that the environment specifies. */
  readonly app: AppIdentity | undefined;
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly folder: string;
  readonly serverUrl: string;
  readonly apiUrl: string;
  /** Milliseconds between two requests that write. */
  readonly writeInterval: number;
  readonly jobs: number;
  /** Time limit of one analysis. */
  readonly milliseconds: number;
  readonly mebibytes: number;
  /** Maximum bytes of the results of earlier analyses. */
  readonly cacheBytes: number;
  readonly requiresConfinement: boolean;
  readonly searchPath: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of the server.
 * @throws UsageError with the name of the variable
 */
export function readServerSettings(environment: Environment): ServerSettings {
  const value = (name: ServerVariable): string | undefined => environment[name] || undefined;
  for (const name of Object.keys(environment)) if (name.startsWith('SELVAGE_')) refuseUnknown(name);
  return {
    url: addressIn(value, 'SELVAGE_URL'),
    organisation: value('SELVAGE_ORGANIZATION'),
    app: statedApp(value),
    host: value('HOST') ?? serverDefaults.host,
    port: integerIn(value, 'PORT', serverDefaults.port, 0, 65_535),
    folder: resolve(value('SELVAGE_DATA') ?? serverDefaults.folder),
    serverUrl: addressIn(value, 'GITHUB_SERVER_URL') ?? serverDefaults.serverUrl,
    apiUrl: addressIn(value, 'GITHUB_API_URL') ?? serverDefaults.apiUrl,
    // A GitHub Enterprise Server without rate limits needs no pause.
    writeInterval: integerIn(value, 'SELVAGE_WRITE_INTERVAL', 1000, 0, 600_000),
    jobs: integerIn(value, 'SELVAGE_JOBS', serverDefaults.jobs, 1, 1000),
    milliseconds: integerIn(value, 'SELVAGE_MINUTES', serverDefaults.minutes, 1, 10_000) * 60_000,
    mebibytes: integerIn(value, 'SELVAGE_MEBIBYTES', serverDefaults.mebibytes, 64, 2 ** 24),
    cacheBytes: integerIn(value, 'SELVAGE_CACHE_MEBIBYTES', serverDefaults.cacheMebibytes, 0, 2 ** 30) * 2 ** 20,
    requiresConfinement: integerIn(value, 'SELVAGE_REQUIRE_CONFINEMENT', 0, 0, 1) === 1,
    searchPath: environment['PATH'] ?? '',
  };
}

/** Variables of the command line and of its tests, which may be set for a server, too. */
const otherVariables = /^SELVAGE_(?:CACHE|TEST_\w+)$/;

function refuseUnknown(name: string): void {
  const known: readonly string[] = Object.values(serverVariables).flatMap((topic) => Object.keys(topic));
  if (known.includes(name) || otherVariables.test(name)) return;
  const similar = nearest(name, known);
  throw new UsageError(
    `${name} is not a setting of the server.${similar === undefined ? '' : ` Did you mean ${similar}?`} \`selvage serve --help\` lists them.`,
  );
}

type Values = (name: ServerVariable) => string | undefined;

/** The App whose identity the environment specifies. */
function statedApp(value: Values): AppIdentity | undefined {
  const appId = value('SELVAGE_APP_ID');
  if (appId === undefined) {
    const stray = (['SELVAGE_PRIVATE_KEY_FILE', 'SELVAGE_PRIVATE_KEY', 'SELVAGE_WEBHOOK_SECRET'] as const).find(value);
    if (stray !== undefined) throw new UsageError(`${stray} is set, but SELVAGE_APP_ID is not; the settings page of the App has it.`);
    return undefined;
  }
  const file = value('SELVAGE_PRIVATE_KEY_FILE');
  const privateKey = file === undefined ? needed(value, 'SELVAGE_PRIVATE_KEY').replaceAll('\\n', '\n') : textOf(file);
  const problem = privateKeyProblem(privateKey);
  if (problem !== undefined) {
    const place = file === undefined ? 'SELVAGE_PRIVATE_KEY' : `SELVAGE_PRIVATE_KEY_FILE: ${file}`;
    throw new UsageError(
      `${place} ${problem}. Generate a private key on the settings page of the App, and use the downloaded file as it is.`,
    );
  }
  return { appId, privateKey, secret: needed(value, 'SELVAGE_WEBHOOK_SECRET') };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`SELVAGE_PRIVATE_KEY_FILE: ${file} cannot be read (${causeOf(error)}).`);
  }
}

function needed(value: Values, name: ServerVariable): string {
  const text = value(name);
  const names = name === 'SELVAGE_PRIVATE_KEY' ? 'SELVAGE_PRIVATE_KEY_FILE or SELVAGE_PRIVATE_KEY, and SELVAGE_WEBHOOK_SECRET' : name;
  if (text === undefined) throw new UsageError(`SELVAGE_APP_ID is set, so set ${names}, too; the settings page of the App has the values.`);
  return text;
}

/** An address without trailing slashes. `file:` serves clones of tests. */
function addressIn(value: Values, name: ServerVariable): string | undefined {
  const text = value(name);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress = url && /^(?:https?|file):$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
  if (!isAddress) throw new UsageError(`${name}: ${JSON.stringify(text)} is not an address such as https://selvage.example.org.`);
  return text.replace(/\/+$/, '');
}

function integerIn(value: Values, name: ServerVariable, usual: number, min: number, max: number): number {
  const text = value(name);
  if (text === undefined) return usual;
  if (/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new UsageError(`${name}: ${JSON.stringify(text)} is not an integer from ${min} to ${max}.`);
}
