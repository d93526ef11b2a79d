interface SenmlRecord {
  bn?: string;
  bt?: number;
  bu?: string;
  n?: string;
  u?: string;
  t?: number;
  v: number;
}

/**
 * Resolves a SenML pack by RFC 8428, section 4.6. It is a separate decoder, so that it does not repeat a mistake of the encoder.
 * Base values apply until they are replaced. Names are joined, and times are added.
 * @returns `ts` in epoch ms
 */
export function resolveSenml(
  pack: SenmlRecord[],
): { name: string; unit: string | undefined; ts: number; value: number }[] {
  let base = { bn: '', bt: 0, bu: undefined as string | undefined };
  return pack.map((record) => {
    base = { bn: record.bn ?? base.bn, bt: record.bt ?? base.bt, bu: record.bu ?? base.bu };
    return {
      name: base.bn + (record.n ?? ''),
      unit: record.u ?? base.bu,
      ts: Math.round((base.bt + (record.t ?? 0)) * 1000),
      value: record.v,
    };
  });
}
