// The health check of the API's container: exit code 0 if it is ready to serve, else 1 and the reason.
import { readFileSync } from 'node:fs';
import { askApi } from '../../common/api-client.ts';

const { env } = process;
const token = readFileSync(env['API_TOKEN_FILE'] ?? '/run/secrets/api_token', 'utf8').trim();
const certificate = env['HTTP_TLS_CERT'];
const url = `${certificate ? 'https' : 'http'}://127.0.0.1:${env['HTTP_PORT'] ?? 8080}/readyz`;
const { status, text } = await askApi(url, { token, certificate, withinMs: 4_000 });
if (status !== 200) {
  console.error(`${status} ${text}`);
  process.exitCode = 1;
}
