// Generated from the OpenAPI document by `npm run docs:reference`.

/** `rows` of the file are read, and their `samples` committed. `merged` counts samples that are not stored, because the file has another sample of the same sensor and time; `merged_lines` has the first hundred. `refused` counts the samples and lines that are not stored; `refused_lines` has the first thousand. `oldest` and `newest` are the times of the first and the last sample, null without samples. `first` is for a dry run: the first samples as they would be stored, with the time in the zone of the request. */
export interface Imported {
  rows: number;
  samples: number;
  merged: number;
  refused: number;
  oldest: string | null;
  newest: string | null;
  refused_lines: {
    line: number;
    code: string;
    rule: string;
  }[];
  merged_lines: {
    line: number;
    same_as: number;
  }[];
  first: {
    line: number;
    device: string;
    sensor: string;
    ts: string;
    local: string | null;
    value: number;
    type: string | null;
    unit: string | null;
    site: string | null;
  }[];
}
/** `options` are parameters of `POST /import`. A question has the parameter that answers it, and usual answers. If `options` has an answer too, it is likely, but not sure. */
export interface ImportProposal {
  options: {
    [k: string]: string;
  };
  questions: {
    option: string;
    text: string;
    choices: string[];
  }[];
  columns: string[];
}
