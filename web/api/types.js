/**
 * The answers of the API. OpenAPI and the `HTTP` section of the documents describe them.
 *
 * @typedef {object} LatestItem one sensor with its newest measured value
 * @property {string} device_id UUID
 * @property {string} sensor_id UUID
 * @property {string | null} device name
 * @property {string | null} name
 * @property {string | null} type null until a birth has it
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
 * @typedef {Omit<DeviceInfo, 'registered_at' | 'sensors'>} DeviceItem one device of a page
 *
 * @typedef {{ ts: string, kind: 'birth' | 'online' | 'offline' }} DeviceEvent
 *
 * @typedef {object} FleetInfo counts of all
 * @property {{ online: number, offline: number }} devices
 * @property {number} sensors
 * @property {Record<string, number>} by_type
 * @property {Record<string, number>} by_site
 *
 * @typedef {{ ts: string, value: number }} Measurement
 *
 * @typedef {object} Series the shape of a signal, in bins that have samples
 * @property {{ ts: string, min: number, max: number, avg: number | null, count: number }[]} points `ts`: of the bin's beginning
 * @property {number} step_ms width of a bin
 * @property {'statistics' | 'samples'} source
 *
 * @typedef {object} Delta values that are new on the stream
 * @property {LatestItem[]} items
 * @property {string | null} committed_at ISO 8601, when the oldest of them was committed; null where that is not known
 * @property {string} sent_at ISO 8601, by the same clock
 *
 * @typedef {object} Stats what all processes do together, sent once a second
 * @property {number} samples_per_s
 * @property {{ p50: number | null, p99: number | null }} commit_ms null while nothing is committed
 * @property {number} in_flight requests to the database
 * @property {number} window requests that may be in flight now
 * @property {number} window_limit and at most
 * @property {number} waiting requests that wait for a place
 * @property {number} refused_per_s
 * @property {number} readers that follow the stream
 *
 * @typedef {Stats & { ts: string }} StatsThen
 *
 * @typedef {{ ok: boolean, message: string }} Check
 *
 * @typedef {object} ProcessInfo
 * @property {string} client_id
 * @property {'all' | 'ingest' | 'http'} role
 * @property {string} version
 * @property {string} since ISO 8601
 * @property {string} seen ISO 8601
 * @property {boolean} stale it sent no heartbeat for 30 s
 * @property {number} samples_per_s
 * @property {{ p50: number | null, p99: number | null }} commit_ms
 * @property {number} in_flight
 * @property {number} refused_per_s
 * @property {number} readers that follow its stream
 * @property {{ window: number, window_limit: number, waiting: number }} pressure requests that may be in flight now, and at most, and that wait for a place
 * @property {Check | null} broker
 *
 * @typedef {{ address: string, data_center: string | null, up: boolean }} DatabaseNode
 *
 * @typedef {object} Pipeline
 * @property {ProcessInfo[]} processes
 * @property {{ nodes: DatabaseNode[] }} database
 * @property {Check | null} broker
 * @property {string} packed_until ISO 8601
 *
 * @typedef {{ index: number, code: string, path?: string, rule?: string }} Refusal `index` counts the message's elements from 0; -1 is the message as a whole.
 *   `path` and `rule` name the wrong field and the broken rule; older dead letters have neither
 *
 * @typedef {object} DeadLetter
 * @property {string} id timeuuid
 * @property {string} ts ISO 8601
 * @property {string | null} device as the topic has it
 * @property {string} topic
 * @property {Record<string, number>} codes refused measurements by code
 * @property {Refusal[] | null} refused the first 100; null where only counts were kept
 * @property {string | null} content_type as the sender wrote it
 * @property {number | null} size bytes of the whole payload; null where only counts were kept
 * @property {string | null} payload_base64 the first 64 KiB
 *
 * @typedef {{ hour: string, dead_letters: number, codes: Record<string, number> }} RefusedHour
 *
 * @typedef {{ items: RefusedHour[], from: string, to: string }} DeadLetterSummary hours newest first
 *
 * @typedef {{ accepted: number, refused: Refusal[] }} ReplayResult
 */

/**
 * @template T
 * @typedef {{ items: T[], next: string | null }} Page
 */

export {};
