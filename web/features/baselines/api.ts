import type { Client } from '../../api/client.ts';
import { sensorPath } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import type * as schemas from './schemas.ts';

export type BaselineHour = schemas.SensorBaseline['hours'][number];
export type OutlierItem = schemas.Outlier;
export type OutlierGroup = schemas.OutlierGroups['items'][number];

export const readOutliers = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<schemas.Outliers> => requests.get('/outliers', query, signal);

export const readGroups = (
  { requests }: Client,
  query: Query,
  signal?: AbortSignal,
): Promise<schemas.OutlierGroups> => requests.get('/outliers/groups', query, signal);

/** @returns the baseline of each hour of the current day */
export const readBaseline = (
  { requests }: Client,
  device: string,
  sensor: string,
  signal?: AbortSignal,
): Promise<{ hours: BaselineHour[] }> => requests.get(`${sensorPath(device, sensor)}/baseline`, {}, signal);
