import { MillraceError, messageOf } from '../../../common/errors.ts';

/** Plain JSON: values have no types. */
const FORMAT = 'application/vnd.gremlin-v3.0+json;types=false';

type Row = Record<string, unknown>;

/**
 * Sends scripts to Gremlin Server over HTTP. Its library for Node.js brings 14 packages and a WebSocket that must be closed, and adds nothing
 * for requests without a session.
 */
export class Gremlin {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** `text` is constant, because the server compiles each text once. @throws `failed` */
  async submit<R = Row>(text: string, bindings: Record<string, unknown>): Promise<R[]> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: FORMAT },
      body: JSON.stringify({ gremlin: text, bindings }),
    }).catch((error) => {
      const reason = messageOf(error.cause ?? error);
      throw new MillraceError('failed', `No answer of Gremlin Server at GRAPH_URL ${this.#url}: ${reason}`);
    });
    const answer = await response.text();
    if (!response.ok) throw new MillraceError('failed', `Gremlin Server: ${reasonIn(answer)}`);
    return JSON.parse(answer).result.data;
  }
}

function reasonIn(answer: string): string {
  try {
    return JSON.parse(answer).message ?? answer;
  } catch {
    return answer.slice(0, 500);
  }
}
