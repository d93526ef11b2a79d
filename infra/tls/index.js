import { join, relative } from 'node:path';
import { runCommand } from '../../common/command.js';
import { parseFlags } from '../../common/flags.js';
import { makeCertificates } from './certificates.js';
import { findOpenssl } from './openssl.js';

/** @satisfies {Record<string, import('../../common/flags.js').Flag>} */
const FLAGS = {
  host: {
    type: 'text',
    help: 'names and addresses that clients connect to, comma-separated',
    fallback: 'localhost,127.0.0.1,::1',
  },
  out: { type: 'text', help: 'directory for the files', fallback: '.data/tls' },
  name: { type: 'text', help: "name of the certificate's files", fallback: 'server' },
  renew: { type: 'switch', help: 'makes a certificate that is there anew; the authority stays' },
};

// npm run certificates: an authority for development, and certificates that it signs.
await runCommand(async () => {
  const { host, out, name, renew } = parseFlags('npm run certificates --', FLAGS, process.argv.slice(2));
  const openssl = await findOpenssl();
  const files = await makeCertificates({ openssl, out, hosts: host, name, renew: Boolean(renew) });
  for (const { path, isNew } of files) console.log(`${isNew ? 'written' : 'kept   '}  ${path}`);
  const at = (/** @type {string} */ file) => relative('', join(out, file)) || file;
  console.log(`
For ${host}. Settings of the API:
  HTTP_TLS_CERT=${at(`${name}.pem`)} HTTP_TLS_KEY=${at(`${name}.key`)}
  MQTT_TLS_CERT=${at(`${name}.pem`)} MQTT_TLS_KEY=${at(`${name}.key`)}
Clients trust ${at('ca.pem')}: MQTT_TLS_CA here, curl --cacert, mosquitto_pub --cafile. Whoever has ${at('ca.key')} can
pretend to be any server to them: it is for development, and stays on this machine.`);
});
