import type { Client } from '../../api/client.ts';
import type * as schemas from './schemas.ts';

export type SearchResult = schemas.SearchResults['items'][number];

/** @returns search results, the best match first */
export const search = (
  { requests }: Client,
  text: string,
  signal?: AbortSignal,
): Promise<schemas.SearchResults> => requests.get('/search', { q: text }, signal);
