import type { Client } from '../../api/client.ts';
import type * as schemas from './schemas.ts';

export type Pipeline = schemas.Pipeline;
export type ProcessInfo = Pipeline['processes'][number];
export type Measurements = Pipeline['measurements'];
export type StreamOut = NonNullable<Pipeline['stream_out']>;
export type Stats = schemas.Stats;
export type PastStats = schemas.RecentStats['items'][number];

export const readPipeline = ({ requests }: Client, signal?: AbortSignal): Promise<Pipeline> =>
  requests.get('/pipeline', {}, signal);

/** @returns pipeline statistics, one entry per second, the oldest first */
export const readRecentStats = (
  { requests }: Client,
  signal?: AbortSignal,
): Promise<{ items: PastStats[] }> => requests.get('/pipeline/recent', {}, signal);
