import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../errors.ts'
import { readForeignRows } from '../files/foreign-database.ts'
import { takeLock } from '../files/lock.ts'
import { prepareOwnPath, writePrivate } from '../files/own-files.ts'
import { parseObject } from '../json.ts'
import { localDay } from '../local-time.ts'
import type { ChatFormat } from '../memory/transfer/chats/chat.ts'
import { xdgDirectory } from './memory-location.ts'
import type { Machine } from './session.ts'
import { pluralize, table } from './text/output.ts'

type HistoryFile = { readonly path: string; readonly changedAt: number }

/** The conversations of one program on this machine. */
export type AgentHistory = {
  readonly host: ChatFormat
  readonly conversations: number
  /** When the oldest and the newest of the conversations were last changed. */
  readonly from: string
  readonly to: string
  readonly files: readonly HistoryFile[]
}

/** The directories in which programs store conversations, with a pattern for the files. The patterns exclude subagent transcripts. */
function historyPlaces({ env, home }: Machine): readonly (readonly [ChatFormat, string, string])[] {
  const openclaw = env.OPENCLAW_STATE_DIR || join(env.OPENCLAW_HOME || home, '.openclaw')
  const shared = xdgDirectory(env.XDG_DATA_HOME, join(home, '.local', 'share'))
  return [
    ['claude-code', env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects/*/*.jsonl'],
    ['codex', env.CODEX_HOME || join(home, '.codex'), '{sessions,archived_sessions}/**/rollout-*.jsonl'],
    ['gemini', join(home, '.gemini'), 'tmp/*/chats/session-*.{json,jsonl}'],
    ['opencode', join(shared, 'opencode'), 'opencode*.db'],
    ['openclaw', openclaw, 'agents/*/sessions/*.jsonl'],
    ['cursor', join(home, '.cursor'), 'projects/*/agent-transcripts/{*,*/*}.jsonl'],
  ]
}

/** The histories on this machine, each with its newest file first. */
export function findHistories(machine: Machine): readonly AgentHistory[] {
  return historyPlaces(machine).flatMap(([host, root, pattern]) => {
    const files = globSync(pattern, { cwd: root })
      .map((path) => join(root, path))
      .flatMap((path) => {
        const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
        return size === 0 ? [] : [{ path, changedAt: mtimeMs }]
      })
      .sort((a, b) => b.changedAt - a.changedAt)
    const spans = host === 'opencode' ? files.flatMap(sessionsIn) : files.map(({ changedAt }) => changedAt)
    if (spans.length === 0) return []
    const times = spans.map((time) => new Date(time).toISOString()).sort()
    return [{ host, conversations: times.length, from: times[0] ?? '', to: times.at(-1) ?? '', files }]
  })
}

/** When each session in the database of opencode was last changed. */
function sessionsIn({ path }: HistoryFile): readonly number[] {
  try {
    return [...readForeignRows(path, 'SELECT time_updated FROM session WHERE parent_id IS NULL')].map(
      ({ time_updated }) => Number(time_updated),
    )
  } catch {
    // The file is not a database of opencode.
    return []
  }
}

/** The files of all histories, the newest first. */
export const listNewestFirst = (histories: readonly AgentHistory[]): readonly string[] =>
  histories
    .flatMap(({ files }) => files)
    .sort((a, b) => b.changedAt - a.changedAt)
    .map(({ path }) => path)

export const historiesText = (histories: readonly AgentHistory[]): string =>
  table(
    histories.map(({ host, conversations, from, to }) => [
      `  ${host}`,
      pluralize(conversations, 'conversation'),
      `last changed ${localDay(from)} to ${localDay(to)}`,
    ]),
  )

/** The progress of importing the histories. `declined`: the person was asked and declined. */
export type ImportProgress =
  | { readonly outcome: 'declined' }
  | { readonly outcome: 'stopped' | 'done'; readonly files: number; readonly total: number; readonly turns: number }

const progressFile = (dir: string): string => join(dir, 'state', 'import.json')
const importLock = (dir: string): string => join(dir, 'state', 'import.lock')

/** A running import records `stopped` after each file, so that the record is right if its process is killed. */
export const noteImport = (dir: string, progress: ImportProgress): void =>
  writePrivate(prepareOwnPath(dir, progressFile(dir)), JSON.stringify(progress), 'replace')

/** Null if the histories were never imported. */
export function lastImport(dir: string): ImportProgress | null {
  try {
    // Only `noteImport` writes the file.
    return parseObject(readFileSync(progressFile(dir), 'utf8')) as ImportProgress | null
  } catch {
    return null
  }
}

/** Lets one process at a time import the histories. Throws a MemoryError `conflict` while another process does. */
export const lockImport = (dir: string): Promise<() => void> =>
  takeLock(prepareOwnPath(dir, importLock(dir)), 'The import of the histories', 1_000)

export async function importText(dir: string): Promise<string | null> {
  const last = lastImport(dir)
  if (last === null || last.outcome !== 'stopped') return null
  const done = `${last.files} of ${pluralize(last.total, 'file')}, ${pluralize(last.turns, 'turn')} stored`
  try {
    const release = await takeLock(importLock(dir), 'The import of the histories')
    release()
    return `stopped after ${done}; \`credence import chats\` continues it`
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'conflict') return `running: ${done}`
    throw error
  }
}
