"""Reads the column `samples` of the tables message and history. docs/reference/packed-form.md describes the bytes."""
import itertools, struct, zlib

def read_samples(bucket_ms, blob):
    """Returns the samples of one row of history: a list of (epoch ms, value), oldest first. merge_rows also reads corrections."""
    readers = {b"\x01": read_arrays, b"\x02": read_hour}
    if blob[:1] not in readers:
        raise ValueError(f"version {blob[:1].hex()} is not known")
    times, values = readers[blob[:1]](blob[1:])
    if times[0] < 0 or times[-1] >= 3_600_000 or any(a >= b for a, b in zip(times, times[1:])):
        raise ValueError("times must ascend and lie within the hour")
    return [(bucket_ms + time, value) for time, value in zip(times, values)]

def read_revision(bucket_ms, blob):
    """Returns a row of history in any version: its revision (epoch µs; 0: no correction), the revision that it undoes (0: none),
    its spans (epoch ms) and its samples."""
    if blob[:1] == b"\x06" and len(blob) == 17:
        at, undoes = struct.unpack_from("<QQ", blob, 1)
        if not 0 < undoes < at < 2**53:
            raise ValueError("not an undo")
        return at, undoes, [], []
    if blob[:1] != b"\x05":
        return 0, 0, [], read_samples(bucket_ms, blob)
    if len(blob) < 13:
        raise ValueError("a revision is cut short")
    at, n = struct.unpack_from("<QI", blob, 1)
    end = 13 + 8 * n
    if not 0 < at < 2**53 or end > len(blob) or n == 0 and end == len(blob):
        raise ValueError("not a revision")
    bounds = struct.unpack_from(f"<{2 * n}I", blob, 13)
    spans = list(zip(bounds[::2], bounds[1::2]))
    if any(a >= b for a, b in spans) or any(b > c for b, c in zip(bounds[1::2], bounds[2::2])) or bounds[-1:] > (3_600_000,):
        raise ValueError("spans must ascend and lie within the hour")
    samples = read_samples(bucket_ms, blob[end:]) if end < len(blob) else []
    return at, 0, [(bucket_ms + a, bucket_ms + b) for a, b in spans], samples

def read_bundle(blob):
    """Returns the corrections of a row of history in version 7, or the row itself in any other version."""
    if blob[:1] != b"\x07":
        return [blob]
    parts, at = [], 1
    while at < len(blob) or at == 1:
        if len(blob) - at < 4:
            raise ValueError("a bundle is cut short")
        (length,) = struct.unpack_from("<I", blob, at)
        parts.append(blob[at + 4:at + 4 + length])
        at += 4 + length
        if at > len(blob) or parts[-1][:1] not in (b"\x05", b"\x06"):
            raise ValueError("not a bundle of corrections")
    return parts

def merge_rows(bucket_ms, blobs):
    """Returns the samples of all rows of history of one hour, after corrections: a list of (epoch ms, value), oldest first."""
    rows, undone, best = [read_revision(bucket_ms, part) for blob in blobs for part in read_bundle(blob)], set(), {}
    for at, undoes, _, _ in sorted(rows, key=lambda row: -row[0]):
        if undoes and at not in undone:
            undone.add(undoes)
    rows = [row for row in rows if row[0] not in undone]
    for at, _, _, samples in rows:
        for time, value in samples:
            best[time] = max(best.get(time, (0, b"", None)), (at, struct.pack(">d", value), value), key=lambda one: one[:2])
    removed = lambda time: max([at for at, _, spans, _ in rows if any(a <= time < b for a, b in spans)], default=0)
    return [(time, value) for time, (at, _, value) in sorted(best.items()) if at >= removed(time)]

def read_block(bucket_ms, blob):
    """Returns the samples of one row of message: a dict from sensor id (16 bytes) to a list of (epoch ms, value)."""
    if blob[:1] != b"\x03" or len(blob) < 2:
        raise ValueError("not a block")
    sensors, at, times = {}, 1, ()
    while at < len(blob):
        if len(blob) - at < 18:
            raise ValueError("a header is cut short")
        sensor, (n,) = blob[at:at + 16], struct.unpack_from("<H", blob, at + 16)
        at += 18
        if len(blob) - at < 12 * n or n == 0 and (not times or len(blob) - at < 8 * len(times)):
            raise ValueError("samples are missing")
        if n > 0:
            times, at = struct.unpack_from(f"<{n}I", blob, at), at + 4 * n
        values, at = struct.unpack_from(f"<{len(times)}d", blob, at), at + 8 * len(times)
        if times[-1] >= 3_600_000 or any(a >= b for a, b in zip(times, times[1:])):
            raise ValueError("times must ascend and lie within the hour")
        sensors.setdefault(sensor, []).extend((bucket_ms + t, v) for t, v in zip(times, values))
    return sensors

