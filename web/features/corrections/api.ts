import type { Client } from '../../api/client.ts';
import { segment } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import { toQuery } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type Correction = schemas.Correction;
export type Removal = schemas.Removal;

export const readCorrections = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<Correction>> => requests.get('/corrections', query, signal);

/** @param query selection and range; `dry_run`: only counts */
export async function removeSamples(
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<Removal> {
  return JSON.parse(await requests.read(`/measurements${toQuery(query)}`, signal, { method: 'DELETE' }));
}

export const replaceSamples = (
  { requests }: Client,
  query: { device: string; reason: string },
  body: { sensor_id: string; ts: number; value: number }[],
  signal?: AbortSignal,
): Promise<{ accepted: number }> => requests.post(`/corrections${toQuery(query)}`, { body }, signal);

export const undoCorrection = ({ requests }: Client, id: string, reason: string): Promise<Correction> =>
  requests.post(`/corrections/${segment(id)}/undo${toQuery({ reason })}`);
