import { feedbackVerdicts } from '../../../beliefs/recall-counts.ts'
import type { FeedbackItem } from '../../../memory/recall/feedback.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { authorOptions, memoryOptions, optionalChoice, referenceOptions, rest } from '../../command/options.ts'
import { nameText, shortenText } from '../../text/beliefs.ts'
import { feedbackText } from '../../text/recall.ts'

export const feedback = defineCommand({
  args: {
    verdict: optionalChoice(feedbackVerdicts, 'Whether it was useful. Default: list all feedback.'),
    ids: rest('Ids of recalled beliefs or turns, as `recall --json` prints them, or names of beliefs.'),
  },
  options: { ...referenceOptions, ...memoryOptions, ...authorOptions },
  description:
    'The counts are a report: they change nothing that is recalled. `forget` deletes the counts of what it erases.',
  examples: {
    'credence feedback useful b-7k2m t-9x4q': 'Counts a belief and a turn as useful.',
    'credence feedback not-useful "payment terms"': 'Counts a belief as not useful.',
    'credence feedback': 'Lists every belief and turn with feedback, the latest first.',
  },
  async run({ args: { verdict, ids }, options }, session) {
    if (verdict === undefined) {
      const items = await (await session.memories.reading(options)).feedback()
      return {
        document: { items },
        shown: items.map(shownItem),
        notes: items.length === 0 ? ['There is no feedback yet. `credence feedback useful <id>` gives some.'] : [],
      }
    }
    if (ids.length === 0)
      throw new UsageError('No id is given.', 'Name beliefs or turns: credence feedback useful <id>…')
    const memory = await session.memories.writing(options)
    const items: FeedbackItem[] = []
    for (const id of ids) items.push(await memory.giveFeedback(id, verdict))
    return { document: { items }, shown: items.map(shownItem) }
  },
})

const shownItem = (item: FeedbackItem) => ({
  feedback: feedbackText(item),
  about: 'belief' in item ? nameText(item.belief) : `"${shortenText(item.turn.text)}" ${item.id}`,
})
