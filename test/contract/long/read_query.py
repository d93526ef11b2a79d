# Reads an aligned query with four programs, and prints what each of them has read: read_query.py PATH.
# A row has its cells in the order of the columns, with the time in epoch ms.
import json
import sys

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

path = sys.argv[1]


def rows_of(table):
    at = table.column_names.index('ts')
    epoch = table['ts'].cast(pyarrow.timestamp('ms', tz='UTC')).cast('int64')
    return [list(row.values()) for row in table.set_column(at, 'ts', epoch).to_pylist()]


def rows_of_pandas(frame):
    return rows_of(pyarrow.Table.from_pandas(frame, preserve_index=False))


def rows_of_duckdb(relation):
    return [list(row) for row in duckdb.sql('select * replace (epoch_ms(ts) as ts) from relation').fetchall()]


if path.endswith('.parquet'):
    read = {
        'pyarrow': rows_of(pyarrow.parquet.read_table(path)),
        'pandas': rows_of_pandas(pandas.read_parquet(path)),
        'polars': rows_of(polars.read_parquet(path).to_arrow()),
        'duckdb': rows_of_duckdb(duckdb.read_parquet(path)),
    }
else:
    table = pyarrow.ipc.open_stream(path).read_all()
    read = {
        'pyarrow': rows_of(table),
        'pandas': rows_of_pandas(table.to_pandas()),
        'polars': rows_of(polars.read_ipc_stream(path).to_arrow()),
        'duckdb': rows_of_duckdb(duckdb.from_arrow(table)),
    }
print(json.dumps(read))
