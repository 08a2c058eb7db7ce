import { randomBytes } from 'node:crypto'

/** A name for a run that sorts by time, can be read, and is never given twice. */
export function newRunId(benchmarkId: string, system: string, now: Date): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/gu, '').replace('T', '-')
  const parts = [stamp, slug(benchmarkId, 60), slug(system, 24), randomBytes(2).toString('hex')]
  return parts.filter((part) => part !== '').join('-')
}

/** Letters, digits and hyphens only. */
export const slug = (text: string, most: number): string =>
  text
    .replaceAll(/[^A-Za-z0-9]+/gu, '-')
    .replaceAll(/^-|-$/gu, '')
    .slice(0, most)
