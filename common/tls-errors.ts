/** OpenSSL's X509_V_ERR_... */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

const NO_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO']);

/**
 * A clause without a period.
 * @param setting name of the setting with the file of the authority
 * @param isSet false: the setting has no value, and the connection trusts the authorities that Node.js includes
 * @returns null: the error is not a TLS error
 */
export function explainTlsError(error: unknown, setting: string, isSet: boolean = true): string | null {
  const { code = '', message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const authority = isSet ? `the authority in ${setting}` : 'an authority that is known here';
  if (UNTRUSTED.has(code)) {
    const hint = isSet ? '' : `, and no file in ${setting} names its own`;
    return `its certificate is not signed by ${authority}${hint} (${message})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate, signed by ${authority}, is for other hosts (${message})`;
  if (code === 'CERT_HAS_EXPIRED') return `its certificate, or that of ${authority}, has expired`;
  if (code === 'CERT_NOT_YET_VALID') return `its certificate, or that of ${authority}, is not valid yet`;
  if (NO_TLS.has(code)) return `it does not speak TLS there, which ${setting} or the address demands`;
  return null;
}
