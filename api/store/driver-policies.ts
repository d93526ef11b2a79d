import { channel } from 'node:diagnostics_channel';
import type {
  Client,
  ClientOptions,
  policies as DriverPolicies,
  types as DriverTypes,
  EmptyCallback,
  ExecutionOptions,
  Host,
  HostMap,
  tracker,
} from 'cassandra-driver';
import cassandra from 'cassandra-driver';

const { errors, policies, types } = cassandra;

/** In ms. Topology and replication may change. */
const CACHE_MS = 30_000;

/**
 * Sends a request to a replica of its partition, as the driver's TokenAwarePolicy does, and caches the replicas by
 * routing key. Without the cache, the driver's Murmur3 in JavaScript took a sixth of ingest's CPU at ten samples per
 * message. The cache compares Buffers by identity, so pass the same Buffer object for the same partition.
 */
export class RememberedReplicasPolicy extends policies.loadBalancing.LoadBalancingPolicy {
  #replicas: WeakMap<Buffer, Host[]> = new WeakMap();
  #names: WeakMap<Host[], string> = new WeakMap();
  #rememberedAt = 0;
  #nodes;
  #client: Client | undefined;

  constructor(localDc: string) {
    super();
    this.#nodes = new policies.loadBalancing.DCAwareRoundRobinPolicy(localDc);
  }

  override init(client: Client, hosts: HostMap, callback: EmptyCallback): void {
    this.#client = client;
    this.#nodes.init(client, hosts, callback);
  }

  override getDistance(host: Host) {
    return this.#nodes.getDistance(host);
  }

  override newQueryPlan(
    keyspace: string,
    options: ExecutionOptions,
    callback: (error: Error, iterator: Iterator<Host>) => void,
  ): void {
    const key = options?.getRoutingKey();
    const replicas = Buffer.isBuffer(key) ? this.#replicasOf(options.getKeyspace() ?? keyspace, key) : [];
    this.#nodes.newQueryPlan(keyspace, options, (error, others) =>
      callback(error, replicas.length > 0 ? replicasFirst(replicas, others) : others),
    );
  }

  /** @returns a name for the partition's set of replicas in the local data center; null: unknown */
  replicaSetOf(keyspace: string, key: Buffer): string | null {
    const replicas = this.#replicasOf(keyspace, key);
    if (replicas.length === 0) return null;
    const known = this.#names.get(replicas);
    if (known !== undefined) return known;
    const name = replicas
      .map(({ address }) => address)
      .sort()
      .join(' ');
    this.#names.set(replicas, name);
    return name;
  }

  getOptions() {
    return this.#nodes.getOptions();
  }

  #replicasOf(keyspace: string, key: Buffer): Host[] {
    const now = Date.now();
    if (Math.abs(now - this.#rememberedAt) > CACHE_MS) {
      this.#replicas = new WeakMap();
      this.#rememberedAt = now;
    }
    let replicas = this.#replicas.get(key);
    if (!replicas) {
      const all = this.#client?.getReplicas(keyspace, key) ?? [];
      replicas = all.filter((host) => this.getDistance(host) === types.distance.local);
      this.#replicas.set(key, replicas);
    }
    return replicas;
  }
}

/** @returns undefined: the client has another load balancing policy */
export function findReplicaSets(client: Client): ((key: Buffer) => string | null) | undefined {
  // The driver's types lack the options of a client.
  const { options } = client as unknown as { options?: ClientOptions };
  const policy = options?.policies?.loadBalancing;
  if (!(policy instanceof RememberedReplicasPolicy)) return undefined;
  return (key) => policy.replicaSetOf(client.keyspace, key);
}

/** First the replicas, then the other nodes. Each replica has the same probability of being first. */
function replicasFirst(replicas: Host[], others: Iterator<Host>): Iterator<Host, undefined> {
  const first = Math.floor(Math.random() * replicas.length);
  let taken = 0;
  return {
    next() {
      if (taken < replicas.length) {
        const value = replicas[(first + taken++) % replicas.length] as Host;
        return { value, done: false };
      }
      for (let next = others.next(); !next.done; next = others.next()) {
        if (!replicas.includes(next.value)) return next;
      }
      return { value: undefined, done: true };
    },
  };
}

/**
 * A composite key has the length before each part and a zero byte after it, as the servers encode it
 * (native_protocol_v4.spec leaves this to drivers).
 * @param parts the CQL encoding of the partition key's columns, in order
 */
export function routingKey(...parts: Buffer[]): Buffer {
  const [only] = parts;
  if (parts.length === 1 && only) return Buffer.from(only);
  return Buffer.concat(
    parts.flatMap((part) => [Buffer.from([part.length >> 8, part.length & 255]), part, Buffer.alloc(1)]),
  );
}

