import { expect, test } from '@jest/globals';
import { startTcpProxy } from '../support/http/tcp-proxy.ts';
import { startCommand } from '../support/processes/api-process.ts';
import { useInstallation } from '../support/processes/installation.ts';

const installation = useInstallation();

/** Starts a proxy to the database. The first request with the statement closes its connections. */
async function startBreakingGate(statement: string) {
  const proxy = await startTcpProxy(`cql://${installation.settings()['CQL_CONTACT_POINTS']}`, () => ({
    fromClient: (chunk) => {
      if (chunk.includes(statement)) proxy.cut('refuse');
    },
  }));
  installation.afterwards(proxy.stop);
  return proxy;
}

test.each([
  ['api/index.ts', 'FROM schema_version'],
  ['api/index.ts', 'FROM device '],
  ['api/commands/migrate.ts', 'FROM schema_version'],
] as const)(
  '%s: connection to Cassandra breaks at the statement "%s": the command exits with code 69, which an orchestrator retries',
  async (script, statement) => {
    const proxy = await startBreakingGate(statement);
    const command = startCommand(script, {
      ...installation.settings(),
      CQL_CONTACT_POINTS: `127.0.0.1:${proxy.port}`,
    });
    installation.afterwards(command.kill);
    const { code, output } = await command.ended;
    expect(output).toContain('The database went away');
    expect(output).not.toContain('    at ');
    expect(code).toBe(69);
  },
);
