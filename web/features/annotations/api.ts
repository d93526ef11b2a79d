import type { Client } from '../../api/client.ts';
import { segment } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import { toQuery } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type Annotation = schemas.Annotation;

export const readAnnotations = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<Annotation>> => requests.get('/annotations', query, signal);

/** @param annotation `ts`: time of the annotation in epoch ms */
export async function annotate(
  { requests }: Client,
  annotation: { text: string; ts: number; device?: string },
) {
  await requests.read('/annotations', undefined, { method: 'POST', body: annotation });
}

export async function removeAnnotation(
  { requests }: Client,
  { id, device_id }: Pick<Annotation, 'id' | 'device_id'>,
) {
  const path = `/annotations/${segment(id)}${toQuery({ device: device_id })}`;
  await requests.requestOk(path, undefined, { method: 'DELETE' });
}
