import type { Client } from '../../api/client.ts';
import { segment } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type Credential = schemas.Credential;
export type IssuedCredential = schemas.IssuedCredential;

export const readCredentials = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<Credential>> => requests.get('/credentials', query, signal);

export const issueCredential = (
  { requests }: Client,
  account: string,
  devices: string[],
): Promise<IssuedCredential> => requests.post('/credentials', { body: { account, devices } });

/** @returns the credential with its new secret */
export const rotateCredential = ({ requests }: Client, account: string): Promise<IssuedCredential> =>
  requests.post(`/credentials/${segment(account)}/rotate`);

export async function revokeCredential({ requests }: Client, account: string) {
  await requests.requestOk(`/credentials/${segment(account)}`, undefined, { method: 'DELETE' });
}