def read_arrays(rest):
    n, left = divmod(len(rest), 12)
    if n < 1 or left:
        raise ValueError(f"{len(rest)} bytes are no whole number of samples")
    return struct.unpack_from(f"<{n}I", rest), struct.unpack_from(f"<{n}d", rest, 4 * n)

def read_hour(rest):
    stream = Stream(rest)
    form, n = stream.take(1)[0], stream.varint(65_536)
    if n < 1 or form > 4:
        raise ValueError(f"form {form} of {n} samples is not known")
    origin, interval = stream.varint(2**53), stream.varint(2**53)
    missed, deviations = stream.column(n), stream.column(n)
    ticks = (i + gaps for i, gaps in enumerate(itertools.accumulate(missed)))
    times = [(origin + interval * s >> 24) + d for s, d in zip(ticks, deviations)]
    values = read_values(stream, form, n)
    if stream.data:
        raise ValueError("bytes are left over")
    return times, values

def read_values(stream, form, n):
    if form in (2, 3):
        power, zeros = 10 ** stream.varint(12), stream.varint(n)
        minus = stream.indexes(zeros, n) if zeros else []
        values = [number / power for number in stream.column(n)]
        for i in minus:
            values[i] = -0.0
        return values if form == 2 else [struct.unpack("<f", struct.pack("<f", v))[0] for v in values]
    if form == 1:
        return [struct.unpack("<f", struct.pack("<I", v & 0xFFFFFFFF))[0] for v in stream.column(n)]
    size = stream.varint(n) if form == 4 else n
    doubles = [struct.unpack("<d", struct.pack("<q", v))[0] for v in stream.column(size)]
    if form == 0:
        return doubles
    return [doubles[i] for i in stream.indexes(n, size)]

class Stream:
    def __init__(self, data):
        self.data = data

    def take(self, length):
        part, self.data = self.data[:length], self.data[length:]
        if len(part) < length:
            raise ValueError("bytes are missing")
        return part

    def varint(self, limit):
        code = 0
        for shift in range(0, 64, 7):
            byte = self.take(1)[0]
            code |= (byte & 0x7F) << shift
            if byte < 0x80 and code <= limit:
                return code
            if byte < 0x80:
                break
        raise ValueError(f"a number is greater than {limit}")

    def signed(self):
        code = self.varint(2**64 - 1)
        return (code >> 1) ^ -(code & 1)

    def column(self, n):
        head = self.take(1)[0]
        order, planes = head & 3, head >> 2
        if order > 2 or planes > 8:
            raise ValueError(f"a column {head:02x} is not known")
        start = self.signed()
        slope = self.signed() if order == 2 else None
        codes = [0] * n
        for rank in range(planes):
            codes = [code | byte << 8 * rank for code, byte in zip(codes, self.plane(n))]
        numbers = [(code >> 1) ^ -(code & 1) for code in codes]
        if order == 2:
            numbers = list(itertools.accumulate(numbers, initial=slope))[1:]
        if order > 0:
            numbers = itertools.accumulate(numbers, initial=0)
            next(numbers)
        return [(start + number + 2**63) % 2**64 - 2**63 for number in numbers]

    def indexes(self, n, size):
        indexes = self.column(n)
        if min(indexes) < 0 or max(indexes) >= size:
            raise ValueError(f"an index is not one of {size}")
        return indexes

    def plane(self, n):
        length = self.varint(n)
        if length == 0:
            return self.take(1) * n
        part = self.take(length)
        if length == n:
            return part
        inflater = zlib.decompressobj(-15)
        try:
            part = inflater.decompress(part, n + 1)
        except zlib.error as error:
            raise ValueError("a plane cannot be inflated") from error
        if len(part) != n or not inflater.eof:
            raise ValueError("a plane has not as many bytes as samples")
        return part
