import { expect, test } from '@jest/globals';
import {
  isAccepted,
  useMosquittoAccounts,
} from '../../../support/features/credentials/mosquitto-accounts.ts';
import { useTestSystem } from '../../../support/system/use.ts';
import { until } from '../../../support/until.ts';

const system = useTestSystem();
const { connect } = useMosquittoAccounts(system, {
  accounts: { pump: [] },
  settings: () => ({ HOME_ASSISTANT_PREFIX: 'homeassistant' }),
});

test('Mosquitto: Home Assistant topics: the installation account publishes and receives them; a device may not publish', async () => {
  const [operator, pump] = [await connect('operator'), await connect('pump')];
  const received: string[] = [];
  operator.on('message', (topic) => received.push(topic));
  await operator.subscribeAsync('homeassistant/#', { qos: 1 });
  const topic = 'homeassistant/sensor/a/b/config';
  expect(await isAccepted(pump, topic)).toBe(false);
  expect(await isAccepted(operator, topic)).toBe(true);
  await until(() => received.length === 1);
  expect(received).toEqual([topic]);
});
