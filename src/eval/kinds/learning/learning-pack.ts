import { join } from 'node:path'
import { z } from 'zod'
import { MemoryError } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { slots } from '../../../memory/learn/extraction.ts'
import { learnOutcomes } from '../../../memory/learn/learn.ts'
import { refuseUnlike } from '../../pack/manifest.ts'
import { parseJsonFile } from '../../pack/read-file.ts'
import { manifestName } from '../../store/layout.ts'
import { PackPath } from '../../store/schemas/manifest.ts'
import { SafeId } from '../../store/schemas/primitives.ts'
import type { PackPlace } from '../kind.ts'

const texts = z.array(z.string().min(1))

/** A statement that has to be taken. */
const ExpectedFact = z.strictObject({
  /** Stands in what is kept, letter by letter. */
  says: texts.min(1),
  outcome: z.enum(learnOutcomes),
  /** Whether it is kept for the person everywhere or for the work at hand. */
  about: z.enum(['person', 'work']),
  /** The name of the single-value slot it fills. */
  slot: z.enum(slots).optional(),
  /** Part of every context of its scope. */
  standing: z.boolean().default(false),
  /** For a correction: words of the belief that it takes the place of. */
  replaces: z.string().min(1).optional(),
  /** Messages that must bring it up by name, and messages that must not. */
  askedWith: texts.default([]),
  notAskedWith: texts.default([]),
})

const LearningCase = z.strictObject({
  caseId: SafeId,
  category: z.string().min(1),
  description: z.string().min(1),
  /** Whether the case was written before or after the rule that it tests. */
  written: z.enum(['before', 'after']),
  message: z.string().min(1),
  /** Messages that are learned before it, in order. */
  earlier: texts.default([]),
  /** All that may be taken. An empty list: nothing. */
  learn: z.array(ExpectedFact),
  /** Words of beliefs that must still hold afterwards. */
  keeps: texts.default([]),
  /** Why something is refused, where that matters: a refusal for this reason holds these words. */
  refuse: z.array(z.strictObject({ words: z.string().min(1), reason: z.string().min(1) })).default([]),
})

export type ExpectedFact = z.infer<typeof ExpectedFact>
export type LearningCase = z.infer<typeof LearningCase>

const Files = z.looseObject({ files: z.looseObject({ cases: PackPath }) })

/** Reads messages with what must and must not be learned from them. */
export function readLearningCases(place: PackPlace): readonly LearningCase[] {
  const named = Files.safeParse(place.manifest)
  if (!named.success) throw invalid(`${join(place.directory, manifestName)}: files.cases must name the case file.`)
  const file = join(place.directory, named.data.files.cases)
  const parsed = z
    .array(LearningCase)
    .min(1)
    .safeParse(parseJsonFile(file, readTextFile(file)))
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.')}: ${issue.message}.`).join('\n'))
  }
  refuseUnlike(
    place,
    parsed.data.map(({ caseId, message }) => ({ id: caseId, prompt: message })),
  )
  for (const one of parsed.data) refuseImpossible(file, one)
  return parsed.data
}

/** What is to be kept word by word must have been said. */
function refuseImpossible(file: string, { caseId, message, learn }: LearningCase): void {
  const said = message.replace(/\s+/gu, ' ')
  const words = learn
    .flatMap(({ says }) => says)
    .find((expected) => !said.includes(expected) && !message.includes(expected))
  if (words !== undefined) throw invalid(`${file}: ${caseId}: the message does not say "${words}".`)
}

const invalid = (message: string): MemoryError =>
  new MemoryError('invalid', message, { hint: 'See docs/learning.md for the format.' })
