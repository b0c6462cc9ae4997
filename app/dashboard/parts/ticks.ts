/** The lines of a chart's axes. */

const STEPS = [1, 2, 2.5, 5, 10];
/** Lines above zero. */
const MOST_LINES = 4;

/** Even steps from zero to the maximum or beyond it; only whole ones for counts. */
export function splitsOf(most: number, isWhole: boolean): number[] {
  const power = 10 ** Math.floor(Math.log10(most / MOST_LINES));
  const rough = STEPS.map((step) => step * power).find((step) => step * MOST_LINES >= most * (1 - 1e-9)) ?? most;
  const step = isWhole ? Math.max(1, Math.ceil(rough)) : rough;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Indices of the days that get a label, so that each has `space` pixels; the last day always has one. */
export function labelledDays(count: number, width: number, space: number): number[] {
  const step = Math.max(1, Math.ceil((count * space) / Math.max(width, 1)));
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => count - 1 - index * step).reverse();
}
