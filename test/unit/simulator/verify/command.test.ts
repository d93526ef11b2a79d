import { expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.ts';
import { type CommandDeps, compareCommand } from '../../../../simulator/verify/command.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createFleetCase, createLedgerCase, START } from '../../../support/simulator/ledger-case.ts';

// The ledgers are files, because some tests start a process.
const afterwards = useCleanUps();

type Fleet = ReturnType<typeof createLedgerCase>;

/** @param words arguments in addition to --ledger */
async function run(
  fleet: Fleet,
  words: string[] = [],
  {
    kafka = 'kafka:9092',
    ledgerPath,
    readTopics,
  }: { kafka?: string; ledgerPath?: string; readTopics?: CommandDeps['readTopics'] } = {},
) {
  const result = {
    lines: [] as string[],
    status: [] as string[],
    closed: 0,
    error: null as unknown,
  };
  const settings = { cql: {}, retention: { latestGroups: 4 }, of: () => ({ kafka }) };
  try {
    await compareCommand(['--ledger', ledgerPath ?? fleet.ledgerPath, ...words], {
      readSettings: () => settings as never,
      openStore: async (given) => {
        expect(given).toBe(settings);
        return {
          ...fleet.open(),
          async close() {
            await new Promise((resolve) => setImmediate(resolve));
            result.closed++;
          },
        };
      },
      readTopics: readTopics ?? (() => Promise.reject(new Error('Kafka was read'))),
      print: (text) => void result.lines.push(text),
      statusLine: {
        update: (text) => void result.status.push(text),
        clear: () => void result.status.push('cleared'),
      },
    });
  } catch (error) {
    result.error = error;
  }
  return result;
}

test('Compare command: ledger and database agree: the report is printed, and the command succeeds', async () => {
  const { lines, status, closed, error } = await run(createFleetCase(afterwards));
  expect(error).toBeNull();
  expect(lines[0]).toBe('7 messages of 2 devices: 10 samples acknowledged, 10 stored');
  expect(lines.at(-1)).toBe(
    'They agree: nothing is missing, unknown or different, and every latest value is right.',
  );
  expect(status).toContain('Compared 2 devices: 10 samples acknowledged, 10 stored, 0 problems');
  expect(status.slice(-2)).toEqual(['cleared', 'cleared']);
  expect(closed).toBe(1);
});

test('Compare command: ledger and database differ: the report is printed, and the command fails', async () => {
  const fleet = createFleetCase(afterwards);
  fleet.batches().shift();
  const { lines, closed, error } = await run(fleet);
  expect(lines).toContain('2 missing: acknowledged, and not stored');
  expect(error).toMatchObject({ code: 'failed', message: 'The ledger and the database differ.' });
  expect(closed).toBe(1);
});

test('Compare command: ledger and database agree, but nothing was acknowledged: the command fails', async () => {
  const fleet = createLedgerCase(afterwards);
  fleet.send('collar', 'pulse', [[START, 1]], { acknowledged: false });
  expect((await run(fleet)).error).toMatchObject({
    code: 'failed',
    message: 'Nothing in this ledger is acknowledged.',
  });
});

test('Compare command: --from and --to: only samples in this range are compared', async () => {
  const words = ['--from', '2026-11-21T10:00:01.001Z', '--to', String(START + 5000)];
  const { lines } = await run(createFleetCase(afterwards), words);
  expect(lines.slice(0, 2)).toEqual([
    '7 messages of 2 devices: 2 samples acknowledged, 2 stored',
    'From 2026-11-21T10:00:01.001Z to before 2026-11-21T10:00:05.000Z',
  ]);
});

test('Compare command: the ledger does not exist: the command fails, and the store is closed', async () => {
  const fleet = createFleetCase(afterwards);
  const { error, closed, status } = await run(fleet, [], { ledgerPath: `${fleet.ledgerPath}.none` });
  expect(error).toMatchObject({ code: 'failed' });
  expect([closed, status.at(-1)]).toEqual([1, 'cleared']);
});

const topicsOf =
  (until: number | null): CommandDeps['readTopics'] =>
  async (stream, onProgress) => {
    expect(stream).toEqual({ kafka: 'kafka:9092' });
    onProgress(2000);
    return { topic: new Map(), until };
  };

function runKafka(words: string[], until: number | null) {
  const fleet = createLedgerCase(afterwards);
  fleet.send('collar', 'pulse', [[START, 1]]);
  fleet.open();
  return run(fleet, ['--kafka', ...words], { readTopics: topicsOf(until) });
}

test('Compare command, --kafka: ledger and topic differ: the report goes up to the watermark, and the command fails', async () => {
  const { lines, status, closed, error } = await runKafka([], START + 1);
  expect(lines.slice(0, 3)).toEqual([
    '1 messages of 1 devices: 1 samples acknowledged, 0 stored',
    'From 2026-11-21T10:00:00.000Z to before 2026-11-21T10:00:00.001Z',
    '1 missing: acknowledged, and not stored',
  ]);
  expect(status[0]).toBe('Reading Kafka: 2000 records');
  expect(error).toMatchObject({ code: 'failed', message: 'The ledger and Kafka differ.' });
  expect(closed).toBe(0);
});

test('Compare command, --kafka: there is no watermark in Kafka and no --to: the command fails', async () => {
  expect((await runKafka([], null)).error).toMatchObject({
    code: 'failed',
    message: 'There is no watermark of each group yet. --to compares anyway.',
  });
});

const refusalOf = (...argv: string[]): Promise<{ code: string; message: string }> =>
  compareCommand(argv, {
    readSettings: () => {
      throw new MillraceError('bad_settings', 'the settings were read');
    },
    openStore: () => Promise.reject(new Error('the store was opened')),
    readTopics: () => Promise.reject(new Error('Kafka was read')),
    print: () => {},
    statusLine: { update: () => {}, clear: () => {} },
  }).then(
    () => Promise.reject(new Error('accepted')),
    (error) => error,
  );

test('Compare command: --from and --to are no times: usage error with all problems at once', async () => {
  expect((await refusalOf('--from', 'yesterday', '--to', 'noon')).message).toBe(
    [
      'error: --ledger is needed',
      'error: --from is a time such as 2026-11-21T00:00:00Z',
      'error: --to is a time such as 2026-11-21T00:00:00Z',
      '`npm run compare -- --help` lists what it takes.',
    ].join('\n'),
  );
  expect((await refusalOf('--ledger', 'x', '--to', 'noon')).code).toBe('usage');
});
