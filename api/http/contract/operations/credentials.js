import { LIST } from '../../routes/credentials.js';
import { json, PAGED } from '../operation.js';
import { PAYLOADS } from '../payloads.js';
import { SCHEMAS } from '../schemas.js';

/** @typedef {import('../operation.js').Operation} Operation */

const ONCE = 'The secret is told this once: of it only a salted hash is kept.';

/** @type {Operation} */
export const listCredentials = {
  id: 'listCredentials',
  tag: 'credentials',
  scope: 'admin',
  summary: 'The accounts of devices, page by page',
  description: 'Those that were issued and not revoked since. A page may be short before the end.',
  query: LIST,
  answers: { 200: json(SCHEMAS.CredentialPage) },
  problems: PAGED,
};

/** @type {Operation} */
export const issueCredential = {
  id: 'issueCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Gives a device an account',
  description: `It signs in to the broker with \`account\` as its name and the secret as its password, and may then publish and follow what is its
own. A gateway may also do so for the devices that are named. ${ONCE} The device need not be registered yet.`,
  body: json(PAYLOADS.WantedCredential),
  answers: { 201: json(SCHEMAS.IssuedCredential) },
  problems: [
    'bad_parameter',
    'bad_id',
    'malformed',
    'too_large',
    'unknown_format',
    'credential_exists',
    'unavailable',
  ],
};

/** @type {Operation} */
export const rotateCredential = {
  id: 'rotateCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Gives an account another secret',
  description: `The one before is good no more; who is connected with it is disconnected within half a minute. ${ONCE}`,
  answers: { 200: json(SCHEMAS.IssuedCredential) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

/** @type {Operation} */
export const revokeCredential = {
  id: 'revokeCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Takes the account of a device away',
  description:
    'Who is connected with it is disconnected within half a minute. Retiring a device does the same.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};
