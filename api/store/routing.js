import cassandra from 'cassandra-driver';

/** @import { policies as DriverPolicies, Client, ClientOptions, Host } from 'cassandra-driver' */

const { policies, types } = cassandra;

/** Which nodes hold a partition is found anew after this long, in ms: topology and replication change. */
const KEPT_MS = 30_000;

/**
 * Sends a request to a replica of its partition, as the driver's own TokenAwarePolicy does, and finds the replicas once
 * for each routing key that is handed in again: the driver's Murmur3, in JavaScript, took a sixth of ingest's CPU at
 * ten samples a message. So whoever writes to the same partition again and again hands in the very same Buffer.
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
   * @param {Buffer} key routing key; the very same Buffer each time for one partition
   * @returns {string | null} names the nodes of our data centre that hold it; null: unknown
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

  /** @param {string} keyspace @param {Buffer} key @returns {Host[]} in our data centre */
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
 * @returns {((key: Buffer) => string | null) | undefined} names the nodes that hold a partition; undefined: the client has another policy
 */
export function findReplicaSets(client) {
  // The typings leave out the options that a client was made with.
  const { options } = /** @type {{ options?: ClientOptions }} */ (/** @type {unknown} */ (client));
  const policy = options?.policies?.loadBalancing;
  if (!(policy instanceof RememberedReplicasPolicy)) return undefined;
  return (key) => policy.replicaSetOf(client.keyspace, key);
}

/**
 * @param {Host[]} replicas each as likely to be the first
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
 * The routing key of a partition, to be kept by whoever writes to it again (native_protocol_v4.spec leaves it to
 * drivers; servers build composite keys so: each part with its length before and a zero byte behind).
 *
 * @param {Buffer[]} parts the partition key's values as CQL has them, in order
 * @returns {Buffer}
 */
export function routingKey(...parts) {
  const [only] = parts;
  if (parts.length === 1 && only) return Buffer.from(only);
  return Buffer.concat(
    parts.flatMap((part) => [Buffer.from([part.length >> 8, part.length & 255]), part, Buffer.alloc(1)]),
  );
}
