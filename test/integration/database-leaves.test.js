import { expect, test } from '@jest/globals';
import { startCommand } from '../support/api-process.js';
import { useInstallation } from '../support/installation.js';
import { startGate } from '../support/tcp-gate.js';

const installation = useInstallation();

/** A way to the database that breaks as soon as a command asks for something. @param {string} asked part of the statement */
async function startWayThatBreaksAt(asked) {
  const gate = await startGate(`cql://${installation.settings()['CQL_CONTACT_POINTS']}`, () => ({
    fromClient: (chunk) => {
      if (chunk.includes(asked)) gate.cut('refuse');
    },
  }));
  installation.afterwards(gate.stop);
  return gate;
}

test.each(
  /** @type {const} */ ([
    ['api/index.js', 'FROM schema_version'],
    ['api/index.js', 'FROM device '],
    ['api/commands/migrate.js', 'FROM schema_version'],
  ]),
)(
  '%s ends with what an orchestrator tries again, when the database leaves at "%s"',
  async (script, asked) => {
    const gate = await startWayThatBreaksAt(asked);
    const command = startCommand(script, {
      ...installation.settings(),
      CQL_CONTACT_POINTS: `127.0.0.1:${gate.port}`,
    });
    installation.afterwards(command.kill);
    const { code, output } = await command.ended;
    expect(output).toContain('The database went away');
    expect(output).not.toContain('    at ');
    expect(code).toBe(69);
  },
);
