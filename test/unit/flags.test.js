import { describe, expect, test } from '@jest/globals';
import { durationText, parseDuration } from '../../common/durations.js';
import { MillraceError } from '../../common/errors.js';
import { parseFlags } from '../../common/flags.js';

/** @import { Flag } from '../../common/flags.js' */

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  devices: { type: 'integer', help: 'how many devices', fallback: 25, min: 1 },
  rate: { type: 'number', help: 'how many a second' },
  interval: { type: 'duration', help: 'time between samples', fallback: 1000, min: 1 },
  broker: { type: 'text', help: 'address of the broker' },
  fresh: { type: 'switch', help: 'begin anew', fallback: false },
  'no-simulator': { type: 'switch', help: 'no devices' },
};

/** @param {string[]} argv */
const parse = (...argv) => parseFlags('npm run dev --', FLAGS, argv);

/** @param {string[]} argv @returns {MillraceError} what is thrown */
function refused(...argv) {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was taken`);
}

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['1s', 1000],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['30d', 2_592_000_000],
    ['1y', 31_536_000_000],
    ['1e3s', 1_000_000],
    [' 5m ', 300_000],
    ['0s', 0],
  ])('%s is %p ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(parseDuration(durationText(ms))).toBe(ms);
  });

  test.each(['', '5', 's', '5 m', '-5m', '5M', '5m5', '1h30m', '.5s', '1e-3s', '1e999s', 'Infinitys'])(
    '"%s" is no duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe('flags', () => {
  test('none given: the defaults', () => {
    expect(parse()).toEqual({ devices: 25, interval: 1000, fresh: false });
  });

  test('come with a space or an equals sign', () => {
    expect(
      parse('--devices', '1e3', '--rate=0.5', '--interval', '500ms', '--broker=mqtt://h', '--fresh'),
    ).toEqual({
      devices: 1000,
      rate: 0.5,
      interval: 500,
      broker: 'mqtt://h',
      fresh: true,
    });
  });

  test('whose names begin with no- are switches like others', () => {
    expect(parse('--no-simulator')['no-simulator']).toBe(true);
  });

  test.each([
    ['an unknown flag', ['--device', '5'], ['--device is not known', '"5" is no flag']],
    ['a name that every object has', ['--constructor'], ['--constructor is not known']],
    ['a short flag', ['-d'], ['-d is not known']],
    ['a word', ['fast'], ['"fast" is no flag']],
    ['a flag without its value', ['--devices'], ['--devices takes a whole number']],
    ['a fraction', ['--devices', '1.5'], ['--devices takes a whole number']],
    ['no number', ['--rate', 'many'], ['--rate takes a number']],
    ['nothing as a number', ['--rate='], ['--rate takes a number']],
    ['an infinite number', ['--rate', 'Infinity'], ['--rate takes a number']],
    ['a number below the least', ['--devices', '0'], ['--devices is 1 or more']],
    ['a negative number', ['--devices=-5'], ['--devices is 1 or more']],
    [
      'a duration without its unit',
      ['--interval', '5'],
      ['--interval takes a duration such as 500ms 1s 5m 1h 30d'],
    ],
    ['a duration below the least', ['--interval', '0s'], ['--interval is 1ms or more']],
    ['a switch with a value', ['--fresh=yes'], ['--fresh takes no value']],
  ])('%s is refused', (_, argv, sentences) => {
    const { code, exitCode, message } = refused(...argv);
    expect([code, exitCode]).toEqual(['usage', 2]);
    expect(message.split('\n\n')[0]).toBe(sentences.join('\n'));
  });

  test('all problems are said at once, and then what there is', () => {
    const { message } = refused('--device=5', '--rate', 'x', '--interval', 'y');
    expect(message).toBe(
      [
        '--device is not known',
        '--rate takes a number',
        '--interval takes a duration such as 500ms 1s 5m 1h 30d',
        '',
        'npm run dev -- takes:',
        '  --devices <integer>     how many devices (25)',
        '  --rate <number>         how many a second',
        '  --interval <duration>   time between samples (1s)',
        '  --broker <text>         address of the broker',
        '  --fresh                 begin anew',
        '  --no-simulator          no devices',
      ].join('\n'),
    );
  });
});

test('--help is answered with what the command takes, and is no mistake', () => {
  expect(() =>
    parseFlags('npm run x --', { devices: { type: 'integer', help: 'how many' } }, ['--help']),
  ).toThrow(
    expect.objectContaining({
      code: 'help',
      exitCode: 0,
      message: expect.stringMatching(/^npm run x -- takes:\n {2}--devices/),
    }),
  );
});
