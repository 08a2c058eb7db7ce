import type { BeliefRecord } from '../../memory/belief-record.ts'
import { controlSystem } from './control.ts'
import type { System } from './system.ts'

/**
 * Control: what a few lines of string matching achieve. It knows nothing of plurals, typos, markup inside a form,
 * ordinary words or ranking, and shares no code with the engine.
 */
export const exactSystem = (): System =>
  controlSystem(
    {
      name: 'exact',
      description: 'control: returns beliefs in scope whose name or alias occurs in the message letter by letter',
    },
    (corpus, query) => {
      const found = corpus.candidates(query).filter((belief) => occursIn(belief, query.message))
      return [...found, ...corpus.participantsOf(found, query)]
    },
  )

function occursIn({ name, aliases }: BeliefRecord, message: string): boolean {
  const text = message.toLowerCase()
  return [name, ...aliases].some((form) => {
    const wanted = form.toLowerCase().replaceAll('_', ' ')
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + wanted.length])) return true
    }
    return false
  })
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character)
