"""Reads measurements over HTTP."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote

import httpx
import pandas
import pyarrow

#: An instant: a datetime with a time zone, or a text that the API takes, such as `-6h`, `now` or ISO 8601.
Instant = datetime | str | None

AGGREGATES = ('avg', 'min', 'max', 'count', 'sum', 'first', 'last')


class Problem(Exception):
    """The API refused a request. `code` is an error code of docs/reference/errors.md."""

    def __init__(self, code: str, status: int, detail: str):
        super().__init__(f'{code}: {detail}')
        self.code = code
        self.status = status
        self.detail = detail


class Millrace:
    """A client of the HTTP API. Close the client, or use it in a `with` statement."""

    def __init__(self, url: str = 'http://127.0.0.1:8080', token: str | None = None, timeout: float = 60):
        """`timeout`: a request fails after this many seconds without any byte of an answer."""
        headers = {'Authorization': f'Bearer {token}'} if token else {}
        self._http = httpx.Client(base_url=f'{url.rstrip("/")}/api/v1/', headers=headers, timeout=timeout)

    def __enter__(self) -> 'Millrace':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def latest(
        self,
        *,
        device: str | None = None,
        site: str | None = None,
        type: str | None = None,
        name: str | None = None,
        asof: Instant = None,
    ) -> pandas.DataFrame:
        """Returns a row for each sensor with its latest value, at or before the instant `asof` if given."""
        columns = ['ts', 'device', 'sensor', 'unit', 'value', 'type', 'site', 'device_id', 'sensor_id']
        parameters = {'device': device, 'site': site, 'type': type, 'name': name, 'asof': _text(asof)}
        return self._table('latest', parameters, columns)

    def query(
        self,
        *,
        device: str | Iterable[str] | None = None,
        sensor: str | Iterable[str] | None = None,
        site: str | None = None,
        type: str | None = None,
        start: Instant = None,
        end: Instant = None,
        step: str | None = None,
        tz: str | None = None,
        aggregate: str | Iterable[str] = 'avg',
        group: str | None = None,
        fill: str = 'none',
    ) -> pandas.DataFrame:
        """
        Returns aggregates of many sensors over the same bins. The index has the starts of the bins. A column
        is (device, sensor, aggregate), or with `group` (group, aggregate). A name that is missing or not
        unique is replaced by the id. A bin without samples is NaN.
        """
        aggregates = [aggregate] if isinstance(aggregate, str) else list(aggregate)
        answer = self._request(
            'query',
            {
                'device': _list(device),
                'sensor': _list(sensor),
                'site': site,
                'type': type,
                'from': _text(start),
                'to': _text(end),
                'step': step,
                'tz': tz,
                'aggregate': ','.join(aggregates),
                'group': group,
                'fill': fill,
                'format': 'json',
            },
        ).json()
        index = pandas.DatetimeIndex(pandas.to_datetime(answer['times'], utc=True), name='ts')
        names = [group] if group else ['device', 'sensor']
        columns = {
            (*labels, aggregate): pandas.Series(series[aggregate], index=index, dtype='float64')
            for labels, series in zip(_labels(answer['series'], names), answer['series'], strict=True)
            for aggregate in AGGREGATES
            if aggregate in series
        }
        frame = pandas.DataFrame(columns, index=index)
        frame.columns = pandas.MultiIndex.from_tuples(list(columns), names=[*names, 'aggregate'])
        return frame

    def export(
        self, device: str, sensor: str, *, start: Instant = None, end: Instant = None
    ) -> pyarrow.Table:
        """Returns all samples of a sensor in [start, end), oldest first. Columns: `ts` (ms, UTC), `value`."""
        path = f'devices/{quote(device, safe="")}/sensors/{quote(sensor, safe="")}/measurements'
        parameters = {'from': _text(start), 'to': _text(end), 'format': 'arrow'}
        # The answer may be larger than the resulting table. It is written to a file to save memory.
        with tempfile.TemporaryFile() as file:
            with self._http.stream('GET', path, params=_given(parameters)) as response:
                _check(response)
                for chunk in response.iter_bytes():
                    file.write(chunk)
            file.seek(0)
            return pyarrow.ipc.open_stream(file).read_all().select(['ts', 'value'])

    def _table(self, path: str, parameters: dict, columns: list[str]) -> pandas.DataFrame:
        answer = self._request(path, {**parameters, 'format': 'ndjson'})
        rows = [json.loads(line) for line in answer.text.split('\n') if line]
        frame = pandas.DataFrame(rows, columns=columns)
        frame['ts'] = pandas.to_datetime(frame['ts'], utc=True)
        frame['value'] = frame['value'].astype('float64')
        return frame

    def _request(self, path: str, parameters: dict) -> httpx.Response:
        response = self._http.get(path, params=_given(parameters))
        _check(response)
        return response


def _check(response: httpx.Response) -> None:
    if response.is_success:
        return
    response.read()
    try:
        problem = response.json()
        raise Problem(problem['code'], response.status_code, problem['detail'])
    except (ValueError, KeyError):
        response.raise_for_status()


def _given(parameters: dict) -> dict:
    return {name: value for name, value in parameters.items() if value is not None}


def _labels(series: list[dict], names: list[str]) -> list[list[str | None]]:
    """Returns the labels of each series. An id replaces a name that is missing or not unique."""
    rows = [
        [item[name] if item[name] is not None else item.get(f'{name}_id') for name in names]
        for item in series
    ]
    for level, name in enumerate(names):
        ids = defaultdict(set)
        for labels, item in zip(rows, series, strict=True):
            ids[tuple(labels[: level + 1])].add(item.get(f'{name}_id'))
        for labels, item in zip(rows, series, strict=True):
            if len(ids[tuple(labels[: level + 1])]) > 1:
                labels[level] = item[f'{name}_id']
    return rows


def _list(given: str | Iterable[str] | None) -> list[str] | None:
    if given is None:
        return None
    texts = [given] if isinstance(given, str) else list(given)
    if not texts:
        # For the API, an empty list means no condition. It would answer for all devices or sensors.
        raise ValueError('an empty list selects nothing; None selects all')
    return texts


def _text(instant: Instant) -> str | None:
    if not isinstance(instant, datetime):
        return instant
    if instant.tzinfo is None:
        raise ValueError('an instant needs a time zone, such as datetime.now(timezone.utc)')
    return instant.isoformat(timespec='milliseconds')
