"""Sparkplug B messages for our tests, encoded by somebody else: by pysparkplug, and, for what it cannot say, by Google's
protobuf on its compiled schema. Run it in the environment of infra/python/readers.txt:

    .data/python/current/bin/python test/vectors/sparkplug.py > test/vectors/sparkplug.json
"""

import json

from pysparkplug import DataType, DBirth, DData, Metric, NBirth, NCmd, NData, NDeath
from pysparkplug._protobuf import Payload

# 2025-06-01T00:00:00Z.
T0 = 1_748_736_000_000
HOUR = 3_600_000

BD_SEQ = "bdSeq"
REBIRTH = "Node Control/Rebirth"


def metric(name, datatype, value, timestamp, alias=None, **flags):
    return Metric(timestamp=timestamp, name=name, datatype=datatype, value=value, alias=alias, **flags)


def with_units(encoded, units):
    """Adds the properties that pysparkplug does not know, among others, as edge nodes in the field do."""
    payload = Payload.FromString(encoded)
    for one in payload.metrics:
        if one.name not in units:
            continue
        for key, value in (("readOnly", True), ("engUnit", units[one.name]), ("tooltip", "x" * 200)):
            one.properties.keys.append(key)
            entry = one.properties.values.add()
            if isinstance(value, bool):
                entry.type, entry.boolean_value = 11, value
            else:
                entry.type, entry.string_value = 12, value
    return payload.SerializeToString()


def nbirth(at, bd_seq):
    metrics = (
        metric(BD_SEQ, DataType.UINT64, bd_seq, at),
        metric(REBIRTH, DataType.BOOLEAN, False, at),
        metric("Supply Voltage", DataType.FLOAT, 12.5, at, alias=1),
        metric("Properties/OS", DataType.STRING, "Raspbian", at, alias=2),
    )
    return with_units(NBirth(timestamp=at, seq=0, metrics=metrics).encode(), {"Supply Voltage": "V"})


def dbirth(at, seq, aliases, temperature=20.5):
    first, second, third = aliases
    metrics = (
        metric("Temperature", DataType.DOUBLE, temperature, at, alias=first),
        metric("Count", DataType.INT64, -5, at, alias=second),
        metric("Running", DataType.BOOLEAN, True, at, alias=third),
        metric("Model", DataType.STRING, "P-7", at, alias=13),
        metric("Setpoint", DataType.INT16, None, at, alias=14, is_null=True),
    )
    return with_units(DBirth(timestamp=at, seq=seq, metrics=metrics).encode(), {"Temperature": "°C", "Model": "none"})


def ddata(at, seq, alias, datatype, value):
    """As the specification wants it: an alias, no name, no data type."""
    return DData(timestamp=at, seq=seq, metrics=(metric(None, datatype, value, at, alias=alias),)).encode()


def ndata(at, seq, value):
    return NData(timestamp=at, seq=seq, metrics=(metric(None, DataType.FLOAT, value, at, alias=1),)).encode()


def ndeath(bd_seq):
    return NDeath(timestamp=None, bd_seq_metric=metric(BD_SEQ, DataType.UINT64, bd_seq, T0)).encode()


def ddeath(at, seq):
    payload = Payload(timestamp=at, seq=seq)
    return payload.SerializeToString()


def rebirth(at):
    command = metric(REBIRTH, DataType.BOOLEAN, True, at)
    return NCmd(timestamp=at, metrics=(command,)).encode(include_dtypes=True)


LIMITS = [
    ("Int8", DataType.INT8, [-128, -1, 127]),
    ("Int16", DataType.INT16, [-32768, -1, 32767]),
    ("Int32", DataType.INT32, [-(2**31), -1, 2**31 - 1]),
    ("Int64", DataType.INT64, [-(2**63), -(2**53), -1, 2**53, 2**63 - 1]),
    ("UInt8", DataType.UINT8, [0, 255]),
    ("UInt16", DataType.UINT16, [0, 65535]),
    ("UInt32", DataType.UINT32, [0, 2**32 - 1]),
    ("UInt64", DataType.UINT64, [0, 2**53 + 1, 2**64 - 1]),
    ("Float", DataType.FLOAT, [0.5, -1.25]),
    ("Double", DataType.DOUBLE, [0.1, -1e300]),
    ("Boolean", DataType.BOOLEAN, [False, True]),
]


def types():
    """Each limit of each type, a millisecond apart, with its data type said."""
    metrics = [
        metric(name, datatype, value, T0 + at)
        for name, datatype, values in LIMITS
        for at, value in enumerate(values)
    ]
    payload = Payload.FromString(DBirth(timestamp=T0, seq=1, metrics=tuple(metrics)).encode())
    moment = payload.metrics.add(name="DateTime", timestamp=T0, datatype=13)
    moment.long_value = T0
    return payload.SerializeToString()


