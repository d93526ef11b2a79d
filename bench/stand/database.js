import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../common/data-dir.js';
import { startEngine } from '../../infra/engine/index.js';
import { holderOf } from '../../infra/engine/lock.js';
import { freePort } from '../../infra/engine/ports.js';
import { NODE_FOLDER } from '../../infra/engine/previous.js';
import { makeCertificates } from '../../infra/tls/certificates.js';
import { writeInOneFile } from '../../infra/tls/one-file.js';
import { findOpenssl } from '../../infra/tls/openssl.js';

/**
 * Paths of an authority and of what it signed, for everything on this machine.
 *
 * @typedef {{ ca: string, cert: string, key: string }} Certificates
 */

/**
 * @typedef {object} Database
 * @property {string} contactPoint
 * @property {number} pid
 * @property {import('../../infra/engine/nodetool.js').Nodetool} [nodetool]
 * @property {Certificates} [certificates] it can be spoken to with TLS as well, by these
 */

/**
 * A Cassandra of the bench's own, with nothing in it. Who connects decides whether it is with TLS.
 *
 * @param {object} options
 * @param {string} options.dir emptied
 * @param {string} options.engineDir where the jars are kept
 * @param {import('../../infra/engine/command.js').Profile} [options.profile] default: at full speed, with a heap that stays as it is
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Database & { stop: () => Promise<void> }>}
 */
export async function startDatabase({ dir, engineDir, profile = 'bench', onStatus, signal }) {
  await emptyDataDir(dir, []);
  await claimDataDir(dir);
  const port = await freePort();
  const certificates = await certify(join(dir, 'tls'));
  const pem = `${certificates.cert}.pair`;
  await writeInOneFile(pem, certificates);
  const tls = { pem, ca: certificates.ca, optional: true };
  const engine = await startEngine({ dataDir: dir, port, engineDir, profile, tls, onStatus, signal });
  const holder = await holderOf(join(dir, NODE_FOLDER));
  return {
    certificates,
    contactPoint: engine.contactPoint,
    pid: Number(holder?.java),
    nodetool: engine.nodetool,
    stop: engine.stop,
  };
}

/** @param {string} out a directory @returns {Promise<Certificates>} as `npm run certificates` makes them */
async function certify(out) {
  const hosts = 'localhost,127.0.0.1';
  await makeCertificates({ openssl: await findOpenssl(), out, hosts, name: 'server', renew: false });
  return { ca: join(out, 'ca.pem'), cert: join(out, 'server.pem'), key: join(out, 'server.key') };
}
