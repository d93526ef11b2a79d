import { generate } from 'mqtt-packet';
import {
  deviceName,
  encodeLines,
  encodeSenmlTemplates,
  NUMBER_DIGITS,
  writeDigits,
} from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';

/**
 * MQTT 3.1.1, QoS 1. MQTT.js's own codec encodes some packets once. Each message is a copy of such a packet with its own device number,
 * packet id and time. A copy takes 1 µs, where MQTT.js takes 20 µs.
 */
export function createPackets(shape: Shape) {
  const encoded = shape.format === 'lines' ? encodeLines(shape) : encodeSenmlTemplates(shape);
  const name = deviceName(0);
  const topic = `iot/v1/${name}/measurements`;
  const templates = encoded.map(({ payload, numbersAt, writeTimes }) => {
    const packet = generate({
      cmd: 'publish',
      topic,
      payload,
      qos: 1,
      messageId: 1,
      dup: false,
      retain: false,
    });
    const payloadAt = packet.length - payload.length;
    const topicAt = payloadAt - 2 - topic.length;
    return {
      packet,
      idAt: payloadAt - 2,
      payloadAt,
      writeTimes,
      numbersAt: [
        topicAt + topic.indexOf(name) + name.length - NUMBER_DIGITS,
        ...numbersAt.map((at) => payloadAt + at),
      ],
    };
  });
  let next = 0;

  return {
    maxBytes: Math.max(...templates.map(({ packet }) => packet.length)),

    /** @param device number, and epoch ms of its first sample @param id packet id, 1 to 65,535 @returns position for the next packet */
    write(
      target: Buffer,
      at: number,
      { number, time }: { number: number; time: number },
      id: number,
    ): number {
      const template = templates[next] as (typeof templates)[number];
      next = next + 1 === templates.length ? 0 : next + 1;
      target.set(template.packet, at);
      target[at + template.idAt] = id >> 8;
      target[at + template.idAt + 1] = id & 255;
      template.writeTimes(target, at + template.payloadAt, time);
      for (const numberAt of template.numbersAt) writeDigits(target, at + numberAt, number, NUMBER_DIGITS);
      return at + template.packet.length;
    },
  };
}
