import cassandra from 'cassandra-driver';

/** @import { policies as DriverPolicies, Client, ClientOptions, Host } from 'cassandra-driver' */

const { policies, types } = cassandra;

/** Time in ms after which the cache of replicas is cleared, because topology and replication may change. */
const KEPT_MS = 30_000;

/**
 * Sends a request to a replica of its partition, as the driver's TokenAwarePolicy does, and caches the replicas by
 * routing key. Without the cache, the driver's Murmur3 in JavaScript took a sixth of ingest's CPU at ten samples per
 * message. The cache compares Buffers by identity, so pass the same Buffer object for the same partition.
 */
export class RememberedReplicasPolicy extends policies.loadBalancing.LoadBalancingPolicy {
  /** @type {WeakMap<Buffer, Host[]>} */
  #replicas = new WeakMap();
  /** @type {WeakMap<Host[], string>} */
  #names = new WeakMap();
  #rememberedAt = 0;
  #nodes;
  /** @type {Client | undefined} */
  #client;

  /** @param {string} localDc */
  constructor(localDc) {
    super();
    this.#nodes = new policies.loadBalancing.DCAwareRoundRobinPolicy(localDc);
  }

  /** @type {DriverPolicies.loadBalancing.LoadBalancingPolicy['init']} */
  init(client, hosts, callback) {
    this.#client = client;
    this.#nodes.init(client, hosts, callback);
  }

  /** @param {Host} host */
  getDistance(host) {
    return this.#nodes.getDistance(host);
  }

  /** @type {DriverPolicies.loadBalancing.LoadBalancingPolicy['newQueryPlan']} */
  newQueryPlan(keyspace, options, callback) {
    const key = options?.getRoutingKey();
    const replicas = Buffer.isBuffer(key) ? this.#replicasOf(options.getKeyspace() ?? keyspace, key) : [];
    this.#nodes.newQueryPlan(keyspace, options, (error, others) =>
      callback(error, replicas.length > 0 ? replicasFirst(replicas, others) : others),
    );
  }

  /**
   * @param {string} keyspace
   * @param {Buffer} key routing key; the same Buffer object for the same partition
   * @returns {string | null} a name for the partition's set of replicas in the local data center; null: unknown
   */
  replicaSetOf(keyspace, key) {
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

  /** @param {string} keyspace @param {Buffer} key @returns {Host[]} replicas in the local data center */
  #replicasOf(keyspace, key) {
    const now = Date.now();
    if (Math.abs(now - this.#rememberedAt) > KEPT_MS) {
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

/**
 * @param {Client} client
 * @returns {((key: Buffer) => string | null) | undefined} function that names the replica set of a partition; undefined: the client
 *   has another load balancing policy
 */
export function findReplicaSets(client) {
  // The driver's types lack the options of a client.
  const { options } = /** @type {{ options?: ClientOptions }} */ (/** @type {unknown} */ (client));
  const policy = options?.policies?.loadBalancing;
  if (!(policy instanceof RememberedReplicasPolicy)) return undefined;
  return (key) => policy.replicaSetOf(client.keyspace, key);
}

/**
 * Creates a query plan: first the replicas, then the other nodes.
 *
 * @param {Host[]} replicas each replica has the same probability of being first
 * @param {Iterator<Host>} others
 * @returns {Iterator<Host, undefined>}
 */
function replicasFirst(replicas, others) {
  const first = Math.floor(Math.random() * replicas.length);
  let taken = 0;
  return {
    next() {
      if (taken < replicas.length) {
        const value = /** @type {Host} */ (replicas[(first + taken++) % replicas.length]);
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
 * Computes the routing key of a partition. Use one Buffer object for all writes to a partition. A composite key has the
 * length before each part and a zero byte after it, as the servers encode it (native_protocol_v4.spec leaves this to
 * drivers).
 *
 * @param {Buffer[]} parts the CQL encoding of the partition key's columns, in order
 * @returns {Buffer}
 */
export function routingKey(...parts) {
  const [only] = parts;
  if (parts.length === 1 && only) return Buffer.from(only);
  return Buffer.concat(
    parts.flatMap((part) => [Buffer.from([part.length >> 8, part.length & 255]), part, Buffer.alloc(1)]),
  );
}
