/**
 * Number of tries of a property or a random history. A run with `--long` tries each five times as often. `TEST_RUNS=100` asks for more.
 * @param ordinary in an ordinary run
 */
export const runs = (ordinary: number) => ordinary * Number(process.env['TEST_RUNS'] ?? 1);
