import protobuf from 'protobufjs/minimal.js';

const { Writer } = protobuf;

/** Indexes of data types (Sparkplug 3.0, section 6.4.16). */
export const TYPES = { int32: 3, uint64: 8, double: 10, boolean: 11, string: 12 } as const;

export interface MetricContent {
  name?: string;
  alias?: number;
  ts?: number;
  /** written as in births */
  type?: keyof typeof TYPES;
  value: number | boolean | string;
}

/** Encodes a payload (Sparkplug 3.0, section 6.4.1). */
export function encodePayload({
  ts,
  seq,
  metrics = [],
}: {
  /** epoch ms */
  ts?: number;
  seq?: number;
  metrics?: MetricContent[];
}): Buffer {
  const writer = Writer.create();
  if (ts !== undefined) writer.uint32(1 << 3).uint64(ts);
  for (const metric of metrics) writeMetric(writer.uint32((2 << 3) | 2).fork(), metric).ldelim();
  if (seq !== undefined) writer.uint32(3 << 3).uint64(seq);
  return Buffer.from(writer.finish());
}

function writeMetric(writer: protobuf.Writer, { name, alias, ts, type, value }: MetricContent) {
  if (name !== undefined) writer.uint32((1 << 3) | 2).string(name);
  if (alias !== undefined) writer.uint32(2 << 3).uint64(alias);
  if (ts !== undefined) writer.uint32(3 << 3).uint64(ts);
  if (type !== undefined) writer.uint32(4 << 3).uint32(TYPES[type]);
  if (typeof value === 'boolean') return writer.uint32(14 << 3).bool(value);
  if (typeof value === 'string') return writer.uint32((15 << 3) | 2).string(value);
  if (type === 'int32') return writer.uint32(10 << 3).uint32(value >>> 0);
  if (type === 'uint64') return writer.uint32(11 << 3).uint64(value);
  return writer.uint32((13 << 3) | 1).double(value);
}

/** @returns by which a death finds its birth */
export const bdSeq = (bdSeq: number): MetricContent => ({ name: 'bdSeq', type: 'uint64', value: bdSeq });
