import { expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readSamples } from '../../../support/features/mappings.ts';

/**
 * Reads the time of a message of Tasmota.
 * @param local local time of the device
 * @param received time of receipt, in UTC
 */
function timeOf(zone: string, local: string, received: string) {
  const mappings = new Mappings(parseMappings(`mappings: [{ use: tasmota, zone: ${zone} }]`, 'test'));
  const payload = Buffer.from(JSON.stringify({ Time: local, Temperature: 21.5 }));
  const read = readSamples(mappings, 'tele/d/SENSOR', payload, Date.parse(`${received}Z`));
  return new Date(read.values['Temperature']?.[0]?.[0] ?? Number.NaN).toISOString().slice(0, 16);
}

// logstash-input-jdbc#121, logstash-integration-jdbc#92: the hour that comes twice.
test.each([
  ['the first pass', 'Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:02', '2026-10-25T00:30'],
  ['the second pass', 'Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T01:30:02', '2026-10-25T01:30'],
  ['the first pass', 'America/New_York', '2026-11-01T01:30:00', '2026-11-01T05:30:02', '2026-11-01T05:30'],
  ['the second pass', 'America/New_York', '2026-11-01T01:30:00', '2026-11-01T06:30:02', '2026-11-01T06:30'],
  [
    'the second pass, buffered for a day',
    'Europe/Berlin',
    '2026-10-25T02:30:00',
    '2026-10-26T02:30:00',
    '2026-10-25T01:30',
  ],
  [
    'the gap, clock changed late',
    'Europe/Berlin',
    '2026-03-29T02:30:00',
    '2026-03-29T01:30:02',
    '2026-03-29T01:30',
  ],
  [
    'the gap, clock changed early',
    'Europe/Berlin',
    '2026-03-29T02:30:00',
    '2026-03-29T00:30:02',
    '2026-03-29T00:30',
  ],
  [
    'the second pass of half an hour',
    'Australia/Lord_Howe',
    '2026-04-05T01:45:00',
    '2026-04-04T15:15:02',
    '2026-04-04T15:15',
  ],
  [
    'a day without changes',
    'Europe/Berlin',
    '2026-07-01T02:30:00',
    '2026-07-01T05:00:00',
    '2026-07-01T00:30',
  ],
])('Local time of a mapping: %s in %s: %s received at %s is %s', (_, zone, local, received, expected) => {
  expect(timeOf(zone, local, received)).toBe(expected);
});
