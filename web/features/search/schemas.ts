// Generated from the OpenAPI document by `npm run docs:reference`.

export interface SearchResults {
  items: SearchResult[];
  /** Whether there are more results than `limit`. */
  more: boolean;
}
/** A site, a device or a sensor. `name` is the id if it has no name. `device` is the name of the device. Members that do not apply are null. */
export interface SearchResult {
  kind: 'site' | 'device' | 'sensor';
  name: string;
  device_id: string | null;
  sensor_id: string | null;
  device: string | null;
  type: string | null;
  site: string | null;
}
