"""Uses each part of a generated client, and prints the results as JSON: python use_client.py FOLDER URL TOKEN."""

import datetime
import importlib
import json
import pkgutil
import sys

folder, url, token = sys.argv[1:]
sys.path.insert(0, folder)

import millrace
from millrace import AuthenticatedClient
from millrace.api.devices import list_devices, read_device
from millrace.api.latest import list_latest
from millrace.api.measurements import list_measurements, post_measurements, read_series
from millrace.models import (
    ListMeasurementsFormat,
    ListMeasurementsOrder,
    MeasurementPage,
    PlainMeasurement,
    SenmlRecord,
)

client = AuthenticatedClient(url, token, raise_on_unexpected_status=True)
now = datetime.datetime.now(datetime.timezone.utc)
# Whole minutes of one hour, so that the test knows the bins.
start = now.replace(minute=0, second=0, microsecond=0) - datetime.timedelta(hours=2)
end = start + datetime.timedelta(hours=1)


def plain(minute, value):
    return PlainMeasurement("temperature", value, (start + datetime.timedelta(minutes=minute)).isoformat())


def post(body):
    return post_measurements.sync(client=client, device="python", body=body).to_dict()


def read(**query):
    return list_measurements.sync("python", "temperature", client=client, from_=start, to=end, **query)


modules = [module.name for module in pkgutil.walk_packages(millrace.__path__, "millrace.")]
for name in modules:
    importlib.import_module(name)

posted = {
    "object": post(plain(0, 20.5)),
    "array": post([plain(1, 21.5), plain(2, 22.5)]),
    "senml": post([SenmlRecord(bn="temperature", bt=start.timestamp(), t=180, v=23.5)]),
    "none": post([]),
    "refused": post([PlainMeasurement("temperature", 1, "yesterday")]),
}
series = read_series.sync("python", "temperature", client=client, from_=start, to=end, points=1)

json.dump(
    {
        "modules": sum(name.startswith("millrace.api.") for name in modules),
        "posted": posted,
        "devices": [device.name for device in list_devices.sync(client=client, limit=10).items],
        "missing": read_device.sync("nowhere", client=client).to_dict(),
        "page": [item.value for item in MeasurementPage.from_dict(json.loads(read(limit=3))).items],
        "csv": read(format_=ListMeasurementsFormat.CSV, order=ListMeasurementsOrder.ASC),
        "ndjson": read(format_=ListMeasurementsFormat.NDJSON),
        "latest": [[item.name, item.value] for item in list_latest.sync(client=client, device="python").items],
        "series": [point.to_dict() for point in series.points],
        "start": start.isoformat(),
    },
    sys.stdout,
)
