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
 * @property {number} [sigmas] on the stream only: how far the value is from what is usual, in deviations; missing: not judged
 * @property {true} [provisional] it was judged by its last hours, because nothing is learned yet
 * @property {string | null} [label] a text for people; on the page of its device only
 *
 * @typedef {{ mean: number, deviation: number, provisional: boolean }} Baseline what is usual; `provisional`: by the last hours
 *
 * @typedef {Baseline & { ts: string }} BaselineHour what is usual in the hour that begins at `ts`
 *
 * @typedef {LatestItem & { ts: string, value: number, sigmas: number, baseline: Baseline | null, age_ms: number }} OutlierItem
 *
 * @typedef {{ items: OutlierItem[], sensors: number, judged: number, provisional: number, outliers: number }} OutlierPage the most unusual first; the counts are of all
 *
 * @typedef {object} OutlierGroup a site or a device
 * @property {string | null} site
 * @property {string | null} device_id null: it is a site
 * @property {string | null} device name
 * @property {number} sensors
 * @property {number} judged of these
 * @property {number} outliers of these
 * @property {OutlierItem | null} worst null: none was judged
 *
 * @typedef {{ items: OutlierGroup[], groups: number }} OutlierGroupPage the one with the most unusual value first
 *
 * @typedef {{ ready: boolean, checks: Record<string, { ok: boolean, message: string }> }} Readiness of the process that answers
 *
 * @typedef {object} SensorInfo
 * @property {string} sensor_id
 * @property {string | null} name
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string | null} label a text for people
 * @property {number | null} interval_ms
 * @property {string | null} ts
 * @property {number | null} value
 *
 * @typedef {object} DeviceInfo
 * @property {string} device_id
 * @property {string | null} name
 * @property {string | null} site
 * @property {string | null} label a text for people
 * @property {boolean} online
 * @property {string | null} last_seen ISO 8601
 * @property {string | null} registered_at ISO 8601
 * @property {number | null} [clock_offset_ms] its clock minus that of the server, when its session began; null: no difference is known
 * @property {SensorInfo[]} sensors
 *
 * @typedef {Omit<DeviceInfo, 'registered_at' | 'clock_offset_ms' | 'sensors'>} DeviceItem one device of a page
 *
 * @typedef {{ ts: string, kind: 'birth' | 'online' | 'offline', clock_offset_ms?: number }} DeviceEvent
 *
 * @typedef {object} Annotation a text about an instant
 * @property {string} id timeuuid
 * @property {string} ts ISO 8601
 * @property {string | null} device_id null: of the whole installation
 * @property {string} text
 *
 * @typedef {object} SearchResult a site, a device or a sensor; what does not apply is null
 * @property {'site' | 'device' | 'sensor'} kind
 * @property {string} name its id where it has none
 * @property {string | null} device_id
 * @property {string | null} sensor_id
 * @property {string | null} device name of the device
 * @property {string | null} type
 * @property {string | null} site
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
 * @typedef {object} ProcessHealth what a process reports of itself, once a second and without the database
 * @property {string} client_id
 * @property {'all' | 'ingest' | 'http'} role
 * @property {Record<string, Check>} checks
 * @property {number} unanswered_ms time since the database last answered a check; 0: it answers
 * @property {{ messages: number, oldest_ms: number, standstill_ms: number }} unsettled messages that are not acknowledged
 *
 * @typedef {Stats & { health: ProcessHealth[] }} StatsEvent
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
 * @property {Measurements} measurements
 * @property {Check | null} broker
 *
 * @typedef {object} Measurements which way those of settled messages have gone since the start: `received` is the sum of the others
 * @property {number} received
 * @property {number} stored
 * @property {number} merged
 * @property {number} refused
 * @property {number} skipped
 *
 * @typedef {{ address: string, data_center: string | null, up: boolean }} DatabaseNode
 *
 * @typedef {object} Pipeline
 * @property {ProcessInfo[]} processes
 * @property {Measurements} measurements of all processes that run
 * @property {{ nodes: DatabaseNode[] }} database
 * @property {Check | null} broker
 * @property {string} packed_until ISO 8601
 * @property {StreamOut | null} stream_out null: nothing is streamed out
 * @property {{ auto_register: boolean, mqtt: Mqtt | null }} ingest what a new device needs
 *
 * @typedef {object} StreamOut from the database to Kafka
 * @property {boolean} ok whether Kafka takes records
 * @property {number} lag_ms age of what waits longest for Kafka
 * @property {number} queue_bytes
 * @property {number} queue_limit
 * @property {string | null} until ISO 8601: all hours before it are complete in Kafka
 *
 * @typedef {object} Mqtt the broker that devices connect to
 * @property {boolean} embedded the process that answers is this broker
 * @property {string | null} host null: the host of the API
 * @property {number} port
 * @property {boolean} tls
 * @property {boolean} credentials a client needs a user name and a password
 *
 * @typedef {object} UnmatchedTopic messages on one topic outside the contract
 * @property {string} topic
 * @property {number} count
 * @property {string} ts ISO 8601, of the newest message
 * @property {number} size bytes of its payload
 * @property {string} payload_base64 the first 2 KiB of it
 * @property {string | null} suggestion the topic of the contract that was probably meant
 * @property {string | null} mapping a draft for the file of mappings, as YAML
 *
 * @typedef {object} UnmatchedTopics
 * @property {UnmatchedTopic[]} items the newest first
 * @property {string} since ISO 8601
 * @property {'embedded' | 'external' | 'none'} source from which the process that answers receives messages
 *
 * @typedef {object} Credential the account of a device
 * @property {string} device_id
 * @property {string} account user name at the broker
 * @property {string[]} devices further devices whose topics it may use
 * @property {string} issued_at ISO 8601
 * @property {string} changed_at ISO 8601, of the last new secret
 *
 * @typedef {Credential & { secret: string }} IssuedCredential
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
 * @typedef {{ device_id: string, device: string, refused: number, newest: string }} RefusedDevice `newest`: ISO 8601
 *
 * @typedef {{ items: RefusedDevice[], from: string, to: string }} RefusedDevices most refusals first
 *
 * @typedef {{ accepted: number, refused: Refusal[] }} ReplayResult
 *
 * @typedef {'info' | 'warning' | 'critical'} Severity
 *
 * @typedef {{ line: number, code: string, rule: string }} RefusedLine
 * @typedef {{ line: number, device: string, sensor: string, ts: string, value: number, type: string | null, unit: string | null, site: string | null }} ImportedRow
 * @typedef {{ rows: number, samples: number, refused: number, refused_lines: RefusedLine[], first: ImportedRow[] }} Imported
 *
 * @typedef {object} Alarm a time range in which a sensor met the condition of a rule
 * @property {string} alarm_id
 * @property {string} rule_id
 * @property {string} rule its name
 * @property {Severity} severity
 * @property {string | null} text what to do
 * @property {string} device_id
 * @property {string | null} device
 * @property {string} sensor_id
 * @property {string | null} sensor
 * @property {string | null} site
 * @property {string} started_at ISO 8601, as all times here
 * @property {string} opened_at
 * @property {string | null} cleared_at
 * @property {number | null} peak null: an absence
 * @property {'open' | 'cleared' | 'withdrawn'} state
 * @property {boolean} seen_late
 * @property {string | null} acknowledged_at
 * @property {string | null} acknowledged_by
 * @property {string | null} comment
 * @property {string | null} shelved_until
 *
 * @typedef {{ event: string, alarm: Alarm }} AlarmMessage
 *
 * @typedef {{ kind: 'above' | 'below' | 'outside' | 'rate' | 'absent', limit?: number | [number, number], clear?: number | [number, number], for_ms?: number, for_samples?: number, intervals?: number }} AlarmCondition
 *
 * @typedef {object} WantedAlarmRule
 * @property {string} name
 * @property {{ type?: string, site?: string, device?: string, sensor?: string }} scope
 * @property {AlarmCondition} condition
 * @property {Severity} severity
 * @property {string} [text]
 *
 * @typedef {WantedAlarmRule & { rule_id: string, version: number, since: string }} AlarmRule
 *
 * @typedef {Pick<Alarm, 'device_id' | 'device' | 'sensor_id' | 'sensor' | 'started_at' | 'opened_at' | 'cleared_at' | 'peak'>} PastEpisode
 *
 * @typedef {object} Backtest
 * @property {string} from
 * @property {string} to
 * @property {string | null} stored_from the oldest sample in the range
 * @property {string | null} stored_to the newest
 * @property {number} count
 * @property {number} sensors
 * @property {boolean} partial
 * @property {number} without_interval tested sensors for which the rule never fires
 * @property {number} total_ms
 * @property {PastEpisode[]} items
 * @property {{ limit: number, count: number } | null} fewer_alarms
 * @property {{ limit: number, count: number } | null} more_alarms
 */

/**
 * @template T
 * @typedef {{ items: T[], next: string | null }} Page
 */

export {};
