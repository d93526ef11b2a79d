"""Reads all batches in Kafka up to a given time. Stops when the watermarks show that no record before this time is missing.

    pip install confluent-kafka
    python infra/kafka/examples/until_watermark.py 127.0.0.1:9092 2026-11-22T10:00:00Z

It prints one JSON line for each sample. Kafka may hold a sample twice, so its key is sensor and time.
It needs STREAM_FORMAT=json and STREAM_EXPLODE=false, which are the defaults.
"""

import json
import sys
import time
from datetime import datetime

from confluent_kafka import Consumer, TopicPartition

BOOTSTRAP, END, PREFIX = (sys.argv[1:] + [None, None])[:2] + [(sys.argv[3:] or ["millrace"])[0]]


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


UNTIL = instant(END)


def read_to_end(topic):
    """Yields the records of a topic from the first record to the current end."""
    consumer = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": f"until-watermark-{time.time()}"})
    partitions = consumer.list_topics(topic).topics[topic].partitions
    ends = {}
    for partition in partitions:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition))
        if high > low:
            ends[partition] = high
    consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
    while ends:
        message = consumer.poll(1.0)
        if message is None or message.error():
            continue
        yield json.loads(message.value())
        if message.partition() in ends and message.offset() + 1 >= ends[message.partition()]:
            del ends[message.partition()]
    consumer.close()


def is_complete():
    """Returns whether the records of all shards (groups of devices) are complete up to the given time."""
    newest = {mark["shard"]: mark for mark in read_to_end(f"{PREFIX}.watermarks.v1")}
    marks = list(newest.values())
    return bool(marks) and len(marks) == marks[0]["shards"] and all(instant(mark["topics"]["batches"]) >= UNTIL for mark in marks)


while not is_complete():
    time.sleep(10)

samples = {}
for batch in read_to_end(f"{PREFIX}.batches.v1"):
    for sensor in batch["sensors"]:
        for ts, value in sensor["samples"]:
            if ts < UNTIL:
                key = (sensor["sensor_id"], ts)
                samples[key] = {"device": batch["device"], "sensor": sensor["sensor"], "ts": ts, "value": value}
for sample in samples.values():
    print(json.dumps(sample))