/** Each attempt may take seconds, until its timeout. */
const MAX_RETRIES = 10;

type OperationInfo = DriverPolicies.retry.OperationInfo;

/**
 * For idempotent work without a deadline, such as taking the schema lock. The driver's own policy gives up if the only server is busy. It
 * also gives up if a lightweight transaction times out because of concurrent transactions (`cas_contention_timeout` of Cassandra, 1.8 s).
 * The driver calls the policy for a write only if the write is idempotent.
 */
export class BusyServerRetryPolicy extends policies.retry.RetryPolicy {
  override onWriteTimeout(
    info: OperationInfo,
    consistency: number,
    received: number,
    blockFor: number,
    writeType: string,
  ) {
    if (writeType === 'CAS') return this.#retry(info);
    return super.onWriteTimeout(info, consistency, received, blockFor, writeType);
  }

  override onReadTimeout(info: OperationInfo) {
    return this.#retry(info);
  }

  override onRequestError(info: OperationInfo, consistency: number, error: Error) {
    if (error instanceof errors.OperationTimedOutError) return this.#retry(info);
    return super.onRequestError(info, consistency, error);
  }

  #retry({ nbRetry }: OperationInfo) {
    // `undefined` means the default: the same node and the same consistency. The driver's types require an argument.
    return nbRetry < MAX_RETRIES
      ? this.retryResult(undefined as unknown as DriverTypes.consistencies)
      : this.rethrowResult();
  }
}

type BrokenRule = 'unprepared' | 'unpaged' | 'filtering' | 'consistency';

export type OnBrokenRule = (rule: BrokenRule) => void;

const FILTERING = /\bALLOW\s+FILTERING\b/i;

/** Millrace has a few dozen statements. More mean that code generates statements at run time. */
const MAX_CACHED = 1000;

/** Instead of LOCAL_QUORUM, for requests that ask each data center: see consistency.ts. */
const EVERYWHERE = new Set(['EACH_QUORUM', 'ALL']);

/**
 * A request must be prepared, paged, without ALLOW FILTERING, and at the consistency level of the settings, or ask each data center.
 * All requests of Millrace follow the rules, but code that a developer adds may break them.
 */
export function createQueryRules(intended: string, onWrong: OnBrokenRule) {
  const filters: Map<string, boolean> = new Map();

  function isFiltering(cql: string) {
    const known = filters.get(cql);
    if (known !== undefined) return known;
    if (filters.size >= MAX_CACHED) filters.clear();
    const found = FILTERING.test(cql);
    filters.set(cql, found);
    return found;
  }

  /** A batch is an array, which has no pages and no filter. */
  return (query: string | unknown[], options: ExecutionOptions) => {
    if (!options.isPrepared()) onWrong('unprepared');
    const level = String(nameOf(options.getConsistency()));
    const asksEverywhere = intended === 'LOCAL_QUORUM' && EVERYWHERE.has(level);
    if (level !== intended && !asksEverywhere) onWrong('consistency');
    if (typeof query !== 'string') return;
    if (options.isAutoPage() || !(options.getFetchSize() > 0)) onWrong('unpaged');
    if (isFiltering(query)) onWrong('filtering');
  };
}

const NAMES = new Map(
  Object.entries(cassandra.types.consistencies).map(([name, number]) => [
    number,
    name.replaceAll(/[A-Z]/g, (initial) => `_${initial}`).toUpperCase(),
  ]),
);

const nameOf = (consistency: number) => NAMES.get(consistency);

/** The channel of `node:diagnostics_channel` for requests that the database answered or failed. */
export const SENT_REQUESTS = 'millrace:cql:request';

export interface SentRequest {
  application: string;
  intended: string;
  coordinator: Host;
  /** a batch is an array */
  query: string | Array<{ query: string; params?: unknown }>;
  parameters: unknown;
  options: ExecutionOptions;
}

type RequestTracker = tracker.RequestTracker;

// The driver's types declare only an interface, but the driver requires an instance of its class.
const Tracker = (cassandra.tracker as unknown as { RequestTracker: new () => RequestTracker }).RequestTracker;

/** Publishes every request on the channel `SENT_REQUESTS`, for tests and tools, and checks it against the query rules. */
export function createTracker(
  client: { application: string; intended: string },
  onBrokenRule?: OnBrokenRule,
): RequestTracker {
  const requests = channel(SENT_REQUESTS);
  const checkRules = onBrokenRule && createQueryRules(client.intended, onBrokenRule);
  const onRequest: RequestTracker['onError'] = (coordinator, query, parameters, options) => {
    checkRules?.(query, options);
    if (requests.hasSubscribers) requests.publish({ ...client, coordinator, query, parameters, options });
  };
  return Object.assign(new Tracker(), { onSuccess: onRequest, onError: onRequest });
}
