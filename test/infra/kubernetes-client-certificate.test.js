import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KUBERNETES } from '../support/kubernetes/build.js';
import { commandsIn, standIns } from '../support/kubernetes/stand-ins.js';

// TLS to the operator's ScyllaDB: its authority and a client's certificate, copied into our namespace.

const SCRIPT = `${KUBERNETES}/scylla/client-certificate.sh`;
const PEM = '-----BEGIN CERTIFICATE-----';

/** @type {ReturnType<typeof standIns>} */
let cluster;
beforeAll(async () => {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'command -v kubectl']);
  cluster = standIns({
    kubectl: `case "$*" in
      *" get "*) [ -z "$ABSENT" ] || exit 1; printf '%s\\n%s\\n' "$FOUND" "$*" ;;
      *" create secret "*) exec ${stdout.trim()} "$@" ;;
      *" --filename -") cat >"$HERE/applied" ;;
    esac`,
  });
});
afterAll(() => cluster?.remove());

/** @param {string[]} args @param {Record<string, string>} [differs] */
const run = (args, differs) => cluster.run('bash', [SCRIPT, ...args], { ABSENT: '', FOUND: PEM, ...differs });

test('the script makes one Secret of what the operator keeps by its documented names', async () => {
  expect(await run([])).toMatchObject({ code: 0, stderr: '' });
  const applied = cluster.kept('applied');
  expect(applied).toMatch(/^ {2}name: millrace-cql-tls\n {2}namespace: millrace$/m);
  const made = [...applied.matchAll(/^ {2}((?:ca|tls)\.\w+): (\S+)$/gm)].map(([, key, data]) => [
    key,
    Buffer.from(String(data), 'base64').toString(),
  ]);
  expect(made).toEqual([
    ['ca.crt', expect.stringMatching(/get configmap\/millrace-local-serving-ca .*"ca-bundle.crt"/)],
    ['tls.crt', expect.stringMatching(/get secret\/millrace-local-user-admin .*"tls.crt"/)],
    ['tls.key', expect.stringMatching(/get secret\/millrace-local-user-admin .*"tls.key"/)],
  ]);
});

test('it says what is not there yet, and makes none', async () => {
  /** @type {Record<string, string>[]} */
  const troubles = [{ ABSENT: 'yes' }, { FOUND: '<no value>' }];
  for (const differs of troubles) {
    const { code, stderr, asked } = await run([], differs);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/has made no|does not hold/)]);
    expect(asked).toHaveLength(1);
  }
});

test('--dry-run prints those commands, and does nothing', async () => {
  const { stdout, asked } = await run(['--dry-run']);
  expect(asked).toEqual([]);
  expect(commandsIn(stdout).filter((command) => command.startsWith('kubectl'))).toHaveLength(5);
});
