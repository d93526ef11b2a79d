"""Publishes measurements over MQTT."""

import json
import queue
import threading
import time
from datetime import datetime, timezone

import paho.mqtt.client as mqtt

#: Maximum number of measurements in one message. The API accepts 10,000.
MOST_IN_MESSAGE = 1000

#: Seconds for which the first measurement of a message waits for further measurements.
GATHER_SECONDS = 0.2


class Publisher:
    """
    Publishes measurements of one device, with QoS 1 and a bounded queue. A measurement leaves the queue when the broker has
    acknowledged it, which Millrace's own broker does after the commit. While the broker is away, the queue fills, and `publish` waits.
    """

    def __init__(
        self,
        device: str,
        host: str = '127.0.0.1',
        port: int = 1883,
        *,
        username: str | None = None,
        password: str | None = None,
        tls: bool = False,
        queue_size: int = 100_000,
    ):
        if any(character in device for character in '/+#'):
            raise ValueError('the name of a device in a topic has no /, + or #')
        self._topic = f'iot/v1/{device}/measurements'
        self._queue: queue.Queue[dict] = queue.Queue(queue_size)
        self._closing = threading.Event()
        self._acknowledgement = threading.Condition()
        #: The id of the last message that was acknowledged. One message is in flight at a time.
        self._acknowledged: int | None = None
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self._client.on_publish = self._on_publish
        if username is not None:
            self._client.username_pw_set(username, password)
        if tls:
            self._client.tls_set()
        self._client.connect_async(host, port)
        self._client.loop_start()
        self._worker = threading.Thread(target=self._work, name='millrace-publisher', daemon=True)
        self._worker.start()

    def __enter__(self) -> 'Publisher':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def waiting(self) -> int:
        """Number of measurements that are not acknowledged yet."""
        return self._queue.unfinished_tasks

    def publish(
        self, sensor: str, value: float, ts: datetime | None = None, *, timeout: float | None = None
    ) -> None:
        """
        Queues a measurement. `ts` (default: now) has a time zone. Waits while the queue is full.

        Raises `queue.Full` after `timeout` seconds (default: never).
        """
        if self._closing.is_set():
            raise RuntimeError('the publisher is closed')
        if ts is not None and ts.tzinfo is None:
            raise ValueError('ts needs a time zone, such as datetime.now(timezone.utc)')
        at = time.time() if ts is None else ts.timestamp()
        instant = datetime.fromtimestamp(round(1000 * at) / 1000, timezone.utc)
        # The time is sent as text, because the meaning of a number depends on the setting TS_UNIT of the API.
        text = instant.isoformat(timespec='milliseconds').replace('+00:00', 'Z')
        self._queue.put({'sensor_id': sensor, 'ts': text, 'value': float(value)}, timeout=timeout)

    def flush(self, timeout: float | None = None) -> bool:
        """Waits at most `timeout` seconds for all acknowledgements. Returns whether all have arrived."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks > 0:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._queue.all_tasks_done.wait(left)
        return True

    def close(self, timeout: float | None = 30) -> bool:
        """Flushes and disconnects. Returns whether all measurements were acknowledged."""
        is_flushed = self.flush(timeout)
        self._closing.set()
        self._worker.join(timeout=5)
        self._client.disconnect()
        self._client.loop_stop()
        return is_flushed

    def _work(self) -> None:
        while not self._closing.is_set():
            measurements = self._gather()
            if not measurements:
                continue
            # While disconnected, the MQTT client keeps the message, and sends it after the next connect.
            message_id = self._client.publish(self._topic, json.dumps(measurements), qos=1).mid
            with self._acknowledgement:
                while self._acknowledged != message_id and not self._closing.is_set():
                    self._acknowledgement.wait(0.5)
                is_acknowledged = self._acknowledged == message_id
            if is_acknowledged:
                for _ in measurements:
                    self._queue.task_done()

    def _on_publish(self, _client: object, _data: object, message_id: int, *_: object) -> None:
        with self._acknowledgement:
            self._acknowledged = message_id
            self._acknowledgement.notify_all()

    def _gather(self) -> list[dict]:
        try:
            measurements = [self._queue.get(timeout=0.2)]
        except queue.Empty:
            return []
        end = time.monotonic() + GATHER_SECONDS
        while len(measurements) < MOST_IN_MESSAGE and time.monotonic() < end:
            try:
                measurements.append(self._queue.get(timeout=max(0, end - time.monotonic())))
            except queue.Empty:
                break
        return measurements
