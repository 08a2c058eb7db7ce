import { singular } from '../../search/singular.ts'
import { numberedItems } from './numbered-items.ts'
import { wordsOf } from './text-form.ts'

/** Words that say nothing about which thing a label means: "the name of the project" is the project. */
const empty: ReadonlySet<string> = new Set(
  `a an the of for my your their his her its user users s name title favorite favourite current new old own date day time
  number place value fact person thing detail details information`.split(/\s+/u),
)

/** What a label is about, in the form labels are compared in. */
export const subjectOf = (label: string): readonly string[] =>
  wordsOf(label)
    .filter((word) => !empty.has(word))
    .map(singular)

/** Whether a text speaks of all that a label is about. */
export const speaksOf = (text: string, label: string): boolean => {
  const subject = subjectOf(label)
  const words = new Set(wordsOf(text).map(singular))
  return subject.length > 0 && subject.every((word) => words.has(word))
}

/**
 * The numbered question of a prompt that a label belongs to: the only one that has all its words. Undefined where that
 * is not certain, as for many labels.
 */
export function questionOf(label: string, prompt: string): number | undefined {
  const [only, ...others] = [...numberedItems(prompt)].filter(([, question]) => speaksOf(question, label))
  return only === undefined || others.length > 0 ? undefined : only[0]
}
