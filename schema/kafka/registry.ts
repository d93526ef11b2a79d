import type { KafkaSettings } from './settings.ts';

const REQUEST_MS = 10_000;

/** The subject does not exist, or does not have this schema. */
const UNKNOWN = [40401, 40403];

export class RegistryError extends Error {
  declare code: number | undefined;

  constructor(message: string, { code, cause }: { code?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'RegistryError';
    this.code = code;
  }
}

/** Confluent's HTTP interface, which Karapace, Apicurio and Redpanda also have. */
export class SchemaRegistry {
  #url;
  #headers;

  constructor({ url, username, password }: NonNullable<KafkaSettings['registry']>) {
    this.#url = url;
    const credentials = Buffer.from(`${username}:${password}`).toString('base64');
    this.#headers = {
      'Content-Type': 'application/vnd.schemaregistry.v1+json',
      Accept: 'application/vnd.schemaregistry.v1+json',
      ...(username && { Authorization: `Basic ${credentials}` }),
    };
  }

  /** Registers the schema (Avro) if the registry does not have it. `isNew`: this call registered it. @throws `RegistryError` */
  async idOf(subject: string, schema: object): Promise<{ id: number; isNew: boolean }> {
    const path = `/subjects/${encodeURIComponent(subject)}`;
    const body = { schema: JSON.stringify(schema) };
    try {
      return { id: await this.#post(path, body), isNew: false };
    } catch (error) {
      if (!(error instanceof RegistryError && UNKNOWN.includes(error.code ?? 0))) throw error;
    }
    return { id: await this.#post(`${path}/versions`, body), isNew: true };
  }

  async #post(path: string, body: object): Promise<number> {
    const what = `Schema registry ${this.#url}${path}`;
    let answer: { ok: boolean; status: number; text: string };
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      answer = { ok: response.ok, status: response.status, text: await response.text() };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RegistryError(`${what} does not answer: ${reason}`, { cause: error });
    }
    const { id, error_code: code, message = answer.text.slice(0, 200) } = parsed(answer.text);
    if (answer.ok && id !== undefined && Number.isInteger(id)) return id;
    throw new RegistryError(`${what} answers ${answer.status}: ${message}`, { code });
  }
}

type Answer = { id?: number; error_code?: number; message?: string };

function parsed(text: string): Answer {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
