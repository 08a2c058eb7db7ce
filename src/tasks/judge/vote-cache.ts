import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { canonicalJson, sha256 } from '../../eval/pack/pack-hash.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import type { Vote } from './judge-reply.ts'

/** Everything a vote depends on. Two votes with the same key are the same vote. */
export type VoteKey = {
  readonly promptVersion: string
  readonly promptHash: string
  readonly provider: string
  readonly model: string
  readonly endpoint: string | null
  readonly temperature: number
  readonly vote: number
  readonly taskSha256: string
  readonly seed: number
  readonly transcriptSha256: string | null
  readonly workspace: readonly (readonly [path: string, sha256: string])[]
  readonly rubric: string
  readonly criteria: readonly string[]
  readonly cuts: readonly string[]
}

const Kept = z.strictObject({
  schemaVersion: z.literal(1),
  key: z.string(),
  judgedBy: z.string(),
  criteria: z.array(z.strictObject({ id: z.string(), score: z.number().min(0).max(1), reason: z.string() })),
  notes: z.string(),
})

export type KeptVote = { readonly vote: Vote; readonly judgedBy: string }

/** Votes kept in a folder, one file each. Only valid votes are kept, so that a failure is never remembered. */
export function voteCache(folder: string): {
  find(key: VoteKey): Promise<KeptVote | null>
  keep(key: VoteKey, vote: KeptVote): Promise<void>
} {
  const place = (key: VoteKey): { readonly digest: string; readonly path: string } => {
    const digest = sha256(canonicalJson(key)).slice('sha256:'.length)
    return { digest, path: join(folder, `${digest}.json`) }
  }
  return {
    find: async (key) => {
      const { digest, path } = place(key)
      try {
        const { criteria, notes, judgedBy, key: own } = Kept.parse(JSON.parse(await readFile(path, 'utf8')))
        return own === digest ? { vote: { criteria, notes }, judgedBy } : null
      } catch {
        // Not there, or not what was written: the judge is asked again.
        return null
      }
    },
    keep: async (key, { vote, judgedBy }) => {
      const { digest, path } = place(key)
      const document = { schemaVersion: 1, key: digest, judgedBy, criteria: vote.criteria, notes: vote.notes }
      await writeAtomically(path, asJson(document), { existing: 'replace', durable: false })
    },
  }
}
