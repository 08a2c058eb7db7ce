import type { Belief } from '../../../beliefs/belief.ts'
import type { Remembered } from '../../../memory/remember.ts'
import type { Found } from './find-answer.ts'
import type { Statement } from './statement.ts'

const list = (texts: readonly string[]): string => texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n')

/** A belief that came of what was told, and what that did. */
export type Kept = { readonly belief: Belief; readonly outcome: Remembered['outcome'] }

const introductions: Readonly<Record<Remembered['outcome'], (place: string) => string>> = {
  remembered: (place) => `I have stored this ${place}:`,
  corrected: (place) => `I have updated this ${place}; it now says:`,
  reinforced: (place) => `This was stored ${place} before, and is confirmed:`,
  proposed: () => 'This contradicts what I was told before, and waits for your decision:',
}

/** What was taken in, in the person's words. `file` is where anybody can read it. */
export function confirmation(kept: readonly Kept[], file: string | null): string {
  const place = file === null ? 'in memory' : `in ${file}`
  return [...Map.groupBy(kept, ({ outcome }) => outcome)]
    .map(
      ([outcome, same]) =>
        `${introductions[outcome](place)}\n${list([...new Set(same.map(({ belief }) => belief.content))])}`,
    )
    .join('\n\n')
}

/** What was found for a question, and the number of the sentence or item that asked it. */
export type Placed = Found & { readonly place: number; readonly label: string | null; readonly question: string }

/**
 * Everything found for the questions of a prompt: a line for each sentence or item, with the number that the person gave
 * it, or else counted when there are several.
 */
export function answers(found: readonly Placed[]): string {
  const places = [...Map.groupBy(found, ({ place }) => place).values()]
  const isLabelled = places.some(([one]) => one?.label != null)
  if (places.length === 1 && !isLabelled) return places.map(answer).join('')
  return places
    .map((own, at) => {
      const label = isLabelled ? own[0]?.label : String(at + 1)
      return label == null ? answer(own) : `${label}. ${answer(own)}`
    })
    .join('\n')
}

function answer(found: readonly Placed[]): string {
  const statements = uniqueTexts(found.flatMap((one) => one.statements))
  const outdated = new Set(found.flatMap((one) => one.outdated.map(({ id }) => id)))
  const told =
    statements.length === 0
      ? []
      : [statements.map((one) => (outdated.has(one.id) ? earlier(one) : said(one))).join(' ')]
  const open = found.filter((one) => one.statements.length === 0)
  const closest = uniqueTexts(open.flatMap(({ related }) => related)).filter(
    ({ text }) => !statements.some((one) => one.text === text),
  )
  const parts = found.flatMap(({ unknown }) => unknown)
  return [
    ...told,
    ...(parts.length === 0 ? [] : [`I don't know ${parts.join(' or ')}: that was never told to me.`]),
    ...(open.length === 0
      ? []
      : [
          told.length === 0
            ? notKnown(closest, outdated)
            : `As to ${open.map(topic).join(' and ')}: ${furtherUnknown(open, closest, outdated)}`,
        ]),
  ].join(' ')
}

const topic = ({ question }: Placed): string => `"${question.replace(/[\s?.!]+$/u, '')}"`

const notKnown = (closest: readonly Statement[], outdated: ReadonlySet<string>): string =>
  closest.length === 0
    ? "I don't know: it was never told to me."
    : `I don't know that for certain. The closest thing I was told: ${closest.map((one) => (outdated.has(one.id) ? earlier(one) : ended(one.text))).join(' ')}`

/** What comes nearest may have been said already. */
const furtherUnknown = (
  open: readonly Placed[],
  closest: readonly Statement[],
  outdated: ReadonlySet<string>,
): string =>
  closest.length === 0 && open.some(({ related }) => related.length > 0)
    ? 'I know no more than that.'
    : notKnown(closest, outdated)

/** Each once; what is part of a longer statement is said by that. */
function uniqueTexts(statements: readonly Statement[]): readonly Statement[] {
  const bare = ({ text }: Statement): string => text.replace(/[\s.!?]+$/u, '').toLowerCase()
  return statements.filter(
    (one, at) =>
      !statements.some((other, index) => {
        const isPart = bare(other) !== bare(one) && bare(other).includes(bare(one))
        return isPart || (index < at && bare(other) === bare(one))
      }),
  )
}

const said = ({ text, file }: Statement): string =>
  `${file === null ? 'You told me' : `In ${file} it says`}: ${ended(text)}`

/** What has changed since is left out of it. */
const earlier = ({ text }: Statement): string => `Told before that, and not changed: ${ended(text)}`

const ended = (text: string): string => (/[.!?…]["'”’)\]`]*$/u.test(text) ? text : `${text}.`)

export function everythingKnown(statements: readonly Statement[], about: string | null): string {
  if (statements.length === 0)
    return about === null
      ? "I don't know anything yet: nothing was ever told to me."
      : `I don't know anything about ${about}: nothing was ever told to me about it.`
  const texts = [...new Set(statements.map(({ text }) => text))]
  return `${about === null ? 'This is what you told me' : `This is what I was told about ${about}`}:\n${list(texts)}`
}

/** What goes into a file that somebody asked for: the statements and nothing around them. */
export const bareAnswers = (found: readonly Placed[]): string =>
  `${found.map(({ statements }) => (statements.length === 0 ? 'unknown' : statements.map(({ text }) => text).join(' '))).join('\n')}\n`

export const bareList = (statements: readonly string[]): string => `${list(statements)}\n`
