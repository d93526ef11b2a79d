import { randomUUID } from 'node:crypto';
import mqtt from 'mqtt';
import { Component, type Setup, type Subject, TOPIC } from './subjects.ts';

/** A persistent subscriber at QoS 1. While it is stopped, the broker keeps its session. */
export function createSubscriber(
  { url, version }: Pick<Subject, 'url' | 'version'>,
  trace: Setup['trace'],
): Pick<Subject, 'consumer' | 'received'> {
  const received: Set<number> = new Set();
  const clientId = `acks-${randomUUID()}`;

  async function start() {
    let isStalled = false;
    let resume = () => {};
    const client = mqtt.connect(url(), {
      clientId,
      clean: false,
      protocolVersion: version,
      properties: version === 5 ? { sessionExpiryInterval: 86_400 } : {},
      keepalive: 0,
      // NATS closes the connection of a slow subscriber, and keeps its messages.
      reconnectPeriod: 500,
    });
    client.on('error', ({ message }) => trace(`subscriber: ${message}`));
    client.on('connect', (connack) =>
      trace(`subscriber < CONNACK session present: ${connack.sessionPresent}`),
    );
    client.handleMessage = ({ payload, dup, messageId }, acknowledge) => {
      const { value } = JSON.parse(payload.toString());
      trace(`subscriber < PUBLISH id ${messageId}${dup ? ' DUP' : ''}: message ${value}`);
      received.add(value);
      if (isStalled) resume = acknowledge;
      else acknowledge();
    };
    await client.subscribeAsync(TOPIC, { qos: 1 });

    /** Stopped by a signal like a program, it stays connected and acknowledges nothing. */
    function onSignal(name: string) {
      isStalled = name === 'SIGSTOP';
      if (!isStalled) resume();
    }
    return { onSignal, stop: () => client.endAsync(true) };
  }
  return { consumer: new Component(start), received: async () => received };
}
