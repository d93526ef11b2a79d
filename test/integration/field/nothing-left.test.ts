import { expect, test } from '@jest/globals';
import { type Case, codesOf, numbered, valuesOf } from '../../support/field/nothing-left.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);

const BOM = '\ufeff';
const now = Date.now();

const PAYLOADS: Case[] = [
  ['telegraf#3265, Metrics.NET#87: a byte order mark', `${BOM}{"t":21.5}`, { t: 21.5 }, []],
  ['cJSON#184: a byte order mark before an array', `${BOM}[{"sensor_id":"t","value":1}]`, { t: 1 }, []],
  ['jisoni#1: UTF-16 with a byte order mark', Buffer.from(`${BOM}{"t":3}`, 'utf16le'), { t: 3 }, []],
  ['telegraf#7536, thin-edge PR#3866: NUL after JSON', '{"t":2}\0', { t: 2 }, []],
  ['ArduinoMqtt#16: NUL behind SenML', `[{"n":"t","v":4}]\0`, { t: 4 }, []],
  ['nanomq#2170: NUL before JSON', '\0{"t":2}', {}, ['unknown_format']],
  ['Tasmota#4147, ESPEasy#470: nan as the value of a sensor', '{"t":nan,"h":40}', { h: 40 }, ['not_finite']],
  [
    'rtl_433#558: -nan as a value',
    '{"model":"Efergy","pulses":3200,"energy":-nan}',
    { pulses: 3200 },
    ['not_finite'],
  ],
  [
    'ArduinoJson#973: NaN as a value',
    '[{"sensor_id":"a","value":NaN},{"sensor_id":"b","value":5}]',
    { b: 5 },
    ['not_finite'],
  ],
  [
    'openmct#2298: -Infinity as a value',
    '[{"n":"a","v":-Infinity},{"n":"b","v":6}]',
    { b: 6 },
    ['not_finite'],
  ],
  [
    'awtrix-ng#9: nan within a sensor name',
    '{"nan":1,"x nan y":2,"z":nan}',
    { nan: 1, 'x nan y': 2 },
    ['not_finite'],
  ],
  ['rdz_ttgo_sonde#45: a comma too many', '{"a":1,}', {}, ['malformed']],
  ['DelphiCBOR#3: self-described CBOR', Buffer.from('d9d9f781a2006174021828', 'hex'), { t: 40 }, []],
  [
    'cbor#228: self-described CBOR with its tag twice',
    Buffer.from('d9d9f7d9d9f781a2006174021829', 'hex'),
    { t: 41 },
    [],
  ],
  [
    'an array of objects that only have names of SenML labels',
    '[{"u":230,"s":1,"t":21.5}]',
    { u: 230, s: 1, t: 21.5 },
    [],
  ],
  ['a SenML pack with base fields only', `[{"bn":"x","bt":${now / 1000}}]`, {}, ['not_numeric']],
];

test.each(numbered(PAYLOADS))(
  'Measurement message: %s: after the acknowledgement its values are stored, or a dead letter has the error code',
  async (_, index, payload, values, codes) => {
    const device = `left-${index}`;
    await client.publish(`iot/v1/${device}/measurements`, payload);
    expect({ values: await valuesOf(system, device), codes: await codesOf(system, device) }).toEqual({
      values,
      codes,
    });
  },
);
