import type { Client } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import { toQuery } from '../../api/request.ts';
import type * as schemas from './schemas.ts';

export type Imported = schemas.Imported;
export type RefusedLine = Imported['refused_lines'][number];
export type ImportedRow = Imported['first'][number];
export type ImportProposal = schemas.ImportProposal;
export type ImportQuestion = ImportProposal['questions'][number];

/**
 * @param content a file, or whole lines of a file
 * @param type media type of the content
 * @returns the result; the API answers after it has committed the samples
 */
export const importPiece = (
  { requests }: Client,
  content: Blob,
  type: string,
  query: Query,
  signal: AbortSignal,
): Promise<Imported> => requests.post(`/import${toQuery(query)}`, { file: { type, content } }, signal);

/** @param content beginning of a file @returns options that describe the file */
export const readProposal = ({ requests }: Client, content: Blob, type: string): Promise<ImportProposal> =>
  requests.post('/import/proposal', { file: { type, content } });
