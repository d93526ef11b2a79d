import { expect, test } from '@jest/globals';
import { readFlags } from '../../../simulator/flags.ts';

const read = (line: string) => readFlags(line.split(' ').filter(Boolean));

function refusal(line: string): string {
  try {
    read(line);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${line} was taken`);
}

test.each([
  ['--profile cow', '--profile is collar or factory'],
  ['--format xml', '--format is senml or json'],
  ['--batch 1s --interval 2s', '--batch is at least --interval'],
  ['--broker localhost', '--broker is mqtt://host:port or mqtts://host:port'],
  ['--rate 0', '--rate is above 0'],
  ['--rate 10 --replay x.csv', '--rate is for simulated devices; a replay is as fast as it is acknowledged'],
  ['--replay data/pump#1.csv', '--device is 1 to 128 bytes'],
  ['--faults late=2', '--faults late is from 0 to 1'],
  ['--faults sunspots=1', '--faults does not know "sunspots"'],
  ['--connections 0', '--connections must be 1 or more'],
  ['--connections 5 --credentials x', '--connections is --devices where --credentials are'],
])('Simulator flags: %s: refused with the error: %s', (line, sentence) => {
  expect(refusal(line)).toContain(sentence);
});

test('Simulator flags: a message would have over 10,000 samples, also because of --faults disorder: refused', () => {
  expect(refusal('--interval 1ms --batch 2501ms')).toContain('more than 10000 samples a message');
  read('--interval 1ms --batch 2500ms');
  expect(refusal('--interval 1ms --batch 2500ms --faults disorder=0.1')).toContain('more than 10000');
  expect(refusal('--interval 1ms --batch 250ms --profile factory')).toContain('more than 10000');
  read('--interval 1ms --batch 250ms --profile factory --sensors 10');
});

test('Simulator flags: --rate needs two samples of a sensor in one ms: the error names the required --devices', () => {
  expect(refusal('--rate 10000 --batch 60s --devices 100')).toContain('needs 600 --devices');
  read('--rate 10000 --batch 60s --devices 600');
});
