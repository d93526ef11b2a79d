import { here, onNode } from './plan.js';
import { command } from './shell.js';

/** @import { Operation } from './given.js' */

/** @satisfies {Operation} */
export const removeProcess = {
  help: 'stops an ingest process permanently, and settles what the broker still holds for it',
  examples: ['--node ingest-2 --client-id millrace-2 --dry-run'],
  shared: ['reach', 'stop'],
  flags: {
    'client-id': { type: 'text', help: 'its MQTT_CLIENT_ID' },
    node: { type: 'text', help: 'machine where it runs; without: it has been stopped' },
  },
  plan(given) {
    const id = given.need('client-id');
    const { stop } = given.commands({ stop: 'sudo systemctl disable --now millrace' });
    return [
      ...(given.node ? [onNode(given.need('node'), 'stops after its work in flight', stop)] : []),
      here(
        'settles what waits in its session, and ends the session',
        `${command(`MQTT_CLIENT_ID=${id}`)} npm start -- --drain`,
      ),
    ];
  },
};
