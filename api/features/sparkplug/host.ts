import { LRUCache } from 'lru-cache';
import protobuf from 'protobufjs/minimal.js';
import { STATES_2, stateTopic } from '../../../schema/sparkplug-topics.ts';
import type { Send } from '../../ingest/pipeline.ts';
import type { PresenceMessages } from '../../ingest/topics.ts';

/**
 * State messages are retained, with QoS 1. While its primary host is offline, an edge node stores its data
 * (tck-id-operational-behavior-primary-application-state-with-multiple-servers-walk).
 *
 * Sparkplug requires a clean session of hosts (tck-id-message-flow-phid-sparkplug-clean-session-50). The client of an external broker uses
 * a persistent session, because it acknowledges after the commit: an NDEATH has QoS 1, and a node whose NDEATH was missed during a restart
 * would stay online forever. Births have QoS 0, and no broker keeps them for a disconnected client.
 */
export class Host implements PresenceMessages {
  #clock;
  #connectedAt;
  #id;
  topic;
  hint = 'set SPARKPLUG to false';

  constructor({
    id,
    clock,
  }: {
    /** unique in the installation (tck-id-operational-behavior-host-application-host-id) */
    id: string;
    /** epoch ms */
    clock: () => number;
  }) {
    this.#clock = clock;
    this.#id = id;
    this.topic = stateTopic(id);
    this.#connectedAt = clock();
  }

  /** The last will of the next connection (tck-id-host-topic-phid-death-payload-timestamp-connect). */
  will() {
    this.#connectedAt = this.#clock();
    return this.#message(false, this.#connectedAt);
  }

  /** It has the timestamp of the last will (tck-id-host-topic-phid-birth-payload-timestamp). */
  birth() {
    return this.#message(true, this.#connectedAt);
  }

  /** Published before an orderly end (tck-id-operational-behavior-host-application-termination). */
  death() {
    return this.#message(false, this.#clock());
  }

  /** For edge nodes of Sparkplug 2.2. */
  furtherStates(online: boolean) {
    const payload = Buffer.from(online ? 'ONLINE' : 'OFFLINE');
    return [{ topic: STATES_2 + this.#id, payload, qos: 1 as const, retain: true }];
  }

  /** The message wrongly reports this host as offline: it is a late will, or comes from another host. */
  reportsOffline(payload: Buffer): boolean {
    try {
      return JSON.parse(payload.toString('utf8')).online === false;
    } catch {
      return false;
    }
  }

  #message(online: boolean, timestamp: number) {
    return {
      topic: this.topic,
      payload: Buffer.from(JSON.stringify({ online, timestamp })),
      qos: 1 as const,
      retain: true,
    };
  }
}

/** A birth with thousands of metrics takes a while. */
const EVERY_MS = 10_000;

const MAX_REQUESTED = 100_000;

/** tck-id-operational-behavior-data-commands-ncmd-rebirth-verb */
export class Rebirths {
  #send;
  #clock;
  #onRequest;
  /** epoch ms by command topic */
  #requested: LRUCache<string, number> = new LRUCache({ max: MAX_REQUESTED });

  constructor({
    send,
    clock,
    onRequest,
  }: {
    send: Send;
    /** epoch ms */
    clock: () => number;
    onRequest: () => void;
  }) {
    this.#send = send;
    this.#clock = clock;
    this.#onRequest = onRequest;
  }

  /** Sends at most one request in 10 s. `topic`: the command topic of the node */
  request(topic: string) {
    const now = this.#clock();
    // Otherwise requests would stop after the clock was set back, until it reaches the old time.
    if (Math.abs(now - (this.#requested.get(topic) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return;
    this.#requested.set(topic, now);
    this.#onRequest();
    this.#send(topic, encodeRebirth(now));
  }
}

const { Writer } = protobuf;

/** index of the data type */
const BOOLEAN = 11;

/**
 * One metric with the value true, a timestamp, and no sequence number
 * (tck-id-operational-behavior-data-commands-ncmd-rebirth-name, tck-id-payloads-ncmd-timestamp,
 * tck-id-payloads-ncmd-seq).
 */
export function encodeRebirth(now: number): Buffer {
  const writer = Writer.create();
  writer.uint32(1 << 3).uint64(now);
  writer.uint32((2 << 3) | 2).fork();
  writer.uint32((1 << 3) | 2).string('Node Control/Rebirth');
  writer.uint32(3 << 3).uint64(now);
  writer.uint32(4 << 3).uint32(BOOLEAN);
  writer.uint32(14 << 3).bool(true);
  writer.ldelim();
  return Buffer.from(writer.finish());
}
