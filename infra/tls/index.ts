import { join, relative } from 'node:path';
import { runCommand } from '../../common/command.ts';
import { claimDataDir } from '../../common/data-dir.ts';
import { type CommandLine, type Flag, parseFlags } from '../../common/flags.ts';
import { readSetting } from '../../common/settings/index.ts';
import { makeCertificates } from './certificates.ts';
import { LOOPBACK_HOSTS } from './hosts.ts';
import { findOpenssl } from './openssl.ts';

const FLAGS = {
  host: {
    type: 'text',
    help: `names and addresses that clients connect to, comma-separated; default: with --renew those it had, else ${LOOPBACK_HOSTS}`,
  },
  out: { type: 'text', help: 'directory for the files; default: tls in DATA_DIR' },
  name: { type: 'text', help: "name of the certificate's files", fallback: 'server' },
  renew: { type: 'switch', help: 'replaces a certificate that exists; the authority stays' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run certificates --',
  help: 'Makes an authority for development and a certificate that it signs.',
  examples: ['npm run certificates', 'npm run certificates -- --host localhost,192.0.2.7 --out tls'],
  flags: FLAGS,
  settings: ['DATA_DIR'],
};

// npm run certificates: makes an authority for development, and certificates that this authority signs.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  const { host, name, renew } = flags;
  const dataDir = readSetting('DATA_DIR');
  const out = flags.out ?? join(dataDir, 'tls');
  const openssl = await findOpenssl();
  // The directory is marked while it is still empty, because `npm run dev -- --fresh` refuses to empty an unmarked directory.
  if (flags.out === undefined) await claimDataDir(dataDir);
  const made = await makeCertificates({ openssl, out, hosts: host, name, renew: Boolean(renew) });
  for (const { path, isNew } of made.files) console.log(`${isNew ? 'written' : 'kept   '}  ${path}`);
  const at = (file: string) => relative('', join(out, file)) || file;
  console.log(`
For ${made.hosts}. Settings of the API:
  HTTP_TLS_CERT=${at(`${name}.pem`)} HTTP_TLS_KEY=${at(`${name}.key`)}
  MQTT_TLS_CERT=${at(`${name}.pem`)} MQTT_TLS_KEY=${at(`${name}.key`)}
Clients trust ${at('ca.pem')}: MQTT_TLS_CA here, curl --cacert, mosquitto_pub --cafile. A person who has ${at('ca.key')} can
pretend to be any server to them: it is for development, and stays on this machine.`);
});
