import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../../infra/tls/certificates.js';
import { findOpenssl } from '../../infra/tls/openssl.js';

/** Certificates of a test's own, as `npm run certificates` makes them; to be removed in `afterAll`. */
export function certificatesFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  return {
    /**
     * @param {string} [authority] each has its own, made with the first certificate
     * @param {{ hosts?: string, name?: string, renew?: boolean }} [options]
     */
    async make(authority = 'ours', { hosts = 'localhost,127.0.0.1', name = 'server', renew = false } = {}) {
      const out = join(folder, authority);
      await makeCertificates({ openssl: await findOpenssl(), out, hosts, name, renew });
      const ca = join(out, 'ca.pem');
      return {
        ca,
        authority: readFileSync(ca),
        cert: join(out, `${name}.pem`),
        key: join(out, `${name}.key`),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
