// Generated from the OpenAPI document by `npm run docs:reference`.

/** A text about an instant. `device_id` is null if it is about the whole installation. */
export interface Annotation {
  id: string;
  /** The annotated instant. */
  ts: string;
  device_id: string | null;
  text: string;
}
