import { z } from 'zod'
import { fileIn, readObjects, unpublishedFile } from './data-file.ts'
import { idOf, type Suite, type SuiteConversation, turnId } from './suite.ts'

const Context = z.object({
  context: z.string(),
  questions: z.array(z.string()),
  answers: z.array(z.array(z.string())),
  metadata: z.object({ source: z.string() }),
})

/** FactConsolidation of MemoryAgentBench (MIT): if facts contradict each other, is the one with the highest number ranked first? */
export const factConsolidation: Suite = {
  name: 'factconsolidation',
  published: { unit: 'conversations', counts: [8] },
  decisive: ['current@1'],
  read: function* (path, onProgress) {
    const file = fileIn(path, /^conflict_resolution.*\.json(?:\.gz)?$/iu, 'Conflict_Resolution.json')
    for (const context of readObjects(file, Context, onProgress)) yield conversationOf(context, file)
  },
  score: ({ gold: { answers = [] } }, { found }, { turns }) => {
    const byId = new Map(turns.map(({ id, text }) => [id, text]))
    const texts = found.slice(0, 5).map((turn) => byId.get(idOf(turn)) ?? '')
    const isCurrent = (text: string): boolean =>
      answers.some((answer) => text.toLowerCase().includes(answer.toLowerCase()))
    const current = texts.find(isCurrent)
    return {
      'current@1': Number(isCurrent(texts[0] ?? '')),
      'current@5': Number(current !== undefined),
      // The number of other facts about the same thing that are shown with the current one.
      'stale-shown':
        current === undefined ? null : texts.filter((text) => text !== current && isVersionOf(text, current)).length,
    }
  },
}

/** Whether two facts probably differ only in their value, because they begin with the same words. */
export function isVersionOf(a: string, b: string): boolean {
  const words = a.split(' ')
  const others = b.split(' ')
  let shared = 0
  while (shared < words.length && words[shared] === others[shared]) shared += 1
  return shared >= 3 && shared >= Math.min(words.length, others.length) / 2
}

/** Every numbered line becomes a separate note, in the order of the numbers. */
function conversationOf(
  { context, questions, answers, metadata }: z.infer<typeof Context>,
  file: string,
): SuiteConversation {
  const { source } = metadata
  if (questions.length !== answers.length)
    throw unpublishedFile(`${file}: ${source} has ${questions.length} questions and ${answers.length} answers.`)
  const facts = [...context.matchAll(/^(\d+)\. (.+)$/gmu)]
  if (facts.length === 0) throw unpublishedFile(`${file}: ${source} has no numbered facts.`)
  const start = Date.UTC(2024, 0, 1)
  const at = (serial: number): string => new Date(start + serial * 3_600_000).toISOString()
  return {
    id: source,
    turns: facts.map(([, serial, text]) => ({
      id: turnId(`s${serial}`, 0),
      session: `s${serial}`,
      index: 0,
      role: 'user',
      at: at(Number(serial)),
      text: text as string,
    })),
    questions: questions.map((text, place) => ({
      id: `${source}-${place + 1}`,
      text,
      askedAt: at(facts.length + 1),
      group: /_mh_/u.test(source) ? 'multi-hop' : 'single-hop',
      gold: { turns: new Set(), sessions: new Set(), answers: answers[place] ?? [] },
      expectsSilence: false,
    })),
  }
}
