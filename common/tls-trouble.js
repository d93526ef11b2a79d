/** Node's codes of a certificate that nobody vouches for (OpenSSL's X509_V_ERR_...). */
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
 * What is wrong with the certificate of a server that we connected to, in a clause.
 *
 * @param {unknown} error
 * @param {string} setting that names the authority's file
 * @param {boolean} [isSet] whether it does; without, the authorities that Node.js knows are trusted
 * @returns {string | null} null: it is no trouble of TLS
 */
export function tlsTrouble(error, setting, isSet = true) {
  const { code = '', message = '' } = /** @type {Partial<NodeJS.ErrnoException>} */ (error ?? {});
  const authority = isSet ? `the authority in ${setting}` : 'an authority that is known here';
  if (UNTRUSTED.has(code)) {
    const mend = isSet ? '' : `, and no file in ${setting} names its own`;
    return `its certificate is not signed by ${authority}${mend} (${message})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate, signed by ${authority}, is for other hosts (${message})`;
  if (code === 'CERT_HAS_EXPIRED') return `its certificate, or that of ${authority}, has expired`;
  if (code === 'CERT_NOT_YET_VALID') return `its certificate, or that of ${authority}, is not valid yet`;
  if (NO_TLS.has(code)) return `it does not speak TLS there, which ${setting} or the address demands`;
  return null;
}
