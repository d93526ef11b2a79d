import type { RequestHandler, Response } from 'express';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { audit, fields, json, PAGED, readJsonText, readQuery } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import type { CredentialService, Issued } from './credential-service.ts';
import { SCHEMAS } from './schemas.ts';
import type { CredentialPlace, NewCredential } from './store.ts';

export const LIST = { limit: fields.limit, cursor: fields.cursor };

/** In bytes. A thousand of the longest names, all characters escaped, fit. */
const MAX_BYTES = 1024 * 1024;

type CredentialDeps = Core & { credentials: CredentialService };

const SCOPE = JSON.stringify(['credentials']);

export const getCredentials =
  ({ credentials, http: { cursors } }: CredentialDeps): RequestHandler =>
  async (req, res) => {
    const { limit, cursor } = readQuery(req, LIST);
    const after = cursor === undefined ? null : cursors.open<CredentialPlace>(SCOPE, cursor);
    const { rows, next } = await credentials.page({ after, limit });
    res.json({ items: rows.map(credentialItem), next: next && cursors.seal(SCOPE, next) });
  };

export const postCredential =
  ({ credentials, context: { logger } }: CredentialDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const issued = await credentials.issue(readWanted(await readJsonText(req, res, MAX_BYTES)));
    audit(logger, res, 'a credential was issued', issued.credential.account);
    sendIssued(res.status(201), issued);
  };

export const postRotation =
  ({ credentials, context: { logger } }: CredentialDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const issued = await credentials.rotate(String(req.params['device']));
    audit(logger, res, 'a credential was rotated', issued.credential.account);
    sendIssued(res, issued);
  };

export const deleteCredential =
  ({ credentials, context: { logger } }: CredentialDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const account = String(req.params['device']);
    await credentials.revoke(account);
    audit(logger, res, 'a credential was revoked', account);
    res.status(204).end();
  };

/** @throws `malformed` */
function readWanted(text: string): { account: string; devices?: string[] } {
  try {
    return SCHEMAS.WantedCredential.parse(JSON.parse(text));
  } catch (error) {
    const message = 'Send only {"account": "…"}, and "devices": ["…"] for a gateway.';
    throw new MillraceError('malformed', message, { cause: error });
  }
}

const credentialItem = ({ deviceId, account, devices, issuedAt, changedAt }: NewCredential) => ({
  device_id: deviceId,
  account,
  devices,
  issued_at: formatTime(issuedAt),
  changed_at: formatTime(changedAt),
});

/** Not compressed: the length would reveal the secret next to texts that the client chose (BREACH). */
function sendIssued(res: Response, { credential, secret }: Issued) {
  res.set('Cache-Control', 'no-store, no-transform').json({ ...credentialItem(credential), secret });
}

const ONCE = 'Only this answer contains the secret. The database keeps a salted hash.';

export const listCredentials: Operation = {
  id: 'listCredentials',
  tag: 'credentials',
  scope: 'admin',
  summary: 'The accounts of devices, page by page',
  description: 'Accounts with a valid credential. A page may be short before the end.',
  query: LIST,
  answers: { 200: json(SCHEMAS.CredentialPage) },
  problems: PAGED,
};

export const issueCredential: Operation = {
  id: 'issueCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Issues a credential to a device',
  description: `The device signs in to the broker with \`account\` as user name and the secret as password. It may then publish and subscribe to
its own topics. A gateway may use the topics of the listed devices too. ${ONCE} The device need not be registered yet.`,
  body: json(SCHEMAS.WantedCredential),
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

export const rotateCredential: Operation = {
  id: 'rotateCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Replaces the secret of an account',
  description: `The old secret is invalid at once. Clients that are connected with it are disconnected within half a minute. ${ONCE}`,
  answers: { 200: json(SCHEMAS.IssuedCredential) },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

export const revokeCredential: Operation = {
  id: 'revokeCredential',
  tag: 'credentials',
  scope: 'admin',
  summary: 'Revokes the credential of a device',
  description:
    'Clients that are connected with it are disconnected within half a minute. Retiring a device also revokes its credential.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'bad_id', 'not_found', 'unavailable'],
};

export const routes: Array<Route<CredentialDeps>> = [
  { method: 'get', path: '/api/v1/credentials', operation: listCredentials, handler: getCredentials },
  { method: 'post', path: '/api/v1/credentials', operation: issueCredential, handler: postCredential },
  {
    method: 'post',
    path: '/api/v1/credentials/{device}/rotate',
    operation: rotateCredential,
    handler: postRotation,
  },
  {
    method: 'delete',
    path: '/api/v1/credentials/{device}',
    operation: revokeCredential,
    handler: deleteCredential,
  },
];
