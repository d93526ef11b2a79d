import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KUBERNETES } from '../../support/kubernetes/build.ts';
import { commandsIn, standIns } from '../../support/kubernetes/stand-ins.ts';

// TLS to the operator's ScyllaDB: the script copies its authority and a client certificate into the namespace millrace.

const SCRIPT = `${KUBERNETES}/scylla/client-certificate.sh`;
const PEM = '-----BEGIN CERTIFICATE-----';

let cluster: ReturnType<typeof standIns>;
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

const run = (args: string[], variables?: Record<string, string>) =>
  cluster.run('bash', [SCRIPT, ...args], { ABSENT: '', FOUND: PEM, ...variables });

test('client-certificate.sh: no flags: creates one Secret with the client certificate that the ScyllaDB Operator made', async () => {
  expect(await run([])).toMatchObject({ code: 0, stderr: '' });
  const applied = cluster.read('applied');
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

test('client-certificate.sh: the ScyllaDB Operator has made no certificate: an error, and no Secret is created', async () => {
  const missing: Record<string, string>[] = [{ ABSENT: 'yes' }, { FOUND: '<no value>' }];
  for (const variables of missing) {
    const { code, stderr, calls } = await run([], variables);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/has made no|does not hold/)]);
    expect(calls).toHaveLength(1);
  }
});

test('client-certificate.sh: --dry-run: prints the kubectl commands, and runs no command', async () => {
  const { stdout, calls } = await run(['--dry-run']);
  expect(calls).toEqual([]);
  expect(commandsIn(stdout).filter((command) => command.startsWith('kubectl'))).toHaveLength(5);
});
