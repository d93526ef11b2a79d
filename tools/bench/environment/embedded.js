import { MAX_DEVICES } from '../../../api/access/credentials/credential-service.js';
import { deviceName } from '../load/devices.js';

/** @import { Broker } from './broker.js' */
/** @import { Guard, SignIn } from '../load/accounts.js' */
/** @import { IngestProcess } from './ingest.js' */

/**
 * The broker within an ingest process, and accounts at it, where it wants some: as many gateways as the publisher has
 * connections, each of which may speak for the devices of all loads.
 *
 * @param {IngestProcess} ingest
 * @param {Guard} guard as it was started with
 * @param {number} connections
 * @returns {Promise<Broker>}
 */
export async function embeddedBroker(ingest, { accounts, tls }, connections) {
  const gateways = accounts
    ? Array.from({ length: connections }, (_, index) => `bench-gateway-${index}`)
    : [];
  return {
    url: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${ingest.mqttPort}`,
    access: {
      ca: tls?.ca,
      accounts: await Promise.all(gateways.map((account) => issue(ingest.url, account))),
    },
    // It ends with the process that it is in.
    stop: async () => {},
  };
}

/** @param {string} url of the API @param {string} account @returns {Promise<SignIn>} */
async function issue(url, account) {
  const devices = Array.from({ length: MAX_DEVICES }, (_, number) => deviceName(number));
  const response = await fetch(`${url}/api/v1/credentials`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account, devices }),
  });
  if (!response.ok)
    throw new Error(`${url}/api/v1/credentials answers ${response.status}: ${await response.text()}`);
  const { secret } = /** @type {{ secret: string }} */ (await response.json());
  return { username: account, password: secret };
}
