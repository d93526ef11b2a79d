"""Reads the events, dead letters and alarms in Kafka from the first record, and follows new records.

    pip install confluent-kafka
    python infra/kafka/examples/follow.py 127.0.0.1:9092

It prints each once: Kafka may hold one twice, with the same id. It needs STREAM_FORMAT=json, which is the default.
"""

import json
import sys
import time

from confluent_kafka import Consumer

BOOTSTRAP = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9092"
PREFIX = sys.argv[2] if len(sys.argv) > 2 else "millrace"

consumer = Consumer(
    {"bootstrap.servers": BOOTSTRAP, "group.id": f"follow-{time.time()}", "auto.offset.reset": "earliest"}
)
consumer.subscribe([f"{PREFIX}.{kind}.v1" for kind in ("events", "dead-letters", "alarms")])
seen = set()
try:
    while True:
        message = consumer.poll(1.0)
        if message is None or message.error():
            continue
        record = json.loads(message.value())
        name = (message.topic(), record["id"])
        if name not in seen:
            seen.add(name)
            print(json.dumps(record), flush=True)
except KeyboardInterrupt:
    consumer.close()
