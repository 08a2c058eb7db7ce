import type { Memory } from '../memory/memory.ts'

const dayMs = 86_400_000

/** Forgets turns that are older than they are to be kept; 0 days keeps them for ever. Says how many are gone. */
export async function forgetOldTurns(memory: Memory, keepTurnsDays: number, now: Date): Promise<number> {
  if (keepTurnsDays === 0) return 0
  const until = new Date(now.getTime() - keepTurnsDays * dayMs).toISOString()
  const { total } = await memory.turns({ until, limit: 1 })
  if (total === 0) return 0
  return (await memory.forgetTurns({ until })).turns
}
