import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('tombstone-gc.ts: output: sets tombstone_gc of each table to the value of the schema', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['infra/operations/tombstone-gc.ts']);
  expect(stdout).toContain("ALTER TABLE iot.message WITH tombstone_gc = {'mode': 'immediate'};");
  for (const table of ['annotation', 'alarm_delivery'])
    expect(stdout).toContain(`ALTER TABLE iot.${table} WITH tombstone_gc = {'mode': 'timeout'};`);
  expect(stdout).toContain("ALTER TABLE iot.credential WITH tombstone_gc = {'mode': 'repair'};");
});
