/** Maximum number of characters of a common name (RFC 5280, ub-common-name). */
const LONGEST_COMMON_NAME = 64;

/** The subject of the authority. It differs from the subjects of all certificates, or a certificate would look self-signed. */
export const AUTHORITY = '/O=Millrace/CN=Millrace development CA';

/** Complete, so that the configuration of the machine has no effect. */
export const configuration = (names: string[]) => `\
[req]
prompt = no
distinguished_name = subject
[subject]
O = Millrace
CN = ${commonName(names)}
[authority]
basicConstraints = critical, CA:true, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = ${names.join(',')}
`;

/** @returns the first host that is short enough for a common name; clients ignore it */
const commonName = (names: string[]): string =>
  names.map((name) => name.replace(/^(DNS|IP):/, '')).find((host) => host.length <= LONGEST_COMMON_NAME) ??
  'Millrace development server';
