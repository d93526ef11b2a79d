import { sameSecret } from '../../../common/same-secret.js';

/**
 * Who may connect: everybody, or, where `MQTT_AUTH` is on, whoever shows name and password.
 *
 * @param {import('../../../common/settings.js').Config['mqtt']} mqtt
 * @param {string | undefined} givenName
 * @param {Buffer | undefined} givenPassword
 */
export function mayConnect({ auth, username, password }, givenName, givenPassword) {
  if (!auth) return true;
  return sameSecret(givenName ?? '', username ?? '') && sameSecret(givenPassword ?? '', password ?? '');
}
