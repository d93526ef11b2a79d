"""Runs against the API and the broker that the environment names: see test/contract/long/python-client.test.ts."""

import json
import math
import os
import queue
import time
from datetime import datetime, timedelta, timezone

import paho.mqtt.publish as mqtt
import pytest

from millrace import Millrace, Problem, Publisher

PORT = int(os.environ['MILLRACE_MQTT_PORT'])
HOUR = timedelta(hours=1)
START = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0) - 3 * HOUR


def values_of(sensor: int) -> list[float]:
    """Returns one value per minute for two hours."""
    return [round(math.sin(sensor + minute / 9), 3) for minute in range(120)]


@pytest.fixture(scope='module', autouse=True)
def published():
    for device in ['oven-1', '-oven "2", left']:
        with Publisher(device, port=PORT) as publisher:
            for sensor in range(2):
                for minute, value in enumerate(values_of(sensor)):
                    publisher.publish(f's{sensor}', value, START + timedelta(minutes=minute))
            assert publisher.flush(60)
            assert publisher.waiting == 0


def test_latest(client: Millrace):
    frame = client.latest(device='oven-1').set_index('sensor')
    assert list(frame['value'][['s0', 's1']]) == [values_of(0)[-1], values_of(1)[-1]]
    assert frame['ts']['s0'] == START + timedelta(minutes=119)
    earlier = client.latest(device='-oven "2", left', asof=START + timedelta(minutes=10, seconds=30))
    assert list(earlier.sort_values('sensor')['value']) == [values_of(0)[10], values_of(1)[10]]


def test_latest_of_no_sensor_has_the_columns(client: Millrace):
    frame = client.latest(site='nowhere')
    assert len(frame) == 0
    assert str(frame['ts'].dtype).endswith('UTC]')


def test_query(client: Millrace):
    frame = client.query(
        device=['oven-1', '-oven "2", left'],
        start=START - HOUR,
        end=START + 2 * HOUR,
        step='1h',
        aggregate=['avg', 'max', 'count'],
    )
    assert list(frame.index) == [START - HOUR, START, START + HOUR]
    assert len(frame.columns) == 2 * 2 * 3
    column = frame['-oven "2", left', 's1']
    first, second = values_of(1)[:60], values_of(1)[60:]
    assert list(column['max'])[1:] == [max(first), max(second)]
    assert list(column['count']) == [0, 60, 60]
    assert math.isnan(column['avg'].iloc[0])
    assert list(column['avg'])[1:] == pytest.approx([sum(first) / 60, sum(second) / 60])


def test_query_of_a_group(client: Millrace):
    frame = client.query(sensor='s0', start=START, end=START + HOUR, aggregate='sum', group='device')
    assert list(frame['oven-1', 'sum']) == pytest.approx([sum(values_of(0)[:60])])
    assert client.query(site='nowhere', start=START, step='1h').shape[1] == 0


def test_query_of_sensors_with_the_same_names(client: Millrace):
    sensors = [{'sensor_id': sensor, 'name': 'heat', 'type': 'twin'} for sensor in ['left', 'right']]
    birth = json.dumps({'name': 'twin', 'sensors': sensors})
    devices = ['twin-1', 'twin-2']
    births = [{'topic': f'iot/v1/{device}/birth', 'payload': birth, 'qos': 1} for device in devices]
    mqtt.multiple(births, hostname='127.0.0.1', port=PORT)
    for number, device in enumerate(devices):
        with Publisher(device, port=PORT) as publisher:
            publisher.publish('left', 2 * number, START)
            publisher.publish('right', 2 * number + 1, START)
            assert publisher.flush(60)
    rows = client.latest(type='twin')
    assert set(zip(rows['device'], rows['sensor'], strict=True)) == {('twin', 'heat')}
    expected = dict(zip(zip(rows['device_id'], rows['sensor_id'], strict=True), rows['value'], strict=True))
    assert sorted(expected.values()) == [0, 1, 2, 3]
    frame = client.query(type='twin', start=START, end=START + HOUR, aggregate='last')
    assert {column[:2]: frame[column].iloc[0] for column in frame.columns} == expected
    grouped = client.query(type='twin', start=START, end=START + HOUR, aggregate='sum', group='device')
    assert {column[0] for column in grouped.columns} == set(rows['device_id'])


def test_export(client: Millrace):
    table = client.export('-oven "2", left', 's1', start=START, end=START + HOUR)
    assert [str(field.type) for field in table.schema] == ['timestamp[ms, tz=UTC]', 'double']
    assert table['value'].to_pylist() == values_of(1)[:60]
    assert table['ts'].to_pylist() == [START + timedelta(minutes=minute) for minute in range(60)]


def test_problem(client: Millrace):
    with pytest.raises(Problem) as caught:
        client.export('nobody', 's0')
    assert (caught.value.code, caught.value.status) == ('not_found', 404)
    with pytest.raises(Problem) as caught:
        client.query(step='1s', start='-300d')
    assert caught.value.code == 'query_too_large'


def test_instants_need_a_time_zone(client: Millrace):
    with pytest.raises(ValueError):
        client.latest(asof=datetime(2026, 11, 21))


def test_an_empty_list_does_not_select_everything(client: Millrace):
    for names in [{'device': []}, {'sensor': iter([])}]:
        with pytest.raises(ValueError):
            client.query(**names, start=START)


def test_publisher_bounds_its_queue():
    # Nothing listens on port 1.
    publisher = Publisher('nobody', port=1, queue_size=3)
    with pytest.raises(queue.Full):
        for _ in range(2000):
            publisher.publish('s0', 1, timeout=0.1)
    assert publisher.waiting > 0
    began = time.monotonic()
    assert publisher.close(timeout=0.5) is False
    assert time.monotonic() - began < 30
    with pytest.raises(RuntimeError):
        publisher.publish('s0', 1)
