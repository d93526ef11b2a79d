import { LRUCache } from 'lru-cache';
import protobuf from 'protobufjs/minimal.js';
import { STATES_2, stateTopic } from '../../../schema/sparkplug-topics.ts';
import type { Send } from '../pipeline.ts';

/**
 * Creates the state messages of a Sparkplug host application: online or offline, retained, with QoS 1. While its primary host is
 * offline, an edge node stores its data (tck-id-operational-behavior-primary-application-state-with-multiple-servers-walk).
 */
export class Host {
  #clock;
  #connectedAt;
  #id;
  /** The topic of the state messages. */
  topic;

  constructor({
    id,
    clock,
  }: {
    /** host id, unique in the installation (tck-id-operational-behavior-host-application-host-id) */
    id: string;
    /** epoch ms */
    clock: () => number;
  }) {
    this.#clock = clock;
    this.#id = id;
    this.topic = stateTopic(id);
    this.#connectedAt = clock();
  }

  /** Returns the last will of the next connection (tck-id-host-topic-phid-death-payload-timestamp-connect). */
  will() {
    this.#connectedAt = this.#clock();
    return this.#message(false, this.#connectedAt);
  }

  /**
   * Returns the birth certificate of the host, with the timestamp of the last will
   * (tck-id-host-topic-phid-birth-payload-timestamp).
   */
  birth() {
    return this.#message(true, this.#connectedAt);
  }

  /**
   * Returns the death certificate of the host, which is published before an orderly end
   * (tck-id-operational-behavior-host-application-termination).
   */
  death() {
    return this.#message(false, this.#clock());
  }

  /**
   * Returns the state for edge nodes of Sparkplug 2.2. Only the embedded broker publishes it, because a connection to an external broker
   * has one last will.
   */
  stateOfVersion2(online: boolean) {
    return {
      topic: STATES_2 + this.#id,
      payload: Buffer.from(online ? 'ONLINE' : 'OFFLINE'),
      qos: 1 as const,
      retain: true,
    };
  }

  /**
   * Reads a state message.
   * @param payload payload of a state message with the id of this host
   * @returns whether the message wrongly reports this host as offline. Such a message is a late will, or comes from
   * another host
   */
  reportsOffline(payload: Buffer): boolean {
    try {
      return JSON.parse(payload.toString('utf8')).online === false;
    } catch {
      return false;
    }
  }

  /** @param timestamp epoch ms */
  #message(online: boolean, timestamp: number) {
    return {
      topic: this.topic,
      payload: Buffer.from(JSON.stringify({ online, timestamp })),
      qos: 1 as const,
      retain: true,
    };
  }
}

/** Minimum time between two rebirth requests to one edge node, in ms, because a birth with thousands of metrics takes a while. */
const EVERY_MS = 10_000;

/** Limit of nodes for which the time of the last request is remembered. */
const MAX_REQUESTED = 100_000;

/** Requests rebirths from edge nodes (tck-id-operational-behavior-data-commands-ncmd-rebirth-verb). */
export class Rebirths {
  #send;
  #clock;
  #onRequest;
  /** Time of the last request in epoch ms, by command topic. */
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

  /** Requests a rebirth from a node, at most once in 10 s. @param topic the command topic of the node */
  request(topic: string) {
    const now = this.#clock();
    // The absolute difference is compared. Otherwise requests would stop after the clock was set back, until it reaches the old time.
    if (Math.abs(now - (this.#requested.get(topic) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return;
    this.#requested.set(topic, now);
    this.#onRequest();
    this.#send(topic, encodeRebirth(now));
  }
}

const { Writer } = protobuf;

/** Index of the data type Boolean. */
const BOOLEAN = 11;

/**
 * Encodes the rebirth command: one metric with the value true, a timestamp, and no sequence number
 * (tck-id-operational-behavior-data-commands-ncmd-rebirth-name, tck-id-payloads-ncmd-timestamp, tck-id-payloads-ncmd-seq).
 * @param now epoch ms
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
