import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { stepRange, stepsNamed } from '../../../search/turns/steps.ts'
import { fileIn, readObjects, unpublishedFile } from './data-file.ts'
import { allAt, idOf, recallAt, type Suite, type SuiteConversation, type SuiteQuestion, turnId } from './suite.ts'

const Episode = z.object({
  episode_id: z.union([z.string(), z.number()]).transform(String),
  trajectory: z.array(z.object({ turn_idx: z.number().int(), action: z.string(), observation: z.string() })).min(1),
  qa_pairs: z.array(z.object({ question: z.string(), answer: z.string() })),
})

/** AMA-Bench (MIT): does a search find the steps of an agent's trajectory that the published answer names? */
export const amaBench: Suite = {
  name: 'ama-bench',
  published: { unit: 'conversations', counts: [208] },
  decisive: ['t1-r@10', 't2-r@10', 'addressed'],
  read: function* (path, onProgress) {
    for (const file of episodeFiles(path))
      for (const episode of readObjects(file, Episode, onProgress)) yield conversationOf(episode)
  },
  score: ({ gold, group }, { found }, { turns }) => {
    const given = gold.given ?? new Set()
    const ranked = found.map(idOf).filter((id) => !given.has(id))
    if (group !== 'T1' && group !== 'T2') return { addressed: recallAt(ranked, gold.turns, 10) }
    const steps = turns.length - given.size
    const prefix = group.toLowerCase()
    return {
      [`${prefix}-r@5`]: recallAt(ranked, gold.turns, 5),
      [`${prefix}-all@5`]: allAt(ranked, gold.turns, 5),
      [`${prefix}-r@10`]: recallAt(ranked, gold.turns, 10),
      // The recall to expect if the steps are in random order.
      [`${prefix}-chance@5`]: Math.min(1, 5 / steps),
      [`${prefix}-chance@10`]: Math.min(1, 10 / steps),
    }
  },
}

function episodeFiles(path: string): readonly string[] {
  if (existsSync(path) && statSync(path).isDirectory()) {
    const files = readdirSync(path).filter((name) => /\.jsonl?(?:\.gz)?$/u.test(name))
    if (files.length > 1) return files.sort().map((name) => join(path, name))
  }
  return [fileIn(path, /\.jsonl?(?:\.gz)?$/u, 'episodes.jsonl')]
}

const session = 'run'

/**
 * The evidence of a question is the steps that the published answer names by number. `T1`: the question names no step. `T2`: the
 * question names other steps, which are removed from every ranking. `T2 range`: the question names both ends of a range, and the
 * evidence is inside it. `T3`: the evidence is the steps that the question itself names. `T2 range` and `T3` only check that steps can
 * be addressed, so they do not count for the figures of T1 and T2.
 */
function conversationOf({ episode_id: id, trajectory, qa_pairs: pairs }: z.infer<typeof Episode>): SuiteConversation {
  const count = trajectory.length
  if (trajectory.some(({ turn_idx: step }, place) => step !== place))
    throw unpublishedFile(`Episode ${id}: its steps are not numbered from 0 without gaps.`)
  const start = Date.UTC(2024, 0, 1)
  const turns = trajectory.map(({ action, observation }, index) => ({
    id: turnId(session, index),
    session,
    index,
    role: 'tool' as const,
    at: new Date(start + index * 60_000).toISOString(),
    text: `${action}\n\n${observation}`.trim() || '(nothing)',
  }))
  const askedAt = new Date(start + (count + 1) * 60_000).toISOString()
  const idsOf = (steps: Iterable<number>): ReadonlySet<string> =>
    new Set([...steps].filter((step) => step < count).map((index) => turnId(session, index)))
  const questions = pairs.flatMap(({ question: text, answer }, place): SuiteQuestion[] => {
    const asked = new Set(stepsNamed(text))
    const answered = stepsNamed(answer).filter((step) => !asked.has(step) && step < count)
    const base = { text, askedAt, expectsSilence: false }
    const gold = (steps: Iterable<number>) => ({ turns: idsOf(steps), sessions: new Set([session]) })
    const addressed = idsOf(asked)
    const capability: SuiteQuestion[] =
      addressed.size === 0 ? [] : [{ ...base, id: `${id}-${place + 1}-t3`, group: 'T3', gold: gold(asked) }]
    if (answered.length === 0) return capability
    if (asked.size === 0) return [{ ...base, id: `${id}-${place + 1}-t1`, group: 'T1', gold: gold(answered) }]
    const range = stepRange(text)
    // "Between step 35 and 41" names every step in between; "before step 9" does not.
    const isSpelledOut = range !== null && asked.has(range.from) && asked.has(range.to)
    const free = answered.filter((step) => !isSpelledOut || step < range.from || step > range.to)
    const group = free.length === 0 ? 'T2 range' : 'T2'
    const evidence = { ...gold(free.length === 0 ? answered : free), given: addressed }
    return [...capability, { ...base, id: `${id}-${place + 1}-t2`, group, gold: evidence }]
  })
  return { id, turns, questions }
}
