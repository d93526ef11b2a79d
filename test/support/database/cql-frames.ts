/** Readers for the parts of CQL frames that tests need: native_protocol_v4.spec, sections 2, 3 and 4. */

const HEADER_BYTES = 9;

/** The body begins with a list of warnings. */
const WARNING = 0x08;

export interface Frame {
  opcode: number;
  stream: number;
  /** without warnings */
  body: Buffer;
  /** the whole frame */
  bytes: Buffer;
}

export function createFrameReader(): (chunk: Buffer) => Frame[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const frames = [];
    while (rest.length >= HEADER_BYTES && rest.length >= HEADER_BYTES + rest.readInt32BE(5)) {
      const end = HEADER_BYTES + rest.readInt32BE(5);
      frames.push({
        opcode: rest.readUInt8(4),
        stream: rest.readInt16BE(2),
        body: withoutWarnings(rest.readUInt8(1), rest.subarray(HEADER_BYTES, end)),
        bytes: rest.subarray(0, end),
      });
      rest = rest.subarray(end);
    }
    return frames;
  };
}

function withoutWarnings(flags: number, body: Buffer) {
  if (!(flags & WARNING)) return body;
  const read = createBodyReader(body);
  for (let left = read.short(); left > 0; left--) read.string();
  return read.rest();
}

export function createBodyReader(body: Buffer) {
  let offset = 0;
  const take = (length: number) => {
    offset += length;
    return body.subarray(offset - length, offset);
  };
  const reader = {
    byte: () => take(1).readUInt8(),
    short: () => take(2).readUInt16BE(),
    int: () => take(4).readInt32BE(),
    rest: () => body.subarray(offset),
    string: () => take(reader.short()).toString(),
    longString: () => take(reader.int()).toString(),
    shortBytes: () => take(reader.short()),
    /** A value: null if it is null (-1) or unset (-2). */
    value: () => {
      const length = reader.int();
      return length < 0 ? null : take(length);
    },
  };
  return reader;
}
