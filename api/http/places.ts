import type { Response } from 'express';

/** Epoch ms, half-open. */
interface Span {
  from: number;
  to: number;
}

export interface Place {
  id: string;
  /** names from the root */
  path: string;
}

/** Chooses the sensors that count in an answer about many sensors, and their times. Ids are those of the registry. */
export interface PlaceFilter {
  /** whether sensors are added together by their places */
  isGrouped: boolean;
  /** devices that may have such sensors in the span; null: any device */
  devices: (span: Span) => string[] | null;
  /** in order of time; `place` null: the sensor was at none, or they are not grouped */
  spansOf: (device: string, sensor: string, span: Span) => Array<Span & { place: Place | null }>;
}

/** Is called by the feature that knows places, before the handler of the route. */
export const filterByPlaces = (res: Response, filter: PlaceFilter) => {
  res.locals['places'] = filter;
};

/** Null: all sensors count all the time. */
export const placeFilterOf = (res: Response): PlaceFilter | null => res.locals['places'] ?? null;
