/** The log of the server: one JSON object a line, without secrets. */

type Level = 'info' | 'warning' | 'error';

/** What an entry is about, if that is known. */
export interface LogContext {
  /** `owner/name` */
  readonly repository?: string;
  readonly pullRequest?: number;
  /** ID of the delivery. */
  readonly delivery?: string;
  readonly event?: string;
  readonly outcome?: string;
  /** Seconds. */
  readonly duration?: number;
}

export type ServerLog = (level: Level, message: string, context?: LogContext) => void;

/** Secrets that must not appear in the log. */
interface KnownSecrets {
  readonly add: (secret: string) => void;
  /** A text in which each secret is replaced. */
  readonly hide: (text: string) => string;
}

/** Maximum length of a message: errors may quote the output of a program. */
const maxMessage = 2000;
/** Maximum number of secrets that are remembered. Tokens of installations are valid for an hour. */
const maxSecrets = 10_000;
const hidden = '***';

/** Texts with the form of a secret: keys, tokens of GitHub, JSON Web Tokens, credentials of HTTP. */
const forms = [
  /-----BEGIN [^-]*PRIVATE KEY-----[^]*?(?:-----END [^-]*-----|$)/g,
  /\b(?:gh[a-z]_|github_pat_)\w{8,}/g,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g,
  /(?<=\b(?:basic|bearer|token|x-access-token:)\s?)[\w+/=.-]{20,}/gi,
];

/** Makes an empty collection of secrets. */
export function knownSecrets(): KnownSecrets {
  const secrets = new Set<string>();
  return {
    add(secret) {
      // A key is also replaced by its lines, and a short text would occur by chance.
      for (const text of [secret, ...secret.split(/\r?\n|\\n/)]) {
        if (text.length >= 8 && !text.startsWith('-----')) secrets.add(text);
      }
      for (const oldest of secrets) {
        if (secrets.size <= maxSecrets) break;
        secrets.delete(oldest);
      }
    },
    hide(text) {
      let safe = text;
      for (const form of forms) safe = safe.replaceAll(form, hidden);
      for (const secret of secrets) if (safe.includes(secret)) safe = safe.replaceAll(secret, hidden);
      return safe;
    },
  };
}

/**
 * A log of JSON lines.
 * @param write receives each line, without its end
 * @param now milliseconds since 1970
 */
export function jsonLog(write: (line: string) => void, secrets: KnownSecrets, now: () => number = Date.now): ServerLog {
  return (level, message, context = {}) => {
    const safe = (text: string): string => secrets.hide(text).slice(0, maxMessage);
    const entry: Record<string, unknown> = { time: new Date(now()).toISOString(), level, message: safe(message) };
    for (const [name, value] of Object.entries(context as Record<string, unknown>))
      entry[name] = typeof value === 'string' ? safe(value) : value;
    write(JSON.stringify(entry));
  };
}
