/** Fills an area with slanted lines. @param area in device pixels; `step`: distance of two lines in CSS pixels */
export function hatch(
  ctx: CanvasRenderingContext2D,
  {
    left,
    width,
    top,
    bottom,
    ratio,
    step,
  }: { left: number; width: number; top: number; bottom: number; ratio: number; step: number },
) {
  if (width <= 0 || bottom - top < 1) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, bottom - top);
  ctx.clip();
  ctx.lineWidth = ratio;
  const height = bottom - top;
  for (let x = left - height; x < left + width; x += step * ratio)
    stroke(ctx, [x, bottom], [x + height, top]);
  ctx.restore();
}

export function stroke(ctx: CanvasRenderingContext2D, from: [number, number], to: [number, number]) {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}
