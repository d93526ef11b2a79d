import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll } from '@jest/globals';
import { ensurePython, type PythonTools } from '../../../infra/python/ensure.ts';
import { useDirectory } from '../directory.ts';

export const ASYNC_API = 'node_modules/@asyncapi/specs/schemas/3.0.0-without-$id.json';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;

export function useSchemaCheck() {
  let python: PythonTools;
  const directory = useDirectory('documents');
  beforeAll(async () => {
    python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  }, INSTALLS_MS);
  return async (document: object, schema: string) => {
    const path = join(directory, 'document.json');
    writeFileSync(path, JSON.stringify(document));
    await run(python.program('check-jsonschema'), ['--schemafile', schema, path]);
  };
}
