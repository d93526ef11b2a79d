import { readdirSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { run } from '../../support/operations/run.ts';
import { blocks, makeCheckout } from '../../support/terraform/page.ts';

// Runs the blocks of the pages of infra/terraform from top to bottom, at the root of a checkout, in one shell. Fakes replace the
// programs of AWS and Terraform. The application's own code reads the resulting settings.

const OUTPUTS = {
  database_env: `CQL_CONTACT_POINTS=10.20.0.10:9042
CQL_LOCAL_DC=us-east
CQL_KEYSPACE=iot
CQL_USERNAME=millrace
TLS_ELSEWHERE=true
`,
  manager_agent_token: '/millrace/manager-agent-token',
};

let checkout: ReturnType<typeof makeCheckout>;

afterEach(() => checkout?.remove());

/** @returns what each npm command read */
const npmCalls = (): Record<string, unknown>[] =>
  checkout
    .read('npm.log')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('How-to page for Terraform: commands for EC2: start the application; agents get their token only from the parameter store', async () => {
  checkout = makeCheckout({
    ...OUTPUTS,
    instance_ids: 'i-0123456789abcdef0,i-0123456789abcdef1',
    backup_location: 's3:YOUR-COMPANY-millrace-backups',
  });
  const ran = await checkout.runBlocks(blocks(), 'https://packages.example/manager.list\n');
  expect(ran).toMatchObject({ code: 0 });
  for (const file of ['terraform.tfvars', 'secret.auto.tfvars'])
    expect(checkout.unknownValues(file)).toEqual([]);

  const password = checkout.read('secrets/superuser_password').trim();
  expect(npmCalls()).toMatchObject([
    { words: 'ci' },
    { words: 'run size' },
    { words: 'run roles', username: 'millrace', password, contactPoints: ['10.20.0.10:9042'] },
    { words: 'run migrate', username: 'millrace_migrate' },
    { words: 'start', username: 'millrace_serve' },
  ]);

  const token = checkout.read('secrets/manager_agent_token').trim();
  expect(token).toMatch(/^[0-9a-f]{128}$/);
  expect(checkout.read('agent.yaml')).toBe(`auth_token: "${token}"\ns3:\n  region: us-east-1\n`);
  expect(checkout.mode('agent.yaml')).toBe(0o640);
  const log = checkout.read('log');
  expect(log.match(/^nodetool status$/gm)).toHaveLength(1);
  // A newer package would ask whether to keep a changed file, and nobody could answer.
  expect(log).toContain('apt-get install -y -o Dpkg::Options::=--force-confold scylla-manager-agent=');
  expect(log.match(/check-location --location s3:YOUR-COMPANY-millrace-backups$/gm)).toHaveLength(2);
  for (const secret of [token, password])
    expect(log + ran.out + checkout.read('sent.json')).not.toContain(secret);
});

test('How-to page for Terraform: the commands run twice: no secret changes', async () => {
  checkout = makeCheckout(OUTPUTS);
  const making = blocks().filter((block) => /openssl rand|database_env/.test(block));
  const secretsAfterRun = async () => {
    expect(await checkout.runBlocks(['region=us-east-1', ...making])).toMatchObject({ code: 0 });
    const names = readdirSync(checkout.path('secrets')).filter((name) => name !== 'database.env');
    return Object.fromEntries(names.map((name) => [name, checkout.read(`secrets/${name}`)]));
  };
  const first = await secretsAfterRun();
  expect(Object.keys(first)).toHaveLength(5);
  expect(await secretsAfterRun()).toEqual(first);
});

test('Terraform manager-agent.sh: shellcheck finds no problem; without arguments: exit code 2', async () => {
  const script = 'infra/terraform/manager-agent.sh';
  expect(await run('shellcheck', [script], process.env)).toMatchObject({ out: '', code: 0 });
  expect(await run('sh', [script], process.env)).toMatchObject({ code: 2 });
});
