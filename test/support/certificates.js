import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../../infra/tls/certificates.js';
import { findOpenssl } from '../../infra/tls/openssl.js';

/** Makes certificates for a test, as `npm run certificates` does. The test removes them in `afterAll`. */
export function certificatesFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  return {
    /**
     * @param {string} [authority] its name; it is created with its first certificate
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
