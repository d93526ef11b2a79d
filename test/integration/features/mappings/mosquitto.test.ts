import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../../schema/ids.ts';
import {
  isAccepted,
  useMosquittoAccounts,
} from '../../../support/features/credentials/mosquitto-accounts.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const MAPPINGS = `mappings:
  - { name: farm, topic: 'farm/{device}/up', values: [{ pointer: /v }] }
  - { name: other, topic: 'farm/{device}/down', skip: true }
  - { name: lines, topic: lines/+, device: { pointer: /id }, values: [{ pointer: /v }] }
`;

const system = useTestSystem();
const { connect } = useMosquittoAccounts(system, {
  accounts: { pump: [], gateway: ['sheep'] },
  settings: (files) => ({ MQTT_MAPPINGS: join(files, 'mappings.yaml') }),
  prepare: async (files) => writeFileSync(join(files, 'mappings.yaml'), MAPPINGS),
});

const idOf = (device: string) => String(identifyDevice(device)?.id);

test('Mosquitto: mapped topics: device publishes on its own topics only, and the installation account receives all', async () => {
  const operator = await connect('operator');
  const received: string[] = [];
  operator.on('message', (topic) => received.push(topic));
  await operator.subscribeAsync(['farm/+/up', 'lines/+'], { qos: 1 });
  for (const [account, topic, isAllowed] of [
    ['pump', 'farm/pump/up', true],
    ['pump', `farm/${idOf('pump')}/up`, true],
    ['gateway', 'farm/sheep/up', true],
    ['pump', 'farm/sheep/up', false],
    ['pump', 'farm/pump/down', false],
    ['pump', 'lines/1', false],
  ] as const) {
    expect([topic, await isAccepted(await connect(account), topic)]).toEqual([topic, isAllowed]);
  }
  await until(() => received.length === 3);
  expect(received).toEqual(['farm/pump/up', `farm/${idOf('pump')}/up`, 'farm/sheep/up']);
});
