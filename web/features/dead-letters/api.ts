import type { Client } from '../../api/client.ts';
import { segment } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import { readProblem } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type UnmatchedTopics = schemas.UnmatchedTopics;
export type UnmatchedTopic = UnmatchedTopics['items'][number];
export type Refusal = schemas.Refusal;
export type DeadLetter = schemas.DeadLetter;
export type DecodedDeadLetter = schemas.DecodedDeadLetter;
export type Decoded = NonNullable<DecodedDeadLetter['decoded']>;
export type DecodedElement = NonNullable<Decoded['elements']>[number];
export type DeadLetterSummary = schemas.DeadLetterSummary;
export type RefusedHour = DeadLetterSummary['items'][number];
export type RefusedDevice = schemas.RefusedDevices['items'][number];
/** What a replay accepted, and each refused measurement. */
export type ReplayResult = { accepted: number; refused: Refusal[] };

/** @returns dead letters, newest first */
export const readDeadLetters = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<Page<DeadLetter>> => requests.get('/dead-letters', query, signal);

export const readSummary = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<DeadLetterSummary> => requests.get('/dead-letters/summary', query, signal);

/** @returns the devices with refused measurements in the last five minutes */
export const readRefusedDevices = (
  { requests }: Client,
  signal?: AbortSignal,
): Promise<schemas.RefusedDevices> => requests.get('/dead-letters/devices', {}, signal);

export const readDeadLetter = (
  { requests }: Client,
  id: string,
  signal?: AbortSignal,
): Promise<DecodedDeadLetter> => requests.get(`/dead-letters/${segment(id)}`, {}, signal);

export const readUnmatchedTopics = ({ requests }: Client, signal?: AbortSignal): Promise<UnmatchedTopics> =>
  requests.get('/unmatched-topics', {}, signal);

/** @returns the outcome of each refused measurement */
export async function replayDeadLetter({ requests }: Client, id: string): Promise<ReplayResult> {
  const response = await requests.request(`/dead-letters/${segment(id)}/replay`, undefined, {
    method: 'POST',
  });
  if (response.ok) return { refused: [], ...(await response.json()) };
  const body = response.status === 422 ? await response.clone().json() : {};
  if (!Array.isArray(body.refused)) throw await readProblem(response);
  return { accepted: body.accepted, refused: body.refused };
}
