/** Long answers of HTTP, piece by piece: files of CSV, NDJSON, Parquet and Arrow, and JSON. */
export {
  COLUMN_CONTENT,
  fileType,
  hasColumns,
  refusePaging,
  sendEncoded,
  sendFile,
  sendTable,
  TYPE_OF,
  tableType,
} from './answers.ts';
export { CHUNK, createWrite, sendPieces } from './write.ts';
