import type { Client } from 'cassandra-driver';
import { readStamp, type Stamp, WriteTimestamps } from '../cql-values.ts';
import type { Session } from './session.ts';

/** Gives each request of ingest its write timestamp. A feature may replace it, to follow the commits. */
export interface CommitStamps {
  /** undefined: this process may commit now @throws `unavailable` */
  ready(): Promise<void> | undefined;
  begin(client: Client): Stamp;
  /** @returns whether the commit may be acknowledged */
  end(stamp: Stamp): boolean;
  /** greatest write timestamp of this process, in epoch ms; 0: none */
  readonly stampedAt: number;
  trustClock(isTrusted: () => boolean): void;
  stop(): Promise<void>;
}

/** The sessions do not use these stamps. `clock`: epoch ms; `everywhere` asks each data center */
export type OpenStamps = (session: Session, clock: () => number, everywhere: Session) => CommitStamps;

export function plainStamps(clock?: () => number): CommitStamps {
  const stamps = new WriteTimestamps(clock);
  return {
    ready: () => undefined,
    begin: (client) => readStamp(stamps.next(client)),
    end: () => true,
    get stampedAt() {
      return stamps.lastMs;
    },
    trustClock() {},
    async stop() {},
  };
}