def narrow_integers():
    """As other libraries have them: small negative integers in 32 bits, a UInt32 in the field of 64."""
    payload = Payload(timestamp=T0, seq=2)
    for name, datatype, field, value in (
        ("Int8", 1, "int_value", 2**32 - 1),
        ("Int16", 2, "int_value", 2**32 - 2),
        ("UInt32", 7, "long_value", 2**32 - 1),
        ("Int32", 3, "long_value", 2**64 - 3),
        ("Boolean", 11, "int_value", 1),
    ):
        one = payload.metrics.add(name=name, timestamp=T0 + 10, datatype=datatype)
        setattr(one, field, value)
    return payload.SerializeToString()


def nested(template, depth):
    for _ in range(depth):
        template = template.metrics.add(name="inner", datatype=19).template_value
    template.metrics.add(name="leaf", datatype=10).double_value = 1.0


def oddities():
    """What is skipped, and what is not: one metric of each kind."""
    payload = Payload(timestamp=T0, seq=3, uuid="a schema", body=b"\x00\xff")
    add = payload.metrics.add
    add(name="null", timestamp=T0, datatype=10, is_null=True)
    add(name="transient", timestamp=T0, datatype=10, is_transient=True).double_value = 1.0
    add(name="historical", timestamp=T0 - HOUR, datatype=10, is_historical=True).double_value = 2.0
    add(name="text", timestamp=T0, datatype=12).string_value = "ä" * 40
    add(name="bytes", timestamp=T0, datatype=17).bytes_value = bytes(range(256))
    table = add(name="table", timestamp=T0, datatype=16).dataset_value
    table.num_of_columns = 1
    table.columns.append("c")
    table.types.append(10)
    table.rows.add().elements.add().double_value = 3.0
    nested(add(name="template", timestamp=T0, datatype=19).template_value, 60)
    file = add(name="file", timestamp=T0, datatype=18)
    file.metadata.file_name = "f.bin"
    file.bytes_value = b"f"
    add(name="nan", timestamp=T0, datatype=10).double_value = float("nan")
    add(name="no time of its own", datatype=10).double_value = 4.0
    add(name="no type, a double", timestamp=T0).double_value = 5.0
    add(name="no type, an integer", timestamp=T0).int_value = 6
    return payload.SerializeToString()


def wide_aliases():
    """Two aliases that a double cannot tell apart."""
    aliases = {"one": 2**63 + 1, "two": 2**63 + 2}
    birth = tuple(metric(name, DataType.DOUBLE, 0.0, T0, alias=alias) for name, alias in aliases.items())
    data = tuple(metric(None, DataType.DOUBLE, 1.0 + at, T0 + 1, alias=alias) for at, alias in enumerate(aliases.values()))
    return {
        "birth": DBirth(timestamp=T0, seq=1, metrics=birth).encode(),
        "data": DData(timestamp=T0 + 1, seq=2, metrics=data).encode(),
    }


wide = wide_aliases()
vectors = {
    "nbirth": nbirth(T0, 7),
    "nbirthAgain": nbirth(T0 + HOUR, 7),
    "nbirthNext": nbirth(T0 + HOUR, 8),
    "dbirth": dbirth(T0 + 1, 1, (10, 11, 12)),
    "dbirthSwapped": dbirth(T0 + HOUR + 1, 1, (11, 10, 12), 30.5),
    # Sequence numbers 2 to 255, then 0 and on: a value a second.
    "ddata": [ddata(T0 + 1000 * n, n % 256, 10, DataType.DOUBLE, 20.0 + n) for n in range(2, 270)],
    "ddataSwapped": ddata(T0 + HOUR + 2000, 2, 10, DataType.INT64, 99),
    "ddataCount": ddata(T0 + 2500, 3, 11, DataType.INT64, -7),
    "ddataUnknown": ddata(T0 + 2000, 2, 99, DataType.DOUBLE, 1.0),
    "ndata": [ndata(T0 + 1000 * n, n % 256, 12.5 + n / 4) for n in range(1, 12)],
    "ndeath": ndeath(7),
    "ndeathBefore": ndeath(6),
    "ndeathNext": ndeath(8),
    "ddeath": ddeath(T0 + 5000, 2),
    "rebirth": rebirth(T0),
    "types": types(),
    "narrowIntegers": narrow_integers(),
    "oddities": oddities(),
    "wideBirth": wide["birth"],
    "wideData": wide["data"],
}


def to_hex(value):
    return [to_hex(one) for one in value] if isinstance(value, list) else value.hex()


print(json.dumps({name: to_hex(value) for name, value in vectors.items()}, indent=2))
