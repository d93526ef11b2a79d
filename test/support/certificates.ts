import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../../infra/tls/certificates.ts';
import { findOpenssl } from '../../infra/tls/openssl.ts';

/** As `npm run certificates` makes them. The test removes them in `afterAll`. */
export function certificatesFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  return {
    /** @param authority its name; it is created with its first certificate */
    async make(
      authority: string = 'ours',
      { hosts = 'localhost,127.0.0.1', renew = false }: { hosts?: string; renew?: boolean } = {},
    ) {
      const out = join(folder, authority);
      await makeCertificates({ openssl: await findOpenssl(), out, hosts, name: 'server', renew });
      const ca = join(out, 'ca.pem');
      return {
        ca,
        authority: readFileSync(ca),
        cert: join(out, 'server.pem'),
        key: join(out, 'server.key'),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
