import type { Client, ClientOptions, EmptyCallback, ExecutionOptions, Host, HostMap } from 'cassandra-driver';
import cassandra from 'cassandra-driver';

const { policies, types } = cassandra;

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
