import protobuf from 'protobufjs/minimal.js';

const { Writer } = protobuf;

/** Index of the data type Boolean. */
const BOOLEAN = 11;

/**
 * The command to be born anew: one metric with the value true, a timestamp, and no sequence number
 * (tck-id-operational-behavior-data-commands-ncmd-rebirth-name, tck-id-payloads-ncmd-timestamp, tck-id-payloads-ncmd-seq).
 *
 * @param {number} now epoch ms
 * @returns {Buffer}
 */
export function encodeRebirth(now) {
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
