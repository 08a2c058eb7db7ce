import type { Frame } from './frame.ts'
import { calledFrame } from './frame-liking.ts'
import { clip } from './frame-possessive.ts'
import { wordsOf } from './phrases.ts'
import { formsOfObject, formsOfValue } from './surface-forms.ts'

/** "Call me Sam." "Always answer in English." */
export function standingFrame(text: string): Frame {
  const name = /^(?:please\s+)?(?:you can\s+|just\s+)?(?:call|address) me\s+(?:as\s+)?(?<name>.+)$/iu.exec(text)?.groups
    ?.name
  if (name !== undefined && wordsOf(name).length <= 4) return calledFrame(name)
  const wish = text
    .replace(/^(?:please|from now on|in future|going forward|by default|whenever [^,]+|and|also|so)[,\s]+/giu, '')
    .replace(/[.!]+$/u, '')
  const isStyle =
    /\b(?:answer|answers|reply|replies|respond|response|responses|write|writing|speak|tone|language|explain|explanations|sentences|emoji|emojis|jargon|bullet|formatting|summar|concise|brief|polite|words|spelling|english|units|code comments|comment)/iu.test(
      wish,
    )
  return {
    rule: 'a lasting wish',
    type: 'preference',
    ...(isStyle ? { subtype: 'style' as const } : {}),
    name: clip(
      wish.replace(/^(?:always|never|do not|don['’]t)\s+/iu, (found) =>
        /always/iu.test(found) ? '' : found.toLowerCase(),
      ),
    ),
    forms: [
      ...formsOfObject(
        wish.replace(/^(?:always|never|do not|don['’]t|avoid|stop)\s+(?:\p{L}+\s+)?(?:in|with|to)?\s*/iu, ''),
      ),
      ...formsOfValue(wish),
      ...(isStyle ? ['answer style', 'writing style', 'how to answer'] : []),
    ],
    topic: null,
  }
}
