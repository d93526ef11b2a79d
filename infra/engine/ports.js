import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { MillraceError } from '../../common/errors.js';

/** Where the engine listens. */
export const HOST = '127.0.0.1';

/**
 * @param {number} port 0: any
 * @param {string} [host]
 * @returns {Promise<number | null>} the port, or null when somebody listens on it
 */
function tryPort(port, host = HOST) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const { port: got } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(got));
    });
  });
}

/** @param {number} port @param {string} [host] @returns {Promise<boolean>} whether nobody listens on it */
export const isPortFree = async (port, host) => (await tryPort(port, host)) !== null;

/** @returns {Promise<number>} a loopback port that was free a moment ago */
export const freePort = async () => Number(await tryPort(0));

/**
 * Loopback ports by name: those of last time where they are still free, else new ones, remembered for next time.
 *
 * @template {string} Name
 * @param {string} file where they are remembered
 * @param {Name[]} names
 * @returns {Promise<Record<Name, number>>}
 */
export async function rememberedPorts(file, names) {
  const before = await readPorts(file);
  const ports = /** @type {Record<Name, number>} */ ({});
  for (const name of names) {
    const known = before[name];
    ports[name] = known && (await isPortFree(known)) ? known : await freePort();
  }
  await writeFile(file, `${JSON.stringify(ports)}\n`);
  return ports;
}

/** @param {string} file @returns {Promise<Record<string, number | undefined>>} */
async function readPorts(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return {}; // Not there yet, or cut off by a crash: new ports are as good.
  }
}

/** @param {number} port CQL @throws {MillraceError} `port_taken` */
export async function checkEnginePort(port) {
  if (await isPortFree(port)) return;
  throw new MillraceError(
    'port_taken',
    `Something listens on ${HOST}:${port} already, where the local database should. If it is a database that you want to use, set CQL_CONTACT_POINTS=${HOST}:${port}; if not, choose another port: CQL_LOCAL_PORT=${await freePort()}`,
  );
}
