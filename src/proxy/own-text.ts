import { isSaidByPerson } from '../memory/conversation/said-by-person.ts'

/** What the person wrote: the texts of a message without those that a program put beside them. */
export const ownText = (texts: readonly string[]): string =>
  texts
    .filter(isSaidByPerson)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n')
