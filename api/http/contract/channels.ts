import { refTo } from './openapi.ts';

/** A topic, or several with parameters. `receive`: devices publish on it; `send`: Millrace does. */
export interface Channel {
  action: 'receive' | 'send';
  qos: 0 | 1;
  address: string;
  title: string;
  description: string;
  parameters: Record<string, object>;
  messages: Record<string, object>;
}

/** A level of the named topics of `iot/live`. */
export const NAMED = {
  description:
    'A name if the UUID is computed from it, else the UUID. `%`, `/`, `+` and `#` are percent-encoded.',
  examples: ['my-desk'],
};

export const jsonMessage = (contentType: string, name: string, summary: string) => ({
  contentType,
  summary,
  payload: refTo(name),
});

export const binaryMessage = (contentType: string, summary: string) => ({
  contentType,
  summary,
  payload: { type: 'string', format: 'binary' },
});
