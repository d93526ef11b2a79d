// Generated from the OpenAPI document by `npm run docs:reference`.

export interface UnmatchedTopics {
  items: UnmatchedTopic[];
  since: string;
  source: 'embedded' | 'external' | 'none';
}
/** Messages on one topic outside the contract. `topic` has the first 512 characters. `ts`, `size` and `payload_base64` are of the newest message: its receipt, its bytes, and the first 2048 of them. `suggestion` is the topic of the contract that was probably meant, with the same names; null if none is close. `mapping` is a draft for the file of `MQTT_MAPPINGS`, as YAML; null if no mapping may read the topic, or if there is a suggestion. A topic with more than 100 levels is listed as `$SYS/dropped`. */
export interface UnmatchedTopic {
  topic: string;
  count: number;
  ts: string;
  size: number;
  payload_base64: string;
  suggestion: string | null;
  mapping: string | null;
}
/** `index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of the field that breaks the rule, empty for the message as a whole. For a binary format it names the fields as the specification does. `rule` describes the valid values for a person. Dead letters of older versions have neither `path` nor `rule`. */
export interface Refusal {
  index: number;
  code: string;
  path?: string;
  rule?: string;
}
/** A message with refused measurements. `refused` lists the first 100 of them; `codes` counts all. `content_type` is the content type of the message, if it had one. `size` is the size of the whole payload in bytes; the first 64 KiB are stored. If only the counts were stored, all of these members except `codes` are null. */
export interface DeadLetter {
  id: string;
  ts: string;
  device: string | null;
  topic: string;
  /** Counts of refused measurements, by code. */
  codes: {
    [k: string]: number;
  };
  refused: Refusal[] | null;
  content_type: string | null;
  size: number | null;
  payload_base64: string | null;
}
export interface DecodedDeadLetter {
  id: string;
  ts: string;
  device: string | null;
  topic: string;
  /** Counts of refused measurements, by code. */
  codes: {
    [k: string]: number;
  };
  refused: Refusal[] | null;
  content_type: string | null;
  size: number | null;
  payload_base64: string | null;
  decoded: {
    format: ('JSON' | 'CBOR') | null;
    text: string | null;
    elements:
      | {
          text: string;
          marks: [number, number][];
        }[]
      | null;
    problem: string | null;
  } | null;
}
export interface DeadLetterSummary {
  items: {
    hour: string;
    dead_letters: number;
    /** Counts of refused measurements, by code. */
    codes: {
      [k: string]: number;
    };
  }[];
  from: string;
  to: string;
}
export interface RefusedDevices {
  items: {
    device_id: string;
    device: string;
    refused: number;
    newest: string;
  }[];
  dead_letters: number;
  from: string;
  to: string;
}
