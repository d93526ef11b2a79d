// The health check of the API's container: exit code 0 if it is ready to serve, else 1 and the reason.
import { readFileSync } from 'node:fs';

const token = readFileSync(process.env['API_TOKEN_FILE'] ?? '/run/secrets/api_token', 'utf8').trim();
const response = await fetch(`http://127.0.0.1:${process.env['HTTP_PORT'] ?? 8080}/readyz`, {
  headers: { authorization: `Bearer ${token}` },
  signal: AbortSignal.timeout(4_000),
});
if (!response.ok) {
  console.error(`${response.status} ${await response.text()}`);
  process.exitCode = 1;
}
