import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../../files/leftovers.ts'
import { linesOf } from '../../files/lines.ts'
import { parseJson } from '../store/parse-artifact.ts'

/** One recall, with its text: kept only where somebody asked for it, and readable by its owner alone. */
export const LoggedQuery = z.looseObject({
  at: z.string(),
  user: z.string(),
  scopes: z.array(z.string()),
  message: z.string(),
})
export type LoggedQuery = z.infer<typeof LoggedQuery>

export const queryLogPath = (root: string): string => join(root, 'queries.jsonl')

/** Adds a query. The file is made for its owner alone. */
export async function logQuery(path: string, query: LoggedQuery): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, flags, 0o600)
  try {
    // One write of one line: lines of several processes do not mix.
    await file.write(`${JSON.stringify(query)}\n`)
  } finally {
    await file.close()
  }
}

/** The queries in the order they were asked; lines that are none are counted and left out. */
export async function readQueries(
  path: string,
): Promise<{ readonly queries: readonly LoggedQuery[]; readonly unreadable: number } | null> {
  const queries: LoggedQuery[] = []
  let unreadable = 0
  try {
    for await (const { number, bytes } of linesOf(path)) {
      const json = bytes === null ? null : parseJson(bytes, `${path}:${number}`)
      const query = json?.ok ? LoggedQuery.safeParse(json.value) : null
      if (query?.success) queries.push(query.data)
      else unreadable += 1
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  return { queries, unreadable }
}
