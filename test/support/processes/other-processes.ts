import type { TestSystem } from '../system/index.ts';

/**
 * Writes the heartbeats of other processes: two that ingest, and one that serves readers.
 * @param options age of the heartbeat of the second process
 */
export async function writeHeartbeats(system: TestSystem, { silentMs = 0 }: { silentMs?: number } = {}) {
  const { processes } = await system.openStore();
  const startedAt = Date.now() - 90_000_000;
  for (const [clientId, role, age] of [
    ['millrace-2', 'ingest', 0],
    ['millrace-3', 'ingest', silentMs],
    ['reader-1.example:8080', 'http', 0],
  ] as const) {
    const stats = JSON.stringify({
      samples_per_s: role === 'http' ? 0 : 4180.4,
      commit_ms: role === 'http' ? { p50: null, p99: null } : { p50: 3.42, p99: 18.9 },
      in_flight: role === 'http' ? 0 : 23,
      refused_per_s: 0,
      readers: role === 'http' ? 2 : 0,
      window: 64,
      window_limit: 512,
      waiting: 0,
      broker: role === 'http' ? null : { ok: true, message: 'connected' },
    });
    await processes.write({ clientId, role, version: '0.1.0', startedAt, seenAt: Date.now() - age, stats });
  }
}
