import { createHmac } from 'node:crypto'
import { statementKey } from '../../beliefs/identity.ts'
import type { Commit } from '../../beliefs/journal.ts'
import type { NewTurn } from '../../beliefs/turn.ts'
import type { Ports } from '../ports.ts'

/** The keys of fingerprints, by the device that made them, in hexadecimal. New fingerprints use `own`. */
export type TextKeys = { readonly own: string; readonly all: Readonly<Record<string, string>> }

type SaidText = Pick<NewTurn, 'session' | 'role' | 'text'>

const fingerprint = ([device, key]: readonly [string, string], parts: readonly string[]): string =>
  `${device}:${createHmac('sha256', Buffer.from(key, 'hex')).update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`

/** Includes the session, because the same words, such as "go on", are a different turn in another conversation. */
const partsOfTurn = ({ session, role, text }: SaidText): readonly string[] => [session, role, text]
const partsOfStatement = (content: string): readonly string[] => [statementKey(content)]

const fingerprintWithEachKey = (keys: TextKeys, parts: readonly string[]): readonly string[] =>
  Object.entries(keys.all).map((key) => fingerprint(key, parts))

/** The fingerprints that a turn or a statement may have been forgotten under. */
export const fingerprintTurn = (keys: TextKeys, turn: SaidText): readonly string[] =>
  fingerprintWithEachKey(keys, partsOfTurn(turn))
export const fingerprintStatement = (keys: TextKeys, content: string): readonly string[] =>
  fingerprintWithEachKey(keys, partsOfStatement(content))

/** The fingerprints of all texts that a commit will erase, in all their versions. Read before the commit. */
export async function fingerprintErased({ store, syncDevice }: Ports, commit: Commit): Promise<readonly string[]> {
  if (syncDevice === undefined) return []
  const { keys } = await (await syncDevice(commit.user)).read()
  const key = [keys.own, keys.all[keys.own] ?? ''] as const
  const found = new Set<string>()
  for (const { beliefId, outcome } of commit.changes) {
    if (outcome !== 'erased') continue
    for (const { belief } of await store.history(commit.user, beliefId))
      if (belief !== null) found.add(fingerprint(key, partsOfStatement(belief.content)))
  }
  for (const id of commit.forgottenTurns ?? []) {
    const turn = await store.getTurn(commit.user, id)
    if (turn !== null) found.add(fingerprint(key, partsOfTurn(turn)))
  }
  return [...found]
}
