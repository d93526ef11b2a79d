# Reads an export with four programs, and prints what each of them has read: read_export.py PATH, a file or a data set.
# A row is [device, sensor, type, unit, epoch ms, the 8 bytes of the value in hex].
import json
import struct
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

path = sys.argv[1]
LABELS = ['device', 'sensor', 'type', 'unit']


def row(labels, ts, value):
    return [*labels, ts, struct.pack('>d', value).hex()]


def of_table(table):
    epoch = table['ts'].cast('int64').to_pylist()
    labels = [table[name].to_pylist() for name in LABELS]
    return [row(names, ts, value) for *names, ts, value in zip(*labels, epoch, table['value'].to_pylist())]


def of_pandas(frame):
    epoch = frame['ts'].astype('datetime64[ms, UTC]').astype('int64')
    labels = frame[LABELS].astype(object)
    labels = labels.where(labels.notna(), None)
    return [row(names, int(ts), value) for names, ts, value in zip(labels.values.tolist(), epoch, frame['value'])]


def of_polars(frame):
    columns = frame.with_columns(polars.col('ts').dt.epoch('ms'), polars.col(LABELS).cast(polars.String))
    return [row(names, ts, value) for *names, ts, value in columns.select(*LABELS, 'ts', 'value').rows()]


def of_duckdb(relation):
    columns = ', '.join(LABELS)
    return [row(names, ts, value) for *names, ts, value in duckdb.sql(f'select {columns}, epoch_ms(ts), value from relation').fetchall()]


if Path(path).is_dir():
    table = pyarrow.dataset.dataset(path, partitioning='hive').to_table()
    read = {
        'pyarrow': of_table(table),
        'pandas': of_pandas(pandas.read_parquet(path)),
        'polars': of_polars(polars.read_parquet(f'{path}/**/*.parquet', hive_partitioning=True)),
        'duckdb': of_duckdb(duckdb.read_parquet(f'{path}/**/*.parquet', hive_partitioning=True)),
    }
    partitions = duckdb.sql(f"select distinct site, day::text from read_parquet('{path}/**/*.parquet', hive_partitioning=true) order by all")
    read['partitions'] = [list(found) for found in partitions.fetchall()]
elif path.endswith('.parquet'):
    file = pyarrow.parquet.ParquetFile(path)
    read = {
        'pyarrow': of_table(file.read()),
        'pandas': of_pandas(pandas.read_parquet(path)),
        'polars': of_polars(polars.read_parquet(path)),
        'duckdb': of_duckdb(duckdb.read_parquet(path)),
        'schema': {field.name: str(field.type) for field in file.schema_arrow},
    }
else:
    table = pyarrow.ipc.open_stream(path).read_all()
    read = {
        'pyarrow': of_table(table),
        'pandas': of_pandas(table.to_pandas()),
        'polars': of_polars(polars.read_ipc_stream(path)),
        'duckdb': of_duckdb(duckdb.from_arrow(table)),
        'schema': {field.name: str(field.type) for field in table.schema},
    }
print(json.dumps(read))
