import { join } from 'node:path';
import { runCommand } from '../../common/command.ts';
import { claimDataDir } from '../../common/data-dir.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import { readSettings } from '../../common/settings/index.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { abortOnStop } from '../../common/stop-signal.ts';
import { BROKERS, ownBroker } from './brokers.ts';
import { PIPELINES } from './pipelines.ts';
import { runScenario, verdictOf } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

const SUBJECTS = { ...BROKERS, ...PIPELINES };
const COMMAND = 'npm run acknowledgements --';
const OWN = 'Subject "own":';

const FLAGS = {
  subject: {
    type: 'text',
    help: 'comma-separated, or "own"',
    fallback: Object.keys(SUBJECTS).join(','),
  },
  scenario: { type: 'text', help: 'comma-separated', fallback: Object.keys(SCENARIOS).join(',') },
  url: { type: 'text', help: 'address', fallback: 'mqtt://127.0.0.1:1883', group: OWN },
  mqtt: { type: 'integer', help: '5, or 4 for MQTT 3.1.1', fallback: 5, group: OWN },
  kill: { type: 'text', help: 'shell command that kills the broker', group: OWN },
  start: { type: 'text', help: 'shell command that starts it with its data', group: OWN },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Counts messages that a broker or pipeline acknowledges and loses. Prints a table in Markdown.',
  examples: [
    `${COMMAND} --subject mosquitto`,
    `${COMMAND} --subject own --scenario broker --kill "docker kill mq" --start "docker start mq"`,
  ],
  flags: FLAGS,
  settings: ['DATA_DIR'],
};

// npm run acknowledgements: runs each scenario with each subject.
await runCommand(async () => {
  const { subject, scenario, ...own } = parseFlags(LINE, process.argv.slice(2));
  const subjects = select('subject', subject, { ...SUBJECTS, own: ownBroker(own) });
  const scenarios = select('scenario', scenario, SCENARIOS);
  const { dataDir } = readSettings();
  await claimDataDir(dataDir);
  const line = createStatusLine(process.stderr);
  const signal = abortOnStop();
  const home = join(dataDir, 'acknowledgements');
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const names = scenarios.map(([name]) => name);
  const table = [row(['', ...names]), row(['---', ...names.map(() => '---')])];
  for (const [name, prepare] of subjects) {
    const verdicts: string[] = [];
    for (const [scenarioName, run] of scenarios) {
      const onStatus = (text: string) => line.update(`${name}, ${scenarioName}: ${text}`);
      onStatus('runs');
      const place = { dir: join(home, name, scenarioName), tools: join(dataDir, 'tools') };
      const outcome = runScenario(prepare, run, { ...place, onStatus, signal });
      const verdict = await outcome.then(verdictOf, failureText);
      signal.throwIfAborted();
      line.print(`${name}, ${scenarioName}: ${verdict}`);
      verdicts.push(verdict);
    }
    table.push(row([name, ...verdicts]));
  }
  console.log(table.join('\n'));
  console.error(`Traces: ${home}`);
});

function failureText({ message }: Error): string {
  return `not run: ${message.split('\n')[0]}`;
}

function select<T>(flag: string, names: string, all: Record<string, T>): Array<[string, T]> {
  return names.split(',').map((name) => {
    const found = Object.entries(all).find(([each]) => each === name);
    if (found) return found;
    throw usageError(COMMAND, [`--${flag} takes ${Object.keys(all).join(', ')}, not "${name}"`]);
  });
}
