# Runs the statements of docs/how-to/stream-to-parquet.md again and again until the file END exists, and prints each row that it has
# ever seen: read_lake.py SQL END. A row is [day, device, sensor, samples].
import json
import sys
import time
from pathlib import Path

import duckdb

sql, end = sys.argv[1], Path(sys.argv[2])
*settings, query = [statement for statement in sql.split(';') if statement.strip()]
seen = set()
runs = 0
last = False
while not last:
    last = end.exists()
    connection = duckdb.connect()
    try:
        for statement in settings:
            connection.execute(statement)
    except duckdb.IOException as error:
        # The first day is not finished, so there is no manifest yet.
        if 'No files found' not in str(error) or runs > 0 or last:
            raise
        time.sleep(0.02)
        continue
    (files,) = connection.execute("SELECT getvariable('files')").fetchone()
    if files:
        for day, device, sensor, samples, _ in connection.execute(query).fetchall():
            seen.add((str(day), device, sensor, samples))
        runs += 1
    time.sleep(0.02)
print(json.dumps({'runs': runs, 'seen': sorted(seen)}))
