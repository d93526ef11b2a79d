import { generate } from 'mqtt-packet';
import {
  deviceName,
  encodeLines,
  encodePayloads,
  NUMBER_DIGITS,
  writeDigits,
  writeTime,
} from '../load/payloads.js';

/** @import { Template } from '../load/payloads.js' */
/** @import { Shape } from '../load/shapes.js' */

/**
 * The PUBLISH packets of a load (MQTT 3.1.1, QoS 1), encoded once by MQTT.js's own codec. For each message one is
 * copied, and the device's number, the packet id and the time are written into the copy: 1 µs, where MQTT.js takes 20.
 *
 * @param {Shape} shape
 */
export function createPackets(shape) {
  const encoded = shape.format === 'lines' ? encodeLines(shape) : encodeSenml(shape);
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
    /** Bytes of the largest packet. */
    most: Math.max(...templates.map(({ packet }) => packet.length)),

    /**
     * @param {Buffer} target
     * @param {number} at
     * @param {{ number: number, time: number }} device and epoch ms of its first sample
     * @param {number} id packet id, 1 to 65,535
     * @returns {number} where the next one goes
     */
    write(target, at, { number, time }, id) {
      const template = /** @type {typeof templates[number]} */ (templates[next]);
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

/** @typedef {ReturnType<typeof createPackets>} Packets */

/** @param {Shape} shape @returns {Template[]} of one base time each */
function encodeSenml(shape) {
  const { payloads, timeAt } = encodePayloads(shape);
  return payloads.map((payload) => ({
    payload,
    numbersAt: [],
    writeTimes: (bytes, from, time) => writeTime(bytes, from + timeAt, time),
  }));
}
