/**
 * What the API answers; the `HTTP` section of docs and OpenAPI say the same.
 *
 * @typedef {object} LatestItem one sensor with its newest measured value
 * @property {string} device_id UUID
 * @property {string} sensor_id UUID
 * @property {string | null} device name
 * @property {string | null} name
 * @property {string | null} type null until a birth tells it
 * @property {string | null} unit
 * @property {string | null} site
 * @property {string | null} ts ISO 8601, null before the first sample
 * @property {number | null} value
 *
 * @typedef {object} SensorInfo
 * @property {string} sensor_id
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {number | null} interval_ms
 * @property {string | null} ts
 * @property {number | null} value
 *
 * @typedef {object} DeviceInfo
 * @property {string} device_id
 * @property {string | null} name
 * @property {string | null} site
 * @property {boolean} online
 * @property {string | null} last_seen ISO 8601
 * @property {string | null} registered_at ISO 8601
 * @property {SensorInfo[]} sensors
 *
 * @typedef {{ ts: string, value: number }} Measurement
 *
 * @typedef {object} Stats what the pipeline does, told once a second
 * @property {number} samples_per_s
 * @property {{ p50: number, p99: number } | null} commit_ms null while nothing is committed
 * @property {number} in_flight requests to the database
 * @property {number} refused_per_s
 */

/**
 * @template T
 * @typedef {{ items: T[], next: string | null }} Page
 */

export {};
