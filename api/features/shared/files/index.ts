/** Answers of HTTP that are files: CSV and NDJSON of rows, and bytes of Parquet and Arrow. */
export {
  COLUMN_CONTENT,
  csvCell,
  fileType,
  hasColumns,
  refusePaging,
  sendEncoded,
  sendFile,
  sendTable,
  TYPE_OF,
  tableType,
} from './answers.ts';
