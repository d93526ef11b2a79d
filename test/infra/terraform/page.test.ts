import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { operate, run } from '../../support/operations/fakes.ts';
import { blocks, makeCheckout } from '../../support/terraform/page.ts';

// Runs the blocks of the pages of infra/terraform from top to bottom, at the root of a checkout, in one shell. Fakes replace the
// programs of AWS and Terraform. The application's own code reads the resulting settings.

const INSTANCES = 'i-0123456789abcdef0,i-0123456789abcdef1';
const PRIVATE = { CQL_LOCAL_DC: 'us-east', CQL_KEYSPACE: 'iot' };

/** The npm commands before the first connection to the database. */
const FIRST = [{ words: 'ci' }, { words: 'run size' }];

let checkout: ReturnType<typeof makeCheckout>;

afterEach(() => checkout?.remove());

/** @param settings as in the outputs of the examples */
const env = (settings: Record<string, string>) =>
  Object.entries({ ...PRIVATE, ...settings })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Outputs of the EC2 example that every test needs. */
const EC2_OUTPUTS = {
  database_env: env({
    CQL_CONTACT_POINTS: '10.20.0.10:9042',
    CQL_USERNAME: 'millrace',
    TLS_ELSEWHERE: 'true',
  }),
  manager_agent_token: '/millrace/manager-agent-token',
};

/** @returns the blocks of the pages for it */
const blocksOf = (example: 'aws-ec2' | 'scylladb-cloud'): string[] =>
  blocks()
    .filter((block) => !/SCYLLADB_CLOUD_TOKEN|output -raw cql_ca/.test(block) || example === 'scylladb-cloud')
    .filter(
      (block) =>
        !/superuser_salted|instance_ids|manager_agent_token|versions\.env|\$nodes/.test(block) ||
        example === 'aws-ec2',
    )
    .map((block) => block.replace(/^example=\S+/m, `example=infra/terraform/examples/${example}`));

/** @returns what each npm command read */
const npmCalls = (): Record<string, unknown>[] =>
  checkout
    .read('npm.log')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('How-to page for Terraform: commands for EC2: start the application; agents get their token only from the parameter store', async () => {
  checkout = makeCheckout('aws-ec2', {
    ...EC2_OUTPUTS,
    instance_ids: INSTANCES,
    backup_location: 's3:YOUR-COMPANY-millrace-backups',
  });
  const ran = await checkout.runBlocks(blocksOf('aws-ec2'), 'https://packages.example/manager.list\n');
  expect(ran).toMatchObject({ code: 0 });
  for (const file of ['terraform.tfvars', 'secret.auto.tfvars'])
    expect(checkout.unknownValues(file)).toEqual([]);

  const password = checkout.read('secrets/superuser_password').trim();
  expect(npmCalls()).toMatchObject([
    ...FIRST,
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
  checkout = makeCheckout('aws-ec2', EC2_OUTPUTS);
  const making = blocksOf('aws-ec2').filter((block) => /openssl rand|database_env/.test(block));
  const secretsAfterRun = async () => {
    expect(
      await checkout.runBlocks(['region=us-east-1 example=infra/terraform/examples/aws-ec2', ...making]),
    ).toMatchObject({ code: 0 });
    const names = readdirSync(checkout.path('secrets')).filter((name) => name !== 'database.env');
    return Object.fromEntries(names.map((name) => [name, checkout.read(`secrets/${name}`)]));
  };
  const first = await secretsAfterRun();
  expect(Object.keys(first)).toHaveLength(5);
  expect(await secretsAfterRun()).toEqual(first);
});

test('How-to page for Terraform: commands after Terraform has added nodes: wait for the nodes and clean up, and start no node', async () => {
  const page = readFileSync('docs/how-to/change-nodes-on-ec2.md', 'utf8');
  const words = /`npm run operations -- (add-node [^`]*)`/.exec(page)?.[1] ?? '';
  const given = words
    .replace('ALL-BUT-ONE', 'a,b,c,d,e')
    .replace('THE-LAST', 'f')
    .replace(/'([^']*)'/, '$1');
  const argv = given.replace('sh infra/operations/reach/ssm.sh', 'REACH').split(' ');
  const { code, out } = await operate([...argv, '--dry-run'], process.env);
  expect(code).toBe(0);
  expect(out).toContain('all != 6 || up != 6');
  expect(out).toContain("REACH a 'nodetool cluster cleanup'");
  expect(out).not.toContain('systemctl');
});

test('Terraform manager-agent.sh: shellcheck finds no problem; without arguments: exit code 2', async () => {
  const script = 'infra/terraform/manager-agent.sh';
  expect(await run('shellcheck', [script], process.env)).toMatchObject({ out: '', code: 0 });
  expect(await run('sh', [script], process.env)).toMatchObject({ code: 2 });
});

test.each([
  ['with TLS', 'PEM', '9142', 'false'],
  ['without TLS', '', '9042', 'true'],
])('Terraform how-to: ScyllaDB Cloud %s: the application runs', async (_, certificate, port, elsewhere) => {
  checkout = makeCheckout('scylladb-cloud', {
    database_env: env({
      CQL_CONTACT_POINTS: `one:${port}`,
      CQL_USERNAME: 'scylla',
      TLS_ELSEWHERE: elsewhere,
    }),
    superuser_password: 'secret-of-the-cloud',
    cql_ca: certificate,
  });
  const ran = await checkout.runBlocks(blocksOf('scylladb-cloud'), 'token\n');
  expect(ran).toMatchObject({ code: 0 });
  expect(checkout.unknownValues('terraform.tfvars')).toEqual([]);
  const tls = certificate ? { tlsCa: 'secrets/cql_ca.pem' } : {};
  expect(npmCalls()).toMatchObject([
    ...FIRST,
    { words: 'run roles', username: 'scylla', password: 'secret-of-the-cloud', ...tls },
    { words: 'run migrate', username: 'millrace_migrate', ...tls },
    { words: 'start', username: 'millrace_serve', contactPoints: [`one:${port}`], ...tls },
  ]);
});
