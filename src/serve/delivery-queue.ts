/**
 * Deliveries of webhooks, stored in an SQLite file until they are handled: a server that is killed continues after a
 * restart. The ID of a delivery is stored for as long as GitHub may send it again, so that none is handled twice.
 */
import { createRequire } from 'node:module';

export interface Delivery {
  /** Value of the header `X-GitHub-Delivery`. */
  readonly id: string;
  readonly event: string;
  /** The signed body of the request. */
  readonly payload: string;
  /** `owner/name` */
  readonly repository: string;
  /** Number of the pull request; 0 if none exists. Deliveries of one pull request are handled sequentially. */
  readonly pull: number;
  /** Number of earlier attempts. */
  readonly attempts: number;
}

export interface DeliveryQueue {
  /** Stores a delivery. @returns false if it was stored before */
  readonly add: (delivery: Omit<Delivery, 'attempts'>, now: number) => boolean;
  /**
   * Returns the next delivery and marks it as running until its end. Repositories alternate, and each pull request has
   * at most one running delivery.
   */
  readonly take: (now: number) => Delivery | undefined;
  /** Marks a delivery as ended. @param error reason of a failure; the delivery is then retried later, a few times */
  readonly end: (id: string, now: number, error?: string) => void;
  /** Queues a running delivery again, without counting its attempt. */
  readonly release: (id: string, later: number) => void;
  /** Time of the next retry of a failed delivery; undefined without one. */
  readonly nextAttempt: () => number | undefined;
  readonly counts: () => Readonly<Record<'waiting' | 'running' | 'done' | 'failed', number>>;
  readonly close: () => void;
}

/**
 * Maximum number of attempts. A delivery that was started this often without an end is dropped, because it may be what
 * crashes the server.
 */
export const maxAttempts = 5;
/** Milliseconds for which entries are stored. GitHub sends a delivery again for up to three days. */
const remembered = 30 * 24 * 3_600_000;
/** Milliseconds until the second attempt. Each further pause is four times as long. */
const firstPause = 5000;

const schema = `
  create table if not exists delivery (
    id text primary key, event text not null, payload text not null, repository text not null,
    pull integer not null, later integer not null default 0, received integer not null, attempts integer not null default 0, state text not null default 'waiting', error text
  ) strict;
  create index if not exists delivery_state on delivery (state, repository, pull, received);
  create table if not exists turn (repository text primary key, served integer not null) strict;
`;

/** The part of `node:sqlite` that is used. Node 20 lacks this module. */
interface Database {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => {
    readonly run: (...values: (string | number | null)[]) => { readonly changes: number | bigint };
    readonly get: (...values: (string | number | null)[]) => Record<string, unknown> | undefined;
    readonly all: (...values: (string | number | null)[]) => Record<string, unknown>[];
  };
  readonly close: () => void;
}

/**
 * Opens the queue in a file. Deliveries that were running when the last server ended are queued again.
 * @param pause milliseconds from the first attempt at a delivery to the second
 * @throws Error if this Node has no SQLite, the file is not a queue, or another server uses it
 */
export function openQueue(file: string, pause = firstPause): DeliveryQueue {
  const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
    DatabaseSync: new (path: string) => Database;
  };
  const database = new DatabaseSync(file);
  // The lock ends with this process: a second server would start the deliveries that this one is handling.
  database.exec('pragma busy_timeout = 5000; pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full;');
  database.exec(schema);
  database
    .prepare("update delivery set state = 'failed', error = 'begun too often' where state = 'running' and attempts >= ?")
    .run(maxAttempts);
  database.exec("update delivery set state = 'waiting' where state = 'running'");
  const insert = database.prepare(
    'insert or ignore into delivery (id, event, payload, repository, pull, received) values (?, ?, ?, ?, ?, ?)',
  );
  const forget = database.prepare("delete from delivery where received < ? and state in ('done', 'failed')");
  const next = database.prepare(`
    select id, event, payload, repository, pull, attempts from delivery as one left join turn using (repository)
    where state = 'waiting' and later <= ? and not exists (
      select 1 from delivery as other
      where other.state = 'running' and other.repository = one.repository and other.pull = one.pull)
    order by coalesce(served, 0), received, one.rowid limit 1
  `);
  const begin = database.prepare("update delivery set state = 'running', attempts = attempts + 1 where id = ?");
  const serve = database.prepare('insert into turn values (?, ?) on conflict (repository) do update set served = excluded.served');
  const finish = database.prepare('update delivery set state = ?, error = ?, payload = ? where id = ?');
  const giveBack = database.prepare(
    "update delivery set state = 'waiting', attempts = attempts - 1, later = ? where id = ? and state = 'running'",
  );
  const again = database.prepare(
    "update delivery set state = case when attempts >= ? then 'failed' else 'waiting' end, error = ?, later = ? where id = ?",
  );
  const attemptsAt = database.prepare('select attempts from delivery where id = ?');
  const soonest = database.prepare("select min(later) as later from delivery where state = 'waiting' and later > 0");
  const count = database.prepare('select state, count(*) as number from delivery group by state');
  const lastTurn = database.prepare('select max(served) as served from turn').get();
  let turn = Number(lastTurn?.['served'] ?? 0);
  return {
    add({ id, event, payload, repository, pull }, now) {
      forget.run(now - remembered);
      return Number(insert.run(id, event, payload, repository, pull, now).changes) === 1;
    },
    take(now) {
      const found = next.get(now);
      if (!found) return undefined;
      // Both or none is stored: the disk may be full.
      database.exec('begin immediate');
      try {
        begin.run(String(found['id']));
        serve.run(String(found['repository']), turn + 1);
        database.exec('commit');
      } catch (error) {
        rollBack(database);
        throw error;
      }
      turn += 1;
      return found as unknown as Delivery;
    },
    end(id, now, error) {
      if (error === undefined) return void finish.run('done', null, '', id);
      const attempts = Number(attemptsAt.get(id)?.['attempts'] ?? 1);
      again.run(maxAttempts, error.slice(0, 500), now + pause * 4 ** (attempts - 1), id);
    },
    release: (id, later) => void giveBack.run(later, id),
    nextAttempt() {
      const later = soonest.get()?.['later'];
      return typeof later === 'number' ? later : undefined;
    },
    counts() {
      const counts = { waiting: 0, running: 0, done: 0, failed: 0 };
      for (const { state, number } of count.all()) counts[state as keyof typeof counts] = Number(number);
      return counts;
    },
    close: () => database.close(),
  };
}

/** Ends a failed transaction, which SQLite may have ended already. */
function rollBack(database: Database): void {
  try {
    database.exec('rollback');
  } catch {
    // No transaction is active.
  }
}
