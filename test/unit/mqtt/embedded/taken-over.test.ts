import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { SessionlessBroker } from '../../../../api/mqtt/embedded/mqtt5.ts';
import { Persistence } from '../../../../api/mqtt/embedded/retained.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { FakeSocket } from '../../../support/mqtt/fake-socket.ts';
import { connectBytes, subscribeBytes } from '../../../support/mqtt/packets.ts';

/** After this many turns of the event loop the broker has handled everything. */
const TURNS = 20;

const afterwards = useCleanUps();

async function settle() {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
}

test('Embedded broker: two clients take over a client id at once: the last client stays connected, and one client is counted', async () => {
  const broker = new SessionlessBroker({ persistence: new Persistence() });
  await broker.listen();
  afterwards(() => new Promise((resolve) => broker.close(() => resolve(undefined))));
  const signIn = (): FakeSocket => {
    const socket = new FakeSocket();
    broker.handle(socket);
    socket.arrive(connectBytes({ clientId: 'd' }));
    return socket;
  };
  const older = signIn();
  // aedes removes the subscription in the next turn. This delays the close of the older connection.
  older.arrive(subscribeBytes(1, 'iot/v1/d/status'));
  await settle();
  const newer = signIn();
  const newest = signIn();
  await settle();
  expect([older, newer, newest].map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
  expect(broker.connectedClients).toBe(1);
  newest.destroy();
  await settle();
  expect(broker.connectedClients).toBe(0);
});
